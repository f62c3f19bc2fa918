/* The gradient is a sum over records of outer products, and records are lanes: so an entry is a dot product
 * along a block, and each keeps a vector of partial sums until all blocks are through. Registers hold a
 * corner of ROWS classes by COLUMNS inputs of it while a block passes. */
#define HEAD_REAL double
#define HEAD_REAL_IS_DOUBLE
#include "head/kernel/convex_kernels.h"
#include "head/kernel/head_dense.h"

enum { CORNER_ROWS = 5, CORNER_COLUMNS = VECTOR_BYTES == 64 ? 4 : 2 };

/* To double; lanes without a record hold zeros already. */
static void convex_kernel_widen(const struct convex_scratch *s, const struct convex_shape *shape,
                                const float *x)
{
    size_t count = shape->inputs * CONVEX_BLOCK;
    for (size_t i = 0; i < count; i++)
        s->x[i] = x[i];
    for (size_t r = 0; r < CONVEX_BLOCK; r++)
        s->x[count + r] = shape->bias;
}

static void convex_kernel_logits(const struct convex_scratch *s, const struct convex_shape *shape,
                                 const double *w)
{
    size_t q = shape->inputs + 1;
    struct product p = {s->p,           CONVEX_BLOCK, w, q,   1, s->x, CONVEX_BLOCK,
                        shape->classes, CONVEX_BLOCK, q, NULL};
    multiply(&p);
}

/* The loss of a record is log(sum of exp(z - top)) + top - z_y. */
static double lane_losses(const double *p, vec top, vec sum, const int32_t *y)
{
    double loss = 0;
    for (int i = 0; i < LANES; i++)
        if (y[i] >= 0)
            loss += log(sum[i]) + (top[i] - p[(size_t)y[i] * CONVEX_BLOCK + (size_t)i]);
    return loss;
}

/* Logits to softmax minus one-hot; zero where there is no record. */
static double convex_kernel_errors(double *p, size_t classes, const int32_t *y, int want_loss)
{
    double loss = 0;
    for (size_t r = 0; r < CONVEX_BLOCK; r += LANES) {
        double *z = p + r;
        vec top = v_load(z), sum = {0}, present;
        for (size_t k = 1; k < classes; k++)
            top = v_max(v_load(z + k * CONVEX_BLOCK), top);
        for (size_t k = 0; k < classes; k++)
            sum += v_exp(v_load(z + k * CONVEX_BLOCK) - top);
        if (want_loss)
            loss += lane_losses(z, top, sum, y + r);
        for (int i = 0; i < LANES; i++)
            present[i] = y[r + (size_t)i] >= 0;
        vec scale = present / sum;
        for (size_t k = 0; k < classes; k++)
            v_store(z + k * CONVEX_BLOCK, v_exp(v_load(z + k * CONVEX_BLOCK) - top) * scale);
        for (size_t i = 0; i < LANES; i++)
            if (y[r + i] >= 0)
                z[(size_t)y[r + i] * CONVEX_BLOCK + i] -= 1;
    }
    return loss;
}

/* sums[rows][columns] += p[rows] . x[columns] along the block, lane by lane. */
INLINE void convex_kernel_corner(double *sums, size_t q, const double *p, const double *x, int rows,
                                 int columns)
{
    vec sum[CORNER_ROWS][CORNER_COLUMNS];
#pragma GCC unroll 5
    for (int k = 0; k < rows; k++)
#pragma GCC unroll 4
        for (int i = 0; i < columns; i++)
            sum[k][i] = v_load(sums + ((size_t)k * q + (size_t)i) * CONVEX_LANES);
    for (size_t r = 0; r < CONVEX_BLOCK; r += LANES) {
        vec right[CORNER_COLUMNS];
#pragma GCC unroll 4
        for (int i = 0; i < columns; i++)
            right[i] = v_load(x + (size_t)i * CONVEX_BLOCK + r);
#pragma GCC unroll 5
        for (int k = 0; k < rows; k++) {
            vec left = v_load(p + (size_t)k * CONVEX_BLOCK + r);
#pragma GCC unroll 4
            for (int i = 0; i < columns; i++)
                sum[k][i] = v_fma(left, right[i], sum[k][i]);
        }
    }
#pragma GCC unroll 5
    for (int k = 0; k < rows; k++)
#pragma GCC unroll 4
        for (int i = 0; i < columns; i++)
            v_store(sums + ((size_t)k * q + (size_t)i) * CONVEX_LANES, sum[k][i]);
}

INLINE void corner_rows(double *sums, size_t q, const double *p, const double *x, size_t rows, int columns)
{
    /* clang-format off */
    switch (rows) {
#define CASE(r) case r: convex_kernel_corner(sums, q, p, x, r, columns); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
#undef CASE
    default: __builtin_unreachable();
    }
    /* clang-format on */
}

static void add_errors(const struct convex_scratch *s, const struct convex_shape *shape)
{
    size_t q = shape->inputs + 1, blocks = (shape->classes + CORNER_ROWS - 1) / CORNER_ROWS;
    for (size_t b = 0; b < blocks; b++) {
        size_t k = b * shape->classes / blocks, rows = (b + 1) * shape->classes / blocks - k, i = 0;
        for (; i + CORNER_COLUMNS <= q; i += CORNER_COLUMNS)
            corner_rows(s->sums + (k * q + i) * CONVEX_LANES, q, s->p + k * CONVEX_BLOCK,
                        s->x + i * CONVEX_BLOCK, rows, CORNER_COLUMNS);
        for (; i < q; i++)
            corner_rows(s->sums + (k * q + i) * CONVEX_LANES, q, s->p + k * CONVEX_BLOCK,
                        s->x + i * CONVEX_BLOCK, rows, 1);
    }
}

static double convex_kernel_add(const struct convex_shape *shape, const struct convex_scratch *s,
                                const double *w, const float *x, const int32_t *y, int want_loss)
{
    convex_kernel_widen(s, shape, x);
    convex_kernel_logits(s, shape, w);
    double loss = convex_kernel_errors(s->p, shape->classes, y, want_loss);
    add_errors(s, shape);
    return loss;
}

static void convex_kernel_finish(double *gradient, const struct convex_shape *shape,
                                 const struct convex_scratch *s)
{
    size_t entries = shape->classes * (shape->inputs + 1);
    for (size_t e = 0; e < entries; e++) {
        double sum = 0;
        for (size_t lane = 0; lane < LANES; lane++)
            sum += s->sums[e * CONVEX_LANES + lane];
        gradient[e] = sum;
    }
}

extern const struct convex_kernels ISA_NAME(convex_kernels);
const struct convex_kernels ISA_NAME(convex_kernels) = {convex_kernel_add, convex_kernel_finish};
