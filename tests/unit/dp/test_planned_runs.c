/* src/core/dp/release/reserve.c, src/core/dp/ledger/ledger_plan.c: runs of steps as releases of a plan. */
#include "support/leave.h"
#include "support/ledger_rewrite.h"
#include "dp/certificate/certificate.h"
#include "dp/ledger/ledger_account.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/release/dpsgd_session.h"
#include "sotto/verify.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 20, RECORDS = 400, DIMENSION = 3 };
static char plan[65], text[80];

static const char *slot(int k)
{
    snprintf(text, sizeof text, "%.16s:%d", plan, k);
    return text;
}

static struct sotto_dpsgd_request request(const char *planned)
{
    return (struct sotto_dpsgd_request){
        .sampled = {.mechanism = "gaussian",
                    .noise_multiplier = 4,
                    .sample_rate = .05,
                    .steps = STEPS,
                    .delta = 1e-6,
                    .adjacency = SOTTO_REPLACE_ONE},
        .max_grad_norm = 1,
        .dimension = DIMENSION,
        .records = RECORDS,
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .planned = planned}};
}

/* What the hint of a refusal says a run is, as an event. */
static const char *event_of(const struct sotto_dpsgd_request *r)
{
    static char event[320];
    struct sotto_dpsgd_request asked = *r;
    struct sotto_dpsgd_session *s = NULL;
    asked.spend.planned = "00000000:1";
    assert_int_equal(sotto_dp_reserve(&s, &asked, NULL), SOTTO_EINVAL);
    const char *hint = sotto_error_hint(), *at = hint ? strstr(hint, "{mechanism") : NULL;
    if (!at)
        fail_msg("'%s', hint '%s'", sotto_error_text(), hint ? hint : "none");
    snprintf(event, sizeof event, "- %s\n", at);
    return event;
}

static sotto_status charge_plan(const char *events, double epsilon, size_t rows)
{
    char name[160], *json = NULL;
    const struct sotto_spend spend = {.dataset_id = "toy",
                                      .source = &exercise,
                                      .ledger = path,
                                      .rows_per_person = rows,
                                      .budget = {epsilon, 1e-6}};
    snprintf(name, sizeof name, "%s/events.yaml", folder);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fprintf(f, "schema: sotto.events/1\nadjacency: replace-one\nevents:\n%s", events);
    fclose(f);
    const sotto_status status = sotto_ledger_plan(&json, NULL, name, 1e-6, &spend, NULL);
    if (status == SOTTO_OK)
        snprintf(plan, sizeof plan, "%.64s", strstr(json, "\"plan\": \"") + strlen("\"plan\": \""));
    sotto_text_free(json);
    return status;
}

static void must_plan(const char *events)
{
    if (charge_plan(events, 3, 0) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
}

/* Slot 1: Laplace noise; 2 and 3: the run of request(). */
static void plan_two_runs(void)
{
    char events[900];
    const struct sotto_dpsgd_request r = request(NULL);
    const char *run = event_of(&r);
    snprintf(events, sizeof events, "- {mechanism: laplace, scale: 0.01, l1: 0.001}\n%s%s", run, run);
    must_plan(events);
}

static sotto_status reserve(struct sotto_dpsgd_session **s, const struct sotto_dpsgd_request *r)
{
    *s = NULL;
    return sotto_dp_reserve(s, r, NULL);
}

static struct sotto_dpsgd_session *reserved(const struct sotto_dpsgd_request *r)
{
    struct sotto_dpsgd_session *s;
    if (reserve(&s, r) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return s;
}

#define REFUSED(call, code, words)                                                                           \
    do {                                                                                                     \
        assert_int_equal(call, code);                                                                        \
        if (!strstr(sotto_error_text(), words))                                                              \
            fail_msg("'%s' lacks '%s'", sotto_error_text(), words);                                          \
    } while (0)

struct seen {
    size_t entries, charges;
    double total;
};

static struct seen look(void)
{
    struct ledger l;
    struct sotto_account a;
    if (ledger_read(&l, path) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(ledger_total_account(&a, &l, 1e-6, NULL), SOTTO_OK);
    const struct seen s = {l.entries, l.charges, a.epsilon.upper};
    ledger_close(&l);
    return s;
}

static void take_steps(struct sotto_dpsgd_session *s, size_t steps)
{
    uint32_t rows[RECORDS];
    double values[DIMENSION];
    size_t count;
    for (size_t i = 0; i < steps; i++) {
        memset(values, 0, sizeof values);
        assert_int_equal(sotto_dp_sample(s, rows, &count, RECORDS), SOTTO_OK);
        assert_int_equal(sotto_dp_step(s, values), SOTTO_OK);
    }
}

/* ---- a slot ---- */

TEST(a_run_spends_its_slot_and_costs_nothing_more)
{
    plan_two_runs();
    const struct seen before = look();
    const struct sotto_dpsgd_request r = request(slot(2));
    struct sotto_dpsgd_session *s = reserved(&r);
    take_steps(s, STEPS);
    const struct seen after = look();
    assert_true(after.total == before.total && after.charges == 1 && after.entries == before.entries + 1);
    sotto_dpsgd_session_close(s);
    REFUSED(reserve(&s, &r), SOTTO_EBUDGET, "slot 2 of plan");
    const struct sotto_dpsgd_request other = request(slot(3));
    sotto_dpsgd_session_close(reserved(&other));
    assert_true(look().total == before.total);
}

/* Two runs of equal steps are one of twice as many: the plan costs that, less than the sum of both. */
TEST(a_plan_of_runs_costs_their_composition)
{
    struct sotto_dpsgd_request r = request(NULL);
    struct sotto_sampled twice = r.sampled;
    struct sotto_account both, one;
    char events[700];
    const char *run = event_of(&r);
    snprintf(events, sizeof events, "%s%s", run, run);
    must_plan(events);
    twice.steps *= 2;
    assert_int_equal(sotto_account_sampled(&both, &twice, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_sampled(&one, &r.sampled, NULL), SOTTO_OK);
    const double total = look().total;
    assert_true(fabs(total / both.epsilon.upper - 1) < 1e-5);
    assert_true(total < 0.75 * 2 * one.epsilon.upper);
}

/* Within the columns too: the composed curve leaves more than two charges do. */
TEST(a_plan_of_a_run_and_a_release_takes_less_of_the_columns)
{
    double left[2] = {0, 0};
    char events[700];
    struct sotto_dpsgd_request r = request(NULL);
    snprintf(events, sizeof events, "- {mechanism: laplace, scale: 0.01, l1: 0.001}\n%s", event_of(&r));
    for (int together = 0; together < 2; together++) {
        struct ledger l;
        unlink(path);
        if (together) {
            must_plan(events);
        } else {
            const struct sotto_release mean = {
                .mechanism = "laplace",
                .scale = .01,
                .target = {NAN, SOTTO_DELTA_PURE},
                .sensitivity = {.l1 = .001, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
                .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path, .budget = {3, 1e-6}}};
            struct sotto_certificate *c = NULL;
            r.spend.budget = (struct sotto_dp){3, 1e-6};
            assert_int_equal(sotto_dp_release(&c, (float[]){.5f}, 1, &mean, NULL), SOTTO_OK);
            sotto_certificate_free(c);
            sotto_dpsgd_session_close(reserved(&r));
        }
        assert_int_equal(ledger_read(&l, path), SOTTO_OK);
        for (size_t j = 0; j < l.columns.count; j++)
            if (!l.columns.column[j].dead)
                left[together] = fmax(left[together], adaptive_column_left(&l.columns.column[j]).square);
        ledger_close(&l);
    }
    assert_true(left[1] > left[0] && left[0] > 0);
}

/* What has no curve is paid as a Gaussian where the column has nothing pure: the plan lives where its releases would one by one. */
TEST(pure_noise_without_a_curve_fits_a_gaussian_column_beside_a_run)
{
    char events[700];
    struct ledger l;
    bool lives = false;
    const struct sotto_dpsgd_request r = request(NULL);
    const char *run = event_of(&r);
    snprintf(events, sizeof events,
             "- {mechanism: objective-perturbation, scale: 3, l1: 1, dimension: 5}\n%s", run);
    must_plan(events);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    for (size_t j = 0; j < l.columns.count; j++) {
        const struct adaptive_column *c = &l.columns.column[j];
        if (c->dead)
            continue;
        lives = true;
        const struct adaptive left = adaptive_column_left(c);
        assert_true(left.failure < c->box.failure);
        assert_true(c->box.square - left.square > adaptive_square_of_pure(1. / 3));
    }
    assert_true(lives);
    ledger_close(&l);
}

/* ---- before anything is charged ---- */

static void must_be_what_is_charged(const struct sotto_dpsgd_request *r)
{
    struct planned_event e;
    char said[320];
    assert_int_equal(dpsgd_as_event(&e, r, NULL), SOTTO_OK);
    assert_string_equal(e.why, "");
    snprintf(said, sizeof said,
             "- {mechanism: %s, noise_multiplier: %.17g, sample_rate: %.17g, steps: %zu, clipping: l2, "
             "sampling: %s}\n",
             e.event.mechanism, e.event.noise_multiplier, e.event.sample_rate, e.event.count,
             sotto_sampling_name(e.event.sampling));
    assert_string_equal(event_of(r), said);
}

TEST(a_run_is_told_as_it_would_be_charged)
{
    struct sotto_dpsgd_request r = request(NULL);
    must_be_what_is_charged(&r);
    r.on_lattice = 1;
    must_be_what_is_charged(&r);
    r.sampled.adjacency = SOTTO_ZERO_OUT;
    must_be_what_is_charged(&r);
    r.sampled.adjacency = SOTTO_REPLACE_ONE;
    r.sampled.sampling = SOTTO_SAMPLING_FIXED;
    must_be_what_is_charged(&r);
}

TEST(a_run_that_no_plan_holds_says_why)
{
    struct planned_event e;
    struct sotto_dpsgd_request r = request(NULL);
    r.spend.rows_per_person = 3;
    assert_int_equal(dpsgd_as_event(&e, &r, NULL), SOTTO_OK);
    assert_string_equal(e.why, "no plan can hold it (is a run on persons of several rows, which no plan "
                               "holds; charge that run by itself)");
    r = request(NULL);
    r.sampled.mechanism = "logistic"; /* clipped by L2 */
    assert_int_equal(dpsgd_as_event(&e, &r, NULL), SOTTO_OK);
    assert_non_null(strstr(e.why, "only Renyi divergences are known"));
    r = request(NULL);
    r.sampled.adjacency = SOTTO_REPLACE_INPUT;
    assert_int_equal(dpsgd_as_event(&e, &r, NULL), SOTTO_OK);
    assert_non_null(strstr(e.why, "protects inputs"));
}

TEST(a_run_that_differs_is_refused_and_leaves_the_slot)
{
    struct sotto_dpsgd_session *s;
    plan_two_runs();
    const struct seen before = look();
    struct sotto_dpsgd_request r = request(slot(2));
    r.sampled.sample_rate = nextafter(.05, 1);
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "sample_rate is planned as 0.05");
    r = request(slot(2));
    r.sampled.steps = STEPS - 1;
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "steps is planned as 20, asked as 19");
    r = request(slot(2));
    r.sampled.noise_multiplier = nextafter(4, 5);
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "noise_multiplier is planned as");
    r = request(slot(2));
    r.on_lattice = 1; /* rounding makes the multiplier that is accounted smaller */
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "noise_multiplier is planned as");
    r = request(slot(2));
    r.sampled.sampling = SOTTO_SAMPLING_FIXED;
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "fixed sampling is planned as 0, asked as 1");
    r = request(slot(2));
    r.sampled.mechanism = "logistic";
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "mechanism is planned as gaussian, asked as logistic");
    r = request(slot(1));
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "a single release is planned, asked is a run of steps");
    r = request(slot(2));
    r.sampled.adjacency = SOTTO_REPLACE_INPUT;
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "a run that protects inputs is in no plan");
    r = request(slot(2));
    r.spend.insecure = 1;
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "asked from a seed");
    r = request(slot(2));
    r.spend.budget = (struct sotto_dp){1, 1e-6};
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "give budget and same-people-as to 'sotto ledger plan'");
    r = request(slot(2));
    r.spend.rows_per_person = 2;
    assert_int_equal(reserve(&s, &r), SOTTO_EBUDGET); /* of another unit than the plan */
    assert_true(look().entries == before.entries);
    r = request(slot(2));
    sotto_dpsgd_session_close(reserved(&r));
}

/* A single release has the noise, norm and dimension of a run's step, and is one step. */
TEST(a_single_release_pays_for_no_run)
{
    struct sotto_dpsgd_session *s;
    must_plan("- {mechanism: gaussian, scale: 4, l2: 1, dimension: 3}\n");
    const struct sotto_dpsgd_request r = request(slot(1));
    REFUSED(reserve(&s, &r), SOTTO_EINVAL, "a single release is planned, asked is a run of steps");
}

/* Steps whose pair is not known have Renyi divergences only. */
TEST(runs_without_a_pair_of_their_own_are_in_no_plan)
{
    REFUSED(charge_plan("- {mechanism: logistic, noise_multiplier: 4, sample_rate: 0.1, steps: 5}\n", 9, 0),
            SOTTO_EINVAL, "events[0]: of steps by logistic with this clipping only Renyi divergences");
    REFUSED(charge_plan("- {mechanism: gaussian, noise_multiplier: 4, sample_rate: 0.1, steps: 5}\n", 9, 3),
            SOTTO_EINVAL, "events[0]: is a run on persons of several rows, which no plan holds");
    REFUSED(charge_plan(
                "- {mechanism: gaussian, noise_multiplier: 4, sample_rate: 0.1, steps: 5, group: 2}\n", 9, 0),
            SOTTO_EINVAL, "run on persons of several rows, which no plan holds");
    assert_int_equal(
        charge_plan("- {mechanism: laplace, noise_multiplier: 40, sample_rate: 0.1, steps: 5, "
                    "clipping: l1}\n- {mechanism: gaussian, noise_multiplier: 9, sample_rate: 0.1, "
                    "steps: 5, sampling: fixed}\n",
                    9, 0),
        SOTTO_OK);
}

/* ---- runs that end early ---- */

TEST(nothing_of_a_slot_comes_back)
{
    volatile sig_atomic_t stop = SOTTO_STOP_BY_TIME;
    const struct sotto_context ctx = {.stop = &stop};
    plan_two_runs();
    const struct seen before = look();
    const struct sotto_dpsgd_request r = request(slot(2));
    struct sotto_dpsgd_session *s = reserved(&r);
    take_steps(s, 5);
    assert_int_equal(context_check(&ctx, "stopped"), SOTTO_ESTOPPED);
    dpsgd_session_settle(s, &ctx);
    const struct seen after = look();
    assert_true(after.entries == before.entries + 1 && after.total == before.total);
    sotto_dpsgd_session_close(s);
}

/* What a run draws anew is charged by itself, under its name; its certificate has both. */
TEST(a_run_goes_on_at_a_charge_of_its_own)
{
    char name[40];
    struct sotto_certificate *c = NULL;
    char *json;
    plan_two_runs();
    const struct seen before = look();
    struct sotto_dpsgd_request r = request(slot(2));
    struct sotto_dpsgd_session *s = reserved(&r);
    snprintf(name, sizeof name, "%s", sotto_dpsgd_session_run(s));
    take_steps(s, 5);
    sotto_dpsgd_session_close(s);
    r = request(slot(3));
    r.run = name;
    r.first_step = 5;
    r.sampled.steps = STEPS - 5;
    REFUSED(reserve(&s, &r), SOTTO_EBUDGET,
            "goes on from step 5; its slot is spent, and no slot pays for steps that are drawn anew; omit "
            "planned");
    r.spend.planned = NULL;
    s = reserved(&r);
    const struct seen after = look();
    assert_true(after.charges == 2 && after.total > before.total);
    take_steps(s, STEPS - 5);
    assert_int_equal(sotto_dpsgd_session_certificate(&c, s), SOTTO_OK);
    assert_int_equal(sotto_certificate_encode(&json, c), SOTTO_OK);
    assert_non_null(strstr(json, "\"charged\": 35"));
    assert_null(strstr(json, plan)); /* the entry of this certificate is a charge */
    assert_int_equal(c->run->reservations.count, 2);
    assert_true(c->run->reservations.items[0].entry == 0 && c->run->reservations.items[1].entry == 1);
    sotto_text_free(json);
    sotto_certificate_free(c);
    sotto_dpsgd_session_close(s);
}

TEST(a_slot_stays_spent_when_the_process_dies)
{
    struct sotto_dpsgd_session *s;
    plan_two_runs();
    const struct sotto_dpsgd_request r = request(slot(2));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (reserve(&s, &r) == SOTTO_OK) /* and no noise was drawn yet */
            raise(SIGKILL);
        leave(1);
    }
    int status;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    REFUSED(reserve(&s, &r), SOTTO_EBUDGET, "is spent, whatever came of its release");
}

TEST(of_two_processes_one_gets_the_slot)
{
    int start[2], won = 0, refused = 0;
    plan_two_runs();
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            char go;
            struct sotto_dpsgd_session *s;
            const struct sotto_dpsgd_request r = request(slot(2));
            close(start[1]);
            const bool started = read(start[0], &go, 1) == 0; /* both, when the parent closes it */
            const sotto_status status = reserve(&s, &r);
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

/* A file system that is full where the slot's line begins: no session, and the slot is open. */
TEST(a_full_disk_spends_nothing)
{
    unsigned char *data;
    size_t size;
    plan_two_runs();
    const struct seen before = look();
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    base_free(data);
    for (size_t room = 0; room < 2; room++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct sotto_dpsgd_session *s;
            const struct sotto_dpsgd_request r = request(slot(2));
            signal(SIGXFSZ, SIG_IGN);
            const rlim_t most = size + room * 100;
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, RLIM_INFINITY});
            leave(reserve(&s, &r) == SOTTO_EIO && !s ? 0 : 1);
        }
        int status;
        assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    const struct sotto_dpsgd_request r = request(slot(2));
    sotto_dpsgd_session_close(reserved(&r));
    assert_true(look().total == before.total);
}

/* ---- forged lines ---- */

static void nothing(char *line, size_t index)
{
    (void)line, (void)index;
}

static void replace(char *line, const char *from, const char *to)
{
    char *at = strstr(line, from), rest[16384];
    if (!at)
        fail_msg("'%s' is not in %s", from, line);
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    sprintf(at, "%s%s", to, rest);
}

/* Line 0: the budget; 1: the plan; 2: its slot 2. */
static void longer(char *line, size_t index)
{
    if (index == 2)
        replace(line, "\"steps\":20", "\"steps\":21");
}
static void more_often(char *line, size_t index)
{
    if (index == 2)
        replace(line, "\"sample_rate\":0.05", "\"sample_rate\":0.06");
}
static void on_inputs(char *line, size_t index)
{
    if (index == 2)
        replace(line, "\"clipping\"", "\"protects\":\"inputs\",\"clipping\"");
}
static void for_noise(char *line, size_t index)
{
    if (index == 2)
        replace(line, "\"slot\":2", "\"slot\":1");
}
static void seeded(char *line, size_t index)
{
    if (index == 2)
        replace(line, "\"randomness\":\"os\"", "\"randomness\":\"seeded\"");
}
static void by_renyi(char *line, size_t index)
{
    if (index == 1)
        replace(line, "\"mechanism\":\"gaussian\"", "\"mechanism\":\"logistic\"");
}
static void of_persons(char *line, size_t index)
{
    if (index == 1)
        replace(line, "\"events\"", "\"person\":{\"column\":null,\"rows\":3},\"events\"");
}

#define FORGED(change, words)                                                                                \
    do {                                                                                                     \
        struct ledger forged;                                                                                \
        plan_two_runs();                                                                                     \
        const struct sotto_dpsgd_request r = request(slot(2));                                               \
        sotto_dpsgd_session_close(reserved(&r));                                                             \
        rewrite(nothing); /* the chain stays: the control */                                                 \
        assert_int_equal(ledger_read(&forged, path), SOTTO_OK);                                              \
        ledger_close(&forged);                                                                               \
        rewrite(change);                                                                                     \
        REFUSED(ledger_read(&forged, path), SOTTO_EFORMAT, words);                                           \
        unlink(path);                                                                                        \
    } while (0)

/* The slot's line takes the name of the run that was charged by itself. */
static char first_run[33], slot_run[33];
static void of_a_charged_run(char *line, size_t index)
{
    if (index == 3)
        replace(line, slot_run, first_run);
}

TEST(a_slot_for_a_run_that_was_charged_is_refused)
{
    struct ledger forged;
    plan_two_runs();
    struct sotto_dpsgd_request r = request(NULL);
    r.sampled.noise_multiplier = 400; /* beside the plan there is little room */
    struct sotto_dpsgd_session *s = reserved(&r);
    strcpy(first_run, sotto_dpsgd_session_run(s));
    sotto_dpsgd_session_close(s);
    r = request(slot(2));
    s = reserved(&r);
    strcpy(slot_run, sotto_dpsgd_session_run(s));
    sotto_dpsgd_session_close(s);
    rewrite(nothing);
    assert_int_equal(ledger_read(&forged, path), SOTTO_OK);
    ledger_close(&forged);
    rewrite(of_a_charged_run);
    REFUSED(ledger_read(&forged, path), SOTTO_EFORMAT, "spends a slot for a run that was charged before");
}

TEST(forged_runs_are_refused)
{
    FORGED(longer, "steps is planned as 20, asked as 21");
    FORGED(more_often, "sample_rate is planned as 0.05");
    FORGED(on_inputs, "asked is a run that protects inputs");
    FORGED(for_noise, "a single release is planned, asked is a run of steps");
    FORGED(seeded, "asked from a seed");
    FORGED(by_renyi, "only Renyi divergences are known");
    FORGED(of_persons, "run on persons of several rows, which no plan holds");
}

/* ---- certificates ---- */

TEST(a_certificate_names_the_slot_of_its_run_and_is_verified)
{
    char out[120], beside[160];
    struct sotto_certificate *c = NULL;
    struct sotto_verification v;
    char hash[SHA256_HEX];
    plan_two_runs();
    const struct sotto_dpsgd_request r = request(slot(3));
    struct sotto_dpsgd_session *s = reserved(&r);
    take_steps(s, STEPS);
    assert_int_equal(sotto_dpsgd_session_certificate(&c, s), SOTTO_OK);
    assert_true(c->slot == 3 && strcmp(c->plan, plan) == 0 && c->entry == 0);
    snprintf(out, sizeof out, "%s/out.bin", folder);
    snprintf(beside, sizeof beside, "%s.certificate.json", out);
    snprintf(torn, sizeof torn, "%s", out);
    assert_int_equal(file_write(out, "weights", 7), SOTTO_OK);
    assert_int_equal(sha256_file(hash, out), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(beside, c, hash), SOTTO_OK);
    sotto_certificate_free(c);
    assert_int_equal(sotto_certificate_load(&c, beside), SOTTO_OK);
    assert_true(c->slot == 3 && strcmp(c->plan, plan) == 0 && c->run);
    const sotto_status status = sotto_verify(&v, beside, out, path, NULL);
    if (status != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    sotto_verification_clear(&v);
    sotto_certificate_free(c);
    sotto_dpsgd_session_close(s);
    unlink(beside);
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
