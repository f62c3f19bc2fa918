/* Queries on tables of a few rows: what is refused and where, and how far one row moves the cells. */
#include "support/effort.h"
#include "support/test.h"

#include "ask/ask_answers.h"
#include "ask/ask_counts.h"
#include "ask/ask_interval.h"
#include "ask/ask_persons.h"
#include "ask/ask_quantile.h"
#include "ask/ask_query.h"
#include "ask/ask_table.h"
#include "sotto/lab/account.h"
#include "sotto/lab/ask.h"
#include "dp/release/statistic.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char schema_text[] = "schema: sotto.schema/1\n"
                                  "columns:\n"
                                  "  - {name: who, type: person}\n"
                                  "  - {name: x, type: number, bounds: [0, 2]}\n"
                                  "  - {name: Größe, type: number, bounds: [-1, 3], fill: 1}\n"
                                  "  - {name: key, type: category, categories: [a, b]}\n"
                                  "  - {name: sex, type: category, categories: [f, m], other: m}\n"
                                  "  - {name: note, type: ignore}\n"
                                  "  - {name: out, type: label, classes: [yes, no]}\n";
static struct sotto_table_encoding *schema;
enum { COLUMNS = 6 }; /* of the schema without its label */

static char table_path[64]; /* of this process: parts of the group run side by side */

static int set_up(void **state)
{
    (void)state;
    snprintf(table_path, sizeof table_path, "ask-blocks-%d.csv", (int)getpid());
    return encoding_parse_schema(&schema, schema_text, strlen(schema_text), "s.yaml") != SOTTO_OK;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_table_encoding_free(schema);
    return 0;
}

static sotto_status parse_one(struct ask_plan *plan, const char *text)
{
    return ask_parse(plan, &text, 1, schema, "s.yaml");
}

/* What one record moves by, as the certificate says it. */
static struct sotto_sensitivity share_weighted(struct ask_plan *plan, bool gaussian, int weights)
{
    struct sotto_sensitivity s = {0};
    struct certificate_query list[8 * ASK_LEVELS];
    size_t count;
    ask_share(plan, gaussian, weights);
    ask_list_queries(list, &count, plan, 1, gaussian);
    assert_true(statistic_of_queries(&s, list, count, plan->most));
    assert_int_equal(s.dimension, plan->cells + plan->block + plan->choices);
    return s;
}

static struct sotto_sensitivity share_plan(struct ask_plan *plan, bool gaussian)
{
    return share_weighted(plan, gaussian, SOTTO_ASK_EQUAL);
}

/* ---- texts ---- */

TEST(errors_name_query_character_and_a_way_out)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"mean outt", "query 1, character 6: 'outt' is no column of s.yaml; did you mean 'out'?"},
        {"mean \"x\";  histogram Gröse",
         "query 2, character 11: 'Gröse' is no column of s.yaml; did you mean 'Größe'?"},
        {"mean key", "character 6: column 'key' is a category, and a mean is of numbers; 'histogram key' "
                     "counts its values"},
        {"mean x",
         "character 6: 'x' is a word of the grammar; expected a column, in quotes if it is called so"},
        {"mean who", "character 6: column 'who' says who a person is; expected another column"},
        {"mean note",
         "character 6: column 'note' is of type ignore in s.yaml; expected a number or a category"},
        {"count by who", "character 10: column 'who' says who a person is"},
        {"histogram Größe",
         "character 11: column 'Größe' holds numbers and needs edges; give them as in 'Größe -1:3:0.4'"},
        {"histogram Größe 3:0:1", "character 17: the edges do not increase"},
        {"histogram Größe 0:3:0", "character 17: the edges do not increase"},
        {"histogram Größe [0, 2, 2]",
         "character 24: the edges do not increase; expected each above the one before"},
        {"histogram Größe [0]", "character 17: one edge; expected at least two"},
        {"histogram Größe 0:3", "character 20: expected ':' between low, high and step"},
        {"histogram Größe 0:1e9:1", "character 17: more than 16777216 cells; expected a larger step"},
        {"histogram key 0:1:1", "character 15: column 'key' is a category, which has no edges; omit them"},
        {"crosstab Größe 0:1:1e-5 x \"x\" 0:1:1e-3",
         "more than 16777216 cells; expected fewer keys or edges"},
        {"crosstab key", "character 13: expected 'x' and another column"},
        {"count where key = c",
         "character 19: 'c' is no value of column 'key' in s.yaml; expected one of a, b"},
        {"count where key < a",
         "character 17: column 'key' is a category, which has no order; give =, != or 'in {...}'"},
        {"count where Größe = a", "character 21: expected a number, as the column holds numbers"},
        {"count where key = a or key = b",
         "character 21: 'or' is not available; write two queries, or 'in {a, b}'"},
        {"count where key in a", "character 20: expected '{' behind 'in'"},
        {"count where key in {a b}", "character 23: expected '}' or ',' behind a value"},
        {"count where key is b", "character 20: expected 'missing' behind 'is'"},
        {"count where key",
         "character 16: expected =, !=, <, <=, >, >=, 'in {...}' or 'is missing' behind column 'key'"},
        {"mean Größe as a; sum Größe as a",
         "query 2, character 1: the name 'a' is that of query 1 too; give another one behind 'as'"},
        {"mean Größe as by", "character 15: expected a name behind 'as'"},
        {"mean \"Größe", "character 6: a quote is not closed"},
        {"mean Größe & x", "character 12: '&' is no part of a query"},
        {"mean Größe extra", "character 12: 'extra' is not expected here"},
        {"covariance Größe", "character 17: expected ',' between two columns"},
        {"average Größe", "character 1: 'average' begins no query; expected count, sum, mean"},
        {"", "character 1: '' begins no query"},
        {"count", "nothing needs noise here"},
        /* what is in the grammar and does not work yet */
        {"quantile Größe", "character 15: expected 1 to 32 numbers between 0 and 1"},
        {"quantile Größe .5 1", "character 19: expected 1 to 32 numbers between 0 and 1"},
        {"median key", "character 8: column 'key' is a category, and a quantile is of numbers"},
        {"correlation Größe", "character 18: expected ',' between two columns"},
        {"correlation Größe, key",
         "character 20: column 'key' is a category, and a correlation is of numbers"},
        {"count per person",
         "character 7: 'per person' is of a mean, variance, deviation, covariance or correlation; omit it"},
        {"median Größe per person", "character 14: 'per person' is of a mean"},
        {"mean Größe per row", "character 16: expected 'person' behind 'per'"},
        {"count by key from data", "character 14: keys that only the data know are not available"},
        {"mean Größe with interval",
         "character 12: 'with interval' is not available here: other answers than "
         "quantiles have theirs; omit it"},
        {"median Größe with", "character 18: expected 'interval' behind 'with'"},
        {"mean Größe weight", "character 18: expected a number above 0 behind 'weight'"},
        {"mean Größe weight -1", "character 19: the weight is -1; expected one from 0.001 to 1000"},
        {"mean Größe weight 1e9", "character 19: the weight is 1e9; expected one from 0.001 to 1000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask_plan plan;
        assert_int_equal(parse_one(&plan, cases[i].text), SOTTO_EUSAGE);
        if (!strstr(sotto_error_text(), cases[i].error))
            fail_msg("%s: %s", cases[i].text, sotto_error_text());
        assert_null(plan.queries);
    }
}

TEST(texts_become_canonical)
{
    static const char *const cases[][2] = {
        {"MEAN Größe BY key,sex Where key != \"a\" AND Größe>=.50 ;",
         "mean Größe by key, sex where key != a and Größe >= 0.5"},
        {"histogram \"x\" 0:2:1", "histogram \"x\" 0:2:1"},
        {"histogram Größe [ 0,1.50 ,2 ] by out", "histogram Größe [0, 1.5, 2] by out"},
        {"count by key Weight 2.5 as n", "count by key"},
        {"Median Größe where key = a", "quantile Größe 0.5 where key = a"},
        {"quantile Größe .250 .5 by key", "quantile Größe 0.25 0.5 by key"},
        {"COUNT Persons by key where sex = f", "count persons by key where sex = f"},
        {"mean Größe by key Per Person weight 2 as a", "mean Größe by key per person"},
        {"crosstab key X sex x out", "crosstab key x sex x out"},
        {"covariance Größe,\"x\" where key in {a,b} and \"x\" is missing",
         "covariance Größe, \"x\" where key in {a, b} and \"x\" is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ask_plan plan;
        assert_int_equal(parse_one(&plan, cases[i][0]), SOTTO_OK);
        assert_string_equal(plan.queries[0].text, cases[i][1]);
        ask_plan_clear(&plan);
        assert_int_equal(parse_one(&plan, cases[i][1]), SOTTO_OK); /* and stay so */
        assert_string_equal(plan.queries[0].text, cases[i][1]);
        ask_plan_clear(&plan);
    }
}

TEST(the_same_query_twice_has_the_same_cells)
{
    struct ask_plan plan;
    assert_int_equal(parse_one(&plan, "mean \"x\" by key; histogram sex; MEAN \"x\"  by key"), SOTTO_OK);
    const struct sotto_sensitivity s = share_plan(&plan, true);
    assert_int_equal(plan.sums, 4 * 3 + 3);
    assert_int_equal(plan.queries[2].first, 0);
    assert_true(fabs(s.l2 / 0x1p30 - 2) < 1e-12); /* two queries, sqrt 2 each */
    ask_plan_clear(&plan);
}

/* ---- how far one row moves the cells ---- */

static const char *const xs[] = {"0", "0.7", "2", "9", ""}, *const sizes[] = {"-1", "1", "3", "inf", "?"},
                         *const keys[] = {"a", "b", "c", ""}, *const sexes[] = {"f", "m", "x", ""},
                         *const outs[] = {"yes", "no", "perhaps"};
enum { ROWS = 5 * 5 * 4 * 4 * 3 };

static void make_row(struct ask_value values[COLUMNS + 1], size_t i)
{
    const char *const texts[] = {"", xs[i % 5],    sizes[i / 5 % 5], keys[i / 25 % 4], sexes[i / 100 % 4],
                                 "", outs[i / 400]};
    for (size_t j = 0; j <= COLUMNS; j++)
        values[j] = ask_value_of(schema, j, cell_of_text(texts[j]));
}

struct moved {
    double l1, l2, most;
};

/* The largest changes between the cells of any two rows, or (against) a row and none, in units of the mass. */
static struct moved move_all(const struct ask_plan *plan, const int64_t *rows, bool emptied)
{
    struct moved m = {0};
    for (size_t a = 0; a < ROWS; a++)
        for (size_t b = 0; b < (emptied ? 1 : a); b++) {
            double l1 = 0, squares = 0;
            for (size_t c = 0; c < plan->sums; c++) {
                const double d =
                    (double)(rows[a * plan->sums + c] - (emptied ? 0 : rows[b * plan->sums + c]));
                l1 += fabs(d);
                squares += d * d;
                m.most = fmax(m.most, fabs(d));
            }
            m.l1 = fmax(m.l1, l1);
            m.l2 = fmax(m.l2, sqrt(squares));
        }
    return m;
}

static int64_t *rows_of(const struct ask_plan *plan)
{
    int64_t *rows = base_alloc((size_t)ROWS * plan->sums, sizeof *rows);
    struct ask_value values[COLUMNS + 1];
    for (size_t i = 0; rows && i < ROWS; i++) {
        make_row(values, i);
        ask_add_row(rows + i * plan->sums, plan, values, 1);
    }
    return rows;
}

TEST(one_row_moves_the_cells_as_far_as_is_accounted_and_no_further)
{
    static const struct {
        const char *text;
        double l1; /* 1: one cell; 2: of unit mass */
    } kinds[] = {{"count where \"x\" > 1", 1},
                 {"count where key in {a, b} and out = yes", 1},
                 {"mean Größe", 1},
                 {"sum Größe", 1},
                 {"mean \"x\"", 2},
                 {"mean Größe where sex = f", 2},
                 {"sum \"x\" by key", 2},
                 {"mean Größe by key, sex", 2},
                 {"histogram key", 2},
                 {"histogram \"x\" 0:2:.5", 2},
                 {"crosstab key x sex x out", 2},
                 {"count where sex = m and out != yes", 1},
                 {"histogram key where out = no", 2},
                 {"variance \"x\"", 2},
                 {"deviation Größe by out", 2},
                 {"covariance \"x\", Größe", 2},
                 {"covariance Größe, \"x\" by sex where \"x\" <= 2", 2},
                 {"correlation \"x\", Größe", 2},
                 {"correlation Größe, \"x\" by sex where \"x\" <= 2", 2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int gaussian = 0; gaussian <= 1; gaussian++) {
            struct ask_plan plan;
            assert_int_equal(parse_one(&plan, kinds[i].text), SOTTO_OK);
            const struct sotto_sensitivity s = share_plan(&plan, gaussian);
            const double mass = (double)plan.queries[0].mass;
            int64_t *rows = rows_of(&plan);
            assert_non_null(rows);
            const struct moved m = move_all(&plan, rows, false), empty = move_all(&plan, rows, true);
            if (m.l1 != kinds[i].l1 * mass || m.most != mass || m.l2 > s.l2 || m.l2 < s.l2 * (1 - 1e-12))
                fail_msg("%s: %.17g %.17g %.17g of mass %.17g", kinds[i].text, m.l1, m.l2, m.most, mass);
            assert_true(m.l1 <= s.l1 && m.l1 > s.l1 * (1 - 1e-12) && s.source == SOTTO_SENSITIVITY_CLIPPED);
            assert_true(empty.l1 == mass && empty.l2 <= mass * (1 + 1e-12));
            base_free(rows);
            ask_plan_clear(&plan);
        }
}

/* All of them at once: queries of different columns reach the sum. */
TEST(one_row_moves_all_queries_at_once)
{
    struct ask_plan plan;
    assert_int_equal(parse_one(&plan, "mean Größe; histogram key; sum \"x\" by sex; count where out = yes"),
                     SOTTO_OK);
    for (int gaussian = 0; gaussian <= 1; gaussian++)
        for (int weights = SOTTO_ASK_EQUAL; weights <= SOTTO_ASK_LARGEST; weights++) {
            const struct sotto_sensitivity s = share_weighted(&plan, gaussian, weights);
            int64_t *rows = rows_of(&plan);
            assert_non_null(rows);
            const struct moved m = move_all(&plan, rows, false);
            assert_true(m.l1 <= s.l1 && m.l1 > s.l1 * (1 - 1e-9));
            /* a block counts as one cell that moves by all of them */
            assert_true(m.l2 <= s.l2 && (m.l2 > s.l2 * (1 - 1e-9)) == (plan.block == 0));
            base_free(rows);
        }
    ask_plan_clear(&plan);
}

/* Sums of rows do not depend on their order, nor on what was summed before. */
TEST(rows_add_up)
{
    struct ask_plan plan;
    struct ask_value values[COLUMNS + 1];
    assert_int_equal(parse_one(&plan, "covariance \"x\", Größe by key; histogram Größe 0:2:1"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    int64_t *rows = rows_of(&plan), *sums = base_alloc(plan.sums, sizeof *sums);
    assert_true(rows && sums);
    for (size_t i = ROWS; i-- > 0;) {
        make_row(values, i);
        ask_add_row(sums, &plan, values, 1);
    }
    for (size_t c = 0; c < plan.sums; c++) {
        for (size_t i = 0; i < ROWS; i++)
            sums[c] -= rows[i * plan.sums + c];
        assert_int_equal(sums[c], 0);
    }
    base_free(rows);
    base_free(sums);
    ask_plan_clear(&plan);
}

TEST(correlations_without_noise_are_those_of_the_rows)
{
    enum { N = 6400 };
    struct ask_plan plan;
    struct ask_value values[COLUMNS + 1] = {0};
    double cells[10], sums[5] = {0};
    assert_int_equal(parse_one(&plan, "correlation \"x\", Größe"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    int64_t *all = base_alloc(plan.sums, sizeof *all);
    assert_true(all && plan.sums == 10);
    for (size_t i = 0; i < N; i++) {
        const double x = (double)(i % 100) / 50, y = (double)(i * 37 % 64) / 32 - x / 2;
        values[1].number = x;
        values[2].number = y;
        ask_add_row(all, &plan, values, 1);
        const double terms[] = {x, y, x * x, y * y, x * y};
        for (size_t k = 0; k < 5; k++)
            sums[k] += terms[k] / N;
    }
    for (size_t c = 0; c < 10; c++)
        cells[c] = (double)all[c];
    struct ask_agreed agreed = {0};
    struct ask_release r = {.cells = cells, .scale = 1, .gaussian = true, .rows = N, .agreed = &agreed};
    assert_int_equal(ask_agree(&agreed, &plan, &r), SOTTO_OK);
    const double rho = (sums[4] - sums[0] * sums[1]) /
                       sqrt((sums[2] - sums[0] * sums[0]) * (sums[3] - sums[1] * sums[1])),
                 got = ask_answer_of(&plan, &plan.queries[0], 0, &r).value;
    if (!(fabs(got - rho) < 1e-7) || rho > -0.3)
        fail_msg("%.12g instead of %.12g", got, rho);
    ask_agreed_clear(&agreed);
    r.scale = 0x1p30 * N; /* noise as large as the rows: nothing can be said */
    assert_int_equal(ask_agree(&agreed, &plan, &r), SOTTO_OK);
    assert_true(isnan(ask_answer_of(&plan, &plan.queries[0], 0, &r).value));
    ask_agreed_clear(&agreed);
    base_free(all);
    ask_plan_clear(&plan);
}

static double scale_of(const char *texts, double epsilon, double delta)
{
    struct ask_plan plan;
    double scale = 0;
    assert_int_equal(parse_one(&plan, texts), SOTTO_OK);
    struct sotto_sensitivity s = share_plan(&plan, delta > 0);
    assert_int_equal(sotto_calibrate(&scale, delta > 0 ? "gaussian" : "laplace", &s,
                                     (struct sotto_dp){epsilon, delta}, NULL),
                     SOTTO_OK);
    ask_plan_clear(&plan);
    return scale / 0x1p30;
}

TEST(known_scales)
{
    assert_true(fabs(scale_of("histogram key", 1, 1e-6) - sqrt(2) / 0.2367044) < 1e-4);
    assert_true(fabs(scale_of("histogram key", 0.1, 1e-6) - sqrt(2) / 0.0275447) < 1e-3);
    assert_true(fabs(scale_of("histogram key; histogram sex", 1, 1e-6) - 8.449) < 1e-3);
    assert_true(fabs(scale_of("histogram key", 1, 0) - 2) < 1e-6); /* variance 8 */
    /* a single cell by itself has the noise of L2 1, not sqrt 2 */
    assert_true(fabs(scale_of("mean Größe", 1, 1e-6) / sqrt(2) - 1 / 0.2367044) < 1e-4);
}

/* ---- shares ---- */

/* What the sum of squares, or the largest one, of weighted errors is at these masses, at one epsilon or mu. */
static double loss_of(const double *masses, const double *norms, const double *errors, size_t n,
                      bool gaussian, int weights)
{
    double whole = 0, loss = 0;
    for (size_t i = 0; i < n; i++)
        whole += gaussian ? masses[i] * masses[i] * norms[i] * norms[i] : masses[i] * norms[i];
    whole = gaussian ? sqrt(whole) : whole; /* the scale that goes with the norm of all */
    for (size_t i = 0; i < n; i++) {
        const double e = errors[i] * whole / masses[i];
        loss = weights == SOTTO_ASK_LARGEST ? fmax(loss, e) : loss + e * e;
    }
    return loss;
}

TEST(shares_have_the_least_error_that_they_say)
{
    struct ask_plan plan;
    struct rng rng = rng_stream(7, RNG_TEST, 4, 0);
    static const char text[] =
        "mean Größe weight .5; mean \"x\" by sex weight 2; variance \"x\"; count where out = yes weight 3";
    const double weight[] = {0.5, 2, 1, 3}, groups[] = {1, 3, 1, 1};
    assert_int_equal(parse_one(&plan, text), SOTTO_OK);
    for (int gaussian = 0; gaussian <= 1; gaussian++)
        for (int weights = SOTTO_ASK_SQUARES; weights <= SOTTO_ASK_LARGEST; weights++) {
            double masses[4], norms[4], errors[4], moved[4];
            ask_share(&plan, gaussian, weights);
            for (size_t i = 0; i < 4; i++) {
                const double two = plan.queries[i].single ? 1 : 2;
                masses[i] = (double)plan.queries[i].mass;
                norms[i] = gaussian ? sqrt(two) : two;
                errors[i] = weight[i] * groups[i];
            }
            const double least = loss_of(masses, norms, errors, 4, gaussian, weights);
            for (int k = 0; k < 2000; k++) { /* no other shares are better */
                for (size_t i = 0; i < 4; i++)
                    moved[i] = masses[i] * exp((k % 2 ? 1 : 0.01) * (rng_unit(&rng) - 0.5));
                assert_true(loss_of(moved, norms, errors, 4, gaussian, weights) > least * (1 - 1e-6));
            }
            ask_share(&plan, gaussian, SOTTO_ASK_EQUAL);
            for (size_t i = 0; i < 4; i++)
                masses[i] = (double)plan.queries[i].mass;
            assert_true(loss_of(masses, norms, errors, 4, gaussian, weights) > 1.05 * least);
            for (size_t i = 0; i < 4; i++) /* equal shares are in proportion to weights */
                assert_true(fabs(masses[i] * norms[i] / (masses[3] * norms[3]) - weight[i] / 3) < 1e-8);
        }
    ask_plan_clear(&plan);
    /* a weight of 1000 beside one of 0.001 is cut to 1 / 1024 */
    assert_int_equal(parse_one(&plan, "mean \"x\" weight 1000; sum \"x\" weight .001"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    assert_true(plan.queries[0].mass == 1 << 30 && plan.queries[1].mass == 1 << 20);
    ask_plan_clear(&plan);
}

/* Each level of a tree is a histogram, and all levels together move as far as another query. */
TEST(one_row_moves_a_quantile_on_every_level)
{
    for (int gaussian = 0; gaussian <= 1; gaussian++)
        for (int where = 0; where <= 1; where++) {
            struct ask_plan plan;
            assert_int_equal(parse_one(&plan, where ? "quantile \"x\" .1 .9 where out = yes with interval"
                                                    : "median Größe with interval"),
                             SOTTO_OK);
            const struct sotto_sensitivity s = share_plan(&plan, gaussian);
            const double mass = (double)plan.queries[0].mass, levels = 7;
            int64_t *rows = rows_of(&plan);
            assert_non_null(rows);
            const struct moved m = move_all(&plan, rows, false), empty = move_all(&plan, rows, true);
            assert_true(m.most == mass && m.l1 == 2 * levels * mass && m.l1 <= s.l1 &&
                        m.l1 > s.l1 * (1 - 1e-12));
            assert_true(m.l2 <= s.l2 && m.l2 > s.l2 * (1 - 1e-12));
            assert_true(empty.l1 == levels * mass);
            /* as far as a histogram, to the rounding of the mass */
            assert_true(fabs((gaussian ? s.l2 / sqrt(2) : s.l1 / 2) / 0x1p30 - 1) < 1e-8);
            base_free(rows);
            ask_plan_clear(&plan);
        }
}

/* ---- quantiles ---- */

TEST(trees_solve_least_squares)
{
    struct rng rng = rng_stream(7, RNG_TEST, 2, 0);
    const struct ask_tree t = {0, 1, 7, 3};
    double nodes[14], kept[14], leaves[8];
    for (int known = 0; known <= 1; known++) {
        for (size_t i = 0; i < 14; i++)
            kept[i] = nodes[i] = 10 * rng_unit(&rng);
        ask_tree_solve(leaves, nodes, &t, known ? 40 : NAN);
        double sum = 0, first = 0;
        for (size_t i = 0; i < 8; i++)
            sum += leaves[i];
        for (size_t i = 0; i < 8;
             i++) { /* no leaf can be moved, or moved against another one, for a smaller sum of squares */
            const double two = leaves[i ^ 1] + leaves[i],
                         four = i < 4 ? leaves[0] + leaves[1] + leaves[2] + leaves[3]
                                      : leaves[4] + leaves[5] + leaves[6] + leaves[7];
            const double slope = leaves[i] - kept[6 + i] + two - kept[2 + i / 2] + four - kept[i / 4];
            first = i ? first : slope;
            assert_true(fabs(slope - (known ? first : 0)) < 1e-12);
        }
        assert_true(!known || fabs(sum - 40) < 1e-12);
    }
}

TEST(quantiles_without_noise_are_those_of_the_rows)
{
    struct ask_plan plan;
    struct ask_value values[COLUMNS + 1] = {{0, 0}};
    assert_int_equal(
        parse_one(&plan, "quantile Größe .2 .5 .9 with interval; median \"x\" where key = a with interval"),
        SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    int64_t *sums = base_alloc(plan.sums, sizeof *sums);
    double *cells = base_alloc(plan.sums, sizeof *cells);
    struct ask_answer out[3];
    assert_true(sums && cells);
    static const double rows[10] = {-1, 0, 0, 0.5, 1, 1, 1.5, 2, 3, 9}; /* as leaves: -1 0 0 1 1 1 2 2 3 3 */
    for (size_t i = 0; i < 10; i++) {
        values[1].number = i % 2 ? NAN : 0.1 * (double)i; /* 0, .2, .4, .6, .8 */
        values[2].number = rows[i];
        ask_add_row(sums, &plan, values, 1);
    }
    for (size_t c = 0; c < plan.sums; c++)
        cells[c] = (double)sums[c];
    const struct ask_release r = {.cells = cells, .rows = 10, .gaussian = true};
    assert_int_equal(ask_quantiles_of(out, &plan, &plan.queries[0], 0, &r), SOTTO_OK);
    assert_true(out[0].value == 0 && out[1].value == 1 && out[2].value == 3);
    assert_true(out[1].low == 1 && out[1].high == 1); /* no noise */
    assert_int_equal(ask_quantiles_of(out, &plan, &plan.queries[1], 0, &r), SOTTO_OK);
    assert_true(out[0].value == 0.40625); /* the edge of 1/32 behind .4 */
    base_free(sums);
    base_free(cells);
    ask_plan_clear(&plan);
}

TEST(edges_of_trees)
{
    const struct encoding_column fine = {.low = 0, .high = 1}, whole = {.low = -3, .high = 1021},
                                 wide = {.low = 0, .high = 4096};
    const struct ask_tree a = ask_tree_of(&fine), b = ask_tree_of(&whole), c = ask_tree_of(&wide);
    assert_true(a.edges == 65 && a.levels == 7 && a.step == 1.0 / 64);
    assert_true(b.edges == 1025 && b.levels == ASK_LEVELS && b.low == -3 && b.step == 1);
    assert_true(c.edges == 1024 && c.levels == 10 && c.low == 4 && c.step == 4);
    int64_t nodes[2046] = {0};
    ask_tree_add(nodes, &c, -9, 1);    /* the first leaf, */
    ask_tree_add(nodes, &c, 4, 1);     /* */
    ask_tree_add(nodes, &c, 4.1, 1);   /* the second */
    ask_tree_add(nodes, &c, 1e300, 1); /* and the last one */
    assert_true(nodes[0] == 3 && nodes[1] == 1 && nodes[1022] == 2 && nodes[1023] == 1 && nodes[2045] == 1);
}

/* ---- cells ---- */

TEST(values_lie_in_their_cells)
{
    struct ask_plan plan;
    char name[256];
    int64_t sums[7] = {0};
    static const struct {
        const char *text;
        size_t cell;
    } where[] = {{"-5", 0}, {"0", 0},     {"0.49", 0}, {"0.5", 1}, {"2", 3},
                 {"7", 3},  {"1e400", 3}, {"", 4},     {"nan", 4}, {"what", 4}};
    struct ask_value values[COLUMNS + 1] = {{0, 0}};
    assert_int_equal(parse_one(&plan, "histogram \"x\" 0:2:.5"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    assert_int_equal(plan.sums, 5);
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        memset(sums, 0, sizeof sums);
        values[1] = ask_value_of(schema, 1, cell_of_text(where[i].text));
        ask_add_row(sums, &plan, values, 1);
        assert_int_equal(sums[where[i].cell], (int64_t)1 << 30);
    }
    assert_string_equal(ask_cell_name(name, &plan, &plan.queries[0].keys[0], 3), "[1.5,2]");
    assert_string_equal(ask_cell_name(name, &plan, &plan.queries[0].keys[0], 0), "[0,0.5)");
    assert_string_equal(ask_cell_name(name, &plan, &plan.queries[0].keys[0], 4), "(missing)");
    ask_plan_clear(&plan);
}

/* ---- tables ---- */

/* Rows of a few persons, one with quotes and line ends, and what is behind them. */
static void write_table(const char *end)
{
    FILE *f = fopen(table_path, "wb");
    assert_non_null(f);
    fprintf(f, "\nwho,x,Größe,key,sex,note,out\r\n");
    for (int i = 0; i < 300; i++)
        fprintf(f, "p%d,%d.5,%d,%s,f,%s,yes\n%s", i % 40, i % 3, i % 5, i % 2 ? "a" : "\"b\"",
                i % 7 ? "short" : "\"a \"\"long\"\" note,\nof two lines\"", i % 11 ? "" : "\n");
    fprintf(f, "%s", end);
    fclose(f);
}

static sotto_status sum_table(int64_t *sums, size_t *rows, const struct ask_plan *plan, size_t block,
                              int threads, const char *person)
{
    const struct sotto_context ctx = {.threads = threads};
    struct ask_table t = {
        .plan = plan, .path = table_path, .person = person, .most = 5, .ctx = &ctx, .block = block};
    sotto_status status = ask_table_open(&t);
    size_t persons;
    memset(sums, 0, plan->sums * sizeof *sums);
    if (status == SOTTO_OK)
        status = ask_table_sum(sums, rows, &persons, &t);
    ask_table_close(&t);
    return status;
}

TEST(blocks_and_threads_change_no_bit)
{
    struct ask_plan plan;
    int64_t first[64], sums[64];
    size_t rows[2];
    write_table("p0,1,1,a,f,,yes");
    assert_int_equal(parse_one(&plan, "mean \"x\" by key; histogram sex; covariance \"x\", Größe"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    assert_true(plan.sums <= 64);
    for (int person = 0; person <= 1; person++) {
        const char *who = person ? "who" : NULL;
        assert_int_equal(sum_table(first, &rows[0], &plan, 0, 1, who), SOTTO_OK);
        assert_int_equal(rows[0], person ? 200 : 301); /* 5 rows of each of 40 */
        assert_int_equal(first[plan.queries[1].first], (int64_t)rows[0] << 30);
        for (size_t i = 0; i < 9; i++)
            for (int threads = 1; threads <= 5; threads += 2) {
                const size_t block = (size_t[]){1, 17, 40, 63, 64, 65, 500, 5000, 1 << 20}[i];
                assert_int_equal(sum_table(sums, &rows[1], &plan, block, threads, who), SOTTO_OK);
                assert_int_equal(rows[1], rows[0]);
                assert_memory_equal(sums, first, plan.sums * sizeof *sums);
            }
    }
    ask_plan_clear(&plan);
    remove(table_path);
}

/* A refusal behind the charge would tell of one record. */
TEST(no_row_is_refused_and_none_but_those_of_nobody_is_lost)
{
    struct ask_plan plan;
    int64_t before[64], sums[64];
    size_t rows;
    static const struct {
        const char *row;
        size_t a, missing, numbers; /* by key, and of x */
        bool nobody;
    } ends[] = {{"p77,1,1,a,f,,yes\n", 1, 0, 1, false},    {"p77,1\n", 0, 1, 0, true},
                {"p77,1,1,a,f,,yes,\n", 0, 1, 0, true},    {"\"p77,1,1,a,f,,yes\n", 0, 1, 0, true},
                {"p77,1,1,a,f,x\"y,yes\n", 0, 1, 0, true}, {",1,1,a,f,,yes\n", 1, 0, 1, true},
                {"p\xff,1,1,a,f,,yes\n", 1, 0, 1, true},   {"p77,\xff,1,a,f,\xc3,yes\n", 1, 0, 0, false}};
    assert_int_equal(parse_one(&plan, "count by key; mean \"x\" by sex"), SOTTO_OK);
    ask_share(&plan, true, SOTTO_ASK_EQUAL);
    const int64_t m = plan.queries[0].mass;
    const size_t a = plan.queries[0].first, x = plan.queries[1].first;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int person = 0; person <= 1; person++)
            for (size_t block = 16; block <= 1 << 20; block *= 8) {
                const char *who = person ? "who" : NULL;
                const bool counts = !person || !ends[i].nobody;
                write_table("");
                assert_int_equal(sum_table(before, &rows, &plan, block, 2, who), SOTTO_OK);
                const size_t kept = rows;
                write_table(ends[i].row);
                assert_int_equal(sum_table(sums, &rows, &plan, block, 2, who), SOTTO_OK);
                assert_int_equal(rows, kept + counts);
                assert_int_equal(sums[a] - before[a], counts ? (int64_t)ends[i].a * m : 0);
                assert_int_equal(sums[a + 3] - before[a + 3], counts ? (int64_t)ends[i].missing * m : 0);
                assert_int_equal(sums[x] + sums[x + 1] - before[x] - before[x + 1],
                                 counts ? (int64_t)ends[i].numbers * plan.queries[1].mass : 0);
            }
    ask_plan_clear(&plan);
    remove(table_path);
}

TEST(persons_are_counted_one_by_one)
{
    struct ask_persons p;
    struct ask_mark a, b;
    char text[32];
    uint32_t count;
    assert_int_equal(ask_persons_open(&p), SOTTO_OK);
    static const char *const same[] = {"7", "007", "7.0", "+7e0"}, *const nobody[] = {"", "?", "NA", "None"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(ask_persons_mark(i ? &b : &a, &p, same[i]));
        assert_true(i == 0 || memcmp(&a, &b, sizeof a) == 0);
        assert_false(ask_persons_mark(&b, &p, nobody[i]));
    }
    for (uint32_t round = 1; round <= 2; round++)
        for (int i = 0; i < 20000; i++) { /* beyond the first table */
            snprintf(text, sizeof text, "p%d", i);
            assert_true(ask_persons_mark(&a, &p, text));
            assert_int_equal(ask_persons_add(&count, &p, a), SOTTO_OK);
            assert_int_equal(count, round);
        }
    assert_int_equal(p.used, 20000);
    ask_persons_close(&p);
}

/* ---- persons: all of what one of them may have, beside another one ---- */

enum { ROW_KINDS = 6, LISTS = 6 + 36 + 216 };

/* The cells of tables in which a person has each list of rows up to `longest`, with at most `most` of them kept. */
static size_t cells_of_lists(int64_t *cells, const struct ask_plan *plan, size_t longest, size_t most)
{
    static const char *const kinds[ROW_KINDS] = {"0,-1,a,f,,yes", "2,3,b,f,,yes", ",3,,f,,no",
                                                 "2,1,c,m,,no",   "0,3,a,m,,no",  "2,-1,b,m,,yes"};
    size_t count = 0, rows, persons;
    for (size_t length = 1; length <= longest; length++) {
        size_t lists = 1;
        for (size_t i = 0; i < length; i++)
            lists *= ROW_KINDS;
        for (size_t list = 0; list < lists; list++, count++) {
            FILE *f = fopen(table_path, "wb");
            assert_non_null(f);
            fprintf(f, "who,x,Größe,key,sex,note,out\n");
            for (size_t i = 0, rest = list; i < length; i++, rest /= ROW_KINDS)
                fprintf(f, "other,1,1,b,m,,yes\none,%s\n", kinds[rest % ROW_KINDS]);
            for (size_t i = length; i < longest; i++) /* the other one is the same in all tables */
                fprintf(f, "other,1,1,b,m,,yes\n");
            fclose(f);
            const struct sotto_context ctx = {.threads = 1};
            struct ask_table t = {
                .plan = plan, .path = table_path, .person = "who", .most = most, .ctx = &ctx};
            assert_int_equal(ask_table_open(&t), SOTTO_OK);
            assert_int_equal(ask_table_sum(cells + count * plan->cells, &rows, &persons, &t), SOTTO_OK);
            assert_int_equal(persons, 2);
            ask_table_close(&t);
        }
    }
    remove(table_path);
    return count;
}

static struct moved move_lists(const int64_t *lists, size_t count, size_t cells)
{
    struct moved m = {0};
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++) {
            double l1 = 0, squares = 0;
            for (size_t c = 0; c < cells; c++) {
                const double d = (double)(lists[a * cells + c] - lists[b * cells + c]);
                l1 += fabs(d);
                squares += d * d;
            }
            m.l1 = fmax(m.l1, l1);
            m.l2 = fmax(m.l2, sqrt(squares));
        }
    return m;
}

TEST(one_person_moves_the_cells_as_far_as_is_accounted_and_no_further)
{
    static const struct {
        const char *text;
        double l2[2]; /* in masses, of 1 and of 2 rows; 0: of several queries */
    } cases[] = {{"count persons where \"x\" > 1", {1, 1}},
                 {"count persons where key = a and sex = m", {1, 1}},
                 {"count persons by key, sex", {1.4142135623730951, 2}},
                 {"mean Größe per person", {1, 1}},
                 {"mean \"x\" per person", {1.4142135623730951, 1.4142135623730951}},
                 {"mean Größe by key per person", {1.4142135623730951, 1.4142135623730951}},
                 {"variance \"x\" by sex per person", {1.4142135623730951, 1.4142135623730951}},
                 {"covariance \"x\", Größe per person", {1.4142135623730951, 1.4142135623730951}},
                 {"mean Größe", {1, 2}},
                 {"histogram key", {1.4142135623730951, 2.8284271247461903}},
                 {"mean Größe; count persons by key, sex; mean \"x\" per person", {0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t most = 1; most <= 2; most++)
            for (int gaussian = 0; gaussian <= 1; gaussian++) {
                struct ask_plan plan;
                assert_int_equal(parse_one(&plan, cases[i].text), SOTTO_OK);
                plan.most = most;
                struct sotto_sensitivity s = share_plan(&plan, gaussian);
                s.l1 *= (double)most, s.l2 *= (double)most; /* as a release does */
                int64_t *cells = base_alloc((size_t)LISTS * plan.cells, sizeof *cells);
                assert_non_null(cells);
                size_t count = cells_of_lists(cells, &plan, most + 1, most);
                const struct moved m = move_lists(cells, count, plan.cells);
                const double expected = cases[i].l2[most - 1] * (double)plan.queries[0].mass;
                if (m.l1 > s.l1 || m.l2 > s.l2 ||
                    (plan.count == 1 && (m.l1 < s.l1 * (1 - 1e-6) || m.l2 < s.l2 * (1 - 1e-6) ||
                                         fabs(s.l2 / expected - 1) > 1e-9)))
                    fail_msg("%s, %zu rows: %.12g %.12g, accounted %.12g %.12g", cases[i].text, most, m.l1,
                             m.l2, s.l1, s.l2);
                if (most == 1 &&
                    strcmp(cases[i].text, "histogram key") == 0) { /* control: one row more than the cap */
                    memset(cells, 0, (size_t)LISTS * plan.cells * sizeof *cells);
                    count = cells_of_lists(cells, &plan, most + 1, most + 1);
                    assert_true(move_lists(cells, count, plan.cells).l2 > 1.9 * s.l2);
                }
                base_free(cells);
                ask_plan_clear(&plan);
            }
}

/* ---- counts ---- */

TEST(counts_are_the_nearest_possible_ones)
{
    struct rng rng = rng_stream(7, RNG_TEST, 3, 0);
    for (int round = 0; round < 200; round++) {
        enum { N = 9 };
        const double total = (double)(round % 4 * 10);
        double noisy[N], near[N], whole[N], sum = 0, count = 0, t = NAN;
        for (size_t i = 0; i < N; i++)
            near[i] = noisy[i] = 20 * rng_unit(&rng) - 8;
        assert_int_equal(ask_counts_project(near, N, total), SOTTO_OK);
        for (size_t i = 0; i < N; i++) { /* all that stay were moved alike, and what went would be below 0 */
            sum += near[i];
            if (near[i] > 0)
                t = noisy[i] - near[i];
        }
        assert_true(fabs(sum - total) < 1e-9);
        for (size_t i = 0; i < N && !isnan(t); i++)
            assert_true(fabs(near[i] - fmax(0, noisy[i] - t)) < 1e-9);
        memcpy(whole, near, sizeof whole);
        assert_int_equal(ask_counts_round(whole, N), SOTTO_OK);
        for (size_t i = 0; i < N; i++) {
            assert_true(whole[i] == floor(whole[i]) && whole[i] >= 0 && fabs(whole[i] - near[i]) < 1);
            count += whole[i];
        }
        assert_true(count == total);
    }
    double ties[] = {1.5, 0.5, 2, 0};
    assert_int_equal(ask_counts_round(ties, 4), SOTTO_OK);
    assert_true(ties[0] == 2 && ties[1] == 0 && ties[2] == 2 && ties[3] == 0);
}

/* ---- intervals ---- */

static double draw_noise(struct rng *rng, bool gaussian)
{
    const double u = 1 - rng_unit(rng), v = rng_unit(rng);
    return gaussian ? sqrt(-2 * log(u)) * cos(6.283185307179586 * v) : (v < 0.5 ? -1 : 1) * -log(u);
}

TEST(intervals_cover_as_they_say)
{
    enum { DRAWS = 20000 };
    struct rng rng = rng_stream(7, RNG_TEST, 1, 0);
    for (int gaussian = 0; gaussian <= 1; gaussian++)
        for (int group = 0; group < 3; group++) {
            const double rows = (double[]){40, 400, 4000}[group], m = 0.3, scale = 20;
            size_t mean = 0, sum = 0;
            for (size_t i = 0; i < DRAWS; i++) {
                const double h = rows * m + scale * draw_noise(&rng, gaussian),
                             l = rows * (1 - m) + scale * draw_noise(&rng, gaussian),
                             half = ask_half_width(3, 1, scale, 0.05, gaussian);
                double ends[2];
                const double x[ASK_POWERS] = {[ASK_X] = 1}, v = scale * scale * (gaussian ? 1 : 2);
                const struct ask_moments moments = {
                    .sums = {[ASK_ONE] = h + l, [ASK_X] = h},
                    .covariance = {[ASK_ONE] = {[ASK_ONE] = 2 * v, [ASK_X] = v},
                                   [ASK_X] = {[ASK_ONE] = v, [ASK_X] = v}}};
                (void)ask_mean_interval(ends, &moments, x, 0, 1, 0.05, gaussian);
                mean += ends[0] <= m && m <= ends[1];
                sum += fabs(3 * h + l - rows * (3 * m + 1 - m)) <= half;
            }
            const double slack = 3 * sqrt(0.05 * 0.95 * DRAWS);
            assert_true(fabs((double)sum - 0.95 * DRAWS) < slack);
            assert_true((double)mean > 0.95 * DRAWS - slack);
            if (group >
                0) /* small groups have all of the range, and two draws of pure noise lighter tails than one */
                assert_true((double)mean < (gaussian ? 0.95 : 0.96) * DRAWS + slack);
        }
}

/* At 95 %, a sum of Laplace noise has a lighter tail than one draw of its variance. */
TEST(one_draw_has_the_heavier_tail)
{
    for (double r = 0; r <= 1; r += 1.0 / 512)
        assert_true(ask_tail(1, r, log(20) * hypot(1, r), false) < 0.05 * (1 + 1e-12));
}

/* 95 % within 6 deviations; exact: and not much more, while (control) intervals for half of the noise cover far less. */
static void check_cover(const size_t covered[2], size_t draws, bool exact)
{
    const double slack = 6 * sqrt(0.05 * 0.95 * (double)draws), all = (double)draws;
    assert_true((double)covered[0] > 0.95 * all - slack);
    assert_true(!exact || (double)covered[0] < 0.97 * all + slack);
    assert_true(!exact || (double)covered[1] < 0.95 * all - slack);
}

TEST(intervals_of_second_moments_cover)
{
    const size_t draws = (size_t)by_effort(500, 3000, 20000);
    struct rng rng = rng_stream(7, RNG_TEST, 5, 0);
    for (int gaussian = 0; gaussian <= 1; gaussian++)
        for (int pair = 0; pair <= 1; pair++)
            for (int size = 0; size < 2; size++) {
                /* shares x of 0.1, 0.3, 0.8 with y of 0.5, 0.2, 0.9 */
                static const double x[] = {0.1, 0.3, 0.8}, y[] = {0.5, 0.2, 0.9};
                const double rows = size ? 5000 : 300, scale = 20;
                double cells[4] = {0}, mx = 0, my = 0, moment = 0;
                struct ask_plan plan;
                assert_int_equal(parse_one(&plan, pair ? "covariance \"x\", Größe" : "variance \"x\""),
                                 SOTTO_OK);
                ask_share(&plan, gaussian, SOTTO_ASK_EQUAL);
                const double mass = (double)plan.queries[0].mass;
                size_t covered[2] = {0};
                for (size_t i = 0; i < 3; i++) {
                    const double other = pair ? y[i] : x[i];
                    cells[0] += rows / 3 * x[i] * other;
                    cells[1] += rows / 3 * x[i] * (1 - other) * (pair ? 1 : 2);
                    cells[2] += rows / 3 * (1 - x[i]) * (pair ? other : 1 - other);
                    cells[3] += rows / 3 * (1 - x[i]) * (1 - other);
                    mx += x[i] / 3, my += other / 3, moment += x[i] * other / 3;
                }
                moment -= mx * my;
                for (size_t i = 0; i < draws; i++) {
                    double noisy[5] = {0}, ends[2];
                    for (size_t k = 0; k < 4; k++)
                        noisy[k] = mass * (cells[k] + scale * draw_noise(&rng, gaussian));
                    for (int half = 0; half <= 1; half++) {
                        struct ask_agreed agreed = {0};
                        struct ask_moments m;
                        const struct ask_release r = {.cells = noisy,
                                                      .scale = mass * scale / (half ? 2 : 1),
                                                      .gaussian = gaussian,
                                                      .raw = true,
                                                      .rows = (size_t)rows};
                        assert_int_equal(ask_agree(&agreed, &plan, &r), SOTTO_OK);
                        ask_moments_of(&m, &agreed, &plan, &plan.queries[0], 0);
                        (void)ask_moment_interval(ends, &m, pair, 0.05, gaussian);
                        covered[half] += ends[0] <= moment && moment <= ends[1];
                        ask_agreed_clear(&agreed);
                    }
                }
                check_cover(covered, draws, size);
                ask_plan_clear(&plan);
            }
}

TEST(intervals_of_quantiles_cover)
{
    const size_t draws = (size_t)by_effort(4000, 20000, 200000);
    struct rng rng = rng_stream(7, RNG_TEST, 6, 0);
    const struct ask_tree t = {0, 1, 65, 7};
    double leaf[128] = {0}, nodes[254], leaves[128];
    for (size_t i = 0; i < 65; i++)
        leaf[i] = i % 3 == 0 ? 0 : (double)(i * (65 - i)) / 4; /* some are empty */
    for (int gaussian = 0; gaussian <= 1; gaussian++)
        for (int known = 0; known <= 1; known++)
            for (int k = 0; k < 3; k++) {
                const double share = (double[]){0.05, 0.5, 0.9}[k], scale = 300;
                double total = 0;
                size_t covered[2] = {0};
                for (size_t i = 0; i < 65; i++)
                    total += leaf[i];
                const double truth = ask_tree_quantile(leaf, &t, share);
                for (size_t i = 0; i < draws; i++) {
                    double ends[2];
                    for (size_t level = 1, at = 0; level <= 7; level++)
                        for (size_t node = 0; node < (size_t)1 << level; node++, at++) {
                            nodes[at] = scale * draw_noise(&rng, gaussian);
                            for (size_t j = node << (7 - level); j < (node + 1) << (7 - level); j++)
                                nodes[at] += leaf[j];
                        }
                    ask_tree_solve(leaves, nodes, &t, known ? total : NAN);
                    const double value = ask_tree_quantile(leaves, &t, share);
                    for (int half = 0; half <= 1; half++) { /* control: a sixth of the noise */
                        ask_tree_interval(ends, leaves, &t, share, known ? total : NAN,
                                          ask_deviations(0.05, gaussian) * scale * (gaussian ? 1 : sqrt(2)) /
                                              (half ? 6 : 1),
                                          0);
                        assert_true(ends[0] <= value && value <= ends[1]);
                        covered[half] += ends[0] <= truth && truth <= ends[1];
                    }
                }
                check_cover(covered, draws, false); /* an edge is more than a point */
                assert_true((double)covered[1] < 0.9 * (double)draws);
            }
}

/* All answers of a plan. Returns how many. */
static size_t answer_all(struct ask_answer *out, const struct ask_plan *plan, struct ask_release r)
{
    struct ask_agreed agreed = {0};
    size_t count = 0;
    assert_int_equal(ask_agree(&agreed, plan, &r), SOTTO_OK);
    r.agreed = &agreed;
    for (size_t i = 0; i < plan->count; i++)
        for (size_t g = 0; g < plan->queries[i].groups; g++) {
            if (plan->queries[i].statistic == ASK_QUANTILE)
                assert_int_equal(ask_quantiles_of(&out[count], plan, &plan->queries[i], g, &r), SOTTO_OK);
            else
                out[count] = ask_answer_of(plan, &plan->queries[i], g, &r);
            count += plan->queries[i].statistic == ASK_QUANTILE ? plan->queries[i].share_count : 1;
        }
    ask_agreed_clear(&agreed);
    return count;
}

/* One of six kinds of rows. Returns its probability. */
static double set_row(struct ask_value values[COLUMNS + 1], size_t kind)
{
    static const struct {
        double x, size;
        size_t key, sex;
        double p;
    } kinds[] = {{0, -1, 0, 0, 0.15}, {2, 3, 0, 0, 0.15}, {NAN, 0, 1, 1, 0.1},
                 {0.5, 3, 1, 0, 0.2}, {2, -1, 1, 1, 0.2}, {1, 1, 1, 1, 0.2}};
    values[1].number = kinds[kind].x;
    values[2].number = kinds[kind].size;
    values[3].code = kinds[kind].key;
    values[4].code = kinds[kind].sex;
    return kinds[kind].p;
}

/* Of noise alone, beside the rows; of noise and sampling, beside their population; each, and all at once. Bounds are 6 deviations of the count
 * of draws, so each of about 50 comparisons fails falsely with a probability below 1e-8, all together below 1e-6. Controls: intervals of noise
 * alone miss the population, and those that hold each by itself miss at once. */
TEST(intervals_cover_at_once_and_the_population)
{
    enum { PEOPLE = 400, MOST = 16 };
    const size_t draws = (size_t)by_effort(400, 2000, 20000);
    struct rng rng = rng_stream(7, RNG_TEST, 9, 0);
    struct ask_value values[COLUMNS + 1] = {{0, 0}};
    struct ask_plan plan;
    assert_int_equal(
        parse_one(&plan, "count where key = a; mean \"x\" where key = a; sum Größe; sum \"x\" where key = a; "
                         "mean \"x\"; variance Größe; covariance \"x\", Größe; quantile Größe .4 "
                         "with interval; histogram sex"),
        SOTTO_OK);
    for (int gaussian = 0; gaussian <= 1; gaussian++) {
        ask_share(&plan, gaussian, SOTTO_ASK_EQUAL);
        int64_t *sums = base_alloc(plan.sums, sizeof *sums);
        double *cells = base_alloc(plan.sums, sizeof *cells);
        assert_true(sums && cells);
        struct ask_answer all[MOST], rows[MOST], got[MOST];
        size_t each[2][2][MOST] = {{{0}}}, together[2][2] = {{0}}, blind = 0, count = 0;
        const double scale = 5 * 0x1p30;
        struct ask_release exact = {
            .cells = cells, .scale = 1, .gaussian = true, .rows = PEOPLE, .raw = true};
        for (size_t kind = 0; kind < 6; kind++) {
            memset(sums, 0, plan.sums * sizeof *sums);
            const double p = set_row(values, kind);
            ask_add_row(sums, &plan, values, 1);
            for (size_t c = 0; c < plan.sums; c++)
                cells[c] += PEOPLE * p * (double)sums[c];
        }
        count = answer_all(all, &plan, exact);
        assert_true(count <= MOST && count == ask_noisy_answers(&plan));
        for (size_t i = 0; i < draws; i++) {
            memset(sums, 0, plan.sums * sizeof *sums);
            for (size_t k = 0; k < PEOPLE; k++) {
                size_t kind = 0;
                for (double u = rng_unit(&rng); kind < 5 && (u -= set_row(values, kind)) > 0;)
                    kind++;
                (void)set_row(values, kind);
                ask_add_row(sums, &plan, values, 1);
            }
            for (size_t c = 0; c < plan.sums; c++)
                cells[c] = (double)sums[c];
            answer_all(rows, &plan, exact);
            for (size_t q = 0; q < plan.count; q++)
                for (size_t c = 0; c < plan.queries[q].groups * plan.queries[q].parts; c++)
                    cells[plan.queries[q].first + c] +=
                        scale * draw_noise(&rng, gaussian) / sqrt(ask_precision(&plan, &plan.queries[q]));
            for (int population = 0; population <= 1; population++)
                for (int at_once = 0; at_once <= 1; at_once++) {
                    size_t missed = 0;
                    answer_all(got, &plan,
                               (struct ask_release){.cells = cells,
                                                    .scale = scale,
                                                    .gaussian = gaussian,
                                                    .rows = PEOPLE,
                                                    .population = population,
                                                    .at_once = at_once ? count : 0});
                    for (size_t k = 0; k < count; k++) {
                        const double truth = population ? all[k].value : rows[k].value, hair = 1e-9;
                        const bool in = got[k].low <= truth + hair && truth - hair <= got[k].high;
                        each[population][at_once][k] += in;
                        missed += !in;
                    }
                    together[population][at_once] += missed == 0;
                    blind +=
                        !population && !at_once && got[0].low <= all[0].value && all[0].value <= got[0].high;
                }
        }
        const double slack = 6 * sqrt(0.05 * 0.95 * (double)draws), least = 0.95 * (double)draws - slack;
        for (int population = 0; population <= 1; population++) {
            for (size_t k = 0; k < count; k++)
                if ((double)each[population][0][k] < least)
                    fail_msg("answer %zu, gaussian %d, population %d: %zu of %zu", k, gaussian, population,
                             each[population][0][k], draws);
            assert_true((double)each[population][0][0] <
                        0.97 * (double)draws + slack); /* of a count, it is exact */
            if ((double)together[population][1] < least || (double)together[population][0] > least)
                fail_msg("gaussian %d, population %d: at once %zu and %zu of %zu", gaussian, population,
                         together[population][1], together[population][0], draws);
        }
        if ((double)blind > 0.8 * (double)draws)
            fail_msg("gaussian %d: intervals of noise alone hold the population in %zu of %zu", gaussian,
                     blind, draws);
        base_free(sums);
        base_free(cells);
    }
    ask_plan_clear(&plan);
}

TEST_GROUP(.shards = 5, .set_up = set_up, .tear_down = tear_down)
