/* src/core/dp/ledger/ledger_plan.c, src/core/dp/ledger_view/plan_charge.c: many releases that are charged as one, before the first of them. */
#include "support/leave.h"
#include "support/ledger_rewrite.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/plan_standing.h"
#include "dp/release/release.h"
#include "io/json/json.h"
#include "sotto/verify.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct sotto_dp budget = {1, 1e-6};
static char plan[65]; /* the last one that was charged */

/* The mean of 1,000 numbers in [0, 1], once with Gaussian and twice with Laplace noise, as in docs/derivations/adaptive.md. */
static const char mixed[] = "- {mechanism: gaussian, scale: 0.01, l1: 0.001, l2: 0.001}\n"
                            "- {mechanism: laplace, scale: 0.01, l1: 0.001, l2: 0.001, count: 2}\n";

static const char *events_file(const char *events)
{
    static char name[160];
    snprintf(name, sizeof name, "%s/events.yaml", folder);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fprintf(f, "schema: sotto.events/1\nadjacency: replace-one\nevents:\n%s", events);
    fclose(f);
    return name;
}

static sotto_status charge_plan(const char *events, struct sotto_dp b)
{
    const struct sotto_spend spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = b};
    char *json = NULL;
    struct json *document;
    const char *id;
    const sotto_status status = sotto_ledger_plan(&json, NULL, events_file(events), 1e-6, &spend, NULL);
    if (status != SOTTO_OK)
        return status;
    assert_int_equal(json_parse(&document, json, strlen(json), "plan"), SOTTO_OK);
    assert_int_equal(json_get_text(&id, document, "plan", "plan"), SOTTO_OK);
    snprintf(plan, sizeof plan, "%s", id);
    json_free(document);
    sotto_text_free(json);
    return status;
}

static void must_plan(const char *events)
{
    if (charge_plan(events, budget) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
}

static const char *slot(int k)
{
    static char text[80];
    snprintf(text, sizeof text, "%.16s:%d", plan, k);
    return text;
}

static struct sotto_release planned(const char *mechanism, int k)
{
    return (struct sotto_release){
        .mechanism = mechanism,
        .scale = .01,
        .target = {NAN, strcmp(mechanism, "laplace") == 0 ? SOTTO_DELTA_PURE : 1e-6},
        .sensitivity = {.l1 = .001, .l2 = .001, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .planned = slot(k)}};
}

static sotto_status make(const struct sotto_release *r, size_t n)
{
    float v[2] = {.5f, .5f};
    struct sotto_certificate *c = NULL;
    const sotto_status status = sotto_dp_release(&c, v, n, r, NULL);
    assert_true(status == SOTTO_OK ? c != NULL : v[0] == .5f);
    sotto_certificate_free(c);
    return status;
}

static sotto_status spend_slot(const char *mechanism, int k)
{
    const struct sotto_release r = planned(mechanism, k);
    return make(&r, 1);
}

#define REFUSED(call, code, words)                                                                           \
    do {                                                                                                     \
        assert_int_equal(call, code);                                                                        \
        if (!strstr(sotto_error_text(), words))                                                              \
            fail_msg("'%s' lacks '%s'", sotto_error_text(), words);                                          \
    } while (0)

static struct ledger read_ledger(void)
{
    struct ledger l;
    if (ledger_read(&l, path) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return l;
}

struct seen {
    size_t entries, charges;
    double total;
    struct adaptive_columns columns;
};

static struct seen look(void)
{
    struct ledger l = read_ledger();
    struct sotto_account a;
    assert_int_equal(ledger_total_account(&a, &l, 1e-6, NULL), SOTTO_OK);
    const struct seen s = {l.entries, l.charges, a.epsilon.upper, l.columns};
    ledger_close(&l);
    return s;
}

static double left(const struct seen *s)
{
    double square = 0;
    for (size_t j = 0; j < s->columns.count; j++)
        if (!s->columns.column[j].dead)
            square = fmax(square, adaptive_column_left(&s->columns.column[j]).square);
    return square;
}

/* ---- what a plan costs ---- */

/* 0.5644460647: 'sotto account --events' of the three. Its releases add nothing, in totals and in columns. */
TEST(a_plan_is_charged_once)
{
    must_plan(mixed);
    const struct seen before = look();
    assert_true(fabs(before.total - 0.5644460647) < 1e-9 && before.charges == 1);
    assert_int_equal(spend_slot("laplace", 3), SOTTO_OK); /* in any order */
    assert_int_equal(spend_slot("gaussian", 1), SOTTO_OK);
    assert_int_equal(spend_slot("laplace", 2), SOTTO_OK);
    const struct seen after = look();
    assert_true(after.total == before.total && after.charges == 1 && after.entries == before.entries + 3);
    assert_true(left(&after) == left(&before) && left(&after) > 0);
}

/* The composed curve takes less of the columns than three charges. */
TEST(together_they_take_less)
{
    must_plan(mixed);
    const struct seen together = look();
    unlink(path);
    for (int i = 0; i < 3; i++) {
        struct sotto_release r = planned(i ? "laplace" : "gaussian", 1);
        r.spend.planned = NULL;
        r.spend.budget = budget;
        assert_int_equal(make(&r, 1), SOTTO_OK);
    }
    const struct seen one_by_one = look();
    assert_true(left(&together) > 1.5 * left(&one_by_one));
    assert_true(fabs(together.total - one_by_one.total) < 1e-9); /* if all was fixed beforehand */
}

/* What is refused one by one fits as a plan; and a plan beyond the budget is refused as a whole. */
TEST(a_budget_decides_within_a_plan_by_composition)
{
    static const char four[] = "- {mechanism: laplace, scale: 0.01, l1: 0.001, l2: 0.001, count: 12}\n"
                               "- {mechanism: gaussian, scale: 0.0125, l1: 0.001, l2: 0.001}\n";
    sotto_status status = SOTTO_OK;
    for (int i = 0; i < 13 && status == SOTTO_OK; i++) {
        struct sotto_release r = planned(i < 12 ? "laplace" : "gaussian", 1);
        r.spend.planned = NULL;
        r.scale = i < 12 ? .01 : .0125;
        r.spend.budget = (struct sotto_dp){1.7, 1e-6};
        status = make(&r, 1);
    }
    assert_int_equal(status, SOTTO_EBUDGET);
    unlink(path);
    assert_int_equal(charge_plan(four, (struct sotto_dp){1.7, 1e-6}), SOTTO_OK);
    unlink(path);
    assert_int_equal(charge_plan(four, (struct sotto_dp){1, 1e-6}), SOTTO_EBUDGET);
    const struct seen s = look();
    assert_true(s.charges == 0);
}

/* ---- slots ---- */

TEST(a_slot_is_spent_once)
{
    must_plan(mixed);
    assert_int_equal(spend_slot("gaussian", 1), SOTTO_OK);
    const struct seen before = look();
    REFUSED(spend_slot("gaussian", 1), SOTTO_EBUDGET,
            "is spent, whatever came of its release; give another slot");
    REFUSED(spend_slot("laplace", 4), SOTTO_EINVAL, "has the slots 1 to 3 (got 4)");
    assert_true(look().entries == before.entries);
}

/* A plan says bit by bit what a slot may ask. */
TEST(a_release_that_differs_is_refused_and_leaves_the_slot)
{
    must_plan(mixed);
    const struct seen before = look();
    struct sotto_release r = planned("laplace", 1);
    REFUSED(make(&r, 1), SOTTO_EINVAL, "mechanism is planned as gaussian, asked as laplace");
    r = planned("gaussian", 1);
    r.scale = nextafter(.01, 1);
    REFUSED(make(&r, 1), SOTTO_EINVAL, "scale is planned as 0.01");
    r = planned("gaussian", 1);
    r.sensitivity.l1 = nextafter(.001, 1);
    REFUSED(make(&r, 1), SOTTO_EINVAL, "l1 is planned as 0.001");
    r = planned("gaussian", 1);
    r.sensitivity.l2 = NAN;
    REFUSED(make(&r, 1), SOTTO_EINVAL, "l2 is planned as 0.001, asked as nan");
    r = planned("gaussian", 1);
    REFUSED(make(&r, 2), SOTTO_EINVAL, "dimension is planned as 1, asked as 2");
    r.flat_doubt = 1;
    REFUSED(make(&r, 1), SOTTO_EINVAL, "flat-doubt");
    r = planned("gaussian", 1);
    r.spend.insecure = 1;
    REFUSED(make(&r, 1), SOTTO_EINVAL, "asked from a seed");
    r = planned("gaussian", 1);
    r.spend.budget = budget;
    REFUSED(make(&r, 1), SOTTO_EINVAL, "give budget and same-people-as to 'sotto ledger plan'");
    r = planned("gaussian", 1);
    r.spend.planned = "0123456789abcdef:1";
    REFUSED(make(&r, 1), SOTTO_EINVAL, "holds no plan 0123456789abcdef");
    r.spend.planned = "mine";
    REFUSED(make(&r, 1), SOTTO_EINVAL, "expected ID:K");
    static const char *const no_slots[] = {
        "0123456:1",           "0123456789abcdef;1",
        "0123456789abcdef:0",  "0123456789abcdef:a",
        "0123456789abcdef:1x", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0:1"};
    for (size_t i = 0; i < sizeof no_slots / sizeof *no_slots; i++) {
        r.spend.planned = no_slots[i];
        REFUSED(make(&r, 1), SOTTO_EINVAL, "expected ID:K");
    }
    assert_true(look().entries == before.entries);
    assert_int_equal(spend_slot("gaussian", 1), SOTTO_OK);
}

TEST(a_step_of_the_values_is_part_of_the_plan)
{
    must_plan("- {mechanism: discrete-laplace, scale: 20, l1: 2, value_step: 2}\n");
    struct sotto_release r = planned("discrete-laplace", 1);
    float v[1] = {4};
    struct sotto_certificate *c = NULL;
    r.target.delta = SOTTO_DELTA_PURE;
    r.scale = 20;
    r.sensitivity = (struct sotto_sensitivity){.l1 = 2, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED};
    REFUSED(sotto_dp_release(&c, v, 1, &r, NULL), SOTTO_EINVAL, "value_step is planned as 2, asked as 1");
    r.sensitivity.value_step = 0.5;
    REFUSED(sotto_dp_release(&c, v, 1, &r, NULL), SOTTO_EINVAL, "value_step is planned as 2, asked as 0.5");
    assert_non_null(strstr(sotto_error_hint(), ", dimension: 1, value_step: 0.5}"));
    r.sensitivity.value_step = 2;
    if (sotto_dp_release(&c, v, 1, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    sotto_certificate_free(c);
}

/* Logistic noise by L2 alone has Renyi divergences, and no pair of its own. */
TEST(a_release_that_no_plan_can_hold)
{
    const struct sotto_release r = {
        .mechanism = "logistic",
        .scale = 1,
        .target = {NAN, 1e-6},
        .sensitivity = {.l1 = NAN, .l2 = .001, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
    struct planned_event e;
    if (release_as_event(&e, &r, 3, RELEASE_OF_FLOATS, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_non_null(strstr(e.why, "no plan can hold it ("));
    assert_true(e.epsilon > 0 && e.epsilon < 1 && e.delta == 1e-6);
}

/* Who goes on with a plan finds it by its purpose. */
TEST(a_plan_is_found_by_its_purpose)
{
    const struct sotto_spend spend = {
        .dataset_id = "toy", .source = &exercise, .ledger = path, .purpose = "a sweep"};
    struct plan_standing p;
    char *json;
    assert_int_equal(sotto_ledger_plan(&json, NULL, events_file(mixed), 1e-6, &spend, NULL), SOTTO_OK);
    assert_int_equal(ledger_plan_look(&p, path, "another"), SOTTO_OK);
    assert_true(p.slots == 0 && !p.spent);
    assert_int_equal(ledger_plan_look(&p, path, "a sweep"), SOTTO_OK);
    assert_true(p.slots == 3 && !p.spent[0] && !p.spent[1] && !p.spent[2] && strstr(json, p.id));
    plan_standing_free(&p);
    sotto_text_free(json);
    assert_int_equal(ledger_plan_look(&p, "/none", "a sweep"), SOTTO_ENOENT);
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_ptr_equal(ledger_plan_event(l.items[0].plan, 3), &l.items[0].plan->events.events[1]);
    assert_null(ledger_plan_event(l.items[0].plan, 4));
    ledger_close(&l);
}

/* The identity of a plan is that of its releases. */
TEST(a_slot_of_another_data_set_is_refused)
{
    must_plan(mixed);
    struct sotto_release r = planned("gaussian", 1);
    r.spend.dataset_id = "other";
    REFUSED(make(&r, 1), SOTTO_EINVAL, "is of data set 'toy', not of 'other'");
}

/* The plan charges the ledger of the same people too; its slots are those of its own ledger. */
TEST(the_same_people_pay_for_a_plan_once)
{
    static const char *const two[] = {"two", NULL};
    const struct sotto_source_records both = {.same_people = two}, alone = {.n = 0};
    struct sotto_spend spend = {.dataset_id = "one", .source = &both, .budget = budget};
    struct sotto_release r = planned("gaussian", 1);
    struct ledger l;
    char *of_two, *json;
    assert_int_equal(setenv("XDG_DATA_HOME", folder, 1), 0);
    r.spend = (struct sotto_spend){.dataset_id = "two", .source = &alone};
    assert_int_equal(make(&r, 1), SOTTO_OK);
    assert_int_equal(sotto_ledger_plan(&json, NULL, events_file(mixed), 1e-6, &spend, NULL), SOTTO_OK);
    snprintf(plan, sizeof plan, "%.64s", strstr(json, "\"plan\": \"") + strlen("\"plan\": \""));
    sotto_text_free(json);
    r.spend = (struct sotto_spend){.dataset_id = "one", .source = &both, .planned = slot(1)};
    REFUSED(make(&r, 1), SOTTO_EINVAL, "give budget and same-people-as to 'sotto ledger plan'");
    r.spend.source = &alone;
    assert_int_equal(make(&r, 1), SOTTO_OK);
    assert_int_equal(sotto_ledger_find(&of_two, "two"), SOTTO_OK);
    assert_int_equal(ledger_read(&l, of_two), SOTTO_OK);
    assert_true(l.charges == 2 && l.items[1].plan && !l.items[1].plan->spent[0]);
    snprintf(plan, sizeof plan, "%s", l.items[1].hash);
    ledger_close(&l);
    r.spend = (struct sotto_spend){.dataset_id = "two", .source = &alone, .planned = slot(1)};
    REFUSED(make(&r, 1), SOTTO_EINVAL, "is of data set 'one', not of 'two'");
    sotto_text_free(of_two);
    unsetenv("XDG_DATA_HOME");
}

/* Norms of the file are those of a record, as a release states them. */
TEST(a_plan_of_persons)
{
    const struct sotto_spend spend = {
        .dataset_id = "toy", .source = &exercise, .ledger = path, .budget = {3, 1e-6}, .rows_per_person = 3};
    struct sotto_release r = planned("gaussian", 1);
    char *json;
    assert_int_equal(sotto_ledger_plan(&json, NULL, events_file(mixed), 1e-6, &spend, NULL), SOTTO_OK);
    snprintf(plan, sizeof plan, "%.64s", strstr(json, "\"plan\": \"") + strlen("\"plan\": \""));
    sotto_text_free(json);
    r.spend.planned = slot(1);
    REFUSED(make(&r, 1), SOTTO_EINVAL, "l1 is planned as 0.003");
    r.spend.rows_per_person = 3;
    assert_int_equal(make(&r, 1), SOTTO_OK);
    assert_true(look().charges == 1);
}

/* Once the slot is spent its noise may have been drawn, whatever became of the process. */
TEST(a_slot_stays_spent_when_the_process_dies)
{
    must_plan(mixed);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct sotto_sensitivity s = {.l1 = .001, .l2 = .001, .dimension = 1};
        const struct privacy_unit unit = {0};
        struct sotto_account a;
        struct charge c;
        struct plan_slot spent;
        if (sotto_account_release(&a, "gaussian", .01, &s, 1e-6, 1, NULL) == SOTTO_OK &&
            charge_open(&c, "toy", path, &exercise, NULL) == SOTTO_OK &&
            charge_spend_slot(&spent, &c,
                              &(struct charge_entry){.event = LEDGER_RELEASE,
                                                     .dataset_id = "toy",
                                                     .unit = &unit,
                                                     .sensitivity = &s,
                                                     .account = &a,
                                                     .sampler = "exact",
                                                     .randomness = "os",
                                                     .dimension = 1},
                              slot(1)) == SOTTO_OK)
            raise(SIGKILL);
        leave(1);
    }
    int status;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    REFUSED(spend_slot("gaussian", 1), SOTTO_EBUDGET, "slot 1 of plan");
    assert_int_equal(spend_slot("laplace", 2), SOTTO_OK);
}

/* The lock of the ledger lets one in at a time. */
TEST(of_two_processes_one_gets_the_slot)
{
    enum { ROUNDS = 5 };
    must_plan("- {mechanism: gaussian, scale: 0.05, l1: 0.001, l2: 0.001, count: 5}\n");
    for (int round = 1; round <= ROUNDS; round++) {
        int start[2], won = 0, refused = 0;
        assert_int_equal(pipe(start), 0);
        for (int i = 0; i < 2; i++) {
            const pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                char go;
                struct sotto_release r = planned("gaussian", round);
                r.scale = .05;
                close(start[1]);
                const bool started = read(start[0], &go, 1) == 0; /* both, when the parent closes it */
                const sotto_status status = make(&r, 1);
                leave(!started ? 9 : status == SOTTO_OK ? 0 : status == SOTTO_EBUDGET ? 1 : 2);
            }
        }
        close(start[0]);
        close(start[1]);
        for (int i = 0; i < 2; i++) {
            int status;
            assert_true(wait(&status) > 0 && WIFEXITED(status));
            won += WEXITSTATUS(status) == 0;
            refused += WEXITSTATUS(status) == 1;
        }
        assert_true(won == 1 && refused == 1);
    }
}

/* A file system that is full in the midst of the plan's line: nothing is planned, and nothing charged. */
TEST(a_full_disk_charges_no_plan)
{
    const struct sotto_spend spend = {
        .dataset_id = "toy", .source = &exercise, .ledger = path, .budget = budget};
    unsigned char *data;
    size_t size;
    assert_int_equal(spend_slot("gaussian", 1), SOTTO_EINVAL); /* a ledger without a charge */
    must_plan(mixed);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    base_free(data);
    unlink(path);
    const char *events = events_file(mixed);
    for (size_t room = size / 4; room + 2 < size; room += size / 4) {
        char *json = NULL;
        int result;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){room, RLIM_INFINITY});
            const sotto_status status = sotto_ledger_plan(&json, NULL, events, 1e-6, &spend, NULL);
            leave(status == SOTTO_EIO && !json ? 0 : 1);
        }
        assert_true(waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0);
        must_plan(mixed);
        assert_true(look().charges == 1);
        unlink(path);
    }
}

/* ---- what may be planned ---- */

/* Between two releases of a plan others may come and steer it; where only Renyi divergences are known that is not proved. */
TEST(what_has_no_pair_of_its_own_is_refused_by_name)
{
    REFUSED(charge_plan("- {mechanism: logistic, scale: 10, l2: 1, dimension: 5}\n", budget), SOTTO_EINVAL,
            "events[0]: of logistic with these norms only Renyi divergences are known");
    REFUSED(charge_plan("- {mechanism: discrete-gaussian, scale: 10, l2: 1, dimension: 5}\n", budget),
            SOTTO_EINVAL, "events[0]: of discrete-gaussian with these norms");
    REFUSED(charge_plan("- {mechanism: stated, epsilon: 0.1}\n", budget), SOTTO_EINVAL,
            "a stated guarantee has no release");
    REFUSED(charge_plan("- {mechanism: gaussian, scale: 1, l2: 1, adjacency: add-remove}\n", budget),
            SOTTO_EINVAL, "give adjacency replace-one");
    REFUSED(charge_plan("- {mechanism: gaussian, scale: 1, l2: 1, group: 2}\n", budget), SOTTO_EINVAL,
            "no group");
    REFUSED(charge_plan("- {mechanism: laplace, scale: 100, l1: 1, count: 100001}\n", budget), SOTTO_EINVAL,
            "a plan has more than 100000 releases");
    assert_int_equal(access(path, F_OK), -1);
}

/* ---- certificates ---- */

TEST(a_certificate_names_plan_and_slot_and_is_verified)
{
    char out[160], beside[200];
    struct sotto_array a = {0};
    struct sotto_certificate *c = NULL, *read = NULL;
    struct sotto_verification v;
    char *json;
    must_plan(mixed);
    snprintf(out, sizeof out, "%s/out.npy", folder);
    snprintf(beside, sizeof beside, "%s.certificate.json", out);
    snprintf(torn, sizeof torn, "%s/in.npy", folder);
    assert_int_equal(sotto_array_make(&a, SOTTO_F8, 1, &(size_t){1}), SOTTO_OK);
    assert_int_equal(sotto_npy_save(torn, &a), SOTTO_OK);
    sotto_array_clear(&a);
    const struct sotto_protect p = {.input = torn, .output = out, .release = planned("gaussian", 1)};
    if (sotto_protect_file(&c, &p, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(sotto_certificate_encode(&json, c), SOTTO_OK);
    assert_non_null(strstr(json, plan));
    assert_int_equal(sotto_certificate_entry(c), 0);
    assert_int_equal(sotto_certificate_load(&read, beside), SOTTO_OK);
    sotto_text_free(json);
    assert_int_equal(sotto_certificate_encode(&json, read), SOTTO_OK);
    assert_non_null(strstr(json, "\"slot\": 1"));
    const sotto_status status = sotto_verify(&v, beside, out, path, NULL);
    if (status != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    sotto_verification_clear(&v);
    sotto_text_free(json);
    sotto_certificate_free(read);
    sotto_certificate_free(c);
}

/* ---- forged lines ---- */

/* Line 0: the budget; 1: the plan; 2 and 3: slots 2 and 3, which are alike. */
static void with_two_slots(void)
{
    must_plan(mixed);
    assert_int_equal(spend_slot("laplace", 2), SOTTO_OK);
    assert_int_equal(spend_slot("laplace", 3), SOTTO_OK);
}

static void nothing(char *line, size_t index)
{
    (void)line, (void)index;
}

static void replace(char *line, const char *from, const char *to)
{
    char *at = strstr(line, from), rest[16384];
    assert_non_null(at);
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    sprintf(at, "%s%s", to, rest);
}

static void twice(char *line, size_t index)
{
    if (index == 3)
        replace(line, "\"slot\":3", "\"slot\":2");
}

static void beyond(char *line, size_t index)
{
    if (index == 3)
        replace(line, "\"slot\":3", "\"slot\":4");
}

static void of_no_plan(char *line, size_t index)
{
    if (index == 3)
        replace(line, plan, "0000000000000000000000000000000000000000000000000000000000000000");
}

static void of_other_kind(char *line, size_t index)
{
    if (index == 3)
        replace(line, "\"slot\":3", "\"slot\":1");
}

static void louder(char *line, size_t index)
{
    if (index == 3)
        replace(line, "\"scale\":0.01,", "\"scale\":0.001,");
}

static void planned_by_renyi(char *line, size_t index)
{
    if (index == 1)
        replace(
            line,
            "\"mechanism\":\"laplace\",\"count\":2,\"adjacency\":\"replace-one\",\"scale\":0.01,\"l1\":0.001",
            "\"mechanism\":\"logistic\",\"count\":2,\"adjacency\":\"replace-one\",\"scale\":0.01,\"l2\":0."
            "001");
}

static void of_charge_9(char *line, size_t index)
{
    if (index == 3)
        replace(line, "\"charge\":0", "\"charge\":9");
}

/* "offers":[[a,b,c]...: the squared shift, 9 digits smaller */
static void cheaper(char *line, size_t index)
{
    char *at = index == 1 ? strstr(line, "\"offers\":[[0.0,0.0") : NULL;
    if (at)
        memcpy(at + strlen("\"offers\":[[0.0,0.0"), "000", 3);
}

static void of_no_epsilon(char *line, size_t index)
{
    if (index == 1)
        replace(line, "\"epsilon\":{", "\"epsilon\":{\"lower\":0.0,\"upper\":0.01},\"was\":{");
}
static void of_less_pure(char *line, size_t index)
{
    if (index == 1)
        replace(line, "\"pure_epsilon\":", "\"pure_epsilon\":0.01,\"was\":");
}
static void of_less_rho(char *line, size_t index)
{
    if (index == 1)
        replace(line, "\"zcdp_rho\":", "\"zcdp_rho\":0.0001,\"was\":");
}

#define FORGED(change, words)                                                                                \
    do {                                                                                                     \
        struct ledger forged;                                                                                \
        with_two_slots();                                                                                    \
        rewrite(nothing); /* the chain stays: the control */                                                 \
        assert_int_equal(ledger_read(&forged, path), SOTTO_OK);                                              \
        ledger_close(&forged);                                                                               \
        rewrite(change);                                                                                     \
        REFUSED(ledger_read(&forged, path), SOTTO_EFORMAT, words);                                           \
        unlink(path);                                                                                        \
    } while (0)

TEST(forged_plans_are_refused)
{
    FORGED(twice, "slot 2 of its plan was spent before");
    FORGED(beyond, "names slot 4 of a plan that is not before it");
    FORGED(of_no_plan, "of a plan that is not before it");
    FORGED(of_charge_9, "of a plan that is not before it");
    FORGED(of_other_kind, "is not the release that was planned (mechanism is planned as gaussian");
    FORGED(louder, "is not the release that was planned (scale is planned as 0.01");
    FORGED(cheaper, "offers less in 'any_order'");
    FORGED(of_no_epsilon, "epsilon 0.01");
    FORGED(of_less_pure, "pure epsilon 0.01");
    FORGED(of_less_rho, "rho 0.0001");
    FORGED(planned_by_renyi, "only Renyi divergences are known");
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
