/* What a defence leaves to be seen. The same attackers three times: trained and tested on undefended rows;
 * trained on undefended rows and tested on defended ones (as defences were first evaluated); trained on what
 * the defence makes of their own rows (adaptive). Members are sought by a network on sorted posteriors
 * (512-256-128, as MemGuard's authors attack) and by thresholds on the largest posterior and on the entropy;
 * attributes by logistic regression and a network. Decisions are fixed on the attacker's rows. */
#include "base/reserved.h"
#include "audit/fit/attribute_model.h"
#include "audit/measure/confusion.h"
#include "audit/measure/metrics.h"
#include "io/json/json.h"
#include "num/beta.h"
#include "sotto/defend.h"
#include "sotto/head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 2000, MOST_VALUES = 1000, NETWORK_EPOCHS = 100 };
static const double confidence = 0.95;

/* One sitting: from which rows is learned, on which is judged. */
struct defence_trial {
    const float *train, *test;
    const struct sotto_defence_trial *trial;
    size_t values;
    /* the network on members, once for all sittings with the same rows to learn from */
    struct sotto_head *net;
    const float *learned; /* these; NULL: none yet */
    const struct sotto_context *ctx;
};

static void put_interval(struct json **object, const char *key, struct sotto_estimate e)
{
    struct json *j = json_make_object();
    json_put_real(&j, "estimate", e.estimate);
    json_put_real(&j, "lower", e.lower);
    json_put_real(&j, "upper", e.upper);
    json_put(object, key, j);
}

static struct sotto_estimate share(size_t k, size_t n)
{
    struct sotto_estimate e = {.estimate = (double)k / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)k, (double)n, confidence);
    return e;
}

/* ---- members ---- */

/* The AUC of scores (n), higher = more member-like, and the accuracy of deciding "member" above the
 * threshold. */
static sotto_status judge_scores(struct json **list, const char *name, const double *scores, double threshold,
                                 const struct sotto_defence_known *rows)
{
    sotto_status status = SOTTO_OK;
    struct sotto_estimate auc;
    size_t in = 0, out = 0, right = 0;
    double *split = base_alloc(rows->n, sizeof *split);
    if (!split)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for %zu rows", rows->n);
    for (size_t i = 0; i < rows->n; i++)
        in += rows->protected_label[i] == 1;
    for (size_t i = 0, first = 0; i < rows->n; i++) {
        split[rows->protected_label[i] == 1 ? first++ : in + out++] = scores[i];
        right += (scores[i] > threshold) == (rows->protected_label[i] == 1);
    }
    TRY(sotto_auc(&auc, split, in, split + in, out, confidence));
    struct json *one = json_make_object();
    json_put_text(&one, "name", name);
    put_interval(&one, "accuracy", share(right, rows->n));
    put_interval(&one, "auc", auc);
    json_push(list, one);
done:
    base_free(split);
    return status;
}

static int falling(const void *a, const void *b)
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
        qsort(out + i * d, d, sizeof *out, falling);
        differ |= memcmp(out + i * d, out, d * sizeof *out) != 0;
    }
    return differ;
}

/* The network on sorted rows of the attacker; stays NULL where these are all the same. */
static sotto_status teach(struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *own = s->trial->attacker;
    struct sotto_head_recipe recipe;
    float *x = base_alloc(own->n, own->d * sizeof *x);
    if (!x)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for %zu rows", own->n);
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
    float *asked = base_alloc(rows->n, rows->d * sizeof *asked),
          *logits = base_alloc(rows->n, 2 * sizeof *logits);
    if (!asked || !logits)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for %zu rows", rows->n);
    if (s->learned != s->train)
        TRY(teach(s));
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

static double largest(const float *p, size_t d)
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
static sotto_status by_threshold(struct json **list, const char *name, const struct defence_trial *s,
                                 double (*score)(const float *, size_t), double *scores)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *own = s->trial->attacker, *rows = &s->trial->rows;
    struct roc curve = {0};
    size_t in = 0, first = 0, second = 0;
    double *known = base_alloc(own->n, sizeof *known);
    if (!known)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for %zu rows", own->n);
    for (size_t i = 0; i < own->n; i++)
        in += own->protected_label[i] == 1;
    for (size_t i = 0; i < own->n; i++)
        known[own->protected_label[i] == 1 ? first++ : in + second++] = score(s->train + i * own->d, own->d);
    TRY(curve_make(&curve, known, in, known + in, own->n - in));
    for (size_t i = 0; i < rows->n; i++)
        scores[i] = score(s->test + i * rows->d, rows->d);
    TRY(judge_scores(list, name, scores, curve_threshold_balanced(&curve), rows));
done:
    curve_clear(&curve);
    base_free(known);
    return status;
}

static sotto_status seek_members(struct json **list, struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    double *scores = base_alloc(s->trial->rows.n, sizeof *scores);
    if (!scores)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for %zu rows", s->trial->rows.n);
    TRY(by_network(scores, s));
    TRY(judge_scores(list, "network", scores, 0, &s->trial->rows));
    TRY(by_threshold(list, "confidence", s, largest, scores));
    TRY(by_threshold(list, "entropy", s, minus_entropy, scores));
done:
    base_free(scores);
    return status;
}

/* ---- attributes ---- */

static sotto_status seek_attribute(struct json **list, const struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *own = s->trial->attacker, *rows = &s->trial->rows;
    size_t most = own->n > rows->n ? own->n : rows->n, *row = base_alloc(most, sizeof *row);
    int64_t *guess = base_alloc(rows->n, sizeof *guess);
    struct linear_rows train = {s->train, own->protected_label, row, own->n, own->d},
                       test = {s->test, rows->protected_label, row, rows->n, rows->d};
    if (!row || !guess)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for %zu rows", most);
    for (size_t i = 0; i < most; i++)
        row[i] = i;
    for (int kind = ATTRIBUTE_LOGISTIC; kind <= ATTRIBUTE_MLP; kind++) {
        struct confusion_scores scores;
        TRY(attribute_guess(guess, (enum attribute_kind)kind, &train, &test, s->values, s->trial->seed + 1,
                            s->ctx));
        TRY(confusion_measure(&scores, rows->protected_label, guess, rows->n, s->values, DRAWS, confidence,
                              s->trial->seed, 0));
        struct json *one = json_make_object();
        json_put_text(&one, "name", attribute_kind_name((enum attribute_kind)kind));
        put_interval(&one, "accuracy", scores.accuracy);
        put_interval(&one, "balanced_accuracy", scores.balanced);
        put_interval(&one, "macro_f1", scores.macro_f1);
        json_push(list, one);
    }
done:
    base_free(row);
    base_free(guess);
    return status;
}

/* ---- the three sittings ---- */

static sotto_status run_trial(struct json **doc, const char *key, struct defence_trial *s)
{
    struct json *list = json_make_array(), *view = json_make_object();
    sotto_status status = s->trial->posteriors ? seek_members(&list, s) : seek_attribute(&list, s);
    json_put(&view, "attackers", list);
    if (status == SOTTO_OK)
        json_put(doc, key, view);
    else
        json_free(view);
    return status;
}

static sotto_status check(struct defence_trial *s)
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

/* What is known without looking at numbers: the commonest secret; members by whether the label is right. */
static sotto_status put_baselines(struct json **doc, const struct defence_trial *s)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *rows = &s->trial->rows;
    struct json *list = json_make_array(), *one = json_make_object(), *view = json_make_object();
    size_t most = 0, *count = base_alloc(s->values, sizeof *count);
    if (!count)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for %zu values", s->values);
    for (size_t i = 0; i < rows->n; i++)
        most = ++count[rows->protected_label[i]] > most ? count[rows->protected_label[i]] : most;
    json_put_text(&one, "name", "commonest");
    put_interval(&one, "accuracy", share(most, rows->n));
    json_push(&list, one);
    one = NULL;
    if (s->trial->posteriors && rows->label) {
        size_t right = 0;
        for (size_t i = 0; i < rows->n; i++) {
            const float *p = rows->x + i * rows->d;
            size_t top = 0;
            for (size_t k = 1; k < rows->d; k++)
                top = p[k] > p[top] ? k : top;
            right += ((int64_t)top == rows->label[i]) == (rows->protected_label[i] == 1);
        }
        one = json_make_object();
        json_put_text(&one, "name", "label only");
        put_interval(&one, "accuracy", share(right, rows->n));
        json_push(&list, one);
        one = NULL;
    }
    json_put(&view, "attackers", list);
    json_put(doc, "baselines", view);
    list = view = NULL;
done:
    json_free(list);
    json_free(one);
    json_free(view);
    base_free(count);
    return status;
}

sotto_status sotto_defence_measure(char **json, const struct sotto_defence_trial *trial,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = json_make_object();
    struct defence_trial s = {.trial = trial, .ctx = ctx};
    TRY(require_reserved(trial->reserved, "defend"));
    TRY(check(&s));
    json_put_text(&doc, "secret", trial->posteriors ? "membership" : "attribute");
    json_put_integer(&doc, "attacker_rows", (int64_t)trial->attacker->n);
    s.train = trial->attacker->x, s.test = trial->rows.x;
    TRY(run_trial(&doc, "before", &s));
    s.test = trial->after;
    TRY(run_trial(&doc, "after", &s));
    s.train = trial->attacker_after;
    if (s.train)
        TRY(run_trial(&doc, "adaptive", &s));
    TRY(put_baselines(&doc, &s));
    TRY(json_dump(json, doc, JSON_LINE));
done:
    sotto_head_free(s.net);
    json_free(doc);
    return status;
}
