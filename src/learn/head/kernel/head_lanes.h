/* head_lanes.h - one training step of many LINEAR heads at once: HEAD_PAD heads side by side are one vector.
 *
 * Column (g K + k) HEAD_PAD + lane of a (d + 1, groups K HEAD_PAD) weight matrix is class k of head g
 * HEAD_PAD + lane, so the logits of all heads are one product and the softmax runs over K with a head in each
 * lane. Heads share batches; they differ by the weight of each record (0: not in this head's data) and by one
 * replacement record each. A head's bits do not depend on the heads beside it; they are close to those of the
 * same head trained alone (head_block.h says how close), which takes its sums over all classes. */
#ifndef HEAD_KERNEL_HEAD_LANES_H
#define HEAD_KERNEL_HEAD_LANES_H

#include "head/kernel/head_kernels.h"

struct head_lanes {
    size_t groups, classes;
    struct head_layer layer;    /* weights and moments; in = d, out = ld = groups * classes * HEAD_PAD */
    struct head_layer relative; /* weights minus those of the last class, which is left out: ld = groups *
                                   (classes - 1) * HEAD_PAD; diff is value: changed in place */
    real *tile;                 /* (HEAD_TILE_ROWS, relative.ld) */
    real *weights;              /* (batch, groups * HEAD_PAD): 1 / records of this head's batch, or 0 */
    /* The record that only this head sees in this batch, summed after the common ones. */
    unsigned char *has_replacement; /* (groups): any lane of the group */
    real *replacement_x;            /* (groups, d, HEAD_PAD): 0 in lanes without */
    real *replacement_weights;      /* (groups * HEAD_PAD): 0 in lanes without */
    int64_t *replacement_y;         /* (groups * HEAD_PAD) */
    real *replacement_diff;         /* (groups, classes - 1, HEAD_PAD) */
};

struct head_lane_kernels {
    void (*step)(const struct head_lanes *lanes, const real *x, const int64_t *y, size_t rows,
                 const struct head_update *update);
};
const struct head_lane_kernels *head_lane_kernels_find(void);

#endif
