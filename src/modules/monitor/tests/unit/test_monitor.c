/* The monitor by hand: values, ranks and wealths of small streams, what it refuses, and its log. f32 distances, the best
 * instruction set (their bits are those of every level), one thread. */
#include "support/test.h"

#include "base/file.h"
#include "monitor/bet.h"
#include "monitor/distances.h"
#include "monitor/monitor_state.h"
#include "monitor/query_log.h"
#include "rng/rng.h"
#include "sotto/lab/monitor.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What reaches the disk: 0 fails at the first fsync(), < 0 never. */
static int syncs, syncs_left = -1;

int fsync(int fd)
{
    syncs++;
    if (syncs_left-- == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static void near_to(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("%.17g; expected %.17g", found, expected);
}

/* Three blocks of three rows of one number: 0 1 3, 0 2 4, 0 5 9; the bank is the row 20. */
static const float calibration[9] = {0, 1, 3, 0, 2, 4, 0, 5, 9}, bank[1] = {20};
static const float answers[18] = {.7f, .3f, .5f, .5f, 1,   0,   .9f, .1f, .8f,
                                  .2f, 1,   0,   .6f, .4f, .7f, .3f, .8f, .2f};
static struct sotto_monitor_input small(void)
{
    return (struct sotto_monitor_input){.calibration = calibration,
                                        .calibration_rows = 9,
                                        .columns = 1,
                                        .calibration_answers = answers,
                                        .classes = 2,
                                        .bank = bank,
                                        .bank_rows = 1};
}
static const struct sotto_monitor_options three = {.alpha = .5, .block = 3};

static struct sotto_monitor *make(const struct sotto_monitor_input *in, const struct sotto_monitor_options *o)
{
    struct sotto_monitor *m = NULL;
    if (sotto_monitor_make(&m, in, o, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return m;
}

TEST(a_block_is_worked_out_by_hand)
{
    struct sotto_monitor_input in = small();
    struct sotto_monitor *m = make(&in, &three);
    const struct sotto_monitor_result *r = sotto_monitor_result(m);
    assert_int_equal(r->calibration_blocks, 3);
    assert_int_equal(r->statistics, 3);
    near_to(r->threshold, 6);
    /* rows 1, 2, 4: nearest others 1, 1, 2; distances to the bank 19, 18, 16; margins .4, 0, 1 */
    const float x[3] = {1, 2, 4}, p[6] = {.7f, .3f, .5f, .5f, 1, 0};
    assert_int_equal(monitor_feed(m, "ada", x, p, 2), SOTTO_OK);
    assert_int_equal(r->client[0].blocks, 0); /* a frame need not be a block */
    assert_int_equal(monitor_feed(m, "ada", x + 2, p + 4, 1), SOTTO_OK);
    assert_int_equal(r->clients, 1);
    assert_int_equal(r->client[0].rows, 3);
    assert_int_equal(r->client[0].blocks, 1);
    const struct sotto_monitor_block *b = r->client[0].block;
    near_to(b->value[SOTTO_NEAR], -(2 * log(1 + 1e-6) + log(2 + 1e-6)) / 3);
    near_to(b->value[SOTTO_OFF], (log(19 + 1e-6) + log(18 + 1e-6) + log(16 + 1e-6)) / 3);
    near_to(b->value[SOTTO_MARGIN],
            -(log((double)(.7f) - (double)(.3f) + 1e-6) + log(1e-6) + log(1 + 1e-6)) / 3);
    /* near: equal to the first calibration block (a tie counts), above the other two; off: below two blocks; margin: equal
     * to the first */
    near_to(b->p[SOTTO_NEAR], 2.0 / 4);
    near_to(b->p[SOTTO_OFF], 3.0 / 4);
    near_to(b->p[SOTTO_MARGIN], 2.0 / 4);
    near_to(b->log_wealth[SOTTO_OFF], log(.5 * exp(bet_log(.75)) + .5)); /* half of the stake waits */
    /* the second block stands among its predecessor too: near 2 of 4, and a sixth is bet from here on */
    assert_int_equal(monitor_feed(m, "ada", x, p, 3), SOTTO_OK);
    b = r->client[0].block + 1;
    near_to(b->p[SOTTO_NEAR], 3.0 / 5);
    near_to(b->log_wealth[SOTTO_NEAR], log((.5 * exp(bet_log(.5)) + 1. / 6) * exp(bet_log(.6)) + 1. / 3));
    sotto_monitor_free(m);
}

/* The alarm is the largest wealth's, at statistics/alpha, not that of their mean; it stays once raised. */
TEST(the_largest_wealth_raises_the_alarm)
{
    enum { K = 99, M = 2 };
    float many[2 * K], far[2];
    struct sotto_monitor_input in = {
        .calibration = many, .calibration_rows = 2 * K, .columns = 1, .bank = bank, .bank_rows = 1};
    const struct sotto_monitor_options o = {.alpha = .001, .block = M};
    for (int i = 0; i < K; i++)
        many[2 * i] = 0, many[2 * i + 1] = 1 + .01f * (float)i;
    struct sotto_monitor *m = make(&in, &o);
    const struct sotto_monitor_result *r = sotto_monitor_result(m);
    near_to(r->threshold, 2000); /* without answers there are two statistics */
    assert_int_equal(r->fewest_blocks, bet_fewest(K, log(2000)));
    for (size_t i = 0; i < r->fewest_blocks; i++) {
        assert_int_equal(r->clients ? r->client[0].alarm : 0, 0);
        far[0] = 1000 * (float)(i + 1), far[1] = 2 * far[0]; /* farther every time, and far from each other */
        assert_int_equal(monitor_feed(m, "eve", far, NULL, 2), SOTTO_OK);
    }
    assert_int_equal(r->client[0].alarm, 2 * r->fewest_blocks);
    assert_int_equal(r->client[0].reached[SOTTO_OFF], r->client[0].alarm);
    assert_int_equal(r->client[0].reached[SOTTO_NEAR], 0);
    assert_true(isnan(r->client[0].block[0].p[SOTTO_MARGIN]));
    for (int i = 0; i < 200; i++) /* harmless rows afterwards lose the wealth, not the alarm */
        assert_int_equal(monitor_feed(m, "eve", many + 2 * (i % K), NULL, 2), SOTTO_OK);
    assert_true(r->client[0].block[r->client[0].blocks - 1].log_wealth[SOTTO_OFF] < log(2000));
    assert_int_equal(r->client[0].alarm, 2 * r->fewest_blocks);
    sotto_monitor_free(m);
}

/* Rows dealt to many accounts leave each below its first alarm; the wealth of the service sees them in one stream. */
TEST(the_service_sees_many_accounts)
{
    enum { K = 200, M = 10, ACCOUNTS = 20 };
    static float many[K * M];
    struct rng g = rng_stream(5, RNG_TEST, 0, 0);
    struct sotto_monitor_input in = {
        .calibration = many, .calibration_rows = K * M, .columns = 1, .bank = bank, .bank_rows = 1};
    struct sotto_monitor_options o = {.alpha = .001, .block = M, .service = 1};
    for (int i = 0; i < K * M; i++)
        many[i] = (float)rng_normal(&g);
    struct sotto_monitor *m = make(&in, &o);
    const struct sotto_monitor_result *r = sotto_monitor_result(m);
    near_to(r->threshold, 4000);
    for (int i = 0; i < M * ACCOUNTS; i++) { /* one block for each account, all of them about one row */
        char name[16];
        float row = .001f * (float)rng_normal(&g);
        snprintf(name, sizeof name, "a%d", i % ACCOUNTS);
        assert_int_equal(monitor_feed(m, name, &row, NULL, 1), SOTTO_OK);
    }
    assert_int_equal(r->clients, ACCOUNTS);
    for (size_t i = 0; i < r->clients; i++) {
        assert_int_equal(r->client[i].blocks, 1);
        assert_int_equal(r->client[i].alarm, 0);
    }
    assert_true(r->service.alarm > 0 && r->service.alarm <= M * ACCOUNTS);
    assert_int_equal(r->service.rows, M * ACCOUNTS);
    sotto_monitor_free(m);
}

static void refused(const char *text, const struct sotto_monitor_input *in,
                    const struct sotto_monitor_options *o)
{
    struct sotto_monitor *m = NULL;
    assert_int_equal(sotto_monitor_make(&m, in, o, NULL), SOTTO_EINVAL);
    assert_null(m);
    if (!strstr(sotto_error_text(), text))
        fail_msg("%s; expected: %s", sotto_error_text(), text);
}

/* Calibration and bank rows that are training records, or each other, are refused by value and by source. */
TEST(shared_records_are_refused)
{
    const float members[2] = {50, 4}, lonely[2] = {50, 51}, banked[2] = {20, 9};
    int64_t some[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, others[2] = {10, 7}, apart[2] = {10, 11};
    struct sotto_provenance a = {.set = "adult", .rows = some, .n = 9},
                            b = {.set = "adult", .rows = others, .n = 2},
                            c = {.set = "adult", .rows = apart, .n = 2};
    struct sotto_monitor_input in = small();
    in.training = members, in.training_rows = 2;
    refused("1 rows of the calibration are equal to rows of the training records", &in, &three);
    in.training = lonely;
    struct sotto_monitor *m = make(&in, &three);
    assert_int_equal(sotto_monitor_result(m)->training_checked, 1);
    sotto_monitor_free(m);
    in.training_source = &b, in.calibration_source = &a;
    refused("record 7 of set adult is in both the calibration and the training records", &in, &three);
    in.training = members,
    in.training_source = &c; /* known to be other records: equal values are no matter */
    sotto_monitor_free(make(&in, &three));
    in = small();
    in.bank = banked, in.bank_rows = 2;
    refused("1 rows of the calibration are equal to rows of the bank", &in, &three);
    in = small();
    m = make(&in, &three);
    assert_int_equal(sotto_monitor_result(m)->training_checked, 0);
    sotto_monitor_free(m);
}

TEST(bad_input_is_refused)
{
    const float bad[3] = {1, NAN, 2};
    struct sotto_monitor_input in = small();
    struct sotto_monitor_options o = three;
    o.alpha = 1;
    refused("alpha must be", &in, &o);
    o = three, o.block = 1;
    refused("block must be", &in, &o);
    in.calibration_rows = 2;
    refused("no block of 3 calibration rows is complete", &in, &three);
    in = small(), in.calibration = bad, in.calibration_rows = 3;
    refused("the calibration: row 1, column 0 is nan", &in, &three);
    in = small();
    o = three, o.clients = 2;
    struct sotto_monitor *m = make(&in, &o);
    const float x[3] = {1, 2, 4}, p[6] = {.7f, .3f, .5f, .5f, 1, 0};
    assert_int_equal(monitor_feed(m, "a", bad, p, 3), SOTTO_EINVAL);
    assert_int_equal(monitor_feed(m, "a", x, NULL, 3), SOTTO_EINVAL);
    assert_int_equal(monitor_feed(m, "two\nlines", x, p, 3), SOTTO_EINVAL);
    assert_int_equal(monitor_feed(m, "", x, p, 3), SOTTO_EINVAL);
    assert_int_equal(sotto_monitor_result(m)->clients, 0);
    assert_int_equal(monitor_feed(m, "a", x, p, 3), SOTTO_OK);
    assert_int_equal(monitor_feed(m, NULL, x, p, 0), SOTTO_OK);
    assert_int_equal(monitor_feed(m, NULL, x, p, 1), SOTTO_OK);
    assert_string_equal(sotto_monitor_result(m)->client[1].name, "anonymous");
    assert_int_equal(monitor_feed(m, "c", x, p, 1), SOTTO_EBUDGET);
    sotto_monitor_free(m);
}

/* Equal rows, far rows and numbers whose squares overflow give ranks, never NaN. */
TEST(edges_have_ranks)
{
    struct sotto_monitor_input in = small();
    struct sotto_monitor *m = make(&in, &three);
    const float same[3] = {5, 5, 5}, far[3] = {3e38f, -3e38f, 3e38f}, p[6] = {1, 0, 1, 0, 1, 0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(monitor_feed(m, "a", same, p, 3), SOTTO_OK);
        assert_int_equal(monitor_feed(m, "a", far, p, 3), SOTTO_OK);
    }
    const struct sotto_monitor_stream *s = sotto_monitor_result(m)->client;
    for (size_t b = 0; b < s->blocks; b++)
        for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++) {
            assert_false(isnan(s->block[b].value[k]));
            assert_true(s->block[b].p[k] > 0 && s->block[b].p[k] <= 1);
        }
    near_to(s->block[0].value[SOTTO_NEAR], -log(1e-6));
    near_to(s->block[0].p[SOTTO_NEAR], 1.0 / 4); /* a client that retries is extreme: documented */
    sotto_monitor_free(m);
}

TEST(distances_are_those_of_doubles)
{
    enum { N = 5, D = 37 };
    float row[D], table[N * D], out[N];
    struct rng g = rng_stream(3, RNG_TEST, 0, 0);
    for (int j = 0; j < D; j++)
        row[j] = rng_unit_f(&g);
    for (int i = 0; i < N * D; i++)
        table[i] = rng_unit_f(&g);
    for (size_t d = 1; d <= D; d++) {
        monitor_distances_best()(out, row, table, N, d);
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t j = 0; j < d; j++)
                sum += pow((double)row[j] - (double)table[i * d + j], 2);
            assert_true(fabs((double)out[i] - sum) <= 1e-6 * sum);
        }
    }
}

/* --- logs ---------------------------------------------------------------------------------------------- */

static struct exchange exchange_of(const char *client, const float *x, size_t n, const float *p)
{
    struct exchange e = {.rows = {SOTTO_F4, 2, {n, 1}, n, (void *)(uintptr_t)x},
                         .answers = {SOTTO_F4, 2, {n, 2}, 2 * n, (void *)(uintptr_t)p}};
    snprintf(e.client, sizeof e.client, "%s", client);
    return e;
}

static void write_log(const char *path, int first, int last)
{
    static const float x[4] = {1, 2, 4, 7}, p[8] = {.7f, .3f, .5f, .5f, 1, 0, .2f, .8f};
    static const char *const names[] = {"ada", "", "bob"};
    struct query_log l;
    assert_int_equal(query_log_open(&l, path), SOTTO_OK);
    for (int i = first; i < last; i++) {
        struct exchange e = exchange_of(names[i % 3], x, 1 + (size_t)i % 4, p);
        assert_int_equal(query_log_append(&l, &e), SOTTO_OK);
    }
    query_log_close(&l);
}

static char *judged(const char *path, uint64_t *torn)
{
    char *text;
    struct sotto_monitor_input in = small();
    struct sotto_monitor *m = make(&in, &three);
    if (sotto_monitor_replay(m, path, torn, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(sotto_monitor_json(&text, sotto_monitor_result(m)), SOTTO_OK);
    sotto_monitor_free(m);
    return text;
}

/* The same words about a log that was written at once and one that was cut at every byte and continued from there. */
TEST(a_log_survives_a_cut_anywhere)
{
    uint64_t torn;
    write_log(path_of("whole.log"), 0, 9);
    char *whole = judged(path_of("whole.log"), &torn);
    assert_int_equal(torn, 0);
    FILE *f = fopen(path_of("whole.log"), "rb");
    static unsigned char bytes[65536];
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t cut = 0; cut <= size; cut += 7) {
        f = fopen(path_of("cut.log"), "wb");
        assert_int_equal(fwrite(bytes, 1, cut, f), cut);
        fclose(f);
        char *part = judged(path_of("cut.log"), &torn);
        struct query_log l;
        assert_int_equal(query_log_open(&l, path_of("cut.log")), SOTTO_OK);
        assert_int_equal(l.size, cut);
        assert_int_equal(query_log_cut(&l, cut - torn), SOTTO_OK);
        query_log_close(&l);
        f = fopen(path_of("cut.log"), "ab");
        fwrite(bytes + cut - torn, 1, size - (cut - torn), f);
        fclose(f);
        char *again = judged(path_of("cut.log"), &torn);
        assert_string_equal(again, whole);
        sotto_text_free(part);
        sotto_text_free(again);
    }
    sotto_text_free(whole);
}

/* Each exchange is on the disk when it is appended, and so is the name of a new log; what the disk refuses is not in it. */
TEST(an_exchange_is_on_the_disk_before_its_answer_leaves)
{
    struct query_log l;
    const float x[1] = {1}, p[2] = {1, 0};
    struct exchange e = exchange_of("ada", x, 1, p);
    assert_int_equal(file_write(path_of("ledger"), "{\"schema\":\"sotto.ledger/1\"}\n", 28), SOTTO_OK);
    assert_int_equal(query_log_open(&l, path_of("ledger")), SOTTO_ECREATE); /* no log continues a ledger */
    syncs = 0;
    assert_int_equal(query_log_open(&l, path_of("disk.log")), SOTTO_OK);
    assert_int_equal(syncs, 1);
    assert_int_equal(query_log_append(&l, &e), SOTTO_OK);
    assert_int_equal(query_log_append(&l, &e), SOTTO_OK);
    assert_int_equal(syncs, 3);
    size_t size = l.size;
    syncs_left = 0;
    assert_int_equal(query_log_append(&l, &e), SOTTO_EIO);
    assert_non_null(strstr(sotto_error_text(), "disk.log: cannot be written to the disk"));
    assert_int_equal(l.size, size);
    assert_int_equal(lseek(l.fd, 0, SEEK_END), size);
    query_log_close(&l);
    syncs_left = 0;
    assert_int_equal(query_log_open(&l, path_of("disk2.log")), SOTTO_EIO);
    syncs_left = -1;
}

TEST(a_log_has_one_writer)
{
    struct query_log a, b;
    assert_int_equal(query_log_open(&a, path_of("one.log")), SOTTO_OK);
    assert_int_equal(query_log_open(&b, path_of("one.log")), SOTTO_EAGAIN);
    query_log_close(&a);
    assert_int_equal(query_log_open(&b, path_of("one.log")), SOTTO_OK);
    query_log_close(&b);
    assert_int_equal(query_log_open(&b, path_of("no/such/folder.log")), SOTTO_ECREATE);
}

static void bad_log(const char *text, const void *bytes, size_t size)
{
    FILE *f = fopen(path_of("bad.log"), "wb");
    fwrite(bytes, 1, size, f);
    fclose(f);
    struct sotto_monitor_input in = small();
    struct sotto_monitor *m = make(&in, &three);
    assert_int_equal(sotto_monitor_replay(m, path_of("bad.log"), NULL, NULL), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), text))
        fail_msg("%s; expected: %s", sotto_error_text(), text);
    sotto_monitor_free(m);
}

TEST(damaged_logs_are_refused)
{
    bad_log("does not start like a .npy frame", "hello", 5);
    bad_log("is no client line", "client \n", 8);
    bad_log("is no client line", "clients\n", 8);
    bad_log("is no client line", "client a\x01\n", 10);
    char longer[100];
    memset(longer, 'x', sizeof longer);
    memcpy(longer, "client ", 7);
    bad_log("is no client line", longer, sizeof longer);
    struct query_log l;
    const float x[4] = {1, 2, 3, 4}, p[4] = {.5f, .5f, 1, 0};
    struct exchange wide = exchange_of("a", x, 2, p), labels = wide, rows = wide;
    wide.answers = (struct sotto_array){SOTTO_F4, 2, {1, 4}, 4, (void *)(uintptr_t)p};
    int64_t y[2] = {0, 1};
    labels.answers = (struct sotto_array){SOTTO_I8, 1, {2}, 2, y};
    rows.rows = (struct sotto_array){SOTTO_F4, 2, {2, 2}, 4, (void *)(uintptr_t)x};
    const struct {
        const struct exchange *e;
        const char *text;
    } all[] = {{&wide, "answers to 2 rows are (1, 4) f4; expected (2, 2)"},
               {&labels, "answers to 2 rows are (2,) i8; expected (2, 2)"},
               {&rows, "rows are (2, 2) f4; expected (n, 1) f4"}};
    for (size_t i = 0; i < 3; i++) {
        unlink(path_of("shape.log"));
        assert_int_equal(query_log_open(&l, path_of("shape.log")), SOTTO_OK);
        assert_int_equal(query_log_append(&l, all[i].e), SOTTO_OK);
        query_log_close(&l);
        static unsigned char bytes[4096];
        FILE *f = fopen(path_of("shape.log"), "rb");
        size_t size = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        bad_log(all[i].text, bytes, size);
    }
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
