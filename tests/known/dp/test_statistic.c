/* Statistics of records: the sensitivities that are proved, against all tables of a few people. */
#include "support/test.h"

#include "dp/release/statistic.h"
#include "io/array/tensors.h"
#include "sotto/private/io.h"
#include "support/temporary_folder.h"
#include "support/worse.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

static bool as_scores; /* columns are candidates */

/* The statistic of x (n, columns), which is copied; *r has its sensitivity. */
static sotto_status statistic(double *out, struct sotto_release *r, const struct sotto_protect *p,
                              const float *x, size_t n, size_t columns)
{
    struct sotto_tensors t = {0};
    assert_int_equal(tensors_add(&t, "vector", SOTTO_F4, 2, (const size_t[]){n, columns}, x), SOTTO_OK);
    const sotto_status status = statistic_replace(&t, r, p, as_scores);
    if (status == SOTTO_OK) {
        assert_int_equal(t.items[0].array.count, columns);
        memcpy(out, t.items[0].array.data, columns * sizeof *out);
    }
    sotto_tensors_clear(&t);
    return status;
}

TEST(means_of_genotypes)
{
    static const struct {
        size_t n, loci;
        double l2, sigma;
    } known[] = {{1000, 3000, 0.054772, 0.231395}, {1000, 100, 0.010000, 0.042247}};
    const struct sotto_protect p = {.input = "x.npy", .statistic = "mean", .range = {0, 1}};
    for (size_t i = 0; i < 2; i++) {
        const size_t n = known[i].n, loci = known[i].loci;
        float *x = calloc(n * loci, sizeof *x);
        double *out = calloc(loci, sizeof *out), scale = 0;
        struct sotto_release r = {0};
        assert_true(x && out);
        x[0] = 1, x[loci] = 0.5f; /* the first locus: a share of 1.5 in all */
        assert_int_equal(statistic(out, &r, &p, x, n, loci), SOTTO_OK);
        near(out[0], 1.5 / (double)n, 1e-18);
        near(out[1], 0, 0);
        assert_int_equal(r.records, n);
        assert_int_equal(r.sensitivity.source, SOTTO_SENSITIVITY_CLIPPED);
        assert_true(r.sensitivity.l2 >= sqrt((double)loci) / (double)n);
        near(r.sensitivity.l2, known[i].l2, 5e-7);
        near(r.sensitivity.l1, (double)loci / (double)n, 1e-9);
        assert_int_equal(
            sotto_calibrate(&scale, "gaussian", &r.sensitivity, (struct sotto_dp){1, 1e-6}, NULL), SOTTO_OK);
        near(scale, known[i].sigma, 5e-7);
        free(x);
        free(out);
    }
}

/* Whatever a record holds, it moves a mean by no more than width / n; and no order of records changes a bit. */
TEST(a_record_is_clipped)
{
    enum { N = 7, WILD = 9 };
    const float wild[WILD] = {0, 1, -1e30f, 1e30f, INFINITY, -INFINITY, NAN, 0.3f, 1e-40f};
    const struct sotto_protect p = {.input = "x.npy", .statistic = "mean", .range = {-3, 1e6}};
    float x[N] = {0.1f, 5e5f, -2, 7, 0.25f, 99, 0};
    double least = INFINITY, most = -INFINITY, out, again;
    struct sotto_release r;
    for (size_t i = 0; i < WILD; i++) {
        x[3] = wild[i];
        r = (struct sotto_release){0};
        assert_int_equal(statistic(&out, &r, &p, x, N, 1), SOTTO_OK);
        least = fmin(least, out), most = fmax(most, out);
        float turned[N];
        for (size_t k = 0; k < N; k++)
            turned[k] = x[N - 1 - k];
        r = (struct sotto_release){0};
        assert_int_equal(statistic(&again, &r, &p, turned, N, 1), SOTTO_OK);
        assert_true(again == out);
    }
    assert_true(most - least <= r.sensitivity.l1);
    near(most - least, r.sensitivity.l1, 1e-9 * r.sensitivity.l1); /* and some do */
}

/* Sample and aggregate: whatever a record holds, it moves the mean of its own block, (row number) modulo K, and no other. */
TEST(a_record_moves_one_block)
{
    enum { N = 11, BLOCKS = 4, WILD = 5 };
    const float wild[WILD] = {0, 1, -1e30f, INFINITY, NAN},
                plain[N] = {0.5f, 0.25f, 1, 0, 0.75f, 0.5f, 0.25f, 1, 0, 1, 0.5f};
    const struct sotto_protect p = {
        .input = "x.npy", .statistic = "median", .range = {0, 1}, .blocks = BLOCKS};
    const double means[BLOCKS] = {1.25 / 3, 1.75 / 3, 1.75 / 3, 0.5};
    for (size_t i = 0; i < N; i++)
        for (size_t w = 0; w < WILD; w++) {
            struct sotto_tensors t = {0};
            struct sotto_release r = {0};
            float x[N];
            memcpy(x, plain, sizeof x);
            x[i] = wild[w];
            assert_int_equal(tensors_add(&t, "vector", SOTTO_F4, 2, (const size_t[]){N, 1}, x), SOTTO_OK);
            assert_int_equal(statistic_replace(&t, &r, &p, false), SOTTO_OK);
            assert_int_equal(t.items[0].array.count, BLOCKS);
            const double *found = t.items[0].array.data;
            for (size_t b = 0; b < BLOCKS; b++) {
                assert_true(found[b] >= 0 && found[b] <= 1);
                if (b != i % BLOCKS)
                    near(found[b], means[b], 1e-9);
            }
            sotto_tensors_clear(&t);
        }
}

/* All ways to have `people` cases (then as many controls) with genotypes of 3 kinds: one column each. */
static size_t all_tables(float *x, size_t people, size_t capacity)
{
    size_t columns = 0, counts[66][3], ways = 0;
    for (size_t a = 0; a <= people; a++)
        for (size_t b = 0; a + b <= people; b++)
            counts[ways][0] = a, counts[ways][1] = b, counts[ways++][2] = people - a - b;
    for (size_t c = 0; c < ways; c++)
        for (size_t k = 0; k < ways; k++, columns++)
            for (size_t side = 0, row = 0; side < 2; side++)
                for (size_t g = 0; g < 3; g++)
                    for (size_t i = 0; i < counts[side ? k : c][g]; i++, row++)
                        x[row * capacity + columns] = (float)g / 2;
    return columns;
}

/* Every table of 6, 10 and 20 people, every person, every other genotype. */
TEST(chi_squares_move_as_proved)
{
    static const char *const names[] = {"chi-square-genotypes", "chi-square-alleles"};
    static const struct {
        size_t n;
        double most[2];
    } known[] = {{6, {3, 6}}, {10, {10.0 / 3, 20.0 / 3}}, {20, {40.0 / 11, 80.0 / 11}}};
    enum { ROOM = 4400 };
    for (size_t i = 0; i < 3; i++) {
        const size_t n = known[i].n, half = n / 2, ways = (half + 1) * (half + 2) / 2, columns = ways * ways;
        float *x = calloc(n * columns, sizeof *x), *moved = calloc(n * columns, sizeof *moved);
        double *before = calloc(columns, sizeof *before), *after = calloc(columns, sizeof *after);
        struct sotto_array cases = {0};
        assert_true(x && moved && before && after && columns <= ROOM);
        assert_int_equal(all_tables(x, half, columns), columns);
        assert_int_equal(sotto_array_make(&cases, SOTTO_U1, 1, &n), SOTTO_OK);
        memset(cases.data, 1, half);
        assert_int_equal(sotto_npy_save(path_of("cases.npy"), &cases), SOTTO_OK);
        for (size_t s = 0; s < 2; s++) {
            char path[128];
            snprintf(path, sizeof path, "%s", path_of("cases.npy"));
            const struct sotto_protect p = {.input = "x.npy", .statistic = names[s], .cases = path};
            struct sotto_release r = {0};
            double most = 0;
            assert_int_equal(statistic(before, &r, &p, x, n, columns), SOTTO_OK);
            for (size_t person = 0; person < n; person++)
                for (int step = 1; step <= 2; step++) {
                    struct sotto_release other = {0};
                    memcpy(moved, x, n * columns * sizeof *x);
                    for (size_t j = 0; j < columns; j++)
                        moved[person * columns + j] =
                            (float)(((int)(2 * x[person * columns + j]) + step) % 3) / 2;
                    assert_int_equal(statistic(after, &other, &p, moved, n, columns), SOTTO_OK);
                    for (size_t j = 0; j < columns; j++)
                        most = worse(most, fabs(after[j] - before[j]));
                }
            near(most, known[i].most[s], 1e-12);
            assert_true(most * (double)columns <= r.sensitivity.l1);
            near(r.sensitivity.l1, most * (double)columns, 1e-9 * r.sensitivity.l1);
            near(r.sensitivity.l2, most * sqrt((double)columns), 1e-9 * r.sensitivity.l2);
            struct sotto_release score = {0};
            as_scores = true;
            assert_int_equal(statistic(before, &score, &p, x, n, columns), SOTTO_OK);
            as_scores = false;
            assert_true(most <= score.sensitivity.l1 && score.sensitivity.dimension == 0);
            near(score.sensitivity.l1, most, 1e-9);
        }
        sotto_array_clear(&cases);
        free(x), free(moved), free(before), free(after);
    }
}

TEST(options_are_checked)
{
    const float x[4] = {0, 1, 0.5f, 1};
    double out[4];
    struct {
        struct sotto_protect p;
        double l1;
        size_t records;
        sotto_status status;
        const char *text;
    } bad[] = {{{.statistic = "mode"},
                0,
                0,
                SOTTO_EUSAGE,
                "protect: statistic 'mode' is unknown; expected mean, median, chi-square-genotypes or "
                "chi-square-alleles"},
               {{.statistic = "mean"},
                0,
                0,
                SOTTO_EUSAGE,
                "protect: the mean of records needs range=LOW,HIGH with LOW below HIGH"},
               {{.statistic = "mean", .range = {0, INFINITY}},
                0,
                0,
                SOTTO_EUSAGE,
                "protect: the mean of records needs range=LOW,HIGH with LOW below HIGH"},
               {{.statistic = "mean", .range = {0, 1}},
                1,
                0,
                SOTTO_EUSAGE,
                "protect: the sensitivity of a statistic is proved; omit sensitivity.l1, sensitivity.l2 and "
                "sensitivity_file"},
               {{.statistic = "mean", .range = {0, 1}},
                0,
                3,
                SOTTO_EINVAL,
                "protect: x.npy holds 2 records, not 3; omit records"},
               {{.statistic = "mean", .range = {0, 1}, .cases = "c.npy"},
                0,
                0,
                SOTTO_EUSAGE,
                "protect: cases belongs to a chi-square statistic, not to the mean"},
               {{.statistic = "mean", .range = {0, 1}, .blocks = 2},
                0,
                0,
                SOTTO_EUSAGE,
                "protect: blocks belongs to the median"},
               {{.statistic = "chi-square-alleles", .range = {0, 1}},
                0,
                0,
                SOTTO_EUSAGE,
                "protect: range belongs to the mean, not to a chi-square statistic"},
               {{.statistic = "chi-square-alleles"},
                0,
                0,
                SOTTO_EUSAGE,
                "protect: a chi-square statistic compares cases with controls; give cases"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sotto_release r = {.records = bad[i].records, .sensitivity.l1 = bad[i].l1};
        bad[i].p.input = "x.npy";
        assert_int_equal(statistic(out, &r, &bad[i].p, x, 2, 2), bad[i].status);
        assert_string_equal(sotto_error_text(), bad[i].text);
    }
    const struct sotto_protect median = {.input = "x.npy", .statistic = "median"};
    struct sotto_release r = {0};
    assert_int_equal(statistic(out, &r, &median, x, 4, 1), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "needs range=LOW,HIGH, and takes no cases"));
}

TEST(cases_are_checked)
{
    static const struct {
        size_t n;
        uint8_t cases[4];
        const char *text;
    } bad[] = {{3, {0, 1, 0}, "has 3 values; expected one for each of 4 records"},
               {4, {0, 1, 2, 1}, "value 2 is 2; expected 1 for a case or 0 for a control"},
               {4, {0, 1, 1, 1}, "3 cases and 1 controls; expected as many of each"}};
    const float x[4] = {0, 1, 0.5f, 1};
    char path[128];
    snprintf(path, sizeof path, "%s", path_of("some.npy"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct sotto_protect p = {.input = "x.npy", .statistic = "chi-square-alleles", .cases = path};
        struct sotto_array cases = {0};
        struct sotto_release r = {0};
        double out;
        assert_int_equal(sotto_array_make(&cases, SOTTO_U1, 1, &bad[i].n), SOTTO_OK);
        memcpy(cases.data, bad[i].cases, bad[i].n);
        assert_int_equal(sotto_npy_save(path, &cases), SOTTO_OK);
        sotto_array_clear(&cases);
        assert_int_equal(statistic(&out, &r, &p, x, 4, 1), SOTTO_EINVAL);
        if (!strstr(sotto_error_text(), bad[i].text))
            fail_msg("%s", sotto_error_text());
    }
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
