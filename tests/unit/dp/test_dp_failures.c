/* src/core/dp when things go wrong: every allocation of ours and of jansson fails once; every member of a
 * certificate and of a ledger entry is missing or of another kind once; files cannot be written, or only in
 * part. One line each, nothing half-written, nothing forgotten. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/account_memo.h"
#include "support/exercise.h"
#include "support/failing_jansson.h"
#include "base/file.h"
#include "dp/account/adaptive_account.h"
#include "dp/ledger/ledger_account.h"
#include "dp/release/dpsgd_session.h"
#include "support/leave.h"
#include "support/verify_json.h"
#include "sotto/private/all.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], ledger[96], scores[96], out[96], certificate[160];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/dev/shm/sotto-test-XXXXXX"); /* where fsync costs nothing */
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/sotto-test-XXXXXX");
        if (!mkdtemp(folder))
            return -1;
    }
    snprintf(ledger, sizeof ledger, "%s/l.jsonl", folder);
    snprintf(scores, sizeof scores, "%s/in.npy", folder);
    snprintf(out, sizeof out, "%s/out.npy", folder);
    snprintf(certificate, sizeof certificate, "%s.certificate.json", out);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct sotto_release request(const char *mechanism)
{
    return (struct sotto_release){
        .mechanism = mechanism,
        .scale = 2,
        .target = {NAN, 1e-5},
        .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "test"}};
}

/* --- uses, each of which must succeed or fail with ENOMEM */

static const char *mechanism;

static sotto_status use_release(void)
{
    struct sotto_release r = request(mechanism);
    float v[3] = {1, 2, 3};
    struct sotto_certificate *text = NULL;
    unlink(ledger);
    sotto_status status = sotto_dp_release(&text, v, 3, &r, NULL);
    if (status != SOTTO_OK)
        assert_true(v[0] == 1 && v[1] == 2 && v[2] == 3 && !text);
    sotto_certificate_free(text);
    return status;
}

static sotto_status use_flat_doubt(void)
{
    struct sotto_release r = request("logistic");
    float v[3] = {1, 2, 3};
    struct sotto_certificate *text = NULL;
    r.flat_doubt = 1;
    unlink(ledger);
    sotto_status status = sotto_dp_release(&text, v, 3, &r, NULL);
    sotto_certificate_free(text);
    return status;
}

static sotto_status use_select(void)
{
    struct sotto_release r = request("exponential");
    const double v[3] = {1, 2, 3};
    size_t chosen;
    struct sotto_certificate *text = NULL;
    unlink(ledger);
    sotto_status status = sotto_dp_select(&chosen, &text, v, 3, &r, NULL);
    sotto_certificate_free(text);
    return status;
}

static sotto_status use_labels(void)
{
    struct sotto_release r = request("randomised-response");
    int64_t labels[3] = {0, 1, 2};
    struct sotto_certificate *text = NULL;
    unlink(ledger);
    sotto_status status = sotto_dp_randomise(&text, labels, 3, 3, &r, NULL);
    sotto_certificate_free(text);
    return status;
}

static sotto_status use_protect(void)
{
    struct sotto_protect p = {.input = scores, .output = out, .classes = 3, .release = request(mechanism)};
    struct sotto_certificate *text = NULL;
    unlink(ledger);
    sotto_status status = sotto_protect_file(&text, &p, NULL);
    sotto_certificate_free(text);
    return status;
}

static sotto_status use_verify(void)
{
    char *report = NULL;
    sotto_status status = verify_json(&report, certificate, out, ledger, NULL);
    sotto_text_free(report);
    return status;
}

static sotto_status use_ledger_account(void)
{
    char *text = NULL;
    sotto_status status = sotto_ledger_account(&text, ledger, 1e-5, NULL);
    sotto_text_free(text);
    return status;
}

static sotto_status use_compose(void)
{
    const struct sotto_event e = {
        .mechanism = "laplace", .count = 2, .scale = 2, .l1 = 1, .l2 = NAN, .adjacency = SOTTO_REPLACE_ONE};
    struct sotto_account a;
    return sotto_account_events(&a, &e, 1, 1e-3, SOTTO_REPLACE_ONE, NULL);
}

static sotto_status use_any_order(void)
{
    const struct sotto_event e[] = {
        {.mechanism = "laplace", .count = 2, .scale = 2, .l1 = 1, .l2 = NAN, .adjacency = SOTTO_REPLACE_ONE},
        {.mechanism = "stated", .count = 2, .stated = {.1, 0}, .adjacency = SOTTO_REPLACE_ONE}};
    struct sotto_any_order a;
    char *text = NULL;
    sotto_status status = account_any_order(&a, e, 2, 1e-3, SOTTO_REPLACE_ONE, NULL);
    if (status == SOTTO_OK)
        status = sotto_any_order_json(&text, &a);
    sotto_text_free(text);
    return status;
}

static sotto_status use_account_text(void)
{
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 8,
                              .sample_rate = 0.01,
                              .steps = 10,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON}; /* a small grid */
    struct sotto_account a;
    char *text = NULL;
    sotto_status status = sotto_account_sampled(&a, &s, NULL);
    if (status == SOTTO_OK)
        status = sotto_account_json(&text, &a);
    sotto_text_free(text);
    return status;
}

static sotto_status use_budget(void)
{
    struct sotto_release r = request("gaussian");
    float v[1] = {1};
    struct sotto_certificate *text = NULL;
    r.spend.budget = (struct sotto_dp){50, 1e-5};
    unlink(ledger);
    sotto_status status = sotto_dp_release(&text, v, 1, &r, NULL);
    sotto_certificate_free(text);
    text = NULL;
    if (status == SOTTO_OK) {
        r.mechanism = "laplace"; /* another kind: the sums do not do, the events are composed */
        r.spend.budget = (struct sotto_dp){3.3, 1e-5};
        status = sotto_dp_release(&text, v, 1, &r, NULL);
        sotto_certificate_free(text);
    }
    return status;
}

/* Its charge, and a release of it: where memory fails, the slot is spent or not, and the next plan goes on. */
static sotto_status use_plan(void)
{
    static const char events[] = "schema: sotto.events/1\nadjacency: replace-one\nevents:\n"
                                 "- {mechanism: %s, scale: 2, l1: 1, l2: 1, dimension: 3}\n"
                                 "- {mechanism: %s, scale: 9, l1: 1, l2: 1}\n";
    struct sotto_release r = request(mechanism);
    const bool pure = strcmp(mechanism, "laplace") == 0;
    float v[3] = {1, 2, 3};
    struct sotto_certificate *c = NULL;
    char file[128], id[80] = "", *json = NULL, *table = NULL;
    snprintf(file, sizeof file, "%s/events.yaml", folder);
    FILE *f = fopen(file, "w");
    assert_true(f && fprintf(f, events, mechanism, mechanism) > 0 && fclose(f) == 0);
    unlink(ledger);
    sotto_status status = sotto_ledger_plan(&json, &table, file, pure ? 0 : 1e-5, &r.spend, NULL);
    assert_true((status == SOTTO_OK) == (json && table));
    if (status == SOTTO_OK) {
        snprintf(id, sizeof id, "%.64s:1", strstr(json, "\"plan\": \"") + strlen("\"plan\": \""));
        r.spend.planned = id;
        if (pure)
            r.target.delta = SOTTO_DELTA_PURE;
        status = sotto_dp_release(&c, v, 3, &r, NULL);
    }
    sotto_certificate_free(c);
    sotto_text_free(json);
    sotto_text_free(table);
    return status;
}

/* Labels and inputs: one charge. */
static sotto_status use_pair(void)
{
    const struct sotto_release of_labels = request(RUN_LABEL_MECHANISM);
    const struct sotto_dpsgd_request r = {.sampled = {.mechanism = "gaussian",
                                                      .noise_multiplier = 8,
                                                      .sample_rate = 1,
                                                      .steps = 1,
                                                      .delta = 1e-5,
                                                      .adjacency = SOTTO_REPLACE_INPUT},
                                          .max_grad_norm = 1,
                                          .dimension = 3,
                                          .spend = of_labels.spend,
                                          .records = 3};
    int64_t labels[3] = {0, 1, 2};
    struct label_release own;
    struct sotto_certificate *c = NULL;
    struct sotto_dpsgd_session *s = NULL;
    struct ledger l;
    unlink(ledger);
    sotto_status status = label_release_make(&own, labels, 3, 3, &of_labels, NULL);
    if (status == SOTTO_OK)
        status = dpsgd_reserve_with_labels(&s, &c, &r, &own, NULL);
    sotto_certificate_free(c);
    sotto_dpsgd_session_close(s);
    if (status == SOTTO_ENOMEM && file_exists(ledger)) {
        base_alloc_fail_after(-1);
        jansson_left = -1;
        assert_int_equal(ledger_open(&l, ledger, NULL), SOTTO_OK);
        assert_true(l.charges == 0 || l.charges == 2);
        ledger_close(&l);
    }
    return status;
}

/* --- memory */

static void sweep(const char *what, sotto_status (*use)(void), bool jansson)
{
    sotto_status status = SOTTO_ENOMEM;
    long i;
    for (i = 0; status != SOTTO_OK && i < 4000; i++) {
        if (jansson)
            jansson_left = i;
        else
            base_alloc_fail_after(i);
        status = use();
        jansson_left = -1;
        base_alloc_fail_after(-1);
        /* jansson's scanner reports a failed allocation inside a string as a syntax error; we cannot tell. */
        if (status != SOTTO_OK && status != SOTTO_ENOMEM && !(jansson && status == SOTTO_EFORMAT))
            fail_msg("%s, allocation %ld: %s: %s", what, i, sotto_status_name(status), sotto_error_text());
    }
    if (status != SOTTO_OK)
        fail_msg("%s: %s: %s", what, sotto_status_name(status), sotto_error_text());
}

static void write_array(enum sotto_dtype dtype)
{
    const size_t shape[] = {3};
    struct sotto_array a;
    assert_int_equal(sotto_array_make(&a, dtype, 1, shape), SOTTO_OK);
    for (int i = 0; i < 3; i++)
        if (dtype == SOTTO_I8)
            ((int64_t *)a.data)[i] = i;
        else
            ((float *)a.data)[i] = (float)i;
    assert_int_equal(sotto_npy_save(scores, &a), SOTTO_OK);
    sotto_array_clear(&a);
}

/* What is swept, in parts of a second or two. */
static void releases(bool jansson)
{
    static const char *const vectors[] = {"logistic", "discrete-laplace", "discrete-gaussian", "knorm", NULL};
    for (int i = 0; vectors[i]; i++) {
        mechanism = vectors[i];
        sweep(mechanism, use_release, jansson);
    }
}

static void other_releases(bool jansson)
{
    sweep("flat doubt", use_flat_doubt, jansson);
    sweep("select", use_select, jansson);
    sweep("labels", use_labels, jansson);
}

static void plan(bool jansson)
{
    sweep("budget", use_budget, jansson);
    mechanism = "gaussian"; /* its curve takes no time; others without memory: test_adaptive_offers */
    sweep("plan", use_plan, jansson);
}

static void pair(bool jansson)
{
    sweep("labels and inputs", use_pair, jansson);
}

static void scores_file(bool jansson)
{
    mechanism = "exponential";
    write_array(SOTTO_F4);
    sweep("protect scores", use_protect, jansson);
    sweep("verify scores", use_verify, jansson);
}

static void labels_file(bool jansson)
{
    mechanism = "randomised-response";
    write_array(SOTTO_I8);
    sweep("protect labels", use_protect, jansson);
    sweep("verify labels", use_verify, jansson);
    sweep("ledger account", use_ledger_account, jansson);
}

static void accounts(bool jansson)
{
    sweep("account as text", use_account_text, jansson);
    sweep("any order", use_any_order, jansson);
    if (!jansson)
        sweep("compose", use_compose, jansson);
}

TEST(our_allocations_may_fail)
{
    void (*const parts[])(bool) = {releases, other_releases, plan, pair, scores_file, labels_file, accounts};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        parts[i](false);
}

static void janssons_may_fail(void (*part)(bool))
{
    remember_accounts();
    json_set_alloc_funcs(jansson_malloc, free);
    part(true);
    json_set_alloc_funcs(malloc, free);
}

TEST(janssons_allocations_may_fail_in_releases)
{
    janssons_may_fail(releases);
}

TEST(janssons_allocations_may_fail_in_other_releases)
{
    janssons_may_fail(other_releases);
}

TEST(janssons_allocations_may_fail_in_a_plan)
{
    janssons_may_fail(plan);
}

TEST(janssons_allocations_may_fail_in_two_charges_of_one_release)
{
    janssons_may_fail(pair);
}

TEST(janssons_allocations_may_fail_in_a_file_of_scores)
{
    janssons_may_fail(scores_file);
}

TEST(janssons_allocations_may_fail_in_a_file_of_labels)
{
    janssons_may_fail(labels_file);
}

TEST(janssons_allocations_may_fail_in_accounts)
{
    janssons_may_fail(accounts);
}

/* --- documents with a member missing or of another kind */

static void make_certificate(const char *name, enum sotto_dtype dtype)
{
    mechanism = name;
    write_array(dtype);
    assert_int_equal(use_protect(), SOTTO_OK);
}

/* Calls `try` for every leaf of the document, once removed and once replaced by something else. */
static void mangle(json_t *document, json_t *node, void (*try)(json_t *document))
{
    char names[40][64];
    int count = 0;
    for (void *at = json_object_iter(node); at; at = json_object_iter_next(node, at))
        snprintf(names[count++], sizeof names[0], "%s", json_object_iter_key(at));
    assert_true(count < 40);
    for (int n = 0; n < count; n++) {
        json_t *value = json_incref(json_object_get(node, names[n]));
        json_t *others[] = {json_integer(-7), json_string("other"), json_null(), json_real(1e300)};
        if (json_is_object(value))
            mangle(document, value, try);
        json_object_del(node, names[n]);
        try(document);
        for (int i = 0; i < 4; i++) {
            json_object_set_new(node, names[n], others[i]);
            try(document);
        }
        json_object_set_new(node, names[n], value);
    }
}

static void try_certificate(json_t *document)
{
    char *report = NULL, *text = json_dumps(document, JSON_INDENT(1));
    assert_int_equal(file_write(certificate, text, strlen(text)), SOTTO_OK);
    sotto_status status = verify_json(&report, certificate, out, ledger, NULL);
    assert_true(status == SOTTO_OK || status == SOTTO_EGATE || status == SOTTO_EFORMAT ||
                status == SOTTO_EINVAL);
    assert_int_equal(status == SOTTO_OK || status == SOTTO_EGATE, report != NULL);
    sotto_text_free(report);
    free(text);
}

TEST(any_member_of_a_certificate_may_be_wrong)
{
    static const struct {
        const char *name;
        enum sotto_dtype dtype;
    } kinds[] = {{"gaussian", SOTTO_F4}, {"discrete-laplace", SOTTO_F4}, {"randomised-response", SOTTO_I8}};
    for (int i = 0; i < 3; i++) {
        make_certificate(kinds[i].name, kinds[i].dtype);
        json_t *document = json_load_file(certificate, 0, NULL);
        assert_non_null(document);
        mangle(document, document, try_certificate);
        json_decref(document);
    }
}

static struct ledger open_ledger;

/* The entry as the next line, with a proper hash: whatever it says, sums stay numbers or the line is
 * refused. */
static void try_entry(json_t *document)
{
    struct sotto_account a;
    char *text = json_dumps(document, JSON_COMPACT);
    unlink(ledger);
    assert_int_equal(ledger_open(&open_ledger, ledger, NULL), SOTTO_OK);
    open_ledger.budget = (struct sotto_dp){1, 1e-5};
    sotto_status status = ledger_append(&open_ledger, text);
    assert_true(status == SOTTO_OK || status == SOTTO_EFORMAT);
    ledger_close(&open_ledger);
    status = ledger_read(&open_ledger, ledger);
    assert_true(status == SOTTO_OK || status == SOTTO_EFORMAT);
    if (status == SOTTO_OK) {
        double delta = json_object_get(document, "steps") ? 0 : 1e-5; /* sampled steps take long at others */
        status = ledger_column_account(&a, &sums_of(&open_ledger)->proved,
                                       &sums_of(&open_ledger)->proved_events, delta, NULL);
        assert_true(status == SOTTO_OK && a.epsilon.upper >= 0);
        ledger_close(&open_ledger);
    }
    free(text);
}

static json_t *last_entry(void)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, ledger, 1 << 20), SOTTO_OK);
    data[size - 1] = '\0';
    char *start = strrchr((char *)data, '\n');
    json_t *document = json_loads(start ? start + 1 : (char *)data, 0, NULL);
    assert_non_null(document);
    static const char *const chain[] = {"index", "time", "nonce", "prev", "hash"};
    for (size_t i = 0; i < sizeof chain / sizeof *chain; i++)
        json_object_del(document, chain[i]);
    base_free(data);
    return document;
}

TEST(any_member_of_an_entry_may_be_wrong)
{
    mechanism = "discrete-laplace";
    assert_int_equal(use_release(), SOTTO_OK);
    json_t *document = last_entry();
    mangle(document, document, try_entry);
    json_decref(document);
    assert_int_equal(use_flat_doubt(), SOTTO_OK);
    document = last_entry();
    try_entry(document);
    json_decref(document);
    struct sotto_dpsgd_request r = {.sampled = {.mechanism = "gaussian",
                                                .noise_multiplier = 8,
                                                .sample_rate = 0.01,
                                                .steps = 10,
                                                .delta = 1e-5,
                                                .clipping = SOTTO_NORM_L2,
                                                .adjacency = SOTTO_ZERO_OUT,
                                                .sampling = SOTTO_SAMPLING_POISSON},
                                    .max_grad_norm = 1,
                                    .dimension = 3,
                                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger}};
    struct sotto_dpsgd_session *steps;
    unlink(ledger);
    assert_int_equal(sotto_dp_reserve(&steps, &r, NULL), SOTTO_OK);
    sotto_dpsgd_session_close(steps);
    document = last_entry();
    mangle(document, document, try_entry);
    json_decref(document);
    document = json_pack("{s:s, s:f, s:f}", "event", "budget", "epsilon", 1.0, "delta", 1e-5);
    mangle(document, document, try_entry);
    json_object_set_new(document, "epsilon", json_real(-1));
    try_entry(document);
    json_object_set_new(document, "epsilon", json_real(1));
    json_object_set_new(document, "delta", json_real(-1));
    try_entry(document);
    json_decref(document);
}

/* --- files */

/* Runs `use` in a child process with files of at most `bytes`, and returns its status. */
static int limited(rlim_t bytes, sotto_status (*use)(void))
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {bytes, RLIM_INFINITY};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        leave((int)use());
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static sotto_status release_again(void)
{
    struct sotto_release r = request("logistic");
    float v[1] = {5};
    struct sotto_certificate *text = NULL;
    sotto_status status = sotto_dp_release(&text, v, 1, &r, NULL);
    if (status != SOTTO_OK && (v[0] != 5 || text))
        return SOTTO_EINTERNAL;
    sotto_certificate_free(text);
    return status;
}

TEST(a_full_disk_releases_nothing)
{
    for (rlim_t bytes = 0; bytes < 700; bytes += 233) {
        unlink(ledger);
        assert_int_equal(limited(bytes, release_again), SOTTO_EIO);
    }
    assert_int_equal(release_again(), SOTTO_OK); /* the torn line is repaired */
    struct ledger l;
    assert_int_equal(ledger_read(&l, ledger), SOTTO_OK);
    assert_int_equal(sums_of(&l)->proved.releases, 1);
    assert_int_equal(l.entries, 2);
    ledger_close(&l);
    /* and when the repair itself cannot be written */
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, ledger, 1 << 20), SOTTO_OK);
    char torn[128];
    snprintf(torn, sizeof torn, "%s.torn", ledger);
    for (rlim_t bytes = 0; bytes < 3; bytes += 2) {
        assert_int_equal(file_write(ledger, data, size - 5), SOTTO_OK);
        unlink(torn);
        assert_int_equal(limited(bytes, release_again), SOTTO_EIO);
    }
    assert_int_equal(file_write(ledger, data, size - 5), SOTTO_OK);
    unlink(torn);
    assert_int_equal(mkdir(torn, 0700), 0);
    assert_int_equal(release_again(), SOTTO_ECREATE);
    assert_int_equal(rmdir(torn), 0);
    base_free(data);
}

TEST(a_budget_that_cannot_be_written_releases_nothing)
{
    assert_int_equal(limited(10, use_budget), SOTTO_EIO);
}

TEST(a_held_ledger_is_waited_for)
{
    assert_int_equal(release_again(), SOTTO_OK);
    int fd = open(ledger, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    pid_t child = fork();
    if (child == 0) {
        close(fd); /* the lock belongs to the open file that the parent still has */
        leave((int)release_again());
    }
    usleep(200000);
    close(fd);
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == SOTTO_OK);
}

TEST(default_ledgers_are_used)
{
    char path[160];
    struct sotto_release r = request("laplace");
    struct sotto_dpsgd_request run = {.sampled = {.mechanism = "gaussian",
                                                  .noise_multiplier = 4,
                                                  .sample_rate = 0.01,
                                                  .steps = 10,
                                                  .delta = 1e-5,
                                                  .clipping = SOTTO_NORM_L2,
                                                  .adjacency = SOTTO_ZERO_OUT,
                                                  .sampling = SOTTO_SAMPLING_POISSON},
                                      .max_grad_norm = 1,
                                      .dimension = 3,
                                      .spend = {.dataset_id = "toy", .source = &exercise}};
    struct sotto_dpsgd_session *steps;
    float v[1] = {5};
    struct sotto_certificate *text = NULL;
    r.spend.ledger = NULL;
    setenv("XDG_DATA_HOME", folder, 1);
    assert_int_equal(sotto_dp_release(&text, v, 1, &r, NULL), SOTTO_OK);
    sotto_certificate_free(text);
    assert_int_equal(sotto_dp_reserve(&steps, &run, NULL), SOTTO_OK);
    sotto_dpsgd_session_close(steps);
    snprintf(path, sizeof path, "%s/sotto/ledger/toy.jsonl", folder);
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.entries, 2);
    ledger_close(&l);
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    text = NULL;
    assert_int_equal(sotto_dp_release(&text, v, 1, &r, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_dp_reserve(&steps, &run, NULL), SOTTO_EINVAL);
    /* a name in the working folder: no folder to make, and that folder is synced */
    char *here = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    r.spend.ledger = "bare.jsonl";
    assert_int_equal(sotto_dp_release(&text, v, 1, &r, NULL), SOTTO_OK);
    sotto_certificate_free(text);
    assert_int_equal(chdir(here), 0);
    free(here);
}

TEST_GROUP(.shards = 8, .before = make_folder, .after = remove_folder, .tags = "long")
