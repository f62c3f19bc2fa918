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
    struct fft *fft;
    double *x_re, *x_im, *y_re, *y_im; /* N each */
    double *z_re, *z_im;               /* likewise: the spectra of the item before, where one has mixtures */
    double *weight;                    /* e^(tilt l - s) of one item's losses */
};

/* The index of a loss on the circle. */
static size_t pld_compose_wrap(int64_t index, size_t n)
{
    return (size_t)(index & (int64_t)(n - 1)); /* n is a power of two */
}

static double pld_compose_fold(double *circle, size_t n, const struct pld *p, const double *weight)
{
    double sum = 0;
    for (size_t i = 0; i < p->grid->n; i++) {
        double w = p->mass[i] * weight[i];
        circle[pld_compose_wrap(p->grid->index[i], n)] += w;
        sum += w;
    }
    return sum;
}

static void pld_compose_scale(double *x, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

static double pld_compose_norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum) * (1 + 1e-9);
}

/* What the bounds know of one release of an item. */
struct single {
    double log_norm; /* about; of its tilted masses */
    double norm;     /* 2-norm of its scaled masses */
    double relative, total, highest;
    double log_right[PLD_ORDERS];
};

/* ln of the sums of masses times weight^(1 + 2^-i), which bound what lies far to the right. `log_moment` and
 * `log_sum` take the weights' and the masses' norms out. */
static void find_right(double log_right[PLD_ORDERS], const struct pld_item *item, const double *weight,
                       double log_moment, double log_sum)
{
    double sum[PLD_ORDERS] = {0}, part = 1;
    for (size_t i = 0; i < item->lower->grid->n; i++) {
        double mass = item->lower->mass[i] * weight[i], power = weight[i];
        for (int order = 0; order < PLD_ORDERS; order++, power = sqrt(power))
            sum[order] += mass * power;
    }
    for (int order = 0; order < PLD_ORDERS; order++, part /= 2)
        log_right[order] = log(sum[order]) + 1e-9 - log_sum + part * log_moment;
}

static void add_single(struct pld_sum *s, const struct single *one, double count)
{
    s->relative += count * one->relative;
    s->total += count * one->total;
    s->highest += count * one->highest;
    for (int order = 0; order < PLD_ORDERS; order++)
        s->log_right[order] += count * one->log_right[order];
}

/* Fills x with item's tilted masses (the upper ones add up to 1), and what the bounds need. */
static sotto_status pld_compose_place(struct single *one, struct pld_sum *s, struct work *k,
                                      const struct pld_item *item, double log_moment)
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
    double sum = pld_compose_fold(k->x_re, s->n, item->upper, k->weight);
    pld_compose_fold(k->x_im, s->n, item->lower, k->weight);
    pld_compose_scale(k->x_re, s->n, 1 / sum);
    pld_compose_scale(k->x_im, s->n, 1 / sum);
    double points = (double)grid->n, width = (double)(grid->index[grid->n - 1] - grid->index[0]);
    double folds = floor(width / (double)s->n) + 2;
    struct interval log_norm = iv_add(iv(log_moment), iv_log(iv(sum)));
    s->log_scale = iv_add(s->log_scale, iv_scale(log_norm, item->count));
    *one = (struct single){.log_norm = log_norm.hi,
                           .norm = hypot(pld_compose_norm(k->x_re, s->n), pld_compose_norm(k->x_im, s->n)),
                           .relative = (2 * largest + 2 * fabs(log_moment) + 64 + folds) * unit,
                           .total = (points + 64) * unit, /* of its logarithm */
                           .highest = (double)(grid->index[grid->n - 1] + 1) * s->step};
    find_right(one->log_right, item, k->weight, log_moment, log(sum));
    add_single(s, one, item->count);
done:
    base_free(k->weight);
    k->weight = NULL;
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

static inline void pld_compose_multiply(struct block *a, const struct block *b)
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
        pld_compose_multiply(&result, &result);
        if (k >> bit & 1)
            pld_compose_multiply(&result, z);
    }
    memcpy(into.re, re, sizeof into.re);
    memcpy(into.im, im, sizeof into.im);
    pld_compose_multiply(&result, &into);
    memcpy(re, result.re, sizeof into.re);
    memcpy(im, result.im, sizeof into.im);
}

static void pld_compose_split(struct block *up, struct block *low, const double *y_re, const double *y_im,
                              size_t n, size_t j)
{
    for (size_t i = 0; i < BLOCK; i++) {
        size_t at = (j + i) & (n - 1), mirror = (n - j - i) & (n - 1);
        up->re[i] = (y_re[at] + y_re[mirror]) / 2;
        up->im[i] = (y_im[at] - y_im[mirror]) / 2;
        low->re[i] = (y_im[at] + y_im[mirror]) / 2;
        low->im[i] = (y_re[mirror] - y_re[at]) / 2;
    }
}

static void raise_all(const struct spectra *g, size_t n, const double *y_re, const double *y_im, uint64_t k)
{
    for (size_t j = 0; j <= n / 2; j += BLOCK) {
        struct block up, low;
        pld_compose_split(&up, &low, y_re, y_im, n, j);
        raise_block(g->up_re + j, g->up_im + j, &up, k);
        raise_block(g->low_re + j, g->low_im + j, &low, k);
    }
}

/* Z = F_up + i F_low at all frequencies. */
static void pld_compose_join(double *re, double *im, const struct spectra *g, size_t n)
{
    for (size_t j = 0; j <= n / 2; j++) {
        size_t mirror = (n - j) & (n - 1);
        re[mirror] = g->up_re[j] + g->low_im[j];
        im[mirror] = g->low_re[j] - g->up_im[j];
        re[j] = g->up_re[j] - g->low_im[j];
        im[j] = g->up_im[j] + g->low_re[j];
    }
}

/* A kind between two items, in units of its own norm: shares of their upper spectra, and of the former one's lower. */
struct mixture {
    double own, former, lower;
};

/* The kind's part of the bounds. Its norm is a double that stands for itself; shares of it are off by a few units, and by one for
 * each unit of the logarithms. */
static struct mixture pld_compose_mix(struct pld_sum *s, double *norms, const struct pld_blend *blend,
                                      const struct single *own, const struct single *former)
{
    const double w = blend->weight, c = blend->count, most = fmax(own->log_norm, former->log_norm);
    const double log_norm =
        most + log(w * exp(own->log_norm - most) + (1 - w) * exp(former->log_norm - most));
    const struct mixture m = {w * exp(own->log_norm - log_norm), (1 - w) * exp(former->log_norm - log_norm),
                              fmin(1, exp(former->log_norm - log_norm))};
    const double shares = (16 * (fabs(own->log_norm) + fabs(former->log_norm) + fabs(log_norm)) + 64) * unit;
    struct single one = {.relative = fmax(own->relative, former->relative) + shares,
                         .total = fmax(own->total, former->total) + shares,
                         .highest = fmax(own->highest, former->highest)};
    for (int order = 0; order < PLD_ORDERS; order++)
        one.log_right[order] = former->log_right[order] + log(m.lower) + 1e-9;
    s->log_scale = iv_add(s->log_scale, iv_scale(iv(log_norm), c));
    add_single(s, &one, c);
    *norms += c * (m.own * own->norm + (m.former + m.lower) * former->norm) * (1 + 1e-9);
    return m;
}

/* Products of mixtures. y: this item's spectra; z: those of the one before, whose lower one is a common factor of them all. */
static void raise_mixtures(const struct spectra *g, size_t n, const struct work *k, const struct mixture *m,
                           const struct pld_blend *blends, size_t count)
{
    double log_share = 0, releases = 0;
    for (size_t b = 0; b < count; b++) {
        log_share += blends[b].count * log(m[b].lower);
        releases += blends[b].count;
    }
    const double share = exp(log_share);
    for (size_t j = 0; j <= n / 2; j += BLOCK) {
        struct block own, former, lower, none, product, up;
        pld_compose_split(&own, &none, k->y_re, k->y_im, n, j);
        pld_compose_split(&former, &lower, k->z_re, k->z_im, n, j);
        memcpy(product.re, g->up_re + j, sizeof product.re);
        memcpy(product.im, g->up_im + j, sizeof product.im);
        for (size_t b = 0; b < count; b++) {
            for (size_t i = 0; i < BLOCK; i++) {
                up.re[i] = m[b].own * own.re[i] + m[b].former * former.re[i];
                up.im[i] = m[b].own * own.im[i] + m[b].former * former.im[i];
            }
            if (blends[b].count == 1)
                pld_compose_multiply(&product, &up);
            else
                raise_block(product.re, product.im, &up, (uint64_t)blends[b].count);
        }
        memcpy(g->up_re + j, product.re, sizeof product.re);
        memcpy(g->up_im + j, product.im, sizeof product.im);
        raise_block(g->low_re + j, g->low_im + j, &lower, (uint64_t)releases);
        pld_compose_scale(g->low_re + j, BLOCK, share);
        pld_compose_scale(g->low_im + j, BLOCK, share);
    }
}

static double *pld_compose_take(double **memory, size_t n)
{
    double *start = *memory;
    *memory += n;
    return start;
}

/* Total mass, and the share of it at +infinity, at most. */
struct share {
    double sum, infinite;
};

static struct share share_of(const struct pld *p)
{
    double sum = 0;
    for (size_t j = 0; j < p->grid->n; j++)
        sum += p->mass[j];
    sum = (sum + p->infinite) * (1 + ((double)p->grid->n + 4) * unit);
    return (struct share){sum, fmin(p->infinite / sum * (1 + 0x1p-40), 1)};
}

/* Of mixtures both are at most the larger one. The part of +infinity: 1 - prod (finite share)^k of the total. */
static double infinite_mass(const struct pld_item *items, size_t count)
{
    double log_total = 0, log_finite = 0;
    struct share before = {1, 0};
    for (size_t i = 0; i < count; i++) {
        const struct share own = share_of(items[i].upper);
        double mixed = 0;
        for (size_t b = 0; b < items[i].blend_count; b++)
            mixed += items[i].blends[b].count;
        const double k = items[i].count, most = fmax(own.sum, before.sum);
        log_total +=
            k * (log(own.sum) * (1 + 0x1p-48) + 0x1p-50) + mixed * (log(most) * (1 + 0x1p-48) + 0x1p-50);
        log_finite +=
            (k * log1p(-own.infinite) + mixed * log1p(-fmax(own.infinite, before.infinite))) * (1 + 0x1p-48);
        before = own;
    }
    return fmin(exp(fmax(0, log_total)) * -expm1(log_finite) * (1 + 1e-12), INFINITY);
}

/* One item into the product, and the kinds between it and the one before. */
static sotto_status multiply_in(struct pld_sum *s, struct work *k, const struct spectra *g,
                                struct single *former, const struct pld_item *item, double log_moment,
                                double *norms, double *products)
{
    sotto_status status = SOTTO_OK;
    struct single own;
    struct mixture *mixtures = NULL;
    TRY(pld_compose_place(&own, s, k, item, log_moment));
    if (k->z_re) {
        memcpy(k->z_re, k->y_re, s->n * sizeof *k->z_re);
        memcpy(k->z_im, k->y_im, s->n * sizeof *k->z_im);
    }
    fft_run(k->fft, k->y_re, k->y_im, k->x_re, k->x_im);
    if (item->count > 0) {
        *norms += item->count * own.norm;
        *products += item->count + 1;
        raise_all(g, s->n, k->y_re, k->y_im, (uint64_t)item->count);
    }
    if (item->blend_count > 0) {
        NEW(mixtures, item->blend_count);
        for (size_t b = 0; b < item->blend_count; b++) {
            mixtures[b] = pld_compose_mix(s, norms, &item->blends[b], &own, former);
            *products += item->blends[b].count + 1;
        }
        raise_mixtures(g, s->n, k, mixtures, item->blends, item->blend_count);
    }
    *former = own;
done:
    base_free(mixtures);
    return status;
}

sotto_status pld_compose(struct pld_sum *out, const struct pld_item *items, const double *log_moment,
                         size_t count, double tilt, int log2_n, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct work k = {.n = (size_t)1 << log2_n};
    struct single former = {0};
    size_t n = k.n, half = n / 2 + BLOCK, mixtures = 0;
    struct pld_sum s = {.step = items[0].upper->grid->step, .tilt = tilt, .n = n, .log_scale = iv(0)};
    for (size_t i = 0; i < count; i++)
        mixtures += items[i].blend_count;
    NEW(s.memory, 4 * n + 4 * half + (mixtures ? 2 * n : 0));
    TRY(fft_make(&k.fft, log2_n));
    double *memory = s.memory, norms = 0, products = 0;
    k.x_re = pld_compose_take(&memory, n), k.x_im = pld_compose_take(&memory, n),
    k.y_re = pld_compose_take(&memory, n), k.y_im = pld_compose_take(&memory, n);
    struct spectra g = {pld_compose_take(&memory, half), pld_compose_take(&memory, half),
                        pld_compose_take(&memory, half), pld_compose_take(&memory, half)};
    if (mixtures)
        k.z_re = pld_compose_take(&memory, n), k.z_im = pld_compose_take(&memory, n);
    for (size_t i = 0; i < half; i++)
        g.up_re[i] = g.low_re[i] = 1;
    for (size_t i = 0; i < count; i++) {
        TRY(context_check(ctx, "account: stopped"));
        TRY(multiply_in(&s, &k, &g, &former, &items[i], log_moment[i], &norms, &products));
        if (count >= PLD_MANY)
            context_progress(ctx, "account", count + i + 1, 2 * count, "distributions");
    }
    pld_compose_join(k.x_re, k.x_im, &g, n);
    fft_run(k.fft, k.y_im, k.y_re, k.x_im, k.x_re); /* parts swapped: the transform back */
    pld_compose_scale(k.y_re, n, 1 / (double)n);
    pld_compose_scale(k.y_im, n, 1 / (double)n);
    s.upper = k.y_re;
    s.lower = k.y_im;
    double each = fft_error(k.fft) + (mixtures ? 12 : 4) * unit; /* mixing takes two products and a sum */
    double result = hypot(pld_compose_norm(s.upper, n), pld_compose_norm(s.lower, n));
    double above = each * sqrt((double)n) * norms; /* how far a product of F's may pass 1, to first order */
    s.error = 1.4143 * each * norms * exp(above + s.total) +
              (expm1(2.24 * unit * products) + each) * result * (1 + 1e-9) + 1e-280;
    s.relative += 0x1p-50;
    s.infinite = infinite_mass(items, count);
    s.total = exp(s.total) * (1 + 1e-9);
    *out = s;
    s.memory = NULL;
done:
    fft_free(k.fft);
    base_free(s.memory);
    return status;
}

void pld_sum_free(struct pld_sum *s)
{
    base_free(s->memory);
    *s = (struct pld_sum){0};
}
