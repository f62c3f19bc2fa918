/* Plans: memory, sharing of one model, residual rows, and a step that allocates nothing. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/backend.h"
#include "nn/plan/plan.h"
#include "rng/rng.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

static struct nn_model *small_model(void)
{
    struct nn_model *m = NULL;
    struct nn_model_config config = {.name = "mlp",
                                     .input = {3, 2, 2},
                                     .hidden = {16, 8},
                                     .hidden_count = 2,
                                     .projector = {6, 4},
                                     .projector_count = 2};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    return m;
}

static struct nn_plan *plan_of(struct nn_model *m, struct nn_plan_config config)
{
    struct nn_plan *p = NULL;
    config.backend = machine.kernels;
    assert_int_equal(nn_plan_create(&p, m, &config), SOTTO_OK);
    return p;
}

static void fill(float *x, size_t n, uint64_t index)
{
    struct rng r = rng_stream(13, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&r);
}

static void assert_near(const float *a, const float *b, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= tolerance * (1 + fabs((double)b[i]))))
            fail_msg("position %zu: %g against %g", i, (double)a[i], (double)b[i]);
}

TEST(plans_of_different_batch_share_one_model)
{
    struct nn_model *m = small_model();
    struct nn_plan *one = plan_of(m, (struct nn_plan_config){.batch = 1}),
                   *many = plan_of(m, (struct nn_plan_config){.batch = 5});
    fill(nn_plan_input(many), 5 * 12, 0);
    nn_plan_forward(many, 0, 0, 0);
    for (size_t i = 0; i < 5; i++) {
        memcpy(nn_plan_input(one), nn_plan_input(many) + i * 12, 12 * sizeof(float));
        nn_plan_forward(one, 0, 0, 0);
        assert_near(nn_plan_output(one), nn_plan_output(many) + i * 4, 4, 1e-6);
    }
    nn_plan_free(one);
    nn_plan_free(many);
    nn_model_free(m);
}

TEST(embedding_only_stops_at_the_embedding)
{
    struct nn_model *m = small_model();
    struct nn_plan *full = plan_of(m, (struct nn_plan_config){.batch = 4, .training = 1}),
                   *cut = plan_of(m, (struct nn_plan_config){.batch = 4, .embedding_only = 1});
    fill(nn_plan_input(full), 4 * 12, 0);
    fill(nn_plan_input(cut), 4 * 12, 0);
    nn_plan_forward(full, 0, 0, 0);
    nn_plan_forward(cut, 0, 0, 0);
    const struct activation *embedding = plan_activation(full, m->embedding_row);
    assert_int_equal(embedding->count, 4 * 8);
    assert_memory_equal(embedding->data, nn_plan_output(cut), 4 * 8 * sizeof(float));
    nn_plan_free(full);
    nn_plan_free(cut);
    nn_model_free(m);
}

TEST(a_step_allocates_nothing)
{
    struct nn_model *m = NULL;
    struct nn_model_config config = {
        .name = "keras-simclr", .input = {3, 32, 32}, .projector = {128, 128}, .projector_count = 2};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    struct nn_plan *p = plan_of(m, (struct nn_plan_config){.batch = 2, .training = 1});
    fill(nn_plan_input(p), 2 * 32 * 32 * 3, 0);
    for (int step = 0; step < 8; step++) {
        uint64_t before = base_alloc_count();
        struct mallinfo2 heap = mallinfo2();
        nn_plan_forward(p, 1, 1, (uint64_t)step);
        fill(nn_plan_diff_output(p), 2 * 128, 1);
        nn_plan_backward(p);
        struct mallinfo2 after = mallinfo2();
        assert_int_equal(base_alloc_count(), before);
        if (step == 7) { /* the first steps start threads and fill each thread's malloc cache */
            assert_int_equal(after.uordblks, heap.uordblks);
            assert_int_equal(after.hblkhd, heap.hblkhd);
        }
    }
    nn_plan_free(p);
    nn_model_free(m);
}

/* What is reserved covers at least every tensor that lives through a step; without training it is far
 * less. */
TEST(planned_bytes_tell_the_truth)
{
    struct nn_model *m = NULL;
    struct nn_model_config config = {
        .name = "keras-simclr", .input = {3, 32, 32}, .projector = {128, 128}, .projector_count = 2};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    size_t results = (32 * 32 * 3 + 128 * (225 + 49 + 9 + 1 + 3)) * sizeof(float) * 64;
    struct nn_plan *train = plan_of(m, (struct nn_plan_config){.batch = 64, .training = 1}),
                   *infer = plan_of(m, (struct nn_plan_config){.batch = 64});
    assert_true(nn_plan_bytes(train) >= results);
    assert_true(nn_plan_bytes(infer) < nn_plan_bytes(train));
    assert_int_equal(nn_plan_bytes(train), train->keep.capacity + train->scratch.capacity);
    assert_int_equal(train->keep.used, train->keep.capacity); /* the two passes of layout agree */
    nn_plan_free(train);
    nn_plan_free(infer);
    nn_model_free(m);
}

TEST(impossible_plans_are_refused)
{
    struct nn_model *m = small_model();
    struct nn_plan *p = NULL;
    const struct nn_backend *ref, *other = NULL;
    assert_int_equal(nn_backend_find(&ref, "ref"), SOTTO_OK);
    assert_int_equal(nn_plan_create(&p, m, &(struct nn_plan_config){.batch = 0, .backend = ref}),
                     SOTTO_EINVAL);
    assert_int_equal(nn_plan_create(&p, m, &(struct nn_plan_config){.batch = 1}), SOTTO_EINVAL);
    assert_int_equal(
        nn_plan_create(&p, m, &(struct nn_plan_config){.batch = 1, .backend = ref, .dtype = NN_BF16}),
        SOTTO_ENOTSUP);
    assert_int_equal(
        nn_plan_create(&p, m, &(struct nn_plan_config){.batch = (size_t)1 << 60, .backend = ref}),
        SOTTO_EINVAL);
    assert_int_equal(nn_backend_find(&other, "cuda"), SOTTO_EINVAL);
    assert_null(other);
    assert_null(p);
    nn_model_free(m);
}

TEST(every_failed_allocation_is_reported)
{
    for (long n = 0;; n++) {
        struct nn_model *m = small_model();
        struct nn_plan *p = NULL;
        base_alloc_fail_after(n);
        sotto_status status = nn_plan_create(
            &p, m, &(struct nn_plan_config){.batch = 3, .backend = machine.kernels, .training = 1});
        base_alloc_fail_after(-1);
        nn_plan_free(p);
        nn_model_free(m);
        if (status == SOTTO_OK) {
            assert_true(n > 3);
            return;
        }
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_null(p);
    }
}

/* ---- residual rows and rows read twice, with two toy layers of gradients known by hand ---- */

static sotto_status toy_shape(struct nn_shape *dst, const struct layer_spec *spec, struct nn_shape src)
{
    (void)spec;
    *dst = src;
    return SOTTO_OK;
}

static void toy_forward(struct layer_run *run, const struct pass *pass) /* y = rate x */
{
    (void)pass;
    for (size_t i = 0; i < run->dst->count; i++)
        ((float *)run->dst->data)[i] = (float)run->spec->rate * ((float *)run->src->data)[i];
}

static void toy_backward(struct layer_run *run, const struct pass *pass)
{
    (void)pass;
    if (run->need_diff_src)
        for (size_t i = 0; i < run->src->count; i++)
            ((float *)run->src->diff)[i] = (float)run->spec->rate * ((float *)run->dst->diff)[i];
}

static const struct layer toy = {
    .name = "toy", .shape = toy_shape, .forward = toy_forward, .backward = toy_backward, .writes_f32 = 1};

/* a = relu(2x); b = 3a; c = relu(-1 b + a); d = 5c + a
 * for x > 0: a = 2x, c = relu(-6x + 2x) = 0, d = 2x; with rate +1 in row 2: c = 8x, d = 42x. */
TEST(residual_rows_add_up_forward_and_backward)
{
    for (int positive = 0; positive <= 1; positive++) {
        struct nn_model m = {.input = {1, 1, 4}, .embedding_row = 3};
        const struct layer_spec rows[] = {
            {.layer = &toy, .path = "a", .src = SOURCE_INPUT, .residual = SOURCE_NONE, .relu = 1, .rate = 2},
            {.layer = &toy, .path = "b", .src = 0, .residual = SOURCE_NONE, .rate = 3},
            {.layer = &toy, .path = "c", .src = 1, .residual = 0, .relu = 1, .rate = positive ? 1 : -1},
            {.layer = &toy, .path = "d", .src = 2, .residual = 0, .rate = 5},
        };
        for (int i = 0; i < 4; i++)
            assert_int_equal(network_add(&m, &rows[i], NULL), SOTTO_OK);
        const float x[4] = {1, -1, 0.5f, 2}, factor = positive ? 42 : 2;
        for (int training = 0; training <= 1; training++) {
            struct nn_plan *p = plan_of(&m, (struct nn_plan_config){.batch = 1, .training = training});
            memcpy(nn_plan_input(p), x, sizeof x);
            nn_plan_forward(p, training, 0, 0);
            for (int i = 0; i < 4; i++)
                assert_true(nn_plan_output(p)[i] == (x[i] > 0 ? factor * x[i] : 0));
            if (training) {
                for (int i = 0; i < 4; i++)
                    nn_plan_diff_output(p)[i] = 1;
                nn_plan_backward(p);
                for (int i = 0; i < 4; i++) /* d(d)/d(2x), masked where a = 0 */
                    assert_true(((float *)plan_activation(p, 0)->diff)[i] == (x[i] > 0 ? factor / 2 : 0));
            }
            nn_plan_free(p);
        }
        arena_clear(&m.gradient_memory);
    }
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
