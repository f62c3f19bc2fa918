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
 * Backward data is the same sum; the weight gradient goes by the transposes of that. */
#include "nn/conv/winograd_kernels.h"

#include "base/cpu.h"
#include "base/simd.h"

#if defined(__AVX2__) && defined(__FMA__)
enum { SIDE = 6, TILE = WINOGRAD_TILE, LANES = VECTOR_BYTES / sizeof(float) };

static const float P = .75F, Q = 1.5F, P2 = .5625F, Q2 = 2.25F, P3 = .421875F, Q3 = 3.375F,
                   BOTH = 2.8125F /* P2 + Q2 */, PRODUCT = 1.265625F /* P2 Q2 */;
#define OVER_ZERO (1 / (.5625F * 2.25F))
#define OVER_P (1 / (2 * .5625F * (.5625F - 2.25F)))
#define OVER_Q (1 / (2 * 2.25F * (2.25F - .5625F)))

/* ---- along one dimension; the results lie at a stride ---- */

INLINE void source_line(vf32 *v, size_t stride, const vf32 *d)
{
    vf32 d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4];
    vf32 even_p = f32_fnma(f32_all(Q2), d2, d4), odd_p = f32_fnma(f32_all(Q2), d1, d3);
    vf32 even_q = f32_fnma(f32_all(P2), d2, d4), odd_q = f32_fnma(f32_all(P2), d1, d3);
    v[0] = f32_fma(f32_all(PRODUCT), d[0], f32_fnma(f32_all(BOTH), d2, d4));
    v[stride] = f32_fma(f32_all(P), odd_p, even_p);
    v[2 * stride] = f32_fnma(f32_all(P), odd_p, even_p);
    v[3 * stride] = f32_fma(f32_all(Q), odd_q, even_q);
    v[4 * stride] = f32_fnma(f32_all(Q), odd_q, even_q);
    v[5 * stride] = f32_fma(f32_all(PRODUCT), d1, f32_fnma(f32_all(BOTH), d3, d[5]));
}

INLINE void result_line(vf32 *y, size_t stride, const vf32 *m)
{
    vf32 sum_p = m[1] + m[2], difference_p = m[1] - m[2];
    vf32 sum_q = m[3] + m[4], difference_q = m[3] - m[4];
    y[0] = m[0] + (sum_p + sum_q);
    y[stride] = f32_fma(f32_all(Q), difference_q, P * difference_p);
    y[2 * stride] = f32_fma(f32_all(Q2), sum_q, P2 * sum_p);
    y[3 * stride] = f32_fma(f32_all(Q3), difference_q, f32_fma(f32_all(P3), difference_p, m[5]));
}

INLINE void tile_line(vf32 *z, size_t stride, const vf32 *y)
{
    vf32 even_p = f32_fma(f32_all(P2), y[2], y[0]), odd_p = f32_fma(f32_all(P3), y[3], P * y[1]);
    vf32 even_q = f32_fma(f32_all(Q2), y[2], y[0]), odd_q = f32_fma(f32_all(Q3), y[3], Q * y[1]);
    z[0] = y[0];
    z[stride] = even_p + odd_p;
    z[2 * stride] = even_p - odd_p;
    z[3 * stride] = even_q + odd_q;
    z[4 * stride] = even_q - odd_q;
    z[5 * stride] = y[3];
}

INLINE void weights_line(vf32 *u, size_t stride, const vf32 *g)
{
    vf32 even_p = OVER_P * f32_fma(f32_all(P2), g[2], g[0]), odd_p = OVER_P * P * g[1];
    vf32 even_q = OVER_Q * f32_fma(f32_all(Q2), g[2], g[0]), odd_q = OVER_Q * Q * g[1];
    u[0] = OVER_ZERO * g[0];
    u[stride] = even_p + odd_p;
    u[2 * stride] = even_p - odd_p;
    u[3 * stride] = even_q + odd_q;
    u[4 * stride] = even_q - odd_q;
    u[5 * stride] = g[2];
}

INLINE void weights_back_line(vf32 *g, size_t stride, const vf32 *u)
{
    vf32 sum_p = OVER_P * (u[1] + u[2]), difference_p = OVER_P * P * (u[1] - u[2]);
    vf32 sum_q = OVER_Q * (u[3] + u[4]), difference_q = OVER_Q * Q * (u[3] - u[4]);
    g[0] = f32_fma(f32_all(OVER_ZERO), u[0], sum_p + sum_q);
    g[stride] = difference_p + difference_q;
    g[2 * stride] = f32_fma(f32_all(Q2), sum_q, f32_fma(f32_all(P2), sum_p, u[5]));
}

/* ---- vectors, where the levels differ. Of images in memory: one which is not `present` is read as 0 and not
 * written; `narrow` (bf16) is a constant at each call. ---- */

#ifdef __AVX512F__
enum { NARROW = true, PANEL = 64 };
typedef __mmask16 presence;
static const presence PRESENT = 0xffff;

INLINE vf32 load(const void *images, size_t at, presence present, bool narrow)
{
    if (!narrow)
        return (vf32)_mm512_maskz_loadu_ps(present, (const float *)images + at);
    __m256i x = _mm256_maskz_loadu_epi16(present, (const uint16_t *)images + at);
    return (vf32)_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16);
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

INLINE void store(void *images, size_t at, presence present, vf32 x, bool narrow)
{
    if (narrow)
        _mm256_mask_storeu_epi16((uint16_t *)images + at, present, rounded((__m512)x));
    else
        _mm512_mask_storeu_ps((float *)images + at, present, (__m512)x);
}

INLINE vf32 positive(vf32 x)
{
    return (vf32)_mm512_max_ps((__m512)x, _mm512_setzero_ps());
}

/* x where y > 0, else 0. */
INLINE vf32 keep_where_positive(vf32 x, vf32 y)
{
    return (vf32)_mm512_maskz_mov_ps(_mm512_cmp_ps_mask((__m512)y, _mm512_setzero_ps(), _CMP_GT_OQ),
                                     (__m512)x);
}

#else
enum { NARROW = false, PANEL = 16 }; /* bf16 is refused below v4bf16 */
typedef uint32_t presence;           /* all bits or none */
static const presence PRESENT = UINT32_MAX;

INLINE vf32 load(const void *images, size_t at, presence present, bool narrow)
{
    (void)narrow;
    return (vf32)((vu32)f32_load((const float *)images + at) & u32_all(present));
}

INLINE void store(void *images, size_t at, presence present, vf32 x, bool narrow)
{
    (void)narrow;
    if (present)
        f32_store((float *)images + at, x);
}

INLINE vf32 positive(vf32 x)
{
    return (vf32)_mm256_max_ps((__m256)x, _mm256_setzero_ps());
}

INLINE vf32 keep_where_positive(vf32 x, vf32 y)
{
    return (vf32)((vu32)x & (vu32)(y > 0));
}

#endif

/* ---- tiles ---- */

/* The tile's rows, or columns, in an image: where the values from `margin` before it on lie, and which of
 * them exist; the others are read from the nearest one, and masked. */
struct window {
    size_t at[SIDE];
    presence in[SIDE];
};

/* `whole`: the image is a multiple of 4 long, so that only the margin can be missing. */
INLINE void place(struct window *w, size_t tile, size_t margin, size_t n, size_t end, size_t stride,
                  int whole)
{
#pragma GCC unroll 6
    for (size_t i = 0; i < n; i++) {
        size_t at = tile * TILE + i, inner = whole && i >= margin && i < margin + TILE;
        int before = !inner && at < margin, after = !inner && at >= end + margin;
        w->in[i] = before || after ? 0 : PRESENT;
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

INLINE vf32 patch_load(const void *images, const struct patch *p, size_t y, size_t x, size_t c, bool narrow)
{
    return load(images, p->image + p->down.at[y] + p->across.at[x] + c, p->down.in[y] & p->across.in[x],
                narrow);
}

typedef void line_transform(vf32 *out, size_t stride, const vf32 *in);

/* A patch of n x n values to 6x6 points, columns first. */
INLINE void to_points(float *points, size_t plane, const void *images, const struct patch *p, size_t n,
                      size_t c, bool narrow, line_transform *line)
{
    vf32 half[SIDE * SIDE]; /* (6, n) */
#pragma GCC unroll 6
    for (size_t x = 0; x < n; x++) {
        vf32 d[SIDE];
#pragma GCC unroll 6
        for (size_t y = 0; y < n; y++)
            d[y] = patch_load(images, p, y, x, c, narrow);
        line(half + x, n, d);
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < SIDE; i++) {
        vf32 v[SIDE];
        line(v, 1, half + i * n);
#pragma GCC unroll 6
        for (size_t j = 0; j < SIDE; j++)
            f32_store(points + (i * SIDE + j) * plane, v[j]);
    }
}

/* Where LANES channels of a row of points lie. */
INLINE float *points_of(const struct winograd_points *points, size_t panel, size_t row, size_t channel)
{
    return points->at + (channel / panel * points->rows + row) * panel + channel % panel;
}

INLINE void tiles_to_points(const struct winograd_points *points, const void *images,
                            const struct winograd_tiles *tiles, size_t first, size_t count, size_t margin,
                            int whole, bool narrow, line_transform *line)
{
    size_t panel = winograd_panel(tiles->channels, PANEL);
    for (size_t t = 0; t < count; t++) {
        struct patch p;
        place_patch(&p, tiles, first + t, margin, whole);
        for (size_t c = 0; c < tiles->channels; c += LANES)
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
    if (NARROW && tiles->narrow && whole)
        tiles_to_points(points, images, tiles, first, count, margin, 1, true, line);
    else if (NARROW && tiles->narrow)
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

static void from_tiles(const struct winograd_points *points, const void *images,
                       const struct winograd_tiles *tiles, size_t first, size_t count)
{
    images_to_points(points, images, tiles, first, count, 0, tile_line);
}

INLINE void store_results(void *images, const vf32 *y, const struct patch *p, size_t i,
                          const struct winograd_finish *finish, size_t c, bool narrow)
{
#pragma GCC unroll 4
    for (size_t j = 0; j < TILE; j++) {
        size_t at = p->image + p->down.at[i] + p->across.at[j] + c;
        vf32 value = y[j];
        if (finish->bias)
            value += f32_load(finish->bias + c);
        if (finish->relu)
            value = positive(value);
        if (finish->mask)
            value = keep_where_positive(value, load(finish->mask, at, PRESENT, narrow));
        store(images, at, p->down.in[i] & p->across.in[j], value, narrow);
    }
}

INLINE void points_to_tiles(void *images, const struct winograd_points *points,
                            const struct winograd_tiles *tiles, size_t first, size_t count,
                            const struct winograd_finish *finish, int whole, bool narrow)
{
    size_t panel = winograd_panel(tiles->channels, PANEL);
    for (size_t t = 0; t < count; t++) {
        struct patch p;
        place_patch(&p, tiles, first + t, 0, whole);
        for (size_t c = 0; c < tiles->channels; c += LANES) {
            vf32 half[TILE * SIDE]; /* (4, 6) */
            const float *from = points_of(points, panel, t, c);
#pragma GCC unroll 6
            for (size_t j = 0; j < SIDE; j++) {
                vf32 m[SIDE];
#pragma GCC unroll 6
                for (size_t i = 0; i < SIDE; i++)
                    m[i] = f32_load(from + (i * SIDE + j) * points->plane);
                result_line(half + j, SIDE, m);
            }
#pragma GCC unroll 4
            for (size_t i = 0; i < TILE; i++) {
                vf32 y[TILE];
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
    if (NARROW && tiles->narrow)
        to_images(images, points, tiles, first, count, finish, true);
    else
        to_images(images, points, tiles, first, count, finish, false);
}

/* ---- weights ---- */

/* 3x3 vectors at `tap` floats from each other. */
INLINE void weights_to_points(float *points, size_t plane, const float *weights, ptrdiff_t tap)
{
    vf32 g[9], half[SIDE * 3], u[SIDE];
    for (ptrdiff_t t = 0; t < 9; t++)
        g[t] = f32_load(weights + t * tap);
    for (size_t x = 0; x < 3; x++)
        weights_line(half + x, 3, (vf32[3]){g[x], g[3 + x], g[6 + x]});
    for (size_t i = 0; i < SIDE; i++) {
        weights_line(u, 1, half + 3 * i);
        for (size_t j = 0; j < SIDE; j++)
            f32_store(points + (i * SIDE + j) * plane, u[j]);
    }
}

enum { WEIGHTS_RUN = 16 }; /* rows that are turned at a time: a line of the cache */

/* turned (rows, 9, 16) from columns that lie far apart, each with its rows side by side. */
INLINE void turn(float turned[WEIGHTS_RUN][9][WINOGRAD_VECTOR], const float *weights, size_t column,
                 ptrdiff_t tap, size_t rows)
{
    for (ptrdiff_t t = 0; t < 9; t++)
        for (size_t c = 0; c < WINOGRAD_VECTOR; c++)
            for (size_t k = 0; k < rows; k++)
                turned[k][t][c] = weights[(ptrdiff_t)(c * column + k) + t * tap];
}

static void from_weights(float *points, size_t plane, size_t stride, const float *weights, size_t column,
                         size_t row, ptrdiff_t tap, size_t depth)
{
    float turned[WEIGHTS_RUN][9][WINOGRAD_VECTOR];
    const float *first = tap < 0 ? weights - 8 * tap : weights;
    for (size_t k = 0; k < depth; k += WEIGHTS_RUN) {
        size_t rows = depth - k < WEIGHTS_RUN ? depth - k : WEIGHTS_RUN;
        if (row == 1)
            turn(turned, first + k, column, tap, rows);
        for (size_t i = 0; i < rows; i++)
            for (size_t c = 0; c < WINOGRAD_VECTOR; c += LANES)
                if (row == 1)
                    weights_to_points(points + (k + i) * stride + c, plane, turned[i][0] + c,
                                      WINOGRAD_VECTOR);
                else
                    weights_to_points(points + (k + i) * stride + c, plane, first + (k + i) * row + c, tap);
    }
}

static void to_weights(float *weights, ptrdiff_t tap, const float *points, size_t plane)
{
    for (size_t c = 0; c < WINOGRAD_VECTOR; c += LANES) {
        vf32 half[3 * SIDE];
        for (size_t j = 0; j < SIDE; j++) {
            vf32 u[SIDE];
            for (size_t i = 0; i < SIDE; i++)
                u[i] = f32_load(points + (i * SIDE + j) * plane + c);
            weights_back_line(half + j, SIDE, u);
        }
        for (ptrdiff_t y = 0; y < 3; y++) {
            vf32 g[3];
            weights_back_line(g, 1, half + y * SIDE);
            for (ptrdiff_t x = 0; x < 3; x++)
                f32_store(weights + (3 * y + x) * tap + c, g[x]);
        }
    }
}

/* ---- products ---- */

/* `rows`, `vectors` and `stride` (left_row) are constants at each call, so that `sum` lives in registers and
 * the rows of `left` are at fixed distances. */
INLINE void multiply_block(size_t rows, size_t vectors, size_t stride, float *out, const float *left,
                           const struct winograd_product *p)
{
    const float *right = p->right;
    vf32 sum[16][4];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = p->add ? f32_load(out + (r * vectors + v) * LANES) : (vf32){0};
    for (size_t panel = 0; panel < p->panels; panel++) {
        const float *l = left + panel * p->left_panel;
        for (size_t k = 0; k < p->depth; k++, l += p->left_depth, right += vectors * LANES) {
            vf32 b[4];
#pragma GCC unroll 4
            for (size_t v = 0; v < vectors; v++)
                b[v] = f32_load(right + v * LANES);
#pragma GCC unroll 16
            for (size_t r = 0; r < rows; r++) {
                vf32 a = f32_all(l[r * stride]);
#pragma GCC unroll 4
                for (size_t v = 0; v < vectors; v++)
                    sum[r][v] = f32_fma(a, b[v], sum[r][v]);
            }
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            f32_store(out + (r * vectors + v) * LANES, sum[r][v]);
}

#ifdef __AVX512F__
/* 16 sums in 32 registers. */
INLINE void multiply_columns(size_t columns, size_t stride, const struct winograd_product *p)
{
    const size_t vectors = columns / LANES, rows = 16 / vectors;
    for (size_t r = 0; r < p->rows; r += rows)
        multiply_block(rows, vectors, stride, p->out + r * columns, p->left + r * stride, p);
}

INLINE void multiply_strided(const struct winograd_product *p, size_t stride)
{
    if (p->columns == 64)
        multiply_columns(64, stride, p);
    else if (p->columns == 32)
        multiply_columns(32, stride, p);
    else
        multiply_columns(16, stride, p);
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

#else
/* 12 sums in 16 registers, or 8: sixteens of rows are sixes and at most two fours. */
INLINE void multiply_strided(const struct winograd_product *p, size_t stride)
{
    const size_t rows = (p->rows + WINOGRAD_ROWS - 1) / WINOGRAD_ROWS * WINOGRAD_ROWS;
    size_t r = 0;
    for (; rows - r != 8 && rows - r > 4; r += 6)
        multiply_block(6, PANEL / LANES, stride, p->out + r * PANEL, p->left + r * stride, p);
    for (; r < rows; r += 4)
        multiply_block(4, PANEL / LANES, stride, p->out + r * PANEL, p->left + r * stride, p);
}

static void multiply(const struct winograd_product *p)
{
    if (p->left_row == 1)
        multiply_strided(p, 1);
    else
        multiply_strided(p, PANEL);
}
#endif

extern const struct winograd_kernels ISA_NAME(winograd_kernels);
const struct winograd_kernels ISA_NAME(winograd_kernels) = {.narrow = NARROW,
                                                            .panel = PANEL,
                                                            .from_source = from_source,
                                                            .to_result = to_result,
                                                            .from_tiles = from_tiles,
                                                            .from_weights = from_weights,
                                                            .to_weights = to_weights,
                                                            .multiply = multiply};

#else

extern const struct winograd_kernels ISA_NAME(winograd_kernels);
const struct winograd_kernels ISA_NAME(winograd_kernels) = {0};

#endif
