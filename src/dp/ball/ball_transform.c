/* Decimation in frequency, radix 2: one pass per halving, natural order in, bit-reversed order out. The balls
 * follow the rounding errors; there is nothing to prove here. */
#include "dp/ball/ball_private.h"

sotto_status ball_transform(acb_ptr v, int depth, slong bits)
{
    sotto_status status = SOTTO_OK;
    size_t n = (size_t)1 << depth;
    acb_ptr roots = ball_complexes(n / 2);
    acb_t gap;
    acb_init(gap);
    if (!roots)
        FAIL(SOTTO_ENOMEM, "out of memory (a transform of %zu points)", n);
    _acb_vec_unit_roots(roots, (slong)n, (slong)(n / 2), bits);
    for (size_t half = n / 2, stride = 1; half > 0; half /= 2, stride *= 2)
        for (size_t block = 0; block < n; block += 2 * half)
            for (size_t j = 0; j < half; j++) {
                acb_ptr a = v + block + j, b = a + half;
                acb_sub(gap, a, b, bits);
                acb_add(a, a, b, bits);
                acb_mul(b, gap, roots + j * stride, bits);
            }
done:
    acb_clear(gap);
    ball_complexes_free(roots, n / 2);
    return status;
}
