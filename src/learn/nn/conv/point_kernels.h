/* point_kernels.h - the products of conv_point.c. Compiled per instruction set.
 *
 * Columns of weights lie in panels of some vectors, one panel after the other, the last vector filled up with zeros:
 * the panel from column c on begins at c * depth. How wide panels are is the kernels' own choice. */
#ifndef NN_CONV_POINT_KERNELS_H
#define NN_CONV_POINT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    POINT_VECTOR = 16, /* a row of packed weights is a multiple of so many columns */
    POINT_ROWS = 24,   /* of a block are best a multiple of this */
    POINT_ROOM = 48    /* columns of a panel at most */
};

/** out (rows, columns) = left (rows, depth) right (depth, columns), each value one chain by depth, whatever the level.
 *  Strides are those from a row to the next. */
struct point_product {
    float *out;
    const float *left, *right;
    size_t out_row, left_row, right_row;
    size_t rows, columns, depth;
    /* What is done to a value before it is stored; each may be absent. */
    const float *bias; /* (columns) */
    const float *mask; /* as out: 0 where it is not positive */
    bool relu, add;    /* add: to what out has */
    /* Of a turned product: depth of the next one, which reads on from this one's end and is fetched meanwhile, without its
     * `left` if that comes to the cache by itself; room for copies. */
    size_t next;
    bool next_left;
    float *room; /* (depth, POINT_ROOM + rows) */
};

/** All NULL where the CPU has no AVX2 and FMA. */
struct point_kernels {
    /** right is in panels (right_row is not read). */
    void (*multiply)(const struct point_product *p);
    /** The same for left (depth, rows), right (depth, columns) as they lie; left_row is then from a depth to the next.
     *  Neither mask nor bias. */
    void (*multiply_turned)(const struct point_product *p);
    /** Rows `first` to `end` - 1 of panels (depth, columns) from weights: column c, row k at weights[c * column + k *
     *  row]; one of column and row is 1. */
    void (*pack)(float *panels, size_t depth, size_t columns, const float *weights, size_t column, size_t row,
                 size_t first, size_t end);
};
const struct point_kernels *point_kernels_best(void);

#endif
