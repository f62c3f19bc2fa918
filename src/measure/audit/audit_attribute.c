/* Attribute inference: some records are the attacker's (attribute known; a random half unless the caller says
 * which), and the others are the test. A fifth of them chooses between logistic regression and networks. What
 * the attacker would guess without the model stands beside it: the commonest value, the commonest among records with
 * the same label, what the same classifiers make of the model's answers alone, and of what is known about a
 * record anyway. */
#include "audit/audit_private.h"
#include "audit/fit/attribute_model.h"
#include "audit/measure/confusion.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 9,
    MOST_KNOWN = 10000,
    MOST_VALUES = 1000,
    LEAST = 40,
    LEAST_TESTED = 20,
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
    size_t kinds;                                    /* that are tried: the first so many */
    double validation[ATTRIBUTE_KINDS];              /* balanced accuracy of each */
    struct sotto_estimate curve[STEPS];              /* accuracy with 10 .. 90 % of the known records */
    struct confusion_scores depths[ATTRIBUTE_KINDS]; /* of every network, if several were asked for */
};

static struct linear_rows audit_attribute_rows(const struct plan *p, size_t first, size_t n)
{
    return (struct linear_rows){p->in->features, p->in->attribute, p->row + first, n, p->in->d};
}

static sotto_status check_finite(const float *x, size_t n, size_t d, const char *what)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; x && i < n * d; i++)
        REQUIRE(isfinite(x[i]), "attribute: row %zu, column %zu of the %s is not finite", i / d, i % d, what);
done:
    return status;
}

static sotto_status audit_attribute_check(struct plan *p)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attribute_input *in = p->in;
    REQUIRE(in->features && in->attribute && in->d > 0,
            "attribute: features and attribute must be given together");
    REQUIRE(in->n >= LEAST, "attribute: %zu records; expected at least %d", in->n, LEAST);
    REQUIRE(in->n_aux == 0 ||
                (in->n_aux >= LEAST_TESTED && in->n - in->n_aux >= LEAST_TESTED && in->n_aux < in->n),
            "attribute: the attacker knows %zu of %zu records; expected at least %d known records and %d "
            "others to test",
            in->n_aux, in->n, LEAST_TESTED, LEAST_TESTED);
    REQUIRE(in->deepest == 0 || (in->deepest >= ATTRIBUTE_LAYERS && in->deepest <= ATTRIBUTE_LAYERS_MAX),
            "attribute: layers must be %d to %d (got %zu)", ATTRIBUTE_LAYERS, ATTRIBUTE_LAYERS_MAX,
            in->deepest);
    p->kinds = in->deepest ? in->deepest - ATTRIBUTE_LAYERS + 2 : 2;
    TRY(check_finite(in->features, in->n, in->d, "features"));
    TRY(check_finite(in->outputs, in->n, in->output_count, "model's answers"));
    TRY(check_finite(in->known, in->n, in->known_count, "known values"));
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
    REQUIRE(varies, "attribute: every record has the value %lld; expected at least two values",
            (long long)in->attribute[0]);
done:
    return status;
}

static sotto_status draw_plan(struct plan *p)
{
    sotto_status status = SOTTO_OK;
    size_t n = p->in->n, aux = p->in->n_aux ? p->in->n_aux : n / 2;
    struct rng r = rng_stream(p->settings->seed, RNG_SPLIT, 7, 0);
    int64_t *order = NULL;
    p->known = aux < MOST_KNOWN ? aux : MOST_KNOWN;
    p->fitted = p->known - p->known / 5;
    p->test = n - aux;
    NEW(order, n);
    NEW(p->row, n);
    NEW(p->guess, p->test);
    NEW(p->truth, p->test);
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&r, order, p->in->n_aux ? aux : n);
    for (size_t i = 0; i < p->known; i++)
        p->row[i] = (size_t)order[i];
    for (size_t i = 0; i < p->test; i++) {
        p->row[p->known + i] = (size_t)order[aux + i];
        p->truth[i] = p->in->attribute[order[aux + i]];
    }
done:
    base_free(order);
    return status;
}

/* Job k: kind k on the validation fold. */
static sotto_status try_kind(void *arg, size_t kind, int thread)
{
    (void)thread;
    struct plan *p = arg;
    struct linear_rows known = audit_attribute_rows(p, 0, p->known);
    return attribute_try(&p->validation[kind], (enum attribute_kind)kind, &known, p->fitted, p->values,
                         p->settings->seed, p->settings->ctx);
}

/* Job s < STEPS: a tenth more of the known records each; the last is all of them. */
static sotto_status audit_attribute_learn(void *arg, size_t step, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct plan *p = arg;
    bool whole = step == STEPS;
    size_t n = whole ? p->known : p->known * (step + 1) / 10;
    struct linear_rows train = audit_attribute_rows(p, 0, n),
                       test = audit_attribute_rows(p, p->known, p->test);
    struct confusion_scores scores;
    int64_t *guess = p->guess;
    if (!whole)
        NEW(guess, p->test);
    status = attribute_guess(guess, p->kind, &train, &test, p->values, p->settings->seed, p->settings->ctx);
    if (status == SOTTO_EINVAL) /* too few for the network */
        status = attribute_guess(guess, ATTRIBUTE_LOGISTIC, &train, &test, p->values, p->settings->seed,
                                 p->settings->ctx);
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

/* Job k: a network of 3 + k layers, taught by all known records. */
static sotto_status measure_depth(void *arg, size_t k, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct plan *p = arg;
    struct linear_rows train = audit_attribute_rows(p, 0, p->known),
                       test = audit_attribute_rows(p, p->known, p->test);
    int64_t *guess = NULL;
    NEW(guess, p->test);
    TRY(attribute_guess(guess, (enum attribute_kind)(ATTRIBUTE_MLP + k), &train, &test, p->values,
                        p->settings->seed, p->settings->ctx));
    TRY(confusion_measure(&p->depths[k], p->truth, guess, p->test, p->values, p->settings->draws,
                          p->settings->confidence, p->settings->seed, STREAM + 20 + k));
done:
    base_free(guess);
    return status;
}

/* The commonest value among known records, of the same label if `by_label`. */
static sotto_status guess_common(int64_t *guess, const struct plan *p, bool by_label)
{
    sotto_status status = SOTTO_OK;
    size_t groups = by_label ? p->in->classes : 0, *count = NULL;
    int64_t *common = NULL;
    NEW(common, groups + 1);
    NEW_ROWS(count, groups + 1, p->values);
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

static struct sotto_attribute_scores scores_of(const char *name, const struct confusion_scores *s)
{
    return (struct sotto_attribute_scores){
        .name = name, .accuracy = s->accuracy, .balanced_accuracy = s->balanced, .macro_f1 = s->macro_f1};
}

static sotto_status audit_attribute_score(struct sotto_attribute_scores *out, const char *name,
                                          const struct plan *p, const int64_t *guess, uint64_t stream)
{
    sotto_status status = SOTTO_OK;
    struct confusion_scores s;
    TRY(confusion_measure(&s, p->truth, guess, p->test, p->values, p->settings->draws,
                          p->settings->confidence, p->settings->seed, stream));
    *out = scores_of(name, &s);
done:
    return status;
}

static sotto_status set_depths(struct sotto_attribute_result *out, struct sotto_audit_memory **memory,
                               const struct plan *p)
{
    sotto_status status = SOTTO_OK;
    out->depth_count = p->kinds - ATTRIBUTE_MLP;
    TAKE(memory, out->depths, out->depth_count);
    for (size_t k = 0; k < out->depth_count; k++) {
        out->depths[k] = scores_of(NULL, &p->depths[k]);
        out->depths[k].layers = attribute_layers((enum attribute_kind)(ATTRIBUTE_MLP + k));
    }
done:
    return status;
}

static sotto_status set_facts(struct sotto_attribute_result *out, struct sotto_audit_memory **memory,
                              const struct plan *p)
{
    sotto_status status = SOTTO_OK;
    *out = (struct sotto_attribute_result){.n = p->in->n,
                                           .values = p->values,
                                           .n_known = p->known,
                                           .n_test = p->test,
                                           .draws = p->settings->draws,
                                           .confidence = p->settings->confidence,
                                           .model = attribute_kind_name(p->kind),
                                           .validation_count = p->kinds,
                                           .curve_count = STEPS};
    TAKE(memory, out->validation, p->kinds);
    TAKE(memory, out->curve, STEPS);
    for (size_t k = 0; k < p->kinds; k++)
        out->validation[k] =
            (struct sotto_audit_parameter){attribute_kind_name((enum attribute_kind)k), p->validation[k]};
    for (size_t s = 0; s < STEPS; s++)
        out->curve[s] =
            (struct sotto_attribute_step){p->curve[s], 0.1 * (double)(s + 1), p->known * (s + 1) / 10};
done:
    return status;
}

/* What an attacker guesses from `x` (n, d) and the labels instead: by the same classifiers, chosen alike. */
static sotto_status guess_from(int64_t *guess, const struct plan *p, const float *x, size_t d)
{
    sotto_status status = SOTTO_OK;
    size_t classes = p->in->labels ? p->in->classes : 0, width = d + classes;
    double validation[ATTRIBUTE_KINDS];
    float *table = NULL;
    NEW_ROWS(table, p->in->n, width);
    for (size_t i = 0; i < p->in->n; i++) {
        memcpy(table + i * width, x + i * d, d * sizeof *x);
        if (classes)
            table[i * width + d + (size_t)p->in->labels[i]] = 1;
    }
    struct linear_rows known = {table, p->in->attribute, p->row, p->known, width},
                       test = {table, p->in->attribute, p->row + p->known, p->test, width};
    for (size_t kind = 0; kind < p->kinds; kind++)
        TRY(attribute_try(&validation[kind], (enum attribute_kind)kind, &known, p->fitted, p->values,
                          p->settings->seed, p->settings->ctx));
    TRY(attribute_guess(guess, attribute_better(validation, p->kinds), &known, &test, p->values,
                        p->settings->seed, p->settings->ctx));
done:
    base_free(table);
    return status;
}

enum baseline { COMMONEST, OF_LABEL, FROM_OUTPUTS, FROM_KNOWN, BASELINES };

/* *name stays NULL if the baseline was not asked for. */
static sotto_status guess_baseline(const char **name, int64_t *guess, const struct plan *p,
                                   enum baseline which)
{
    const struct sotto_attribute_input *in = p->in;
    *name = NULL;
    switch (which) {
    case COMMONEST:
        *name = "commonest value";
        return guess_common(guess, p, false);
    case OF_LABEL:
        *name = in->labels ? "commonest of the label" : NULL;
        return in->labels ? guess_common(guess, p, true) : SOTTO_OK;
    case FROM_OUTPUTS:
        *name = !in->outputs ? NULL : in->labels ? "model's answer and label" : "model's answer";
        return in->outputs ? guess_from(guess, p, in->outputs, in->output_count) : SOTTO_OK;
    case FROM_KNOWN:
        *name = in->known ? "imputed from what is known" : NULL;
        return in->known ? guess_from(guess, p, in->known, in->known_count) : SOTTO_OK;
    default:
        return SOTTO_OK;
    }
}

/* Which baseline to beat is the best of them. */
static sotto_status set_baselines(struct sotto_attribute_result *out, struct sotto_audit_memory **memory,
                                  const struct plan *p)
{
    sotto_status status = SOTTO_OK;
    struct sotto_estimate gain;
    int64_t *guess = NULL;
    NEW(guess, p->test);
    out->gain = (struct sotto_estimate){INFINITY, INFINITY, INFINITY};
    TAKE(memory, out->baselines, BASELINES);
    for (int which = 0; which < BASELINES; which++) {
        const char *name;
        TRY(guess_baseline(&name, guess, p, (enum baseline)which));
        if (!name)
            continue;
        TRY(audit_attribute_score(&out->baselines[out->baseline_count++], name, p, guess,
                                  (uint64_t)(STREAM + 101 + which)));
        TRY(confusion_gain(&gain, p->truth, p->guess, guess, p->test, p->settings->draws,
                           p->settings->confidence, p->settings->seed, (uint64_t)(STREAM + 201 + which)));
        if (gain.estimate < out->gain.estimate)
            out->gain = gain, out->gain_over = name;
    }
done:
    base_free(guess);
    return status;
}

sotto_status audit_attribute(struct sotto_audit_result *r, const struct sotto_attribute_input *in,
                             const struct audit_settings *settings, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct plan p = {.in = in, .settings = settings};
    struct sotto_attribute_result *found;
    TRY(audit_attribute_check(&p));
    TRY(draw_plan(&p));
    TRY(par_each(p.kinds, ctx, try_kind, &p));
    p.kind = attribute_better(p.validation, p.kinds);
    TRY(par_each(STEPS + 1, ctx, audit_attribute_learn, &p));
    if (in->deepest)
        TRY(par_each(p.kinds - 1, ctx, measure_depth, &p));
    TAKE(&r->memory, found, 1);
    TRY(set_facts(found, &r->memory, &p));
    if (in->deepest)
        TRY(set_depths(found, &r->memory, &p));
    TRY(audit_attribute_score(&found->attack, attribute_kind_name(p.kind), &p, p.guess, STREAM + 100));
    TRY(set_baselines(found, &r->memory, &p));
    r->attribute = found;
done:
    base_free(p.row);
    base_free(p.guess);
    base_free(p.truth);
    return status;
}
