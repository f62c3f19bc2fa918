/* src/core/dp/ledger/ledger_events.c, ledger_account.c, ledger_import.c: entries composed by their own mechanisms, what
 * cannot be taken again, adjacency, imports, budgets. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/account_memo.h"
#include "support/exercise.h"
#include "base/file.h"
#include "dp/certificate/certificate.h"
#include "dp/ledger/ledger_account.h"
#include "io/json/json.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/l.jsonl", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Appends an entry from JSON text; the numbers that every entry has are added where they are missing. */
static sotto_status append(const char *text)
{
    struct ledger l;
    struct json *entry;
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(json_parse(&entry, text, strlen(text), "entry"), SOTTO_OK);
    json_put_text(&entry, "schema", "sotto.ledger/1");
    json_put_text(&entry, "event", "release");
    if (!json_find(entry, "sampler"))
        json_put_text(&entry, "sampler", "exact");
    if (!json_find(entry, "dimension"))
        json_put_integer(&entry, "dimension", 1);
    if (!json_find(entry, "scale"))
        json_put_real(&entry, "scale", 1);
    if (!json_find(entry, "sensitivity")) {
        struct json *s = json_make_object();
        json_put_real(&s, "l1", 1);
        json_put_real(&s, "l2", 1);
        json_put_text(&s, "source", "proved");
        json_put(&entry, "sensitivity", s);
    }
    if (!json_find(entry, "randomness"))
        json_put_text(&entry, "randomness", "os");
    if (!json_find(entry, "pure_epsilon"))
        json_put(&entry, "pure_epsilon", json_make_null());
    if (!json_find(entry, "zcdp_rho"))
        json_put(&entry, "zcdp_rho", json_make_null());
    if (!json_find(entry, "epsilon")) {
        struct json *e = json_make_object();
        json_put_real(&e, "upper", json_number(json_find(entry, "pure_epsilon"))); /* NAN: null */
        json_put(&entry, "epsilon", e);
    }
    if (!json_find(entry, "delta"))
        json_put_real(&entry, "delta", 0);
    char *line;
    assert_int_equal(json_dump(&line, entry, JSON_LINE), SOTTO_OK);
    sotto_status status = ledger_append(&l, line);
    sotto_text_free(line);
    json_free(entry);
    ledger_close(&l);
    return status;
}

static struct sotto_account proved_at(double delta)
{
    struct ledger l;
    struct sotto_account a;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(
        ledger_column_account(&a, &sums_of(&l)->proved, &sums_of(&l)->proved_events, delta, NULL), SOTTO_OK);
    ledger_close(&l);
    return a;
}

TEST(different_releases_compose_tightly)
{
    for (int i = 0; i < 5; i++) {
        assert_int_equal(append("{\"mechanism\":\"gaussian\",\"scale\":5,\"dimension\":1}"), SOTTO_OK);
        assert_int_equal(append("{\"mechanism\":\"logistic\",\"scale\":5,\"dimension\":1}"), SOTTO_OK);
    }
    struct sotto_event events[2] = {
        {.mechanism = "gaussian", .count = 5, .scale = 5, .l1 = 1, .l2 = 1, .dimension = 1},
        {.mechanism = "logistic", .count = 5, .scale = 5, .l1 = 1, .l2 = 1, .dimension = 1}};
    struct sotto_account want, got = proved_at(1e-5);
    assert_int_equal(sotto_account_events(&want, events, 2, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    if (!(fabs(got.epsilon.upper - want.epsilon.upper) <= 2e-3 * want.epsilon.upper))
        fail_msg("%.17g, expected %.17g", got.epsilon.upper, want.epsilon.upper);
    assert_true(got.epsilon.lower > 0.9 * got.epsilon.upper);
}

TEST(what_cannot_be_taken_again_is_a_statement)
{
    /* an unknown mechanism, the sampler of constant time, whole steps without their step; absurd facts are refused */
    assert_int_equal(append("{\"mechanism\":\"future\",\"pure_epsilon\":0.5}"), SOTTO_OK);
    assert_true(fabs(proved_at(0).epsilon.upper - 0.5) < 1e-12);
    assert_int_equal(
        append("{\"mechanism\":\"laplace\",\"scale\":4,\"dimension\":1,\"sampler\":\"" FIXED_SAMPLER
               ", and so on\",\"epsilon\":{\"upper\":0.25},\"delta\":1e-6}"),
        SOTTO_OK);
    assert_true(isinf(proved_at(0).epsilon.upper) && isinf(proved_at(5e-7).epsilon.upper));
    assert_true(fabs(proved_at(1e-6).epsilon.upper - 0.75) < 1e-9);
    assert_int_equal(
        append("{\"mechanism\":\"discrete-laplace\",\"scale\":4,\"dimension\":1,\"pure_epsilon\":0.25}"),
        SOTTO_OK);
    assert_true(fabs(proved_at(1e-6).epsilon.upper - 1) < 1e-9);
    /* with its step it is taken again */
    assert_int_equal(
        append("{\"mechanism\":\"discrete-laplace\",\"scale\":4,\"dimension\":1,\"value_step\":1}"),
        SOTTO_OK);
    double all = proved_at(2e-6).epsilon.upper;
    assert_true(all <= 1.25 + 1e-9 && all > 0.95);
    assert_int_equal(append("{\"mechanism\":\"future\"}"), SOTTO_OK); /* no bound at all */
    struct sotto_account a = proved_at(2e-6);
    assert_true(isinf(a.epsilon.upper) && strcmp(a.accountant, "no bound") == 0);
    assert_int_equal(
        append("{\"mechanism\":\"laplace\",\"scale\":-4,\"dimension\":-1,\"pure_epsilon\":0.25}"),
        SOTTO_EFORMAT);
}

TEST(adjacency_is_converted_and_said)
{
    char *json;
    assert_int_equal(
        append(
            "{\"mechanism\":\"future\",\"pure_epsilon\":0.5,\"zcdp_rho\":0.125,\"adjacency\":\"add-remove\","
            "\"epsilon\":{\"upper\":0.5},\"delta\":0}"),
        SOTTO_OK);
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_true(fabs(sums_of(&l)->proved.pure.high - 1) < 1e-12 &&
                fabs(sums_of(&l)->proved.rho - 0.5) < 1e-12);
    assert_true(fabs(sums_of(&l)->proved.epsilon.high - 1) < 1e-12 && sums_of(&l)->proved.delta.high == 0);
    ledger_close(&l);
    assert_true(fabs(proved_at(0).epsilon.upper - 1) < 1e-12);
    assert_int_equal(sotto_ledger_account(&json, path, 1e-5, NULL), SOTTO_OK);
    assert_non_null(strstr(json, "\"converted\": \"add-remove entries count as a group of two"));
    assert_non_null(strstr(json, "\"adjacency\": \"replace-one\""));
    sotto_text_free(json);
}

TEST(imports_are_conditional)
{
    char file[128], *json;
    struct ledger l;
    snprintf(file, sizeof file, "%s/o.json", folder);
    static const char text[] = "{\"history\":[[1.5,0.04,2250],[2,0.01,100]],\"mechanism\":\"prv\"}";
    assert_int_equal(file_write(file, text, strlen(text)), SOTTO_OK);
    assert_int_equal(append("{\"mechanism\":\"laplace\",\"scale\":4,\"dimension\":1}"), SOTTO_OK);
    double alone = proved_at(1e-5).epsilon.upper;
    assert_int_equal(sotto_ledger_import_opacus(path, file, 1e-5, NULL), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_true(l.imported == 2 && sums_of(&l)->conditional.releases == 2 &&
                sums_of(&l)->proved.releases == 1 && l.seeded == 0);
    assert_int_equal(sums_of(&l)->conditional_events.add_remove, 2);
    ledger_close(&l);
    assert_true(proved_at(1e-5).epsilon.upper == alone); /* columns never mix */
    assert_int_equal(sotto_ledger_account(&json, path, 1e-5, NULL), SOTTO_OK);
    assert_non_null(strstr(json, "\"proved\": \"none\""));
    assert_non_null(strstr(json, "\"imported\": 2"));
    sotto_text_free(json);
    /* refused files leave the ledger as it was */
    assert_int_equal(file_write(file, "[[1,2,3]]", 9), SOTTO_OK);
    assert_int_equal(sotto_ledger_import_opacus(path, file, 1e-5, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_ledger_import_opacus(path, file, 2, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_ledger_import_opacus(path, "/dev/null/x", 1e-5, NULL), SOTTO_ENOENT);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.entries, 3);
    ledger_close(&l);
}

/* Ten Gaussian releases fit into a budget by composition that they exceed when their zCDP is added up. */
TEST(budgets_are_checked_by_composition)
{
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 1, .dimension = 1};
    struct sotto_account a;
    assert_int_equal(sotto_account_release(&a, "gaussian", 5, &s, 1e-5, 10, NULL), SOTTO_OK);
    double budget = a.epsilon.upper * 1.007 /* a tenth of delta is kept for failures */,
           zcdp = a.bounds[a.bound_count - 1].epsilon;
    assert_true(zcdp > budget);
    struct sotto_release r = {
        .mechanism = "gaussian",
        .scale = 5,
        .target = {NAN, 1e-5},
        .sensitivity = {.l1 = NAN, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = {budget, 1e-5}}};
    for (int i = 0; i < 11; i++) {
        float v[1] = {1};
        struct sotto_certificate *certificate = NULL;
        sotto_status status = sotto_dp_release(&certificate, v, 1, &r, NULL);
        if (status != (i < 10 ? SOTTO_OK : SOTTO_EBUDGET))
            fail_msg("release %d: %s", i, sotto_error_text());
        sotto_certificate_free(certificate);
    }
    assert_non_null(strstr(sotto_error_text(), "with this release"));
}

/* A release with a sampled sensitivity counts against the budget of a proved one. */
TEST(both_columns_count_against_a_budget)
{
    struct sotto_release r = {
        .mechanism = "laplace",
        .scale = 1,
        .target = {NAN, SOTTO_DELTA_PURE},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_SAMPLED},
        .spend = {
            .dataset_id = "toy", .source = &exercise, .ledger = path, .budget = {1.5, SOTTO_DELTA_PURE}}};
    float v[1] = {1};
    struct sotto_certificate *certificate = NULL;
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_OK);
    sotto_certificate_free(certificate);
    r.sensitivity.source = SOTTO_SENSITIVITY_PROVED;
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "spent 1, with this release 2"));
}

TEST(allocation_failures_are_reported)
{
    assert_int_equal(append("{\"mechanism\":\"laplace\",\"scale\":4,\"dimension\":1}"), SOTTO_OK);
    assert_int_equal(append("{\"mechanism\":\"future\",\"pure_epsilon\":0.5}"), SOTTO_OK);
    sotto_status status = SOTTO_ENOMEM;
    int n;
    for (n = 0; status != SOTTO_OK && n < 500; n++) {
        char *json = NULL;
        base_alloc_fail_after(n);
        status = sotto_ledger_account(&json, path, 0, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || (status == SOTTO_ENOMEM && !json));
        sotto_text_free(json);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 5);
}

/* A file that cannot be written down completely leaves whole entries only. */
TEST(import_without_memory)
{
    remember_accounts();
    char file[128];
    snprintf(file, sizeof file, "%s/o.json", folder);
    assert_int_equal(file_write(file, "[[1.5,0.04,250],[2,0.01,100]]", 29), SOTTO_OK);
    sotto_status status = SOTTO_ENOMEM;
    int n;
    for (n = 0; status != SOTTO_OK && n < 500; n++) {
        struct ledger l;
        unlink(path);
        base_alloc_fail_after(n);
        status = sotto_ledger_import_opacus(path, file, 0, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
        if (ledger_read(&l, path) == SOTTO_OK) {
            assert_true(status == SOTTO_OK ? l.entries == 2 : l.entries <= 2);
            ledger_close(&l);
        }
    }
    assert_true(status == SOTTO_OK && n > 5);
}

/* Budget, seeded noise, and the files of events: what the account prints. */
TEST(what_is_printed)
{
    char *json, file[128];
    struct ledger l;
    struct sotto_account a;
    struct ledger_line entry;
    char *line;
    assert_int_equal(append("{\"mechanism\":\"laplace\",\"scale\":4,\"dimension\":1}"), SOTTO_OK);
    assert_int_equal(ledger_budget_encode(&line, &(struct budget_entry){.budget = {0.4, 0}}), SOTTO_OK);
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(ledger_append(&l, line), SOTTO_OK);
    sotto_text_free(line);
    /* without memory the budget refuses for that reason, never lets pass */
    static const char laplace[] = "{\"mechanism\":\"laplace\",\"scale\":4,\"sensitivity\":{\"l1\":1}}";
    assert_int_equal(ledger_line_parse(&entry, laplace, strlen(laplace), "entry"), SOTTO_OK);
    const struct ledger_charge charge = ledger_line_charge(&entry);
    a = (struct sotto_account){.pure_epsilon = 0.25, .zcdp_rho = NAN, .epsilon = {0, 0.25}};
    sotto_status status = SOTTO_ENOMEM;
    for (int n = 0; status == SOTTO_ENOMEM && n < 100; n++) {
        base_alloc_fail_after(n);
        status = ledger_check_budget(NULL, &l, &a, &charge);
        base_alloc_fail_after(-1);
    }
    assert_int_equal(status, SOTTO_EBUDGET);
    ledger_line_free(&entry);
    ledger_close(&l);
    assert_int_equal(
        append("{\"mechanism\":\"laplace\",\"scale\":4,\"dimension\":1,\"randomness\":\"seeded\"}"),
        SOTTO_OK);
    assert_int_equal(sotto_ledger_account(&json, path, 0, NULL), SOTTO_OK);
    assert_non_null(strstr(json, "\"proved\": \"none\""));
    assert_non_null(strstr(json, "\"together\": \"none\""));
    assert_non_null(strstr(json, "\"seeded_releases\": 1"));
    assert_non_null(strstr(json, "\"epsilon\": 0.40000000000000002"));
    assert_null(strstr(json, "converted"));
    sotto_text_free(json);
    assert_int_equal(sotto_ledger_account(&json, path, 1, NULL), SOTTO_EINVAL);
    snprintf(file, sizeof file, "%s/e.json", folder);
    static const char good[] =
        "[{\"mechanism\":\"laplace\",\"scale\":4,\"l1\":1,\"adjacency\":\"replace-one\"}]";
    assert_int_equal(file_write(file, good, strlen(good)), SOTTO_OK);
    assert_int_equal(sotto_account_events_file(&a, file, 0, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper == 0.25);
    assert_int_equal(sotto_account_events_file(&a, file, 0, SOTTO_ADD_REMOVE, NULL), SOTTO_ENOTSUP);
    assert_non_null(strstr(sotto_error_text(), "e.json: events[0]: a guarantee under replace-one adjacency"));
    assert_int_equal(sotto_account_opacus_file(&a, file, 0, SOTTO_ADD_REMOVE, NULL), SOTTO_EFORMAT);
}

/* ---- everything together ---- */

static double total_at(double delta)
{
    struct ledger l;
    struct sotto_account a;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(ledger_total_account(&a, &l, delta, NULL), SOTTO_OK);
    ledger_close(&l);
    return a.epsilon.upper;
}

/* What sotto_ledger_account() says: "together", or INFINITY for "none". */
static double told_at(double delta)
{
    char *text;
    struct json *doc;
    assert_int_equal(sotto_ledger_account(&text, path, delta, NULL), SOTTO_OK);
    assert_int_equal(json_parse(&doc, text, strlen(text), "account"), SOTTO_OK);
    const double told = json_number(json_find(doc, "together.epsilon"));
    const bool none =
        json_text(json_find(doc, "together")) && !strcmp(json_text(json_find(doc, "together")), "none");
    sotto_text_free(text);
    json_free(doc);
    return none ? INFINITY : told;
}

/* Mixed ledgers: proved and conditional, of several mechanisms. A total is at least each entry's epsilon and grows with
 * every entry, whoever tells it. */
TEST(a_total_is_at_least_each_entry_and_grows)
{
    static const char *const sources[] = {"proved", "clipped", "given", "sampled"};
    static const char *const mechanisms[] = {"laplace", "logistic"};
    uint64_t state = 44;
    for (int ledger = 0; ledger < 6; ledger++) {
        double largest = 0, before = 0;
        unlink(path);
        for (int i = 0; i < 7; i++) {
            char text[256];
            state = state * 6364136223846793005u + 1442695040888963407u;
            const double scale = 1 + (double)(state >> 60) * 1.5;
            struct sotto_sensitivity one = {.l1 = 1, .l2 = 1};
            struct sotto_account a;
            const char *mechanism = mechanisms[(state >> 40) & 1];
            assert_int_equal(sotto_account_release(&a, mechanism, scale, &one, 0, 1, NULL), SOTTO_OK);
            snprintf(text, sizeof text,
                     "{\"mechanism\":\"%s\",\"scale\":%.17g,\"dimension\":1,\"pure_epsilon\":%.17g,"
                     "\"sensitivity\":{\"l1\":1,\"l2\":1,\"source\":\"%s\"}}",
                     mechanism, scale, a.pure_epsilon, sources[(state >> 50) & 3]);
            assert_int_equal(append(text), SOTTO_OK);
            largest = fmax(largest, a.epsilon.lower);
            const double total = total_at(0);
            assert_true(total >= largest && total > before);
            assert_true(told_at(0) == total);
            before = total;
        }
        assert_int_equal(
            append("{\"mechanism\":\"laplace\",\"scale\":4,\"dimension\":1,\"randomness\":\"seeded\"}"),
            SOTTO_OK);
        assert_true(isinf(total_at(0)) && isinf(told_at(0)));
    }
}

/* Five proved releases and one that is conditional: Python and `account --ledger` told the last alone. */
TEST(proved_and_conditional_are_told_together)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(append("{\"mechanism\":\"laplace\",\"scale\":1,\"dimension\":1}"), SOTTO_OK);
    assert_int_equal(append("{\"mechanism\":\"laplace\",\"scale\":10,\"dimension\":1,"
                            "\"sensitivity\":{\"l1\":1,\"l2\":1,\"source\":\"given\"}}"),
                     SOTTO_OK);
    assert_true(told_at(0) >= 5.1 && told_at(0) < 5.1001);
}

TEST(no_budget_holds_with_seeded_noise)
{
    static const char plain[] = "{\"mechanism\":\"laplace\",\"scale\":4,\"sensitivity\":{\"l1\":1,\"l2\":1,"
                                "\"source\":\"proved\"},\"randomness\":\"os\"}";
    static const char seeded[] = "{\"mechanism\":\"laplace\",\"scale\":4,\"sensitivity\":{\"l1\":1,\"l2\":1,"
                                 "\"source\":\"proved\"},\"randomness\":\"seeded\"}";
    const struct sotto_account a = {
        .adjacency = SOTTO_REPLACE_ONE, .pure_epsilon = 0.25, .zcdp_rho = NAN, .epsilon = {0, 0.25}};
    struct ledger_line first, second;
    struct ledger l;
    char *line;
    assert_int_equal(ledger_line_parse(&first, plain, strlen(plain), "entry"), SOTTO_OK);
    assert_int_equal(ledger_line_parse(&second, seeded, strlen(seeded), "entry"), SOTTO_OK);
    const struct ledger_charge of_os = ledger_line_charge(&first), of_seed = ledger_line_charge(&second);
    assert_int_equal(ledger_budget_encode(&line, &(struct budget_entry){.budget = {10, 0}}), SOTTO_OK);
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(ledger_append(&l, line), SOTTO_OK);
    assert_int_equal(ledger_check_budget(NULL, &l, &a, &of_os), SOTTO_OK);
    assert_int_equal(ledger_check_budget(NULL, &l, &a, &of_seed), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "seeded noise gives no guarantee"));
    ledger_close(&l);
    assert_int_equal(append(seeded), SOTTO_OK);
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(ledger_check_budget(NULL, &l, &a, &of_os), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "1 of its releases used seeded noise"));
    ledger_close(&l);
    sotto_text_free(line);
    ledger_line_free(&first);
    ledger_line_free(&second);
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
