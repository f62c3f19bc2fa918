/* src/core/dp/ledger/ledger_columns.c: columns that `sotto ledger init` fixes, and what may still replace them. */
#include "support/test.h"
#include "support/ledger_folder.h"
#include "base/file.h"
#include "dp/ledger/ledger_account.h"

static const struct sotto_dp budget = {1, 1e-6};

static sotto_status release(const char *mechanism, double epsilon, double delta)
{
    const struct sotto_release r = {.mechanism = mechanism,
                                    .target = {epsilon, delta},
                                    .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
    float v[1] = {.5f};
    struct sotto_certificate *c = NULL;
    const sotto_status status = sotto_dp_release(&c, v, 1, &r, NULL);
    sotto_certificate_free(c);
    return status;
}

static sotto_status init(struct sotto_dp b, const struct sotto_ledger_column *own)
{
    char *at = NULL;
    const sotto_status status =
        own ? sotto_ledger_init_columns(&at, "toy", path, b, own, 1, NULL, &exercise, NULL)
            : sotto_ledger_init(&at, "toy", path, b, NULL, &exercise, NULL);
    sotto_text_free(at);
    return status;
}

/* How many lines of the ledger fix columns, and how many columns there are. */
static void expect(size_t lines, size_t columns)
{
    struct ledger l;
    unsigned char *text;
    size_t size, found = 0;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(file_read(&text, &size, path, 1 << 20), SOTTO_OK);
    for (const char *at = (char *)text; (at = strstr(at, "\"columns\":")); at++)
        found++;
    if (found != lines || l.columns.count != columns)
        fail_msg("%zu lines fix columns, of which there are %zu; expected %zu and %zu", found,
                 l.columns.count, lines, columns);
    base_free(text);
    ledger_close(&l);
}

TEST(a_budget_comes_with_its_columns)
{
    assert_int_equal(init(budget, NULL), SOTTO_OK);
    expect(1, 2);
    assert_int_equal(release("gaussian", .5, 1e-6), SOTTO_OK);
    assert_int_equal(release("laplace", .5, SOTTO_DELTA_PURE), SOTTO_EBUDGET);
    expect(1, 2);
}

TEST(a_pure_budget_has_one)
{
    assert_int_equal(init((struct sotto_dp){1, 0}, NULL), SOTTO_OK);
    expect(1, 1);
    assert_int_equal(release("laplace", 1, SOTTO_DELTA_PURE), SOTTO_OK);
    expect(1, 1);
}

/* It takes the place of the default ones, and nothing takes its own. */
TEST(a_first_release_of_the_whole_budget)
{
    assert_int_equal(init(budget, NULL), SOTTO_OK);
    assert_int_equal(release("gaussian", 1, 1e-6), SOTTO_OK);
    expect(2, 1);
    assert_int_equal(release("laplace", .01, SOTTO_DELTA_PURE), SOTTO_EBUDGET);
    assert_int_equal(init(budget, &(struct sotto_ledger_column){0, 0, 1}), SOTTO_EBUDGET);
    expect(2, 1);
}

TEST(a_second_one_finds_them_fixed)
{
    assert_int_equal(init(budget, NULL), SOTTO_OK);
    assert_int_equal(release("laplace", .001, SOTTO_DELTA_PURE), SOTTO_OK);
    assert_int_equal(release("gaussian", 1, 1e-6), SOTTO_EBUDGET);
    expect(1, 2);
}

TEST(an_officers_own_are_not_replaced)
{
    const struct sotto_ledger_column own = {.3, 1e-8, 1};
    assert_int_equal(init(budget, &own), SOTTO_OK);
    assert_int_equal(release("gaussian", 1, 1e-6), SOTTO_EBUDGET);
    assert_int_equal(init((struct sotto_dp){.9, 1e-6}, NULL), SOTTO_OK); /* nor by a smaller budget */
    expect(1, 2);
    assert_int_equal(release("laplace", .2, SOTTO_DELTA_PURE), SOTTO_OK);
    expect(1, 2);
}

TEST(an_officer_may_think_again_before_the_first_charge)
{
    const struct sotto_ledger_column own = {.3, 1e-8, 1};
    assert_int_equal(init(budget, NULL), SOTTO_OK);
    assert_int_equal(init(budget, NULL), SOTTO_OK);
    expect(1, 2);
    assert_int_equal(init(budget, &own), SOTTO_OK);
    expect(2, 2);
    assert_int_equal(release("laplace", .2, SOTTO_DELTA_PURE), SOTTO_OK);
    assert_int_equal(init(budget, &own), SOTTO_EBUDGET);
    expect(2, 2);
}

/* A budget for what the default columns cannot hold leaves them to the next charge, as ever. */
TEST(a_budget_behind_a_stated_pair)
{
    const struct sotto_release r = {.mechanism = "gaussian",
                                    .target = {1, 1e-6},
                                    .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
    float v[1] = {.5f};
    struct sotto_certificate *c = NULL;
    assert_int_equal(sotto_dp_release(&c, v, 1, &r, NULL), SOTTO_OK);
    sotto_certificate_free(c);
    assert_int_equal(init((struct sotto_dp){.5, 1e-6}, NULL), SOTTO_OK);
    assert_int_equal(release("laplace", .1, SOTTO_DELTA_PURE), SOTTO_EBUDGET);
    assert_int_equal(init((struct sotto_dp){.4, 1e-6}, NULL), SOTTO_OK);
}

/* Of each charge what it took, and which columns are dead. */
TEST(what_was_taken_is_shown)
{
    char *text;
    assert_int_equal(init(budget, NULL), SOTTO_OK);
    assert_int_equal(release("laplace", .3, SOTTO_DELTA_PURE), SOTTO_OK);
    assert_int_equal(sotto_ledger_table(&text, path, NULL), SOTTO_OK);
    assert_non_null(strstr(text, "takes (pure, mu, failure)"));
    assert_non_null(strstr(text, "  (0.3, 0, 0)\n"));
    assert_non_null(strstr(text, "failure 1e-07) is dead: a charge did not fit into it"));
    sotto_text_free(text);
    assert_int_equal(sotto_ledger_show(&text, path, NULL), SOTTO_OK);
    assert_non_null(strstr(text, "\"takes\""));
    sotto_text_free(text);
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
