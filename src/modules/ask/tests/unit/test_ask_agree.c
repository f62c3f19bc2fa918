/* One least squares over the cells of all queries, against a dense solver over rows of every kind. */
#include "support/effort.h"
#include "support/test.h"

#include "ask/ask_agree.h"
#include "ask/ask_answers.h"
#include "ask/ask_interval.h"
#include "rng/rng.h"
#include "sotto/lab/ask.h"

#include <math.h>
#include <string.h>

static const char schema_text[] = "schema: sotto.schema/1\n"
                                  "columns:\n"
                                  "  - {name: a, type: number, bounds: [0, 2]}\n"
                                  "  - {name: b, type: number, bounds: [-1, 3], fill: 1}\n"
                                  "  - {name: c, type: number, bounds: [0, 4], fill: 1}\n"
                                  "  - {name: key, type: category, categories: [a, b]}\n"
                                  "  - {name: sex, type: category, categories: [f, m], other: m}\n"
                                  "  - {name: out, type: label, classes: [yes, no]}\n";
static struct sotto_table_encoding *schema;
enum { COLUMNS = 5, KINDS = 6 * 5 * 3 * 4 * 3 * 4, MOST = 256 };

static int set_up(void **state)
{
    (void)state;
    return encoding_parse_schema(&schema, schema_text, strlen(schema_text), "s.yaml") != SOTTO_OK;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_table_encoding_free(schema);
    return 0;
}

/* Conditions are of cells that no other query tells. */
static const char text[] =
    "mean b; variance b; histogram key; crosstab sex x key weight 2; mean a by key; mean b by key, sex; "
    "variance a by sex; covariance b, a; covariance a, b by key; correlation a, b weight .5; "
    "count where a > 1; mean b by sex where out = yes; histogram sex where out = yes; "
    "sum a; deviation b by key; mean c; covariance c, b; deviation c";

static void parse(struct ask_plan *plan, const char *queries, bool gaussian)
{
    assert_int_equal(ask_parse(plan, &queries, 1, schema, "s.yaml"), SOTTO_OK);
    ask_share(plan, gaussian, SOTTO_ASK_EQUAL);
    assert_true(plan->sums <= MOST);
}

/* Rows of every kind: their cells, as parts of the mass. */
static double *cells_of_kinds(const struct ask_plan *plan)
{
    static const char *const as[] = {"0", "0.3", "0.9", "1.4", "2", ""},
                             *const bs[] = {"-1", "0", "1", "2.2", "3"}, *const cs[] = {"0", "2.5", "4"},
                             *const keys[] = {"a", "b", "c", ""}, *const sexes[] = {"f", "m", ""},
                             *const outs[] = {"yes", "no", "perhaps", ""};
    double *cells = base_alloc((size_t)KINDS * plan->sums, sizeof *cells);
    assert_non_null(cells);
    for (size_t i = 0; i < KINDS; i++) {
        const char *const texts[] = {as[i % 6],        bs[i / 6 % 5],      cs[i / 30 % 3],
                                     keys[i / 90 % 4], sexes[i / 360 % 3], outs[i / 1080]};
        struct ask_value values[COLUMNS + 1];
        int64_t sums[MOST] = {0};
        for (size_t j = 0; j <= COLUMNS; j++)
            values[j] = ask_value_of(schema, j, cell_of_text(texts[j]));
        ask_add_row(sums, plan, values, 1);
        for (size_t q = 0; q < plan->count; q++)
            for (size_t c = 0; c < plan->queries[q].groups * plan->queries[q].parts; c++)
                cells[i * plan->sums + plan->queries[q].first + c] =
                    (double)sums[plan->queries[q].first + c] / (double)plan->queries[q].mass;
    }
    return cells;
}

static double product(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Noisy cells, in rows, become those of n rows of these kinds, in any amounts, that are nearest to them. */
static void solve_densely(double *cells, const double *kinds, const struct ask_plan *plan, double n)
{
    const size_t d = plan->sums;
    static double base[MOST][MOST];
    double mass[MOST], left[MOST];
    size_t rank = 0;
    for (size_t q = 0; q < plan->count; q++)
        for (size_t c = 0; c < plan->queries[q].groups * plan->queries[q].parts; c++)
            mass[plan->queries[q].first + c] = (double)plan->queries[q].mass * 0x1p-30;
    for (size_t i = 1; i < KINDS; i++) { /* a row more of this kind, and one less of the first */
        double v[MOST];
        for (size_t c = 0; c < d; c++)
            v[c] = mass[c] * (kinds[i * d + c] - kinds[c]);
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < rank; k++) {
                const double along = product(v, base[k], d);
                for (size_t c = 0; c < d; c++)
                    v[c] -= along * base[k][c];
            }
        const double size = sqrt(product(v, v, d));
        if (size < 1e-6)
            continue;
        assert_true(rank < d);
        for (size_t c = 0; c < d; c++)
            base[rank][c] = v[c] / size;
        rank++;
    }
    assert_true(rank > 30 && rank < d - 30);
    for (size_t c = 0; c < d; c++) {
        left[c] = mass[c] * (cells[c] - n * kinds[c]);
        cells[c] = n * kinds[c];
    }
    for (size_t k = 0; k < rank; k++) {
        const double along = product(left, base[k], d);
        for (size_t c = 0; c < d; c++)
            cells[c] += along * base[k][c] / mass[c];
    }
}

/* Powers of shares in a group, from cells without contradiction. */
static double power_in(const struct ask_query *q, const double *c, size_t power)
{
    const bool pair = q->statistic == ASK_COVARIANCE;
    if (q->statistic == ASK_COUNT)
        return c[0];
    if (q->statistic <= ASK_MEAN)
        return power == ASK_X ? c[0] : c[0] + c[1];
    if (q->statistic == ASK_CORRELATION) {
        double sum = 0;
        for (size_t i = 0; i < 9; i++)
            sum += (power / 3 ? power / 3 == 1 ? 1 - (double)(i / 3) / 2 : i / 3 == 0 : 1) *
                   (power % 3 ? power % 3 == 1 ? 1 - (double)(i % 3) / 2 : i % 3 == 0 : 1) * c[i];
        return sum;
    }
    if (power == ASK_XX || power == ASK_XY)
        return c[0];
    if (power == ASK_ONE)
        return c[0] + c[1] + c[2] + (pair ? c[3] : 0);
    return power == ASK_Y ? c[0] + c[2] : pair ? c[0] + c[1] : c[0] + c[1] / 2;
}

/* One cell each, of which a row has all of the mass or nothing. */
TEST(moments_about_the_middle_are_one_cell)
{
    struct ask_plan plan;
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        parse(&plan, "mean b; covariance c, b; variance b; sum c; deviation c; variance b by key", gaussian);
        assert_int_equal(plan.sums, 5 + 4 * 4);
        double *kinds = cells_of_kinds(&plan), low[5] = {1, 1, 1, 1, 1}, high[5] = {0};
        for (size_t i = 0; i < KINDS; i++)
            for (size_t c = 0; c < 5; c++) {
                low[c] = fmin(low[c], kinds[i * plan.sums + plan.queries[c].first]);
                high[c] = fmax(high[c], kinds[i * plan.sums + plan.queries[c].first]);
            }
        for (size_t c = 0; c < 5; c++)
            assert_true(low[c] >= 0 && low[c] < (c == 4 ? 0.07 : 1e-9) &&
                        high[c] == 1); /* no c in the middle */
        base_free(kinds);
        ask_plan_clear(&plan);
    }
    /* without the means they are cells of one mass */
    parse(&plan, "mean b; covariance c, b; variance c; mean c by key; sum c where b > 0", true);
    assert_true(plan.queries[1].parts == 5 && plan.queries[2].parts == 4 && !plan.queries[1].single);
    ask_plan_clear(&plan);
}

/* What ask_agree() makes of cells, in rows: all powers of all groups, up to MOST. */
static size_t agree(double sums[2 * MOST], struct ask_agreed *agreed, const struct ask_plan *plan,
                    const double *cells, struct ask_release r)
{
    double noisy[MOST];
    struct ask_moments m;
    size_t count = 0;
    for (size_t q = 0; q < plan->count; q++)
        for (size_t c = 0; c < plan->queries[q].groups * plan->queries[q].parts; c++)
            noisy[plan->queries[q].first + c] =
                cells[plan->queries[q].first + c] * (double)plan->queries[q].mass;
    r.cells = noisy;
    assert_int_equal(ask_agree(agreed, plan, &r), SOTTO_OK);
    for (size_t q = 0; q < plan->count && sums; q++)
        for (size_t g = 0; g < plan->queries[q].groups; g++) {
            ask_moments_of(&m, agreed, plan, &plan->queries[q], g);
            for (size_t k = 0; k < ASK_POWERS; k++)
                if (m.sums[k] != 0) {
                    assert_true(count < 2 * MOST);
                    sums[count++] = m.sums[k];
                }
        }
    return count;
}

TEST(agreed_sums_are_those_of_a_dense_solver)
{
    struct rng rng = rng_stream(7, RNG_TEST, 8, 0);
    struct ask_plan plan;
    struct ask_agreed agreed = {0};
    struct ask_moments m;
    double noisy[MOST], dense[MOST];
    parse(&plan, text, true);
    double *kinds = cells_of_kinds(&plan);
    for (size_t i = 0; i < plan.sums; i++)
        dense[i] = noisy[i] = 100 * rng_unit(&rng) - 20;
    (void)agree(NULL, &agreed, &plan, noisy, (struct ask_release){.rows = 900, .gaussian = true, .scale = 1});
    solve_densely(dense, kinds, &plan, 900);
    for (size_t q = 0; q < plan.count; q++)
        for (size_t g = 0; g < plan.queries[q].groups; g++) {
            const struct ask_query *query = &plan.queries[q];
            ask_moments_of(&m, &agreed, &plan, query, g);
            if (query->single && query->statistic > ASK_MEAN) {
                const bool pair = query->statistic == ASK_COVARIANCE;
                const double cell = pair ? 900 - m.sums[ASK_X] - m.sums[ASK_Y] + 2 * m.sums[ASK_XY]
                                         : 900 - 4 * m.sums[ASK_X] + 4 * m.sums[ASK_XX];
                assert_true(fabs(cell - dense[query->first]) < 1e-4);
                continue;
            }
            for (size_t k = 0; k < ASK_POWERS; k++) {
                if (query->single && query->statistic != ASK_COUNT && k != ASK_X)
                    continue; /* no cell of its own */
                const double *c = dense + query->first + g * query->parts;
                if (m.sums[k] != 0 &&
                    !(fabs(m.sums[k] - power_in(query, c, k)) < 1e-4)) /* cells are rounded */
                    fail_msg("%s, group %zu, power %zu: %.12g instead of %.12g", query->text, g, k, m.sums[k],
                             power_in(query, c, k));
            }
        }
    ask_agreed_clear(&agreed);
    base_free(kinds);
    ask_plan_clear(&plan);
}

/* The sums are linear in the cells, so their covariance follows from what each cell adds. */
TEST(covariances_are_those_of_the_noise)
{
    struct ask_plan plan;
    struct ask_agreed agreed = {0};
    struct ask_moments m, first, moved;
    double cells[MOST];
    static double slopes[MOST][ASK_POWERS];
    for (int raw = 0; raw <= 1; raw++)
        for (int gaussian = 0; gaussian <= 1; gaussian++) {
            const struct ask_release r = {.rows = 900, .gaussian = gaussian, .scale = 3 * 0x1p30, .raw = raw};
            parse(&plan, text, gaussian);
            for (size_t q = 0; q < plan.count; q++) {
                const struct ask_query *query = &plan.queries[q];
                const size_t g = query->groups / 2;
                for (size_t c = 0; c <= plan.sums; c++) {
                    for (size_t i = 0; i < plan.sums; i++)
                        cells[i] = 50 + (i == c);
                    (void)agree(NULL, &agreed, &plan, cells, r);
                    ask_moments_of(&moved, &agreed, &plan, query, g);
                    ask_agreed_clear(&agreed);
                    for (size_t k = 0; k < ASK_POWERS && c < plan.sums; k++)
                        slopes[c][k] = moved.sums[k];
                }
                first = moved; /* nothing was moved */
                m = moved;
                for (size_t k = 0; k < ASK_POWERS; k++)
                    for (size_t l = 0; l < ASK_POWERS; l++) {
                        double sum = 0;
                        for (size_t p = 0; p < plan.count; p++)
                            for (size_t i = 0; i < plan.queries[p].groups * plan.queries[p].parts; i++) {
                                const size_t c = plan.queries[p].first + i;
                                const double noise = r.scale / (double)plan.queries[p].mass;
                                sum += (slopes[c][k] - first.sums[k]) * (slopes[c][l] - first.sums[l]) *
                                       noise * noise * (gaussian ? 1 : 2) /
                                       ask_precision(&plan, &plan.queries[p]);
                            }
                        if (!(fabs(sum - m.covariance[k][l]) < 1e-7 * (1 + fabs(sum))))
                            fail_msg("%s, raw %d: powers %zu and %zu have %.9g instead of %.9g", query->text,
                                     raw, k, l, m.covariance[k][l], sum);
                    }
            }
            ask_plan_clear(&plan);
        }
}

/* Known answers: a histogram of 4 cells keeps 3/4 of its variance, two of them 3/8 each. */
TEST(known_deviations)
{
    static const struct {
        const char *text;
        double variance;
    } cases[] = {{"histogram key", 0.75},
                 {"histogram key; count by key as again", 0.375},
                 /* a margin of 3 cells each, which has variance 3 beside 1 */
                 {"histogram key; crosstab key x sex", 0.75 * 0.75},
                 {"count where a > 1", 0.5},
                 /* a key beside itself counts as another one: its empty cells say nothing */
                 {"histogram key; crosstab key x key", 0.75 * 0.8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask_plan plan;
        struct ask_agreed agreed = {0};
        struct ask_release r = {.rows = 9, .gaussian = true, .scale = 0x1p30, .agreed = &agreed};
        const double cells[MOST] = {0};
        parse(&plan, cases[i].text, true);
        (void)agree(NULL, &agreed, &plan, cells, r);
        const double got = ask_answer_of(&plan, &plan.queries[0], 0, &r).deviation;
        if (!(fabs(got * got - cases[i].variance) < 1e-8))
            fail_msg("%s: %.9g instead of %.9g", cases[i].text, got * got, cases[i].variance);
        ask_agreed_clear(&agreed);
        ask_plan_clear(&plan);
    }
}

static double draw_noise(struct rng *rng, bool gaussian)
{
    const double u = 1 - rng_unit(rng), v = rng_unit(rng);
    return gaussian ? sqrt(-2 * log(u)) * cos(6.283185307179586 * v) : (v < 0.5 ? -1 : 1) * -log(u);
}

/* Of a block of so many cells, at the scale that it has beside Laplace noise of scale 1. */
static double draw_radius(struct rng *rng, size_t block)
{
    double sum = 0;
    for (size_t i = 0; i <= block; i++)
        sum -= log(1 - rng_unit(rng));
    return sum / fmax(1, (double)block);
}

/* The worst cover of all groups of all queries, whose truths are answers of the same cells without noise. */
TEST(intervals_of_agreed_answers_cover)
{
    const size_t draws = (size_t)by_effort(400, 2000, 20000);
    struct rng rng = rng_stream(7, RNG_TEST, 9, 0);
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        static double covered[2][MOST];
        double cells[MOST] = {0}, noisy[MOST], truths[MOST], least[2] = {1, 1};
        struct ask_plan plan;
        size_t rows = 0, count = 0;
        memset(covered, 0, sizeof covered);
        parse(&plan, text, gaussian);
        double *kinds = cells_of_kinds(&plan);
        for (size_t i = 0; i < KINDS; i++) {
            const size_t times = (size_t)(10 * rng_unit(&rng));
            rows += times;
            for (size_t c = 0; c < plan.sums; c++)
                cells[c] += (double)times * kinds[i * plan.sums + c];
        }
        for (size_t draw = 0; draw <= draws; draw++) /* the first without noise */
            for (int half = 0; half <= (draw > 0); half++) {
                struct ask_agreed agreed = {0};
                struct ask_release r = {
                    .rows = rows, .gaussian = gaussian, .agreed = &agreed, .scale = (half ? 5 : 10) * 0x1p30};
                const double radius = draw_radius(&rng, plan.block);
                for (size_t q = 0; q < plan.count && !half; q++)
                    for (size_t i = 0; i < plan.queries[q].groups * plan.queries[q].parts; i++)
                        noisy[plan.queries[q].first + i] =
                            cells[plan.queries[q].first + i] +
                            (draw ? r.scale / (double)plan.queries[q].mass *
                                        (plan.queries[q].in_block ? radius * (2 * rng_unit(&rng) - 1)
                                                                  : draw_noise(&rng, gaussian))
                                  : 0);
                (void)agree(NULL, &agreed, &plan, noisy, r);
                count = 0;
                for (size_t q = 0; q < plan.count; q++)
                    for (size_t g = 0; g < plan.queries[q].groups; g++, count++) {
                        const struct ask_answer a = ask_answer_of(&plan, &plan.queries[q], g, &r);
                        if (draw == 0)
                            truths[count] = a.value;
                        const double near = 1e-6 * (1 + fabs(truths[count])); /* cells are rounded */
                        covered[half][count] +=
                            plan.queries[q].statistic == ASK_CORRELATION || isnan(truths[count]) ||
                            (a.low <= truths[count] + near && truths[count] - near <= a.high);
                    }
                ask_agreed_clear(&agreed);
            }
        for (int half = 0; half <= 1; half++)
            for (size_t i = 0; i < count; i++)
                least[half] = fmin(least[half], covered[half][i] / (double)(draws + (half == 0)));
        const double slack = 4 * sqrt(0.05 * 0.95 / (double)draws); /* the worst of about 90 */
        if (!(least[0] > 0.95 - slack) || !(least[1] < 0.9 - slack))
            fail_msg("gaussian %d: %.4f, and %.4f for half of the noise", gaussian, least[0], least[1]);
        base_free(kinds);
        ask_plan_clear(&plan);
    }
}

/* At 95 % and beyond, a sum of pure noise has a lighter tail than one draw of its variance: simulated with 2 to 40 draws of any weights. */
TEST(one_draw_has_the_heaviest_tail)
{
    const size_t draws = (size_t)by_effort(20000, 100000, 1000000);
    struct rng rng = rng_stream(7, RNG_TEST, 10, 0);
    for (size_t n = 2; n <= 40; n += 1 + n / 2)
        for (int round = 0; round < 3; round++) {
            double weights[40], squares = 0;
            size_t beyond = 0, control = 0;
            for (size_t i = 0; i < n; i++) {
                weights[i] = pow(rng_unit(&rng), 2 * round);
                squares += 2 * weights[i] * weights[i];
            }
            for (size_t k = 0; k < draws; k++) {
                double sum = 0;
                for (size_t i = 0; i < n; i++)
                    sum += weights[i] * draw_noise(&rng, false);
                const double t = fabs(sum) / sqrt(squares);
                beyond += t > ask_deviations(0.05, false);
                control += t > ask_deviations(0.05, false) / 1.1;
            }
            const double slack = 5 * sqrt(0.05 * 0.95 * (double)draws);
            assert_true((double)beyond < 0.05 * (double)draws + slack);
            assert_true((double)control > 0.05 * (double)draws);
        }
}

/* And so have sums of noise with one radius. */
TEST(one_radius_has_no_heavier_tail)
{
    const size_t draws = (size_t)by_effort(20000, 100000, 1000000);
    struct rng rng = rng_stream(7, RNG_TEST, 11, 0);
    for (size_t n = 2; n <= 40; n += 1 + n / 2)
        for (int round = 0; round < 3; round++) {
            double weights[40], squares = 0;
            size_t beyond = 0, far = 0, control = 0;
            for (size_t i = 0; i < n; i++) {
                weights[i] = pow(rng_unit(&rng), 2 * round);
                squares += weights[i] * weights[i] * ((double)n + 1) * ((double)n + 2) / 3;
            }
            for (size_t k = 0; k < draws; k++) {
                double sum = 0;
                for (size_t i = 0; i < n; i++)
                    sum += weights[i] * (2 * rng_unit(&rng) - 1);
                const double t = fabs(sum) * draw_radius(&rng, n) * (double)n / sqrt(squares);
                beyond += t > ask_deviations(0.05, false);
                far += t > ask_deviations(0.01, false);
                control += t > ask_deviations(0.05, false) / 2;
            }
            assert_true((double)beyond < 0.05 * (double)draws + 5 * sqrt(0.05 * 0.95 * (double)draws));
            assert_true((double)far < 0.01 * (double)draws + 5 * sqrt(0.01 * (double)draws));
            assert_true((double)control > 0.05 * (double)draws);
        }
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down)
