/* Pre-training: resume = uninterrupted run, bit for bit; equal seeds, equal bytes; a step allocates nothing;
 * every refusal is one clear line. That it learns: end_to_end/test_pretrain_learns.c. */
#include "support/test.h"
#include "support/pretraining.h"

#include <math.h>
#include <sys/resource.h>

static int set_up(void **state)
{
    return open_images(state, "synthetic-images-n14");
}

TEST(resume_gives_the_bits_of_an_uninterrupted_run)
{
    const char *checkpoint = path_of("c.safetensors");
    char whole[65], resumed[65];
    struct sotto_pretrain_result one, two;
    static const struct {
        const char *method, *encoder;
        size_t batch, stride;
    } cases[] = {
        {"simclr", "keras-simclr", 4, 1}, {"rotation", "keras-simclr", 2, 6}, {"simclr", "resnet8", 4, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_pretrain_options o = tiny();
        o.method = cases[i].method;
        o.encoder = cases[i].encoder;
        o.batch = cases[i].batch;
        train(whole, &one, &o);
        size_t steps = one.steps;
        o.checkpoint = checkpoint;
        for (size_t stop = 1; stop < steps; stop += cases[i].stride) {
            train_until(&o, stop * o.batch);
            train(resumed, &two, &o);
            assert_string_equal(resumed, whole);
            assert_true(one.loss == two.loss && one.accuracy == two.accuracy && two.steps == steps);
            unlink(checkpoint);
        }
    }
}

/* Order exact: on any number of threads, and on another number after a stop. 7 images in leaves of 2: the last is filled up. */
TEST(threads_change_no_bit)
{
    const char *checkpoint = path_of("c.safetensors");
    static const struct {
        const char *method, *loss, *encoder; /* resnet8: with batch norm */
    } cases[] = {{"simclr", "keras", "keras-simclr"},
                 {"simclr", "simclr", "resnet8"},
                 {"rotation", "keras", "keras-simclr"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char one[65], many[65], fast[65];
        struct sotto_pretrain_result first, other;
        struct sotto_pretrain_options o = tiny();
        o.method = cases[i].method, o.loss = cases[i].loss, o.encoder = cases[i].encoder;
        o.order = "exact", o.batch = 7, o.leaf = 2;
        machine.context.threads = 1;
        train(one, &first, &o);
        for (int threads = 2; threads <= 3; threads++) {
            machine.context.threads = threads;
            train(many, &other, &o);
            assert_string_equal(many, one);
            assert_true(other.loss == first.loss && other.accuracy == first.accuracy);
        }
        o.checkpoint = checkpoint;
        train_until(&o, 2 * o.batch); /* on 3 threads */
        machine.context.threads = 2;
        train(many, &other, &o);
        assert_string_equal(many, one);
        assert_true(other.loss == first.loss);
        unlink(checkpoint);
        o.checkpoint = NULL, o.order = "fast", o.leaf = 0;
        train(fast, NULL, &o);
        assert_string_not_equal(fast, one); /* another order, another recipe */
    }
    machine_set(machine.type);
}

TEST(a_finished_run_is_not_repeated)
{
    const char *checkpoint = path_of("c.safetensors");
    char first[65], again[65];
    struct sotto_pretrain_result one, two;
    struct sotto_pretrain_options o = tiny();
    o.checkpoint = checkpoint;
    o.epochs = 1;
    train(first, &one, &o);
    train(again, &two, &o);
    assert_string_equal(first, again);
    assert_true(one.loss == two.loss && one.steps == two.steps);
    unlink(checkpoint);
}

TEST(equal_seeds_give_equal_bytes)
{
    char a[65], b[65], one_thread[65];
    struct sotto_pretrain_options o = tiny();
    o.epochs = 1;
    train(a, NULL, &o);
    train(b, NULL, &o);
    assert_string_equal(a, b);
    o.seed = 6;
    train(b, NULL, &o);
    assert_string_not_equal(a, b);
    o.backend = "ref"; /* the reference kernels sum in an order that the thread count does not change */
    o.dtype = "f32";
    machine.context.threads = 1;
    train(one_thread, NULL, &o);
    machine.context.threads = 3;
    train(b, NULL, &o);
    machine_set(machine.type);
    assert_string_equal(one_thread, b);
}

TEST(more_steps_allocate_nothing_more)
{
    uint64_t used[2];
    char sha256[65];
    for (int i = 0; i < 2; i++) {
        struct sotto_pretrain_options o = tiny();
        o.epochs = i ? 3 : 1;
        uint64_t before = base_alloc_count();
        train(sha256, NULL, &o);
        used[i] = base_alloc_count() - before;
    }
    assert_true(used[0] == used[1]);
}

TEST(metrics_are_logged_once_an_epoch)
{
    char sha256[65];
    const char *checkpoint = path_of("c.safetensors"), *metrics = path_of("metrics.jsonl");
    struct sotto_pretrain_options o = tiny();
    o.checkpoint = checkpoint;
    o.metrics = metrics;
    struct sotto_encoder *e = NULL;
    train_until(&o, 16); /* inside the second epoch */
    assert_int_equal(count_text(metrics, "\"name\":\"loss\""), 1);
    train(sha256, NULL, &o);
    assert_int_equal(count_text(metrics, "\"name\":\"loss\""), 2);
    assert_int_equal(count_text(metrics, "{\"step\":3,\"split\":\"train\",\"name\":\"accuracy\""), 1);
    assert_int_equal(count_text(metrics, "{\"step\":6,\"split\":\"train\",\"name\":\"accuracy\""), 1);
    unlink(checkpoint);
    unlink(metrics);
    o.metrics = "/dev/null/metrics.jsonl";
    o.checkpoint = NULL;
    assert_int_equal(sotto_pretrain(&e, NULL, images, NULL, 0, &o, NULL), SOTTO_ECREATE);
}

TEST(bad_options_are_one_clear_line)
{
    struct sotto_pretrain_options o;
    o = tiny(), o.batch = 15;
    expect_error(&o, SOTTO_EINVAL, "batch 15 is larger than the 14 images to train on");
    o = tiny(), o.batch = 1;
    expect_error(&o, SOTTO_EINVAL,
                 "batch must be at least 2 (got 1): a contrastive loss needs at least one negative");
    o = tiny(), o.batch = SOTTO_NONE;
    expect_error(&o, SOTTO_EINVAL, "batch must be at least 1 and at most 1048576 (got 0)");
    o = tiny(), o.epochs = SOTTO_NONE;
    expect_error(&o, SOTTO_EINVAL, "epochs must be at least 1 and at most 1000000 (got 0)");
    o = tiny(), o.temperature = SOTTO_ZERO;
    expect_error(&o, SOTTO_EINVAL, "temperature must be finite and > 0 (got 0)");
    o = tiny(), o.temperature = NAN;
    expect_error(&o, SOTTO_EINVAL, "temperature must be finite and > 0 (got nan)");
    o = tiny(), o.lr = -1;
    expect_error(&o, SOTTO_EINVAL, "lr must be above 0 and at most 1000 (got -1)");
    o = tiny(), o.min_area = 1.5;
    expect_error(&o, SOTTO_EINVAL, "min_area must be in (0, 1] (got 1.5)");
    o = tiny(), o.method = "simclear";
    expect_error(&o, SOTTO_EINVAL, "method 'simclear' is unknown; expected rotation, simclr");
    o = tiny(), o.encoder = "keras";
    expect_error(&o, SOTTO_EINVAL, "model 'keras' is unknown; expected cnn, deep-sets");
    o = tiny(), o.encoder = "mlp";
    expect_error(&o, SOTTO_EINVAL, "mlp");
    o = tiny(), o.dtype = "f16";
    expect_error(&o, SOTTO_EINVAL, "dtype 'f16' is unknown; expected auto, bf16 or f32");
    o = tiny(), o.dtype = "bf16", o.backend = "ref";
    expect_error(&o, SOTTO_ENOTSUP,
                 "dtype bf16: backend 'ref' computes in f32 only; use dtype f32 or backend dnnl");
    o = tiny(), o.order = "quick";
    expect_error(&o, SOTTO_EINVAL, "order 'quick' is unknown; expected auto, exact or fast");
    o = tiny(), o.leaf = 5;
    expect_error(&o, SOTTO_EINVAL, "leaf: 5 records are more than the 4 of a batch");
    o = tiny(), o.schedule = "linear";
    expect_error(&o, SOTTO_EINVAL, "schedule 'linear' is unknown; expected constant or cosine");
    o = tiny(), o.loss = "triplet";
    expect_error(&o, SOTTO_EINVAL, "loss 'triplet' is unknown; expected keras or simclr");
    o = tiny(), o.checkpoint = "/dev/null/c.safetensors";
    expect_error(&o, SOTTO_ECREATE, "/dev/null/c.safetensors");
}

TEST(another_runs_checkpoint_is_refused)
{
    const char *checkpoint = path_of("c.safetensors");
    char sha256[65];
    struct sotto_pretrain_options o = tiny();
    o.epochs = 1;
    o.checkpoint = checkpoint;
    train(sha256, NULL, &o);
    o.batch = 5;
    expect_error(&o, SOTTO_EINVAL,
                 "this checkpoint cannot be continued, as it was made with batch 4 but now batch is 5");
    o.batch = 4, o.seed = 6;
    expect_error(&o, SOTTO_EINVAL,
                 "this checkpoint cannot be continued, as it was made with seed 5 but now seed is 6");
    o.seed = 5;
    struct sotto_encoder *e = NULL;
    assert_int_equal(sotto_pretrain(&e, NULL, images, (const int64_t[]){0, 1, 2, 3, 4}, 5, &o, NULL),
                     SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(),
               "this checkpoint cannot be continued, as it was made with images 14 but now images is 5"));
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, checkpoint, 1 << 26), SOTTO_OK);
    assert_int_equal(file_write(checkpoint, data, size / 2), SOTTO_OK);
    base_free(data);
    expect_error(&o, SOTTO_EFORMAT, checkpoint);
    unlink(checkpoint);
}

TEST(divergence_is_an_error)
{
    struct sotto_pretrain_options o = tiny();
    o.lr = 1000;
    expect_error(&o, SOTTO_EDIVERGED, "");
}

/* From the first step on no file may be larger than 1 MiB, as if the disk were full. */
static void fill_disk(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user, (void)stage, (void)done, (void)total, (void)unit;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY});
}

/* A checkpoint of 6 MiB is written while the run goes on. */
TEST(a_disk_that_fills_up_ends_the_run_and_keeps_the_checkpoint)
{
    const char *checkpoint = path_of("c.safetensors");
    char whole[65], resumed[65];
    struct sotto_pretrain_options o = tiny();
    struct sotto_context ctx = machine.context;
    struct sotto_encoder *e = NULL;
    struct rlimit before;
    train(whole, NULL, &o);
    o.checkpoint = checkpoint;
    ctx.progress = fill_disk;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(sotto_pretrain(&e, NULL, images, NULL, 0, &o, &ctx), SOTTO_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_null(e);
    assert_non_null(strstr(sotto_error_text(), "c.safetensors: write failed: File too large"));
    assert_true(file_exists(checkpoint)); /* that of step 0 */
    train(resumed, NULL, &o);
    assert_string_equal(resumed, whole);
    unlink(checkpoint);
}

TEST(no_memory_is_an_error)
{
    struct sotto_pretrain_options o = tiny();
    o.epochs = 1;
    o.batch = 2;
    int failed = 0;
    for (long n = 0; n < 200; n += 3) {
        struct sotto_encoder *e = NULL;
        base_alloc_fail_after(n);
        sotto_status status = sotto_pretrain(&e, NULL, images, (const int64_t[]){3, 8}, 2, &o, NULL);
        base_alloc_fail_after(-1);
        sotto_encoder_free(e);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        failed++;
    }
    assert_true(failed > 5);
}

TEST_GROUP(.shards = 2, .set_up = set_up, .tear_down = close_images, .next = machine_next,
           .tags = "matrix matrix-dtype long")
