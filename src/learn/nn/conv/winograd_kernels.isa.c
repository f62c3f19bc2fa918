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
#include "nn/conv/tile.h"

#if defined(__AVX2__) && defined(__FMA__)
#define APART __attribute__((noinline))
enum { SIDE = 6, TILE = WINOGRAD_TILE, LANES = TILE_LANES };

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
 * written, wherever it would lie; `narrow` (bf16) is a constant at each call. ---- */

#ifdef __AVX512F__
enum { NARROW = true, PANEL = 64 };
typedef __mmask16 presence;
static const presence PRESENT = 0xffff;

INLINE vf32 winograd_kernel_load(const void *images, size_t at, presence present, bool narrow)
{
    if (!narrow)
        return (vf32)_mm512_maskz_loadu_ps(present, (const float *)images + (ptrdiff_t)at);
    __m256i x = _mm256_maskz_loadu_epi16(present, (const uint16_t *)images + (ptrdiff_t)at);
    return (vf32)_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16);
}

/* To nearest, ties to even. */
INLINE __m256i winograd_kernel_rounded(__m512 x)
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

INLINE void winograd_kernel_store(void *images, size_t at, presence present, vf32 x, bool narrow)
{
    const bool all = __builtin_constant_p(present) && present == PRESENT;
    if (narrow && all)
        _mm256_storeu_si256((void *)((uint16_t *)images + (ptrdiff_t)at), winograd_kernel_rounded((__m512)x));
    else if (narrow)
        _mm256_mask_storeu_epi16((uint16_t *)images + (ptrdiff_t)at, present,
                                 winograd_kernel_rounded((__m512)x));
    else
        _mm512_mask_storeu_ps((float *)images + (ptrdiff_t)at, present, (__m512)x);
}

INLINE vf32 winograd_kernel_positive(vf32 x)
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

INLINE vf32 winograd_kernel_load(const void *images, size_t at, presence present, bool narrow)
{
    (void)narrow;
    if (__builtin_constant_p(present) && present == PRESENT)
        return f32_load((const float *)images + (ptrdiff_t)at);
    return (vf32)_mm256_maskload_ps((const float *)images + (ptrdiff_t)at, (__m256i)u32_all(present));
}

INLINE void winograd_kernel_store(void *images, size_t at, presence present, vf32 x, bool narrow)
{
    (void)narrow;
    if (present)
        f32_store((float *)images + (ptrdiff_t)at, x);
}

INLINE vf32 winograd_kernel_positive(vf32 x)
{
    return (vf32)_mm256_max_ps((__m256)x, _mm256_setzero_ps());
}

INLINE vf32 keep_where_positive(vf32 x, vf32 y)
{
    return (vf32)((vu32)x & (vu32)(y > 0));
}

#endif

/* ---- tiles ---- */

/* The values around a tile: where the first one would lie, and which rows and columns of them the image has. */
struct patch {
    size_t corner, row,
        column; /* of a tile at the edge before the image; row, column: from one to the next */
    presence down[SIDE], across[SIDE];
};
/* Which tile of which image; tiles go row by row. */
struct place {
    size_t image, down, across;
};

static struct place place_of(const struct winograd_tiles *t, size_t tile)
{
    size_t per_image = t->down * t->across;
    return (struct place){tile / per_image, tile % per_image / t->across, tile % t->across};
}

INLINE void move_on(struct place *at, const struct winograd_tiles *t)
{
    if (++at->across < t->across)
        return;
    at->across = 0;
    if (++at->down < t->down)
        return;
    at->down = 0;
    at->image++;
}

/* A position before the first wraps to a huge one. */
INLINE struct patch patch_at(const struct place *at, const struct winograd_tiles *t, size_t margin)
{
    size_t y = at->down * TILE - margin, x = at->across * TILE - margin;
    struct patch p = {.corner = ((at->image * t->height + y) * t->width + x) * t->channels,
                      .row = t->width * t->channels,
                      .column = t->channels};
#pragma GCC unroll 6
    for (size_t i = 0; i < SIDE; i++) {
        p.down[i] = y + i < t->height ? PRESENT : 0;
        p.across[i] = x + i < t->width ? PRESENT : 0;
    }
    return p;
}

/* `whole`: the image is a multiple of 4 long, so that only the margin can be missing. n: values of a side. */
INLINE presence winograd_kernel_present(const struct patch *p, size_t y, size_t x, size_t n, bool whole)
{
    const size_t margin = (n - TILE) / 2;
    const bool row = whole && y - margin < TILE, column = whole && x - margin < TILE;
    return row && column ? PRESENT : row ? p->across[x] : column ? p->down[y] : p->down[y] & p->across[x];
}

typedef void line_transform(vf32 *out, size_t stride, const vf32 *in);

/* n x n values to 6x6 points, columns first. */
INLINE void to_points(float *points, size_t plane, const void *images, size_t at, const struct patch *p,
                      size_t n, bool whole, bool narrow, line_transform *line)
{
    vf32 half[SIDE * SIDE]; /* (6, n) */
#pragma GCC unroll 6
    for (size_t x = 0; x < n; x++) {
        vf32 d[SIDE];
#pragma GCC unroll 6
        for (size_t y = 0; y < n; y++)
            d[y] = winograd_kernel_load(images, at + y * p->row + x * p->column,
                                        winograd_kernel_present(p, y, x, n, whole), narrow);
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

/* Of LANES channels of a tile. Functions of their own, as compilers keep 36 addresses in memory where they see the loop
 * around. */
typedef void tile_to_points(float *points, size_t plane, const void *images, size_t at,
                            const struct patch *p);
#define TILE_TO_POINTS(name, n, whole, narrow, line)                                                         \
    static APART void name(float *points, size_t plane, const void *images, size_t at,                       \
                           const struct patch *p)                                                            \
    {                                                                                                        \
        to_points(points, plane, images, at, p, n, whole, narrow, line);                                     \
    }
TILE_TO_POINTS(source_f32, 6, false, false, source_line)
TILE_TO_POINTS(source_f32_whole, 6, true, false, source_line)
TILE_TO_POINTS(source_bf16, 6, false, NARROW, source_line)
TILE_TO_POINTS(source_bf16_whole, 6, true, NARROW, source_line)
TILE_TO_POINTS(tile_f32, 4, false, false, tile_line)
TILE_TO_POINTS(tile_f32_whole, 4, true, false, tile_line)
TILE_TO_POINTS(tile_bf16, 4, false, NARROW, tile_line)
TILE_TO_POINTS(tile_bf16_whole, 4, true, NARROW, tile_line)

/* Where the panel from channel `side` on of a row of points lies. */
INLINE float *points_of(const struct winograd_points *points, size_t panel, size_t row, size_t side)
{
    return points->at + side * points->rows + row * panel;
}

static bool are_whole(const struct winograd_tiles *tiles)
{
    return tiles->height % TILE == 0 && tiles->width % TILE == 0;
}

/* kinds: f32, of whole images; bf16, of whole images. */
static void images_to_points(const struct winograd_points *points, const void *images,
                             const struct winograd_tiles *tiles, size_t first, size_t count, size_t margin,
                             tile_to_points *const kinds[4])
{
    tile_to_points *transform = kinds[2 * tiles->narrow + are_whole(tiles)];
    const size_t panel = winograd_panel(tiles->channels, PANEL);
    struct place at = place_of(tiles, first);
    for (size_t t = 0; t < count; t++, move_on(&at, tiles)) {
        const struct patch p = patch_at(&at, tiles, margin);
        for (size_t side = 0; side < tiles->channels; side += panel)
            for (size_t c = side; c < side + panel; c += LANES)
                transform(points_of(points, panel, t, side) + (c - side), points->plane, images, p.corner + c,
                          &p);
    }
}

static void from_source(const struct winograd_points *points, const void *images,
                        const struct winograd_tiles *tiles, size_t first, size_t count)
{
    static tile_to_points *const kinds[] = {source_f32, source_f32_whole, source_bf16, source_bf16_whole};
    images_to_points(points, images, tiles, first, count, 1, kinds);
}

static void from_tiles(const struct winograd_points *points, const void *images,
                       const struct winograd_tiles *tiles, size_t first, size_t count)
{
    static tile_to_points *const kinds[] = {tile_f32, tile_f32_whole, tile_bf16, tile_bf16_whole};
    images_to_points(points, images, tiles, first, count, 0, kinds);
}

/* One row of a tile's results. */
INLINE void store_results(void *images, const vf32 *y, const struct patch *p, size_t i, size_t c,
                          const struct winograd_finish *finish, bool plain, bool whole, bool narrow)
{
#pragma GCC unroll 4
    for (size_t j = 0; j < TILE; j++) {
        const size_t at = p->corner + c + i * p->row + j * p->column;
        const presence in = winograd_kernel_present(p, i, j, TILE, whole);
        vf32 value = y[j];
        if (!plain && finish->bias)
            value += f32_load(finish->bias + c);
        if (!plain && finish->relu)
            value = winograd_kernel_positive(value);
        if (!plain && finish->mask)
            value = keep_where_positive(value, winograd_kernel_load(finish->mask, at, in, narrow));
        winograd_kernel_store(images, at, in, value, narrow);
    }
}

INLINE void to_tile(void *images, const float *points, size_t plane, const struct patch *p, size_t c,
                    const struct winograd_finish *finish, bool plain, bool whole, bool narrow)
{
    vf32 half[TILE * SIDE]; /* (4, 6) */
#pragma GCC unroll 6
    for (size_t j = 0; j < SIDE; j++) {
        vf32 m[SIDE];
#pragma GCC unroll 6
        for (size_t i = 0; i < SIDE; i++)
            m[i] = f32_load(points + (i * SIDE + j) * plane);
        result_line(half + j, SIDE, m);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < TILE; i++) {
        vf32 y[TILE];
        result_line(y, 1, half + i * SIDE);
        store_results(images, y, p, i, c, finish, plain, whole, narrow);
    }
}

typedef void points_to_tile(void *images, const float *points, size_t plane, const struct patch *p, size_t c,
                            const struct winograd_finish *finish);
#define POINTS_TO_TILE(name, plain, whole, narrow)                                                           \
    static APART void name(void *images, const float *points, size_t plane, const struct patch *p, size_t c, \
                           const struct winograd_finish *finish)                                             \
    {                                                                                                        \
        to_tile(images, points, plane, p, c, finish, plain, whole, narrow);                                  \
    }
POINTS_TO_TILE(result_f32, false, false, false)
POINTS_TO_TILE(result_f32_whole, false, true, false)
POINTS_TO_TILE(result_f32_plain, true, true, false)
POINTS_TO_TILE(result_bf16, false, false, NARROW)
POINTS_TO_TILE(result_bf16_whole, false, true, NARROW)
POINTS_TO_TILE(result_bf16_plain, true, true, NARROW)

static void to_result(void *images, const struct winograd_points *points, const struct winograd_tiles *tiles,
                      size_t first, size_t count, const struct winograd_finish *finish)
{
    static points_to_tile *const kinds[2][3] = {{result_f32, result_f32_whole, result_f32_plain},
                                                {result_bf16, result_bf16_whole, result_bf16_plain}};
    const bool plain = !finish->bias && !finish->relu && !finish->mask;
    points_to_tile *transform = kinds[tiles->narrow][!are_whole(tiles) ? 0 : plain ? 2 : 1];
    const size_t panel = winograd_panel(tiles->channels, PANEL);
    struct place at = place_of(tiles, first);
    for (size_t t = 0; t < count; t++, move_on(&at, tiles)) {
        const struct patch p = patch_at(&at, tiles, 0);
        for (size_t side = 0; side < tiles->channels; side += panel)
            for (size_t c = side; c < side + panel; c += LANES)
                transform(images, points_of(points, panel, t, side) + (c - side), points->plane, &p, c,
                          finish);
    }
}

/* ---- weights ---- */

/* Two squares beside each other, of `apart` lanes each, become two below each other: in each pair of runs of so many lanes,
 * the second one of a and the first one of b change places. */
INLINE void change_places(vf32 *a, vf32 *b, uint32_t apart)
{
#ifdef __AVX512F__
    const vu32 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const vu32 second = (vu32)((lane & apart) != 0), of_b = lane | LANES, old = (vu32)*a;
    *a = (vf32)_mm512_permutex2var_ps((__m512)old, (__m512i)((lane & ~second) | ((of_b ^ apart) & second)),
                                      (__m512)*b);
    *b = (vf32)_mm512_permutex2var_ps((__m512)old, (__m512i)(((lane ^ apart) & ~second) | (of_b & second)),
                                      (__m512)*b);
#else
    const vu32 lane = {0, 1, 2, 3, 4, 5, 6, 7}, second = (vu32)((lane & apart) != 0);
    const __m256i other = (__m256i)(lane ^ apart);
    const vu32 from_a = (vu32)_mm256_permutevar8x32_ps((__m256)*a, other),
               from_b = (vu32)_mm256_permutevar8x32_ps((__m256)*b, other);
    *a = (vf32)(((vu32)*a & ~second) | (from_b & second));
    *b = (vf32)((from_a & ~second) | ((vu32)*b & second));
#endif
}

INLINE void winograd_kernel_transpose(vf32 *rows)
{
#pragma GCC unroll 4
    for (uint32_t apart = LANES / 2; apart; apart /= 2)
#pragma GCC unroll 16
        for (size_t i = 0; i < LANES; i++)
            if (!(i & apart))
                change_places(&rows[i], &rows[i + apart], apart);
}

/* Point `line` of the three columns of 3x3 vectors, which lie at `tap` floats from each other; fetches those that are `ahead`
 * floats further on, as the processor does not foresee such strides. */
INLINE void half_line(vf32 half[3], const float *weights, ptrdiff_t tap, size_t line, size_t ahead)
{
#pragma GCC unroll 3
    for (ptrdiff_t x = 0; x < 3; x++) {
        vf32 g[3], u[SIDE];
        for (ptrdiff_t y = 0; y < 3; y++) {
            __builtin_prefetch(weights + (3 * y + x) * tap + ahead, 0, 2);
            g[y] = f32_load(weights + (3 * y + x) * tap);
        }
        weights_line(u, 1, g);
        half[x] = u[line];
    }
}

INLINE void store_line(float *points, size_t plane, const vf32 half[3])
{
    vf32 u[SIDE];
    weights_line(u, 1, half);
#pragma GCC unroll 6
    for (size_t j = 0; j < SIDE; j++)
        f32_store(points + j * plane, u[j]);
}

/* LANES columns that lie far apart, each with its rows side by side: LANES rows. */
INLINE void far_columns(float *points, size_t plane, size_t stride, const float *weights, size_t column,
                        ptrdiff_t tap, size_t line)
{
    vf32 half[3][LANES], one[3];
    for (size_t c = 0; c < LANES; c++) {
        half_line(one, weights + c * column, tap, line, 2 * LANES);
        for (size_t x = 0; x < 3; x++)
            half[x][c] = one[x];
    }
    for (size_t x = 0; x < 3; x++)
        winograd_kernel_transpose(half[x]);
    for (size_t k = 0; k < LANES; k++)
        store_line(points + k * stride, plane, (vf32[3]){half[0][k], half[1][k], half[2][k]});
}

INLINE void line_from_weights(const struct winograd_line *p, size_t line)
{
    const float *first = p->tap < 0 ? p->weights - 8 * p->tap : p->weights;
    for (size_t c = 0; c < p->columns; c += LANES)
        for (size_t k = 0; p->row == 1 && k < p->depth; k += LANES)
            far_columns(p->points + k * p->columns + c, p->plane, p->columns, first + c * p->column + k,
                        p->column, p->tap, line);
    for (size_t k = 0; p->row != 1 && k < p->depth; k++)
        for (size_t c = 0; c < p->columns; c += LANES) {
            vf32 half[3];
            half_line(half, first + k * p->row + c, p->tap, line, 2 * p->row);
            store_line(p->points + k * p->columns + c, p->plane, half);
        }
}

/* The line is a constant at each call, and what the other five need is left out. */
static APART void from_weights(const struct winograd_line *p)
{
#define CASE(n)                                                                                              \
    case n:                                                                                                  \
        line_from_weights(p, n);                                                                             \
        break
    switch (p->line) {
        CASE(0);
        CASE(1);
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
    }
#undef CASE
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
    vf32 sum[16][TILE_VECTORS];
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = p->add ? f32_load(out + (r * vectors + v) * LANES) : (vf32){0};
    struct tile_factors f = {left, p->right, stride, p->left_depth, vectors * LANES, p->depth, LANES};
    for (size_t panel = 0; panel < p->panels; panel++, f.right += p->depth * vectors * LANES) {
        f.left = left + panel * p->left_panel;
        tile_multiply(sum, rows, vectors, f);
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
static void winograd_kernel_multiply(const struct winograd_product *p)
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

static void winograd_kernel_multiply(const struct winograd_product *p)
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
                                                            .multiply = winograd_kernel_multiply};

#else

extern const struct winograd_kernels ISA_NAME(winograd_kernels);
const struct winograd_kernels ISA_NAME(winograd_kernels) = {0};

#endif
