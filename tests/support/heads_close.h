/* heads_close.h - compares the parameters of two heads. */
#ifndef TESTS_HEADS_CLOSE_H
#define TESTS_HEADS_CLOSE_H

#include <math.h>

/* Linear heads in a block against the same heads alone, after the few dozen steps of a test: they round
 * differently (head_block.h). A record too many or in the wrong batch moves a weight by 1e-3 and more. */
#define HEAD_BLOCK_TOLERANCE 1e-6

static inline double heads_furthest(const float *a, const float *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double gap = fabs((double)a[i] - (double)b[i]);
        if (gap > most || isnan(gap)) /* fmax would pass over a NaN */
            most = gap;
    }
    return most;
}

#define assert_heads_close(a, b, count, tolerance) assert_true(heads_furthest(a, b, count) <= (tolerance))

#endif
