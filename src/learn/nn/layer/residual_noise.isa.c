/* Kernels of residual_noise.h, sixteen numbers at a time. */
#include "base/cpu.h"
#include "nn/kernel/vector_math.h"
#include "nn/layer/residual_noise.h"

/* ln x for x in (0, 1], never above 0: x = 2^k (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)), and ln(1 + m) = m
 * - m^2 / 2 + m^3 P(m). P fits m^2 P(m) best over that range: the root of -2 ln x is right to 1e-6. */
INLINE f32x16 lanes_log(f32x16 x)
{
    i32x16 bits = (i32x16)x;
    i32x16 k = ((bits - 0x3f3504f3) >> 23);
    f32x16 m = (f32x16)(bits - (k << 23)) - 1.0f, n = __builtin_convertvector(k, f32x16), z = m * m;
    f32x16 p = (f32x16){0} + 0.12086676f;
    p = p * m - 0.18484005f;
    p = p * m + 0.20398486f;
    p = p * m - 0.24937634f;
    p = p * m + 0.3332248f;
    return n * 0.693147181f + (m + z * (m * p - 0.5f));
}

INLINE f32x16 lanes_root(f32x16 x)
{
    for (int i = 0; i < LANES; i++)
        x[i] = __builtin_sqrtf(x[i]);
    return x;
}

/* Changes the sign of x where the top bit of `bits` is set. */
INLINE f32x16 lanes_flip(f32x16 x, u32x16 bits)
{
    return (f32x16)((u32x16)x ^ (bits & 0x80000000u));
}

/* Cosine and sine of 2 pi t, t = words / 2^32: the nearest quarter turn, and polynomials on the rest. Words
 * without their top two bits are four times the rest, as signed numbers; words + 2^29 have the quarter on
 * top: odd ones exchange the two, and the signs follow. */
INLINE void residual_noise_turn(f32x16 *cosine, f32x16 *sine, u32x16 words)
{
    u32x16 quarter = words + 0x20000000u;
    i32x16 rest = (i32x16)(words << 2);
    f32x16 a = __builtin_convertvector(rest, f32x16) * 3.65729519816e-10f; /* 2 pi / 2^34 */
    f32x16 z = a * a;
    f32x16 s = ((z * -1.9515295891e-4f + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * a + a;
    f32x16 c = ((z * 2.443315711809948e-5f - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * (z * z) -
               0.5f * z + 1.0f;
    i32x16 swap = (i32x16)(quarter << 1) >> 31;
    *cosine = lanes_flip(lanes_select(swap, s, c), quarter + 0x40000000u);
    *sine = lanes_flip(lanes_select(swap, c, s), quarter);
}

static void residual_noise_normals(float out[NOISE_GROUP], const uint32_t words[NOISE_GROUP])
{
    for (size_t i = 0; i < NOISE_GROUP; i += 2 * LANES) {
        u32x16 first, second;
        memcpy(&first, words + i, sizeof first);
        memcpy(&second, words + i + LANES, sizeof second);
        f32x16 u = (__builtin_convertvector(first, f32x16) + 0.5f) * 0x1p-32f, cosine, sine;
        f32x16 radius = lanes_root(lanes_log(u) * -2.0f);
        residual_noise_turn(&cosine, &sine, second);
        lanes_store(out + i, radius * cosine);
        lanes_store(out + i + LANES, radius * sine);
    }
}

INLINE f32x16 residual_noise_discretised(f32x16 x, f32x16 floor)
{
    f32x16 size = lanes_max(lanes_select(x < 0, -x, x), floor);
    return lanes_select(x < 0, -size, size);
}

#define EACH(...)                                                                                            \
    do {                                                                                                     \
        size_t i = 0;                                                                                        \
        for (size_t k = LANES; i + LANES <= n; i += LANES)                                                   \
            __VA_ARGS__;                                                                                     \
        if (i < n) {                                                                                         \
            size_t k = n - i;                                                                                \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } while (0)

static void residual_noise_add(void *y, const void *x, size_t at, const float *z, float scale, size_t n,
                               int half)
{
    if (x)
        EACH(lanes_put(y, at + i,
                       lanes_get(y, at + i, k, half) + lanes_get(x, at + i, k, half) +
                           scale * lanes_get(z, i, k, 0),
                       k, half));
    else
        EACH(lanes_put(y, at + i, lanes_get(y, at + i, k, half) + scale * lanes_get(z, i, k, 0), k, half));
}

static void add_scaled(void *y, const void *x, size_t at, const float *z, float scale, float floor, size_t n,
                       int half)
{
    const f32x16 least = (f32x16){0} + floor;
    if (floor > 0)
        EACH({
            f32x16 here = lanes_get(x, at + i, k, half);
            f32x16 noise = scale * lanes_get(z, i, k, 0) * residual_noise_discretised(here, least);
            lanes_put(y, at + i, lanes_get(y, at + i, k, half) + here + noise, k, half);
        });
    else
        EACH(lanes_put(y, at + i,
                       lanes_get(y, at + i, k, half) +
                           lanes_get(x, at + i, k, half) * (1.0f + scale * lanes_get(z, i, k, 0)),
                       k, half));
}

/* What one number of the gradient becomes on its way to x. */
INLINE f32x16 passed_on(f32x16 g, f32x16 z, const void *x, size_t at, float share, float scale, float floor,
                        size_t k, int half)
{
    f32x16 noise = scale * z;
    if (floor > 0) {
        f32x16 here = lanes_get(x, at, k, half), size = lanes_select(here < 0, -here, here);
        noise = lanes_select(size > (f32x16){0} + floor, noise, (f32x16){0});
    }
    return g * (share + noise);
}

static void add_scaled_back(void *to, const void *g, const void *x, size_t at, const float *z, int keep,
                            float share, float scale, float floor, size_t n, int half)
{
    if (keep)
        EACH(lanes_put(to, at + i,
                       lanes_get(to, at + i, k, half) + passed_on(lanes_get(g, at + i, k, half),
                                                                  lanes_get(z, i, k, 0), x, at + i, share,
                                                                  scale, floor, k, half),
                       k, half));
    else
        EACH(lanes_put(to, at + i,
                       passed_on(lanes_get(g, at + i, k, half), lanes_get(z, i, k, 0), x, at + i, share,
                                 scale, floor, k, half),
                       k, half));
}

static double lanes_total(f32x16 x)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += (double)x[i];
    return sum;
}

/* A few numbers in f32 lanes, many in double: the error stays that of f32. Lanes beyond the end add
 * nothing. */
static void residual_noise_moments(double sums[2], const void *y, size_t at, double shift, size_t n, int half)
{
    const f32x16 mean = (f32x16){0} + (float)shift;
    for (size_t first = 0; first < n; first += NOISE_GROUP) {
        size_t end = first + NOISE_GROUP < n ? first + NOISE_GROUP : n, i = first;
        f32x16 sum = {0}, square = {0};
        for (; i + LANES <= end; i += LANES) {
            f32x16 x = lanes_get(y, at + i, LANES, half) - mean;
            sum += x;
            square += x * x;
        }
        if (i < end) {
            f32x16 x = lanes_get(y, at + i, end - i, half) - mean;
            for (size_t k = end - i; k < LANES; k++)
                x[k] = 0;
            sum += x;
            square += x * x;
        }
        sums[0] += lanes_total(sum);
        sums[1] += lanes_total(square);
    }
}

static double residual_noise_dot(const void *g, size_t at, const float *z, size_t n, int half)
{
    f32x16 sum = {0};
    EACH(sum += lanes_get(g, at + i, k, half) * lanes_get(z, i, k, 0));
    return lanes_total(sum);
}

static void residual_noise_pull(void *to, const void *y, size_t at, const float *z, float factor, float scale,
                                float mean, size_t n, int half)
{
    EACH(lanes_put(to, at + i,
                   lanes_get(to, at + i, k, half) +
                       factor * (lanes_get(y, at + i, k, half) - scale * lanes_get(z, i, k, 0) - mean),
                   k, half));
}

extern const struct residual_noise_kernels ISA_NAME(residual_noise_kernels);
const struct residual_noise_kernels ISA_NAME(residual_noise_kernels) = {
    residual_noise_normals, residual_noise_add, add_scaled,         add_scaled_back,
    residual_noise_moments, residual_noise_dot, residual_noise_pull};
