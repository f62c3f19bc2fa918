/* F(4x4, 3x3) with the points 0, p, -p, q, -q and infinity, p = 3/4, q = 3/2. Lavin and Gray 2016 take 1 and
 * 2; these lose a bit less to rounding (such points do: Barabasz et al. 2020), and all their powers are
 * exact. Along one dimension, with z one of the four points that are neither 0 nor infinity, w = q for z = p,
 * -p and w = p for z = q, -q, P = (p q)^2, S = p^2 + q^2:
 *
 *     source d          v_0 = P d_0 - S d_2 + d_4    v_z = d_4 - w^2 d_2 + z (d_3 - w^2 d_1)
 *                       v_inf = P d_1 - S d_3 + d_5
 *     weights g         u_0 = g_0 / P    u_z = (g_0 + z g_1 + z^2 g_2) / (2 z^2 (z^2 - w^2))    u_inf = g_2
 *     result of m = u v   y_i = m_0 [i = 0] + sum over z of z^i m_z + m_inf [i = 3]
 *
 * Gradients go by the transposes, so that they are those of what the forward pass computes. */
#include "nn/conv/winograd_kernels.h"

#include "base/cpu.h"
#include "base/simd.h"

#ifdef __AVX512F__
enum { SIDE = 6, TILE = WINOGRAD_TILE, VECTOR = WINOGRAD_VECTOR };

static const float P = .75F, Q = 1.5F, P2 = .5625F, Q2 = 2.25F, P3 = .421875F, Q3 = 3.375F,
                   BOTH = 2.8125F /* P2 + Q2 */, PRODUCT = 1.265625F /* P2 Q2 */;
#define OVER_ZERO (1 / (.5625F * 2.25F))
#define OVER_P (1 / (2 * .5625F * (.5625F - 2.25F)))
#define OVER_Q (1 / (2 * 2.25F * (2.25F - .5625F)))

INLINE __m512 one(float x)
{
    return _mm512_set1_ps(x);
}

/* ---- along one dimension; the results lie at a stride ---- */

INLINE void source_line(__m512 *v, size_t stride, const __m512 *d)
{
    __m512 d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4];
    __m512 even_p = _mm512_fnmadd_ps(one(Q2), d2, d4), odd_p = _mm512_fnmadd_ps(one(Q2), d1, d3);
    __m512 even_q = _mm512_fnmadd_ps(one(P2), d2, d4), odd_q = _mm512_fnmadd_ps(one(P2), d1, d3);
    v[0] = _mm512_fmadd_ps(one(PRODUCT), d[0], _mm512_fnmadd_ps(one(BOTH), d2, d4));
    v[stride] = _mm512_fmadd_ps(one(P), odd_p, even_p);
    v[2 * stride] = _mm512_fnmadd_ps(one(P), odd_p, even_p);
    v[3 * stride] = _mm512_fmadd_ps(one(Q), odd_q, even_q);
    v[4 * stride] = _mm512_fnmadd_ps(one(Q), odd_q, even_q);
    v[5 * stride] = _mm512_fmadd_ps(one(PRODUCT), d1, _mm512_fnmadd_ps(one(BOTH), d3, d[5]));
}

INLINE void result_line(__m512 *y, size_t stride, const __m512 *m)
{
    __m512 sum_p = _mm512_add_ps(m[1], m[2]), difference_p = _mm512_sub_ps(m[1], m[2]);
    __m512 sum_q = _mm512_add_ps(m[3], m[4]), difference_q = _mm512_sub_ps(m[3], m[4]);
    y[0] = _mm512_add_ps(m[0], _mm512_add_ps(sum_p, sum_q));
    y[stride] = _mm512_fmadd_ps(one(Q), difference_q, _mm512_mul_ps(one(P), difference_p));
    y[2 * stride] = _mm512_fmadd_ps(one(Q2), sum_q, _mm512_mul_ps(one(P2), sum_p));
    y[3 * stride] = _mm512_fmadd_ps(one(Q3), difference_q, _mm512_fmadd_ps(one(P3), difference_p, m[5]));
}

INLINE void gradient_line(__m512 *z, size_t stride, const __m512 *y)
{
    __m512 even_p = _mm512_fmadd_ps(one(P2), y[2], y[0]),
           odd_p = _mm512_fmadd_ps(one(P3), y[3], _mm512_mul_ps(one(P), y[1]));
    __m512 even_q = _mm512_fmadd_ps(one(Q2), y[2], y[0]),
           odd_q = _mm512_fmadd_ps(one(Q3), y[3], _mm512_mul_ps(one(Q), y[1]));
    z[0] = y[0];
    z[stride] = _mm512_add_ps(even_p, odd_p);
    z[2 * stride] = _mm512_sub_ps(even_p, odd_p);
    z[3 * stride] = _mm512_add_ps(even_q, odd_q);
    z[4 * stride] = _mm512_sub_ps(even_q, odd_q);
    z[5 * stride] = y[3];
}

INLINE void weights_line(__m512 *u, size_t stride, const __m512 *g)
{
    __m512 even_p = _mm512_mul_ps(one(OVER_P), _mm512_fmadd_ps(one(P2), g[2], g[0])),
           odd_p = _mm512_mul_ps(one(OVER_P * P), g[1]);
    __m512 even_q = _mm512_mul_ps(one(OVER_Q), _mm512_fmadd_ps(one(Q2), g[2], g[0])),
           odd_q = _mm512_mul_ps(one(OVER_Q * Q), g[1]);
    u[0] = _mm512_mul_ps(one(OVER_ZERO), g[0]);
    u[stride] = _mm512_add_ps(even_p, odd_p);
    u[2 * stride] = _mm512_sub_ps(even_p, odd_p);
    u[3 * stride] = _mm512_add_ps(even_q, odd_q);
    u[4 * stride] = _mm512_sub_ps(even_q, odd_q);
    u[5 * stride] = g[2];
}

INLINE void weights_back_line(__m512 *g, size_t stride, const __m512 *u)
{
    __m512 sum_p = _mm512_mul_ps(one(OVER_P), _mm512_add_ps(u[1], u[2])),
           difference_p = _mm512_mul_ps(one(OVER_P * P), _mm512_sub_ps(u[1], u[2]));
    __m512 sum_q = _mm512_mul_ps(one(OVER_Q), _mm512_add_ps(u[3], u[4])),
           difference_q = _mm512_mul_ps(one(OVER_Q * Q), _mm512_sub_ps(u[3], u[4]));
    g[0] = _mm512_fmadd_ps(one(OVER_ZERO), u[0], _mm512_add_ps(sum_p, sum_q));
    g[stride] = _mm512_add_ps(difference_p, difference_q);
    g[2 * stride] = _mm512_fmadd_ps(one(Q2), sum_q, _mm512_fmadd_ps(one(P2), sum_p, u[5]));
}

/* ---- tiles ---- */

/* The tile's rows, or columns, in an image: where the values from `margin` before it on lie, and which of
 * them exist; the others are read from the nearest one, and masked. */
struct window {
    size_t at[SIDE];
    __mmask16 in[SIDE];
};

/* `whole`: the image is a multiple of 4 long, so that only the margin can be missing. */
INLINE void place(struct window *w, size_t tile, size_t margin, size_t n, size_t end, size_t stride,
                  int whole)
{
#pragma GCC unroll 6
    for (size_t i = 0; i < n; i++) {
        size_t at = tile * TILE + i, inner = whole && i >= margin && i < margin + TILE;
        int before = !inner && at < margin, after = !inner && at >= end + margin;
        w->in[i] = before || after ? 0 : 0xffff;
        w->at[i] = (before ? 0 : after ? end - 1 : at - margin) * stride;
    }
}

struct patch {
    size_t image; /* offset */
    struct window down, across;
};

INLINE void place_patch(struct patch *p, const struct winograd_tiles *t, size_t tile, size_t margin,
                        int whole)
{
    size_t per_image = t->down * t->across, at = tile % per_image, n = TILE + 2 * margin;
    p->image = tile / per_image * t->height * t->width * t->channels;
    place(&p->down, at / t->across, margin, n, t->height, t->width * t->channels, whole);
    place(&p->across, at % t->across, margin, n, t->width, t->channels, whole);
}

/* Sixteen numbers of an image in memory; `narrow` (bf16) is a constant at each call. */
INLINE __m512 load(const void *images, size_t at, __mmask16 in, bool narrow)
{
    if (!narrow)
        return _mm512_maskz_loadu_ps(in, (const float *)images + at);
    __m256i x = _mm256_maskz_loadu_epi16(in, (const uint16_t *)images + at);
    return (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16);
}

/* To nearest, ties to even. */
INLINE __m256i rounded(__m512 x)
{
#ifdef __AVX512BF16__
    return (__m256i)_mm512_cvtneps_pbh(x);
#else
    __m512i bits = (__m512i)x, odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1)),
            up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    up = _mm512_mask_or_epi32(up, nan, bits, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(up, 16));
#endif
}

INLINE void store(void *images, size_t at, __mmask16 in, __m512 x, bool narrow)
{
    if (narrow)
        _mm256_mask_storeu_epi16((uint16_t *)images + at, in, rounded(x));
    else
        _mm512_mask_storeu_ps((float *)images + at, in, x);
}

INLINE __m512 patch_load(const void *images, const struct patch *p, size_t y, size_t x, size_t c, bool narrow)
{
    return load(images, p->image + p->down.at[y] + p->across.at[x] + c, p->down.in[y] & p->across.in[x],
                narrow);
}

typedef void line_transform(__m512 *out, size_t stride, const __m512 *in);

/* A patch of n x n values to 6x6 points, columns first. */
INLINE void to_points(float *points, size_t plane, const void *images, const struct patch *p, size_t n,
                      size_t c, bool narrow, line_transform *line)
{
    __m512 half[SIDE * SIDE]; /* (6, n) */
#pragma GCC unroll 6
    for (size_t x = 0; x < n; x++) {
        __m512 d[SIDE];
#pragma GCC unroll 6
        for (size_t y = 0; y < n; y++)
            d[y] = patch_load(images, p, y, x, c, narrow);
        line(half + x, n, d);
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < SIDE; i++) {
        __m512 v[SIDE];
        line(v, 1, half + i * n);
#pragma GCC unroll 6
        for (size_t j = 0; j < SIDE; j++)
            _mm512_storeu_ps(points + (i * SIDE + j) * plane, v[j]);
    }
}

/* Where 16 channels of a row of points lie. */
INLINE float *points_of(const struct winograd_points *points, size_t panel, size_t row, size_t channel)
{
    return points->at + (channel / panel * points->rows + row) * panel + channel % panel;
}

INLINE void tiles_to_points(const struct winograd_points *points, const void *images,
                            const struct winograd_tiles *tiles, size_t first, size_t count, size_t margin,
                            int whole, bool narrow, line_transform *line)
{
    size_t panel = winograd_panel(tiles->channels);
    for (size_t t = 0; t < count; t++) {
        struct patch p;
        place_patch(&p, tiles, first + t, margin, whole);
        for (size_t c = 0; c < tiles->channels; c += VECTOR)
            to_points(points_of(points, panel, t, c), points->plane, images, &p, TILE + 2 * margin, c, narrow,
                      line);
    }
}

static int are_whole(const struct winograd_tiles *tiles)
{
    return tiles->height % TILE == 0 && tiles->width % TILE == 0;
}

INLINE void images_to_points(const struct winograd_points *points, const void *images,
                             const struct winograd_tiles *tiles, size_t first, size_t count, size_t margin,
                             line_transform *line)
{
    int whole = are_whole(tiles);
    if (tiles->narrow && whole)
        tiles_to_points(points, images, tiles, first, count, margin, 1, true, line);
    else if (tiles->narrow)
        tiles_to_points(points, images, tiles, first, count, margin, 0, true, line);
    else if (whole)
        tiles_to_points(points, images, tiles, first, count, margin, 1, false, line);
    else
        tiles_to_points(points, images, tiles, first, count, margin, 0, false, line);
}

static void from_source(const struct winograd_points *points, const void *images,
                        const struct winograd_tiles *tiles, size_t first, size_t count)
{
    images_to_points(points, images, tiles, first, count, 1, source_line);
}

static void from_gradient(const struct winograd_points *points, const void *images,
                          const struct winograd_tiles *tiles, size_t first, size_t count)
{
    images_to_points(points, images, tiles, first, count, 0, gradient_line);
}

INLINE void store_results(void *images, const __m512 *y, const struct patch *p, size_t i,
                          const struct winograd_finish *finish, size_t c, bool narrow)
{
#pragma GCC unroll 4
    for (size_t j = 0; j < TILE; j++) {
        size_t at = p->image + p->down.at[i] + p->across.at[j] + c;
        __m512 value = finish->bias ? _mm512_add_ps(y[j], _mm512_loadu_ps(finish->bias + c)) : y[j];
        if (finish->relu)
            value = _mm512_max_ps(value, _mm512_setzero_ps());
        if (finish->mask)
            value = _mm512_maskz_mov_ps(
                _mm512_cmp_ps_mask(load(finish->mask, at, 0xffff, narrow), _mm512_setzero_ps(), _CMP_GT_OQ),
                value);
        store(images, at, p->down.in[i] & p->across.in[j], value, narrow);
    }
}

INLINE void points_to_tiles(void *images, const struct winograd_points *points,
                            const struct winograd_tiles *tiles, size_t first, size_t count,
                            const struct winograd_finish *finish, int whole, bool narrow)
{
    size_t panel = winograd_panel(tiles->channels);
    for (size_t t = 0; t < count; t++) {
        struct patch p;
        place_patch(&p, tiles, first + t, 0, whole);
        for (size_t c = 0; c < tiles->channels; c += VECTOR) {
            __m512 half[TILE * SIDE]; /* (4, 6) */
            const float *from = points_of(points, panel, t, c);
#pragma GCC unroll 6
            for (size_t j = 0; j < SIDE; j++) {
                __m512 m[SIDE];
#pragma GCC unroll 6
                for (size_t i = 0; i < SIDE; i++)
                    m[i] = _mm512_loadu_ps(from + (i * SIDE + j) * points->plane);
                result_line(half + j, SIDE, m);
            }
#pragma GCC unroll 4
            for (size_t i = 0; i < TILE; i++) {
                __m512 y[TILE];
                result_line(y, 1, half + i * SIDE);
                store_results(images, y, &p, i, finish, c, narrow);
            }
        }
    }
}

INLINE void to_images(void *images, const struct winograd_points *points, const struct winograd_tiles *tiles,
                      size_t first, size_t count, const struct winograd_finish *finish, bool narrow)
{
    const struct winograd_finish plain = {0};
    if (!are_whole(tiles))
        points_to_tiles(images, points, tiles, first, count, finish, 0, narrow);
    else if (finish->bias || finish->relu || finish->mask)
        points_to_tiles(images, points, tiles, first, count, finish, 1, narrow);
    else
        points_to_tiles(images, points, tiles, first, count, &plain, 1, narrow);
}

static void to_result(void *images, const struct winograd_points *points, const struct winograd_tiles *tiles,
                      size_t first, size_t count, const struct winograd_finish *finish)
{
    if (tiles->narrow)
        to_images(images, points, tiles, first, count, finish, true);
    else
        to_images(images, points, tiles, first, count, finish, false);
}

/* ---- weights ---- */

static void from_weights(float *points, size_t plane, size_t stride, const float *weights, size_t column,
                         size_t row, ptrdiff_t tap, size_t depth)
{
    const float *first = tap < 0 ? weights - 8 * tap : weights;
    const __m512i columns =
        _mm512_mullo_epi32(_mm512_set1_epi32((int)column),
                           _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (size_t k = 0; k < depth; k++) {
        __m512 g[9], half[SIDE * 3], u[SIDE];
        for (ptrdiff_t t = 0; t < 9; t++)
            g[t] = column == 1 ? _mm512_loadu_ps(first + k * row + t * tap)
                               : _mm512_i32gather_ps(columns, first + k * row + t * tap, sizeof *first);
        for (size_t x = 0; x < 3; x++)
            weights_line(half + x, 3, (__m512[3]){g[x], g[3 + x], g[6 + x]});
        for (size_t i = 0; i < SIDE; i++) {
            weights_line(u, 1, half + 3 * i);
            for (size_t j = 0; j < SIDE; j++)
                _mm512_storeu_ps(points + (i * SIDE + j) * plane + k * stride, u[j]);
        }
    }
}

static void to_weights(float *weights, size_t tap, const float *points, size_t plane)
{
    __m512 half[3 * SIDE];
    for (size_t j = 0; j < SIDE; j++) {
        __m512 u[SIDE];
        for (size_t i = 0; i < SIDE; i++)
            u[i] = _mm512_loadu_ps(points + (i * SIDE + j) * plane);
        weights_back_line(half + j, SIDE, u);
    }
    for (size_t y = 0; y < 3; y++) {
        __m512 g[3];
        weights_back_line(g, 1, half + y * SIDE);
        for (size_t x = 0; x < 3; x++)
            _mm512_storeu_ps(weights + (3 * y + x) * tap, g[x]);
    }
}

/* ---- products ---- */

/* `rows`, `vectors` and `stride` (left_row) are constants at each call, so that `sum` lives in registers and
 * the rows of `left` are at fixed distances. */
INLINE void multiply_block(size_t rows, size_t vectors, size_t stride, float *out, const float *left,
                           const struct winograd_product *p)
{
    const float *right = p->right;
    __m512 sum[16][4];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = p->add ? _mm512_loadu_ps(out + (r * vectors + v) * VECTOR) : _mm512_setzero_ps();
    for (size_t panel = 0; panel < p->panels; panel++) {
        const float *l = left + panel * p->left_panel;
        for (size_t k = 0; k < p->depth; k++, l += p->left_depth, right += vectors * VECTOR) {
            __m512 b[4];
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                b[v] = _mm512_loadu_ps(right + v * VECTOR);
#pragma GCC unroll 16
            for (size_t r = 0; r < rows; r++) {
                __m512 a = _mm512_set1_ps(l[r * stride]);
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; v++)
                    sum[r][v] = _mm512_fmadd_ps(a, b[v], sum[r][v]);
            }
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            _mm512_storeu_ps(out + (r * vectors + v) * VECTOR, sum[r][v]);
}

INLINE void multiply_rows(size_t rows, size_t vectors, size_t stride, const struct winograd_product *p)
{
    for (size_t r = 0; r < p->rows; r += rows)
        multiply_block(rows, vectors, stride, p->out + r * vectors * VECTOR, p->left + r * stride, p);
}

INLINE void multiply_strided(const struct winograd_product *p, size_t stride)
{
    if (p->columns == 4 * VECTOR)
        multiply_rows(4, 4, stride, p);
    else if (p->columns == 2 * VECTOR)
        multiply_rows(8, 2, stride, p);
    else
        multiply_rows(16, 1, stride, p);
}

/* 1: the weight gradient; else a panel's columns. */
static void multiply(const struct winograd_product *p)
{
    if (p->left_row == 1)
        multiply_strided(p, 1);
    else if (p->left_row == 16)
        multiply_strided(p, 16);
    else if (p->left_row == 32)
        multiply_strided(p, 32);
    else
        multiply_strided(p, 64);
}

extern const struct winograd_kernels ISA_NAME(winograd_kernels);
const struct winograd_kernels ISA_NAME(winograd_kernels) = {.from_source = from_source,
                                                            .to_result = to_result,
                                                            .from_gradient = from_gradient,
                                                            .from_weights = from_weights,
                                                            .to_weights = to_weights,
                                                            .multiply = multiply};

#else

extern const struct winograd_kernels ISA_NAME(winograd_kernels);
const struct winograd_kernels ISA_NAME(winograd_kernels) = {0};

#endif
