/* Attribute inference: half of the records are the attacker's (attribute known), he is tested on the other
 * half. A fifth of his half chooses between logistic regression and a network. What he would guess without
 * the model stands beside it: the commonest value, and the commonest value among records with the same label.
 */
#include <math.h>
#include <stdio.h>

#include "attack/attribute_model.h"
#include "attack/audit_private.h"
#include "attack/confusion.h"
#include "par/par.h"
#include "rng/rng.h"

enum {
    STEPS = 9,
    MOST_KNOWN = 10000,
    MOST_VALUES = 1000,
    LEAST = 40,
    STREAM = 1 << 20 /* bootstrap streams apart from those of attacks */
};

struct plan {
    const struct sotto_attribute_input *in;
    const struct audit_settings *settings;
    size_t values, *row;        /* rows in random order: known, then test */
    size_t known, fitted, test; /* fitted: of the known ones, the rest chooses the model */
    int64_t *guess;             /* (test) of the attack */
    int64_t *truth;             /* (test) */
    enum attribute_kind kind;
    double validation[2];               /* balanced accuracy of both kinds */
    struct sotto_estimate curve[STEPS]; /* accuracy with 10 .. 90 % of the known records */
};

static struct linear_rows rows(const struct plan *p, size_t first, size_t n)
{
    return (struct linear_rows){p->in->features, p->in->attribute, p->row + first, n, p->in->d};
}

static sotto_status check(struct plan *p)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attribute_input *in = p->in;
    REQUIRE(in->features && in->attribute && in->d > 0, "attribute: features and attribute go together");
    REQUIRE(in->n >= LEAST, "attribute: %zu records; at least %d are needed", in->n, LEAST);
    for (size_t i = 0; i < in->n * in->d; i++)
        REQUIRE(isfinite(in->features[i]), "attribute: row %zu, column %zu of the features is not finite",
                i / in->d, i % in->d);
    for (size_t i = 0; i < in->n; i++) {
        REQUIRE(in->attribute[i] >= 0 && in->attribute[i] < MOST_VALUES,
                "attribute: row %zu is %lld; expected 0 .. %d", i, (long long)in->attribute[i],
                MOST_VALUES - 1);
        REQUIRE(!in->labels || (in->labels[i] >= 0 && (uint64_t)in->labels[i] < in->classes),
                "attribute: row %zu has label %lld; expected 0 .. %zu", i, (long long)in->labels[i],
                in->classes - 1);
        if ((size_t)in->attribute[i] >= p->values)
            p->values = (size_t)in->attribute[i] + 1;
    }
    bool varies = false;
    for (size_t i = 1; i < in->n; i++)
        varies |= in->attribute[i] != in->attribute[0];
    REQUIRE(varies, "attribute: every record has the value %lld; there is nothing to infer",
            (long long)in->attribute[0]);
done:
    return status;
}

static sotto_status draw_plan(struct plan *p)
{
    sotto_status status = SOTTO_OK;
    size_t n = p->in->n;
    struct rng r = rng_stream(p->settings->seed, RNG_SPLIT, 7, 0);
    int64_t *order = base_alloc(n, sizeof *order);
    p->row = base_alloc(n, sizeof *p->row);
    p->known = n / 2 < MOST_KNOWN ? n / 2 : MOST_KNOWN;
    p->fitted = p->known - p->known / 5;
    p->test = n - n / 2;
    p->guess = base_alloc(p->test, sizeof *p->guess);
    p->truth = base_alloc(p->test, sizeof *p->truth);
    if (!order || !p->row || !p->guess || !p->truth)
        FAIL(SOTTO_ENOMEM, "attribute: out of memory for %zu records", n);
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&r, order, n);
    for (size_t i = 0; i < p->known; i++)
        p->row[i] = (size_t)order[i];
    for (size_t i = 0; i < p->test; i++) {
        p->row[p->known + i] = (size_t)order[n / 2 + i];
        p->truth[i] = p->in->attribute[order[n / 2 + i]];
    }
done:
    base_free(order);
    return status;
}

static double balanced(const struct plan *p, const int64_t *guess, size_t first, size_t n, double *recall)
{
    double sum = 0, present = 0;
    for (size_t k = 0; k < 2 * p->values; k++)
        recall[k] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t truth = (size_t)p->in->attribute[p->row[first + i]];
        recall[2 * truth]++;
        recall[2 * truth + 1] += (size_t)guess[i] == truth;
    }
    for (size_t k = 0; k < p->values; k++)
        if (recall[2 * k] > 0)
            sum += recall[2 * k + 1] / recall[2 * k], present++;
    return sum / present;
}

/* Job 0 and 1: each kind on the validation fold. */
static sotto_status try_kind(void *arg, size_t kind, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct plan *p = arg;
    size_t n = p->known - p->fitted;
    struct linear_rows train = rows(p, 0, p->fitted), test = rows(p, p->fitted, n);
    int64_t *guess = base_alloc(n, sizeof *guess);
    double *recall = base_alloc(p->values, 2 * sizeof *recall);
    if (!guess || !recall)
        FAIL(SOTTO_ENOMEM, "attribute: out of memory for %zu records", n);
    p->validation[kind] = 0;
    status = attribute_guess(guess, (enum attribute_kind)kind, &train, &test, p->values, p->settings->seed);
    if (status == SOTTO_OK)
        p->validation[kind] = balanced(p, guess, p->fitted, n, recall);
    else if (status == SOTTO_EINVAL && kind == ATTRIBUTE_MLP) /* too few records for a network */
        status = SOTTO_OK;
done:
    base_free(guess);
    base_free(recall);
    return status;
}

/* Job s < STEPS: a tenth more of the known records each; the last is all of them. */
static sotto_status learn(void *arg, size_t step, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct plan *p = arg;
    bool whole = step == STEPS;
    size_t n = whole ? p->known : p->known * (step + 1) / 10;
    struct linear_rows train = rows(p, 0, n), test = rows(p, p->known, p->test);
    struct confusion_scores scores;
    int64_t *guess = whole ? p->guess : base_alloc(p->test, sizeof *guess);
    if (!guess)
        FAIL(SOTTO_ENOMEM, "attribute: out of memory for %zu records", p->test);
    status = attribute_guess(guess, p->kind, &train, &test, p->values, p->settings->seed);
    if (status == SOTTO_EINVAL) /* too few for the network */
        status = attribute_guess(guess, ATTRIBUTE_LOGISTIC, &train, &test, p->values, p->settings->seed);
    TRY(status);
    if (!whole) {
        TRY(confusion_measure(&scores, p->truth, guess, p->test, p->values, p->settings->draws,
                              p->settings->confidence, p->settings->seed, STREAM + step));
        p->curve[step] = scores.accuracy;
    }
done:
    if (!whole)
        base_free(guess);
    return status;
}

/* The commonest value among known records, of the same label if `by_label`. */
static sotto_status guess_common(int64_t *guess, const struct plan *p, bool by_label)
{
    sotto_status status = SOTTO_OK;
    size_t groups = by_label ? p->in->classes : 0, *count = NULL;
    int64_t *common = base_alloc(groups + 1, sizeof *common);
    count = base_alloc(groups + 1, p->values * sizeof *count);
    if (!common || !count)
        FAIL(SOTTO_ENOMEM, "attribute: out of memory for %zu classes", groups);
    for (size_t i = 0; i < p->known; i++) {
        size_t value = (size_t)p->in->attribute[p->row[i]];
        count[groups * p->values + value]++;
        if (by_label)
            count[(size_t)p->in->labels[p->row[i]] * p->values + value]++;
    }
    for (size_t g = groups + 1; g-- > 0;) { /* an unseen label takes everybody's */
        size_t best = 0, *of = count + g * p->values, total = of[0];
        for (size_t k = 1; k < p->values; k++) {
            total += of[k];
            best = of[k] > of[best] ? k : best;
        }
        common[g] = total ? (int64_t)best : common[groups];
    }
    for (size_t i = 0; i < p->test; i++)
        guess[i] = common[by_label ? (size_t)p->in->labels[p->row[p->known + i]] : groups];
done:
    base_free(common);
    base_free(count);
    return status;
}

static sotto_status put_scores(struct json **out, const char *name, const struct plan *p,
                               const int64_t *guess, uint64_t stream)
{
    sotto_status status = SOTTO_OK;
    struct confusion_scores s;
    TRY(confusion_measure(&s, p->truth, guess, p->test, p->values, p->settings->draws,
                          p->settings->confidence, p->settings->seed, stream));
    struct json *j = json_make_object();
    json_put_text(&j, "name", name);
    json_put(&j, "accuracy", audit_estimate(s.accuracy));
    json_put(&j, "balanced_accuracy", audit_estimate(s.balanced));
    json_put(&j, "macro_f1", audit_estimate(s.macro_f1));
    *out = j;
done:
    return status;
}

static struct json *facts_json(const struct plan *p)
{
    struct json *j = json_make_object(), *validation = json_make_object(), *curve = json_make_array();
    json_put_integer(&j, "n", (int64_t)p->in->n);
    json_put_integer(&j, "values", (int64_t)p->values);
    json_put_integer(&j, "n_known", (int64_t)p->known);
    json_put_integer(&j, "n_test", (int64_t)p->test);
    json_put_real(&j, "confidence", p->settings->confidence);
    json_put_integer(&j, "draws", (int64_t)p->settings->draws);
    json_put_text(&j, "model", attribute_kind_name(p->kind));
    for (int k = 0; k < 2; k++)
        json_put_real(&validation, attribute_kind_name((enum attribute_kind)k), p->validation[k]);
    json_put(&j, "validation_balanced_accuracy", validation);
    for (size_t s = 0; s < STEPS; s++) {
        struct json *one = audit_estimate(p->curve[s]);
        json_put_real(&one, "share", 0.1 * (double)(s + 1));
        json_put_integer(&one, "n", (int64_t)(p->known * (s + 1) / 10));
        json_push(&curve, one);
    }
    json_put(&j, "learning_curve", curve);
    return j;
}

/* Which baseline to beat is the better of the two. */
static sotto_status put_baselines(struct json **doc, const struct plan *p)
{
    sotto_status status = SOTTO_OK;
    struct json *list = json_make_array(), *one;
    struct sotto_estimate gain, least = {INFINITY, INFINITY, INFINITY};
    const char *over = NULL;
    int64_t *guess = base_alloc(p->test, sizeof *guess);
    if (!guess)
        FAIL(SOTTO_ENOMEM, "attribute: out of memory for %zu records", p->test);
    for (int by_label = 0; by_label < (p->in->labels ? 2 : 1); by_label++) {
        const char *name = by_label ? "commonest of the label" : "commonest value";
        TRY(guess_common(guess, p, by_label));
        TRY(put_scores(&one, name, p, guess, (uint64_t)(STREAM + 101 + by_label)));
        json_push(&list, one);
        TRY(confusion_gain(&gain, p->truth, p->guess, guess, p->test, p->settings->draws,
                           p->settings->confidence, p->settings->seed, (uint64_t)(STREAM + 201 + by_label)));
        if (gain.estimate < least.estimate)
            least = gain, over = name;
    }
    json_put(doc, "baselines", list);
    list = NULL;
    one = audit_estimate(least);
    json_put_text(&one, "over", over);
    json_put(doc, "gain", one);
done:
    json_free(list);
    base_free(guess);
    return status;
}

sotto_status audit_attribute(struct json **out, const struct sotto_attribute_input *in,
                             const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct plan p = {.in = in, .settings = settings};
    struct json *doc = NULL, *attack;
    TRY(check(&p));
    TRY(draw_plan(&p));
    TRY(par_chunks(2, par_threads(ctx), try_kind, &p));
    p.kind =
        p.validation[ATTRIBUTE_MLP] > p.validation[ATTRIBUTE_LOGISTIC] ? ATTRIBUTE_MLP : ATTRIBUTE_LOGISTIC;
    TRY(par_chunks(STEPS + 1, par_threads(ctx), learn, &p));
    doc = facts_json(&p);
    TRY(put_scores(&attack, attribute_kind_name(p.kind), &p, p.guess, STREAM + 100));
    json_put(&doc, "attack", attack);
    TRY(put_baselines(&doc, &p));
    *out = doc;
    doc = NULL;
done:
    json_free(doc);
    base_free(p.row);
    base_free(p.guess);
    base_free(p.truth);
    return status;
}
