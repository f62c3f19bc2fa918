/* src/core/dp/release/reserve.c, src/core/dp/ledger: a run that a limit of time stops costs the steps that it took; one that is stopped in
 * another way costs what it reserved. */
#include "support/test.h"
#include "support/account_memo.h"
#include "support/ledger_rewrite.h"
#include "base/file.h"
#include "dp/ledger/ledger_account.h"
#include "dp/release/charge_hint.h"
#include "dp/release/dpsgd_session.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 200, TAKEN = 30 };
static double noise = 2; /* multiplier */
static volatile sig_atomic_t stop;
static const struct sotto_context ctx = {.stop = &stop};

static struct sotto_dpsgd_request request_of(size_t first, const char *run)
{
    return (struct sotto_dpsgd_request){.sampled = {.mechanism = "gaussian",
                                                    .noise_multiplier = noise,
                                                    .sample_rate = 0.01,
                                                    .steps = STEPS - first,
                                                    .delta = 1e-5,
                                                    .adjacency = SOTTO_REPLACE_ONE},
                                        .max_grad_norm = 1,
                                        .dimension = 3,
                                        .first_step = first,
                                        .run = run,
                                        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
}

static struct sotto_dpsgd_session *started(size_t first, const char *run, size_t taken)
{
    const struct sotto_dpsgd_request r = request_of(first, run);
    struct sotto_dpsgd_session *s;
    uint32_t rows[4];
    double sum[3] = {0};
    size_t count;
    if (sotto_dp_reserve(&s, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    for (size_t i = 0; i < taken; i++) {
        assert_int_equal(sotto_dp_sample(s, rows, &count, 4), SOTTO_OK);
        assert_int_equal(sotto_dp_step(s, sum), SOTTO_OK);
    }
    return s;
}

/* How trainers end: with the status of the stop as the last failure. */
static void settle(struct sotto_dpsgd_session *s, int why)
{
    stop = why;
    assert_int_equal(context_check(&ctx, "stopped"), why ? SOTTO_ESTOPPED : SOTTO_OK);
    dpsgd_session_settle(s, &ctx);
    if (why)
        assert_string_equal(sotto_error_text(), "stopped");
    stop = 0;
}

static double total(void)
{
    struct ledger l;
    struct sotto_account a;
    if (ledger_read(&l, path) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(ledger_total_account(&a, &l, 1e-5, NULL), SOTTO_OK);
    ledger_close(&l);
    return a.epsilon.upper;
}

static double cost(size_t steps)
{
    struct sotto_sampled s = request_of(0, NULL).sampled;
    struct sotto_account a;
    s.steps = steps;
    assert_int_equal(sotto_account_sampled(&a, &s, NULL), SOTTO_OK);
    return a.epsilon.upper;
}

static bool about(double x, double y)
{
    return fabs(x / y - 1) < 1e-5;
}

TEST(a_limit_of_time_costs_what_was_done)
{
    struct sotto_dpsgd_session *s = started(0, NULL, TAKEN);
    uint32_t rows[4];
    size_t count;
    assert_true(about(total(), cost(STEPS)));
    dpsgd_session_settle(NULL, &ctx); /* nothing to settle, and nobody who stopped it */
    dpsgd_session_settle(s, NULL);
    dpsgd_session_settle(s, &(struct sotto_context){0});
    assert_true(about(total(), cost(STEPS)));
    settle(s, SOTTO_STOP_BY_TIME);
    assert_true(about(total(), cost(TAKEN)) && cost(TAKEN) < 0.8 * cost(STEPS));
    assert_int_equal(sotto_dp_sample(s, rows, &count, 4), SOTTO_EBUDGET); /* it cannot go on */
    settle(s, SOTTO_STOP_BY_TIME);
    assert_true(about(total(), cost(TAKEN)));
    sotto_dpsgd_session_close(s);
}

static void note(void *user, enum sotto_log_level level, const char *text)
{
    (void)level;
    snprintf(user, 256, "%s", text);
}

TEST(a_settlement_that_cannot_be_written_is_said)
{
    char told[256] = "";
    const struct sotto_context telling = {.stop = &stop, .log = note, .user = told};
    struct sotto_dpsgd_session *s = started(0, NULL, 1);
    assert_int_equal(unlink(path) | mkdir(path, 0700), 0);
    stop = SOTTO_STOP_BY_TIME;
    dpsgd_session_settle(s, &telling);
    stop = 0;
    assert_non_null(
        strstr(told, "the steps that were not taken stay charged, as the ledger could not be told: "));
    sotto_dpsgd_session_close(s);
}

/* The first column took one of the offers, or none. */
static void of_other_offer(char *line, size_t index)
{
    char *at = index == 1 ? strstr(line, "\"took\":[") + strlen("\"took\":[") : NULL, rest[16384];
    if (at) {
        strcpy(rest, strchr(at, ','));
        sprintf(at, "%s%s", *at == 'n' ? "0" : "null", rest);
    }
}

TEST(a_settlement_of_other_columns_is_refused)
{
    struct ledger l;
    struct sotto_dpsgd_session *s = started(0, NULL, 3);
    settle(s, SOTTO_STOP_BY_TIME);
    sotto_dpsgd_session_close(s);
    rewrite(of_other_offer);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), "line 2: what it says of 'any_order' does not fit"))
        fail_msg("%s", sotto_error_text());
}

static void of_less_epsilon(char *line, size_t index)
{
    char *at = index == 0 ? strstr(line, "\"epsilon\":{") : NULL, rest[16384];
    if (at) {
        strcpy(rest, at + 11);
        sprintf(at, "\"epsilon\":{\"lower\":0.0,\"upper\":0.5},\"was\":{%s", rest);
    }
}

/* Every record in both steps: Gaussians add up, and less than their epsilon is no account. */
TEST(steps_of_all_records_have_a_formula)
{
    for (int adjacency = 0; adjacency < 2; adjacency++) {
        struct ledger l;
        struct sotto_dpsgd_session *s;
        struct sotto_dpsgd_request r = request_of(0, NULL);
        unlink(path);
        r.sampled.sample_rate = 1;
        r.sampled.steps = 2;
        r.sampled.adjacency = adjacency ? SOTTO_ZERO_OUT : SOTTO_REPLACE_ONE;
        assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
        sotto_dpsgd_session_close(s);
        assert_int_equal(ledger_read(&l, path), SOTTO_OK);
        ledger_close(&l);
        rewrite(of_less_epsilon);
        assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
        assert_non_null(strstr(sotto_error_text(), "epsilon 0.5"));
    }
}

/* What an error says behind the charge when there is no memory for the certificate. */
TEST(a_charge_is_named_without_memory)
{
    struct sotto_dpsgd_session *s = started(0, NULL, 1);
    char expected[64];
    (void)status_fail(SOTTO_EIO, "a disk");
    base_alloc_fail_after(0);
    charge_name_steps(s, "go on");
    base_alloc_fail_after(-1);
    assert_string_equal(sotto_error_text(), "a disk");
    snprintf(expected, sizeof expected, "charge %.16s... of the ledger; go on", dpsgd_session_entry(s));
    assert_non_null(strstr(sotto_error_hint(), expected));
    sotto_dpsgd_session_close(s);
}

static void assert_shown(const char *in_table, const char *in_json)
{
    char *table, *json;
    assert_int_equal(sotto_ledger_table(&table, path, NULL), SOTTO_OK);
    assert_int_equal(sotto_ledger_show(&json, path, NULL), SOTTO_OK);
    if (!strstr(table, in_table) || !strstr(json, in_json))
        fail_msg("%s, %s: %s%s", in_table, in_json, table, json);
    sotto_text_free(table);
    sotto_text_free(json);
}

TEST(what_is_shown_of_some_charges)
{
    char *made;
    float v[1] = {0};
    struct sotto_certificate *c;
    struct sotto_release seeded = release_of(9);
    struct sotto_dpsgd_session *s = started(0, NULL, 3);
    settle(s, SOTTO_STOP_BY_TIME);
    sotto_dpsgd_session_close(s);
    assert_int_equal(
        sotto_ledger_init(&made, "toy", path, (struct sotto_dp){50, 1e-4}, "the office", &exercise, NULL),
        SOTTO_OK);
    sotto_text_free(made);
    assert_int_equal(release_once(9), SOTTO_OK);
    assert_shown("(settled: 3 steps)", "\"steps\": 3");
    assert_shown("; from charge 1 on: what was before counts as chosen beforehand", "\"from_charge\": 1");
    seeded.spend.insecure = 1;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sotto_dp_release(&c, v, 1, &seeded, NULL), SOTTO_OK);
    charge_name_certificate(c, "go on");
    assert_string_equal(sotto_error_hint(), "privacy was charged: charge 0 of the ledger; go on");
    sotto_certificate_free(c);
    assert_shown("1 of its releases used seeded noise, which gives no guarantee\n",
                 "\"noise\": \"seeded: no guarantee\"");
}

/* Steps of before and behind a stop are charged one by one, so a run that is stopped needs more than one that is not; without
 * the settling it needed three times what it reserves. */
TEST(the_run_goes_on_inside_its_budget)
{
    struct sotto_certificate *c;
    struct ledger l;
    char run[RUN_ID + 1];
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(ledger_set_budget(&l, (struct sotto_dp){cost(STEPS) * 1.5, 1e-5}, NULL, NULL, 0, NULL),
                     SOTTO_OK);
    ledger_close(&l);
    struct sotto_dpsgd_session *s = started(0, NULL, TAKEN);
    strcpy(run, sotto_dpsgd_session_run(s));
    settle(s, SOTTO_STOP_BY_TIME);
    sotto_dpsgd_session_close(s);
    s = started(TAKEN, run, TAKEN); /* twice */
    settle(s, SOTTO_STOP_BY_TIME);
    sotto_dpsgd_session_close(s);
    s = started(2 * TAKEN, run, STEPS - 2 * TAKEN);
    assert_true(about(total(), cost(STEPS)));
    assert_int_equal(sotto_dpsgd_session_certificate(&c, s), SOTTO_OK);
    assert_true(about(sotto_certificate_account(c)->epsilon.upper, cost(STEPS)));
    sotto_certificate_free(c);
    sotto_dpsgd_session_close(s);
}

/* Reserved with a pure part and a Gaussian beside it: fewer steps need less of the Gaussian. */
/* The columns hold what its charges take one after another, as they are settled now. */
static void assert_columns_add_up(void)
{
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    struct adaptive_columns c = l.opened.columns;
    for (size_t i = l.columns_from; i < l.charges; i++) {
        const struct any_order *a = &l.items[i].any_order;
        assert_true(adaptive_columns_take(&c, a->offer, a->offers, a->took));
    }
    assert_true(c.count > 0 && c.count == l.columns.count);
    assert_memory_equal(&c, &l.columns, sizeof c);
    ledger_close(&l);
}

TEST(runs_are_settled_in_any_order)
{
    struct sotto_dpsgd_session *runs[3];
    for (int i = 0; i < 3; i++)
        runs[i] = started(0, NULL, TAKEN);
    assert_columns_add_up();
    for (int i = 0; i < 3; i++) {
        settle(runs[(i + 1) % 3], SOTTO_STOP_BY_TIME); /* the second, the last, the first */
        assert_columns_add_up();
    }
    for (int i = 0; i < 3; i++)
        sotto_dpsgd_session_close(runs[i]);
}

TEST(a_run_that_took_a_pure_part_is_settled_too)
{
    noise = 1; /* so large a shift that no Gaussian alone fits */
    const double whole = cost(STEPS);
    const struct sotto_ledger_column column = {.8 * whole, 1e-6, 1};
    struct ledger l;
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(ledger_set_budget(&l, (struct sotto_dp){1.5 * whole, 1e-5}, NULL, &column, 1, NULL),
                     SOTTO_OK);
    ledger_close(&l);
    struct sotto_dpsgd_session *s = started(0, NULL, TAKEN);
    struct adaptive spent[2];
    for (int i = 0; i < 2; i++) {
        if (ledger_read(&l, path) != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        assert_true(l.columns.count == 2 && !l.columns.column[1].dead);
        spent[i] = adaptive_column_spent(&l.columns.column[1]);
        ledger_close(&l);
        settle(s, i ? 0 : SOTTO_STOP_BY_TIME);
    }
    assert_true(spent[0].pure > 0 && spent[0].square > 0 && spent[1].pure == spent[0].pure);
    assert_true(spent[1].square < .7 * spent[0].square && spent[1].failure <= spent[0].failure);
    sotto_dpsgd_session_close(s);
    noise = 2;
}

/* Controls: by hand (1, or the number of a signal), not stopped at all, killed. */
TEST(any_other_stop_costs_what_was_reserved)
{
    static const int ways[] = {1, SIGTERM, 0};
    char run[RUN_ID + 1];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct sotto_dpsgd_session *s = started(0, NULL, TAKEN);
        strcpy(run, sotto_dpsgd_session_run(s));
        settle(s, ways[i]);
        sotto_dpsgd_session_close(s);
        assert_true(total() > 0.99 * cost((i + 1) * STEPS));
    }
    struct ledger l; /* and the same command does not fit any more */
    const double spent = total();
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(ledger_set_budget(&l, (struct sotto_dp){spent * 1.01, 1e-5}, NULL, NULL, 0, NULL),
                     SOTTO_OK);
    ledger_close(&l);
    const struct sotto_dpsgd_request r = request_of(TAKEN, run);
    struct sotto_dpsgd_session *s;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_EBUDGET);
}

TEST(no_step_was_taken)
{
    struct sotto_dpsgd_session *s = started(0, NULL, 0);
    settle(s, SOTTO_STOP_BY_TIME);
    assert_true(about(total(), cost(1))); /* one step at least */
    sotto_dpsgd_session_close(s);
    s = started(0, NULL, STEPS); /* and a whole run has nothing to settle */
    const double whole = total();
    settle(s, SOTTO_STOP_BY_TIME);
    assert_true(total() == whole);
    sotto_dpsgd_session_close(s);
}

/* ---- lines that settle what they may not ---- */

static sotto_status append(const char *run, const char *entry, size_t steps, double epsilon)
{
    struct ledger l;
    char *line;
    const struct ledger_settlement s = {run, entry, steps};
    const struct sotto_account a = {.epsilon = {0, epsilon},
                                    .pure_epsilon = NAN,
                                    .zcdp_rho = NAN,
                                    .delta = 1e-5,
                                    .adjacency = SOTTO_REPLACE_ONE,
                                    .accountant = "toy"};
    assert_int_equal(ledger_settlement_encode(&line, &s, &a, NULL), SOTTO_OK);
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    const sotto_status status = ledger_append(&l, line);
    ledger_close(&l);
    sotto_text_free(line);
    return status;
}

static void refused(const char *run, const char *entry, size_t steps)
{
    unsigned char *before;
    size_t size;
    struct ledger l;
    assert_int_equal(file_read(&before, &size, path, 1 << 20), SOTTO_OK);
    assert_int_equal(append(run, entry, steps, 0), SOTTO_EFORMAT);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT); /* nor when it is read */
    assert_non_null(strstr(sotto_error_text(), "settles no reservation that is open"));
    unlink(path);
    assert_int_equal(file_write(path, before, size), SOTTO_OK);
    base_free(before);
}

TEST(nothing_else_can_be_settled)
{
    char run[RUN_ID + 1], first[65], second[65], other[65];
    struct sotto_dpsgd_session *s = started(0, NULL, TAKEN);
    strcpy(run, sotto_dpsgd_session_run(s));
    strcpy(first, dpsgd_session_entry(s));
    sotto_dpsgd_session_close(s);
    s = started(TAKEN, run, 1);
    strcpy(second, dpsgd_session_entry(s));
    sotto_dpsgd_session_close(s);
    memset(other, 'a', 64);
    other[64] = '\0';
    refused(run, first, TAKEN); /* not the last of its run */
    refused(run, other, TAKEN);
    refused("00000000000000000000000000000000", second, TAKEN);
    refused("", second, TAKEN);
    refused(run, second, STEPS - TAKEN + 1); /* more than was reserved */
    refused(run, second, 0);
    assert_int_equal(append(run, second, 5, cost(5)), SOTTO_OK);
    refused(run, second, 4); /* twice */
    refused(run, first, 4);
    assert_true(about(total(), cost(STEPS + 5)));
}

TEST_GROUP(.shards = 4, .start = remember_accounts, .before = make_folder, .after = remove_folder,
           .tags = "long")
