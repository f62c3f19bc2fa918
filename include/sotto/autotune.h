/* autotune.h - what a training computes with, and how that was decided: what `auto` means for dtype and
 * backend.
 *
 * Where either is "auto", two steps of each candidate (f32 by direct sums, f32 by minimal filtering, bf16)
 * are timed before the first step. In this order, from fine to coarse rounding, each is taken only if it
 * is at least 10 % faster than what it replaces. Gradients of single records (DP-SGD) choose among f32.
 * The times are remembered in $SOTTO_CACHE_DIR/autotune (else $XDG_CACHE_HOME/sotto/autotune, else
 * ~/.cache/sotto/autotune), so the same training on the same machine chooses the same again; without a
 * folder that can be written to they are taken anew every time. A run of fewer than 100 steps, or of fewer
 * than 10^10 multiplications in its forward passes, is not worth it: it takes the first. A run that has a
 * checkpoint goes on with what the checkpoint states. For results that never depend on a time, state both. */
#ifndef SOTTO_AUTOTUNE_H
#define SOTTO_AUTOTUNE_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_AUTOTUNE_CANDIDATES = 4, SOTTO_AUTOTUNE_LINE = 320 };

struct sotto_autotune_rate {
    char backend[16], dtype[8];
    double per_second; /**< records, in forward and backward passes alone */
};
/** Plain data without pointers. */
struct sotto_autotune {
    char backend[16], dtype[8]; /**< what the run computes with: names, never "auto" */
    char how[16];               /**< "stated"; "only": there is nothing else for this network here; "short":
                                   not worth measuring; "checkpoint": as it states; "measured", or
                                   "remembered" from another run */
    size_t count;               /**< of the rates; 0 unless measured or remembered */
    struct sotto_autotune_rate measured[SOTTO_AUTOTUNE_CANDIDATES];
};
/** "f32 on winograd (measured, images/s: dnnl f32 5102, winograd f32 6598, dnnl bf16 5961)", with unit
 * "images". */
SOTTO_API void sotto_autotune_line(char out[SOTTO_AUTOTUNE_LINE], const struct sotto_autotune *a,
                                   const char *unit);

#ifdef __cplusplus
}
#endif
#endif
