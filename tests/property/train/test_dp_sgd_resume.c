/* Private training that was interrupted goes on, is charged again, and never for less than it used. */
#include "support/test.h"
#include "support/machine.h"
#include "support/dp_sgd_world.h"
#include "base/file.h"
#include "support/certificate_text.h"
#include "sotto/ledger.h"

#include <signal.h>

static double ledger_charge(void) /* upper epsilon of all that the ledger holds */
{
    char *json = NULL;
    assert_int_equal(sotto_ledger_account(&json, path_of("ledger.jsonl"), 1e-5, NULL), SOTTO_OK);
    double upper = strtod(strstr(json, "\"epsilon\":") + 10, NULL);
    sotto_text_free(json);
    return upper;
}

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t after;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)stage, (void)total, (void)unit;
    struct stopper *s = user;
    s->stop = done >= s->after;
}

static void stop_after(const struct request *r, uint64_t steps)
{
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    struct stopper s = {.after = steps * r->o.batch};
    struct sotto_context ctx = machine.context;
    ctx.stop = &s.stop, ctx.progress = watch, ctx.user = &s;
    assert_int_equal(train(&n, &certificate, r, &ctx), SOTTO_ESTOPPED);
    assert_true(n == NULL && certificate == NULL);
}

/* A run in blocks that is stopped at the end of one goes on as if nothing had been (seeded, so that this can
 * be seen), at no further charge. */
TEST(a_run_goes_on)
{
    struct request r = on_blobs();
    size_t count;
    r.o.optimizer = "adam";
    r.o.lr = 0.05;
    r.p.clipping = "quantile";
    r.p.average = 0.9;
    r.p.steps = 8;
    r.p.reserve = 4;
    r.p.spend.insecure = 1;
    unlink(r.p.spend.ledger);
    double *whole = weights_of(&r, &count), charge = ledger_charge();
    unlink(r.p.spend.ledger);
    r.o.checkpoint = path_of("run.checkpoint");
    stop_after(&r, 4);
    double *resumed = weights_of(&r, &count);
    assert_true(distance(whole, resumed, count) == 0);
    assert_true(ledger_charge() == charge);
    base_free(whole);
    base_free(resumed);
}

/* Stopped within a block, it is charged for the steps that it draws anew. */
TEST(what_is_drawn_anew_is_charged_again)
{
    struct request r = on_blobs();
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    r.o.batch = N; /* all records: quick to account for */
    r.p.steps = 20;
    unlink(r.p.spend.ledger);
    r.o.checkpoint = path_of("again.checkpoint");
    stop_after(&r, 5);
    assert_int_equal(train(&n, &certificate, &r, &machine.context), SOTTO_OK);
    assert_true(certificate_holds(certificate, "\"charged\": 35"));
    assert_true(certificate_holds(certificate, "\"used\": 20"));
    sotto_certificate_free(certificate);
    sotto_network_free(n);
    /* Finished, but its file is not there: the certificate alone takes another step. */
    n = NULL;
    assert_int_equal(train(&n, &certificate, &r, &machine.context), SOTTO_OK);
    assert_true(certificate_holds(certificate, "\"charged\": 36"));
    sotto_certificate_free(certificate);
    sotto_network_free(n);
}

TEST(a_resume_that_would_undercount_is_refused)
{
    struct request r = on_blobs();
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    unsigned char *old = NULL;
    size_t size;
    r.o.batch = N; /* all records: quick to account for */
    r.p.steps = 20;
    r.p.reserve = 5;
    unlink(r.p.spend.ledger);
    r.o.checkpoint = path_of("short.checkpoint");
    stop_after(&r, 3);
    assert_int_equal(file_read(&old, &size, r.p.spend.ledger, 1 << 20), SOTTO_OK); /* 5 steps */
    unlink(r.o.checkpoint);
    unlink(r.p.spend.ledger);
    stop_after(&r, 12);
#define REFUSED(wanted, text)                                                                                \
    do {                                                                                                     \
        assert_int_equal(train(&n, &certificate, &r, &machine.context), wanted);                             \
        if (!strstr(sotto_error_text(), text))                                                               \
            fail_msg("%s", sotto_error_text());                                                              \
        assert_true(n == NULL && certificate == NULL);                                                       \
    } while (0)
    r.p.spend.ledger = path_of("another.jsonl"); /* which has no entry of the run */
    REFUSED(SOTTO_EINVAL, "has no reservation in");
    r.p.spend.ledger = path_of("ledger.jsonl");
    r.p.noise_multiplier = 2; /* it was trained with less noise */
    REFUSED(SOTTO_EINVAL, "made with noise_multiplier 0.8");
    r.p.noise_multiplier = 0.8;
    r.o.batch = 20;
    REFUSED(SOTTO_EINVAL,
            "this checkpoint cannot be continued, as it was made with batch 400 but now batch is 20");
    base_free(old);
}

/* A ledger put back to an earlier state: the run has used 8 steps, of which it holds 5. */
TEST(a_ledger_put_back_is_noticed)
{
    struct request r = on_blobs();
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    unsigned char *old = NULL;
    size_t size;
    r.o.batch = N; /* all records: quick to account for */
    r.p.steps = 20;
    r.p.reserve = 5;
    r.p.spend.insecure = 1;
    unlink(r.p.spend.ledger);
    r.o.checkpoint = path_of("back.checkpoint");
    stop_after(&r, 5);
    assert_int_equal(file_read(&old, &size, r.p.spend.ledger, 1 << 20), SOTTO_OK);
    stop_after(&r, 8);
    assert_int_equal(file_write(r.p.spend.ledger, old, size), SOTTO_OK);
    assert_int_equal(train(&n, &certificate, &r, &machine.context), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "is at step 8 but ledger"));
    base_free(old);
}

TEST_GROUP(.set_up = make_data, .tear_down = drop_data, .start = machine_f32, .tags = "matrix long")
