/* phases_kernels.h - the inner loops of conv_phases.c: transforms of images and weights to points and back. Compiled per
 * instruction set. Products of points are those of winograd_kernels.h.
 *
 * A side of an image is cut into tiles of n = 2 to 4 results, of which one reads 2n + 1 pixels, the last being the next
 * one's first. They become 2n + 1 points: n at numbers, one at infinity, and the n odd pixels as they are. Points that are
 * multiplied by the same of the 6 sorts of weights, along both sides, are one class: a matrix (rows, channels). Its rows
 * are those of the first image of a block, then those of the second, and so on. */
#ifndef NN_CONV_PHASES_KERNELS_H
#define NN_CONV_PHASES_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PHASES_TILE = 4,
    PHASES_WIDE = 2 * PHASES_TILE + 1,
    PHASES_SORTS = PHASES_TILE + 2, /* at the numbers, at infinity, odd */
    PHASES_CLASSES = PHASES_SORTS * PHASES_SORTS
};

/** One side of the images of a convolution. */
struct phases_axis {
    size_t pixels, pad, results, tiles;
};
/** Results of tile t, and the first of them: as even as can be, the larger ones first. */
static inline size_t phases_size(const struct phases_axis *a, size_t t)
{
    return a->results / a->tiles + (t < a->results % a->tiles);
}
static inline size_t phases_start(const struct phases_axis *a, size_t t)
{
    size_t more = a->results % a->tiles;
    return t * (a->results / a->tiles) + (t < more ? t : more);
}
/** Points of a side. */
static inline size_t phases_points_of(const struct phases_axis *a)
{
    return 2 * a->results + a->tiles;
}

/** Where the points of a tile of image i lie: point (y, x) in row first + i * step of a panel, at number PHASES_WIDE y + x.
 * The rest of the arrays is for vectors. */
enum { PHASES_PLACES = (PHASES_WIDE * PHASES_WIDE + 15) / 16 * 16 };
struct phases_place {
    uint32_t first[PHASES_PLACES], step[PHASES_PLACES];
};
/** Points of a block of images: panels (rows, columns of a panel). */
struct phases_points {
    float *at;
    size_t rows, panel;
    const struct phases_place *place; /* (tiles down, tiles across) */
};
struct phases_images {
    float *at;
    struct phases_axis down, across;
    size_t channels;   /* of these images */
    const float *bias; /* (channels), or NULL */
    bool relu;
    const float *mask; /* as the images: 0 where it is not positive; or NULL */
};

/** Image `to` of a block is number `from` of all images; panels first to end - 1 of its channels. */
struct phases_part {
    size_t from, to, first, end;
};

/** All NULL where the CPU has no AVX2 and FMA. `images` of sources have the sides of the axes' pixels, those of results of
 * their results. */
struct phases_kernels {
    void (*from_source)(const struct phases_points *points, const struct phases_images *images,
                        const struct phases_part *part);
    void (*to_result)(const struct phases_points *points, const struct phases_images *images,
                      const struct phases_part *part);
    /** Their transposes. */
    void (*from_result)(const struct phases_points *points, const struct phases_images *images,
                        const struct phases_part *part);
    void (*to_source)(const struct phases_points *points, const struct phases_images *images,
                      const struct phases_part *part);
    /** points (36, depth, 16 columns, `stride` floats from a row to the next) of 3x3 weights: column c, row k and tap t
     * at weights[c * column + k * row + t * tap]; one of column and row is 1. depth is a multiple of 16. */
    void (*from_weights)(float *points, size_t plane, size_t stride, const float *weights, size_t column,
                         size_t row, size_t tap, size_t depth);
    /** The transpose: weights[t * tap], 16 of them side by side. */
    void (*to_weights)(float *weights, size_t tap, const float *points, size_t plane);
};
const struct phases_kernels *phases_kernels_best(void);

#endif
