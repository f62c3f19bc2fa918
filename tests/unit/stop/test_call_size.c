/* A large batch goes to oneDNN in calls of bounded work, between which a pass can be stopped: results are those of smaller
 * batches, the gradient of the weights is their sum, and whether to go on is asked before each call. */
#include "support/test.h"
#include "nn/backend.h"
#include "par/par.h"
#include "support/stop_questions.h"
#include "support/worse.h"

#include <math.h>
#include <string.h>

/* 3x3 convolutions of 2.4 billion multiplications an image, so one image a call. */
enum { CALL = 1, CALLS = 2, BATCH = CALL * CALLS, SIDE = 64, WIDTH = 256 };
static const size_t image = (size_t)SIDE * SIDE * WIDTH, weight_count = (size_t)9 * WIDTH * WIDTH;

static float *src, *weights, *diff_dst;

struct results {
    float *dst, *diff_src, *diff_weights;
    size_t forward, backward; /* questions */
};

static float *filled(size_t n, unsigned seed)
{
    float *x = base_alloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((i * 2654435761u + seed) >> 7 & 255) / 256 - 0.5f;
    return x;
}

/* Images from `first` on, as many as a plan of this batch takes. */
static void run(struct results *out, const struct nn_backend *backend, size_t batch, size_t first)
{
    static struct par_stop latch;
    const struct nn_shape shape = {WIDTH, SIDE, SIDE};
    const struct conv_desc d = {.batch = batch,
                                .src = shape,
                                .dst = shape,
                                .kernel_height = 3,
                                .kernel_width = 3,
                                .stride = 1,
                                .pad = 1,
                                .training = 1,
                                .diff_src = 1,
                                .threads = par_pool_threads(),
                                .stop = &latch};
    struct conv *c = NULL;
    struct arena keep = {0}, scratch = {0};
    par_stop_set(&latch, &context);
    assert_int_equal(backend->conv_create(&c, &d), SOTTO_OK);
    for (int round = 0; round < 2; round++) {
        backend->conv_layout(c, &keep, &scratch);
        if (round == 0) {
            assert_int_equal(arena_reserve(&keep, "test"), SOTTO_OK);
            assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
        }
    }
    reset(0);
    backend->conv_forward(c, out->dst + first * image, src + first * image, weights, NULL);
    out->forward = asked;
    reset(0);
    backend->conv_backward(c, out->diff_src + first * image, out->diff_weights, NULL,
                           diff_dst + first * image, src + first * image, weights);
    out->backward = asked;
    backend->conv_free(c);
    arena_clear(&keep);
    arena_clear(&scratch);
}

static struct results room(void)
{
    return (struct results){.dst = filled(BATCH * image, 1),
                            .diff_src = filled(BATCH * image, 2),
                            .diff_weights = filled(weight_count, 3)};
}

static void clear(struct results *r)
{
    base_free(r->dst);
    base_free(r->diff_src);
    base_free(r->diff_weights);
}

TEST(a_batch_is_its_calls)
{
    const struct nn_backend *backend = NULL;
    if (nn_backend_find(&backend, "dnnl") != SOTTO_OK)
        return; /* built without oneDNN, of which this speaks */
    src = filled(BATCH * image, 4);
    diff_dst = filled(BATCH * image, 5);
    weights = filled(weight_count, 6);
    struct results whole = room(), parts = room();
    float *sum = base_alloc(weight_count, sizeof *sum);
    double size = 0, off = 0;
    run(&whole, backend, BATCH, 0);
    assert_true(whole.forward >= CALLS && whole.backward >= CALLS);
    for (size_t first = 0; first < BATCH; first += CALL) {
        run(&parts, backend, CALL, first);
        for (size_t i = 0; i < weight_count; i++)
            sum[i] += parts.diff_weights[i];
    }
    assert_memory_equal(whole.dst, parts.dst, BATCH * image * sizeof(float));
    assert_memory_equal(whole.diff_src, parts.diff_src, BATCH * image * sizeof(float));
    for (size_t i = 0; i < weight_count; i++) /* sums of BATCH * SIDE * SIDE products, whose order differs */
        size = fmax(size, fabs((double)sum[i])),
        off = worse(off, fabs((double)whole.diff_weights[i] - (double)sum[i]));
    assert_true(size > 0 && off <= 1e-5 * size);
    clear(&whole);
    clear(&parts);
    base_free(sum);
    base_free(src);
    base_free(weights);
    base_free(diff_dst);
}
