#include "head/sensitivity/paper_norms.h"

#include "base/memory.h"

#include <math.h>

const char *paper_norm_name(enum sotto_paper_norm norm)
{
    static const char *const names[SOTTO_PAPER_NORMS] = {"induced", "induced-rows", "bias", "norm-difference",
                                                         "per-tensor"};
    return (unsigned)norm < SOTTO_PAPER_NORMS ? names[norm] : "unknown";
}

const char *sotto_paper_norm_title(enum sotto_paper_norm norm)
{
    static const char *const titles[SOTTO_PAPER_NORMS] = {
        "kernel: largest column sum / largest singular value",
        "kernel: largest row sum / largest singular value",
        "bias alone, entrywise",
        "difference of the two heads' norms",
        "sum of the tensors' 2-norms / entrywise 2-norm",
    };
    return (unsigned)norm < SOTTO_PAPER_NORMS ? titles[norm] : "unknown";
}

double spectral_norm(const double *m, size_t rows, size_t columns, double *scratch)
{
    /* Gram matrix over the smaller side, then its largest eigenvalue. */
    bool wide = rows <= columns;
    size_t s = wide ? rows : columns, length = wide ? columns : rows;
    size_t step = wide ? 1 : columns, jump = wide ? columns : 1; /* along a vector; between vectors */
    double *gram = scratch, *v = scratch + s * s, *next = v + s, value = 0;
    size_t heaviest = 0;
    for (size_t i = 0; i < s; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k < length; k++)
                sum += m[i * jump + k * step] * m[j * jump + k * step];
            gram[i * s + j] = gram[j * s + i] = sum;
        }
    for (size_t i = 1; i < s; i++)
        heaviest = gram[i * s + i] > gram[heaviest * s + heaviest] ? i : heaviest;
    for (size_t i = 0; i < s; i++)
        v[i] = gram[heaviest * s + i]; /* one step from a unit vector that is not orthogonal to all */
    for (int iteration = 0; iteration < 1000; iteration++) {
        double square = 0, before = value, product = 0;
        for (size_t i = 0; i < s; i++)
            square += v[i] * v[i];
        if (square == 0)
            return 0;
        for (size_t i = 0; i < s; i++) {
            next[i] = 0;
            for (size_t j = 0; j < s; j++)
                next[i] += gram[i * s + j] * v[j];
            product += next[i] * v[i];
        }
        value = product / square; /* Rayleigh quotient: never above the eigenvalue, grows towards it */
        double length_v = sqrt(square) * value;
        for (size_t i = 0; i < s; i++)
            v[i] = next[i] / length_v;
        if (value - before <= 1e-9 * value)
            break;
    }
    return sqrt(value);
}

/* Largest sum of magnitudes over a row, or over a column, of m (rows, columns). */
static double largest_sum(const double *m, size_t rows, size_t columns, bool over_row)
{
    double largest = 0;
    for (size_t i = 0; i < (over_row ? rows : columns); i++) {
        double sum = 0;
        for (size_t j = 0; j < (over_row ? columns : rows); j++)
            sum += fabs(over_row ? m[i * columns + j] : m[j * columns + i]);
        largest = fmax(largest, sum);
    }
    return largest;
}

struct sums {
    double absolute, square;
};
static struct sums sums_of(const double *x, size_t n)
{
    struct sums s = {0, 0};
    for (size_t i = 0; i < n; i++) {
        s.absolute += fabs(x[i]);
        s.square += x[i] * x[i];
    }
    return s;
}

static struct sotto_norm_pair norms_of(const float *x, size_t n)
{
    double absolute = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        absolute += fabs((double)x[i]);
        square += (double)x[i] * x[i];
    }
    return (struct sotto_norm_pair){absolute, sqrt(square)};
}

static void paper_norms_widen(struct sotto_norm_pair *p, double one, double two)
{
    p->one = fmax(p->one, one);
    p->two = fmax(p->two, two);
}

sotto_status paper_norms_find(struct sotto_norm_pair out[SOTTO_PAPER_NORMS], const float *a, const float *b,
                              size_t layers, const size_t *width)
{
    sotto_status status = SOTTO_OK;
    size_t count = 0, side = 0, offset = 0;
    double bias_one = 0, bias_square = 0, tensor_one = 0, square = 0, *gap = NULL, *scratch = NULL;
    for (size_t l = 0; l < layers; l++) {
        size_t smaller = width[l] < width[l + 1] ? width[l] : width[l + 1];
        side = smaller > side ? smaller : side;
        count += (width[l] + 1) * width[l + 1];
    }
    NEW_ROWS(scratch, side + 2, side);
    NEW(gap, count);
    for (size_t i = 0; i < count; i++)
        gap[i] = (double)a[i] - (double)b[i];
    for (int i = 0; i < SOTTO_PAPER_NORMS; i++)
        out[i] = (struct sotto_norm_pair){0, 0};
    for (size_t l = 0; l < layers; l++) {
        size_t in = width[l], outputs = width[l + 1];
        const double *kernel = gap + offset, *bias = kernel + in * outputs;
        double spectral = spectral_norm(kernel, outputs, in, scratch);
        struct sums k = sums_of(kernel, in * outputs), c = sums_of(bias, outputs);
        /* A column of the (in, out) kernel is a row of our (out, in). */
        paper_norms_widen(&out[SOTTO_PAPER_NORM_INDUCED], largest_sum(kernel, outputs, in, true), spectral);
        paper_norms_widen(&out[SOTTO_PAPER_NORM_INDUCED_ROWS], largest_sum(kernel, outputs, in, false),
                          spectral);
        bias_one += c.absolute;
        bias_square += c.square;
        tensor_one += sqrt(k.square) + sqrt(c.square);
        square += k.square + c.square;
        offset += (in + 1) * outputs;
    }
    struct sotto_norm_pair first = norms_of(a, count), second = norms_of(b, count);
    out[SOTTO_PAPER_NORM_BIAS] = (struct sotto_norm_pair){bias_one, sqrt(bias_square)};
    out[SOTTO_PAPER_NORM_DIFFERENCE] =
        (struct sotto_norm_pair){fabs(first.one - second.one), fabs(first.two - second.two)};
    out[SOTTO_PAPER_NORM_PER_TENSOR] = (struct sotto_norm_pair){tensor_one, sqrt(square)};
done:
    base_free(gap);
    base_free(scratch);
    return status;
}
