/* reference_kernel.h - the sums over one row of reference signals, for 16 targets at once.
 *
 * Each lane adds the models in their order and leaves its own target out, so a lane has the bits of a loop
 * over the other models. */
#ifndef AUDIT_SCORE_REFERENCE_KERNEL_H
#define AUDIT_SCORE_REFERENCE_KERNEL_H

#include "base/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REFERENCE_LANES = 16 };

struct reference_row {
    const double *signals;                    /* (models) */
    const uint8_t *trained;                   /* (models), 0 or 1; NULL: nowhere */
    size_t models, left_out[REFERENCE_LANES]; /* a lane's own target, rising; SIZE_MAX: none */
    const double *target; /* (REFERENCE_LANES): the targets' own signals; NULL: no ranks */
    bool probabilities;   /* to be summed too */
};
/* Index 0 of the first: OUT models. mean: the sum where there are no models, 0. */
struct reference_sums {
    double mean[2][REFERENCE_LANES], squares[2][REFERENCE_LANES], probability[2][REFERENCE_LANES],
        top[REFERENCE_LANES], below[REFERENCE_LANES];
    uint32_t count[2][REFERENCE_LANES];
};
typedef void reference_kernel(struct reference_sums *out, const struct reference_row *row);
reference_kernel *reference_kernel_best(void);
struct reference_summary;
/* One lane of the sums over `row`. */
struct reference_summary reference_summary_lane(const struct reference_sums *s,
                                                const struct reference_row *row, int lane);

#endif
