#include "nn/conv/point_kernels.h"

#include "base/cpu.h"
#include "nn/conv/tile.h"

#if defined(__AVX2__) && defined(__FMA__)
enum { LANES = TILE_LANES };

/* Sums of a tile: 24 of 32 registers, or 12 of 16. No panel of one vector, where it can be avoided: so few sums would wait
 * for each other. */
#ifdef __AVX512F__
enum { ROWS = 8, ROWS_WIDE = 8 };

static size_t panel_vectors(size_t left)
{
    return left == 4 ? 2 : left > 3 ? 3 : left;
}

INLINE vf32 keep_where_positive(vf32 x, vf32 y)
{
    return (vf32)_mm512_maskz_mov_ps(_mm512_cmp_ps_mask((__m512)y, _mm512_setzero_ps(), _CMP_GT_OQ),
                                     (__m512)x);
}

#else
enum { ROWS = 6, ROWS_WIDE = 4 };

static size_t panel_vectors(size_t left)
{
    return left == 3 ? 3 : left > 2 ? 2 : left;
}

INLINE vf32 keep_where_positive(vf32 x, vf32 y)
{
    return (vf32)((vu32)x & (vu32)(y > 0));
}

#endif

static size_t panel_of(size_t columns_left)
{
    return panel_vectors((columns_left + LANES - 1) / LANES) * LANES;
}

/* ---- tiles ---- */

/* `n` lanes of a vector; a constant where it is whole. */
INLINE void point_kernel_store(float *to, vf32 value, size_t n)
{
    if (n == LANES)
        f32_store(to, value);
    else
        tile_store(to, value, n);
}

INLINE vf32 point_kernel_load(const float *from, size_t n)
{
    return n == LANES ? f32_load(from) : tile_load(from, n);
}

/* The value at `at` of out, in column `column`. */
INLINE void point_kernel_finish(const struct point_product *p, vf32 value, size_t at, size_t column, size_t n)
{
    if (p->bias)
        value += point_kernel_load(p->bias + column, n);
    if (p->relu)
        value = f32_larger(value, (vf32){0});
    if (p->mask)
        value = keep_where_positive(value, point_kernel_load(p->mask + at, n));
    if (p->add)
        value += point_kernel_load(p->out + at, n);
    point_kernel_store(p->out + at, value, n);
}

enum { LINE = 16, AHEAD = 1024 }; /* floats of a line of the cache; fetched at least so many ahead */

INLINE void no_sums(vf32 sum[][TILE_VECTORS], size_t rows, size_t vectors)
{
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            sum[r][v] = (vf32){0};
}

INLINE void store_sums(const struct point_product *p, vf32 sum[][TILE_VECTORS], size_t rows, size_t vectors,
                       size_t last, size_t row, size_t column)
{
    const bool plain = !p->bias && !p->relu && !p->mask && !p->add;
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++) {
            const size_t n = v + 1 == vectors ? last : LANES,
                         at = (row + r) * p->out_row + column + v * LANES;
            if (plain)
                point_kernel_store(p->out + at, sum[r][v], n);
            else
                point_kernel_finish(p, sum[r][v], at, column + v * LANES, n);
        }
}

/* ---- products with packed weights ---- */

/* A tile's part of the rows of `left` that are read next; rows lie one behind the other. */
INLINE void fetch_rows(const struct point_product *p, size_t rows, size_t row, size_t k)
{
    const size_t next = rows * p->left_row;
    const float *at = p->left + row * p->left_row + (next < AHEAD ? AHEAD : next) + k * rows;
    for (size_t r = 0; r < rows; r++)
        __builtin_prefetch(at + r * LINE);
}

/* What is written when the tile is done. */
INLINE void fetch_results(const struct point_product *p, size_t rows, size_t vectors, size_t row,
                          size_t column)
{
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++)
            __builtin_prefetch(p->out + (row + r) * p->out_row + column + v * LANES, 1);
}

/* `rows`, `vectors` and, where it is LANES, `last` (lanes of the last vector) are constants at each call. */
INLINE void point_kernel_tile(const struct point_product *p, size_t rows, size_t vectors, size_t last,
                              size_t row, size_t column)
{
    vf32 sum[8][TILE_VECTORS];
    struct tile_factors f = {.left = p->left + row * p->left_row,
                             .right = p->right + column * p->depth,
                             .left_row = p->left_row,
                             .left_depth = 1,
                             .right_row = vectors * LANES,
                             .last = LANES};
    no_sums(sum, rows, vectors);
    fetch_results(p, rows, vectors, row, column);
    for (size_t k = 0; k < p->depth; k += LINE, f.left += LINE, f.right += LINE * vectors * LANES) {
        f.depth = p->depth - k < LINE ? p->depth - k : LINE;
        if (column == 0)
            fetch_rows(p, rows, row, k);
        tile_multiply(sum, rows, vectors, f);
    }
    store_sums(p, sum, rows, vectors, last, row, column);
}

INLINE void point_kernel_panel(const struct point_product *p, size_t rows, size_t vectors, size_t last,
                               size_t column)
{
    size_t r = 0;
    for (; r + rows <= p->rows; r += rows)
        point_kernel_tile(p, rows, vectors, last, r, column);
    for (; r + 2 <= p->rows; r += 2)
        point_kernel_tile(p, 2, vectors, last, r, column);
    if (r < p->rows)
        point_kernel_tile(p, 1, vectors, last, r, column);
}

typedef void panel_function(const struct point_product *p, size_t last, size_t column);
#define PANEL(name, rows, vectors)                                                                           \
    static void name(const struct point_product *p, size_t last, size_t column)                              \
    {                                                                                                        \
        (void)last;                                                                                          \
        point_kernel_panel(p, rows, vectors, LANES, column);                                                 \
    }                                                                                                        \
    static void name##_part(const struct point_product *p, size_t last, size_t column)                       \
    {                                                                                                        \
        point_kernel_panel(p, rows, vectors, last, column);                                                  \
    }
PANEL(panel_1, ROWS, 1)
PANEL(panel_2, ROWS, 2)
PANEL(panel_3, ROWS_WIDE, 3)

/* Lanes of the last vector of a panel that are there. */
static size_t last_of(const struct point_product *p, size_t column, size_t width)
{
    return column + width > p->columns ? LANES - (column + width - p->columns) : LANES;
}

static void point_kernel_multiply(const struct point_product *p)
{
    static panel_function *const kinds[2][3] = {{panel_1, panel_2, panel_3},
                                                {panel_1_part, panel_2_part, panel_3_part}};
    for (size_t c = 0, width; c < p->columns; c += width) {
        width = panel_of(p->columns - c);
        size_t last = last_of(p, c, width);
        kinds[last < LANES][width / LANES - 1](p, last, c);
    }
}

/* ---- products over rows ---- */

/* From these rows on it pays to copy a panel of columns, from these columns on, tiles of rows. */
enum { COPIED_ROWS = 8 * ROWS, COPIED_COLUMNS = 4 * LANES };

/* A panel of a turned product. */
struct turned {
    const struct point_product *p;
    const float *right, *copied; /* of the columns; the rows by ROWS (rows / ROWS, depth, ROWS), or NULL */
    size_t right_row, column, last;
};

/* What is fetched while products run: `each` lines a piece, first those of one run, then those of another. */
struct ahead {
    const float *at, *other;
    size_t lines, other_lines, each;
};

INLINE void point_kernel_fetch(struct ahead *a)
{
    for (size_t i = 0; i < a->each; i++) {
        if (a->lines == 0)
            *a = (struct ahead){a->other, a->other, a->other_lines, 0, a->other_lines ? a->each : 0};
        if (a->lines == 0)
            return;
        __builtin_prefetch(a->at, 0, 2);
        a->lines--, a->at += LINE;
    }
}

static struct ahead ahead_of(const struct point_product *p)
{
    size_t pieces = (p->depth + LINE - 1) / LINE * ((p->rows + ROWS - 1) / ROWS) *
                    ((p->columns + 3 * LANES - 1) / (3 * LANES)),
           right = p->next * p->right_row / LINE, left = p->next_left ? p->next * p->left_row / LINE : 0;
    return (struct ahead){p->right + p->depth * p->right_row, p->left + p->depth * p->left_row, right, left,
                          (right + left) / pieces + 1};
}

/* Constants as in point_kernel_tile(). */
INLINE void turned_tile(const struct turned *t, struct ahead *a, size_t rows, size_t vectors, size_t last,
                        size_t row)
{
    const struct point_product *p = t->p;
    const bool copied = rows == ROWS && t->copied;
    vf32 sum[8][TILE_VECTORS];
    struct tile_factors f = {.left = copied ? t->copied + row * p->depth : p->left + row,
                             .right = t->right,
                             .left_row = 1,
                             .left_depth = copied ? ROWS : p->left_row,
                             .right_row = t->right_row,
                             .last = last};
    no_sums(sum, rows, vectors);
    for (size_t k = 0; k < p->depth; k += LINE) {
        f.depth = p->depth - k < LINE ? p->depth - k : LINE;
        point_kernel_fetch(a);
        tile_multiply(sum, rows, vectors, f);
        f.left += LINE * f.left_depth, f.right += LINE * f.right_row;
    }
    store_sums(p, sum, rows, vectors, last, row, t->column);
}

INLINE void turned_panel(const struct turned *t, struct ahead *a, size_t rows, size_t vectors, size_t last)
{
    size_t r = 0;
    for (; r + rows <= t->p->rows; r += rows)
        turned_tile(t, a, rows, vectors, last, r);
    for (; r + 2 <= t->p->rows; r += 2)
        turned_tile(t, a, 2, vectors, last, r);
    if (r < t->p->rows)
        turned_tile(t, a, 1, vectors, last, r);
}

typedef void turned_function(const struct turned *t, struct ahead *a);
#define TURNED(name, rows, vectors)                                                                          \
    static void name(const struct turned *t, struct ahead *a)                                                \
    {                                                                                                        \
        turned_panel(t, a, rows, vectors, LANES);                                                            \
    }                                                                                                        \
    static void name##_part(const struct turned *t, struct ahead *a)                                         \
    {                                                                                                        \
        turned_panel(t, a, rows, vectors, t->last);                                                          \
    }
TURNED(turned_1, ROWS, 1)
TURNED(turned_2, ROWS, 2)
TURNED(turned_3, ROWS_WIDE, 3)

/* (depth, count) of rows `row` floats long; count is a constant at each call. */
INLINE void point_kernel_copy(float *to, const float *from, size_t row, size_t depth, size_t count)
{
    for (size_t k = 0; k < depth; k++)
        memcpy(to + k * count, from + k * row, count * sizeof *to);
}

static void copy_panel(float *to, const float *from, size_t row, size_t depth, size_t width)
{
    if (width == 3 * LANES)
        point_kernel_copy(to, from, row, depth, 3 * LANES);
    else if (width == 2 * LANES)
        point_kernel_copy(to, from, row, depth, 2 * LANES);
    else
        point_kernel_copy(to, from, row, depth, LANES);
}

static void multiply_turned(const struct point_product *p)
{
    static turned_function *const kinds[2][3] = {{turned_1, turned_2, turned_3},
                                                 {turned_1_part, turned_2_part, turned_3_part}};
    const bool copied = p->columns >= COPIED_COLUMNS;
    struct ahead a = ahead_of(p);
    float *panel = p->room, *rows = p->room + p->depth * 3 * LANES;
    for (size_t r = 0; copied && r + ROWS <= p->rows; r += ROWS)
        point_kernel_copy(rows + r * p->depth, p->left + r, p->left_row, p->depth, ROWS);
    for (size_t c = 0, width; c < p->columns; c += width) {
        width = panel_of(p->columns - c);
        struct turned t = {p, p->right + c, copied ? rows : NULL, p->right_row, c, last_of(p, c, width)};
        if (p->rows >= COPIED_ROWS && t.last == LANES) {
            copy_panel(panel, t.right, t.right_row, p->depth, width);
            t.right = panel, t.right_row = width;
        }
        kinds[t.last < LANES][width / LANES - 1](&t, &a);
    }
}

/* ---- weights ---- */

static void point_kernel_pack(float *panels, size_t depth, size_t columns, const float *weights,
                              size_t column, size_t row, size_t first, size_t end)
{
    for (size_t c = 0, width; c < columns; c += width) {
        width = panel_of(columns - c);
        const size_t there = columns - c < width ? columns - c : width;
        float *to = panels + c * depth;
        for (size_t k = first; k < end && column == 1; k++)
            memcpy(to + k * width, weights + c + k * row, there * sizeof *to);
        for (size_t i = 0; i < there && column != 1; i++)
            for (size_t k = first; k < end; k++)
                to[k * width + i] = weights[(c + i) * column + k];
        for (size_t k = first; k < end && there < width; k++)
            memset(to + k * width + there, 0, (width - there) * sizeof *to);
    }
}

extern const struct point_kernels ISA_NAME(point_kernels);
const struct point_kernels ISA_NAME(point_kernels) = {
    .multiply = point_kernel_multiply, .multiply_turned = multiply_turned, .pack = point_kernel_pack};

#else

extern const struct point_kernels ISA_NAME(point_kernels);
const struct point_kernels ISA_NAME(point_kernels) = {0};

#endif
