/* The samplers against their laws, quickly: chi-square on the lattice at a scale small enough to enumerate,
 * Kolmogorov-Smirnov on releases at a real one, and the generators' published vectors. Fixed seeds and
 * thresholds far out (4.5 standard deviations; sqrt(n) D < 2.2): what is looked for is a build that computes
 * something else. */
#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "selftest/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 20000, CELLS = 24, SCALE = 3 };

static int64_t draw(const struct mechanism *m, struct noise *s)
{
    if (m->integer)
        return (int64_t)integer_signed(s, m->integer->magnitude, SCALE, 0);
    return ((int64_t)lattice_release(s, 0, m->magnitude(s, SCALE)) - 1) / 2;
}

/* P(K < k) for the noise K above. */
static double below(const struct mechanism *m, int k)
{
    return m->integer ? m->integer->cdf(k - 1, 1.0 / SCALE) : m->cdf((double)k / SCALE);
}

/* z score (Wilson and Hilferty) of Pearson's statistic over floor(X), the ends taking the tails. */
static double lattice_z(const struct mechanism *m, struct noise *s)
{
    double observed[CELLS] = {0}, sum = 0;
    int cells = 0;
    for (int i = 0; i < DRAWS; i++) {
        int64_t k = draw(m, s) + CELLS / 2;
        observed[k < 0 ? 0 : k >= CELLS ? CELLS - 1 : k]++;
    }
    for (int i = 0; i < CELLS; i++) {
        double low = i == 0 ? 0 : below(m, i - CELLS / 2);
        double high = i == CELLS - 1 ? 1 : below(m, i + 1 - CELLS / 2);
        double expected = DRAWS * (high - low);
        if (expected >= 5) {
            sum += (observed[i] - expected) * (observed[i] - expected) / expected;
            cells++;
        }
    }
    double free = cells - 1, cube = 2 / (9 * free);
    return (cbrt(sum / free) - (1 - cube)) / sqrt(cube);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double kolmogorov(const struct mechanism *m, struct noise *s, double *x)
{
    struct lattice lattice = lattice_make(0.1);
    double distance = 0;
    for (int i = 0; i < DRAWS; i++)
        x[i] = (double)lattice_value(lattice_release(s, 0, m->magnitude(s, lattice.m)), lattice) / 0.1;
    qsort(x, DRAWS, sizeof *x, by_value);
    for (int i = 0; i < DRAWS; i++) {
        double f = m->cdf(x[i]);
        distance = fmax(distance, fmax(f - (double)i / DRAWS, (double)(i + 1) / DRAWS - f));
    }
    return distance * sqrt(DRAWS);
}

void selftest_samplers(struct checks *c)
{
    c->group = "samplers";
    double *x = base_alloc(DRAWS, sizeof *x);
    struct noise *s = NULL;
    if (!x || noise_open_insecure(&s, 1) != SOTTO_OK) {
        c->out_of_memory = true;
        base_free(x);
        return;
    }
    for (size_t i = 0; mechanism_row(i); i++) {
        const struct mechanism *m = mechanism_row(i);
        char name[80];
        if (m->kind != RELEASE_LATTICE && m->kind != RELEASE_INTEGER)
            continue; /* the falsifier draws from the others */
        double z = lattice_z(m, s);
        snprintf(name, sizeof name, "%s: chi-square on the lattice", m->name);
        checks_note(c, name, fabs(z) < 4.5, "z %.2f, expected within 4.5", z);
        if (m->integer)
            continue;
        double d = kolmogorov(m, s, x);
        snprintf(name, sizeof name, "%s: Kolmogorov-Smirnov", m->name);
        checks_note(c, name, d < 2.2, "%.2f, expected below 2.2", d);
    }
    noise_close(s);
    base_free(x);
}

/* Two streams from the operating system must differ, and a Philox block must be the published one. */
void selftest_randomness(struct checks *c)
{
    c->group = "samplers";
    struct noise *a = NULL, *b = NULL;
    if (noise_open(&a) != SOTTO_OK || noise_open(&b) != SOTTO_OK) {
        checks_note(c, "operating-system randomness", false, "%s", sotto_error_text());
    } else {
        uint64_t x = noise_u64(a), y = noise_u64(b);
        double ones = 0;
        for (int i = 0; i < DRAWS; i++)
            ones += __builtin_popcountll(noise_u64(a));
        double z = (ones - 32.0 * DRAWS) / sqrt(16.0 * DRAWS);
        checks_note(c, "operating-system randomness", x != y && fabs(z) < 6,
                    "two streams %s; bits balanced to z %.2f, expected within 6",
                    x != y ? "differ" : "are the same", z);
    }
    noise_close(a);
    noise_close(b);
}
