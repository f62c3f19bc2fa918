/* src/core/dp/ledger/ledger_columns.c: budgets that hold for an analyst who looks at each release before choosing the next one. */
#include "support/test.h"
#include "support/ledger_rewrite.h"
#include "dp/ledger/ledger_account.h"

static const struct sotto_dp budget = {1, 1e-6};

/* The mean of 1,000 numbers in [0, 1], as in docs/derivations/adaptive.md. */
static sotto_status mean(const char *mechanism, double scale, struct sotto_dp b)
{
    const struct sotto_release r = {
        .mechanism = mechanism,
        .scale = scale,
        .target = {NAN, strcmp(mechanism, "laplace") == 0 ? SOTTO_DELTA_PURE : 1e-6},
        .sensitivity = {.l1 = .001, .l2 = .001, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = b}};
    float v[1] = {.5f};
    struct sotto_certificate *c = NULL;
    const sotto_status status = sotto_dp_release(&c, v, 1, &r, NULL);
    sotto_certificate_free(c);
    return status;
}

static struct ledger read_ledger(void)
{
    struct ledger l;
    if (ledger_read(&l, path) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return l;
}

static struct sotto_dp promised(void)
{
    struct ledger l = read_ledger();
    const struct sotto_dp a = ledger_any_order(&l);
    ledger_close(&l);
    return a;
}

static double total(void)
{
    struct ledger l = read_ledger();
    struct sotto_account a;
    assert_int_equal(ledger_total_account(&a, &l, 1e-6, NULL), SOTTO_OK);
    ledger_close(&l);
    return a.epsilon.upper;
}

/* ---- lines, changed and chained anew ---- */

/* As a program of before wrote it. */
static void make_old(char *line, size_t index)
{
    (void)index;
    char *from = strstr(line, ",\"any_order\":"), *to = from ? strstr(from, ",\"charge\":") : NULL;
    if (!to)
        return;
    memmove(from, to, strlen(to) + 1);
    line[strlen("{\"schema\":\"sotto.ledger/")] = '1';
}

static void take_more(char *line, size_t index)
{
    char *at = index == 1 ? strstr(line, "\"offers\":[[0.0,0.0") : NULL;
    if (at)
        at[strlen("\"offers\":[[0.0,")] = '9';
}

static void say_nothing(char *line, size_t index)
{
    if (index == 1)
        make_old(line, index);
}

/* ---- section 0 of the page ---- */

/* The second release is chosen by the first answer. Each of the two was accepted, and together they have delta 1.98e-6. */
TEST(the_two_branches)
{
    assert_int_equal(mean("gaussian", .0105627, budget), SOTTO_OK);
    assert_int_equal(mean("laplace", .0015607, budget), SOTTO_EBUDGET);
    assert_non_null(
        strstr(sotto_error_text(), "holds for any order of choices and has no room for this release"));
    assert_int_equal(mean("gaussian", .00465, budget),
                     SOTTO_OK); /* mu .2350: a tenth of delta is kept for failures */
    assert_true(total() < 1 && promised().epsilon == 1 && promised().delta == 1e-6);
    assert_int_equal(mean("gaussian", .05, budget), SOTTO_EBUDGET);
}

TEST(pure_releases_lose_nothing)
{
    for (int i = 0; i < 10; i++)
        assert_int_equal(mean("laplace", .01 * (1 + 1e-9), budget), SOTTO_OK);
    assert_int_equal(mean("laplace", 100, budget), SOTTO_EBUDGET);
    assert_true(promised().epsilon == 1);
}

/* One release of the whole budget, and nothing behind it. */
TEST(a_whole_budget_is_one_release)
{
    const struct sotto_release r = {
        .mechanism = "gaussian",
        .target = budget,
        .sensitivity = {.l1 = .001, .l2 = .001, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = budget}};
    float v[1] = {.5f};
    struct sotto_certificate *c = NULL;
    if (sotto_dp_release(&c, v, 1, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    sotto_certificate_free(c);
    assert_int_equal(mean("gaussian", 1, budget), SOTTO_EBUDGET);
}

/* ---- without a budget ---- */

TEST(levels)
{
    static const double scales[] = {.1, .01, .003, .001}, levels[] = {.25, .5, 2, 8};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mean("gaussian", scales[i], (struct sotto_dp){0}), SOTTO_OK);
        assert_true(promised().epsilon == levels[i]);
        assert_true(total() <= levels[i]);
    }
    assert_int_equal(mean("gaussian", 1e-5, (struct sotto_dp){0}), SOTTO_OK); /* never refused */
    assert_true(promised().epsilon == INFINITY);
}

/* ---- ledgers of before ---- */

TEST(an_old_ledger_goes_on)
{
    assert_int_equal(mean("gaussian", .0105627, budget), SOTTO_OK);
    rewrite(make_old);
    assert_true(isnan(promised().epsilon));
    const double before = total();
    assert_int_equal(mean("laplace", .0015607, budget), SOTTO_EBUDGET);
    assert_true(total() == before);
    assert_int_equal(mean("gaussian", .00465, budget),
                     SOTTO_OK); /* what was spent before is where its columns start */
    assert_true(promised().epsilon == 1);
    assert_int_equal(mean("gaussian", .05, budget), SOTTO_EBUDGET);
}

/* It was filled by the rule of before: nothing is lost, and nothing more is released. */
TEST(an_old_ledger_above_its_budget)
{
    assert_int_equal(mean("gaussian", .0105627, (struct sotto_dp){0}), SOTTO_OK);
    assert_int_equal(mean("laplace", .0015607, (struct sotto_dp){0}), SOTTO_OK);
    rewrite(make_old);
    assert_true(total() < 1);
    assert_int_equal(mean("gaussian", 100, budget), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(),
                           "its 2 charges were made without columns, and those of the budget "
                           "(epsilon 1, delta 1e-06) do not hold them"));
    struct ledger l = read_ledger();
    assert_int_equal(l.charges, 2);
    ledger_close(&l);
}

/* ---- what is written is not computed again, and not believed blindly ---- */

TEST(columns_are_read_as_they_were_written)
{
    struct ledger l;
    assert_int_equal(mean("gaussian", .0105627, budget), SOTTO_OK);
    assert_int_equal(mean("gaussian", .02, budget), SOTTO_OK);
    l = read_ledger();
    const struct adaptive_columns c = l.columns;
    const double spent = decimal_up(c.column[1].square);
    ledger_close(&l);
    assert_true(c.count == 2 && c.column[0].dead && !c.column[1].dead);
    assert_true(spent >= .0947 * .0947 && spent < .01147);
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_true(decimal_up(l.columns.column[1].square) == spent);
    ledger_close(&l);
}

TEST(a_line_that_takes_more_or_says_nothing)
{
    static void (*const changes[])(char *, size_t) = {take_more, say_nothing};
    for (int i = 0; i < 2; i++) {
        struct ledger l;
        unlink(path);
        assert_int_equal(mean("gaussian", .0105627, budget), SOTTO_OK);
        assert_int_equal(mean("gaussian", .02, budget), SOTTO_OK);
        rewrite(changes[i]);
        assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
        assert_non_null(strstr(sotto_error_text(), "does not fit the ledger's columns"));
    }
}

/* ---- offers beside the facts of their line ---- */

/* Of line `line`, offer `offer`: each member times and plus so much. */
static struct {
    size_t line;
    int offer;
    double times[3], plus[3];
} forged;

/* The triple at `at` of a line. */
static void forge_triple(char *at)
{
    char rest[16384], made[128];
    double m[3];
    snprintf(rest, sizeof rest, "%s", strchr(at, ']'));
    assert_int_equal(sscanf(at, "[%lf,%lf,%lf]", &m[0], &m[1], &m[2]), 3);
    for (int i = 0; i < 3; i++)
        m[i] = m[i] * forged.times[i] + forged.plus[i];
    snprintf(made, sizeof made, "[%.17g,%.17g,%.17g", m[0], m[1], m[2]);
    strcpy(at, made);
    strcat(at, rest);
}

static void forge_offer(char *line, size_t index)
{
    char *at = index == forged.line ? strstr(line, "\"offers\":[[") : NULL;
    if (!at)
        return;
    at += strlen("\"offers\":[");
    for (int i = 0; i < forged.offer; i++)
        at = strchr(at + 1, '[');
    forge_triple(at);
}

/* The last column's. */
static void forge_box(char *line, size_t index)
{
    char *at = index == forged.line ? strstr(line, "\"box\":[") : NULL;
    for (char *next = at; next; next = strstr(at + 1, "\"box\":["))
        at = next;
    if (at)
        forge_triple(at + strlen("\"box\":"));
}

static void forge(double times, double plus, int member)
{
    for (int i = 0; i < 3; i++) {
        forged.times[i] = i == member ? times : 1;
        forged.plus[i] = i == member ? plus : 0;
    }
}

/* For offering less; what is behind that may still not fit into a column. */
static bool is_refused(void)
{
    struct ledger l;
    rewrite(forge_offer);
    const sotto_status status = ledger_read(&l, path);
    if (status == SOTTO_OK) {
        ledger_close(&l);
        return false;
    }
    assert_int_equal(status, SOTTO_EFORMAT);
    const bool less = strstr(sotto_error_text(), "offers less in 'any_order'");
    if (!less && !strstr(sotto_error_text(), "does not fit the ledger's columns"))
        fail_msg("%s", sotto_error_text());
    return less;
}

static void charge_kind(const char *mechanism, struct sotto_dp target, struct sotto_dp b)
{
    struct sotto_release r = {
        .mechanism = mechanism,
        .target = target,
        .sensitivity = {.l1 = .001, .l2 = .001, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = b}};
    float v[1] = {.5f};
    struct sotto_certificate *c = NULL;
    if (sotto_dp_release(&c, v, 1, &r, NULL) != SOTTO_OK)
        fail_msg("%s: %s", mechanism, sotto_error_text());
    sotto_certificate_free(c);
}

/* A part in a million too small is refused, and too large is accepted, whichever number of the offer it is. */
TEST(offers_below_their_release)
{
    static const struct {
        const char *mechanism;
        struct sotto_dp target;
        int offers, member[2]; /* of each offer the one that is not 0 */
    } kinds[] = {{"gaussian", {.3, 1e-7}, 1, {1}},
                 {"laplace", {.1, SOTTO_DELTA_PURE}, 2, {0, 1}},
                 {"logistic", {.1, SOTTO_DELTA_PURE}, 2, {0, 1}},
                 {"gaussian", {.997, 9e-7}, 1, {0}}, /* a stated pair, in a column of such */
                 {"laplace", {.997, 9e-7}, 1, {0}}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int offer = 0; offer < kinds[k].offers; offer++)
            for (int larger = 0; larger < 2; larger++) {
                const bool stated = kinds[k].target.epsilon > .9;
                unlink(path);
                charge_kind(kinds[k].mechanism, kinds[k].target, budget);
                if (!stated)
                    charge_kind(kinds[k].mechanism, kinds[k].target, budget);
                forged.line = stated ? 1 : 2; /* the first line is the budget's */
                forged.offer = offer;
                forge(larger ? 1 + 1e-6 : 1 - 1e-6, 0, kinds[k].member[offer]);
                if (is_refused() != !larger)
                    fail_msg("%s, offer %d, %s", kinds[k].mechanism, offer,
                             larger ? "larger: refused" : "smaller: accepted");
                if (larger) {
                    struct ledger l = read_ledger();
                    ledger_close(&l);
                }
            }
}

/* A smaller member is not made good by a speck of another one, but by enough of it. */
TEST(offers_of_two_kinds)
{
    static const struct {
        const char *mechanism;
        int offer, smaller, more;
        double by;
        bool refused;
    } rows[] = {{"gaussian", 0, 1, 0, 1e-3, true},  {"gaussian", 0, 1, 2, 1e-12, true},
                {"gaussian", 0, 1, 2, 5e-8, false}, {"laplace", 0, 0, 1, 1e-16, true},
                {"laplace", 0, 0, 1, 1e-8, false},  {"laplace", 0, 0, 2, 1e-9, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool gaussian = strcmp(rows[i].mechanism, "gaussian") == 0;
        const struct sotto_dp target = {gaussian ? .3 : .1, gaussian ? 1e-7 : SOTTO_DELTA_PURE};
        unlink(path);
        for (int k = 0; k < 2; k++)
            charge_kind(rows[i].mechanism, target, (struct sotto_dp){0});
        forged.line = 1;
        forged.offer = rows[i].offer;
        forge(1 - 1e-6, 0, rows[i].smaller);
        forged.plus[rows[i].more] = rows[i].by;
        if (is_refused() != rows[i].refused)
            fail_msg("row %zu", i);
    }
}

/* An account of before took more. Its line keeps its numbers, and so does what comes behind. */
TEST(a_line_keeps_what_it_took)
{
    for (int k = 0; k < 2; k++)
        charge_kind("gaussian", (struct sotto_dp){.3, 1e-7}, budget);
    struct ledger l = read_ledger();
    const double before = decimal_up(l.columns.column[1].square);
    ledger_close(&l);
    forged.line = 1;
    forge(1.5, 0, 1);
    assert_false(is_refused());
    charge_kind("gaussian", (struct sotto_dp){.1, 1e-7}, budget);
    l = read_ledger();
    const double square = l.items[0].any_order.offer[0].square / 1.5,
                 third = l.items[2].any_order.offer[0].square;
    assert_true(fabs(decimal_up(l.columns.column[1].square) - (before + square / 2 + third)) < 1e-12);
    ledger_close(&l);
}

TEST(columns_that_hold_more_than_their_budget)
{
    for (int larger = 0; larger < 2; larger++) {
        struct ledger l;
        unlink(path);
        charge_kind("gaussian", (struct sotto_dp){.3, 1e-7}, budget);
        forged.line = 1;
        forge(larger ? 1 + 1e-6 : 1 - 1e-6, 0, 1);
        rewrite(forge_box);
        assert_int_equal(ledger_read(&l, path), larger ? SOTTO_EFORMAT : SOTTO_OK);
        if (larger)
            assert_non_null(strstr(sotto_error_text(), "'columns' hold more than epsilon and delta"));
        else
            ledger_close(&l);
    }
}

/* More text behind the first `behind` of a line; NULL: the columns of the line that opened them. */
static struct {
    size_t line;
    const char *behind, *more;
    char columns[4096];
} added;

static void add_text(char *line, size_t index)
{
    char *at = index == added.line ? strstr(line, added.behind) : NULL, rest[16384];
    const char *from = index == 1 ? strstr(line, "\"columns\":{") : NULL, *to = from;
    for (int depth = 0; to && (depth > 0 || to < from + 11); to++)
        depth += (*to == '{') - (*to == '}');
    if (from)
        snprintf(added.columns, sizeof added.columns, "%.*s,", (int)(to - from), from);
    if (at) {
        at += strlen(added.behind);
        strcpy(rest, at);
        sprintf(at, "%s%s", added.more ? added.more : added.columns, rest);
        if (!added.more) /* columns are of the third schema */
            strstr(line, "sotto.ledger/")[strlen("sotto.ledger/")] = '3';
    }
}

TEST(lines_that_do_not_fit_the_ones_before)
{
    static const struct {
        size_t line;
        const char *behind, *more, *error;
    } rows[] = {{3, "\"took\":[", "9,", "'any_order' is wrong"},
                {0, "\"epsilon\":", "-", "the budget is below 0, or its delta not below 1"},
                {1, "\"box\":[", "true,", "'columns' is wrong"},
                {1, "\"spent\":[", "true,", "'columns' is wrong"},
                {3, "\"charge\":", "7", "has the number 71 among the charges; expected 1"},
                {3, "{", "\"person\":{\"rows\":2,\"column\":\"who\"},", "is of another unit of privacy"},
                {2, "{", NULL, "does not fit the ledger's columns"}, /* a budget, a release: opened twice */
                {3, "\"any_order\":{", NULL, "does not fit the ledger's columns"},
                {3, "\"took\":[", "null,", "does not fit the ledger's columns"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ledger l;
        unlink(path);
        assert_int_equal(mean("gaussian", .0105627, budget), SOTTO_OK);
        assert_int_equal(mean("gaussian", .05, (struct sotto_dp){.5, 1e-6}), SOTTO_OK);
        added.line = rows[i].line;
        added.behind = rows[i].behind;
        added.more = rows[i].more;
        rewrite(add_text);
        if (ledger_read(&l, path) != SOTTO_EFORMAT || !strstr(sotto_error_text(), rows[i].error))
            fail_msg("row %zu: %s", i, sotto_error_text());
    }
}

static void put(char *line, const char *behind, const char *more)
{
    char *at = strstr(line, behind) + strlen(behind), rest[16384];
    strcpy(rest, at);
    sprintf(at, "%s%s", more, rest);
}

static void of_unknown_noise(char *line, size_t index)
{
    (void)index;
    put(line, "\"mechanism\":\"", "unknown ");
    put(line, "\"epsilon\":{", "\"upper\":null},\"epsilon_was\":{");
    put(line, "\"pure_epsilon\":", "null,\"pure_was\":");
}

/* Neither its noise nor an epsilon is known, so nothing is known to cover it. */
TEST(an_offer_for_unknown_noise)
{
    struct ledger l;
    assert_int_equal(mean("laplace", .01, (struct sotto_dp){0}), SOTTO_OK);
    rewrite(of_unknown_noise);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), "offers less in 'any_order'"))
        fail_msg("%s", sotto_error_text());
}

/* Noise in constant time has a doubt, and counts as the pair that is stated. */
static void charge_flat(struct sotto_dp target)
{
    const struct sotto_release r = {
        .mechanism = "gaussian",
        .flat_doubt = 1,
        .target = target,
        .sensitivity = {.l1 = .001, .l2 = .001, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
    float v[1] = {0};
    struct sotto_certificate *c = NULL;
    if (sotto_dp_release(&c, v, 1, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    sotto_certificate_free(c);
}

TEST(columns_behind_stated_pairs)
{
    charge_kind("laplace", (struct sotto_dp){.05, 1e-9}, (struct sotto_dp){0});
    charge_flat((struct sotto_dp){.1, 1e-8});
    charge_kind("gaussian", (struct sotto_dp){.2, 1e-8}, budget);
    struct ledger l = read_ledger();
    assert_true(l.columns_from == 2 && l.charges == 3);
    ledger_close(&l);
}

static void of_no_sensitivity(char *line, size_t index)
{
    (void)index;
    put(line, "\"l1\":", "null,\"l1_was\":");
    put(line, "\"l2\":", "null,\"l2_was\":");
}

TEST(a_line_without_sensitivity)
{
    struct ledger l;
    assert_int_equal(mean("gaussian", .01, (struct sotto_dp){0}), SOTTO_OK);
    rewrite(of_no_sensitivity);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(), "nothing follows from its scale, sensitivity and dimension: "));
}

/* What was charged without a budget is spent in the columns of one that comes later. */
TEST(columns_behind_releases)
{
    static const struct {
        const char *mechanism;
        struct sotto_dp target;
    } before[] = {{"laplace", {.1, SOTTO_DELTA_PURE}}, {"laplace", {.1, 1e-9}}, {"gaussian", {.1, 1e-9}}};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        unlink(path);
        charge_kind(before[i].mechanism, before[i].target, (struct sotto_dp){0});
        charge_kind("gaussian", (struct sotto_dp){.2, 1e-7}, budget);
        struct ledger l = read_ledger();
        assert_true(l.columns_from == 1 && l.charges == 2);
        ledger_close(&l);
        added.line = 2; /* the release that opened them */
        added.behind = "\"spent\":[";
        added.more = "0.0,0.0,0.0],\"was\":[";
        rewrite(add_text);
        assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
        assert_non_null(strstr(sotto_error_text(), "of which less is spent than the charges before it need"));
    }
}

/* A tighter budget refuses earlier. It does not fix columns anew, as an answer was seen: the second branch would be back. */
TEST(a_tighter_budget)
{
    const struct sotto_dp tight = {.5, 1e-6}, hair = {.99999, 1e-6};
    assert_int_equal(mean("gaussian", .0105627, budget), SOTTO_OK);
    assert_int_equal(mean("laplace", .00156073, hair), SOTTO_EBUDGET);
    assert_int_equal(mean("gaussian", .01, tight), SOTTO_EBUDGET); /* mu .138 in all */
    assert_int_equal(mean("gaussian", .05, tight), SOTTO_OK);
    assert_true(promised().epsilon == 1);
    assert_int_equal(mean("gaussian", .05, budget), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "expected a budget that is not larger"));
}

/* ---- columns of an officer ---- */

static sotto_status init_columns(struct sotto_dp b, const struct sotto_ledger_column *columns, size_t n)
{
    char *at = NULL;
    const sotto_status status =
        sotto_ledger_init_columns(&at, "toy", path, b, columns, n, NULL, &exercise, NULL);
    sotto_text_free(at);
    return status;
}

/* With nothing kept for failures, both Gaussian releases of section 1 fit, to the last digit, and the other branch does not. */
TEST(a_column_for_gaussian_noise_alone)
{
    const struct sotto_ledger_column whole = {0, 0, 1};
    assert_int_equal(init_columns(budget, &whole, 1), SOTTO_OK);
    assert_true(promised().epsilon == 1 && promised().delta == 1e-6);
    assert_int_equal(mean("gaussian", .0105627, (struct sotto_dp){0}), SOTTO_OK);
    assert_int_equal(mean("laplace", .0015607, (struct sotto_dp){0}), SOTTO_EBUDGET);
    assert_int_equal(mean("gaussian", .00460996, (struct sotto_dp){0}), SOTTO_OK);
    assert_int_equal(mean("gaussian", .1, (struct sotto_dp){0}), SOTTO_EBUDGET);
    assert_true(promised().epsilon == 1);
}

/* Gaussian noise beside three pure releases of .2, in any order: neither of the usual columns holds both. */
TEST(a_column_for_both_kinds)
{
    const struct sotto_dp wide = {1.6, 1e-6};
    const struct sotto_ledger_column both = {.6, 1e-8, 1};
    for (int asked = 0; asked < 2; asked++) {
        unlink(path);
        if (asked)
            assert_int_equal(init_columns(wide, &both, 1), SOTTO_OK);
        for (int i = 0; i < 3; i++)
            assert_int_equal(mean("laplace", .005 * (1 + 1e-9), wide), SOTTO_OK);
        assert_int_equal(mean("gaussian", .001 / .2, wide), asked ? SOTTO_OK : SOTTO_EBUDGET);
        assert_int_equal(mean("gaussian", .001 / .12, wide), asked ? SOTTO_OK : SOTTO_EBUDGET);
        assert_int_equal(mean("laplace", .01, wide), asked ? SOTTO_EBUDGET : SOTTO_OK);
    }
}

TEST(columns_are_fixed_once)
{
    const struct sotto_ledger_column whole = {0, 0, 1}, small = {.1, 0, .5}, none = {2, 0, 1};
    assert_int_equal(init_columns(budget, &none, 1), SOTTO_EDOMAIN);
    assert_int_equal(init_columns((struct sotto_dp){1, 0}, &whole, 1), SOTTO_EINVAL);
    assert_int_equal(init_columns(budget, &whole, 0), SOTTO_EINVAL);
    assert_int_not_equal(access(path, F_OK), 0);                              /* a refusal opens no ledger */
    assert_int_equal(mean("gaussian", .005, (struct sotto_dp){0}), SOTTO_OK); /* a ladder */
    assert_int_equal(init_columns((struct sotto_dp){.1, 1e-6}, &small, 1), SOTTO_EBUDGET);
    assert_int_equal(init_columns(budget, &whole, 1), SOTTO_OK); /* holds what was before */
    assert_int_equal(init_columns(budget, &small, 1), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "its columns are fixed, for good"));
    assert_int_equal(mean("gaussian", .001 / .125, budget), SOTTO_OK);
    assert_int_equal(mean("gaussian", .001 / .03, budget), SOTTO_EBUDGET);
}

static void fix_again(char *line, size_t index)
{
    if (index != 1)
        return;
    char *at = strstr(line, ",\"columns\":");
    assert_null(at);
    at = strstr(line, "\"sotto.ledger/1\"");
    assert_non_null(at);
    at[strlen("\"sotto.ledger/")] = '3';
    at = strstr(line, ",\"index\":");
    char rest[4096];
    snprintf(rest, sizeof rest, "%s", at);
    sprintf(at,
            ",\"columns\":{\"epsilon\":1.0,\"delta\":1e-6,\"boxes\":[{\"level\":1.0,\"box\":[9.0,9.0,0.5],"
            "\"spent\":[0.0,0.0,0.0]}]}%s",
            rest);
}

/* Forged: wider columns behind the first ones. */
TEST(a_line_that_fixes_them_again)
{
    const struct sotto_ledger_column whole = {0, 0, 1};
    char *at = NULL;
    assert_int_equal(init_columns(budget, &whole, 1), SOTTO_OK);
    assert_int_equal(sotto_ledger_init(&at, "toy", path, budget, NULL, &exercise, NULL), SOTTO_OK);
    sotto_text_free(at);
    struct ledger l = read_ledger();
    ledger_close(&l);
    rewrite(fix_again);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "so the ledger was changed"));
}

/* ---- what lines of before say, whose offers are not there to be checked ---- */

static void make_two_old(char *line, size_t index)
{
    if (index < 2)
        make_old(line, index);
}

/* The first column that lives. */
static void forge_spent(char *line, size_t index)
{
    char *at = index == forged.line ? strstr(line, "\"spent\":[") : NULL;
    if (at)
        forge_triple(at + strlen("\"spent\":"));
}

/* Two charges without columns, then one that opens them: what it says was spent is the least that the two need. */
TEST(columns_that_forget_what_was_spent)
{
    static const struct {
        const char *mechanism[3];
        double scale[2];
        int member; /* of a triple, which the two add up in */
    } kinds[] = {{{"gaussian", "gaussian", "gaussian"}, {.03, .05}, 1},
                 {{"laplace", "laplace", "laplace"}, {.01, .02}, 0},
                 {{"logistic", "laplace", "laplace"}, {.01, .02}, 0}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int step = -1; step <= 2; step++) {
            static const double times[] = {1 - 1e-6, 1, 1 + 1e-6, 0};
            struct ledger l;
            unlink(path);
            for (int i = 0; i < 2; i++)
                assert_int_equal(mean(kinds[k].mechanism[i], kinds[k].scale[i], (struct sotto_dp){0}),
                                 SOTTO_OK);
            rewrite(make_two_old);
            assert_int_equal(mean(kinds[k].mechanism[2], .05, budget), SOTTO_OK);
            forged.line = 3; /* behind two charges and the budget */
            forge(times[step + 1], 0, kinds[k].member);
            rewrite(forge_spent);
            const sotto_status status = ledger_read(&l, path);
            const bool less = times[step + 1] < 1;
            if (status != (less ? SOTTO_EFORMAT : SOTTO_OK) ||
                (less && !strstr(sotto_error_text(), "opens columns of which less is spent")))
                fail_msg("%s, times %g: %s", kinds[k].mechanism[0], times[step + 1], sotto_error_text());
            if (!less)
                ledger_close(&l);
        }
}

static struct {
    const char *member;
    double times;
} number;

static void forge_number(char *line, size_t index)
{
    char rest[16384], *at = index == 0 ? strstr(line, number.member) : NULL, *end;
    if (!at)
        return;
    at += strlen(number.member);
    const double x = strtod(at, &end);
    snprintf(rest, sizeof rest, "%s", end);
    sprintf(at, "%.17g%s", x * number.times, rest);
}

/* Whatever an entry records is at least what its own facts imply. The whole chain is forged, so nothing else tells. */
TEST(lines_that_record_less_than_their_facts)
{
    static const struct {
        const char *mechanism;
        struct sotto_dp target;
        const char *members[3];
    } kinds[] = {{"laplace", {.3, SOTTO_DELTA_PURE}, {"\"upper\":", "\"pure_epsilon\":", "\"zcdp_rho\":"}},
                 {"gaussian", {.3, 1e-7}, {"\"upper\":", "\"zcdp_rho\":"}},
                 {"logistic", {.3, 1e-7}, {"\"upper\":", "\"pure_epsilon\":", "\"zcdp_rho\":"}},
                 {"discrete-laplace", {.3, 1e-7}, {"\"upper\":", "\"pure_epsilon\":"}}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < 3 && kinds[k].members[i]; i++)
            for (int larger = 0; larger < 2; larger++) {
                struct ledger l;
                unlink(path);
                struct sotto_release r = {
                    .mechanism = kinds[k].mechanism,
                    .target = kinds[k].target,
                    .sensitivity = {.l1 = 1,
                                    .l2 = 1,
                                    .source = SOTTO_SENSITIVITY_PROVED,
                                    .value_step = k == 3},
                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
                float v[1] = {1};
                struct sotto_certificate *c = NULL;
                if (sotto_dp_release(&c, v, 1, &r, NULL) != SOTTO_OK)
                    fail_msg("%s", sotto_error_text());
                sotto_certificate_free(c);
                rewrite(make_old);
                number.member = "\"lower\":";
                number.times = 0;
                rewrite(forge_number);
                number.member = kinds[k].members[i];
                number.times = larger ? 1 + 1e-6 : 1 - 1e-6;
                rewrite(forge_number);
                const sotto_status status = ledger_read(&l, path);
                if (status != (larger ? SOTTO_OK : SOTTO_EFORMAT) ||
                    (!larger &&
                     !strstr(sotto_error_text(), "and its own mechanism, noise and sensitivity give")))
                    fail_msg("%s, %s times %g: %s", kinds[k].mechanism, number.member, number.times,
                             sotto_error_text());
                if (larger)
                    ledger_close(&l);
            }
}

TEST_GROUP(.before = make_folder, .after = remove_folder)

/* ---- budgets ---- */

static const char *raised; /* the member of the second line that is made larger */

static void raise_budget(char *line, size_t index)
{
    char *at = index == 1 && raised ? strstr(line, raised) : NULL;
    assert_true(at || index != 1 || !raised);
    if (at)
        at[strlen(raised) - 1] = '9';
}

/* Nobody writes a budget that is larger than the one before it. The control: the same lines, chained anew and not raised. */
TEST(a_budget_that_is_larger_than_the_one_before_it_was_forged)
{
    static const char *const members[] = {NULL, "\"epsilon\":1.5", "\"delta\":0.125"};
    for (size_t i = 0; i < 3; i++) {
        struct ledger l;
        char *at;
        unlink(path);
        for (int k = 0; k < 2; k++) {
            const struct sotto_dp limit = {k ? 1.5 : 1.75, k ? .125 : .1275};
            assert_int_equal(sotto_ledger_init(&at, "toy", path, limit, NULL, &exercise, NULL), SOTTO_OK);
            sotto_text_free(at);
        }
        raised = members[i];
        rewrite(raise_budget);
        assert_int_equal(ledger_read(&l, path), i == 0 ? SOTTO_OK : SOTTO_EFORMAT);
        assert_true(i == 0 || strstr(sotto_error_text(), "line 2: its budget of epsilon 1."));
        if (i == 0)
            ledger_close(&l);
    }
}
