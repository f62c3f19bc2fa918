/* Along a side, results read y_i = g_0 e_i + g_1 o_i + g_2 e_(i+1) of even pixels e and odd ones o. The even ones are
 * a filter of two weights: minimal filtering F(n, 2) by Toom and Cook, with the first n of the points 0, 1, -1, -2, and
 * infinity. The odd ones are one product each. For n = 4, with t = e_3 - e_1:
 *
 *     source     v_0 = e_0 - e_2 - t/2    v_1 = (2 e_1 + 3 e_2 + e_3)/6    v_-1 = (e_3 + e_2 - 2 e_1)/2
 *                v_-2 = -t/6    v_inf = e_4 - e_2 + 2 t
 *     weights    u_z = g_0 + z g_2    u_inf = g_2    u_odd = g_1
 *     results    y_i = sum over z of z^i u_z v_z + u_inf v_inf [i = n - 1] + u_odd o_i
 *
 * Weights do not depend on n. The way back and the weight gradient go by the transposes. */
#include "nn/conv/phases_kernels.h"

#include "base/cpu.h"
#include "base/simd.h"

#if defined(__AVX2__) && defined(__FMA__)
enum { SIDE = PHASES_WIDE, LANES = VECTOR_BYTES / sizeof(float), RUN = 16 };
static const float THIRD = 1 / 3.0F, SIXTH = 1 / 6.0F;

/* ---- along one side; n is a constant at each call ---- */

typedef void line(size_t n, vf32 *out, const vf32 *in);

INLINE void source_line(size_t n, vf32 *v, const vf32 *d)
{
    if (n == 2) {
        v[0] = d[0] - d[2];
        v[1] = d[2];
        v[2] = d[4] - d[2];
    } else if (n == 3) {
        v[0] = d[0] - d[4];
        v[1] = .5F * (d[4] + d[2]);
        v[2] = .5F * (d[4] - d[2]);
        v[3] = d[6] - d[2];
    } else {
        vf32 t = d[6] - d[2];
        v[0] = f32_fnma(f32_all(.5F), t, d[0] - d[4]);
        v[1] = f32_fma(f32_all(THIRD), d[2], f32_fma(f32_all(SIXTH), d[6], .5F * d[4]));
        v[2] = f32_fma(f32_all(.5F), d[6] + d[4], -d[2]);
        v[3] = -SIXTH * t;
        v[4] = f32_fma(f32_all(2), t, d[8] - d[4]);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        v[n + 1 + i] = d[2 * i + 1];
}

INLINE void back_line(size_t n, vf32 *d, const vf32 *v)
{
    const vf32 half = f32_all(.5F);
    d[0] = v[0];
    d[2 * n] = v[n];
    if (n == 2)
        d[2] = v[1] - (v[0] + v[2]);
    else if (n == 3) {
        d[2] = f32_fma(half, v[1] - v[2], -v[3]);
        d[4] = f32_fma(half, v[1] + v[2], -v[0]);
    } else if (n == 4) {
        d[2] = f32_fma(half, v[0], f32_fma(f32_all(THIRD), v[1], f32_fma(f32_all(SIXTH), v[3], -v[2]))) -
               2 * v[4];
        d[4] = f32_fma(half, v[1] + v[2], -(v[0] + v[4]));
        d[6] = f32_fma(half, v[2] - v[0], f32_fma(f32_all(SIXTH), v[1] - v[3], 2 * v[4]));
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        d[2 * i + 1] = v[n + 1 + i];
}

INLINE void result_line(size_t n, vf32 *y, const vf32 *m)
{
    const vf32 *odd = m + n + 1;
    if (n == 2) {
        y[0] = m[0] + m[1] + odd[0];
        y[1] = m[1] + m[2] + odd[1];
    } else {
        vf32 sum = m[1] + m[2], gap = m[1] - m[2], z = {0};
        if (n == 4)
            z = m[3];
        y[0] = m[0] + (sum + z) + odd[0];
        y[1] = f32_fnma(f32_all(2), z, gap) + odd[1];
        y[2] = f32_fma(f32_all(4), z, sum) + odd[2];
        if (n == 3)
            y[2] += m[3];
        else
            y[3] = f32_fnma(f32_all(8), z, gap) + m[4] + odd[3];
    }
}

INLINE void spread_line(size_t n, vf32 *m, const vf32 *y)
{
    m[0] = y[0];
    m[n] = y[n - 1];
    if (n == 2)
        m[1] = y[0] + y[1];
    else {
        vf32 even = y[0] + y[2], odd = y[1];
        if (n == 4)
            odd += y[3];
        m[1] = even + odd;
        m[2] = even - odd;
    }
    if (n == 4)
        m[3] = f32_fma(f32_all(4), f32_fnma(f32_all(2), y[3], y[2]), f32_fnma(f32_all(2), y[1], y[0]));
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        m[n + 1 + i] = y[i];
}

/* ---- tiles ---- */

/* A tile of an image. */
struct tile {
    const struct phases_images *images;
    size_t down, across;    /* results */
    float *points, *pixels; /* pixels: of the tile's first pixel or result, perhaps outside the image */
    const float *mask, *bias;
    size_t row, column;            /* floats from a pixel to the next one */
    uint32_t rows_in, columns_in;  /* bit i: pixel i is in the image */
    bool whole;                    /* all of them */
    bool add_row, add_column;      /* to the first one, which is the last one of the tile before */
    uint32_t place[PHASES_PLACES]; /* of the points: floats from `points` on */
};

typedef vf32 get(const struct tile *t, size_t i, size_t j, size_t c);
typedef void put(const struct tile *t, size_t i, size_t j, size_t c, vf32 x);

INLINE vf32 get_point(const struct tile *t, size_t i, size_t j, size_t c)
{
    return f32_load(t->points + t->place[i * SIDE + j] + c);
}

INLINE void put_point(const struct tile *t, size_t i, size_t j, size_t c, vf32 x)
{
    f32_store(t->points + t->place[i * SIDE + j] + c, x);
}

INLINE bool is_inside(const struct tile *t, size_t i, size_t j)
{
    return (t->rows_in >> i & t->columns_in >> j & 1) != 0;
}

INLINE vf32 get_whole(const struct tile *t, size_t i, size_t j, size_t c)
{
    return f32_load(t->pixels + i * t->row + j * t->column + c);
}

INLINE vf32 get_source(const struct tile *t, size_t i, size_t j, size_t c)
{
    vf32 x = {0};
    if (is_inside(t, i, j))
        x = f32_load(t->pixels + i * t->row + j * t->column + c);
    return x;
}

INLINE void put_whole(const struct tile *t, size_t i, size_t j, size_t c, vf32 x)
{
    size_t at = i * t->row + j * t->column + c;
    if (t->mask)
        x = (vf32)((vu32)x & (vu32)(f32_load(t->mask + at) > 0));
    if ((i == 0 && t->add_row) || (j == 0 && t->add_column))
        x += f32_load(t->pixels + at);
    f32_store(t->pixels + at, x);
}

INLINE void put_source(const struct tile *t, size_t i, size_t j, size_t c, vf32 x)
{
    if (is_inside(t, i, j))
        put_whole(t, i, j, c, x);
}

INLINE void put_result(const struct tile *t, size_t i, size_t j, size_t c, vf32 x)
{
    if (t->bias)
        x += f32_load(t->bias + c);
    if (t->images->relu)
        x = f32_larger(x, (vf32){0});
    f32_store(t->pixels + i * t->row + j * t->column + c, x);
}

/* n values of a row become m. */
INLINE void along_rows(size_t tile, size_t n, size_t m, size_t rows, vf32 *half, const struct tile *t,
                       size_t c, line *l, get *from)
{
    for (size_t i = 0; i < rows; i++) {
        vf32 in[SIDE], out[SIDE];
#pragma GCC unroll 9
        for (size_t j = 0; j < n; j++)
            in[j] = from(t, i, j, c);
        l(tile, out, in);
#pragma GCC unroll 9
        for (size_t j = 0; j < m; j++)
            half[i * SIDE + j] = out[j];
    }
}

INLINE void along_columns(size_t tile, size_t n, size_t m, size_t columns, const vf32 *half,
                          const struct tile *t, size_t c, line *l, put *to)
{
    for (size_t j = 0; j < columns; j++) {
        vf32 in[SIDE], out[SIDE];
#pragma GCC unroll 9
        for (size_t i = 0; i < n; i++)
            in[i] = half[i * SIDE + j];
        l(tile, out, in);
#pragma GCC unroll 9
        for (size_t i = 0; i < m; i++)
            to(t, i, j, c, out[i]);
    }
}

/* Pixels or points of n results. */
INLINE size_t phases_kernel_extent(size_t n, bool wide)
{
    return wide ? 2 * n + 1 : n;
}

/* wide_in, wide_out: values are those of sources or points, not of results. */
INLINE void phases_kernel_change(const struct tile *t, size_t c, line *l, get *from, bool wide_in, put *to,
                                 bool wide_out)
{
    vf32 half[SIDE * SIDE];
    const size_t rows = phases_kernel_extent(t->down, wide_in),
                 columns = phases_kernel_extent(t->across, wide_out);
#define ROWS(n)                                                                                              \
    along_rows(n, phases_kernel_extent(n, wide_in), phases_kernel_extent(n, wide_out), rows, half, t, c, l,  \
               from)
#define COLUMNS(n)                                                                                           \
    along_columns(n, phases_kernel_extent(n, wide_in), phases_kernel_extent(n, wide_out), columns, half, t,  \
                  c, l, to)
    if (t->across == 4)
        ROWS(4);
    else if (t->across == 3)
        ROWS(3);
    else
        ROWS(2);
    if (t->down == 4)
        COLUMNS(4);
    else if (t->down == 3)
        COLUMNS(3);
    else
        COLUMNS(2);
#undef ROWS
#undef COLUMNS
}

/* Which of the pixels that a tile reads, from pixel `first` - pad on, there are. */
static uint32_t phases_kernel_inside(const struct phases_axis *a, size_t first)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < SIDE; i++)
        if (first + i >= a->pad && first + i - a->pad < a->pixels)
            bits |= 1U << i;
    return bits;
}

INLINE void set_places(struct tile *t, const struct phases_place *p, size_t image, size_t panel)
{
    for (size_t i = 0; i < PHASES_PLACES; i++)
        t->place[i] = (p->first[i] + (uint32_t)image * p->step[i]) * (uint32_t)panel;
}

/* `source`: the images are sources, else results. */
static void set_tile(struct tile *t, const struct phases_points *points, const struct phases_images *g,
                     const struct phases_part *part, size_t down, size_t across, bool source)
{
    const struct phases_axis *h = &g->down, *w = &g->across;
    size_t y = phases_start(h, down), x = phases_start(w, across), height = source ? h->pixels : h->results,
           width = source ? w->pixels : w->results, step = source ? 2 : 1,
           first = part->first * points->panel;
    ptrdiff_t row = (ptrdiff_t)(part->from * height + step * y) - (ptrdiff_t)(source ? h->pad : 0),
              column = (ptrdiff_t)(step * x) - (ptrdiff_t)(source ? w->pad : 0),
              at = (row * (ptrdiff_t)width + column) * (ptrdiff_t)g->channels + (ptrdiff_t)first;
    t->images = g;
    t->down = phases_size(h, down), t->across = phases_size(w, across);
    t->points = points->at + first * points->rows;
    t->pixels = g->at + at;
    t->mask = g->mask ? g->mask + at : NULL;
    t->bias = g->bias ? g->bias + first : NULL;
    t->row = width * g->channels, t->column = g->channels;
    t->rows_in = phases_kernel_inside(h, 2 * y), t->columns_in = phases_kernel_inside(w, 2 * x);
    t->whole =
        (~t->rows_in & ((2U << 2 * t->down) - 1)) == 0 && (~t->columns_in & ((2U << 2 * t->across) - 1)) == 0;
    t->add_row = down > 0, t->add_column = across > 0;
    set_places(t, points->place + down * w->tiles + across, part->to, points->panel);
}

static void next_panel(struct tile *t, const struct phases_points *points)
{
    t->points += points->rows * points->panel;
    t->pixels += points->panel;
    t->mask = t->mask ? t->mask + points->panel : NULL;
    t->bias = t->bias ? t->bias + points->panel : NULL;
}

typedef void tile_change(const struct tile *t, size_t c);

INLINE void each_tile(const struct phases_points *points, const struct phases_images *g,
                      const struct phases_part *part, bool source, tile_change *body)
{
    for (size_t i = 0; i < g->down.tiles; i++)
        for (size_t j = 0; j < g->across.tiles; j++) {
            struct tile t;
            set_tile(&t, points, g, part, i, j, source);
            for (size_t p = part->first; p < part->end; p++, next_panel(&t, points))
                for (size_t c = 0; c < points->panel; c += LANES)
                    body(&t, c);
        }
}

INLINE void change_source(const struct tile *t, size_t c)
{
    if (t->whole)
        phases_kernel_change(t, c, source_line, get_whole, true, put_point, true);
    else
        phases_kernel_change(t, c, source_line, get_source, true, put_point, true);
}

INLINE void change_to_result(const struct tile *t, size_t c)
{
    phases_kernel_change(t, c, result_line, get_point, true, put_result, false);
}

INLINE void change_result(const struct tile *t, size_t c)
{
    phases_kernel_change(t, c, spread_line, get_whole, false, put_point, true);
}

INLINE void change_to_source(const struct tile *t, size_t c)
{
    if (t->whole)
        phases_kernel_change(t, c, back_line, get_point, true, put_whole, true);
    else
        phases_kernel_change(t, c, back_line, get_point, true, put_source, true);
}

static void from_source(const struct phases_points *points, const struct phases_images *images,
                        const struct phases_part *part)
{
    each_tile(points, images, part, true, change_source);
}

static void to_result(const struct phases_points *points, const struct phases_images *images,
                      const struct phases_part *part)
{
    each_tile(points, images, part, false, change_to_result);
}

static void from_result(const struct phases_points *points, const struct phases_images *images,
                        const struct phases_part *part)
{
    each_tile(points, images, part, false, change_result);
}

/* Pixels behind the last one that a result reads. */
static void clear_rest(const struct phases_images *g, size_t image, size_t first, size_t channels)
{
    const struct phases_axis *h = &g->down, *w = &g->across;
    size_t down = 2 * h->results + 1 - h->pad, across = 2 * w->results + 1 - w->pad;
    for (size_t y = 0; y < h->pixels; y++)
        for (size_t x = y < down ? across : 0; x < w->pixels; x++)
            memset(g->at + ((image * h->pixels + y) * w->pixels + x) * g->channels + first, 0,
                   channels * sizeof *g->at);
}

static void to_source(const struct phases_points *points, const struct phases_images *images,
                      const struct phases_part *part)
{
    each_tile(points, images, part, true, change_to_source);
    clear_rest(images, part->from, part->first * points->panel, (part->end - part->first) * points->panel);
}

/* ---- weights ---- */

INLINE void weights_line(vf32 *u, const vf32 *g)
{
    u[0] = g[0];
    u[1] = g[0] + g[2];
    u[2] = g[0] - g[2];
    u[3] = f32_fnma(f32_all(2), g[2], g[0]);
    u[4] = g[2];
    u[5] = g[1];
}

INLINE void weights_back_line(vf32 *g, const vf32 *u)
{
    g[0] = u[0] + (u[1] + u[2]) + u[3];
    g[1] = u[5];
    g[2] = f32_fnma(f32_all(2), u[3], u[1] - u[2]) + u[4];
}

/* 3x3 vectors at `tap` floats from each other. */
INLINE void weights_to_points(float *points, size_t plane, const float *weights, size_t tap)
{
    vf32 half[3][PHASES_SORTS];
    for (size_t y = 0; y < 3; y++) {
        const float *w = weights + 3 * y * tap;
        weights_line(half[y], (vf32[3]){f32_load(w), f32_load(w + tap), f32_load(w + 2 * tap)});
    }
    for (size_t j = 0; j < PHASES_SORTS; j++) {
        vf32 u[PHASES_SORTS];
        weights_line(u, (vf32[3]){half[0][j], half[1][j], half[2][j]});
        for (size_t i = 0; i < PHASES_SORTS; i++)
            f32_store(points + (i * PHASES_SORTS + j) * plane, u[i]);
    }
}

/* Sixteen rows of columns that lie far apart, each with its rows side by side: a line of the cache is read at a time. */
static void from_weights(float *points, size_t plane, size_t stride, const float *weights, size_t column,
                         size_t row, size_t tap, size_t depth)
{
    float turned[RUN][9][RUN];
    for (size_t k = 0; k < depth; k += RUN) {
        for (size_t t = 0; row == 1 && t < 9; t++)
            for (size_t c = 0; c < RUN; c++)
                for (size_t i = 0; i < RUN; i++)
                    turned[i][t][c] = weights[c * column + k + i + t * tap];
        for (size_t i = 0; i < RUN; i++)
            for (size_t c = 0; c < RUN; c += LANES)
                if (row == 1)
                    weights_to_points(points + (k + i) * stride + c, plane, turned[i][0] + c, RUN);
                else
                    weights_to_points(points + (k + i) * stride + c, plane, weights + (k + i) * row + c, tap);
    }
}

static void to_weights(float *weights, size_t tap, const float *points, size_t plane)
{
    for (size_t c = 0; c < RUN; c += LANES) {
        vf32 half[3][PHASES_SORTS];
        for (size_t j = 0; j < PHASES_SORTS; j++) {
            vf32 u[PHASES_SORTS], g[3];
            for (size_t i = 0; i < PHASES_SORTS; i++)
                u[i] = f32_load(points + (i * PHASES_SORTS + j) * plane + c);
            weights_back_line(g, u);
            for (size_t y = 0; y < 3; y++)
                half[y][j] = g[y];
        }
        for (size_t y = 0; y < 3; y++) {
            vf32 g[3];
            weights_back_line(g, half[y]);
            for (size_t x = 0; x < 3; x++)
                f32_store(weights + (3 * y + x) * tap + c, g[x]);
        }
    }
}

extern const struct phases_kernels ISA_NAME(phases_kernels);
const struct phases_kernels ISA_NAME(phases_kernels) = {.from_source = from_source,
                                                        .to_result = to_result,
                                                        .from_result = from_result,
                                                        .to_source = to_source,
                                                        .from_weights = from_weights,
                                                        .to_weights = to_weights};

#else

extern const struct phases_kernels ISA_NAME(phases_kernels);
const struct phases_kernels ISA_NAME(phases_kernels) = {0};

#endif
