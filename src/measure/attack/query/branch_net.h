/* branch_net.h - the attack network of Nasr, Shokri and Houmansadr (2019): a stack of ReLU layers for each part of what is seen
 * of a record, and a trunk on the stacks' ends joined. */
#ifndef ATTACK_QUERY_BRANCH_NET_H
#define ATTACK_QUERY_BRANCH_NET_H

#include "base/cpu.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { BRANCH_MAX = 4, BRANCH_EPOCHS = 100 };
/* Columns of a part stand side by side; a part is width -> hidden -> 64, ReLU. */
struct branch {
    size_t width, hidden;
};
struct branch_table {
    struct branch part[BRANCH_MAX];
    size_t parts, n;
    const float *x;        /* (n, sum of the widths) */
    const uint8_t *member; /* (n) */
};
/* Log-odds of membership of rows (n, same columns) by a network that learnt from `train`: parts joined -> 128 -> 64 -> 1,
 * dropout .2 behind every hidden layer, Adam at 1e-3, batches of 64 with as many members as others, cross-entropy. One thread;
 * the same seed gives the same scores. EINVAL: members or others are missing; ENOMEM, ESTOPPED. */
sotto_status branch_net_scores(double *scores, const struct branch_table *train, const float *rows, size_t n,
                               size_t epochs, uint64_t seed, const struct sotto_context *ctx);

/* Its loops over weights. A layer's w and grad are (in + 1, out), the bias last. */
struct branch_update {
    float share, rate, keep1, keep2, epsilon; /* share: of the summed gradient in its mean */
};
struct branch_kernels {
    /* value += x w, without the bias. */
    void (*forward)(float *value, const float *x, const float *w, size_t in, size_t out);
    /* grad += (x, 1) diff'; below (in; may be NULL) = w diff. */
    void (*backward)(float *grad, float *below, const float *x, const float *w, const float *diff, size_t in,
                     size_t out);
    /* Adam; grad becomes 0. */
    void (*update)(float *w, float *grad, float *mean, float *square, size_t n,
                   const struct branch_update *u);
};

#endif
