/* Quantiles that are chosen: how far one row moves the scores, the law that is drawn, and that noise on a cell dominates it. */
#include "support/effort.h"
#include "support/test.h"

#include "ask/ask_choice.h"
#include "dp/mechanism/logistic_compose.h"
#include "dp/mechanism/mechanism.h"
#include "dp/release/statistic.h"
#include "num/beta.h"
#include "sotto/lab/ask.h"

#include <math.h>
#include <string.h>

static const char schema_text[] = "schema: sotto.schema/1\n"
                                  "columns:\n"
                                  "  - {name: x, type: number, bounds: [0, 100]}\n"
                                  "  - {name: y, type: number, bounds: [0, 0.5], fill: 0}\n"
                                  "  - {name: key, type: category, categories: [a, b]}\n"
                                  "  - {name: out, type: label, classes: [yes, no]}\n";
static struct sotto_table_encoding *schema;

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

enum { EDGES = 4, ROWS = 3, KINDS = EDGES + 1 /* no value, or one that does not count */ };
static const struct ask_tree edges = {0, 1, EDGES, 2};
static const double shares[] = {1e-9, 0.1, 0.25, 0.5, 0.9, 1 - 1e-12};
enum { SHARES = sizeof shares / sizeof *shares };

static void gaps_of(uint128 gap[EDGES], size_t table, double share)
{
    int64_t counts[KINDS] = {0};
    for (size_t i = 0; i < ROWS; i++, table /= KINDS)
        counts[table % KINDS]++;
    ask_choice_gaps(gap, counts, &edges, share);
}

/* P(i) of the exponential mechanism with the coins e^(-gap / divisor). */
static void law_of(double p[EDGES], const uint128 gap[EDGES], double divisor)
{
    double sum = 0;
    for (size_t i = 0; i < EDGES; i++)
        sum += p[i] = exp(-(double)gap[i] / divisor);
    for (size_t i = 0; i < EDGES; i++)
        p[i] /= sum;
}

static double moved(const uint128 *a, const uint128 *b)
{
    double most = 0;
    for (size_t i = 0; i < EDGES; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

/* All tables of three rows, each of them replaced by every other row. */
TEST(one_row_moves_a_score_by_one_rank_and_no_further)
{
    const double divisor = 0x1p31, t = 1; /* scale 1 */
    double furthest = 0, loss = 0, planted = 0;
    for (size_t k = 0; k < SHARES; k++)
        for (size_t table = 0; table < KINDS * KINDS * KINDS; table++)
            for (size_t row = 0, unit = 1; row < ROWS; row++, unit *= KINDS)
                for (size_t other = 0; other < KINDS; other++) {
                    const size_t neighbour = table - table / unit % KINDS * unit + other * unit;
                    uint128 a[EDGES], b[EDGES];
                    double p[EDGES], q[EDGES], low = INFINITY, high = -INFINITY;
                    gaps_of(a, table, shares[k]);
                    gaps_of(b, neighbour, shares[k]);
                    furthest = fmax(furthest, moved(a, b));
                    for (int half = 0; half <= 1; half++) {
                        law_of(p, a, half ? divisor / 2 : divisor);
                        law_of(q, b, half ? divisor / 2 : divisor);
                        for (size_t i = 0; i < EDGES; i++) {
                            const double l = log(p[i] / q[i]);
                            if (half)
                                planted = fmax(planted, l);
                            else
                                low = fmin(low, l), high = fmax(high, l);
                        }
                    }
                    assert_true(high - low <= t * (1 + 1e-12)); /* the range, and so every loss */
                    loss = fmax(loss, high);
                }
    assert_true(furthest == 0x1p30);
    assert_true(loss <= t && loss > 0.6 * t && planted > t); /* half of the scale would tell more */
}

/* The edge that is right is off by none. */
TEST(gaps_know_ties)
{
    const int64_t counts[EDGES] = {1, 7, 0, 2};
    uint128 gap[EDGES];
    ask_choice_gaps(gap, counts, &edges, 0.5);
    static const double off[] = {4, 0, 3, 3};
    for (size_t i = 0; i < EDGES; i++)
        assert_true((double)gap[i] == off[i] * 0x1p30);
    for (size_t table = 0; table < KINDS * KINDS * KINDS; table++)
        for (size_t k = 0; k < SHARES; k++) {
            gaps_of(gap, table, shares[k]);
            assert_true(gap[0] == 0 || gap[1] == 0 || gap[2] == 0 || gap[3] == 0);
        }
}

TEST(choices_follow_their_law)
{
    const size_t draws = (size_t)by_effort(40000, 200000, 2000000);
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, 7), SOTTO_OK);
    for (size_t table = 3; table < KINDS * KINDS * KINDS; table += 11) {
        uint128 gap[EDGES];
        double p[EDGES], wrong[EDGES], off = 0, off_wrong = 0;
        size_t left[EDGES], seen[EDGES] = {0};
        const uint64_t divisor = 3 << 29;
        gaps_of(gap, table, 0.3);
        law_of(p, gap, (double)divisor);
        law_of(wrong, gap, (double)divisor / 1.2);
        for (size_t i = 0; i < draws; i++) {
            for (size_t j = 0; j < EDGES; j++)
                left[j] = j;
            seen[choice_draw(s, gap, left, EDGES, divisor)]++;
        }
        for (size_t i = 0; i < EDGES; i++) {
            const double n = (double)draws, f = (double)seen[i];
            off += (f - n * p[i]) * (f - n * p[i]) / (n * p[i]);
            off_wrong += (f - n * wrong[i]) * (f - n * wrong[i]) / (n * wrong[i]);
        }
        assert_true(off < 30); /* chi-square of 3 degrees: 1.4e-6 */
        assert_true(off_wrong > 30 || moved(gap, (uint128[EDGES]){0}) == 0);
    }
    noise_close(s);
}

struct pair {
    size_t table, neighbour;
    double share, loss;
};

/* The neighbours that tell most of each other. */
static struct pair worst_pair(double divisor)
{
    struct pair worst = {0};
    for (size_t k = 0; k < SHARES; k++)
        for (size_t table = 0; table < KINDS * KINDS * KINDS; table++)
            for (size_t other = 0; other < KINDS; other++) {
                const size_t neighbour = table - table % KINDS + other;
                uint128 gap[EDGES];
                double p[EDGES], q[EDGES];
                gaps_of(gap, table, shares[k]);
                law_of(p, gap, divisor);
                gaps_of(gap, neighbour, shares[k]);
                law_of(q, gap, divisor);
                for (size_t i = 0; i < EDGES; i++)
                    if (log(p[i] / q[i]) > worst.loss)
                        worst = (struct pair){table, neighbour, shares[k], log(p[i] / q[i])};
            }
    return worst;
}

/* Two tables that differ in one row, as an attacker sees them: no event has a larger epsilon than is claimed. */
TEST(an_attacker_of_choices_finds_no_more_than_is_claimed)
{
    const size_t draws = (size_t)by_effort(100000, 200000, 1000000);
    const double t = 2;
    const struct pair pair = worst_pair(0x1p31 / t);
    for (int planted = 0; planted <= 1; planted++) {
        struct noise *s;
        double seen[2][EDGES] = {{0}}, best = 0;
        assert_int_equal(noise_open_insecure(&s, 11), SOTTO_OK);
        for (int side = 0; side <= 1; side++) {
            uint128 gap[EDGES];
            gaps_of(gap, side ? pair.neighbour : pair.table, pair.share);
            for (size_t i = 0; i < draws; i++) {
                size_t left[EDGES] = {0, 1, 2, 3};
                seen[side][choice_draw(s, gap, left, EDGES, (uint64_t)(0x1p31 / t) >> planted)]++;
            }
        }
        for (size_t i = 0; i < EDGES; i++)
            for (int side = 0; side <= 1; side++)
                best = fmax(best, log(clopper_pearson_lower(seen[side][i], (double)draws, 1 - 1e-6) /
                                      clopper_pearson_upper(seen[!side][i], (double)draws, 1 - 1e-6)));
        assert_true(planted ? best > t : best <= t && best > pair.loss - 0.2);
        noise_close(s);
    }
}

/* A choice at this scale has the curve of logistic noise at 1 / scale: below that of a cell, alone and composed. */
TEST(noise_on_a_cell_dominates_a_choice)
{
    const struct mechanism *gaussian = mechanism_find("gaussian"), *laplace = mechanism_find("laplace"),
                           *logistic = mechanism_find("logistic");
    const double factor = statistic_choice_scale("gaussian", 1, 1), root = sqrt(2 * acos(-1)) / 4;
    assert_true(factor >= root && factor < root * (1 + 1e-15));
    assert_true(statistic_choice_scale("laplace", 12, 4) == 3 &&
                isinf(statistic_choice_scale("logistic", 12, 4)));
    bool caught = false;
    for (double a = 1e-3; a < 20; a *= 1.5)
        for (double e = 0; e < 1.5 * a; e += a / 11) {
            const struct interval d = logistic->delta(iv(a), e);
            assert_true(d.lo <= gaussian->delta(iv(factor * a), e).hi);
            assert_true(d.lo <= laplace->delta(iv(a), e).hi);
            caught = caught || d.lo > gaussian->delta(iv(0.99 * factor * a), e).hi;
            if (a < 5)
                assert_true(logistic_composed_delta(a, 3, e).lo <=
                            gaussian->delta(iv_mul(iv_sqrt(iv(3)), iv(factor * a)), e).hi);
        }
    assert_true(caught);
}

TEST(choices_stand_behind_the_cells)
{
    static const char *const text =
        "quantile \"x\" .25 .5 .75 by key; mean y; median y; quantile y .1 .2 .3 .4 .5; "
        "median y as again; median y with interval as tree";
    struct ask_plan plan;
    struct sotto_sensitivity s;
    struct certificate_query list[6 * ASK_LEVELS];
    size_t count;
    assert_int_equal(ask_parse(&plan, &text, 1, schema, "s.yaml"), SOTTO_OK);
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        ask_share(&plan, gaussian, SOTTO_ASK_EQUAL);
        const struct ask_query *q = plan.queries;
        const struct ask_tree t = ask_choice_edges(&schema->columns[0]),
                              y = ask_choice_edges(&schema->columns[1]);
        assert_true(q[0].one_by_one && q[2].one_by_one && !q[3].one_by_one && !q[5].one_by_one);
        assert_true(t.edges == 101 && t.step == 1 && y.edges == 8192);
        assert_int_equal(plan.cells, 1 + 2 * 2047);
        assert_int_equal(plan.choices, 3 * 4 + 1);
        assert_int_equal(plan.sums, plan.cells + 4 * 101 + 8192);
        assert_true(q[0].first == plan.cells && q[2].first == plan.cells + 4 * 101 &&
                    q[0].chosen == plan.cells);
        assert_true(q[2].chosen == plan.cells + 12 && q[4].again && q[4].chosen == q[2].chosen);
        ask_list_queries(list, &count, &plan, 0x1p30, gaussian);
        assert_int_equal(count, 3 + 1 + 1 + 2 * 10);
        for (size_t i = 0; i < count; i++) {
            const double least =
                statistic_choice_scale(gaussian ? "gaussian" : "laplace", 0x1p30, list[i].mass);
            assert_true(i < 3 || i == 4
                            ? list[i].choice_scale > least && list[i].choice_scale < least + 0x1p-30
                            : list[i].choice_scale == 0);
        }
        assert_true(statistic_of_queries(&s, list, count, 0));
        assert_int_equal(s.dimension, plan.cells + plan.choices);
        /* five queries that move equally far: the same query again is one */
        const double far = gaussian ? s.l2 / sqrt(2) : s.l1 / 2;
        assert_true(fabs(far / 0x1p30 / (gaussian ? sqrt(5) : 5) - 1) < 1e-8);
    }
    /* known answer: mass 2^30 sqrt 2 / sqrt 3 under Gaussian noise of scale sqrt 2 2^30 / mu: .627 sqrt 3 / mu ranks */
    ask_plan_clear(&plan);
    static const char *const three = "quantile \"x\" .25 .5 .75";
    assert_int_equal(ask_parse(&plan, &three, 1, schema, "s.yaml"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    const double mu = 0.2367044;
    assert_true(fabs(ask_choice_scale(plan.queries, sqrt(2) * 0x1p30 / mu, true) - 0.6266571 * sqrt(3) / mu) <
                1e-5);
    ask_plan_clear(&plan);
}

/* Single cells of one mass share a radius under pure noise: as one cell that moves by all of them. */
TEST(single_cells_are_a_block)
{
    static const char *const text =
        "mean y; count where \"x\" > 3; histogram key; median y; count where \"x\" > 9 "
        "weight 2; sum y; mean y as again";
    struct ask_plan plan;
    struct sotto_sensitivity s;
    struct certificate_query list[7 * ASK_LEVELS];
    size_t count;
    assert_int_equal(ask_parse(&plan, &text, 1, schema, "s.yaml"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    assert_true(plan.block == 0 && plan.cells == 4 + 4 && ask_precision(&plan, &plan.queries[0]) == 1);
    ask_share(&plan, false, SOTTO_ASK_EQUAL);
    const struct ask_query *q = plan.queries;
    assert_true(plan.block == 3 && plan.cells == 4 + 1 && plan.choices == 1 && plan.sums == 8 + 8192);
    assert_true(q[0].in_block && q[1].in_block && !q[2].in_block && !q[3].in_block && !q[4].in_block &&
                q[5].in_block);
    assert_true(q[0].first == 5 && q[5].first == 7 && q[6].first == 5 && q[3].chosen == 8 && q[3].first == 8);
    assert_true(fabs(ask_precision(&plan, q) - 2.7) < 1e-12 &&
                ask_precision(&plan, &q[2]) == 1); /* 18 beside 20 / 3 */
    ask_list_queries(list, &count, &plan, 1e11, false);
    assert_true(count == 6 && statistic_of_queries(&s, list, count, 0) &&
                statistic_block_fits(list, count, "laplace", 1e11));
    assert_true(list[0].block_scale == ceil(1e11 / 3) && list[2].block_scale == 0);
    const double m = (double)q[0].mass; /* the weight is 2, so this is half of the largest mass */
    assert_true(fabs(s.l1 / m - (3 + 1 + 1 + 2)) < 1e-8 && fabs(s.l2 / m - sqrt(9 + 0.5 + 1 + 4)) < 1e-8);
    assert_int_equal(s.dimension, 9);
    /* whatever makes the block cheaper than it is does not fit */
    assert_false(statistic_block_fits(list, count, "gaussian", 1e11));
    assert_false(statistic_block_fits(list, count, "laplace", 1.001e11));
    list[0].block_scale++;
    assert_false(statistic_block_fits(list, count, "laplace", 1e11));
    list[0].block_scale--;
    list[1].mass++;
    assert_false(statistic_block_fits(list, count, "laplace", 1e11));
    ask_plan_clear(&plan);
}

/* Rows without a value do not count, and groups have their own. */
TEST(rows_count_on_their_edges)
{
    static const char *const text = "median \"x\" by key";
    struct ask_plan plan;
    int64_t sums[4 * 101] = {0};
    assert_int_equal(ask_parse(&plan, &text, 1, schema, "s.yaml"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    assert_true(plan.cells == 0 && plan.sums == 4 * 101 && plan.choices == 4);
    static const double xs[] = {-5, 3, 3.5, 1e9, NAN};
    for (size_t i = 0; i < 5; i++)
        ask_add_row(sums, &plan, (struct ask_value[]){{xs[i], 0}, {0, 0}, {0, 1}, {0, 0}}, 1);
    int64_t all = 0;
    for (size_t i = 0; i < 4 * 101; i++)
        all += sums[i];
    assert_true(all == 4 && sums[101] == 1 && sums[101 + 3] == 1 && sums[101 + 4] == 1 &&
                sums[101 + 100] == 1);
    ask_plan_clear(&plan);
}

/* No row of a person is a part of a choice or of a block, whatever a forged text says. */
TEST(a_choice_is_never_per_person)
{
    struct certificate_query q[] = {{"mean x per person", 1, 100, 0, 0}};
    struct sotto_sensitivity s;
    assert_true(statistic_of_queries(&s, q, 1, 5) && fabs(s.l1 - 20) < 1e-9 && fabs(s.l2 - 20) < 1e-9);
    q[0].choice_scale = 1;
    assert_true(statistic_of_queries(&s, q, 1, 5) && s.l1 >= 100 && s.l2 >= 100);
    q[0].choice_scale = 0;
    q[0].block_scale = 1;
    assert_true(statistic_of_queries(&s, q, 1, 5) && s.l1 >= 100 && s.l2 >= 100);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down)
