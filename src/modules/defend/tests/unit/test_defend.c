/* Defences: what every row of the list must keep, MemGuard's two phases, the closed form, records,
 * refusals. */
#include "sotto/lab/head.h"
#include "support/test.h"

#include "defend/defence_net.h"

#include "defend/defence.h"
#include "io/json/json.h"
#include "rng/rng.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 80, K = 5 };
static float p[N * K];    /* posteriors: members' are more confident */
static int64_t member[N]; /* 1, 0, 1, 0, ... */
static int64_t label[N];  /* of the task: always the first place for members, else by chance */

static int set_up(void **state)
{
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++) {
        double z[K], sum = 0;
        member[i] = i % 2 == 0;
        size_t top = (size_t)rng_below(&r, K);
        for (size_t k = 0; k < K; k++)
            sum += z[k] = exp(rng_normal(&r) + (k == top ? (member[i] ? 5 : 2) : 0));
        for (size_t k = 0; k < K; k++)
            p[i * K + k] = (float)(z[k] / sum);
        label[i] = (int64_t)(member[i] || rng_unit(&r) < 0.5 ? defence_top(p + i * K, K) : rng_below(&r, K));
    }
    return make_folder(state);
}

static const struct sotto_defence_known known = {p, member, NULL, N, K};

static struct sotto_defence *fit(const char *name, double budget, uint64_t key)
{
    static const char *const quick[] = {"epochs=60", "lr=0.2", "steps=60", NULL};
    struct sotto_defence_options o;
    struct sotto_defence *d = NULL;
    sotto_defence_defaults(&o);
    o.name = name;
    o.budget = sotto_given_real(budget);
    o.key = key;
    o.settings = strcmp(name, "memguard") == 0 ? quick : NULL;
    assert_int_equal(sotto_defence_fit(&d, &known, &o, NULL), SOTTO_OK);
    return d;
}

static double distance(const float *a, const float *b)
{
    double sum = 0;
    for (size_t k = 0; k < K; k++)
        sum += fabs((double)a[k] - (double)b[k]);
    return sum;
}

TEST(rows_of_the_list_are_complete)
{
    char *text;
    assert_int_equal(sotto_defence_list(&text), SOTTO_OK);
    for (size_t i = 0; defence_table[i]; i++) {
        const struct defence *d = defence_table[i];
        double args[DEFENCE_PARAMS];
        assert_string_equal(sotto_defence_name(i), d->name);
        assert_true(strlen(sotto_defence_title(i)) > 10 && strlen(d->source) > 5);
        assert_string_equal(sotto_defence_unit(d->name), d->unit);
        assert_true(sotto_defence_usual_budget(d->name) > 0);
        assert_non_null(strstr(text, d->name));
        assert_int_equal(defence_arguments(args, d, NULL), SOTTO_OK);
        for (size_t k = 0; d->params && d->params[k].name; k++) {
            assert_true(k < DEFENCE_PARAMS);
            assert_true(args[k] >= d->params[k].low && args[k] <= d->params[k].high);
        }
    }
    sotto_text_free(text);
    assert_null(sotto_defence_name(1000));
    assert_null(sotto_defence_title(1000));
    assert_null(sotto_defence_unit("none"));
    assert_true(isnan(sotto_defence_usual_budget("none")));
    assert_int_equal(sotto_defence_of_posteriors("none"), -1);
    assert_int_equal(sotto_defence_of_posteriors("memguard"), 1);
}

/* A posterior defence of a classifier of members must keep label, simplex and budget, and be a function of
 * the row. */
TEST(posteriors_keep_label_simplex_and_budget)
{
    static const double budgets[] = {0, 0.1, 0.5, 2};
    float out[N * K], again[N * K], turned[N * K], back[N * K];
    double cost[N];
    for (size_t i = 0; defence_table[i]; i++) {
        if (!(defence_table[i]->needs & DEFENCE_POSTERIORS))
            continue;
        for (size_t b = 0; b < 4; b++) {
            struct sotto_defence *d = fit(defence_table[i]->name, budgets[b], 7);
            assert_int_equal(sotto_defence_apply(out, cost, d, p, N, K, NULL), SOTTO_OK);
            assert_int_equal(sotto_defence_apply(again, NULL, d, p, N, K, NULL), SOTTO_OK);
            assert_memory_equal(out, again, sizeof out);
            size_t changed = 0;
            for (size_t r = 0; r < N; r++) {
                double sum = 0;
                for (size_t k = 0; k < K; k++) {
                    assert_true(out[r * K + k] >= 0);
                    sum += (double)out[r * K + k];
                }
                assert_true(fabs(sum - 1) < 1e-5);
                assert_int_equal(defence_top(out + r * K, K), defence_top(p + r * K, K));
                assert_true(cost[r] <= budgets[b]);
                changed += distance(out + r * K, p + r * K) > 0;
            }
            assert_true(budgets[b] > 0 ? changed > 0 : changed == 0);
            for (size_t r = 0; r < N; r++)
                memcpy(turned + r * K, p + (N - 1 - r) * K, K * sizeof *p);
            assert_int_equal(sotto_defence_apply(back, NULL, d, turned, N, K, NULL), SOTTO_OK);
            for (size_t r = 0; r < N; r++)
                assert_memory_equal(back + r * K, out + (N - 1 - r) * K, K * sizeof *p);
            sotto_defence_free(d);
        }
    }
}

/* Over many keys a row's mean distance is what was promised. At 400 draws the mean of a coin times a distance
 * of at most 2 has a standard error of at most 0.05; five of them in 40 rows would be a wonder. */
TEST(coins_spend_the_budget_in_expectation)
{
    enum { KEYS = 400, ROWS = 40 };
    double sum[ROWS] = {0}, cost[ROWS];
    float out[ROWS * K];
    bool spent = false;
    for (uint64_t key = 0; key < KEYS; key++) {
        struct sotto_defence *d = fit("uniform-confidence", 0.3, key);
        assert_int_equal(sotto_defence_apply(out, cost, d, p, ROWS, K, NULL), SOTTO_OK);
        for (size_t r = 0; r < ROWS; r++)
            sum[r] += distance(out + r * K, p + r * K) / KEYS;
        sotto_defence_free(d);
    }
    for (size_t r = 0; r < ROWS; r++) {
        assert_true(fabs(sum[r] - cost[r]) < 0.25);
        spent |= cost[r] > 0.29;
    }
    assert_true(spent);
}

TEST(coins_are_uniform_and_hold_still)
{
    double mean = 0;
    float near[K];
    for (uint64_t key = 0; key < 4000; key++)
        mean += defence_coin(key, p, K) / 4000;
    assert_true(fabs(mean - 0.5) < 5 * sqrt(1.0 / 12 / 4000));
    for (size_t k = 0; k < K; k++)
        near[k] = k == 0 ? 0.25f : 0.1875f;
    double coin = defence_coin(3, near, K);
    near[1] += 1e-8f; /* far below a cell */
    assert_true(defence_coin(3, near, K) == coin);
    near[1] += 1e-4f;
    assert_true(defence_coin(3, near, K) != coin);
}

TEST(classifier_has_the_right_gradient)
{
    struct sotto_head_recipe recipe;
    struct defence_net net;
    struct defence_look look;
    double x[K], weight[2] = {0.7, -1.3}, gradient[K];
    struct head_data data = {p, member, N, K, 2};
    sotto_head_defaults(&recipe);
    recipe.hidden_count = 2;
    recipe.hidden[0] = 9, recipe.hidden[1] = 7;
    for (int standardise = 0; standardise < 2; standardise++) {
        assert_int_equal(defence_net_train(&net, &data, &recipe, standardise, NULL), SOTTO_OK);
        assert_int_equal(defence_look_make(&look, &net), SOTTO_OK);
        for (size_t k = 0; k < K; k++)
            x[k] = (double)p[k];
        defence_net_forward(&net, &look, x);
        memcpy(gradient, defence_net_backward(&net, &look, weight), sizeof gradient);
        for (size_t k = 0; k < K; k++) {
            double side[2];
            for (int s = 0; s < 2; s++) {
                x[k] = (double)p[k] + (s ? 1e-6 : -1e-6);
                const double *logits = defence_net_forward(&net, &look, x);
                side[s] = weight[0] * logits[0] + weight[1] * logits[1];
            }
            x[k] = (double)p[k];
            assert_true(fabs((side[1] - side[0]) / 2e-6 - gradient[k]) < 1e-6 * (1 + fabs(gradient[k])));
        }
        defence_look_clear(&look);
        defence_net_clear(&net);
    }
}

/* The closed form by hand: 1/5 + .001 for the first class, 1/5 - .001/4 for the others. */
TEST(uniform_confidence_is_the_closed_form)
{
    struct sotto_defence *d = fit("uniform-confidence", 2, 0);
    float out[N * K];
    assert_int_equal(sotto_defence_apply(out, NULL, d, p, N, K, NULL), SOTTO_OK);
    for (size_t i = 0; i < N * K; i++)
        assert_true(out[i] == (i % K == defence_top(p + i / K * K, K) ? 0.201f : 0.19975f));
    sotto_defence_free(d);
}

/* At temperature 2 by hand: square roots over their sum. */
static size_t warnings;

static void count_warning(void *user, enum sotto_log_level level, const char *text)
{
    (void)user;
    warnings += level == SOTTO_LOG_WARNING && strstr(text, "'smoothing' is now called 'temperature'");
}

static void at_temperature_two(const char *name, size_t warned)
{
    static const char *const two[] = {"temperature=2", NULL};
    static const float row[3] = {0.64f, 0.36f, 0};
    struct sotto_defence_options o;
    struct sotto_defence_known nothing = {0};
    const struct sotto_context context = {.log = count_warning};
    struct sotto_defence *d = NULL;
    float out[3];
    warnings = 0;
    sotto_defence_defaults(&o);
    o.name = name;
    o.settings = two;
    assert_int_equal(sotto_defence_fit(&d, &nothing, &o, &context), SOTTO_OK);
    assert_int_equal(warnings, warned);
    assert_int_equal(sotto_defence_apply(out, NULL, d, row, 1, 3, NULL), SOTTO_OK);
    assert_true(fabs((double)out[0] - 0.8 / 1.4) < 1e-6 && fabs((double)out[1] - 0.6 / 1.4) < 1e-6 &&
                out[2] == 0);
    sotto_defence_free(d);
}

TEST(temperature_takes_roots)
{
    at_temperature_two("temperature", 0);
}

TEST(its_old_name_warns_once)
{
    at_temperature_two("smoothing", 1);
}

static double number(const char *json, const char *path)
{
    struct json *doc;
    assert_int_equal(json_parse(&doc, json, strlen(json), "test"), SOTTO_OK);
    double x = json_number(json_find(doc, path));
    json_free(doc);
    return x;
}

static struct sotto_defence_result measure(const float *after, const float *attacker_after)
{
    struct sotto_defence_result r = {0};
    struct sotto_defence_trial t = {{p, member, label, N, K}, after, &known, attacker_after, 1, 1, 20};
    assert_int_equal(sotto_defence_measure(&r, &t, NULL), SOTTO_OK);
    return r;
}

/* A planted leak: found; hidden by MemGuard from an attacker that does not expect it, but not from one
 * that knows the labels. */
TEST(attackers_find_what_is_there)
{
    float out[N * K];
    struct sotto_defence *d = fit("memguard", 2, 1);
    assert_int_equal(sotto_defence_apply(out, NULL, d, p, N, K, NULL), SOTTO_OK);
    struct sotto_defence_result r = measure(out, NULL);
    assert_string_equal(r.protected_label, "membership");
    assert_int_equal(r.attacker_rows, N);
    assert_int_equal(r.before.count, 3);
    assert_string_equal(r.before.attackers[0].name, "network");
    assert_true(r.before.attackers[0].accuracy.lower > 0.7);
    assert_true(r.after.attackers[0].accuracy.estimate < r.before.attackers[0].accuracy.estimate - 0.15);
    assert_true(isnan(r.before.attackers[0].macro_f1.estimate));
    assert_int_equal(r.adaptive.count, 0);
    assert_int_equal(r.baselines.count, 2);
    assert_true(r.baselines.attackers[0].accuracy.estimate == 0.5);
    assert_true(r.baselines.attackers[1].accuracy.estimate > 0.6);
    assert_true(isnan(r.baselines.attackers[1].auc.estimate));
    sotto_defence_result_free(&r);
    assert_int_equal(r.before.count, 0);
    sotto_defence_result_free(&r);
    sotto_defence_result_free(NULL);
    sotto_defence_free(d);

    d = fit("uniform-confidence", 2, 1);
    assert_int_equal(sotto_defence_apply(out, NULL, d, p, N, K, NULL), SOTTO_OK);
    r = measure(out, out);
    assert_int_equal(r.adaptive.count, 3);
    for (size_t i = 0; i < r.adaptive.count; i++)
        assert_true(r.adaptive.attackers[i].auc.estimate == 0.5);
    sotto_defence_result_free(&r);
    sotto_defence_free(d);
}

TEST(records_say_what_was_paid)
{
    float out[N * K];
    double cost[N];
    char *json, *text;
    struct sotto_defence_record r = {0};
    struct sotto_defence *d = fit("uniform-confidence", 0.5, 1);
    assert_int_equal(sotto_defence_apply(out, cost, d, p, N, K, NULL), SOTTO_OK);
    struct sotto_defence_result measured = measure(out, out);
    struct sotto_defence_outcome o = {p, out, cost, N, K, NULL, NULL, 0, label, &measured};
    FILE *f = fopen(path_of("x.npy"), "w");
    assert_non_null(f);
    fputs("abc", f);
    fclose(f);
    struct sotto_defence_file file = {"input", path_of("x.npy")};
    assert_int_equal(sotto_defence_record(&r, d, &o, &file, 1), SOTTO_OK);
    /* FIPS 180-2, appendix B.1 */
    assert_string_equal(r.inputs[0].sha256,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_non_null(strstr(r.statement, "no differential privacy"));
    assert_true(r.distortion.largest_expected <= 0.5 && r.distortion.mean_l1 > 0);
    assert_true(r.utility.labels_kept == 1);
    assert_true(r.utility.accuracy_before.estimate == r.utility.accuracy_after.estimate);
    assert_int_equal(sotto_defence_encode(&json, &r), SOTTO_OK);
    assert_true(number(json, "distortion.largest_expected") == r.distortion.largest_expected);
    assert_true(number(json, "attack.adaptive.attackers[2].auc.upper") ==
                measured.adaptive.attackers[2].auc.upper);
    assert_true(isnan(number(json, "attack.before.attackers[0].macro_f1.estimate")));
    assert_int_equal(sotto_defence_save_record(path_of("x.npy.defence.json"), &r), SOTTO_OK);
    assert_int_equal(sotto_defence_summary(&text, &r), SOTTO_OK);
    assert_non_null(strstr(text, "uniform-confidence, budget 0.5"));
    assert_non_null(strstr(text, "adaptive"));
    sotto_text_free(text);
    sotto_text_free(json);
    sotto_defence_record_free(&r);
    assert_null(r.inputs);
    o.measured = NULL, o.label = NULL;
    assert_int_equal(sotto_defence_record(&r, d, &o, NULL, 0), SOTTO_OK);
    assert_true(isnan(r.utility.accuracy_before.estimate));
    assert_int_equal(sotto_defence_encode(&json, &r), SOTTO_OK);
    assert_non_null(strstr(json, "\"attack\":null"));
    assert_non_null(strstr(json, "\"accuracy_before\":null"));
    sotto_text_free(json);
    sotto_defence_record_free(&r);
    file.path = path_of("none");
    assert_int_equal(sotto_defence_record(&r, d, &o, &file, 1), SOTTO_ENOENT);
    assert_null(r.settings);
    sotto_defence_result_free(&measured);
    sotto_defence_free(d);
}

static void refused(const struct sotto_defence_known *k, struct sotto_defence_options o,
                    sotto_status expected, const char *text)
{
    struct sotto_defence *d = NULL;
    assert_int_equal(sotto_defence_fit(&d, k, &o, NULL), expected);
    assert_null(d);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), text);
}

TEST(bad_input_is_refused_by_name)
{
    static const char *const unknown[] = {"strength=1", NULL}, *const high[] = {"step=11", NULL},
                             *const part[] = {"epochs=1.5", NULL}, *const bare[] = {"epochs", NULL};
    struct sotto_defence_options o;
    struct sotto_defence_known k = known, nothing = {0};
    float logits[2 * K] = {0.2f, 0.2f, 0.2f, 0.2f, 0.2f, 1, 0.5f, 0, 0, 0}, out[2 * K];
    int64_t all[N] = {0};
    sotto_defence_defaults(&o);
    o.name = "memguard";
    struct sotto_defence_options other = o;
    other.name = "shield";
    refused(&k, other, SOTTO_EUSAGE, "defence 'shield' is unknown; expected memguard");
    other = o, other.budget = -1;
    refused(&k, other, SOTTO_EINVAL, "budget must be >= 0 (got -1)");
    other = o, other.settings = unknown;
    refused(&k, other, SOTTO_EUSAGE, "defend: 'strength=1' is not a parameter of memguard");
    other.settings = high;
    refused(&k, other, SOTTO_EUSAGE, "'step=11' is out of range");
    other.settings = part;
    refused(&k, other, SOTTO_EUSAGE, "a whole number");
    other.settings = bare;
    refused(&k, other, SOTTO_EUSAGE, "'epochs' is not a parameter of");
    refused(&nothing, o, SOTTO_EUSAGE, "needs rows with known protected labels; give known=ROWS.npy:SECRET");
    k.protected_label = all;
    refused(&k, o, SOTTO_EINVAL, "every known row has the protected label 0");
    all[3] = 2;
    refused(&k, o, SOTTO_EINVAL, "hides membership, so protected labels must be 0 and 1 (got");
    all[3] = -1;
    refused(&k, o, SOTTO_EINVAL, "row 3");
    k = (struct sotto_defence_known){logits, all, NULL, 2, K};
    refused(&k, o, SOTTO_EINVAL, "known rows: row 1 sums to 1.5; expected probabilities that sum to 1");
    logits[5] = 3;
    refused(&k, o, SOTTO_EINVAL, "row 1, column 0 is 3; expected probabilities from 0 to 1");
    logits[5] = NAN;
    refused(&k, o, SOTTO_EINVAL, "row 1, column 0 is not finite");

    struct sotto_defence *d = fit("uniform-confidence", 1, 0);
    assert_int_equal(sotto_defence_apply(out, NULL, d, p, 2, K - 1, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_defence_apply(out, NULL, d, logits, 2, K, NULL), SOTTO_EINVAL);
    sotto_defence_free(d);
    assert_int_equal(sotto_defence_check("shield", p, 1, K, "p.npy"), SOTTO_EUSAGE);
    assert_int_equal(sotto_defence_check("memguard", p, 1, 1, "p.npy"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "p.npy: rows have 1 column; expected posteriors of at least 2 classes");
}

TEST(trials_are_checked)
{
    struct sotto_defence_result r = {0};
    struct sotto_defence_known narrow = {p, member, NULL, N, K - 1}, blind = {p, NULL, NULL, N, K};
    int64_t all[N] = {0};
    struct sotto_defence_trial t = {known, p, &narrow, NULL, 1, 1, 1};
    assert_int_equal(sotto_defence_measure(&r, &t, NULL), SOTTO_EINVAL);
    t.attacker = &blind;
    assert_int_equal(sotto_defence_measure(&r, &t, NULL), SOTTO_EINVAL);
    t.attacker = &known;
    t.rows.protected_label = all;
    assert_int_equal(sotto_defence_measure(&r, &t, NULL), SOTTO_EINVAL);
    all[0] = 2;
    assert_int_equal(sotto_defence_measure(&r, &t, NULL), SOTTO_EINVAL);
    assert_null(r.memory);
}

/* Every allocation that fails gives ENOMEM and leaves nothing behind. */
TEST(want_of_memory_is_an_error)
{
    static const char *const quick[] = {"epochs=1", "steps=5", NULL}, *const once[] = {"epochs=1", NULL};
    struct sotto_defence_options o;
    struct sotto_defence_known all = {p, member, label, 40, K};
    float out[N * K];
    double cost[N] = {0};
    sotto_defence_defaults(&o);
    for (size_t i = 0; defence_table[i]; i++)
        for (long n = 0;; n++) {
            struct sotto_defence *d = NULL;
            o.name = defence_table[i]->name;
            o.settings = !(defence_table[i]->needs & DEFENCE_SECRETS) ? NULL
                         : defence_table[i]->needs & DEFENCE_LABELS   ? once
                                                                      : quick;
            base_alloc_fail_after(n);
            sotto_status status = sotto_defence_fit(&d, &all, &o, NULL);
            if (status == SOTTO_OK)
                status = sotto_defence_apply(out, NULL, d, p, 3, K, NULL);
            base_alloc_fail_after(-1);
            sotto_defence_free(d);
            if (status == SOTTO_OK)
                break;
            assert_int_equal(status, SOTTO_ENOMEM);
        }
    struct sotto_defence_known few = {p, member, label, 20, K};
    struct sotto_defence_trial t = {few, p, &few, p, 1, 1, 1};
    struct sotto_defence_result r = {0};
    for (long n = 0;; n += 1 + n / 8) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_defence_measure(&r, &t, NULL);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_null(r.memory);
    }
    struct sotto_defence *d = fit("uniform-confidence", 1, 0);
    struct sotto_defence_outcome outcome = {p, p, cost, N, K, NULL, NULL, 0, label, &r};
    for (long n = 0;; n++) {
        struct sotto_defence_record record = {0};
        char *json = NULL;
        base_alloc_fail_after(n);
        sotto_status status = sotto_defence_record(&record, d, &outcome, NULL, 0);
        if (status == SOTTO_OK)
            status = sotto_defence_encode(&json, &record);
        base_alloc_fail_after(-1);
        sotto_defence_record_free(&record);
        sotto_text_free(json);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
    }
    sotto_defence_result_free(&r);
    sotto_defence_free(d);
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder)
