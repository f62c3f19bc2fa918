/* Attacks on networks that answer with noise: shadows have the target's noise unless they are asked to be
 * plain, averaged answers are counted and scatter less. */
#include "support/noisy_target.h"

#include "attack/query/attack_net.h"
#include "attack/shadow/shadow_pool.h"
#include "attack/target/target.h"
#include "audit/measure/metrics.h"

#include <math.h>
#include <string.h>

static const float *const strangers = x + (size_t)N * D; /* noise moves their answers the most */

TEST(shadows_know_of_the_noise_or_not)
{
    static const char *const names[] = {"shokri", "lira"};
    for (int plain = 0; plain < 2; plain++)
        for (size_t i = 0; i < 2; i++) {
            struct sotto_attack_input in = input();
            struct sotto_attack_options o = options(names[i]);
            o.plain_shadows = plain;
            struct json *doc = attack(&in, &o);
            const char *recipe = json_text(json_find(doc, "model_attack.shadows.recipe"));
            assert_non_null(recipe);
            if ((strstr(recipe, "residual") != NULL) == plain)
                fail_msg("%s: shadows by %s", names[i], recipe);
            json_free(doc);
            sotto_target_close(in.target);
        }
}

/* Root mean square difference of two answers to the same rows. */
static double scatter(struct sotto_target *t, size_t repeats)
{
    float p[N * K], q[N * K];
    double sum = 0;
    t->repeats = repeats;
    assert_int_equal(target_query(t, p, strangers, N), SOTTO_OK);
    assert_int_equal(target_query(t, q, strangers, N), SOTTO_OK);
    for (size_t i = 0; i < N * K; i++)
        sum += pow((double)p[i] - (double)q[i], 2);
    return sqrt(sum / (N * K));
}

TEST(averaged_answers_scatter_less_and_are_counted)
{
    struct sotto_attack_input in = input();
    double once = scatter(in.target, 1);
    assert_int_equal(target_used(in.target), 2 * N);
    double often = scatter(in.target, 16); /* a quarter, but for chance */
    assert_int_equal(target_used(in.target), 2 * N + 32 * N);
    assert_true(once > 1e-2);
    assert_true(often < .5 * once && often > .1 * once);
    sotto_target_set_budget(in.target, 34 * N + 16 * N - 1);
    float p[N * K];
    assert_int_equal(target_query(in.target, p, x, N), SOTTO_EBUDGET);
    assert_int_equal(target_used(in.target), 34 * N);
    sotto_target_close(in.target);
}

TEST(shadows_average_their_answers_too)
{
    struct sotto_network *n = NULL;
    float p[3][N * K];
    double sum[2] = {0};
    assert_int_equal(sotto_network_load(&n, path_of("target.safetensors")), SOTTO_OK);
    struct shadow_pool pool = {.models = 1, .networks = &n};
    for (int often = 0; often < 2; often++) {
        pool.repeats = often ? 16 : 1;
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(shadow_pool_ask(p[k], &pool, 0, strangers, N, D, 0, &single), SOTTO_OK);
        for (size_t i = 0; i < N * K; i++)
            sum[often] += pow((double)p[0][i] - (double)p[1][i], 2);
    }
    assert_true(sum[1] < .25 * sum[0] && sum[1] > 0);
    assert_int_equal(shadow_pool_ask(p[2], &pool, 0, x, N, D, 1, &single), SOTTO_OK);
    for (size_t i = 0; i < N; i++) { /* logits: logarithms of probabilities */
        double total = 0;
        for (size_t k = 0; k < K; k++)
            total += exp((double)p[2][i * K + k]);
        assert_true(fabs(total - 1) < 1e-5);
    }
    sotto_network_free(n);
}

/* predict --repeats, either way: the mean of what seeded single answers say, and means differ. */
TEST(repeated_answers_are_means)
{
    enum { REPEATS = 4 };
    struct sotto_network *n = NULL;
    static float logits[N * K], probabilities[N * K];
    struct sotto_answer_options answers = {.seed = 5, .repeats = REPEATS};
    double apart = 0;
    assert_int_equal(sotto_network_load(&n, path_of("target.safetensors")), SOTTO_OK);
    assert_int_equal(sotto_network_set_answers(n, &answers), SOTTO_OK);
    assert_int_equal(sotto_network_predict(logits, n, x, N, D, 0, &single), SOTTO_OK);
    answers.average = SOTTO_AVERAGE_SOFTMAX;
    assert_int_equal(sotto_network_set_answers(n, &answers), SOTTO_OK);
    assert_int_equal(sotto_network_predict(probabilities, n, x, N, D, 0, &single), SOTTO_OK);
    answers.repeats = 0; /* 1 */
    assert_int_equal(sotto_network_set_answers(n, &answers), SOTTO_OK);
    answers.repeats = SOTTO_NONE;
    assert_int_equal(sotto_network_set_answers(n, &answers), SOTTO_EINVAL);
    struct network_query a = {0};
    static float one[N * K];
    double mean[2][N * K] = {{0}};
    assert_int_equal(network_query_make(&a, n, false, &single), SOTTO_OK);
    for (size_t r = 0; r < REPEATS; r++) { /* N is less than a batch: a pass each, at steps 0 .. */
        network_query_run(one, &a, x, N, NULL, NULL);
        for (size_t i = 0; i < N * K; i++)
            mean[0][i] += (double)one[i] / REPEATS;
        network_softmax(one, N, K);
        for (size_t i = 0; i < N * K; i++)
            mean[1][i] += (double)one[i] / REPEATS;
    }
    for (size_t i = 0; i < N * K; i++)
        one[i] = (float)mean[0][i];
    network_softmax(one, N, K);
    for (size_t i = 0; i < N * K; i++) {
        assert_true(fabs((double)logits[i] - (double)one[i]) < 1e-5);
        assert_true(fabs((double)probabilities[i] - mean[1][i]) < 1e-5);
        apart = fmax(apart, fabs((double)logits[i] - (double)probabilities[i]));
    }
    assert_true(apart > 1e-3);
    network_query_clear(&a);
    sotto_network_free(n);
}

TEST(an_averaging_attack_says_so)
{
    struct sotto_attack_input in = input();
    struct sotto_attack_options o = options("shokri");
    double value;
    o.repeats = 3;
    struct json *doc = attack(&in, &o);
    assert_int_equal(json_get_real(&value, doc, "", "model_attack.repeats"), SOTTO_OK);
    assert_true(value == 3);
    assert_int_equal(target_used(in.target), 3 * 2 * N);
    json_free(doc);
    assert_int_equal(in.target->repeats, 0); /* the caller asks as before */
    sotto_target_close(in.target);
}

TEST(plain_shadows_need_networks)
{
    struct sotto_attack_input in = input();
    struct sotto_attack_options o = options("shokri");
    struct sotto_head_recipe r;
    double scores[2 * N];
    char *text = NULL;
    int finished;
    sotto_head_defaults(&r);
    o.recipe = &r;
    o.mismatch = 1;
    o.plain_shadows = 1;
    assert_int_equal(attack_text(&text, scores, &finished, &in, &o, &single), SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(), "attack: shadows without residual perturbation need a network as target"));
    sotto_target_close(in.target);
}

/* A rate at which nothing is learnt does not decide, and the better one is named. */
TEST(the_best_rate_is_taken)
{
    enum { ROWS = 200 };
    float rows[ROWS];
    int64_t member[ROWS];
    double scores[ROWS], chosen = 0;
    const double rates[] = {1e-9, 1e-2};
    struct sotto_estimate area;
    for (size_t i = 0; i < ROWS; i++) {
        member[i] = i < ROWS / 2;
        rows[i] = (member[i] ? 1.0f : -1.0f) + .01f * (float)(i % 7);
    }
    struct output_table train = {ROWS, 1, rows, NULL, member};
    assert_int_equal(attack_net_scores_best(scores, &chosen, &train, rows, ROWS, rates, 2, 1, &single),
                     SOTTO_OK);
    assert_true(chosen == 1e-2);
    assert_int_equal(estimate_auc(&area, scores, ROWS / 2, scores + ROWS / 2, ROWS / 2, .95), SOTTO_OK);
    assert_true(area.estimate == 1);
    for (long at = 0;; at++) {
        base_alloc_fail_after(at);
        sotto_status status =
            attack_net_scores_best(scores, &chosen, &train, rows, ROWS, rates, 1, 1, &single);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
    }
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .start = machine_f32, .tags = "matrix")
