/* What a defence leaves to be inferred. The same attackers three times: trained and tested on undefended rows;
 * trained on undefended rows and tested on defended ones (as defences were first evaluated); trained on what
 * the defence makes of their own rows (adaptive). Members are sought by a network on sorted posteriors
 * (512-256-128, as MemGuard's authors attack) and by thresholds on the largest posterior and on the entropy;
 * attributes by logistic regression and a network. Decisions are fixed on the attacker's rows. */
#include "audit/audit_memory.h"
#include "audit/fit/attribute_model.h"
#include "audit/measure/confusion.h"
#include "audit/measure/metrics.h"
#include "num/beta.h"
#include "sotto/lab/defend.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000, MOST_VALUES = 1000, NETWORK_EPOCHS = 100, MOST_ATTACKERS = 3 };
static const double confidence = 0.95;

/* One setting: the rows that attackers are trained on, and the rows that they are tested on. */
struct defence_trial {
    const float *train, *test;
    const struct sotto_defence_trial *trial;
    size_t values;
    /* the network on members, once for all settings with the same rows to learn from */
    struct sotto_head *net;
    const float *learned; /* these; NULL: none yet */
    const struct sotto_context *ctx;
    struct sotto_audit_memory *memory; /* of the attackers in the result */
};

static struct sotto_defence_attacker *add_attacker(struct sotto_defence_leakage *leakage, const char *name)
{
    const struct sotto_estimate none = {.estimate = NAN};
    struct sotto_defence_attacker *one = &leakage->attackers[leakage->count++];
    *one = (struct sotto_defence_attacker){name, none, none, none, none};
    return one;
}

static struct sotto_estimate defended_share(size_t k, size_t n)
{
    struct sotto_estimate e = {.estimate = (double)k / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)k, (double)n, confidence);
    return e;
}

/* ---- members ---- */

/* The AUC of scores (n), higher = more member-like, and the accuracy of deciding "member" above the
 * threshold. */
static sotto_status judge_scores(struct sotto_defence_leakage *leakage, const char *name,
                                 const double *scores, double threshold,
                                 const struct sotto_defence_known *rows)
{
    sotto_status status = SOTTO_OK;
    struct sotto_estimate auc;
    size_t in = 0, out = 0, right = 0;
    double *split = NULL;
    NEW(split, rows->n);
    for (size_t i = 0; i < rows->n; i++)
        in += rows->protected_label[i] == 1;
    for (size_t i = 0, first = 0; i < rows->n; i++) {
        split[rows->protected_label[i] == 1 ? first++ : in + out++] = scores[i];
        right += (scores[i] > threshold) == (rows->protected_label[i] == 1);
    }
    TRY(estimate_auc(&auc, split, in, split + in, out, confidence));
    struct sotto_defence_attacker *one = add_attacker(leakage, name);
    one->accuracy = defended_share(right, rows->n);
    one->auc = auc;
done:
    base_free(split);
    return status;
}

static int defended_falling(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* out (n, d): every row sorted. True if rows differ. */
static bool sort_rows(float *out, const float *x, size_t n, size_t d)
{
    bool differ = false;
    memcpy(out, x, n * d * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        qsort(out + i * d, d, sizeof *out, defended_falling);
        differ |= memcmp(out + i * d, out, d * sizeof *out) != 0;
    }
    return differ;
}

/* The network on sorted rows of the attacker; stays NULL where these are all the same. */
static sotto_status defended_teach(struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *own = s->trial->attacker;
    struct sotto_head_recipe recipe;
    float *x = NULL;
    NEW_ROWS(x, own->n, own->d);
    sotto_head_defaults(&recipe);
    recipe.hidden_count = 3;
    recipe.hidden[0] = 512, recipe.hidden[1] = 256, recipe.hidden[2] = 128;
    recipe.epochs = s->trial->epochs ? s->trial->epochs : NETWORK_EPOCHS;
    recipe.batch = 64;
    recipe.seed = sotto_given_seed((s->trial->seed + 1) & INT64_MAX); /* other weights than the defender's */
    sotto_head_free(s->net);
    s->net = NULL;
    s->learned = s->train;
    if (sort_rows(x, s->train, own->n, own->d))
        TRY(sotto_head_train(&s->net, x, own->protected_label, own->n, own->d, 2, &recipe, s->ctx));
done:
    base_free(x);
    return status;
}

static sotto_status by_network(double *scores, struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *rows = &s->trial->rows;
    float *asked = NULL, *logits = NULL;
    NEW_ROWS(asked, rows->n, rows->d);
    NEW_ROWS(logits, rows->n, 2);
    if (s->learned != s->train)
        TRY(defended_teach(s));
    sort_rows(asked, s->test, rows->n, rows->d);
    if (s->net)
        TRY(sotto_head_predict(logits, s->net, asked, rows->n, rows->d, 1, s->ctx));
    for (size_t i = 0; i < rows->n; i++)
        scores[i] = (double)logits[2 * i + 1] - (double)logits[2 * i];
done:
    base_free(asked);
    base_free(logits);
    return status;
}

static double defended_largest(const float *p, size_t d)
{
    double top = 0;
    for (size_t k = 0; k < d; k++)
        top = fmax(top, (double)p[k]);
    return top;
}

static double minus_entropy(const float *p, size_t d)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++)
        sum += p[k] > 0 ? (double)p[k] * log((double)p[k]) : 0;
    return sum;
}

/* A threshold on one number of a row, the best one on the attacker's rows. */
static sotto_status by_threshold(struct sotto_defence_leakage *leakage, const char *name,
                                 const struct defence_trial *s, double (*score)(const float *, size_t),
                                 double *scores)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *own = s->trial->attacker, *rows = &s->trial->rows;
    struct roc curve = {0};
    size_t in = 0, first = 0, second = 0;
    double *known = NULL;
    NEW(known, own->n);
    for (size_t i = 0; i < own->n; i++)
        in += own->protected_label[i] == 1;
    for (size_t i = 0; i < own->n; i++)
        known[own->protected_label[i] == 1 ? first++ : in + second++] = score(s->train + i * own->d, own->d);
    TRY(roc_make(&curve, known, in, known + in, own->n - in));
    for (size_t i = 0; i < rows->n; i++)
        scores[i] = score(s->test + i * rows->d, rows->d);
    TRY(judge_scores(leakage, name, scores, roc_threshold_balanced(&curve), rows));
done:
    roc_clear(&curve);
    base_free(known);
    return status;
}

static sotto_status seek_members(struct sotto_defence_leakage *leakage, struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    double *scores = NULL;
    NEW(scores, s->trial->rows.n);
    TRY(by_network(scores, s));
    TRY(judge_scores(leakage, "network", scores, 0, &s->trial->rows));
    TRY(by_threshold(leakage, "confidence", s, defended_largest, scores));
    TRY(by_threshold(leakage, "entropy", s, minus_entropy, scores));
done:
    base_free(scores);
    return status;
}

/* ---- attributes ---- */

static sotto_status seek_attribute(struct sotto_defence_leakage *leakage, const struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *own = s->trial->attacker, *rows = &s->trial->rows;
    size_t most = own->n > rows->n ? own->n : rows->n, *row = NULL;
    int64_t *guess = NULL;
    NEW(row, most);
    NEW(guess, rows->n);
    struct linear_rows train = {s->train, own->protected_label, row, own->n, own->d},
                       test = {s->test, rows->protected_label, row, rows->n, rows->d};
    for (size_t i = 0; i < most; i++)
        row[i] = i;
    for (int kind = ATTRIBUTE_LOGISTIC; kind <= ATTRIBUTE_MLP; kind++) {
        struct confusion_scores scores;
        TRY(attribute_guess(guess, (enum attribute_kind)kind, &train, &test, s->values, s->trial->seed + 1,
                            s->ctx));
        TRY(confusion_measure(&scores, rows->protected_label, guess, rows->n, s->values, DRAWS, confidence,
                              s->trial->seed, 0));
        struct sotto_defence_attacker *one =
            add_attacker(leakage, attribute_kind_name((enum attribute_kind)kind));
        one->accuracy = scores.accuracy;
        one->balanced_accuracy = scores.balanced;
        one->macro_f1 = scores.macro_f1;
    }
done:
    base_free(row);
    base_free(guess);
    return status;
}

/* ---- the three settings ---- */

static sotto_status run_trial(struct sotto_defence_leakage *leakage, struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    TAKE(&s->memory, leakage->attackers, MOST_ATTACKERS);
    TRY(s->trial->posteriors ? seek_members(leakage, s) : seek_attribute(leakage, s));
done:
    return status;
}

static sotto_status defended_check(struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *sides[2] = {&s->trial->rows, s->trial->attacker};
    REQUIRE(sides[0]->d == sides[1]->d,
            "defend: rows have %zu columns but the attacker's rows have %zu; expected the same number",
            sides[0]->d, sides[1]->d);
    for (int side = 0; side < 2; side++) {
        const struct sotto_defence_known *k = sides[side];
        const char *whose = side ? "the attacker's rows" : "the rows to defend";
        bool varies = false;
        REQUIRE(k->n > 0 && k->protected_label, "defend: %s have no protected labels; give FILE.npy:SECRET",
                whose);
        for (size_t i = 0; i < k->n; i++) {
            REQUIRE(k->protected_label[i] >= 0 &&
                        k->protected_label[i] < (s->trial->posteriors ? 2 : MOST_VALUES),
                    "defend: row %zu of %s has the protected label %lld; expected 0 .. %d", i, whose,
                    (long long)k->protected_label[i], s->trial->posteriors ? 1 : MOST_VALUES - 1);
            varies |= k->protected_label[i] != k->protected_label[0];
            s->values =
                (size_t)k->protected_label[i] >= s->values ? (size_t)k->protected_label[i] + 1 : s->values;
        }
        REQUIRE(varies, "defend: all of %s have the protected label %lld; expected at least two values",
                whose, (long long)k->protected_label[0]);
    }
done:
    return status;
}

/* What is known without looking at numbers: the commonest protected label; members by whether the label is right. */
static sotto_status add_baselines(struct sotto_defence_leakage *leakage, struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *rows = &s->trial->rows;
    size_t most = 0, *count = NULL;
    NEW(count, s->values);
    for (size_t i = 0; i < rows->n; i++)
        most = ++count[rows->protected_label[i]] > most ? count[rows->protected_label[i]] : most;
    TAKE(&s->memory, leakage->attackers, MOST_ATTACKERS);
    add_attacker(leakage, "commonest")->accuracy = defended_share(most, rows->n);
    if (s->trial->posteriors && rows->label) {
        size_t right = 0;
        for (size_t i = 0; i < rows->n; i++) {
            const float *p = rows->x + i * rows->d;
            size_t top = 0;
            for (size_t k = 1; k < rows->d; k++)
                top = p[k] > p[top] ? k : top;
            right += ((int64_t)top == rows->label[i]) == (rows->protected_label[i] == 1);
        }
        add_attacker(leakage, "label only")->accuracy = defended_share(right, rows->n);
    }
done:
    base_free(count);
    return status;
}

sotto_status sotto_defence_measure(struct sotto_defence_result *out, const struct sotto_defence_trial *trial,
                                   const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, trial);
    REQUIRE_GIVEN(trial->attacker);
    REQUIRE_GIVEN(!trial->rows.n || trial->rows.x, !trial->rows.n || trial->after,
                  !trial->attacker->n || trial->attacker->x);
    sotto_status status = SOTTO_OK;
    struct defence_trial s = {.trial = trial, .ctx = ctx};
    struct sotto_defence_result r = {.protected_label = trial->posteriors ? "membership" : "attribute",
                                     .attacker_rows = trial->attacker->n};
    TRY(defended_check(&s));
    s.train = trial->attacker->x, s.test = trial->rows.x;
    TRY(run_trial(&r.before, &s));
    s.test = trial->after;
    TRY(run_trial(&r.after, &s));
    s.train = trial->attacker_after;
    if (s.train)
        TRY(run_trial(&r.adaptive, &s));
    TRY(add_baselines(&r.baselines, &s));
    r.memory = s.memory;
    s.memory = NULL;
    *out = r;
done:
    sotto_head_free(s.net);
    audit_memory_free(&s.memory);
    return status;
}

void sotto_defence_result_free(struct sotto_defence_result *r)
{
    if (!r)
        return;
    audit_memory_free(&r->memory);
    *r = (struct sotto_defence_result){0};
}
