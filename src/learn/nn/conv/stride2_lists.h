/* stride2_lists.h - which pixels the products of conv_stride2.c read, forward and backward.
 *
 * Pixels of the output that have the same taps are in one list. Of a row, as many as can are in pairs of a left and a
 * right one; both start from the pair's middle sum and read differences of pixels instead of the outer columns of the
 * kernel. Differences of a block of images are (images, rows of the input, pairs, 2: left and right, channels). */
#ifndef NN_CONV_STRIDE2_LISTS_H
#define NN_CONV_STRIDE2_LISTS_H

#include "nn/backend.h"

enum { STRIDE2_WIDE = 3 /* columns of the kernel */, STRIDE2_ROWS_MAX = 16 /* of the kernel */ };
#define STRIDE2_NONE SIZE_MAX

/** Single pixels have a list for each set of columns of the kernel, as bits. */
enum stride2_kind {
    STRIDE2_MIDDLE,
    STRIDE2_LEFT,
    STRIDE2_RIGHT,
    STRIDE2_SINGLE,
    STRIDE2_KINDS = STRIDE2_SINGLE + 8
};
struct stride2_list {
    size_t rows;         /* pixels of an image */
    size_t room, filled; /* pixels of a block; those so far while the list is made */
    size_t taps, near;   /* from number `near` on they read differences */
    size_t *tap; /* (taps): of the kernel; or, after all of these, the sum of the outer two of a row */
    uint32_t *out_at,
        *in_at; /* (room), (taps, room): offsets of pixels; for middle sums, of a row of a panel */
};
/** All pixels that see the same rows of the kernel. */
struct stride2_group {
    unsigned mask; /* bit k: row k */
    struct stride2_list lists[STRIDE2_KINDS];
};
struct stride2_pass {
    const struct conv_desc *desc;
    bool back;
    struct nn_shape in, out;
    size_t pairs, first, reach; /* of a row; pair i is columns first + 2 i reach and reach further right */
    size_t column,
        step; /* where the first difference of a row starts, and how far apart its pixels are, in columns */
    size_t block;   /* images */
    size_t middles; /* most middle sums of a group, of an image */
    size_t count;
    struct stride2_group *groups; /* (count) */
    struct arena memory;
};
/** The pairs of a row, which are no memory yet. `desc` must stay. */
void stride2_pass_begin(struct stride2_pass *p, const struct conv_desc *desc, bool back);
/** Then the lists for `block` images. */
sotto_status stride2_pass_create(struct stride2_pass *p, size_t block);
void stride2_pass_clear(struct stride2_pass *p);
/** Values of the differences of one image. */
size_t stride2_far(const struct stride2_pass *p);
/** Where position x (column or row) of the output meets position k of the kernel, in an input of this length;
 * STRIDE2_NONE outside. */
size_t stride2_meets(const struct stride2_pass *p, size_t length, size_t x, size_t k);
/** Kind of column x of the output, and its pair. */
enum stride2_kind stride2_kind_of(const struct stride2_pass *p, size_t x, size_t *pair);
/** Offset of the left difference of a pair in row y of the input, in image n. */
size_t stride2_far_of(const struct stride2_pass *p, size_t n, size_t y, size_t pair);

#endif
