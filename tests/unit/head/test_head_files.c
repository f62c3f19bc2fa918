/* Files of heads and of sensitivity samples: round trips, what PyTorch writes, and everything that must be
 * refused. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "support/head_blobs.h"
#include "head/model/head_model.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "sotto/head.h"
#include "sotto/lab/head.h"
#include "sotto/lab/sensitivity.h"
#include "sotto/private/io.h"
#include "sotto/private/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 60, D = 4, K = 3 };
static float x[N * D];
static int64_t y[N];
static char folder[] = "/tmp/sotto-head-XXXXXX", path[64], other[64];

static int set_up(void **state)
{
    (void)state;
    make_blobs(x, y, N, D, K, 0.5, 1);
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/h.safetensors", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder);
}

static struct sotto_head *trained(size_t hidden_count)
{
    struct sotto_head *h = NULL;
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.hidden_count = hidden_count;
    for (size_t i = 0; i < hidden_count; i++)
        r.hidden[i] = 5 + i;
    r.epochs = 2;
    r.lr = 0.0123456789012345;
    r.seed = INT64_MAX;
    assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &r, NULL), SOTTO_OK);
    return h;
}

TEST(round_trips_keep_everything)
{
    for (size_t hidden = 0; hidden <= SOTTO_MAX_HIDDEN; hidden++) {
        struct sotto_head *h = trained(hidden), *back = NULL;
        if (hidden == 1)
            assert_int_equal(head_set_encoder(h, sotto_head_recipe_hash(h)), SOTTO_OK);
        assert_int_equal(sotto_head_save(path, h), SOTTO_OK);
        assert_int_equal(sotto_head_load(&back, path), SOTTO_OK);
        size_t count, count_back;
        const float *a = sotto_head_parameters(h, &count), *b = sotto_head_parameters(back, &count_back);
        assert_int_equal(count, count_back);
        assert_memory_equal(a, b, count * sizeof *a);
        assert_string_equal(sotto_head_data_sha256(h), sotto_head_data_sha256(back));
        assert_string_equal(sotto_head_recipe_hash(h), sotto_head_recipe_hash(back));
        assert_string_equal(sotto_head_encoder(h), sotto_head_encoder(back));
        const struct sotto_head_recipe *r = sotto_head_get_recipe(h), *s = sotto_head_get_recipe(back);
        assert_true(r->lr == s->lr && r->seed == s->seed && r->epochs == s->epochs && r->batch == s->batch);
        assert_string_equal(r->trainer, s->trainer);
        assert_int_equal(r->hidden_count, s->hidden_count);
        assert_memory_equal(r->hidden, s->hidden, hidden * sizeof *r->hidden);
        /* Same contents, same bytes. */
        unsigned char *first, *second;
        size_t size, size_second;
        assert_int_equal(sotto_head_save(other, back), SOTTO_OK);
        assert_int_equal(file_read(&first, &size, path, 1 << 20), SOTTO_OK);
        assert_int_equal(file_read(&second, &size_second, other, 1 << 20), SOTTO_OK);
        assert_int_equal(size, size_second);
        assert_memory_equal(first, second, size);
        base_free(first);
        base_free(second);
        sotto_head_free(h);
        sotto_head_free(back);
    }
}

/* nn.Sequential(Linear(4, 2), ReLU(), Linear(2, 3)) as PyTorch saves it: metadata {"format": "pt"}, order of
 * its own. */
static void pytorch_tensors(struct sotto_tensors *t)
{
    const float w0[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b0[2] = {1, 2}, w2[6] = {1, -1, 2, -2, 3, -3},
                b2[3] = {0.5f, 0, -0.5f};
    const size_t w0_shape[] = {2, 4}, b0_shape[] = {2}, w2_shape[] = {3, 2}, b2_shape[] = {3};
    assert_int_equal(tensors_add(t, "2.bias", SOTTO_F4, 1, b2_shape, b2), SOTTO_OK);
    assert_int_equal(tensors_add(t, "0.weight", SOTTO_F4, 2, w0_shape, w0), SOTTO_OK);
    assert_int_equal(tensors_add(t, "0.bias", SOTTO_F4, 1, b0_shape, b0), SOTTO_OK);
    assert_int_equal(tensors_add(t, "2.weight", SOTTO_F4, 2, w2_shape, w2), SOTTO_OK);
    assert_int_equal(tensors_set_metadata(t, "format", "pt"), SOTTO_OK);
}

TEST(pytorch_heads_load)
{
    struct sotto_tensors t = {0};
    struct sotto_head *h = NULL;
    pytorch_tensors(&t);
    assert_int_equal(safetensors_save(path, &t), SOTTO_OK);
    assert_int_equal(sotto_head_load(&h, path), SOTTO_OK);
    assert_int_equal(sotto_head_inputs(h), 4);
    assert_int_equal(sotto_head_classes(h), 3);
    assert_null(sotto_head_get_recipe(h));
    assert_string_equal(sotto_head_data_sha256(h), "");
    const float one[4] = {1, 0, 0, -1};
    float logits[3];
    assert_int_equal(sotto_head_predict(logits, h, one, 1, 4, 1, NULL), SOTTO_OK);
    /* hidden = relu(1 - 4 + 1, 5 - 8 + 2) = 0, 0: the biases come through */
    assert_true(logits[0] == 0.5f && logits[1] == 0 && logits[2] == -0.5f);
    sotto_head_free(h);
    sotto_tensors_clear(&t);
}

static void expect_refused(struct sotto_tensors *t, const char *text)
{
    struct sotto_head *h = (void *)x;
    assert_int_equal(safetensors_save(path, t), SOTTO_OK);
    assert_int_equal(sotto_head_load(&h, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), text));
    assert_non_null(strstr(sotto_error_text(), "h.safetensors"));
    assert_ptr_equal(h, (void *)x);
    sotto_tensors_clear(t);
}

TEST(tensors_that_are_no_head_are_refused)
{
    struct sotto_tensors t = {0};
    const float zeros[16] = {0};
    const size_t square[] = {4, 4}, four[] = {4}, one[] = {1}, wide[] = {2, 3}, row[] = {1, 4},
                 none[] = {0, 4};

    expect_refused(&t, "'0.weight' is missing");

    pytorch_tensors(&t);
    ((float *)tensors_find(&t, "2.weight")->data)[4] = NAN;
    expect_refused(&t, "'2.weight' is not finite at index 4");

    pytorch_tensors(&t);
    assert_int_equal(tensors_add(&t, "running_mean", SOTTO_F4, 1, four, zeros), SOTTO_OK);
    expect_refused(&t, "'running_mean' does not belong to a head of 2 linear layers");

    pytorch_tensors(&t);
    assert_int_equal(tensors_add(&t, "4.weight", SOTTO_F4, 2, square, zeros), SOTTO_OK);
    expect_refused(&t, "'4.weight' takes 4 inputs; expected 3");

    assert_int_equal(tensors_add(&t, "0.weight", SOTTO_F4, 2, square, zeros), SOTTO_OK);
    expect_refused(&t, "'0.bias' is missing; expected shape (4)");

    assert_int_equal(tensors_add(&t, "0.weight", SOTTO_F4, 2, square, zeros), SOTTO_OK);
    assert_int_equal(tensors_add(&t, "0.bias", SOTTO_F4, 2, wide, zeros), SOTTO_OK);
    expect_refused(&t, "'0.bias' is of another shape");

    assert_int_equal(tensors_add(&t, "0.weight", SOTTO_F4, 1, four, zeros), SOTTO_OK);
    expect_refused(&t, "dimensions or an empty one; expected shape (out, in)");

    assert_int_equal(tensors_add(&t, "0.weight", SOTTO_F4, 2, none, zeros), SOTTO_OK);
    expect_refused(&t, "dimensions or an empty one; expected shape (out, in)");

    assert_int_equal(tensors_add(&t, "0.weight", SOTTO_F4, 2, row, zeros), SOTTO_OK);
    assert_int_equal(tensors_add(&t, "0.bias", SOTTO_F4, 1, one, zeros), SOTTO_OK);
    expect_refused(&t, "at least 2 classes");

    const int64_t whole[16] = {0};
    assert_int_equal(tensors_add(&t, "0.weight", SOTTO_I8, 2, square, whole), SOTTO_OK);
    assert_int_equal(tensors_add(&t, "0.bias", SOTTO_F4, 1, four, zeros), SOTTO_OK);
    expect_refused(&t, "is of type i8; expected floats");
}

static void set(struct sotto_tensors *t, const char *key, const char *value)
{
    struct sotto_head *h = trained(1);
    assert_int_equal(sotto_head_save(path, h), SOTTO_OK);
    assert_int_equal(safetensors_load(t, path), SOTTO_OK);
    assert_int_equal(tensors_set_metadata(t, key, value), SOTTO_OK);
    sotto_head_free(h);
}

TEST(metadata_that_contradicts_itself_is_refused)
{
    struct sotto_tensors t = {0};
    char recipe[600];
    set(&t, "format", "sotto.encoder/1");
    expect_refused(&t, "the format is sotto.encoder/1; expected sotto.head/1");
    set(&t, "recipe_hash", "beef");
    expect_refused(&t, "'recipe_hash' is not a SHA-256");
    set(&t, "recipe", "{");
    expect_refused(&t, "recipe");
    set(&t, "recipe", "{\"trainer\":\"adam\"}");
    expect_refused(&t, "'epochs' is missing");
    set(&t, "seed", "ignored"); /* what it does not know, a reader ignores */
    snprintf(recipe, sizeof recipe, "%s", tensors_metadata(&t, "recipe"));
    *strstr(recipe, "[5]") = ' ';
    sotto_tensors_clear(&t);
    set(&t, "recipe", recipe);
    expect_refused(&t, "recipe");
    set(&t, "seed", "ignored");
    snprintf(recipe, sizeof recipe, "%s", tensors_metadata(&t, "recipe"));
    strstr(recipe, "[5]")[1] = '6';
    sotto_tensors_clear(&t);
    set(&t, "recipe", recipe);
    expect_refused(&t, "the recipe in the metadata does not match the tensors or its hash");
}

TEST(damaged_files_are_refused)
{
    struct sotto_head *h = trained(0), *back = NULL;
    unsigned char *bytes;
    size_t size;
    assert_int_equal(sotto_head_save(path, h), SOTTO_OK);
    assert_int_equal(file_read(&bytes, &size, path, 1 << 20), SOTTO_OK);
    for (size_t cut = 0; cut < size; cut += 7) {
        assert_int_equal(file_write(other, bytes, cut), SOTTO_OK);
        assert_int_equal(sotto_head_load(&back, other), SOTTO_EFORMAT);
        assert_null(back);
    }
    unlink(other);
    assert_int_equal(sotto_head_load(&back, other), SOTTO_ENOENT);
    base_free(bytes);
    sotto_head_free(h);
}

static struct sotto_sensitivity_sample sampled(void)
{
    struct sotto_sensitivity_sample s;
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.epochs = 2;
    memset(&s, 0, sizeof s);
    assert_int_equal(sotto_sensitivity_run(&s, x, y, N, D, K, &r, 3, NULL), SOTTO_OK);
    return s;
}

TEST(samples_round_trip)
{
    struct sotto_sensitivity_sample s = sampled(), back;
    memset(&back, 0, sizeof back);
    assert_int_equal(sotto_sensitivity_save(path, &s), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_load(&back, path), SOTTO_OK);
    assert_memory_equal(&s, &back, sizeof s);
    char *text = NULL;
    assert_int_equal(sotto_sensitivity_json(&text, &s), SOTTO_OK);
    assert_non_null(strstr(text, "not differential privacy"));
    assert_null(strchr(text, '\n'));
    sotto_text_free(text);
}

static void expect_sample_refused(const char *from, const char *to, const char *expected)
{
    struct sotto_sensitivity_sample s = sampled(), back = {.l1 = 7};
    char *text = NULL, edited[4000];
    assert_int_equal(sotto_sensitivity_json(&text, &s), SOTTO_OK);
    char *place = strstr(text, from);
    assert_non_null(place);
    snprintf(edited, sizeof edited, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
    assert_int_equal(file_write(path, edited, strlen(edited)), SOTTO_OK);
    assert_int_equal(sotto_sensitivity_load(&back, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), expected));
    assert_true(back.l1 == 7);
    sotto_text_free(text);
}

TEST(impossible_samples_are_refused)
{
    expect_sample_refused("sensitivity/1", "sensitivity/2", "schema is 'sotto.sensitivity/2'");
    expect_sample_refused("\"l1\":", "\"l1\":-", "'l1' is -");
    expect_sample_refused("\"l2\":", "\"l2\":9", "out of order");
    expect_sample_refused("\"l2\":", "\"l3\":", "'l2' is missing");
    expect_sample_refused("\"induced\":{\"l1\":", "\"induced\":{\"l1\":-", "'paper_norms.induced.l1' is -");
    expect_sample_refused("\"bias\":{", "\"bios\":{", "'paper_norms.bias.l1' is missing");
    expect_sample_refused("\"pairs\":3", "\"pairs\":0", "'pairs' is 0");
    expect_sample_refused("\"pairs\":3", "\"pairs\":-3", "pairs");
    expect_sample_refused("\"dkw\":", "\"dkw\":7", "'gamma.dkw' is 7");
    expect_sample_refused("\"recipe_hash\":\"", "\"recipe_hash\":\"00", "recipe_hash");
}

TEST(out_of_memory_is_reported_wherever_it_strikes)
{
    struct sotto_head *h = trained(1), *back = NULL;
    struct sotto_sensitivity_sample s = sampled(), loaded;
    for (long n = 0;; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_head_save(path, h);
        if (status == SOTTO_OK)
            status = sotto_head_load(&back, path);
        if (status == SOTTO_OK)
            status = sotto_sensitivity_save(other, &s);
        if (status == SOTTO_OK)
            status = sotto_sensitivity_load(&loaded, other);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        sotto_head_free(back);
        back = NULL;
        assert_true(n < 1000);
    }
    sotto_head_free(back);
    sotto_head_free(h);
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down)
