/* Training whole networks: resume = uninterrupted run, bit for bit; equal seeds, equal bytes; a step
 * allocates nothing; 64 images are learnt by heart by every kind of network, optimizer and schedule;
 * failures leave nothing. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "support/machine.h"
#include "nn/nn.h"
#include "support/sanitizer.h"
#include "sotto/lab/train.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <unistd.h>

static struct sotto_dataset *images;

static int set_up(void **state)
{
    return make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n64", NULL) != SOTTO_OK;
}

static int tear_down(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

static struct sotto_train_options tiny(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.hidden_count = 3;
    o.hidden[0] = 8;
    o.hidden[1] = 16;
    o.hidden[2] = 32;
    o.epochs = 2;
    o.batch = 20; /* three steps an epoch, four images dropped */
    o.dtype = machine.dtype;
    o.backend = machine.backend;
    return o;
}

struct stopper {
    volatile sig_atomic_t stop;
    uint64_t stop_after;
};
static void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct stopper *s = user;
    assert_string_equal(stage, "train");
    assert_string_equal(unit, "images");
    (void)total;
    if (done >= s->stop_after)
        s->stop = 1;
}

static void train(char sha256[65], struct sotto_train_result *result, const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    assert_int_equal(sotto_train(&n, result, images, NULL, 0, o, &machine.context), SOTTO_OK);
    strcpy(sha256, sotto_network_sha256(n));
    sotto_network_free(n);
}

/* Order exact; 20 records in leaves of 6: the last is filled up. */
TEST(threads_change_no_bit)
{
    static const char *const models[] = {"cnn", "resnet8", "tanh-cnn"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char one[65], many[65], fast[65];
        struct sotto_train_result first, other;
        struct sotto_train_options o = tiny();
        o.model = models[i], o.order = "exact", o.leaf = 6;
        o.flip = 1, o.crop = 2, o.augment_noise = i == 0 ? 0.1 : 0;
        if (i == 1)
            o.hidden_count = 0, o.norm = "group", o.residual.kind = "additive", o.residual.gamma = 0.1;
        machine.context.threads = 1;
        train(one, &first, &o);
        for (int threads = 2; threads <= 3; threads++) {
            machine.context.threads = threads;
            train(many, &other, &o);
            assert_string_equal(many, one);
            assert_true(other.loss == first.loss && other.accuracy == first.accuracy);
        }
        o.checkpoint = path_of("threads.safetensors");
        struct stopper s = {0, 2 * o.batch};
        struct sotto_context ctx = machine.context; /* 3 threads */
        struct sotto_network *n = NULL;
        ctx.stop = &s.stop, ctx.progress = watch, ctx.user = &s;
        assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &ctx), SOTTO_ESTOPPED);
        machine.context.threads = 2;
        train(many, &other, &o);
        assert_string_equal(many, one);
        assert_true(other.loss == first.loss);
        unlink(o.checkpoint);
        o.checkpoint = NULL, o.order = "fast", o.leaf = 0;
        train(fast, NULL, &o);
        assert_string_not_equal(fast, one); /* another order, another recipe */
    }
    machine_set(machine.type);
}

TEST(resume_gives_the_bits_of_an_uninterrupted_run)
{
    char whole[65], resumed[65];
    static const struct {
        const char *model, *optimizer, *schedule;
        size_t widths, stride;
    } cases[] = {{"cnn", "adam", "constant", 3, 2},
                 {"cnn", "sgd", "step", 3, 4},
                 {"mlp", "sgd", "cosine", 1, 1},
                 {"resnet8", "adam", "cosine", 0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_train_options o = tiny();
        struct sotto_train_result one, two;
        o.model = cases[i].model;
        o.optimizer = cases[i].optimizer;
        o.schedule = cases[i].schedule;
        o.hidden_count = cases[i].widths;
        o.momentum = strcmp(o.optimizer, "sgd") == 0 ? 0.9 : 0;
        o.weight_decay = 1e-3;
        o.flip = 1;
        o.crop = 2;
        o.augment_noise = 0.25;
        train(whole, &one, &o);
        assert_int_equal(one.steps, 6);
        o.checkpoint = path_of("resume.safetensors");
        for (size_t stop = 1; stop < one.steps; stop += cases[i].stride) {
            struct stopper s = {0, stop * o.batch};
            struct sotto_context ctx = machine.context;
            struct sotto_network *n = NULL;
            ctx.stop = &s.stop, ctx.progress = watch, ctx.user = &s;
            assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &ctx), SOTTO_ESTOPPED);
            assert_null(n);
            train(resumed, &two, &o);
            assert_string_equal(resumed, whole);
            assert_true(one.loss == two.loss && one.accuracy == two.accuracy && two.steps == one.steps);
            unlink(o.checkpoint);
        }
    }
}

TEST(equal_seeds_give_equal_bytes)
{
    char a[65], b[65];
    struct sotto_train_options o = tiny();
    o.crop = 1;
    train(a, NULL, &o);
    train(b, NULL, &o);
    assert_string_equal(a, b);
    o.seed = 2;
    train(b, NULL, &o);
    assert_string_not_equal(a, b);
    o.seed = 1;
    o.crop = 0;
    train(b, NULL, &o);
    assert_string_not_equal(a, b);
    o.augment_noise = 0.1; /* stays for the thread counts */
    train(a, NULL, &o);
    assert_string_not_equal(a, b);
    o.backend = "ref"; /* the reference kernels sum in an order that the thread count does not change */
    o.dtype = "f32";
    o.epochs = 1;
    machine.context.threads = 1;
    train(a, NULL, &o);
    machine.context.threads = 3;
    train(b, NULL, &o);
    machine_set(machine.type);
    assert_string_equal(a, b);
}

/* How many of the 64 images a network gets right that was trained on them. */
static size_t learnt_by_heart(const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    struct sotto_train_result r;
    float z[64 * 10];
    size_t right = 0;
    assert_int_equal(sotto_train(&n, &r, images, NULL, 0, o, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_network_predict_data(z, n, images, NULL, 64, 1, &machine.context), SOTTO_OK);
    for (size_t k = 0; k < 64; k++) {
        size_t best = 0;
        for (size_t c = 1; c < 10; c++)
            best = z[k * 10 + c] > z[k * 10 + best] ? c : best;
        right += best == (size_t)images->labels[k];
    }
    print_message("%s %s %s, %zu epochs: loss %.3f, %zu of 64 right\n", o->model, o->norm, o->optimizer,
                  o->epochs, r.loss, right);
    sotto_network_free(n);
    return right;
}

/* At least 61 of 64, in f32 and in bf16 alike, and fewer after a twelfth of the epochs. Batch norm needs some
 * 90 steps before its running moments fit. After 48, resnet8 gets 27 to 62 right in f32 and 39 to 57 in bf16,
 * by luck of the seed; after 96 63 or 64 in both (seeds 1 to 8; f32 by winograd, dnnl and ref). */
TEST(every_network_learns_64_images_by_heart)
{
    static const struct {
        const char *model, *norm, *optimizer, *schedule;
        size_t widths, epochs;
        double lr;
    } cases[] = {{"cnn", "batch", "adam", "constant", 3, 40, 3e-3},
                 {"cnn", "batch", "sgd", "cosine", 3, 40, 0.05},
                 {"mlp", "batch", "adam", "step", 1, 60, 3e-3},
                 {"resnet8", "batch", "adam", "constant", 0, 24, 3e-3},
                 {"resnet8", "group", "adam", "constant", 0, 60, 5e-3}};
    machine_one_thread();
    for (size_t i = 0; i < (THREAD_SANITIZER ? 3 : sizeof cases / sizeof *cases);
         i++) { /* resnet8: minutes */
        struct sotto_train_options o = tiny();
        o.model = cases[i].model;
        o.norm = cases[i].norm;
        o.optimizer = cases[i].optimizer;
        o.schedule = cases[i].schedule;
        o.hidden_count = cases[i].widths;
        o.hidden[0] = cases[i].widths == 1 ? 64 : 8;
        o.lr = cases[i].lr;
        o.momentum = strcmp(o.optimizer, "sgd") == 0 ? 0.9 : 0;
        o.batch = 16;
        o.epochs = cases[i].epochs / 12;
        assert_true(learnt_by_heart(&o) < 61);
        o.epochs = cases[i].epochs;
        assert_true(learnt_by_heart(&o) >= 61);
    }
    machine_set(machine.type);
}

TEST(more_steps_allocate_nothing_more)
{
    uint64_t used[2];
    char sha256[65];
    for (int i = 0; i < 2; i++) {
        struct sotto_train_options o = tiny();
        o.crop = 2;
        o.augment_noise = 0.1;
        o.epochs = i ? 3 : 1;
        uint64_t before = base_alloc_count();
        train(sha256, NULL, &o);
        used[i] = base_alloc_count() - before;
    }
    assert_true(used[0] == used[1]);
}

TEST(another_runs_checkpoint_is_refused)
{
    struct sotto_train_options o = tiny();
    struct sotto_network *n = NULL;
    char sha256[65];
    o.epochs = 1;
    o.checkpoint = path_of("c.safetensors");
    train(sha256, NULL, &o);
#define REFUSED(change, text)                                                                                \
    do {                                                                                                     \
        struct sotto_train_options saved = o;                                                                \
        change;                                                                                              \
        assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &machine.context), SOTTO_EINVAL);        \
        if (!strstr(sotto_error_text(), text))                                                               \
            fail_msg("'%s' lacks '%s'", sotto_error_text(), text);                                           \
        o = saved;                                                                                           \
    } while (0)
    REFUSED(o.batch = 10,
            "this checkpoint cannot be continued, as it was made with batch 20 but now batch is 10");
    REFUSED(
        o.hidden[0] = 4,
        "this checkpoint cannot be continued, as it was made with hidden 8,16,32 but now hidden is 4,16,32");
    REFUSED(o.model = "mlp",
            "this checkpoint cannot be continued, as it was made with model cnn but now model is mlp");
    REFUSED(o.lr = 0.5, "made with lr");
    REFUSED(o.augment_noise = 0.5, "this checkpoint cannot be continued");
    REFUSED(o.crop = 1, "this checkpoint cannot be continued, as it was made with crop 0 but now crop is 1");
    int64_t rows[30];
    for (int i = 0; i < 30; i++)
        rows[i] = i;
    assert_int_equal(sotto_train(&n, NULL, images, rows, 30, &o, &machine.context), SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(),
               "this checkpoint cannot be continued, as it was made with records 64 but now records is 30"));
    assert_int_equal(file_write(o.checkpoint, "short", 5), SOTTO_OK);
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &machine.context), SOTTO_EFORMAT);
    assert_null(n);
}

TEST(divergence_and_stops_leave_nothing)
{
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.threads = 1, .stop = &stop};
    struct sotto_train_options o = tiny();
    struct sotto_network *n = NULL;
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &ctx), SOTTO_ESTOPPED);
    o.model = "mlp";
    o.optimizer = "sgd";
    o.hidden_count = 1;
    o.lr = 1000; /* the largest */
    o.weight_decay = 1e30;
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &machine.context), SOTTO_EDIVERGED);
    assert_string_equal(sotto_error_hint(), "try a smaller learning rate (now 1000)");
    o = tiny();
    o.checkpoint = "/dev/null/c.safetensors";
    assert_int_equal(sotto_train(&n, NULL, images, NULL, 0, &o, &machine.context), SOTTO_ECREATE);
    assert_null(n);
}

TEST(no_memory_is_an_error)
{
    struct sotto_train_options o = tiny();
    struct sotto_network *n = NULL, *back = NULL;
    const char *path = path_of("m.safetensors");
    float z[64 * 10];
    o.epochs = 1;
    o.batch = 64;
    int failed = 0;
    for (long at = 0;; at += 1 + at / 8) {
        base_alloc_fail_after(at);
        sotto_status status = sotto_train(&n, NULL, images, NULL, 0, &o, &machine.context);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_null(n);
        failed++;
    }
    assert_true(failed > 10);
    assert_int_equal(sotto_network_save(path, n), SOTTO_OK);
    for (long at = 0;; at++) {
        base_alloc_fail_after(at);
        sotto_status status = sotto_network_load(&back, path);
        if (status == SOTTO_OK)
            status = sotto_network_predict_data(z, back, images, NULL, 64, 0, &machine.context);
        base_alloc_fail_after(-1);
        sotto_network_free(back);
        back = NULL;
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
    }
    sotto_network_free(n);
}

TEST_GROUP(.shards = 4, .set_up = set_up, .tear_down = tear_down, .next = machine_next,
           .tags = "matrix matrix-dtype long")
