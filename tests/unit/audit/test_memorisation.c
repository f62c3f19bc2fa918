/* Memorisation of single records: Newcombe's intervals, values against a count by hand, from signals and from whole answers, a
 * planted memory, and what is refused. */
#include "support/test.h"

#include "audit/measure/newcombe.h"
#include "support/audit_world.h"

#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.12g; expected %.12g", found, expected);
}

/* Newcombe 1998, table II, method 10. */
TEST(published_intervals)
{
    static const struct {
        size_t right[2], n[2];
        double d, lower, upper;
    } known[] = {{{56, 48}, {70, 80}, .2, .0524, .3339},
                 {{9, 3}, {10, 10}, .6, .1705, .8090},
                 {{5, 0}, {56, 29}, .0893, -.0381, .1926},
                 {{10, 0}, {10, 10}, 1, .6075, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct sotto_estimate e = newcombe(known[i].right, known[i].n, 1.959963984540054);
        near(e.estimate, known[i].d, 5e-5), near(e.lower, known[i].lower, 5e-5),
            near(e.upper, known[i].upper, 5e-5);
    }
}

static double binomial(size_t n, size_t k, double p)
{
    return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
               (double)k * log(p) + (double)(n - k) * log1p(-p));
}

/* Exact probability that the interval holds p - q, with n models a side; of Newcombe's and of the plain normal one. */
static double coverage(double *plain, double p, double q, size_t n)
{
    double held = 0;
    *plain = 0;
    for (size_t a = 0; a <= n; a++)
        for (size_t b = 0; b <= n; b++) {
            const size_t right[2] = {a, b}, models[2] = {n, n};
            const struct sotto_estimate e = newcombe(right, models, 1.959963984540054);
            const double weight = binomial(n, a, p) * binomial(n, b, q), x = (double)a / (double)n,
                         y = (double)b / (double)n, deviation = sqrt((x * (1 - x) + y * (1 - y)) / (double)n);
            held += e.lower <= p - q + 1e-12 && e.upper >= p - q - 1e-12 ? weight : 0;
            *plain += fabs(x - y - (p - q)) <= 1.96 * deviation + 1e-12 ? weight : 0;
        }
    return held;
}

/* 95 % on the average of a grid, at least 87 % with 8 models a side and 93 % with 32; the plain interval falls to 56 %. */
TEST(intervals_cover)
{
    for (size_t n = 8; n <= 32; n *= 4) {
        double least = 1, sum = 0, least_plain = 1, plain;
        for (int i = 1; i < 20; i++)
            for (int j = 1; j < 20; j++) {
                const double c = coverage(&plain, i / 20., j / 20., n);
                least = fmin(least, c), least_plain = fmin(least_plain, plain), sum += c / (19 * 19);
            }
        assert_true(least >= (n == 8 ? .87 : .93) && sum >= .945);
        assert_true(least_plain < (n == 8 ? .6 : .85));
    }
}

static void by_hand(const struct world *w, const struct sotto_audit_memorisation *m)
{
    size_t judged = 0, above = 0;
    for (size_t i = 0; i < 2 * RECORDS; i++) {
        const double *x = &w->reference[i / RECORDS][i % RECORDS * MODELS];
        const uint8_t *in = &w->trained[i / RECORDS][i % RECORDS * MODELS];
        double right[2] = {0, 0}, n[2] = {0, 0};
        for (size_t k = 0; k < MODELS; k++)
            n[in[k]]++, right[in[k]] += x[k] > 0;
        if (n[0] < 8 || n[1] < 8) {
            assert_true(isnan(m->values[i]));
            continue;
        }
        near(m->values[i], right[1] / n[1] - right[0] / n[0], 1e-12);
        judged++, above += m->values[i] > .5;
    }
    assert_true(judged > 0 && judged < 2 * RECORDS);
    assert_int_equal(m->judged, judged);
    near(m->above_half, (double)above / (double)judged, 1e-12);
}

TEST(values_agree_with_a_count)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    for (int leak = 0; leak < 2; leak++) {
        struct sotto_audit_input in = world_make(w, 4 * leak, 7);
        /* Row 5 is known by heart: right where it was trained on, and only there. */
        for (size_t k = 0; k < MODELS; k++)
            w->trained[0][5 * MODELS + k] = k % 2, w->reference[0][5 * MODELS + k] = k % 2 ? 3 : -3;
        const struct sotto_audit_options options = {.memorisation = 1, .include_indices = 1, .draws = 100};
        struct sotto_audit_result r = {0};
        assert_int_equal(sotto_audit(&r, &in, &options, NULL), SOTTO_OK);
        const struct sotto_audit_memorisation *m = r.memorisation;
        by_hand(w, m);
        assert_int_equal(m->count, 10);
        bool found = false;
        for (size_t i = 0; i < 10; i++) {
            assert_true(i == 0 || m->highest[i].value.estimate <= m->highest[i - 1].value.estimate);
            found |= m->highest[i].member && m->highest[i].row == 5 && m->highest[i].value.estimate == 1;
        }
        assert_true(found);
        assert_true(leak ? m->above_half > .1 : m->above_half < .01);
        size_t records = 0;
        for (size_t b = 0; b < m->histogram.bins; b++)
            records += m->histogram.member[b] + m->histogram.nonmember[b];
        assert_int_equal(records, m->judged);
        sotto_audit_result_free(&r);
        json_free(audit_run(&in, &options)); /* encoded and decoded alike */
    }
    free(w);
}

/* Three classes: right with .4 against .3 and .3, which signals alone would not tell. */
TEST(whole_answers_decide_what_is_right)
{
    enum { N = 4, M = 16 };
    static double outputs[M * 2 * N * 3], target[N * 3];
    static uint8_t trained[M * 2 * N];
    static int64_t labels[N];
    for (size_t i = 0; i < N; i++)
        target[3 * i] = .4, target[3 * i + 1] = .35, target[3 * i + 2] = .25;
    for (size_t m = 0; m < M; m++)
        for (size_t i = 0; i < 2 * N; i++) {
            double *row = &outputs[(m * 2 * N + i) * 3];
            trained[m * 2 * N + i] = m % 2;
            row[0] = m % 2 ? .4 : .2, row[1] = .3, row[2] = 1 - row[0] - row[1];
        }
    const struct sotto_audit_input in = {.member_f8 = target,
                                         .nonmember_f8 = target,
                                         .member_labels = labels,
                                         .nonmember_labels = labels,
                                         .n_member = N,
                                         .n_nonmember = N,
                                         .classes = 3,
                                         .probabilities = 1,
                                         .reference_outputs_f8 = outputs,
                                         .reference_outputs_trained = trained,
                                         .reference_models = M};
    const char *names[] = {"loss", NULL};
    const struct sotto_audit_options options = {.names = names, .memorisation = 1, .draws = 100};
    struct sotto_audit_result r = {0};
    assert_int_equal(sotto_audit(&r, &in, &options, NULL), SOTTO_OK);
    for (size_t i = 0; i < 2 * N; i++)
        near(r.memorisation->values[i], 1, 1e-12);
    near(r.memorisation->highest[0].probability, .2, 1e-12);
    assert_true(r.memorisation->highest[0].row == -1); /* rows were not asked for */
    sotto_audit_result_free(&r);
}

TEST(refused)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct sotto_audit_input in = world_make(w, 1, 7);
    const struct sotto_audit_options options = {.memorisation = 1, .draws = 100};
    in.member_trained = in.nonmember_trained = NULL;
    expect(SOTTO_EUSAGE, &in, &options,
           "audit: memorisation needs reference models of which some were trained on a record and others "
           "were not; give "
           "their signals and training masks");
    free(w);
}
