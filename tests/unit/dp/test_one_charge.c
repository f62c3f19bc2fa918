/* Labels and inputs of one release are one charge (dpsgd_reserve_with_labels(), ledger_hold()): both are in the ledger, or neither. */
#include "support/ledger_folder.h"
#include "support/test.h"
#include "support/leave.h"
#include "base/file.h"
#include "base/memory.h"
#include "dp/ledger_line/ledger_line.h"
#include "dp/ledger/ledger.h"
#include "dp/release/dpsgd_session.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 20 };
static int64_t labels[N];

static sotto_status charge_both(double multiplier, struct sotto_dp budget)
{
    const struct sotto_spend spend = {
        .dataset_id = "toy", .source = &exercise, .ledger = path, .budget = budget};
    const struct sotto_release of_labels = {.mechanism = "randomised-response",
                                            .target = {.25, SOTTO_DELTA_PURE},
                                            .sensitivity = {.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                            .spend = spend,
                                            .records = N};
    const struct sotto_dpsgd_request request = {.sampled = {.mechanism = "gaussian",
                                                            .noise_multiplier = multiplier,
                                                            .sample_rate = 1,
                                                            .steps = 1,
                                                            .delta = 1e-5,
                                                            .adjacency = SOTTO_REPLACE_INPUT},
                                                .max_grad_norm = 1,
                                                .dimension = 3,
                                                .spend = spend,
                                                .records = N};
    struct label_release r;
    struct sotto_certificate *c = NULL;
    struct sotto_dpsgd_session *s = NULL;
    memset(labels, 0, sizeof labels);
    sotto_status status = label_release_make(&r, labels, N, 1000000, &of_labels, NULL);
    if (status == SOTTO_OK)
        status = dpsgd_reserve_with_labels(&s, &c, &request, &r, NULL);
    assert_true((status == SOTTO_OK) == (c != NULL && s != NULL));
    sotto_certificate_free(c);
    sotto_dpsgd_session_close(s);
    return status;
}

static const struct sotto_dp none = {0, 0}, budget = {1, 1e-5};

static size_t charges(void)
{
    struct ledger l;
    if (ledger_open(&l, path, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    const size_t found = l.charges;
    ledger_close(&l);
    return found;
}

static bool drawn(void)
{
    bool changed = false; /* of a million classes a label is kept with probability 1.3e-6 */
    for (int i = 0; i < N; i++)
        changed = changed || labels[i] != 0;
    return changed;
}

TEST(both_are_charged_and_the_run_names_its_labels)
{
    struct ledger l;
    assert_int_equal(charge_both(40, budget), SOTTO_OK);
    assert_true(drawn());
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_true(l.charges == 2 && l.items[0].steps == 0 && l.items[1].steps == 1);
    ledger_close(&l);
}

/* The labels alone are within the budget. They stayed charged, and were lost, when the inputs were refused. */
TEST(inputs_beyond_the_budget_charge_no_labels)
{
    assert_int_equal(charge_both(.5, budget), SOTTO_EBUDGET);
    assert_false(drawn());
    assert_int_equal(charges(), 0);
    assert_int_equal(charge_both(40, budget), SOTTO_OK);
    assert_int_equal(charges(), 2);
    assert_int_equal(charge_both(.5, budget), SOTTO_EBUDGET);
    assert_int_equal(charges(), 2);
}

/* Wherever a process dies while it writes: what is there is a part of both lines. */
TEST(a_cut_anywhere_leaves_both_or_neither)
{
    unsigned char *data;
    size_t size, from, both = 0;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &from, path, 1 << 20), SOTTO_OK);
    base_free(data);
    assert_int_equal(charge_both(40, none), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    const char *end = memchr(data + from, '\n', size - from); /* of the labels' line */
    assert_non_null(end);
    const size_t first = (size_t)(end + 1 - (char *)data);
    for (size_t cut = from; cut <= size; cut++) {
        const bool near_end = (cut + 2 >= first && cut <= first + 2) || cut + 2 >= size;
        if (!near_end && cut % 97 != 0)
            continue;
        assert_int_equal(file_write(path, data, cut), SOTTO_OK);
        const size_t found = charges();
        assert_true(found == (cut >= size - 1 ? 3 : 1)); /* but for its newline a line is whole */
        both += found == 3;
        assert_int_equal(charges(), found); /* the repair is a ledger too */
    }
    assert_true(both == 2);
    assert_int_equal(charge_both(40, none), SOTTO_OK);
    assert_int_equal(charges(), 5);
    base_free(data);
}

static sotto_status count_charges(void *state, const struct ledger *l, const struct ledger_line *line)
{
    (void)l;
    *(size_t *)state += ledger_event_charges(line->event);
    return SOTTO_OK;
}

/* No command that only reads takes labels without their inputs for a charge, and none refuses the charges before them. */
TEST(a_reader_passes_over_a_charge_that_was_cut)
{
    unsigned char *data;
    size_t size;
    struct ledger l;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(charge_both(40, none), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    const char *end = memrchr(data, '\n', size - 1);
    assert_int_equal(file_write(path, data, (size_t)(end + 1 - (char *)data)), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_true(l.charges == 1 && l.cut > 0);
    ledger_close(&l);
    size_t seen = 0;
    assert_int_equal(ledger_walk(&l, path, count_charges, &seen), SOTTO_OK);
    assert_true(seen == 1 && l.charges == 1 && l.cut > 0);
    ledger_close(&l);
    base_free(data);
}

static sotto_status release_within(double scale, struct sotto_dp within)
{
    struct sotto_release r = release_of(scale);
    struct sotto_certificate *c = NULL;
    float v[4] = {0};
    r.spend.budget = within;
    sotto_status status = sotto_dp_release(&c, v, 4, &r, NULL);
    sotto_certificate_free(c);
    return status;
}

/* It stayed, and bound every release after it. */
TEST(a_refused_release_leaves_no_budget)
{
    unsigned char *before, *after;
    size_t size, size_after;
    struct ledger l;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&before, &size, path, 1 << 20), SOTTO_OK);
    assert_int_equal(release_within(.5, budget), SOTTO_EBUDGET);
    assert_int_equal(charge_both(.5, budget), SOTTO_EBUDGET);
    assert_int_equal(file_read(&after, &size_after, path, 1 << 20), SOTTO_OK);
    assert_true(size == size_after && memcmp(before, after, size) == 0);
    assert_int_equal(release_within(20, budget), SOTTO_OK); /* the control: it is written with a charge */
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_true(l.charges == 2 && l.recorded.epsilon == budget.epsilon);
    ledger_close(&l);
    base_free(before);
    base_free(after);
}

TEST(a_budget_and_its_charge_are_there_or_neither)
{
    unsigned char *data;
    size_t size, from, both = 0;
    struct ledger l;
    assert_int_equal(release_once(20), SOTTO_OK);
    assert_int_equal(file_read(&data, &from, path, 1 << 20), SOTTO_OK);
    base_free(data);
    assert_int_equal(release_within(20, budget), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    const size_t first = (size_t)((unsigned char *)memchr(data + from, '\n', size - from) + 1 - data);
    for (size_t cut = from; cut <= size; cut++) {
        if (!(cut + 2 >= first && cut <= first + 2) && cut + 2 < size && cut % 97 != 0)
            continue;
        assert_int_equal(file_write(path, data, cut), SOTTO_OK);
        assert_int_equal(ledger_read(&l, path), SOTTO_OK);
        const size_t found = l.charges;
        assert_true(found == (cut >= size - 1 ? 2 : 1) && isnan(l.budget.epsilon) == (found == 1));
        ledger_close(&l);
        both += found == 2;
        assert_int_equal(charges(), found);
    }
    assert_true(both == 2);
    base_free(data);
}

/* A file system that is full in the midst of the two lines. */
TEST(a_full_disk_charges_neither)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(charge_both(40, none), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    base_free(data);
    for (size_t room = size / 8; room + 2 < size; room += size / 8) {
        int result;
        unlink(path);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){room, RLIM_INFINITY});
            leave(charge_both(40, none) == SOTTO_EIO && !drawn() ? 0 : 1);
        }
        assert_true(waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0);
        assert_int_equal(charges(), 0);
        assert_int_equal(charge_both(40, none), SOTTO_OK);
        assert_int_equal(charges(), 2);
    }
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
