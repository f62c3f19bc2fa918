/* Vectors of doubles; every operation is exact or rounded once, so all levels give the same bits. */
#include "base/cpu.h"
#include "base/simd.h"
#include "dp/release/lattice_sum.h"

#include <float.h>
#include <string.h>

enum { LANES = VECTOR_BYTES / 8 };

INLINE vf64 lattice_sum_within(vf64 x, double most)
{
    x = f64_choose(x < f64_all(-most), f64_all(-most), x);
    return f64_choose(x > f64_all(most), f64_all(most), x);
}

/* 2 (q + k) + 1 is a double, as |q + k| <= 2^51. A clamp brings no two sums further apart, and a refusal would tell
 * about the records. */
INLINE vf64 lattice_sum_released(vf64 x, vf64 k, double half_step)
{
    const double most = 0x1p51;
    x = f64_choose(x == x, x, f64_all(0));
    vf64 q = (lattice_sum_within(x, most) + f64_all(0x1.8p52)) - f64_all(0x1.8p52);
    vf64 sum = lattice_sum_within(q + k, most);
    return (sum + sum + f64_all(1)) * f64_all(half_step);
}

INLINE void of_doubles(double *sum, const double *k, double per_step, double half_step)
{
    *(stored_f64 *)sum =
        lattice_sum_released(*(const stored_f64 *)sum * f64_all(per_step), *(const stored_f64 *)k, half_step);
}
INLINE void of_floats(float *sum, const double *k, double per_step, double half_step)
{
    vf64 x = __builtin_convertvector(*(const stored_half_f32 *)sum, vf64);
    x = lattice_sum_within(lattice_sum_released(x * f64_all(per_step), *(const stored_f64 *)k, half_step),
                           (double)FLT_MAX);
    *(stored_half_f32 *)sum = __builtin_convertvector(x, stored_half_f32);
}

static void lattice_sum_doubles(double *sum, const double *k, size_t n, double per_step, double half_step)
{
    double rest[LANES] = {0}, noise[LANES] = {0};
    for (; n >= LANES; n -= LANES, sum += LANES, k += LANES)
        of_doubles(sum, k, per_step, half_step);
    memcpy(rest, sum, n * sizeof *rest);
    memcpy(noise, k, n * sizeof *noise);
    of_doubles(rest, noise, per_step, half_step);
    memcpy(sum, rest, n * sizeof *rest);
}

static void lattice_sum_floats(float *sum, const double *k, size_t n, double per_step, double half_step)
{
    float rest[LANES] = {0};
    double noise[LANES] = {0};
    for (; n >= LANES; n -= LANES, sum += LANES, k += LANES)
        of_floats(sum, k, per_step, half_step);
    memcpy(rest, sum, n * sizeof *rest);
    memcpy(noise, k, n * sizeof *noise);
    of_floats(rest, noise, per_step, half_step);
    memcpy(sum, rest, n * sizeof *rest);
}

extern const struct lattice_sum_kernels ISA_NAME(lattice_sum_kernels);
const struct lattice_sum_kernels ISA_NAME(lattice_sum_kernels) = {lattice_sum_doubles, lattice_sum_floats};
