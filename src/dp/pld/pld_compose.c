/* One transform serves both ends: upper masses are the real part, lower ones the imaginary part, and
 * F_up(k) = (Z(k) + conj Z(-k)) / 2,  F_low(k) = (Z(k) - conj Z(-k)) / 2i.
 * Errors, with u = 2^-53, E = fft_error: |F - computed F|_2 <= (E + 4u) sqrt(N) |w|_2 for both together; a
 * k-th power multiplies that by at most k, since |F| <= sum w = 1; its own products add sqrt 5 u each,
 * relative; the transform back adds E. docs/derivations/pld.md, section 5. */
#include "dp/pld/pld_compose.h"

#include "base/memory.h"

#include <string.h>

static const double unit = 0x1p-53;

struct work {
    size_t n;
    double *x_re, *x_im, *y_re, *y_im; /* N each */
    double *weight;                    /* e^(tilt l - s) of one item's losses */
};

/* The index of a loss on the circle. */
static size_t wrap(int64_t index, size_t n)
{
    return (size_t)(index & (int64_t)(n - 1)); /* n is a power of two */
}

static double fold(double *circle, size_t n, const struct pld *p, const double *weight)
{
    double sum = 0;
    for (size_t i = 0; i < p->grid->n; i++) {
        double w = p->mass[i] * weight[i];
        circle[wrap(p->grid->index[i], n)] += w;
        sum += w;
    }
    return sum;
}

static void scale(double *x, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum) * (1 + 1e-9);
}

/* ln of the sums of masses times weight^(1 + 2^-i), which bound what lies far to the right. `log_moment` and
 * `log_sum` take the weights' and the masses' norms out. */
static void add_right(double log_right[PLD_ORDERS], const struct pld_item *item, const double *weight,
                      double log_moment, double log_sum)
{
    double sum[PLD_ORDERS] = {0}, part = 1;
    for (size_t i = 0; i < item->lower->grid->n; i++) {
        double mass = item->lower->mass[i] * weight[i], power = weight[i];
        for (int order = 0; order < PLD_ORDERS; order++, power = sqrt(power))
            sum[order] += mass * power;
    }
    for (int order = 0; order < PLD_ORDERS; order++, part /= 2)
        log_right[order] += item->count * (log(sum[order]) + 1e-9 - log_sum + part * log_moment);
}

/* Fills x with item's tilted masses (the upper ones add up to 1), and its part of the bounds. */
static sotto_status place(struct pld_sum *s, struct work *k, const struct pld_item *item, double log_moment)
{
    sotto_status status = SOTTO_OK;
    const struct pld_grid *grid = item->upper->grid;
    NEW(k->weight, grid->n);
    double largest = 0;
    for (size_t i = 0; i < grid->n; i++) {
        double exponent = s->tilt * ((double)grid->index[i] * s->step);
        k->weight[i] = exp(exponent - log_moment);
        largest = fmax(largest, fabs(exponent));
    }
    memset(k->x_re, 0, s->n * sizeof *k->x_re);
    memset(k->x_im, 0, s->n * sizeof *k->x_im);
    double sum = fold(k->x_re, s->n, item->upper, k->weight);
    fold(k->x_im, s->n, item->lower, k->weight);
    scale(k->x_re, s->n, 1 / sum);
    scale(k->x_im, s->n, 1 / sum);
    double points = (double)grid->n, width = (double)(grid->index[grid->n - 1] - grid->index[0]);
    double folds = floor(width / (double)s->n) + 2;
    struct interval log_norm = iv_add(iv(log_moment), iv_log(iv(sum)));
    s->log_scale = iv_add(s->log_scale, iv_scale(log_norm, item->count));
    s->relative += item->count * ((2 * largest + 2 * fabs(log_moment) + 64 + folds) * unit);
    s->total += item->count * (points + 64) * unit; /* of its logarithm */
    add_right(s->log_right, item, k->weight, log_moment, log(sum));
    s->highest += item->count * (double)(grid->index[grid->n - 1] + 1) * s->step;
done:
    return status;
}

/* Spectra of real sequences, frequencies 0..N/2. */
struct spectra {
    double *up_re, *up_im, *low_re, *low_im;
};

enum { BLOCK = 64 };
struct block {
    double re[BLOCK], im[BLOCK];
};

static inline void multiply(struct block *a, const struct block *b)
{
    for (int i = 0; i < BLOCK; i++) {
        double re = a->re[i] * b->re[i] - a->im[i] * b->im[i];
        a->im[i] = a->re[i] * b->im[i] + a->im[i] * b->re[i];
        a->re[i] = re;
    }
}

/* (re, im) *= z^k */
static void raise_block(double *re, double *im, const struct block *z, uint64_t k)
{
    struct block result = *z, into;
    for (int bit = 62 - __builtin_clzll(k); bit >= 0; bit--) {
        multiply(&result, &result);
        if (k >> bit & 1)
            multiply(&result, z);
    }
    memcpy(into.re, re, sizeof into.re);
    memcpy(into.im, im, sizeof into.im);
    multiply(&result, &into);
    memcpy(re, result.re, sizeof into.re);
    memcpy(im, result.im, sizeof into.im);
}

static void raise_all(const struct spectra *g, size_t n, const double *y_re, const double *y_im, uint64_t k)
{
    for (size_t j = 0; j <= n / 2; j += BLOCK) {
        struct block up, low;
        for (size_t i = 0; i < BLOCK; i++) {
            size_t at = (j + i) & (n - 1), mirror = (n - j - i) & (n - 1);
            up.re[i] = (y_re[at] + y_re[mirror]) / 2;
            up.im[i] = (y_im[at] - y_im[mirror]) / 2;
            low.re[i] = (y_im[at] + y_im[mirror]) / 2;
            low.im[i] = (y_re[mirror] - y_re[at]) / 2;
        }
        raise_block(g->up_re + j, g->up_im + j, &up, k);
        raise_block(g->low_re + j, g->low_im + j, &low, k);
    }
}

/* Z = F_up + i F_low at all frequencies. */
static void join(double *re, double *im, const struct spectra *g, size_t n)
{
    for (size_t j = 0; j <= n / 2; j++) {
        size_t mirror = (n - j) & (n - 1);
        re[mirror] = g->up_re[j] + g->low_im[j];
        im[mirror] = g->low_re[j] - g->up_im[j];
        re[j] = g->up_re[j] - g->low_im[j];
        im[j] = g->up_im[j] + g->low_re[j];
    }
}

static double *take(double **memory, size_t n)
{
    double *start = *memory;
    *memory += n;
    return start;
}

/* The part of +infinity: 1 - prod (finite share)^k of the total. */
static double infinite_mass(const struct pld_item *items, size_t count)
{
    double log_total = 0, log_finite = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pld *p = items[i].upper;
        double sum = 0;
        for (size_t j = 0; j < p->grid->n; j++)
            sum += p->mass[j];
        sum = (sum + p->infinite) * (1 + ((double)p->grid->n + 4) * unit);
        log_total += items[i].count * (log(sum) * (1 + 0x1p-48) + 0x1p-50);
        double share = fmin(p->infinite / sum * (1 + 0x1p-40), 1);
        log_finite += items[i].count * log1p(-share) * (1 + 0x1p-48);
    }
    return fmin(exp(fmax(0, log_total)) * -expm1(log_finite) * (1 + 1e-12), INFINITY);
}

sotto_status pld_compose(struct pld_sum *out, const struct pld_item *items, const double *log_moment,
                         size_t count, double tilt, int log2_n, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct fft *fft = NULL;
    struct work k = {.n = (size_t)1 << log2_n};
    size_t n = k.n, half = n / 2 + BLOCK;
    struct pld_sum s = {.step = items[0].upper->grid->step, .tilt = tilt, .n = n, .log_scale = iv(0)};
    NEW(s.memory, 4 * n + 4 * half);
    TRY(fft_make(&fft, log2_n));
    double *memory = s.memory, norms = 0, products = 0;
    k.x_re = take(&memory, n), k.x_im = take(&memory, n), k.y_re = take(&memory, n),
    k.y_im = take(&memory, n);
    struct spectra g = {take(&memory, half), take(&memory, half), take(&memory, half), take(&memory, half)};
    for (size_t i = 0; i < half; i++)
        g.up_re[i] = g.low_re[i] = 1;
    for (size_t i = 0; i < count; i++) {
        TRY(context_check(ctx, "account: stopped"));
        TRY(place(&s, &k, &items[i], log_moment[i]));
        base_free(k.weight);
        k.weight = NULL;
        norms += items[i].count * hypot(norm(k.x_re, n), norm(k.x_im, n));
        products += items[i].count + 1;
        fft_run(fft, k.y_re, k.y_im, k.x_re, k.x_im);
        raise_all(&g, n, k.y_re, k.y_im, (uint64_t)items[i].count);
    }
    join(k.x_re, k.x_im, &g, n);
    fft_run(fft, k.y_im, k.y_re, k.x_im, k.x_re); /* parts swapped: the transform back */
    scale(k.y_re, n, 1 / (double)n);
    scale(k.y_im, n, 1 / (double)n);
    s.upper = k.y_re;
    s.lower = k.y_im;
    double each = fft_error(fft) + 4 * unit, result = hypot(norm(s.upper, n), norm(s.lower, n));
    double above = each * sqrt((double)n) * norms; /* how far a product of F's may pass 1, to first order */
    s.error = 1.4143 * each * norms * exp(above + s.total) +
              (expm1(2.24 * unit * products) + each) * result * (1 + 1e-9) + 1e-280;
    s.relative += 0x1p-50;
    s.infinite = infinite_mass(items, count);
    s.total = exp(s.total) * (1 + 1e-9);
    *out = s;
    s.memory = NULL;
done:
    fft_free(fft);
    base_free(k.weight);
    base_free(s.memory);
    return status;
}

void pld_sum_free(struct pld_sum *s)
{
    base_free(s->memory);
    *s = (struct pld_sum){0};
}
