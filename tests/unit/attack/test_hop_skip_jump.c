/* HopSkipJump on boundaries at a known distance, with targets that count their queries. */
#include "support/test.h"

#include "attack/query/hop_skip_jump.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 20, N = 12 };
static float low[D], high[D], w[D], bias;

/* class 1 where w.x + bias > 0; or a shape of its own */
struct judge {
    struct sotto_target target;
    int (*inside)(const float *x);
    uint64_t largest; /* call */
};
static int half_space(const float *x)
{
    double z = (double)bias;
    for (size_t j = 0; j < D; j++)
        z += (double)w[j] * (double)x[j];
    return z > 0;
}
static int ball(const float *x) /* radius 0.25 around the middle */
{
    double sum = 0;
    for (size_t j = 0; j < D; j++)
        sum += ((double)x[j] - 0.5) * ((double)x[j] - 0.5);
    return sum < 0.0625;
}
static int nowhere(const float *x)
{
    (void)x;
    return 0;
}
static const float *island; /* the one point that is adversarial */
static int one_point(const float *x)
{
    return memcmp(x, island, D * sizeof *x) == 0;
}
static int everywhere(const float *x)
{
    (void)x;
    return 1;
}
/* Only one-hot answers leave this target: what labels alone can do is all that the attack can do. */
static sotto_status query(struct sotto_target *t, float *p, const float *rows, size_t n)
{
    struct judge *j = (struct judge *)t;
    j->largest = n > j->largest ? n : j->largest;
    for (size_t i = 0; i < n; i++) {
        int in = j->inside(rows + i * D);
        for (size_t k = 0; k < D; k++)
            assert_true(rows[i * D + k] >= low[k] && rows[i * D + k] <= high[k]);
        p[2 * i] = !in;
        p[2 * i + 1] = (float)in;
    }
    return SOTTO_OK;
}
static void nothing(struct sotto_target *t)
{
    (void)t;
}
static struct judge judge(int (*inside)(const float *))
{
    struct judge j = {.target = target_make("judge", D, 2), .inside = inside};
    j.target.query = query;
    j.target.close = nothing;
    return j;
}

static struct hop_settings settings(size_t queries)
{
    struct hop_settings s;
    hop_defaults(&s);
    assert_int_equal(s.queries, 2500);
    for (size_t j = 0; j < D; j++) {
        low[j] = 0;
        high[j] = 1;
    }
    s.low = low;
    s.high = high;
    s.queries = queries;
    return s;
}

/* Records around the middle of the cube and a plane that their feet reach inside it. */
static void plane_and_records(float *x, int64_t *y)
{
    struct rng r = rng_stream(5, RNG_TEST, 0, 0);
    bias = 0;
    for (size_t j = 0; j < D; j++) {
        w[j] = (float)rng_normal(&r);
        bias -= w[j] * 0.5f;
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = 0.3f + 0.4f * rng_unit_f(&r);
        y[i] = half_space(x + i * D);
    }
}

static double to_plane(const float *x)
{
    double z = (double)bias, norm = 0;
    for (size_t j = 0; j < D; j++) {
        z += (double)w[j] * (double)x[j];
        norm += (double)w[j] * (double)w[j];
    }
    return fabs(z) / sqrt(norm);
}

TEST(finds_a_plane_within_two_percent)
{
    static float x[N * D], nearest[N * D];
    int64_t y[N];
    struct hop_result out[N];
    plane_and_records(x, y);
    struct judge j = judge(half_space);
    struct hop_settings s = settings(5000);
    assert_int_equal(hop_skip_jump(out, nearest, &j.target, x, y, N, &s, NULL), SOTTO_OK);
    uint64_t used = 0;
    for (size_t i = 0; i < N; i++) {
        double truth = to_plane(x + i * D), gap = 0;
        used += out[i].queries;
        assert_true(out[i].queries <= 5000 && out[i].steps > 3);
        assert_true(out[i].distance >= truth * (1 - 1e-5)); /* a point on the other side cannot be nearer */
        assert_true(out[i].distance <= truth * 1.02);
        assert_int_not_equal(half_space(nearest + i * D), y[i]);
        for (size_t k = 0; k < D; k++)
            gap += pow((double)nearest[i * D + k] - (double)x[i * D + k], 2);
        assert_true(fabs(sqrt(gap) - out[i].distance) < 1e-9);
    }
    assert_int_equal(used, j.target.used); /* nothing is asked that is not counted */
    assert_true(j.largest > 500);          /* probes of several records in one call */
}

TEST(inside_a_ball_the_distance_is_what_is_left)
{
    float x[D];
    int64_t y = 1;
    struct hop_result out;
    for (size_t k = 0; k < D; k++)
        x[k] = 0.5f;
    x[3] += 0.1f;
    struct judge j = judge(ball);
    struct hop_settings s = settings(5000);
    assert_int_equal(hop_skip_jump(&out, NULL, &j.target, x, &y, 1, &s, NULL), SOTTO_OK);
    assert_true(out.distance >= 0.15 - 1e-6 && out.distance < 0.15 * 1.1);
}

TEST(the_budget_is_never_exceeded)
{
    static float x[N * D];
    int64_t y[N];
    struct hop_result out[N];
    double last = INFINITY;
    plane_and_records(x, y);
    for (size_t queries = 0; queries < 700; queries += queries < 16 ? 1 : 61) {
        struct judge j = judge(half_space);
        struct hop_settings s = settings(queries);
        assert_int_equal(hop_skip_jump(out, NULL, &j.target, x, y, N, &s, NULL), SOTTO_OK);
        uint64_t used = 0;
        for (size_t i = 0; i < N; i++) {
            assert_true(out[i].queries <= queries);
            used += out[i].queries;
        }
        assert_int_equal(used, j.target.used);
        assert_true(out[0].distance <= last); /* best so far: more queries never hurt */
        last = out[0].distance;
    }
    /* The target's own budget ends the run with its error. */
    struct judge j = judge(half_space);
    struct hop_settings s = settings(2500);
    j.target.budget = 500;
    assert_int_equal(hop_skip_jump(out, NULL, &j.target, x, y, N, &s, NULL), SOTTO_EBUDGET);
    assert_true(j.target.used <= 500);
}

TEST(misclassified_and_unreachable)
{
    float x[D] = {0}, nearest[D];
    int64_t y = 0;
    struct hop_result out;
    struct hop_settings s = settings(2500);
    struct judge wrong = judge(everywhere), never = judge(nowhere);
    assert_int_equal(hop_skip_jump(&out, nearest, &wrong.target, x, &y, 1, &s, NULL), SOTTO_OK);
    assert_true(out.distance == 0 && out.queries == 1);
    assert_memory_equal(nearest, x, sizeof x);
    assert_int_equal(hop_skip_jump(&out, nearest, &never.target, x, &y, 1, &s, NULL), SOTTO_OK);
    assert_true(isinf(out.distance) && out.queries == 101); /* itself and a hundred random points */
    assert_memory_equal(nearest, x, sizeof x);
    /* Rows of the attacker are tried after the random ones. */
    float starts[2 * D];
    for (size_t k = 0; k < 2 * D; k++)
        starts[k] = 0.75f;
    island = starts;
    s.starts = starts;
    s.start_count = 2;
    struct judge rare = judge(one_point);
    assert_int_equal(hop_skip_jump(&out, nearest, &rare.target, x, &y, 1, &s, NULL), SOTTO_OK);
    assert_memory_equal(nearest, starts, sizeof nearest);
    assert_true(fabs(out.distance - 0.75 * sqrt(D)) < 1e-6);
}

/* Around an island of one point no step is adversarial: three estimates, then the end. */
TEST(ends_when_no_step_is_adversarial)
{
    float x[D] = {0}, starts[D];
    int64_t y = 0;
    struct hop_result out;
    struct hop_settings s = settings(1000000);
    for (size_t k = 0; k < D; k++)
        starts[k] = 1e-30f; /* a step is never lost to rounding here */
    island = starts;
    s.starts = starts;
    s.start_count = 1;
    struct judge j = judge(one_point);
    assert_int_equal(hop_skip_jump(&out, NULL, &j.target, x, &y, 1, &s, NULL), SOTTO_OK);
    assert_true(out.queries < 1000 && fabs(out.distance / (sqrt(D) * (double)1e-30f) - 1) < 1e-6);
}

/* A record's result depends neither on its companions nor on the number of threads. */
TEST(companions_change_nothing)
{
    enum { MANY = 100 };
    static float x[MANY * D];
    static int64_t y[MANY];
    static struct hop_result all[MANY], again[MANY];
    struct rng r = rng_stream(6, RNG_TEST, 0, 0);
    plane_and_records(x, y);
    for (size_t i = N; i < MANY; i++) {
        for (size_t k = 0; k < D; k++)
            x[i * D + k] = rng_unit_f(&r);
        y[i] = half_space(x + i * D);
    }
    struct hop_settings s = settings(300);
    struct judge j = judge(half_space);
    struct sotto_context three = {.threads = 3}, one = {.threads = 1};
    assert_int_equal(hop_skip_jump(all, NULL, &j.target, x, y, MANY, &s, &three), SOTTO_OK);
    assert_int_equal(hop_skip_jump(again, NULL, &j.target, x, y, 5, &s, &one), SOTTO_OK);
    assert_memory_equal(all, again, 5 * sizeof *all);
    s.seed = 2;
    assert_int_equal(hop_skip_jump(again, NULL, &j.target, x, y, 5, &s, NULL), SOTTO_OK);
    assert_memory_not_equal(all, again, 5 * sizeof *all);
}

TEST(errors)
{
    static float x[N * D];
    int64_t y[N];
    struct hop_result out[N];
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.stop = &stop};
    plane_and_records(x, y);
    struct judge j = judge(half_space);
    struct hop_settings s = settings(100);
    assert_int_equal(hop_skip_jump(out, NULL, &j.target, x, y, 0, &s, NULL), SOTTO_OK);
    assert_int_equal(hop_skip_jump(out, NULL, &j.target, x, y, N, &s, &ctx), SOTTO_ESTOPPED);
    for (long after = 0; after < 6; after++) {
        base_alloc_fail_after(after);
        assert_int_equal(hop_skip_jump(out, NULL, &j.target, x, y, N, &s, NULL), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
    }
    high[2] = -1;
    assert_int_equal(hop_skip_jump(out, NULL, &j.target, x, y, N, &s, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "hop-skip-jump: the range of column 2 is [0, -1]; expected finite ends in order");
}
