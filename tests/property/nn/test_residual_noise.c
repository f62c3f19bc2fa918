/* Noise inside residual networks: its law, its gradients with the noise frozen, its streams; ensembles
 * against their members; what is refused. */
#include "support/test.h"
#include "support/worse.h"
#include "nn/kernel/bf16.h"
#include "nn/plan/plan.h"
#include "nn/layer/residual_noise.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct nn_backend *backend;

static int set_up(void **state)
{
    (void)state;
    par_set_threads(1); /* small networks */
    /* direct sums: the slopes are differences of 3e-4, in which rounding shows */
    return nn_backend_find(&backend, "dnnl") != SOTTO_OK && nn_backend_find(&backend, "ref") != SOTTO_OK;
}

/* ---- the numbers ---- */

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov statistic times sqrt(n) against the normal law of this deviation. */
static double distance_to_normal(float *z, size_t n, double deviation)
{
    double worst = 0;
    qsort(z, n, sizeof *z, ascending);
    for (size_t i = 0; i < n; i++) {
        double at = 0.5 * erfc(-(double)z[i] / deviation / sqrt(2));
        worst = worse(worst, worse(at - (double)i / (double)n, (double)(i + 1) / (double)n - at));
    }
    return worst * sqrt((double)n);
}

TEST(numbers_are_standard_normal)
{
    enum { N = 1 << 19 };
    static float z[N];
    const struct residual_noise_kernels *k = residual_noise_kernels_find();
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    uint32_t words[NOISE_GROUP];
    double sum = 0, square = 0, fourth = 0, neighbours = 0, halves = 0;
    for (size_t i = 0; i < N; i += NOISE_GROUP) {
        for (size_t j = 0; j < NOISE_GROUP; j++)
            words[j] = rng_u32(&r);
        k->normals(z + i, words);
    }
    for (size_t i = 0; i < N; i++) {
        double x = (double)z[i];
        sum += x, square += x * x, fourth += x * x * x * x;
        if (i > 0)
            neighbours += x * (double)z[i - 1];
        if (i % 32 >= 16)
            halves += x * (double)z[i - 16]; /* the two numbers of one transform */
    }
    assert_true(fabs(sum / N) < 5 / sqrt(N));
    assert_true(fabs(square / N - 1) < 5 * sqrt(2. / N));
    assert_true(fabs(fourth / N - 3) < 5 * sqrt(96. / N));
    assert_true(fabs(neighbours / N) < 5 / sqrt(N) && fabs(halves / (N / 2)) < 5 / sqrt(N / 2));
    assert_true(distance_to_normal(z, N, 1) < 1.95);    /* p = .001 */
    assert_true(distance_to_normal(z, N, 1.01) > 1.95); /* a hundredth too wide is seen */
}

TEST(the_smallest_word_and_all_turns_are_finite)
{
    uint32_t words[NOISE_GROUP] = {0};
    float z[NOISE_GROUP];
    for (size_t i = 0; i < NOISE_GROUP; i += 32)
        for (size_t j = 0; j < 16; j++) {
            words[i + j] = j < 8 ? 0 : UINT32_MAX;
            words[i + 16 + j] = (uint32_t)((i / 32 * 16 + j) * (UINT64_C(1) << 32) / 128);
        }
    residual_noise_kernels_find()->normals(z, words);
    double longest = sqrt(2 * 33 * log(2));
    for (size_t i = 0; i < NOISE_GROUP; i++) {
        size_t at = i % 32 % 16, group = i / 32 * 32;
        double turn = 2 * M_PI * words[group + 16 + at] / 4294967296.0, radius = at < 8 ? longest : 0;
        double expected = radius * (i % 32 < 16 ? cos(turn) : sin(turn));
        if (!(fabs((double)z[i] - expected) <= 2e-5))
            fail_msg("number %zu is %g, expected %g", i, (double)z[i], expected);
    }
}

/* The floor makes the function jump where x changes sign, so slopes along a line say nothing there: the
 * kernels alone, in both number types. */
TEST(floors_are_as_defined)
{
    enum { N = 21 };
    const struct residual_noise_kernels *k = residual_noise_kernels_find();
    const float x[N] = {0, -0.0f, .1f, -.1f, .3f, -.3f, .31f, -.31f, 2, -2}, floor = .3f;
    float z[NOISE_GROUP], y[N] = {0}, back[N] = {0}, g[N];
    uint16_t half_x[N], half_y[N] = {0};
    for (int i = 0; i < N; i++) {
        z[i] = (float)(i + 1), g[i] = (float)(2 * i - 7);
        half_x[i] = bf16_from_float(x[i]);
    }
    k->add_scaled(y, x, 0, z, .5f, floor, N, 0);
    k->add_scaled(half_y, half_x, 0, z, .5f, floor, N, 1);
    k->add_scaled_back(back, g, x, 0, z, 1, 0, .5f, floor, N, 0);
    for (int i = 0; i < N; i++) {
        float size = fmaxf(fabsf(x[i]), floor), expected = x[i] + .5f * z[i] * (x[i] < 0 ? -size : size);
        assert_true(fabsf(y[i] - expected) < 1e-6f * z[i]);
        assert_true(fabsf(bf16_to_float(half_y[i]) - expected) <= .01f * fabsf(expected));
        assert_true(back[i] == (fabsf(x[i]) > floor ? .5f * z[i] * g[i] : 0));
    }
    /* No floor: everywhere. What is there is added to, or overwritten unread. */
    for (int keep = 0; keep < 2; keep++) {
        for (int i = 0; i < N; i++)
            back[i] = keep ? (float)i : NAN, y[i] = 1;
        k->add_scaled_back(back, g, x, 0, z, keep, 1, .5f, 0, N, 0);
        k->add_scaled(y, x, 0, z, .5f, 0, N, 0);
        for (int i = 0; i < N; i++) {
            assert_true(back[i] == (keep ? (float)i : 0) + (1 + .5f * z[i]) * g[i]);
            assert_true(y[i] == 1 + x[i] * (1 + .5f * z[i]));
        }
    }
    /* Plain numbers, with and without something that is summed with them. */
    for (int i = 0; i < N; i++)
        y[i] = back[i] = 1;
    k->add(y, NULL, 0, z, .5f, N, 0);
    k->add(back, x, 0, z, .5f, N, 0);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == 1 + .5f * z[i] && back[i] == 1 + x[i] + .5f * z[i]);
}

/* ---- networks ---- */

struct bench {
    struct nn_model *model;
    struct nn_plan *plan;
    float *direction;
    size_t outputs;
};

enum { BATCH = 6, SIDE = 8 };

static struct nn_model_config usual(void)
{
    return (struct nn_model_config){
        .name = "resnet8", .input = {3, SIDE, SIDE}, .classes = 4, .norm = "group"};
}

static void open_bench(struct bench *b, const struct nn_model_config *config, int training,
                       enum nn_dtype dtype)
{
    struct nn_plan_config plan = {.batch = BATCH, .dtype = dtype, .backend = backend, .training = training};
    assert_int_equal(nn_model_create(&b->model, config, 5), SOTTO_OK);
    assert_int_equal(nn_plan_create(&b->plan, b->model, &plan), SOTTO_OK);
    b->outputs = BATCH * nn_model_output_width(b->model);
    b->direction = base_alloc(b->outputs, sizeof *b->direction);
    struct rng r = rng_stream(9, RNG_TEST, 1, 0);
    for (size_t i = 0; i < b->outputs; i++)
        b->direction[i] = (float)rng_normal(&r);
    for (size_t i = 0; i < (size_t)BATCH * 3 * SIDE * SIDE; i++)
        nn_plan_input(b->plan)[i] = rng_unit_f(&r);
}

static void close_bench(struct bench *b)
{
    nn_plan_free(b->plan);
    nn_model_free(b->model);
    base_free(b->direction);
}

static double loss(struct bench *b, uint64_t step)
{
    double sum = 0;
    nn_plan_forward(b->plan, 1, 1, step);
    for (size_t i = 0; i < b->outputs; i++)
        sum += (double)b->direction[i] * (double)nn_plan_output(b->plan)[i];
    return sum;
}

/* Largest relative error of the slope along one random direction for each of the tensors; noise of the slopes
 * is drawn at `step`, that of the gradient at step 7. Differences of 3e-4 show f32's rounding where answers are
 * small (probabilities), those of 1e-3 the corners of ReLUs, so the nearer of the two counts; a wrong gradient is
 * near neither, as the gradients of other noise below. */
static double gradient_error(const struct nn_model_config *config, uint64_t step)
{
    struct bench b;
    double worst = 0, size = 0;
    open_bench(&b, config, 1, NN_F32);
    const struct tensor_list *tensors = nn_model_tensors(b.model);
    loss(&b, 7);
    memcpy(nn_plan_diff_output(b.plan), b.direction, b.outputs * sizeof(float));
    nn_plan_backward(b.plan);
    for (size_t t = 0; t < tensors->count; t++) {
        const struct tensor *p = &tensors->items[t];
        float *saved = base_alloc(p->count, sizeof *saved), *way = base_alloc(p->count, sizeof *way);
        struct rng r = rng_stream(9, RNG_TEST, 2, t);
        double slope = 0, length = 0, nearest = INFINITY;
        for (size_t i = 0; i < p->count; i++) {
            saved[i] = p->value[i];
            way[i] = (float)rng_normal(&r);
            length += (double)way[i] * (double)way[i];
        }
        for (size_t i = 0; i < p->count; i++)
            slope += (double)way[i] * (double)p->grad[i];
        for (int wide = 0; wide < 2; wide++) {
            double h = (wide ? 1e-3 : 3e-4) / sqrt(length), found[2];
            for (int side = 0; side < 2; side++) {
                for (size_t i = 0; i < p->count; i++)
                    p->value[i] = saved[i] + (float)((side ? -h : h) * (double)way[i]);
                found[side] = loss(&b, step);
            }
            double numeric = (found[0] - found[1]) / (2 * h);
            nearest = fmin(nearest, fabs(numeric - slope));
            size = fmax(size, fabs(numeric));
        }
        memcpy(p->value, saved, p->count * sizeof *saved);
        worst = worse(worst, nearest);
        base_free(saved);
        base_free(way);
    }
    close_bench(&b);
    return worst / size;
}

TEST(gradients_hold_with_the_noise_frozen)
{
    struct nn_model_config c = usual();
    double plain = gradient_error(&c, 7);
    assert_true(plain < .02);
    const struct {
        struct nn_noise noise;
        double input, radius;
        int no_skip;
        size_t members;
        int separate, softmax;
    } cases[] = {{{.kind = NN_NOISE_ADDITIVE, .gamma = .5}, 0, 0, 0, 0, 0, 0},
                 {{.kind = NN_NOISE_MULTIPLICATIVE, .gamma = .5}, 0, 0, 0, 0, 0, 0},
                 {{.kind = NN_NOISE_ADDITIVE, .gamma = .5}, .25, 4, 0, 0, 0, 0},
                 {{.kind = NN_NOISE_ADDITIVE, .gamma = .5}, 0, 0, 1, 0, 0, 0},
                 {{.kind = NN_NOISE_ADDITIVE, .gamma = .5}, .25, 4, 0, 3, 0, 0},
                 {{.kind = NN_NOISE_MULTIPLICATIVE, .gamma = .3}, .25, 0, 0, 2, 1, 0},
                 {{.kind = NN_NOISE_ADDITIVE, .gamma = .5, .relative = 1}, 0, 0, 0, 0, 0, 0},
                 {{.kind = NN_NOISE_ADDITIVE, .gamma = .5}, 0, 0, 0, 3, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c = usual();
        c.noise = cases[i].noise, c.input_noise = cases[i].input, c.radius = cases[i].radius;
        c.no_skip = cases[i].no_skip, c.members = cases[i].members, c.separate_inputs = cases[i].separate;
        c.average_softmax = cases[i].softmax;
        double error = gradient_error(&c, 7), other = gradient_error(&c, 8);
        if (!(error <= .02 && other >= 2 * error && other >= .02)) /* other noise, other gradients */
            fail_msg("case %zu: error %g, with other noise %g", i, error, other);
    }
}

/* Without weights between noise and output the variance is that of the rows: the sum over three rows that
 * only pass on, here measured on the input row alone. */
TEST(noise_has_the_variance_asked_for)
{
    struct nn_model_config quiet = usual(), noisy = usual();
    quiet.radius = noisy.radius = 1e6; /* the same rows in both */
    noisy.input_noise = .25;
    struct bench a, b;
    double sum = 0, square = 0;
    size_t n = 0;
    open_bench(&a, &quiet, 0, NN_F32);
    open_bench(&b, &noisy, 0, NN_F32);
    nn_plan_forward(a.plan, 0, 1, 0);
    nn_plan_forward(b.plan, 0, 1, 0);
    assert_memory_not_equal(nn_plan_output(a.plan), nn_plan_output(b.plan),
                            a.outputs * sizeof(float)); /* in use too */
    close_bench(&a);
    close_bench(&b);
    /* A training plan keeps the results of all rows. */
    open_bench(&a, &quiet, 1, NN_F32);
    open_bench(&b, &noisy, 1, NN_F32);
    for (uint64_t step = 0; step < 40; step++) {
        nn_plan_forward(a.plan, 1, 1, step);
        nn_plan_forward(b.plan, 1, 1, step);
        const struct activation *x = plan_activation(a.plan, 0), *y = plan_activation(b.plan, 0);
        for (size_t i = 0; i < x->count; i++) {
            double d = (double)((float *)y->data)[i] - (double)((float *)x->data)[i];
            sum += d, square += d * d, n++;
        }
    }
    double variance = square / (double)n;
    assert_true(fabs(sum / (double)n) < 5 * .25 / sqrt((double)n));
    assert_true(fabs(variance / .0625 - 1) < 5 * sqrt(2 / (double)n));
    close_bench(&a);
    close_bench(&b);
}

/* The first noisy row of a network with relative noise against the same network without noise: what was added
 * has gamma times the deviation of the whole result, which is distinguished from gamma itself. */
TEST(relative_noise_is_in_deviations_of_the_batch)
{
    for (int half = 0; half <= nn_backend_supports_bf16(backend); half++) {
        struct nn_model_config quiet = usual(), noisy = usual();
        noisy.noise = (struct nn_noise){.kind = NN_NOISE_ADDITIVE, .gamma = .5, .relative = 1};
        struct bench a, b;
        int row = 0;
        double mean = 0, square = 0, added = 0, n = 0;
        open_bench(&a, &quiet, 1, half ? NN_BF16 : NN_F32);
        open_bench(&b, &noisy, 1, half ? NN_BF16 : NN_F32);
        for (size_t i = 0; i < (size_t)BATCH * 3 * SIDE * SIDE; i++) {
            nn_plan_input(a.plan)[i] *= 3; /* a deviation far from 1 */
            nn_plan_input(b.plan)[i] *= 3;
        }
        while (b.model->rows[row].noise.kind == NN_NOISE_NONE)
            row++;
        nn_plan_forward(a.plan, 1, 1, 0);
        nn_plan_forward(b.plan, 1, 1, 0);
        const struct activation *x = plan_activation(a.plan, row), *y = plan_activation(b.plan, row);
        for (size_t i = 0; i < x->count; i++) {
            double from = half ? (double)bf16_to_float(((bf16 *)x->data)[i]) : (double)((float *)x->data)[i],
                   to = half ? (double)bf16_to_float(((bf16 *)y->data)[i]) : (double)((float *)y->data)[i];
            mean += from, square += from * from, added += (to - from) * (to - from), n++;
        }
        double deviation = sqrt((square - mean * mean / n) / (n - 1)), expected = .25 * deviation * deviation;
        assert_true(fabs(b.plan->runs[row].noise_deviation / deviation - 1) < (half ? 1e-3 : 1e-6));
        assert_true(fabs(added / n / expected - 1) < 5 * sqrt(2 / n) + (half ? .01 : 0));
        assert_true(fabs(deviation - 1) > .1);
        close_bench(&a);
        close_bench(&b);
    }
}

TEST(inputs_are_clipped)
{
    for (int half = 0; half <= nn_backend_supports_bf16(backend); half++) {
        struct nn_model_config c = usual();
        c.radius = 2;
        struct bench b;
        open_bench(&b, &c, 1, half ? NN_BF16 : NN_F32);
        for (size_t i = 0; i < 3 * SIDE * SIDE; i++)
            nn_plan_input(b.plan)[i] = .01f; /* a record inside the ball */
        nn_plan_forward(b.plan, 1, 1, 0);
        const struct activation *t = plan_activation(b.plan, 0);
        for (size_t r = 0; r < BATCH; r++) {
            double square = 0;
            for (size_t i = r * t->count / BATCH; i < (r + 1) * t->count / BATCH; i++) {
                uint32_t bits = half ? (uint32_t)((bf16 *)t->data)[i] << 16 : 0;
                float x;
                memcpy(&x, half ? (void *)&bits : (void *)((float *)t->data + i), sizeof x);
                square += (double)x * (double)x;
            }
            assert_true(sqrt(square) <= 2);
            assert_true(r == 0 ? fabs(sqrt(square) - .01 * sqrt(3 * SIDE * SIDE)) < 1e-3
                               : sqrt(square) > 1.95);
        }
        close_bench(&b);
    }
}

TEST(streams_depend_on_seed_step_and_row_only)
{
    struct nn_model_config c = usual();
    c.noise = (struct nn_noise){.kind = NN_NOISE_ADDITIVE, .gamma = 1};
    float first[BATCH * 4], again[BATCH * 4];
    struct bench b;
    int threads = par_pool_threads();
    par_set_threads(1);
    open_bench(&b, &c, 0, NN_F32);
    nn_plan_forward(b.plan, 0, 1, 5);
    memcpy(first, nn_plan_output(b.plan), sizeof first);
    nn_plan_forward(b.plan, 0, 1, 5);
    assert_memory_equal(first, nn_plan_output(b.plan), sizeof first);
    nn_plan_forward(b.plan, 0, 1, 6);
    assert_memory_not_equal(first, nn_plan_output(b.plan), sizeof first);
    nn_plan_forward(b.plan, 0, 2, 5);
    assert_memory_not_equal(first, nn_plan_output(b.plan), sizeof first);
    close_bench(&b);
    par_set_threads(2);
    open_bench(&b, &c, 0, NN_F32);
    nn_plan_forward(b.plan, 0, 1, 5);
    memcpy(again, nn_plan_output(b.plan), sizeof again);
    for (size_t i = 0; i < BATCH * 4; i++)
        assert_true(fabsf(first[i] - again[i]) < 1e-4f); /* convolutions may sum in another order */
    close_bench(&b);
    par_set_threads(threads);
}

/* An ensemble of noiseless members says the mean of what the members say alone, and trains them by half the
 * gradient each. */
TEST(an_ensemble_is_its_members)
{
    struct nn_model_config one = usual(), two = usual();
    two.members = 2;
    struct bench e, m[2];
    open_bench(&e, &two, 1, NN_F32);
    for (size_t k = 0; k < 2; k++) {
        open_bench(&m[k], &one, 1, NN_F32);
        const struct tensor_list *to = nn_model_tensors(m[k].model), *from = nn_model_tensors(e.model);
        assert_int_equal(from->count, 2 * to->count);
        for (size_t t = 0; t < to->count; t++) {
            assert_int_equal(to->items[t].count, from->items[k * to->count + t].count);
            memcpy(to->items[t].value, from->items[k * to->count + t].value,
                   to->items[t].count * sizeof(float));
        }
        loss(&m[k], 0);
    }
    assert_int_equal(nn_model_parameter_count(e.model, 1), 2 * nn_model_parameter_count(m[0].model, 1));
    loss(&e, 0);
    for (size_t i = 0; i < e.outputs; i++) {
        double mean = ((double)nn_plan_output(m[0].plan)[i] + (double)nn_plan_output(m[1].plan)[i]) / 2;
        assert_true(fabs((double)nn_plan_output(e.plan)[i] - mean) < 1e-5);
    }
    memcpy(nn_plan_diff_output(e.plan), e.direction, e.outputs * sizeof(float));
    nn_plan_backward(e.plan);
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < e.outputs; i++)
            nn_plan_diff_output(m[k].plan)[i] = e.direction[i] / 2;
        nn_plan_backward(m[k].plan);
        const struct tensor_list *own = nn_model_tensors(m[k].model), *of = nn_model_tensors(e.model);
        for (size_t t = 0; t < own->count; t++) {
            const struct tensor *a = &own->items[t], *b = &of->items[k * own->count + t];
            double worst = 0, size = 1e-6;
            for (size_t i = 0; i < a->count; i++) {
                worst = worse(worst, fabs((double)a->grad[i] - (double)b->grad[i]));
                size = fmax(size, fabs((double)a->grad[i]));
            }
            if (!(worst <= 1e-4 * size))
                fail_msg("member %zu, %s: gradients differ by %g of %g", k, a->name, worst, size);
        }
        close_bench(&m[k]);
    }
    close_bench(&e);
}

/* One that averages probabilities answers the logarithm of their mean. */
TEST(an_ensemble_may_average_probabilities)
{
    struct nn_model_config two = usual(), one = usual();
    two.members = 2, two.average_softmax = 1;
    struct bench e, m;
    double mean[BATCH * 4] = {0};
    open_bench(&e, &two, 0, NN_F32);
    open_bench(&m, &one, 0, NN_F32);
    const struct tensor_list *to = nn_model_tensors(m.model), *from = nn_model_tensors(e.model);
    for (size_t k = 0; k < 2; k++) {
        for (size_t t = 0; t < to->count; t++)
            memcpy(to->items[t].value, from->items[k * to->count + t].value,
                   to->items[t].count * sizeof(float));
        nn_plan_forward(m.plan, 0, 1, 0);
        for (size_t i = 0; i < BATCH; i++) {
            const float *z = nn_plan_output(m.plan) + 4 * i;
            double sum = 0;
            for (size_t j = 0; j < 4; j++)
                sum += exp((double)z[j]);
            for (size_t j = 0; j < 4; j++)
                mean[4 * i + j] += exp((double)z[j]) / sum / 2;
        }
    }
    nn_plan_forward(e.plan, 0, 1, 0);
    for (size_t i = 0; i < BATCH * 4; i++)
        assert_true(fabs((double)nn_plan_output(e.plan)[i] - log(mean[i])) < 1e-5);
    close_bench(&e);
    close_bench(&m);
}

TEST(bad_networks_are_refused)
{
    struct nn_model *m = NULL;
#define REFUSED(change, word)                                                                                \
    do {                                                                                                     \
        struct nn_model_config c = usual();                                                                  \
        change;                                                                                              \
        assert_int_equal(nn_model_create(&m, &c, 1), SOTTO_EINVAL);                                          \
        if (!strstr(sotto_error_text(), word))                                                               \
            fail_msg("'%s' does not mention %s", sotto_error_text(), word);                                  \
    } while (0)
    REFUSED(c.noise = ((struct nn_noise){.kind = NN_NOISE_ADDITIVE, .gamma = -1}), "gamma");
    REFUSED(c.noise = ((struct nn_noise){.kind = NN_NOISE_ADDITIVE, .gamma = NAN}), "gamma");
    REFUSED(c.noise = ((struct nn_noise){.kind = NN_NOISE_MULTIPLICATIVE, .gamma = 1, .floor = -1}), "floor");
    REFUSED(c.noise = ((struct nn_noise){.kind = NN_NOISE_MULTIPLICATIVE, .gamma = 1});
            c.no_skip = 1, "skip connection");
    REFUSED(c.noise = ((struct nn_noise){.kind = NN_NOISE_MULTIPLICATIVE, .gamma = 1, .relative = 1}),
            "relative noise must be additive");
    REFUSED(c.average_softmax = 1, "more than one member");
    REFUSED(c.input_noise = -1, "input noise");
    REFUSED(c.radius = INFINITY, "radius");
    REFUSED(c.members = 17, "members");
    REFUSED(c.members = 2; c.classes = 0, "classes");
    REFUSED(c.name = "cnn"; c.members = 2,
                            "supports no noise in its blocks and no ensemble members; expected "
                            "resnet8 or resnet20");
    REFUSED(c.name = "resnet18"; c.no_skip = 1, "supports no noise in its blocks and no ensemble members; "
                                                "expected resnet8 or resnet20");
#undef REFUSED
}

TEST(deeper_networks_have_their_size)
{
    struct nn_model *m = NULL;
    struct nn_model_config c = {.name = "resnet20", .input = {3, 32, 32}, .classes = 10};
    assert_int_equal(nn_model_create(&m, &c, 1), SOTTO_OK);
    /* By hand: convolutions 432 + (6 2304) + (512 + 4608 + 5 9216) + (2048 + 18432 + 5 36864), norms,
     * classifier. */
    size_t convolutions = 432 + 6 * 2304 + 512 + 4608 + 5 * 9216 + 2048 + 18432 + 5 * 36864;
    size_t norms = 2 * (6 * 16 + 16 + 5 * 32 + 32 + 5 * 64 + 64);
    assert_int_equal(nn_model_parameter_count(m, 1), convolutions + norms + 650);
    nn_model_free(m);
    c.members = 16;
    assert_int_equal(nn_model_create(&m, &c, 1), SOTTO_EINVAL); /* too many layers: refused */
    c.members = 5;
    assert_int_equal(nn_model_create(&m, &c, 1), SOTTO_OK);
    nn_model_free(m);
}

TEST_GROUP(.set_up = set_up, .tags = "matrix")
