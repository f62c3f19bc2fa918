/* winograd_kernels.h - the inner loops of conv_winograd.c: transforms of tiles, and products of what they
 * give. Compiled per instruction set.
 *
 * A tile of 4x4 results becomes 6x6 points. Each point has a matrix (rows, columns); rows are tiles (or
 * channels, for weights), columns channels. Its columns lie in panels of winograd_panel() columns, one panel
 * after the other, so that a product reads one run of memory, whatever the number of channels. */
#ifndef NN_CONV_WINOGRAD_KERNELS_H
#define NN_CONV_WINOGRAD_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

enum { WINOGRAD_TILE = 4, WINOGRAD_POINTS = 36, WINOGRAD_ROWS = 16, WINOGRAD_VECTOR = 16 };

/** A batch of images (height, width, channels) cut into tiles of 4x4, row by row; a multiple of 16
 * channels. */
struct winograd_tiles {
    size_t height, width, channels;
    size_t down, across; /* tiles */
    bool narrow;         /* the images are bf16, else f32; points always are f32 */
};
/** What is done to a result before it is stored; each may be absent. */
struct winograd_finish {
    const float *bias; /* (channels) */
    int relu;
    const void *mask; /* as the images: 0 where it is not positive */
};
struct winograd_points {
    float *at;
    size_t plane; /* floats from a point's matrix to the next one's */
    size_t rows;  /* that a panel has room for */
};
/** Columns of a panel: 64, 32 or 16, at most `most` of them. */
static inline size_t winograd_panel(size_t channels, size_t most)
{
    size_t columns = most;
    while (channels % columns != 0)
        columns /= 2;
    return columns;
}
/** Six points of weights: those of one line of the 6x6. */
struct winograd_line {
    float *points; /* (6, depth, columns), `plane` floats from a point to the next one's */
    size_t plane, depth, columns, line; /* multiples of 16; line: 0 to 5 */
    /* Column c, row k and tap t at weights[c * column + k * row + t * tap]; one of column and row is 1; tap < 0 turns the
     * kernel round. */
    const float *weights;
    size_t column, row;
    ptrdiff_t tap;
};
/** One panel of results. */
struct winograd_product {
    float *out; /* (rows, columns); columns: 16, 32 or 64 */
    const float *left, *right;
    size_t rows, columns;
    size_t depth, panels;                    /* of each of the panels of `left` */
    size_t left_row, left_depth, left_panel; /* strides of `left`; `right` is (panels * depth, columns) */
    int add;
};

/** All NULL where the CPU has no AVX2 and FMA. */
struct winograd_kernels {
    bool narrow;  /* images in bf16, too: AVX-512 */
    size_t panel; /* the most columns of one: 64, or 16 where registers are few */
    /** points (from row 0 on) = B' d B of the 6x6 values around tiles first, first + 1, ...; 0 outside the
     * image. */
    void (*from_source)(const struct winograd_points *points, const void *images,
                        const struct winograd_tiles *tiles, size_t first, size_t count);
    /** images = A' m A of the same tiles. */
    void (*to_result)(void *images, const struct winograd_points *points, const struct winograd_tiles *tiles,
                      size_t first, size_t count, const struct winograd_finish *finish);
    /** The transpose of to_result: points = A y A'. */
    void (*from_tiles)(const struct winograd_points *points, const void *images,
                       const struct winograd_tiles *tiles, size_t first, size_t count);
    /** points = G w G' of 3x3 weights, of them one line. */
    void (*from_weights)(const struct winograd_line *line);
    /** The transpose: weights[t * tap] (16 of them side by side; t is 0 to 8, tap may be negative) = G' m G. */
    void (*to_weights)(float *weights, ptrdiff_t tap, const float *points, size_t plane);
    /** out = left right, or += if add. Whole groups of WINOGRAD_ROWS rows are written: rows is rounded up. */
    void (*multiply)(const struct winograd_product *product);
};
const struct winograd_kernels *winograd_kernels_best(void);

#endif
