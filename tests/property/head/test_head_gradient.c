/* Gradient check of the head's loss: the kernels' own source, compiled in double, against central
 * differences. */
#include "support/test.h"

#define HEAD_REAL double
#define HEAD_REAL_IS_DOUBLE
#define SOTTO_ISA_SUFFIX checked
#include "head/kernel/head_kernels.isa.c"

#include "base/memory.h"
#include "head/kernel/head_clip.h"
#include "head/kernel/head_linear.h"
#include "rng/rng.h"

enum { MAX_LAYERS = 4, ROWS = 7 };

struct problem {
    struct head_net net;
    double *x;
    int64_t y[ROWS];
};

static double *numbers(size_t count, struct rng *r, double scale)
{
    double *values = base_alloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; r && i < count; i++)
        values[i] = scale * rng_normal(r);
    return values;
}

static void make(struct problem *p, size_t layers, const size_t *width, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 0, 0);
    size_t widest = 0;
    *p = (struct problem){.net.layers = layers};
    for (size_t l = 0; l < layers; l++) {
        struct head_layer *layer = &p->net.layer[l];
        *layer = (struct head_layer){.in = width[l], .out = width[l + 1], .ld = head_padded(width[l + 1])};
        layer->w = numbers((layer->in + 1) * layer->ld, NULL, 0);
        for (size_t i = 0; i <= layer->in; i++)
            for (size_t o = 0; o < layer->out; o++)
                layer->w[i * layer->ld + o] = rng_normal(&r) / sqrt((double)layer->in);
        layer->transposed = l ? numbers(layer->out * layer[-1].ld, NULL, 0) : NULL;
        layer->value = numbers(ROWS * layer->ld, NULL, 0);
        layer->diff = numbers(ROWS * layer->ld, NULL, 0);
        widest = layer->ld > widest ? layer->ld : widest;
    }
    p->net.tile = numbers(HEAD_TILE_ROWS * widest, NULL, 0);
    p->net.balance = numbers(width[layers], NULL, 0);
    for (size_t k = 0; k < width[layers]; k++)
        p->net.balance[k] = seed % 2 ? 0.25 + 2 * rng_unit(&r) : 1;
    p->x = numbers(ROWS * width[0], &r, 1);
    for (size_t i = 0; i < ROWS; i++)
        p->y[i] = (int64_t)rng_below(&r, width[layers]);
}

static void clear(struct problem *p)
{
    for (size_t l = 0; l < p->net.layers; l++) {
        base_free(p->net.layer[l].w);
        base_free(p->net.layer[l].transposed);
        base_free(p->net.layer[l].value);
        base_free(p->net.layer[l].diff);
    }
    base_free(p->net.tile);
    base_free(p->net.balance);
    base_free(p->x);
}

/* A step of SGD at rate 0 leaves the weights alone and returns the loss. */
static double mean_loss(struct problem *p)
{
    struct head_update none = {0};
    return head_kernel_step(&p->net, p->x, p->y, ROWS, &none) / ROWS;
}

/* Relative L2 distance between numeric and analytic gradient over all parameters; the analytic one is what
 * one SGD step at rate 1 takes off the weights. */
static double gradient_error(struct problem *p, double tamper)
{
    double error = 0, size = 0;
    const double h = 1e-5;
    for (size_t l = 0; l < p->net.layers; l++) {
        struct head_layer *layer = &p->net.layer[l];
        size_t count = (layer->in + 1) * layer->ld;
        double *saved[MAX_LAYERS], *numeric = numbers(count, NULL, 0);
        for (size_t i = 0; i < count; i++) {
            if (i % layer->ld >= layer->out)
                continue;
            double kept = layer->w[i];
            layer->w[i] = kept + h;
            double up = mean_loss(p);
            layer->w[i] = kept - h;
            numeric[i] = (up - mean_loss(p)) / (2 * h);
            layer->w[i] = kept;
        }
        for (size_t k = 0; k < p->net.layers; k++) {
            const struct head_layer *other = &p->net.layer[k];
            saved[k] = numbers((other->in + 1) * other->ld, NULL, 0);
            memcpy(saved[k], other->w, (other->in + 1) * other->ld * sizeof *saved[k]);
        }
        struct head_update whole = {.rate = 1};
        head_kernel_step(&p->net, p->x, p->y, ROWS, &whole);
        for (size_t i = 0; i < count; i++) {
            double analytic = (saved[l][i] - layer->w[i]) * (1 + tamper);
            error += (analytic - numeric[i]) * (analytic - numeric[i]);
            size += numeric[i] * numeric[i];
            if (i % layer->ld >= layer->out)
                assert_true(layer->w[i] == 0); /* padding stays exactly zero */
        }
        for (size_t k = 0; k < p->net.layers; k++) {
            struct head_layer *other = &p->net.layer[k];
            memcpy(other->w, saved[k], (other->in + 1) * other->ld * sizeof *saved[k]);
            base_free(saved[k]);
        }
        base_free(numeric);
    }
    return sqrt(error / size);
}

TEST(gradients_match_differences)
{
    const size_t widths[][MAX_LAYERS + 1] = {{5, 3},      {13, 2},       {9, 17},  {6, 5, 3},
                                             {13, 33, 4}, {4, 20, 7, 3}, {3, 1, 2}};
    const size_t layers[] = {1, 1, 1, 2, 2, 3, 2};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct problem p;
        make(&p, layers[i], widths[i], i + 1);
        assert_true(gradient_error(&p, 0) < 1e-6);
        assert_true(gradient_error(&p, 1e-4) > 1e-6); /* negative control: the check sees a wrong scale */
        clear(&p);
    }
}

TEST(loss_of_uniform_logits_is_log_classes)
{
    const size_t width[] = {4, 10};
    struct problem p;
    make(&p, 1, width, 4);
    memset(p.net.layer[0].w, 0, 5 * p.net.layer[0].ld * sizeof(double));
    assert_true(fabs(mean_loss(&p) - log(10)) < 1e-12);
    clear(&p);
}

/* A record's gradient over all parameters: what a step of SGD at rate 1 on it alone takes off. */
static void own_gradient(double *out, struct problem *p, size_t row)
{
    struct head_update whole = {.rate = 1};
    for (size_t l = 0; l < p->net.layers; l++) {
        struct head_layer *layer = &p->net.layer[l];
        size_t count = (layer->in + 1) * layer->ld;
        memcpy(out, layer->w, count * sizeof *out);
        out += count;
    }
    const double *before = out;
    head_kernel_step(&p->net, p->x + row * p->net.layer[0].in, p->y + row, 1, &whole);
    for (size_t l = p->net.layers; l-- > 0;) {
        struct head_layer *layer = &p->net.layer[l];
        size_t count = (layer->in + 1) * layer->ld;
        before -= count;
        for (size_t i = 0; i < count; i++) {
            double w = before[i];
            ((double *)before)[i] -= layer->w[i];
            layer->w[i] = w;
        }
    }
}

static double norm_of(const double *x, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++)
        square += x[i] * x[i];
    return sqrt(square);
}

/* sum (parameters, padded) of rows first .. first + rows - 1 by the product's kernels; units NULL: each by itself. */
static void clipped_sum_of(double *sum, struct problem *p, size_t first, size_t rows, double norm,
                           const struct clip_units *units)
{
    struct clip_layer clip[MAX_LAYERS];
    struct clip_scratch scratch = {numbers(ROWS, NULL, 0), numbers(ROWS * 64, NULL, 0),
                                   base_alloc(ROWS, sizeof(uint32_t))};
    float *inputs[MAX_LAYERS], *diffs[MAX_LAYERS];
    double square[ROWS];
    head_kernel_gradients(&p->net, p->x + first * p->net.layer[0].in, p->y + first, rows);
    for (size_t l = 0; l < p->net.layers; l++) {
        struct head_layer *layer = &p->net.layer[l], *below = layer - 1;
        const double *input = l ? below->value : p->x + first * layer->in;
        size_t stride = l ? below->ld : layer->in;
        inputs[l] = base_alloc(rows * stride, sizeof(float));
        diffs[l] = base_alloc(rows * layer->ld, sizeof(float));
        for (size_t i = 0; i < rows * stride; i++)
            inputs[l][i] = (float)input[i];
        for (size_t i = 0; i < rows * layer->ld; i++)
            diffs[l][i] = (float)layer->diff[i];
        clip[l] = (struct clip_layer){layer->in, layer->out,
                                      layer->ld, inputs[l],
                                      stride,    l == 0 && first ? square : NULL,
                                      diffs[l],  numbers((layer->in + 1) * layer->out, NULL, 0)};
    }
    /* with norms that were taken before in some chunks, without in others */
    head_clip_kernels_find()->squares(square, inputs[0], rows, p->net.layer[0].in);
    if (units)
        head_clip_kernels_find()->add_units(clip, p->net.layers, units, norm, &scratch);
    else
        head_clip_kernels_find()->add(clip, p->net.layers, rows, norm, &scratch);
    for (size_t l = 0; l < p->net.layers; l++) {
        for (size_t o = 0; o < clip[l].out; o++) {
            for (size_t i = 0; i < clip[l].in; i++)
                sum[i * clip[l].ld + o] += clip[l].sum[o * clip[l].in + i];
            sum[clip[l].in * clip[l].ld + o] += clip[l].sum[clip[l].in * clip[l].out + o];
        }
        sum += (clip[l].in + 1) * clip[l].ld;
        base_free(clip[l].sum);
        base_free(inputs[l]);
        base_free(diffs[l]);
    }
    base_free(scratch.factor);
    base_free(scratch.diff);
    base_free(scratch.row);
}

static void clipped_sum(double *sum, struct problem *p, size_t first, size_t rows, double norm)
{
    clipped_sum_of(sum, p, first, rows, norm, NULL);
}

static size_t padded_count(const struct problem *p)
{
    size_t count = 0;
    for (size_t l = 0; l < p->net.layers; l++)
        count += (p->net.layer[l].in + 1) * p->net.layer[l].ld;
    return count;
}

/* The mean of the gradients of some rows, scaled to a norm of at most `norm`. */
static void own_mean(double *mean, struct problem *p, size_t first, size_t end, double norm)
{
    const size_t count = padded_count(p);
    double *own = numbers(count, NULL, 0);
    memset(mean, 0, count * sizeof *mean);
    for (size_t r = first; r < end; r++) {
        own_gradient(own, p, r);
        for (size_t k = 0; k < count; k++)
            mean[k] += own[k] / (double)(end - first);
    }
    const double length = norm_of(mean, count);
    for (size_t k = 0; k < count && length > norm; k++)
        mean[k] *= norm / length;
    base_free(own);
}

static const size_t unit_widths[][MAX_LAYERS + 1] = {{5, 3}, {13, 33, 4}, {4, 20, 7, 3}, {50, 20, 9}};
static const size_t unit_layers[] = {1, 2, 3, 2};

TEST(units_are_clipped_as_one)
{
    const size_t ends[] = {3, 4, ROWS};
    const struct clip_units units = {3, ends};
    for (size_t i = 0; i < sizeof unit_layers / sizeof *unit_layers; i++) {
        struct problem p;
        make(&p, unit_layers[i], unit_widths[i], i + 31);
        const size_t count = padded_count(&p);
        double *sum = numbers(count, NULL, 0), *wanted = numbers(count, NULL, 0),
               *mean = numbers(count, NULL, 0);
        own_mean(mean, &p, 0, 3, INFINITY);
        const double norm = 0.9 * norm_of(mean, count); /* the first unit is clipped */
        for (size_t u = 0; u < 3; u++) {
            own_mean(mean, &p, u ? ends[u - 1] : 0, ends[u], norm);
            for (size_t k = 0; k < count; k++)
                wanted[k] += mean[k];
            memset(sum, 0, count * sizeof *sum); /* no unit adds more than the norm, in floats too */
            const size_t first = u ? ends[u - 1] : 0, rows = ends[u] - first;
            clipped_sum_of(sum, &p, first, rows, norm, &(struct clip_units){1, &rows});
            assert_true(norm_of(sum, count) <= norm);
            for (size_t k = 0; k < count; k++)
                mean[k] -= sum[k];
            assert_true(norm_of(mean, count) < 1e-5 * norm);
        }
        memset(sum, 0, count * sizeof *sum);
        clipped_sum_of(sum, &p, 0, ROWS, norm, &units);
        for (size_t k = 0; k < count; k++)
            wanted[k] -= sum[k];
        assert_true(norm_of(wanted, count) < 1e-5 * norm);
        memset(sum, 0, count * sizeof *sum); /* a unit of one row is a record, bit for bit */
        memset(mean, 0, count * sizeof *mean);
        clipped_sum_of(sum, &p, 3, 1, norm, &(struct clip_units){1, &(size_t){1}});
        clipped_sum(mean, &p, 3, 1, norm);
        assert_memory_equal(sum, mean, count * sizeof *sum);
        base_free(sum);
        base_free(wanted);
        base_free(mean);
        clear(&p);
    }
}

/* Other units, their number and their order change no bit of what a unit adds; its rows that are not finite do not count. */
TEST(a_unit_adds_the_same_whoever_is_beside_it)
{
    struct problem p;
    make(&p, 2, unit_widths[1], 41);
    const size_t count = padded_count(&p), in = p.net.layer[0].in;
    double *alone = numbers(count, NULL, 0), *beside = numbers(count, NULL, 0),
           *other = numbers(count, NULL, 0);
    clipped_sum_of(alone, &p, 4, 3, 0.1, &(struct clip_units){1, &(size_t){3}});
    for (
        size_t way = 0; way < 3;
        way++) { /* a neighbour that adds nothing, from behind, from before, and with the last bits of its rows changed */
        const size_t ends[] = {4, 7}, first = way == 1 ? 4 : 0;
        for (size_t i = 0; i < 4 * in; i++)
            p.x[i] = way == 2 ? 1e300 * (double)(i + 1) : NAN;
        memset(beside, 0, count * sizeof *beside);
        clipped_sum_of(beside, &p, first, 7 - first, 0.1,
                       way == 1 ? &(struct clip_units){1, &(size_t){3}} : &(struct clip_units){2, ends});
        assert_memory_equal(alone, beside, count * sizeof *alone);
    }
    memset(beside, 0,
           count * sizeof *beside); /* rows 3 (of NaN) to 6 as one: the mean of the three that count */
    clipped_sum_of(beside, &p, 3, 4, 0.1, &(struct clip_units){1, &(size_t){4}});
    assert_memory_equal(alone, beside, count * sizeof *alone);
    memset(other, 0, count * sizeof *other); /* control: a row more that counts */
    for (size_t i = 3 * in; i < 4 * in; i++)
        p.x[i] = 1;
    clipped_sum_of(other, &p, 3, 4, 0.1, &(struct clip_units){1, &(size_t){4}});
    assert_memory_not_equal(alone, other, count * sizeof *alone);
    base_free(alone);
    base_free(beside);
    base_free(other);
    clear(&p);
}

/* Two rows that cancel out: their sum may be of any size, and the norms of the two stay within bounds. */
TEST(rows_that_cancel_out_are_bounded)
{
    struct problem p;
    make(&p, 1, unit_widths[0], 50);
    const size_t count = padded_count(&p), in = p.net.layer[0].in, pair = 2;
    double *sum = numbers(count, NULL, 0), *own = numbers(count, NULL, 0);
    memset(p.net.layer[0].w, 0, (in + 1) * p.net.layer[0].ld * sizeof(double));
    p.net.layer[0].out = 2, p.y[0] = 0, p.y[1] = 1; /* at zero weights: gradients of opposite signs */
    for (size_t i = 0; i < in; i++)
        p.x[i] = 1e6, p.x[in + i] = 1e6 * (1 + 0x1p-20);
    own_gradient(own, &p, 0);
    clipped_sum_of(sum, &p, 0, 2, 1, &(struct clip_units){1, &pair});
    assert_true(norm_of(sum, count) <= 1);
    assert_true(norm_of(sum, count) <=
                2 * CLIP_CANCELS * 0x1p-20); /* scaled down, as the two are 10^6 times their sum */
    assert_true(norm_of(sum, count) > 0);
    base_free(sum);
    base_free(own);
    clear(&p);
}

TEST(clipped_sums_match_a_loop_over_records)
{
    const size_t widths[][MAX_LAYERS + 1] = {{5, 3},        {13, 2},  {6, 5, 3}, {13, 33, 4},
                                             {4, 20, 7, 3}, {16, 10}, {37, 11},  {50, 20, 9}};
    const size_t layers[] = {1, 1, 2, 2, 3, 1, 1, 2};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct problem p;
        make(&p, layers[i], widths[i], i + 11);
        size_t count = 0;
        for (size_t l = 0; l < layers[i]; l++)
            count += (p.net.layer[l].in + 1) * p.net.layer[l].ld;
        double *own = numbers(count, NULL, 0), *sum = numbers(count, NULL, 0),
               *wanted = numbers(count, NULL, 0);
        double norms[ROWS], middle = 0;
        for (size_t r = 0; r < ROWS; r++) {
            own_gradient(own, &p, r);
            norms[r] = norm_of(own, count);
            middle += norms[r] / ROWS; /* some records are clipped, some are not */
        }
        size_t clipped = 0;
        for (size_t r = 0; r < ROWS; r++) {
            own_gradient(own, &p, r);
            double factor = norms[r] > middle ? middle / norms[r] : 1;
            clipped += norms[r] > middle;
            for (size_t k = 0; k < count; k++)
                wanted[k] += factor * own[k];
        }
        assert_true(clipped > 0 && clipped < ROWS);
        clipped_sum(sum, &p, 0, 3, middle); /* a sum goes on over chunks */
        clipped_sum(sum, &p, 3, ROWS - 3, middle);
        for (size_t k = 0; k < count; k++)
            own[k] = sum[k] - wanted[k];
        assert_true(norm_of(own, count) < 1e-6 * norm_of(wanted, count));
        for (size_t r = 0; r < ROWS; r++) { /* no record adds more than the norm, in floats too */
            memset(sum, 0, count * sizeof *sum);
            clipped_sum(sum, &p, r, 1, 0.25 * middle);
            assert_true(norm_of(sum, count) <= 0.25 * middle);
            assert_true(norm_of(sum, count) >= 0.25 * middle * (1 - 1e-6) || norms[r] < 0.25 * middle);
        }
        p.x[0] = NAN; /* a record with a NaN gradient adds nothing */
        memset(sum, 0, count * sizeof *sum);
        clipped_sum(sum, &p, 0, 1, middle);
        assert_true(norm_of(sum, count) == 0);
        base_free(own);
        base_free(sum);
        base_free(wanted);
        clear(&p);
    }
}

extern const struct linear_kernels linear_kernels_v2, linear_kernels_v3, linear_kernels_v4;
static const struct linear_kernels *const levels[CPU_ISA_COUNT] = {&linear_kernels_v2, &linear_kernels_v3,
                                                                   &linear_kernels_v4, &linear_kernels_v4};

/* A linear head of floats, and the sum of its clipped gradients record by record in double. */
enum { RECORDS = 150 };
struct linear_problem {
    struct linear_sum s;
    struct arena memory;
    uint32_t rows[RECORDS];
    double *wanted, *softmax;
    size_t count;
};

static void make_linear(struct linear_problem *p, size_t in, size_t out, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 0, 0);
    size_t ld = head_padded(out);
    float *x = base_alloc(RECORDS * in, sizeof *x), *w = base_alloc((in + 1) * ld, sizeof *w);
    int64_t *y = base_alloc(RECORDS, sizeof *y);
    double *square = base_alloc(RECORDS, sizeof *square);
    float *balance = base_alloc(out, sizeof *balance);
    *p = (struct linear_problem){.count = (in + 1) * out};
    for (size_t i = 0; i < RECORDS * in; i++)
        x[i] = (float)rng_normal(&r);
    for (size_t i = 0; i <= in; i++)
        for (size_t o = 0; o < out; o++)
            w[i * ld + o] = (float)(2 * rng_normal(&r) / sqrt((double)in));
    for (size_t k = 0; k < out; k++)
        balance[k] = seed % 2 ? (float)(0.25 + 2 * rng_unit(&r)) : 1;
    for (size_t i = 0; i < RECORDS; i++) {
        y[i] = (int64_t)rng_below(&r, out);
        p->rows[i] = (uint32_t)i;
    }
    for (size_t i = RECORDS; i-- > 1;) { /* records lie anywhere */
        size_t j = rng_below(&r, i + 1);
        uint32_t other = p->rows[j];
        p->rows[j] = p->rows[i];
        p->rows[i] = other;
    }
    head_clip_kernels_find()->squares(square, x, RECORDS, in);
    p->wanted = numbers(p->count, NULL, 0);
    p->softmax = numbers(out, NULL, 0);
    p->s = (struct linear_sum){.in = in,
                               .out = out,
                               .x = x,
                               .y = y,
                               .square = square,
                               .balance = balance,
                               .w = w,
                               .sum = numbers(p->count, NULL, 0)};
    head_linear_layout(&p->s.scratch, &p->memory, in, out);
    assert_int_equal(arena_reserve(&p->memory, "a test"), SOTTO_OK);
    head_linear_layout(&p->s.scratch, &p->memory, in, out);
}

static void clear_linear(struct linear_problem *p)
{
    base_free((void *)p->s.x);
    base_free((void *)p->s.y);
    base_free((void *)p->s.w);
    base_free((void *)p->s.square);
    base_free((void *)p->s.balance);
    base_free(p->s.sum);
    base_free(p->wanted);
    base_free(p->softmax);
    arena_clear(&p->memory);
}

/* Adds record `row`, clipped; returns its norm before that. */
static double add_record(struct linear_problem *p, size_t row, double norm)
{
    size_t in = p->s.in, out = p->s.out, ld = head_padded(out);
    const float *x = p->s.x + row * in;
    double *g = p->softmax, top = -INFINITY, sum = 0, square = 0, input = 1;
    for (size_t o = 0; o < out; o++) {
        g[o] = p->s.w[in * ld + o];
        for (size_t i = 0; i < in; i++)
            g[o] += (double)x[i] * p->s.w[i * ld + o];
        top = fmax(top, g[o]);
    }
    for (size_t o = 0; o < out; o++)
        sum += g[o] = exp(g[o] - top);
    for (size_t o = 0; o < out; o++) {
        g[o] = p->s.balance[p->s.y[row]] * (g[o] / sum - ((size_t)p->s.y[row] == o));
        square += g[o] * g[o];
    }
    for (size_t i = 0; i < in; i++)
        input += (double)x[i] * x[i];
    double own = sqrt(square * input), factor = own > norm ? norm / own : 1;
    for (size_t o = 0; o < out; o++) {
        for (size_t i = 0; i < in; i++)
            p->wanted[o * in + i] += factor * g[o] * x[i];
        p->wanted[out * in + o] += factor * g[o];
    }
    return own;
}

static double distance_of(const double *a, const double *b, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(square);
}

TEST(a_linear_head_is_summed_in_one_pass)
{
    const size_t shapes[][2] = {{1, 2},    {5, 3},   {13, 2},  {16, 10}, {37, 11},
                                {128, 10}, {50, 33}, {700, 4}, {9000, 3}};
    const size_t counts[] = {0, 1, 15, 16, 17, 32, 33, 100, RECORDS};
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            struct linear_problem p;
            make_linear(&p, shapes[i][0], shapes[i][1], i + 31);
            double middle = 0, *whole = numbers(p.count, NULL, 0);
            for (size_t r = 0; r < RECORDS; r++)
                middle += add_record(&p, r, 1) / RECORDS; /* some are clipped, some are not */
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                size_t clipped = 0;
                memset(p.wanted, 0, p.count * sizeof *p.wanted);
                for (size_t r = 0; r < counts[c]; r++)
                    clipped += add_record(&p, p.rows[r], middle) > middle;
                assert_true(counts[c] < RECORDS || (clipped > 0 && clipped < RECORDS));
                levels[isa]->sum(&p.s, p.rows, counts[c], middle);
                assert_true(distance_of(p.s.sum, p.wanted, p.count) <=
                            2e-6 * middle * (double)counts[c]); /* logits are floats */
            }
            memcpy(whole, p.s.sum, p.count * sizeof *whole);
            for (size_t r = 0; r < RECORDS;
                 r += 11) { /* one record less moves the computed sum by at most C */
                uint32_t left[RECORDS];
                double norm = head_clip_norm(1, RECORDS);
                memcpy(left, p.rows, sizeof left);
                memmove(left + r, left + r + 1, (RECORDS - 1 - r) * sizeof *left);
                levels[isa]->sum(&p.s, p.rows, RECORDS, norm);
                memcpy(whole, p.s.sum, p.count * sizeof *whole);
                levels[isa]->sum(&p.s, left, RECORDS - 1, norm);
                assert_true(distance_of(p.s.sum, whole, p.count) <= 1);
                memset(p.wanted, 0, p.count * sizeof *p.wanted);
                if (add_record(&p, p.rows[r], INFINITY) > 1 + 1e-5)
                    assert_true(distance_of(p.s.sum, whole, p.count) >= 1 - 1e-9);
            }
            ((float *)p.s.w)[0] = NAN; /* gradients that are no numbers add nothing */
            levels[isa]->sum(&p.s, p.rows, RECORDS, middle);
            for (size_t k = 0; k < p.count; k++)
                assert_true(p.s.sum[k] == 0);
            base_free(whole);
            clear_linear(&p);
        }
}

/* What double sums of n clipped vectors may add to a record's influence fits between the norms. */
TEST(clipping_leaves_room_for_rounding)
{
    for (double n = 1; n < 1e8; n *= 10) {
        double norm = head_clip_norm(1, (size_t)n), rounding = 2 * n * (n + 8) * 0x1p-53 * norm;
        assert_true(norm + rounding < 1 && norm + rounding > 1 - 1e-13);
    }
}
