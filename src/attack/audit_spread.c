/* Intervals of one audit say how sure the rates of THIS model are. How much they differ from one training to
 * the next is another question, and the reference models answer it: each plays the target once, the others
 * its references (as in Jebreel et al., Revisiting LiRA). The thresholds found there are also the attacker's:
 * their median is applied to the real target. */
#include <math.h>
#include <stdio.h>

#include "attack/audit_private.h"
#include "attack/rmia.h"
#include "attack/sorted.h"
#include "par/par.h"

enum { TARGETS = 16, KINDS = 4, RATES = 8 };
static const char *const kinds[KINDS] = {"loss", "lira", "lira-offline", "rmia"};

struct outcome {
    bool done;
    double auc, tpr[RATES], threshold[RATES];
};
struct spread {
    const struct audit_sides *sides;
    const struct audit_settings *settings;
    size_t targets, model[TARGETS], rates;
    struct outcome outcome[TARGETS][KINDS];
};

/* Everything but column `t` of (n, models). */
static void drop(double *reference, uint8_t *trained, double *losses, const struct attack_input *all,
                 size_t t)
{
    size_t models = all->models;
    for (size_t i = 0; i < all->n; i++) {
        losses[i] = -log_probability_of_signal(all->reference[i * models + t]);
        for (size_t m = 0, to = i * (models - 1); m < models; m++)
            if (m != t) {
                reference[to] = all->reference[i * models + m];
                trained[to++] = all->trained[i * models + m];
            }
    }
}

static sotto_status measure(struct outcome *out, const struct attack *attack, const struct attack_input *in,
                            const struct spread *s, size_t t, double *scores, double *sides)
{
    sotto_status status = SOTTO_OK;
    struct curve c = {0};
    const struct attack_input *all = &s->sides->all;
    size_t count[2] = {0, 0};
    TRY(attack_run(scores, attack, in));
    for (int pass = 1; pass >= 0; pass--) /* members first */
        for (size_t i = 0; i < all->n; i++)
            if (all->trained[i * all->models + t] == pass)
                sides[count[1] * (size_t)(pass == 0) + count[pass]++] = scores[i];
    if (count[0] < 2 || count[1] < 2)
        goto done; /* a model that saw everything or nothing is no target */
    TRY(curve_make(&c, sides, count[1], sides + count[1], count[0]));
    curve_auc_variance(&c, &out->auc);
    for (size_t k = 0; k < s->rates; k++) {
        out->threshold[k] = curve_threshold_at_fpr(&c, s->settings->fpr[k]);
        out->tpr[k] = curve_rates(&c, out->threshold[k], 0.5).tpr.estimate;
    }
    out->done = true;
done:
    curve_clear(&c);
    return status;
}

static sotto_status play(void *arg, size_t target, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct spread *s = arg;
    const struct attack_input *all = &s->sides->all;
    size_t t = s->model[target], models = all->models - 1;
    double *reference = base_alloc(all->n, models * sizeof *reference),
           *work = base_alloc(all->n, 3 * sizeof *work);
    uint8_t *trained = base_alloc(all->n, models);
    if (!reference || !trained || !work)
        FAIL(SOTTO_ENOMEM, "spread: out of memory for %zu x %zu signals", all->n, models);
    drop(reference, trained, work, all, t);
    struct attack_input in = {.labels = all->labels,
                              .classes = all->classes,
                              .losses = work,
                              .reference = reference,
                              .trained = trained,
                              .n = all->n,
                              .models = models};
    for (size_t k = 0; k < KINDS; k++) {
        status = measure(&s->outcome[target][k], attack_find(kinds[k]), &in, s, t, work + all->n,
                         work + 2 * all->n);
        if (status == SOTTO_EINVAL) /* too few models are left for this attack */
            status = SOTTO_OK;
        TRY(status);
    }
done:
    base_free(reference);
    base_free(trained);
    base_free(work);
    return status;
}

static struct json *summary(const double *x, size_t n)
{
    double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += x[i], low = fmin(low, x[i]), high = fmax(high, x[i]);
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
    struct json *j = json_make_object();
    json_put_real(&j, "mean", sum / (double)n);
    json_put_real(&j, "deviation", n > 1 ? sqrt(squares / (double)(n - 1)) : NAN);
    json_put_real(&j, "lowest", low);
    json_put_real(&j, "highest", high);
    return j;
}

/* Over targets that could be played. */
static size_t collect(double *out, const struct spread *s, size_t kind, size_t rate, bool threshold)
{
    size_t n = 0;
    for (size_t t = 0; t < s->targets; t++) {
        const struct outcome *o = &s->outcome[t][kind];
        if (o->done)
            out[n++] = rate == RATES ? o->auc : threshold ? o->threshold[rate] : o->tpr[rate];
    }
    return n;
}

static double median(double *x, size_t n)
{
    double scratch[TARGETS];
    sort_rising(x, n, scratch);
    if (n % 2 || x[n / 2 - 1] == x[n / 2]) /* equal infinities have no middle */
        return x[n / 2];
    return x[n / 2 - 1] / 2 + x[n / 2] / 2;
}

/* The attacker never saw who is a member of the real target, so all of its records may be scored. */
static struct json *transferred(const struct curve *c, double threshold, double confidence)
{
    struct rates r = curve_rates(c, threshold, confidence);
    struct json *j = json_make_object();
    json_put_real(&j, "threshold", threshold);
    json_put(&j, "tpr", audit_estimate(r.tpr));
    json_put(&j, "fpr", audit_estimate(r.fpr));
    audit_put_counts(&j, c);
    return j;
}

/* scores: of the real target, or NULL. */
static sotto_status kind_json(struct json **out, const struct spread *s, size_t kind, const double *scores)
{
    sotto_status status = SOTTO_OK;
    double x[TARGETS];
    struct curve c = {0};
    size_t n = collect(x, s, kind, RATES, false), members = s->sides->member.n;
    struct json *j = json_make_object(), *tpr = json_make_object(), *applied = json_make_object();
    if (scores)
        TRY(curve_make(&c, scores, members, scores + members, s->sides->nonmember.n));
    json_put_text(&j, "name", kinds[kind]);
    json_put_integer(&j, "targets", (int64_t)n);
    json_put(&j, "auc", n ? summary(x, n) : json_make_null());
    for (size_t k = 0; n && k < s->rates; k++) {
        char key[32];
        snprintf(key, sizeof key, "%.12g", s->settings->fpr[k]);
        collect(x, s, kind, k, false);
        json_put(&tpr, key, summary(x, n));
        collect(x, s, kind, k, true);
        if (scores)
            json_put(&applied, key, transferred(&c, median(x, n), s->settings->confidence));
    }
    json_put(&j, "tpr_at_fpr", tpr);
    json_put(&j, "transferred", applied);
    tpr = applied = NULL;
    *out = j;
    j = NULL;
done:
    json_free(tpr);
    json_free(applied);
    json_free(j);
    curve_clear(&c);
    return status;
}

sotto_status audit_spread(struct json **out, const struct audit_sides *sides, audit_scores_of scores_of,
                          const void *arg, const struct audit_settings *settings,
                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct json *list = json_make_array();
    size_t models = sides->all.models;
    struct spread *s = base_alloc(1, sizeof *s);
    if (!s)
        FAIL(SOTTO_ENOMEM, "spread: out of memory");
    s->sides = sides, s->settings = settings;
    s->targets = models < TARGETS ? models : TARGETS;
    s->rates = settings->fpr_count < RATES ? settings->fpr_count : RATES;
    for (size_t t = 0; t < s->targets; t++)
        s->model[t] = t * models / s->targets;
    TRY(par_chunks(s->targets, par_threads(ctx), play, s));
    for (size_t k = 0; k < KINDS; k++) {
        struct json *one;
        TRY(kind_json(&one, s, k, scores_of(arg, kinds[k])));
        json_push(&list, one);
    }
    *out = list;
    list = NULL;
done:
    base_free(s);
    json_free(list);
    return status;
}
