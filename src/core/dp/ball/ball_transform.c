/* Radix 2, in place, one pass per halving: decimation in frequency forwards (natural order in, bit-reversed
 * order out), its mirror image backwards. The balls follow the rounding errors; there is nothing to prove
 * here. */
#include "dp/ball/ball_private.h"

static void ball_transform_forwards(acb_ptr v, size_t n, acb_srcptr roots, acb_t gap, slong bits)
{
    for (size_t half = n / 2, stride = 1; half > 0; half /= 2, stride *= 2)
        for (size_t block = 0; block < n; block += 2 * half) {
            ball_ask();
            for (size_t j = 0; j < half; j++) {
                acb_ptr a = v + block + j, b = a + half;
                acb_sub(gap, a, b, bits);
                acb_add(a, a, b, bits);
                acb_mul(b, gap, roots + j * stride, bits);
            }
        }
}

static void ball_transform_backwards(acb_ptr v, size_t n, acb_srcptr roots, acb_t turned, slong bits)
{
    for (size_t half = 1, stride = n / 2; half < n; half *= 2, stride /= 2)
        for (size_t block = 0; block < n; block += 2 * half) {
            ball_ask();
            for (size_t j = 0; j < half; j++) {
                acb_ptr a = v + block + j, b = a + half;
                acb_mul(turned, b, roots + j * stride, bits);
                acb_sub(b, a, turned, bits);
                acb_add(a, a, turned, bits);
            }
        }
}

void ball_transform(acb_ptr v, int depth, bool back, slong bits)
{
    size_t n = (size_t)1 << depth;
    acb_ptr roots = ball_complexes(n / 2);
    acb_t scratch;
    acb_init(scratch);
    _acb_vec_unit_roots(roots, (slong)n, (slong)(n / 2), bits);
    if (back) {
        for (size_t i = 0; i < n / 2; i++)
            acb_conj(roots + i, roots + i);
        ball_transform_backwards(v, n, roots, scratch, bits);
        _acb_vec_scalar_mul_2exp_si(v, v, (slong)n, -depth);
    } else {
        ball_transform_forwards(v, n, roots, scratch, bits);
    }
    acb_clear(scratch);
    ball_complexes_free(roots, n / 2);
}
