/* src/learn/head/private/head_checkpoint.c: what an interrupted private training of a head left is taken up whole or refused in
 * one line, before anything is charged. float64 arrays; head kernels of this machine's instruction set, one thread. */
#include "support/test.h"

#include "base/file.h"
#include "support/exercise.h"
#include "head/private/head_checkpoint.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "sotto/certificate.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

enum { COUNT = 3, N = 60, D = 4, K = 2, LIMIT = 1 << 20 };

static double arrays[3][COUNT] = {{1, -2.5, 3}, {0.5, 0, -1}, {2, 4, 8}}, found[3][COUNT];

static struct head_checkpoint example(void)
{
    return (struct head_checkpoint){.recipe = "aa11",
                                    .data = "bb22",
                                    .run = "00112233445566778899aabbccddeeff",
                                    .step = 7,
                                    .count = COUNT,
                                    .weights = arrays[0],
                                    .mean = arrays[1],
                                    .square = arrays[2]};
}

/* A run of the same recipe and records, which has not begun. */
static struct head_checkpoint beginning(void)
{
    struct head_checkpoint c = example();
    memset(found, 0, sizeof found);
    c.run[0] = '\0';
    c.step = 0;
    c.weights = found[0], c.mean = found[1], c.square = found[2];
    return c;
}

TEST(what_is_saved_comes_back)
{
    struct head_checkpoint saved = example(), c = beginning();
    assert_int_equal(head_checkpoint_save(path_of("c"), &saved), SOTTO_OK);
    assert_int_equal(head_checkpoint_load(&c, path_of("c")), SOTTO_OK);
    assert_int_equal(c.step, 7);
    assert_string_equal(c.run, saved.run);
    assert_memory_equal(found, arrays, sizeof arrays);
}

/* A moving average is a part of the state: a run that has none goes on from no state with one, and the other way round. */
TEST(an_average_comes_back)
{
    double average[COUNT] = {7, -8, 9}, there[COUNT] = {0};
    struct head_checkpoint saved = example(), c = beginning();
    saved.average = average;
    assert_int_equal(head_checkpoint_save(path_of("c"), &saved), SOTTO_OK);
    assert_int_equal(head_checkpoint_load(&c, path_of("c")), SOTTO_EINVAL);
    assert_true(c.step == 0);
    c.average = there;
    assert_int_equal(head_checkpoint_load(&c, path_of("c")), SOTTO_OK);
    assert_int_equal(c.step, 7);
    assert_memory_equal(there, average, sizeof there);
    assert_memory_equal(found, arrays, sizeof arrays);
    saved.average = NULL;
    assert_int_equal(head_checkpoint_save(path_of("c"), &saved), SOTTO_OK);
    c = beginning();
    c.average = there;
    assert_int_equal(head_checkpoint_load(&c, path_of("c")), SOTTO_EINVAL);
}

/* Refused with this code, in one line that names the file, and nothing is taken over. */
static void refused(const char *path, sotto_status code, const char *words)
{
    static const double nothing[3][COUNT];
    struct head_checkpoint c = beginning();
    assert_int_equal(head_checkpoint_load(&c, path), code);
    const char *text = sotto_error_text();
    if (!strstr(text, words) || !strstr(text, path) || strchr(text, '\n'))
        fail_msg("'%s' lacks '%s', or '%s', or is more than a line", text, words, path);
    assert_true(c.step == 0 && c.run[0] == '\0');
    assert_memory_equal(found, nothing, sizeof found);
}

/* A new file each time: some file systems flush one that is overwritten. */
static void put(const char *path, const void *bytes, size_t size)
{
    unlink(path);
    assert_int_equal(overwrite(path, bytes, size), 0);
}

static unsigned char *saved_bytes(size_t *size)
{
    struct head_checkpoint saved = example();
    unsigned char *bytes;
    assert_int_equal(head_checkpoint_save(path_of("c"), &saved), SOTTO_OK);
    assert_int_equal(file_read(&bytes, size, path_of("c"), LIMIT), SOTTO_OK);
    return bytes;
}

TEST(every_cut_is_refused)
{
    size_t size;
    unsigned char *bytes = saved_bytes(&size);
    const char *path = path_of("cut");
    for (size_t kept = 0; kept < size; kept++) {
        put(path, bytes, kept);
        refused(path, SOTTO_EFORMAT, "");
        assert_non_null(strstr(sotto_error_hint(), "fresh"));
    }
    base_free(bytes);
}

TEST(every_flipped_bit_is_refused)
{
    size_t size;
    unsigned char *bytes = saved_bytes(&size);
    const char *path = path_of("flipped");
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put(path, bytes, size);
        refused(path, SOTTO_EFORMAT, "");
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    base_free(bytes);
}

TEST(other_kinds_and_versions_are_refused)
{
    static const char *const schemas[] = {"", "sotto.checkpoint/1", "sotto.head-checkpoint/1"};
    struct sotto_tensors t = {0};
    struct head_checkpoint saved = example();
    const char *path = path_of("other");
    assert_int_equal(head_checkpoint_save(path, &saved), SOTTO_OK);
    assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tensors_set_metadata(&t, "schema", schemas[i]), SOTTO_OK);
        assert_int_equal(safetensors_save(path, &t), SOTTO_OK);
        refused(path, SOTTO_EFORMAT,
                "is not a checkpoint of a head; expected schema sotto.head-checkpoint/2");
    }
    sotto_tensors_clear(&t);
    put(path, "x", 1);
    refused(path, SOTTO_EFORMAT, "");
    refused(path_of("none"), SOTTO_ENOENT, "");
}

TEST(another_recipe_shape_or_set_is_refused)
{
    struct head_checkpoint c = example();
    const char *path = path_of("another");
    strcpy(c.recipe, "aa12");
    assert_int_equal(head_checkpoint_save(path, &c), SOTTO_OK);
    refused(path, SOTTO_EINVAL, "another recipe, noise or shape");
    c = example();
    c.count = COUNT - 1;
    assert_int_equal(head_checkpoint_save(path, &c), SOTTO_OK);
    refused(path, SOTTO_EINVAL, "another recipe, noise or shape");
    c = example();
    strcpy(c.data, "bb23");
    assert_int_equal(head_checkpoint_save(path, &c), SOTTO_OK);
    refused(path, SOTTO_EINVAL, "other records");
    assert_non_null(strstr(sotto_error_text(), "fresh"));
}

/* ---- by the trainer ---- */

static float x[N * D];
static int64_t y[N];
static volatile sig_atomic_t stop;

static void stop_after_some_steps(void *user, const char *stage, uint64_t done, uint64_t total,
                                  const char *unit)
{
    (void)user, (void)stage, (void)unit;
    stop = done < total;
}

static sotto_status train(bool interrupted)
{
    const struct sotto_context ctx = {
        .stop = &stop, .progress = interrupted ? stop_after_some_steps : NULL, .threads = 1};
    const struct sotto_head_privacy p = {
        .target = {NAN, 1e-5},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path_of("ledger.jsonl")},
        .checkpoint = path_of("head.checkpoint")};
    struct sotto_head_recipe r;
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    sotto_head_defaults(&r);
    r.trainer = "dp-adam";
    r.batch = 6;
    r.epochs = 5; /* 50 steps */
    r.noise_multiplier = 1;
    stop = 0;
    sotto_status status = sotto_head_train_private(&h, &certificate, x, y, N, D, K, &r, &p, &ctx);
    assert_true((status == SOTTO_OK) == (h && certificate));
    sotto_head_free(h);
    sotto_certificate_free(certificate);
    return status;
}

static size_t charges(void)
{
    unsigned char *text;
    size_t size, count = 0;
    assert_int_equal(file_read(&text, &size, path_of("ledger.jsonl"), LIMIT), SOTTO_OK);
    for (const char *at = (const char *)text; (at = strstr(at, "\"event\":\"reserve\"")); at++)
        count++;
    base_free(text);
    return count;
}

TEST(a_damaged_checkpoint_charges_nothing_and_a_fresh_start_goes_on)
{
    unsigned char *bytes;
    size_t size;
    assert_int_equal(train(true), SOTTO_ESTOPPED);
    assert_int_equal(charges(), 1);
    assert_int_equal(file_read(&bytes, &size, path_of("head.checkpoint"), LIMIT), SOTTO_OK);
    put(path_of("head.checkpoint"), bytes, size - 8);
    assert_int_equal(train(false), SOTTO_EFORMAT);
    bytes[size - 5] ^= 4; /* of a float64 */
    put(path_of("head.checkpoint"), bytes, size);
    assert_int_equal(train(false), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "is damaged"));
    assert_int_equal(charges(), 1);
    bytes[size - 5] ^= 4; /* control: whole again */
    put(path_of("head.checkpoint"), bytes, size);
    assert_int_equal(train(true), SOTTO_ESTOPPED);
    assert_int_equal(charges(), 2);
    put(path_of("head.checkpoint"), bytes, size / 2);
    assert_int_equal(unlink(path_of("head.checkpoint")), 0); /* --fresh */
    assert_int_equal(train(false), SOTTO_OK);
    assert_int_equal(charges(), 3);
    base_free(bytes);
}

/* Changes what the checkpoint of an interrupted training says of its run. */
static void claim(const char *run, size_t step)
{
    double values[3][K * (D + 1)];
    struct sotto_tensors t = {0};
    struct head_checkpoint c = {
        .count = K * (D + 1), .weights = values[0], .mean = values[1], .square = values[2]};
    const char *path = path_of("head.checkpoint");
    assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
    strcpy(c.recipe, tensors_metadata(&t, "recipe_hash"));
    strcpy(c.data, tensors_metadata(&t, "data_sha256"));
    sotto_tensors_clear(&t);
    assert_int_equal(head_checkpoint_load(&c, path), SOTTO_OK);
    if (run)
        strcpy(c.run, run);
    c.step = step;
    assert_int_equal(head_checkpoint_save(path, &c), SOTTO_OK);
}

TEST(a_run_that_the_ledger_does_not_know_is_refused)
{
    assert_int_equal(train(true), SOTTO_ESTOPPED);
    claim(NULL, 51);
    assert_int_equal(train(false), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "is at step 51, beyond the 50"));
    claim("00112233445566778899aabbccddeeff", 17);
    assert_int_equal(train(false), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "run 00112233445566778899aabbccddeeff has no reservation in"));
    claim("../x", 17);
    assert_int_equal(train(false), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "is not the name of a run"));
    assert_int_equal(charges(), 1);
}

static int make_records(void **state)
{
    for (size_t i = 0; i < N * D; i++)
        x[i] = (float)(i * i % 7) / 8;
    for (size_t i = 0; i < N; i++)
        y[i] = (int64_t)(i % K);
    return make_folder(state);
}

TEST_GROUP(.before = make_records, .after = remove_folder)
