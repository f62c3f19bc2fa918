/* Fine-tuning encoder and head together: equal inputs give equal bytes, the pre-trained encoder stays as it
 * was, training lowers the loss, the two files belong together, and nothing that carries the stamp is
 * released. */
#include "support/test.h"
#include "support/exercise.h"
#include "base/file.h"
#include "head/model/head_model.h"
#include "io/provenance/statement.h"
#include "support/machine.h"
#include "train/plain/fine_tune.h"
#include "sotto/lab/head.h"
#include "sotto/lab/sensitivity.h"
#include "sotto/release.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 40, PATH = 96 };
static char folder[] = "/tmp/sotto-test-XXXXXX";
static struct sotto_dataset *images;
static struct sotto_encoder *from;
static int64_t rows[N];

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        rows[i] = (int64_t)(3 * i);
    if (!mkdtemp(folder) || sotto_dataset_open(&images, "synthetic-images-n200", NULL) != SOTTO_OK)
        return -1;
    return sotto_encoder_random(&from, images, "keras-simclr", 1) == SOTTO_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sotto_encoder_free(from);
    sotto_dataset_free(images);
    return rmdir(folder);
}

static struct fine_tune_options options(void)
{
    struct fine_tune_options o;
    fine_tune_defaults(&o);
    o.backend = machine.backend;
    o.epochs = 2;
    o.batch = 15; /* two steps an epoch, ten images dropped */
    o.hidden_count = 1;
    o.hidden[0] = 12;
    return o;
}

struct tuned {
    struct sotto_encoder *encoder;
    struct sotto_head *head;
    double loss;
};
static void tune(struct tuned *out, const struct fine_tune_options *o)
{
    *out = (struct tuned){0};
    assert_int_equal(
        fine_tune_encoder(&out->encoder, &out->head, &out->loss, from, images, rows, N, o, &machine.context),
        SOTTO_OK);
}

static void clear(struct tuned *t)
{
    sotto_encoder_free(t->encoder);
    sotto_head_free(t->head);
}

TEST(equal_inputs_give_equal_bytes)
{
    struct fine_tune_options o = options();
    struct tuned a, b, other;
    char before[SHA256_HEX];
    size_t count;
    strcpy(before, sotto_encoder_sha256(from));
    tune(&a, &o);
    tune(&b, &o);
    o.seed = 2;
    tune(&other, &o);
    float *parameters = sotto_head_parameters(a.head, &count);
    assert_int_equal(count, (128 + 1) * 12 + (12 + 1) * 10);
    assert_string_equal(sotto_encoder_sha256(a.encoder), sotto_encoder_sha256(b.encoder));
    assert_memory_equal(parameters, sotto_head_parameters(b.head, &count), count * sizeof *parameters);
    assert_true(a.loss == b.loss && a.loss != other.loss);
    assert_string_not_equal(sotto_encoder_sha256(a.encoder), sotto_encoder_sha256(other.encoder));
    assert_string_not_equal(sotto_encoder_sha256(a.encoder), before);
    assert_string_equal(sotto_encoder_sha256(from), before);
    clear(&a);
    clear(&b);
    clear(&other);
}

/* Without augmentation the head's answers on the new encoder's embeddings are those of the whole network: so
 * the loss of the last steps shows in them. */
TEST(training_lowers_the_loss_and_the_files_belong_together)
{
    struct fine_tune_options o = options();
    struct tuned t;
    float x[N * 128], logits[N * 10];
    double sum = 0;
    o.epochs = 30;
    o.batch = 100; /* all 40 at once */
    o.min_area = 1;
    o.brightness = o.jitter = SOTTO_ZERO;
    tune(&t, &o);
    assert_true(t.loss < 1.8); /* ln 10 = 2.3 at the start */
    assert_int_equal(sotto_embed(x, t.encoder, images, rows, N, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_head_predict(logits, t.head, x, N, 128, 0, NULL), SOTTO_OK);
    for (size_t i = 0; i < N; i++)
        sum -= log((double)logits[i * 10 + (size_t)images->labels[rows[i]]]);
    print_message("loss of the last epoch %.3f, of the files together %.3f\n", t.loss, sum / N);
    assert_true(fabs(sum / N - t.loss) < 0.3 * t.loss);
    clear(&t);
}

TEST(the_stamp_travels_and_is_obeyed)
{
    struct fine_tune_options o = options();
    struct tuned t;
    struct sotto_encoder *encoder = NULL;
    struct sotto_head *head = NULL, *later = NULL;
    struct sotto_sensitivity_sample proof;
    char encoder_path[PATH], head_path[PATH], out_path[PATH];
    struct sotto_certificate *certificate = NULL;
    snprintf(encoder_path, PATH, "%s/e.safetensors", folder);
    snprintf(head_path, PATH, "%s/h.safetensors", folder);
    snprintf(out_path, PATH, "%s/p.safetensors", folder);
    tune(&t, &o);
    assert_int_equal(sotto_encoder_save(encoder_path, t.encoder), SOTTO_OK);
    assert_int_equal(sotto_head_save(head_path, t.head), SOTTO_OK);
    assert_int_equal(sotto_encoder_load(&encoder, encoder_path), SOTTO_OK);
    assert_int_equal(sotto_head_load(&head, head_path), SOTTO_OK);
    assert_true(strncmp(sotto_encoder_statement(encoder), "none", 4) == 0 && head->no_statement);
    assert_string_equal(sotto_encoder_statement(from), "");
    const char *const inputs[] = {head_path, encoder_path};
    for (size_t i = 0; i < 2; i++) {
        struct sotto_protect p = {.input = inputs[i],
                                  .output = out_path,
                                  .release = {.mechanism = "logistic",
                                              .scale = 1,
                                              .sensitivity = {.l1 = 1, .l2 = NAN},
                                              .spend = {.dataset_id = "test", .source = &exercise}}};
        assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), "no privacy statement"));
        assert_false(file_exists(out_path));
    }
    /* A head that was trained later on what the encoder says, even by a trainer with a proof. */
    float x[N * 128];
    int64_t y[N];
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = "convex";
    r.steps = 2;
    assert_int_equal(sotto_embed(x, encoder, images, rows, N, &machine.context), SOTTO_OK);
    for (size_t i = 0; i < N; i++)
        y[i] = images->labels[rows[i]];
    assert_int_equal(sotto_head_train(&later, x, y, N, 128, 10, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_prove(&proof, later), SOTTO_OK);
    assert_int_equal(sotto_head_set_encoder_file(later, encoder_path), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_prove(&proof, later), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(),
                           "the head's encoder was trained on private records, which a bound on the head "
                           "alone does not protect; expected an encoder trained on public records"));
    unlink(encoder_path);
    unlink(head_path);
    sotto_encoder_free(encoder);
    sotto_head_free(head);
    sotto_head_free(later);
    clear(&t);
}

static void refused(const char *text, const struct sotto_dataset *data, const int64_t *chosen, size_t n,
                    const struct fine_tune_options *o)
{
    struct sotto_encoder *e = NULL;
    struct sotto_head *h = NULL;
    assert_int_equal(fine_tune_encoder(&e, &h, NULL, from, data, chosen, n, o, NULL), SOTTO_EINVAL);
    if (!strstr(sotto_error_text(), text))
        fail_msg("'%s' lacks '%s'", sotto_error_text(), text);
    assert_true(!e && !h);
}

TEST(mistakes_are_one_line)
{
    struct fine_tune_options o = options();
    o.epochs = SOTTO_NONE;
    refused("epochs must be at least 1", images, rows, N, &o);
    o = options(), o.batch = SOTTO_NONE;
    refused("batch must be between 1 and", images, rows, N, &o);
    o = options(), o.lr = NAN;
    refused("lr must be > 0", images, rows, N, &o);
    o = options(), o.seed = UINT64_MAX;
    refused("is too large", images, rows, N, &o);
    o = options(), o.hidden_count = 4;
    refused("4 hidden layers", images, rows, N, &o);
    o = options(), o.backend = "gpu";
    refused("gpu", images, rows, N, &o);
    o = options();
    refused("is outside data set", images, (const int64_t[]){0, 200}, 2, &o);
    refused("labels: all 1 records have class", images, rows, 1, &o);
    struct sotto_dataset other = *images;
    other.labels = NULL;
    refused("has no labels", &other, rows, N, &o);
    other = *images, other.images = NULL;
    refused("contains features; an encoder needs images", &other, rows, N, &o);
    other = *images, other.height = other.width = 64;
    refused("but the encoder was trained on", &other, rows, N, &o);
}

TEST(stops_and_failures_leave_nothing)
{
    volatile sig_atomic_t stop = 1;
    struct sotto_context ctx = {.threads = 1, .stop = &stop};
    struct fine_tune_options o = options();
    struct sotto_encoder *e = NULL;
    struct sotto_head *h = NULL;
    o.epochs = 1;
    o.batch = 20;
    assert_int_equal(fine_tune_encoder(&e, &h, NULL, from, images, rows, 20, &o, &ctx), SOTTO_ESTOPPED);
    o.lr = 1000; /* the largest; through seven layers the logits overflow */
    o.epochs = 3;
    o.hidden_count = 3;
    o.hidden[0] = o.hidden[1] = o.hidden[2] = 512;
    assert_int_equal(fine_tune_encoder(&e, &h, NULL, from, images, rows, 20, &o, &machine.context),
                     SOTTO_EDIVERGED);
    o = options();
    o.epochs = 1;
    o.batch = 20;
    for (long n = 0;; n += 1 + n / 2) { /* one network costs a while to plan: ever larger strides */
        base_alloc_fail_after(n);
        sotto_status status = fine_tune_encoder(&e, &h, NULL, from, images, rows, 2, &o, &machine.context);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_true(!e && !h && n < 1000);
    }
    sotto_encoder_free(e);
    sotto_head_free(h);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down, .start = machine_f32, .tags = "matrix")
