/* autotune.h - what a training computes with: the meaning of "auto" for dtype and backend.
 *
 * Where either is "auto", two steps of each candidate are timed before the first step: f32 by direct sums, f32 by minimal
 * filtering, bf16. In this order, from fine to coarse rounding, a candidate is taken only if it is at least 10 % faster
 * than what it replaces. Gradients of single records (DP-SGD) choose among f32.
 *
 * Times are remembered in $SOTTO_CACHE_DIR/autotune (else $XDG_CACHE_HOME/sotto/autotune, else
 * ~/.cache/sotto/autotune): the same training on the same machine chooses the same again. Without a folder that can be
 * written to, times are measured in every run. A run of fewer than 100 steps, or of fewer than 10^10 multiplications in
 * its forward passes, is not measured and takes the first candidate. A run with a checkpoint goes on with what the
 * checkpoint states. For results that never depend on a time, state both dtype and backend. */
#ifndef SOTTO_AUTOTUNE_H
#define SOTTO_AUTOTUNE_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_AUTOTUNE_CANDIDATES = 4, SOTTO_AUTOTUNE_LINE = 320 };

struct sotto_autotune_rate {
    char backend[16], dtype[8];
    /** Records, in forward and backward passes alone. */
    double per_second;
};
/** Plain data without pointers. */
struct sotto_autotune {
    /** What the run computes with: names, never "auto". */
    char backend[16], dtype[8];
    /** How it was decided:
     *    "stated"      by the caller
     *    "only"        this network has no other choice on this machine
     *    "short"       the run is not worth measuring
     *    "checkpoint"  as the checkpoint states
     *    "measured"    in this run
     *    "remembered"  from another run */
    char how[16];
    /** Rates in `measured`; 0 unless measured or remembered. */
    size_t count;
    struct sotto_autotune_rate measured[SOTTO_AUTOTUNE_CANDIDATES];
};
/** In:  unit  of what is counted: "images", ...
 *  Out: out   "f32 on winograd (measured, images/s: dnnl f32 5102, winograd f32 6598, dnnl bf16 5961, ...)" */
SOTTO_API void sotto_autotune_line(char out[SOTTO_AUTOTUNE_LINE], const struct sotto_autotune *a,
                                   const char *unit);

#ifdef __cplusplus
}
#endif
#endif
