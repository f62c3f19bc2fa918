/* src/measure/audit: summaries of reference signals from one pass for several targets. Expected are plain loops over the
 * models, bit for bit: sums in the models' order, the target's own model left out. */
#include "support/test.h"

#include "audit/audit_references.h"
#include "audit/score/posterior.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { N = 300, MODELS = 37 };

struct world {
    double signals[N * MODELS], target[N];
    uint8_t trained[N * MODELS];
};

/* Records 0 .. 9: so small that probabilities vanish; 10 .. 19: ties with the target and between models; 20: all IN. */
static void world_make(struct world *w)
{
    *w = (struct world){0};
    for (size_t i = 0; i < N; i++) {
        struct rng r = rng_stream(5, RNG_TEST, 0, i);
        w->target[i] = i >= 10 && i < 20 ? 1 : 3 * rng_normal(&r);
        for (size_t m = 0; m < MODELS; m++) {
            double x = 3 * rng_normal(&r);
            w->signals[i * MODELS + m] = i < 10 ? x - 800 : i < 20 ? floor(x) : x;
            w->trained[i * MODELS + m] = i == 20 || rng_unit(&r) < 0.4;
        }
    }
}

static sotto_status read_rows(const void *self, double *signals, uint8_t *trained, size_t first, size_t count)
{
    const struct world *w = self;
    memcpy(signals, w->signals + first * MODELS, count * MODELS * sizeof *signals);
    memcpy(trained, w->trained + first * MODELS, count * MODELS);
    return SOTTO_OK;
}

static sotto_status read_nothing(const void *self, double *signals, uint8_t *trained, size_t first,
                                 size_t count)
{
    (void)self, (void)signals, (void)trained, (void)count;
    return first ? SOTTO_OK : status_fail(SOTTO_EIO, "the disk is gone");
}

static struct reference_source source_of(const struct world *w)
{
    return (struct reference_source){.self = w, .n = N, .models = MODELS, .read = read_rows};
}

static double mean_of_sides(const double sum[2], const uint32_t count[2])
{
    if (!count[0] || !count[1])
        return count[0] ? sum[0] / count[0] : sum[1] / count[1];
    return (sum[0] / count[0] + sum[1] / count[1]) / 2;
}

/* What one target's attacks ask of record i, by the book. */
static struct reference_summary plain(const struct world *w, size_t i, size_t left_out, double target)
{
    const double *x = w->signals + i * MODELS;
    const uint8_t *trained = w->trained + i * MODELS;
    struct reference_summary s = {0};
    double top = -INFINITY;
    for (size_t m = 0; m < MODELS; m++) {
        if (m == left_out)
            continue;
        s.mean[trained[m]] += x[m];
        s.probability[trained[m]] += probability_of_signal(x[m]);
        s.count[trained[m]]++;
        top = fmax(top, x[m]); /* never NaN */
        if (!trained[m])
            s.below += x[m] < target ? 1 : x[m] == target ? 0.5 : 0;
    }
    for (int side = 0; side < 2; side++)
        s.mean[side] = s.count[side] ? s.mean[side] / s.count[side] : 0;
    for (size_t m = 0; m < MODELS; m++)
        if (m != left_out)
            s.squares[trained[m]] += (x[m] - s.mean[trained[m]]) * (x[m] - s.mean[trained[m]]);
    s.log_mean = log(mean_of_sides(s.probability, s.count));
    if (top < -600) { /* p is e^x here: the mean of e^(x - top), times e^top */
        double sum[2] = {0, 0};
        for (size_t m = 0; m < MODELS; m++)
            sum[trained[m]] += m == left_out ? 0 : exp(x[m] - top);
        s.log_mean = top + log(mean_of_sides(sum, s.count));
    }
    return s;
}

static void same_bits(const struct reference_summary *found, const struct reference_summary *expected)
{
    for (int side = 0; side < 2; side++) {
        assert_int_equal(found->count[side], expected->count[side]);
        assert_memory_equal(&found->mean[side], &expected->mean[side], sizeof(double));
        assert_memory_equal(&found->squares[side], &expected->squares[side], sizeof(double));
        assert_memory_equal(&found->probability[side], &expected->probability[side], sizeof(double));
    }
    assert_memory_equal(&found->below, &expected->below, sizeof(double));
    if (expected->log_mean > -600)
        assert_memory_equal(&found->log_mean, &expected->log_mean, sizeof(double));
    else
        assert_true(fabs(found->log_mean - expected->log_mean) <= 1e-12);
}

TEST(targets_of_one_pass_are_those_of_loops)
{
    static struct world w;
    static double signals[REFERENCE_LANES][N];
    static uint8_t trained[REFERENCE_LANES][N];
    static struct reference_summary summary[REFERENCE_LANES][N];
    struct reference_target targets[REFERENCE_LANES];
    struct sotto_context two = {.threads = 2};
    world_make(&w);
    const struct reference_source source = source_of(&w);
    for (size_t t = 0; t < REFERENCE_LANES; t++)
        targets[t] = (struct reference_target){.model = 1 + t * MODELS / REFERENCE_LANES,
                                               .signals = signals[t],
                                               .trained = trained[t],
                                               .summary = summary[t]};
    for (size_t count = 1; count <= REFERENCE_LANES; count += 5) {
        memset(summary, 0, sizeof summary);
        assert_int_equal(audit_references_pass(targets, count, &source, &two), SOTTO_OK);
        for (size_t t = 0; t < count; t++)
            for (size_t i = 0; i < N; i++) {
                const size_t m = targets[t].model - 1;
                const struct reference_summary expected = plain(&w, i, m, w.signals[i * MODELS + m]);
                assert_true(signals[t][i] == w.signals[i * MODELS + m]);
                assert_int_equal(trained[t][i], w.trained[i * MODELS + m]);
                same_bits(&summary[t][i], &expected);
            }
    }
}

TEST(the_real_target_leaves_none_out)
{
    static struct world w;
    static struct reference_summary summary[N];
    world_make(&w);
    const struct reference_source source = source_of(&w);
    struct reference_target target = {.signals = w.target, .summary = summary};
    assert_int_equal(audit_references_pass(&target, 1, &source, NULL), SOTTO_OK);
    for (size_t i = 0; i < N; i++) {
        const struct reference_summary expected = plain(&w, i, MODELS, w.target[i]);
        same_bits(&summary[i], &expected);
    }
    assert_int_equal(summary[20].count[REFERENCE_OUT], 0);
}

/* An attack sees no difference between a table and the matrix itself. */
TEST(attacks_find_the_same)
{
    static const char *const names[] = {"lira",         "lira-pooled",  "lira-offline",
                                        "rmia",         "rmia-offline", "base",
                                        "sablayrolles", "watson",       "reference-rank"};
    static struct world w;
    static double with_table[N], without[N], column[N];
    static struct reference_summary summary[N];
    world_make(&w);
    const struct reference_source source = source_of(&w);
    for (size_t model = 0; model <= MODELS; model += MODELS) {
        struct reference_target target = {
            .model = model, .signals = model ? column : w.target, .summary = summary};
        assert_int_equal(audit_references_pass(&target, 1, &source, NULL), SOTTO_OK);
        struct attack_input in = {.signals = target.signals,
                                  .reference = w.signals,
                                  .trained = w.trained,
                                  .n = N,
                                  .models = MODELS,
                                  .target_model = model};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            in.summary = NULL;
            assert_int_equal(attack_run(without, attack_find(names[k]), &in), SOTTO_OK);
            in.summary = summary;
            assert_int_equal(attack_run(with_table, attack_find(names[k]), &in), SOTTO_OK);
            assert_memory_equal(with_table, without, sizeof without);
        }
    }
}

TEST(failures_are_reported)
{
    static struct world w;
    static struct reference_summary summary[N];
    struct sotto_context one = {.threads = 1};
    world_make(&w);
    struct reference_source source = source_of(&w);
    struct reference_target target = {.signals = w.target, .summary = summary};
    for (long n = 0; n < 2; n++) {
        base_alloc_fail_after(n);
        sotto_status status = audit_references_pass(&target, 1, &source, &one);
        base_alloc_fail_after(-1);
        assert_int_equal(status, SOTTO_ENOMEM);
    }
    source.read = read_nothing;
    assert_int_equal(audit_references_pass(&target, 1, &source, &one), SOTTO_EIO);
    assert_string_equal(sotto_error_text(), "the disk is gone");
}

/* A target without any signal of its own, taken from a pool in which every record trained half of the models: the models
 * that are left count one IN model less for its members. That must tell nothing. */
TEST(base_does_not_count_models)
{
    enum { POOL = 8, RECORDS = 6 };
    double signals[RECORDS * POOL], target[RECORDS], scores[RECORDS];
    uint8_t trained[RECORDS * POOL];
    for (size_t i = 0; i < RECORDS; i++) {
        target[i] = 1;
        for (size_t m = 0; m < POOL; m++) {
            trained[i * POOL + m] = (m + i) % 2; /* records 1, 3 and 5 trained model 0 */
            signals[i * POOL + m] = trained[i * POOL + m] ? 3 : 0;
        }
    }
    const struct attack_input in = {.signals = target,
                                    .reference = signals,
                                    .trained = trained,
                                    .n = RECORDS,
                                    .models = POOL,
                                    .target_model = 1};
    assert_int_equal(attack_run(scores, attack_find("base"), &in), SOTTO_OK);
    for (size_t i = 1; i < RECORDS; i++)
        assert_true(fabs(scores[i] - scores[0]) < 1e-12);
}
