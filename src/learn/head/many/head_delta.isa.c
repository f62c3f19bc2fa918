/* Products of whole numbers in pairs: a lane is a column (head and class), and takes two inputs, or two
 * records, at a time. See head_delta.h. */
#include "head/kernel/head_lane_parts.h"
#include "head/many/head_delta.h"

enum { NEAR_ROWS = 2 * HEAD_TILE_ROWS }; /* rows with logits still in the first-level cache */

/* sum + the products of the low halves + those of the high ones. */
INLINE vi32 add_pairs(vi32 sum, vi32 a, vi32 b)
{
#if defined(__AVX512VNNI__)
    return (vi32)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#elif defined(__AVX512BW__)
    return sum + (vi32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return sum + (vi32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return sum + (vi32)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    vi32 low_a = (vi32)((vu32)a << 16) >> 16, low_b = (vi32)((vu32)b << 16) >> 16;
    return sum + low_a * low_b + (a >> 16) * (b >> 16);
#endif
}

/* x to the nearest whole number, |x| < 2^22. */
INLINE vu32 nearest(vec x)
{
    vec magic = v_all(12582912.0f); /* 1.5 * 2^23 */
    return (vu32)(x + magic) - (vu32)magic;
}
INLINE vu32 pair_of(vu32 low, vu32 high)
{
    return (low & 0xffff) | high << 16;
}

/* C (m, n) = what A (m, k) B (k, n), of pairs, is worth: times scale by column and, if given, unit by row. */
struct pair_product {
    real *c;
    size_t ldc;
    const delta_pair *a;
    size_t a_row, a_column;
    const delta_pair *b;
    size_t ldb, m, n, k;
    const real *scale, *unit, *bias; /* bias: (n), added; or NULL */
};

INLINE void pair_block(const struct pair_product *p, size_t row, size_t column, int rows, int vectors)
{
    vi32 sum[BLOCK_ROWS][BLOCK_VECTORS];
    const delta_pair *a = p->a + row * p->a_row, *b = p->b + column;
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = (vi32){0};
    /* Rows at 0, 1 and 2 strides from few pointers: an address for each row would not fit in registers. */
    enum { NEIGHBOURS = 3, ANCHORS = BLOCK_ROWS / NEIGHBOURS };
    const delta_pair *anchor[ANCHORS];
    size_t stride = p->a_row;
#pragma GCC unroll 4
    for (int i = 0; NEIGHBOURS * i < rows; i++) {
        anchor[i] = a + (size_t)(NEIGHBOURS * i) * stride;
        __asm__("" : "+r"(anchor[i]));
    }
    for (size_t k = 0; k < p->k; k++, b += p->ldb) {
        vi32 right[BLOCK_VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            right[j] = *(const vi32 *)(b + (size_t)j * LANES);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            vi32 left = (int32_t)anchor[i / NEIGHBOURS][(size_t)(i % NEIGHBOURS) * stride] - (vi32){0};
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                sum[i][j] = add_pairs(sum[i][j], left, right[j]);
        }
#pragma GCC unroll 4
        for (int i = 0; NEIGHBOURS * i < rows; i++)
            anchor[i] += p->a_column;
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) {
            size_t at = column + (size_t)j * LANES;
            vec worth = v_load(p->scale + at);
            if (p->unit)
                worth *= v_all(p->unit[row + (size_t)i]);
            vec value = __builtin_convertvector(sum[i][j], vec) * worth;
            if (p->bias)
                value += v_load(p->bias + at);
            v_store(p->c + (row + (size_t)i) * p->ldc + at, value);
        }
}

INLINE void pair_block_rows(const struct pair_product *p, size_t row, size_t column, size_t rows, int vectors)
{
    /* clang-format off */
    switch (rows) {
#define CASE(r) case r: pair_block(p, row, column, r, vectors); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
#if defined(__AVX512F__)
    CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
#undef CASE
    default: __builtin_unreachable();
    }
    /* clang-format on */
}

static void multiply_pairs(const struct pair_product *p)
{
    size_t blocks = (p->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (size_t column = 0; column < p->n;) {
        int vectors = p->n - column >= (size_t)BLOCK_VECTORS * LANES ? BLOCK_VECTORS : 1;
        for (size_t i = 0; i < blocks; i++) {
            size_t row = i * p->m / blocks, rows = (i + 1) * p->m / blocks - row;
            if (vectors == BLOCK_VECTORS)
                pair_block_rows(p, row, column, rows, BLOCK_VECTORS);
            else
                pair_block_rows(p, row, column, rows, 1);
        }
        column += (size_t)vectors * LANES;
    }
}

/* ---- scales ---- */

/* Adds the sizes of a column of vectors, `rows` of them `ld` apart. */
INLINE void note_sizes(const struct head_delta *near, size_t column, const real *x, size_t ld, size_t rows)
{
    vec sum = v_load(near->sum + column), most = v_load(near->most + column);
    for (size_t r = 0; r < rows; r++) {
        vec size = v_max(v_load(x + r * ld), -v_load(x + r * ld));
        sum += size;
        most = v_max(most, size);
    }
    v_store(near->sum + column, sum);
    v_store(near->most + column, most);
}

/* Scales at which no value passes NEAR_VALUE and `count` rounded ones do not add up past NEAR_SUM: most
 * becomes units in 1, scale its inverse. */
static void choose_scales(const struct head_delta *near, size_t columns, size_t count)
{
    vec most = v_all((real)NEAR_VALUE), all = v_all((real)(NEAR_SUM - (long)count));
    for (size_t c = 0; c < columns; c += LANES) {
        vec sum = v_load(near->sum + c), a = most / v_load(near->most + c), b = all / sum;
        bits some = sum != (vec){0};
        vec scale = v_keep(some, -v_max(-a, -b));
        v_store(near->most + c, scale);
        v_store(near->scale + c, v_keep(some, v_all(1) / scale));
    }
}

/* Rows of f (rows, ld) to pairs of rows, by the scales; a missing last row is 0. */
static void round_pairs(delta_pair *out, const real *f, const struct head_delta *near, size_t ld, size_t rows)
{
    for (size_t r = 0; r < rows; r += 2)
        for (size_t c = 0; c < ld; c += LANES) {
            vec scale = v_load(near->most + c);
            vu32 low = nearest(v_load(f + r * ld + c) * scale),
                 high = r + 1 < rows ? nearest(v_load(f + (r + 1) * ld + c) * scale) : (vu32){0};
            *(vu32 *)(out + r / 2 * ld + c) = pair_of(low, high);
        }
}

/* ---- the step ---- */

/* Differences of relative weights from the reference's, in what an input's unit is worth; the last row is the
 * bias. */
static void differences(const struct head_lanes *s, const struct head_reference *at)
{
    const struct head_layer *layer = &s->layer, *relative = &s->relative;
    size_t others = s->classes - 1, width = others * HEAD_PAD;
    for (size_t i = 0; i <= layer->in; i++) {
        vec unit = v_all(i < layer->in ? at->unit[i] : 1);
        for (size_t g = 0; g < s->groups; g++) {
            const real *w = layer->w + i * layer->ld + g * s->classes * HEAD_PAD;
            real *to = relative->w + i * relative->ld + g * width;
            for (size_t j = 0; j < HEAD_PAD; j += LANES) {
                vec last = v_load(w + width + j);
                for (size_t k = 0; k < others; k++) {
                    vec gap = ((v_load(w + k * HEAD_PAD + j) - last) - v_all(at->w[i * others + k])) * unit;
                    v_store(to + k * HEAD_PAD + j, gap);
                }
            }
        }
    }
}

/* For one record and the heads of some lanes: differences of logits become those of output gradients. */
INLINE void lane_differences(real *z, size_t others, const real *logit, const real *diff, size_t own,
                             vec weight)
{
    vec top = (vec){0};
    for (size_t k = 0; k < others; k++) {
        vec x = v_load(z + k * HEAD_PAD) + v_all(logit[k]);
        v_store(z + k * HEAD_PAD, x);
        top = v_max(x, top);
    }
    vec scale = weight / lane_exponentials(z, others, top);
    for (size_t k = 0; k < others; k++)
        v_store(z + k * HEAD_PAD, v_fma(v_load(z + k * HEAD_PAD), scale, -v_all(diff[k])));
    if (own < others)
        v_store(z + own * HEAD_PAD, v_load(z + own * HEAD_PAD) - weight);
}

/* For rows first .. first + rows - 1; a record that a head does not train on gets no difference here. */
static void gradient_differences(const struct head_lanes *s, const struct head_delta *near,
                                 const struct head_reference *at, const int64_t *y, size_t first, size_t rows)
{
    size_t others = s->classes - 1, ld = s->relative.ld;
    real *values = s->relative.value + first * ld;
    for (size_t r = 0; r < rows; r++)
        for (size_t g = 0; g < s->groups; g++)
            for (size_t j = 0; j < HEAD_PAD; j += LANES)
                lane_differences(values + r * ld + g * others * HEAD_PAD + j, others,
                                 at->logits + (first + r) * others, at->diff + (first + r) * others,
                                 (size_t)y[first + r],
                                 v_load(s->weights + ((first + r) * s->groups + g) * HEAD_PAD + j));
    for (size_t h = 0; h < near->hole_count; h++) {
        const struct delta_hole *left_out = &near->holes[h];
        size_t column = left_out->head / HEAD_PAD * others * HEAD_PAD + left_out->head % HEAD_PAD;
        for (size_t k = 0; k < others && left_out->row - first < rows; k++)
            values[(left_out->row - first) * ld + column + k * HEAD_PAD] = 0;
    }
    for (size_t c = 0; c < ld; c += LANES)
        note_sizes(near, c, values + c, ld, rows);
}

static void forget_sizes(const struct head_delta *near, size_t columns)
{
    memset(near->sum, 0, columns * sizeof *near->sum);
    memset(near->most, 0, columns * sizeof *near->most);
}

static void forward(const struct head_lanes *s, const struct head_delta *near,
                    const struct head_reference *at, const int64_t *y, size_t rows)
{
    const struct head_layer *relative = &s->relative;
    size_t ld = relative->ld;
    differences(s, at);
    forget_sizes(near, ld);
    for (size_t c = 0; c < ld; c += LANES)
        note_sizes(near, c, relative->w + c, ld, relative->in);
    choose_scales(near, ld, relative->in);
    round_pairs(near->w, relative->w, near, ld, relative->in);
    forget_sizes(near, ld);
    for (size_t first = 0; first < rows; first += NEAR_ROWS) {
        size_t count = rows - first < NEAR_ROWS ? rows - first : NEAR_ROWS;
        multiply_pairs(&(struct pair_product){.c = relative->value + first * ld,
                                              .ldc = ld,
                                              .a = near->x + first * at->pairs,
                                              .a_row = at->pairs,
                                              .a_column = 1,
                                              .b = near->w,
                                              .ldb = ld,
                                              .m = count,
                                              .n = ld,
                                              .k = at->pairs,
                                              .scale = near->scale,
                                              .bias = relative->w + relative->in * ld});
        gradient_differences(s, near, at, y, first, count);
    }
}

/* Pairs of inputs of a record to pairs of records of an input. */
static void pair_rows(const struct head_delta *near, const struct head_reference *at, size_t rows)
{
    for (size_t r = 0; r < rows; r += 2) {
        const delta_pair *low = near->x + r * at->pairs, *high = low + at->pairs;
        delta_pair *to = near->x_rows + r * at->pairs;
        for (size_t p = 0; p < at->pairs; p++) {
            delta_pair l = low[p], h = r + 1 < rows ? high[p] : 0;
            to[2 * p] = (l & 0xffff) | h << 16;
            to[2 * p + 1] = l >> 16 | (h & 0xffff0000);
        }
    }
}

/* tile (strip, ld): plus the reference's gradient, less what it has of records that are not a head's. */
static void complete(const struct head_lanes *s, const struct head_delta *near,
                     const struct head_reference *at, size_t first, size_t strip)
{
    size_t others = s->classes - 1, ld = s->relative.ld;
    for (size_t i = 0; i < strip; i++)
        for (size_t c = 0; c < ld; c += LANES) {
            real *to = s->tile + i * ld + c;
            v_store(to, v_load(to) + v_all(at->gradient[(first + i) * others + c / HEAD_PAD % others]));
        }
    for (size_t h = 0; h < near->hole_count; h++) {
        const struct delta_hole *left_out = &near->holes[h];
        const real *diff = at->diff + left_out->row * others;
        real *to = s->tile + left_out->head / HEAD_PAD * others * HEAD_PAD + left_out->head % HEAD_PAD;
        for (size_t i = 0; i < strip; i++, to += ld) {
            real x = first + i < s->layer.in ? left_out->x[first + i] : 1;
            for (size_t k = 0; k < others; k++)
                to[k * HEAD_PAD] -= x * diff[k];
        }
    }
}

static void step(const struct head_lanes *s, const struct head_delta *near, const struct head_reference *at,
                 const int64_t *y, size_t rows, const struct head_update *u)
{
    const struct head_layer *relative = &s->relative;
    size_t in = relative->in, ld = relative->ld;
    for (size_t g = 0; g < s->groups; g++)
        if (s->has_replacement[g])
            replacement_gradient(s, g);
    forward(s, near, at, y, rows);
    choose_scales(near, ld, rows);
    round_pairs(near->diff, relative->diff, near, ld, rows);
    pair_rows(near, at, rows);
    for (size_t i = 0; i < in; i += HEAD_TILE_ROWS) {
        size_t strip = in - i < HEAD_TILE_ROWS ? in - i : HEAD_TILE_ROWS;
        multiply_pairs(&(struct pair_product){.c = s->tile,
                                              .ldc = ld,
                                              .a = near->x_rows + i,
                                              .a_row = 1,
                                              .a_column = 2 * at->pairs,
                                              .b = near->diff,
                                              .ldb = ld,
                                              .m = strip,
                                              .n = ld,
                                              .k = (rows + 1) / 2,
                                              .scale = near->scale,
                                              .unit = at->unit + i});
        complete(s, near, at, i, strip);
        add_replacements(s, s->tile, i, strip);
        apply_strip(s, u, i, strip);
    }
    bias_gradient(s->tile, relative, rows);
    complete(s, near, at, in, 1);
    add_replacement_bias(s, s->tile);
    apply_strip(s, u, in, 1);
}

/* ---- the reference ---- */

static void keep_and_apply(const struct head_layer *layer, const float *tile, size_t first, size_t strip,
                           const struct head_update *u, size_t others, const struct head_reference *out)
{
    for (size_t i = 0; i < strip; i++)
        memcpy(out->gradient + (first + i) * others, tile + i * layer->ld, others * sizeof *tile);
    apply(u, layer, first * layer->ld, tile, strip * layer->ld);
}

static void reference(const struct head_layer *layer, float *tile, const float *x, const int64_t *y,
                      size_t rows, const struct head_update *u, size_t classes,
                      const struct head_reference *out)
{
    size_t in = layer->in, ld = layer->ld, others = classes - 1;
    for (size_t i = 0; i <= in; i++)
        for (size_t k = 0; k < others; k++)
            out->w[i * others + k] = layer->w[i * ld + k] - layer->w[i * ld + others];
    multiply(&(struct product){layer->value, ld, x, in, 1, layer->w, ld, rows, ld, in, layer->w + in * ld});
    for (size_t r = 0; r < rows; r++) {
        real *z = layer->value + r * ld, *diff = layer->diff + r * ld, top = z[0], sum = 0;
        for (size_t k = 1; k < classes; k++)
            top = z[k] > top ? z[k] : top;
        for (size_t k = 0; k < ld; k += LANES)
            v_store(diff + k, v_exp(v_load(z + k) - v_all(top)));
        for (size_t k = 0; k < classes; k++)
            sum += diff[k];
        for (size_t k = 0; k < ld; k++) /* padding has no gradient */
            diff[k] = k < classes ? (diff[k] / sum - (real)((size_t)y[r] == k)) / (real)rows : 0;
        for (size_t k = 0; k < others; k++) {
            out->logits[r * others + k] = z[k] - z[others];
            out->diff[r * others + k] = diff[k];
        }
    }
    for (size_t i = 0; i < in; i += HEAD_TILE_ROWS) {
        size_t strip = in - i < HEAD_TILE_ROWS ? in - i : HEAD_TILE_ROWS;
        strip_gradient(tile, layer, x + i, in, strip, rows);
        keep_and_apply(layer, tile, i, strip, u, others, out);
    }
    bias_gradient(tile, layer, rows);
    keep_and_apply(layer, tile, in, 1, u, others, out);
}

extern const struct delta_kernels ISA_NAME(delta_kernels);
const struct delta_kernels ISA_NAME(delta_kernels) = {reference, step};
