/* Doubles stay doubles until the lattice: what is released of neighbours may not tell them apart by rounding,
 * at any magnitude, for any mechanism and dtype. f2, f4, f8; exact noise; no instruction set or thread count
 * matters. */
#include "support/test.h"
#include "support/effort.h"
#include "support/exercise.h"

#include "support/temporary_folder.h"
#include "dp/account/accountant.h"
#include "dp/noise/lattice.h"
#include "io/array/npy.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RUNS = 60, WIDTH = 64, MOST = 10 };

static struct sotto_release request(const char *mechanism, double scale, double l1, double l2)
{
    unlink(path_of("l.jsonl"));
    return (struct sotto_release){
        .mechanism = mechanism,
        .scale = scale,
        .target = {NAN, 1e-5},
        .sensitivity = {.l1 = l1, .l2 = l2, .source = SOTTO_SENSITIVITY_GIVEN},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("l.jsonl")}};
}

struct range {
    double low, high;
};

static struct range range_of(const double *x, size_t n)
{
    struct range r = {x[0], x[0]};
    for (size_t i = 1; i < n; i++)
        r = (struct range){fmin(r.low, x[i]), fmax(r.high, x[i])};
    return r;
}

static bool disjoint(const double *a, const double *b, size_t n)
{
    struct range x = range_of(a, n), y = range_of(b, n);
    return x.high < y.low || y.high < x.low;
}

/* Laws one scale apart, as neighbours have them, give two disjoint sets of 30 draws once in 10^8 times, of 60 never. */
static int runs(void)
{
    return (int)by_effort(RUNS / 2, RUNS, RUNS * MOST);
}

/* One value in a .npy file of that dtype, released runs() times by `protect`. */
static void protect_often(double *out, double value, enum sotto_dtype dtype, double l1)
{
    struct sotto_array a;
    assert_int_equal(sotto_array_make(&a, SOTTO_F8, 1, &(size_t){1}), SOTTO_OK);
    *(double *)a.data = value;
    assert_int_equal(sotto_array_convert(&a, dtype), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path_of("in.npy"), &a), SOTTO_OK);
    sotto_array_clear(&a);
    struct sotto_protect p = {.input = path_of("in.npy"),
                              .output = path_of("out.npy"),
                              .release = request("laplace", NAN, l1, NAN)};
    p.release.target = (struct sotto_dp){1, 0};
    for (int i = 0; i < runs(); i++) {
        struct sotto_certificate *certificate;
        assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_OK);
        sotto_certificate_free(certificate);
        assert_int_equal(npy_load(&a, p.output), SOTTO_OK);
        assert_int_equal(a.dtype, dtype == SOTTO_F8 ? SOTTO_F8 : SOTTO_F4);
        assert_int_equal(sotto_array_convert(&a, SOTTO_F8), SOTTO_OK);
        out[i] = *(double *)a.data;
        sotto_array_clear(&a);
    }
}

/* The attack that doubles rounded to floats before the noise fall to: {1e9} against {1e9 + 64}. */
TEST(neighbours_in_a_file_are_not_told_apart)
{
    static const struct {
        double one, other, l1;
        enum sotto_dtype dtype;
    } pairs[] = {{1e9 + 31, 1e9 + 33, 2, SOTTO_F8},
                 {1e15 + 1, 1e15 + 3, 2, SOTTO_F8},
                 {7000.00012, 7000.0002, 1e-4, SOTTO_F8},
                 {1e9, 1e9 + 64, 64, SOTTO_F4},
                 {2048, 2050, 2, SOTTO_F2},
                 {5e-324, 1e-323, 1e-90, SOTTO_F8}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double a[RUNS * MOST], b[RUNS * MOST];
        protect_often(a, pairs[i].one, pairs[i].dtype, pairs[i].l1);
        protect_often(b, pairs[i].other, pairs[i].dtype, pairs[i].l1);
        if (disjoint(a, b, (size_t)runs()))
            fail_msg("%.17g and %.17g are told apart", pairs[i].one, pairs[i].other);
        if (pairs[i].dtype == SOTTO_F8 && pairs[i].one < 1e12 && pairs[i].one > 1) /* finer than a float */
            assert_true(a[0] != (double)(float)a[0] || a[1] != (double)(float)a[1]);
    }
}

static void release_wide(double out[WIDTH], const char *mechanism, double value, double step, double scale,
                         bool doubles)
{
    struct sotto_release r = request(mechanism, scale, step * WIDTH, step * sqrt(WIDTH));
    struct sotto_certificate *certificate;
    float floats[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        out[i] = value;
    for (int i = 0; i < WIDTH; i++)
        floats[i] = (float)value;
    sotto_status status = doubles ? sotto_dp_release_double(&certificate, out, WIDTH, &r, NULL)
                                  : sotto_dp_release(&certificate, floats, WIDTH, &r, NULL);
    if (status != SOTTO_OK)
        fail_msg("%s at %.17g: %s", mechanism, value, sotto_error_text());
    sotto_certificate_free(certificate);
    for (int i = 0; i < WIDTH && !doubles; i++)
        out[i] = (double)floats[i];
}

/* Every mechanism that adds noise: all coordinates move by half a scale. */
TEST(no_mechanism_tells_neighbours_apart)
{
    static const char *const mechanisms[] = {"logistic", "laplace",          "gaussian",
                                             "knorm",    "discrete-laplace", "discrete-gaussian"};
    static const struct {
        double value, step;
        bool doubles;
    } places[] = {
        {1e9 + 31, 2, true},   {1e15 + 1, 2, true},         {-1e15 - 3, 2, true}, {1e9, 64, false},
        {0x1p53 - 4, 2, true}, {16777216, 2, false},        {5, 1, true},         {5e-324, 1e-99, true},
        {1e300, 1, true},      {FLT_TRUE_MIN, 1e-30, false}};
    for (size_t m = 0; m < sizeof mechanisms / sizeof *mechanisms; m++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            double a[WIDTH], b[WIDTH], value = places[i].value, step = places[i].step;
            if (strncmp(mechanisms[m], "discrete", 8) == 0 && fabs(value) < 1)
                continue; /* not whole */
            release_wide(a, mechanisms[m], value, step, 2 * step, places[i].doubles);
            release_wide(b, mechanisms[m], value + step, step, 2 * step, places[i].doubles);
            if (disjoint(a, b, WIDTH))
                fail_msg("%s: %.17g and its neighbour are told apart", mechanisms[m], value);
        }
}

/* Scores as doubles: 31 and 33 above 1e9 are 2 apart, not 64. */
TEST(no_score_is_rounded_before_the_lattice)
{
    static const double scores[2][2] = {{1e9 + 31, 1e9 + 33}, {1e9 + 33, 1e9 + 31}};
    for (int world = 0; world < 2; world++) {
        int count[2] = {0, 0};
        struct sotto_release r = request("exponential", 2, 2, NAN);
        for (int i = 0; i < RUNS; i++) {
            size_t chosen;
            struct sotto_certificate *certificate;
            assert_int_equal(sotto_dp_select(&chosen, &certificate, scores[world], 2, &r, NULL), SOTTO_OK);
            sotto_certificate_free(certificate);
            count[chosen]++;
        }
        assert_true(count[0] > 0 && count[1] > 0); /* odds e^(1/2) : 1, never 9e6 : 1 */
    }
}

/* A double of any magnitude, of both signs, subnormal ones too. */
static double any_double(struct rng *rng)
{
    int exponent = (int)(rng_u64(rng) % 2098) - 1074;
    double size = ldexp(1 + rng_unit(rng), exponent);
    return rng_u64(rng) & 1 ? fmin(size, DBL_MAX) : -fmin(size, DBL_MAX);
}

static double any_scale(struct rng *rng)
{
    return pow(10, 200 * rng_unit(rng) - 100) * (1 - 1e-9) + 1e-100;
}

/* Exact: within the lattice x and its index differ by at most half a step. x - q r has no rounding error: q r
 * is a double next to x, or equals it. */
TEST(the_lattice_is_never_further_than_half_a_step)
{
    struct rng rng = rng_stream(11, RNG_EVALUATE, 0, 0);
    int inside = 0, clamped = 0;
    for (int i = 0; i < 1000000; i++) {
        struct lattice l = lattice_make(any_scale(&rng));
        double near = ldexp(rng_unit(&rng) - 0.5, l.exponent + (int)(rng_u64(&rng) % 124));
        double x = i % 2 ? any_double(&rng) : near;
        int128 q = lattice_index(x, l);
        double end = ldexp(1, LATTICE_END + l.exponent);
        if (fabs(x) >= end) {
            assert_true(q == (x < 0 ? -1 : 1) * ((int128)1 << LATTICE_END));
            clamped++;
        } else {
            assert_true(fabs(x - ldexp((double)q, l.exponent)) <= ldexp(0.5, l.exponent));
            inside++;
        }
    }
    assert_true(inside > 100000 && clamped > 100000);
}

/* What the account adds for rounding (2^-52 of the scale for each value by L1) covers the indices that
 * neighbours really get, in steps, for the mechanisms on the noise lattice. */
TEST(neighbours_stay_within_what_is_accounted)
{
    enum { N = 16 };
    struct rng rng = rng_stream(12, RNG_EVALUATE, 0, 0);
    int tight = 0;
    for (int round = 0; round < 20000; round++) {
        double scale = any_scale(&rng), l1 = 0, l2 = 0, moved = 0, square = 0;
        struct lattice l = lattice_make(scale);
        struct interval sum = iv(0), squares = iv(0);
        for (int i = 0; i < N; i++) {
            /* a magnitude for each coordinate, a move of a fraction of a step to a few scales */
            double x = ldexp(rng_unit(&rng) - 0.5, l.exponent + (int)(rng_u64(&rng) % 119));
            double y = x + ldexp(rng_unit(&rng) - 0.5, l.exponent + (int)(rng_u64(&rng) % 56));
            struct interval change = iv_sub(iv(y), iv(x));
            change = iv_max(change, iv_neg(change));
            sum = iv_add(sum, change);
            squares = iv_add(squares, iv_square(change));
            double steps = (double)(lattice_index(y, l) - lattice_index(x, l));
            moved += fabs(steps);
            square += steps * steps;
        }
        l1 = fmax(sum.hi, 1e-99 * scale);
        l2 = fmax(iv_sqrt(squares).hi, 1e-99 * scale);
        if (!(l1 >= 1e-100 && l1 <= 1e100 && l2 >= 1e-100))
            continue;
        struct sotto_sensitivity s = {.l1 = l1, .l2 = l2, .dimension = N};
        struct sensitivity_ratio shifts;
        assert_int_equal(sensitivity_ratio_make(&shifts, scale, &s, LATTICE_BITS_FINE), SOTTO_OK);
        double m = (double)l.m; /* steps in a scale */
        assert_true(moved <= shifts.l1.hi * m * (1 + 1e-15));
        assert_true(sqrt(square) <= shifts.l2.hi * m * (1 + 1e-15));
        tight += moved > sum.hi / ldexp(1, l.exponent); /* without the allowance this would fail */
    }
    assert_true(tight > 100);
}

TEST_GROUP(.before = make_folder, .after = remove_folder, .tags = "long")
