/* The samplers against their laws, quickly: chi-square on the lattice at a scale small enough to enumerate,
 * Kolmogorov-Smirnov on releases at a real one, and the generators' published vectors. Fixed seeds and
 * thresholds far out (4.5 standard deviations; sqrt(n) D < 2.2): what is looked for is a build that computes
 * something else. */
#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "dp/noise/discretised_noise.h"
#include "selftest/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 20000, CELLS = 24, SCALE = 3 };
static const double FINE = 0x1.8p39;

/* x[0 .. DRAWS): noise of `scale` lattice steps. */
static sotto_status samplers_draw(int64_t *x, const struct mechanism *m, double scale, struct noise *s)
{
    sotto_status status = SOTTO_OK;
    struct discretised_noise noise = {.key = {0}};
    if (!mechanism_is_discretised(m)) {
        for (int i = 0; i < DRAWS; i++)
            x[i] = (int64_t)integer_signed(s, m->integer->magnitude, (uint64_t)scale, 0);
        goto done;
    }
    TRY(discretised_noise_open(&noise, m->law, scale, false, s));
    TRY(discretised_noise_fill(&noise, x, 0, DRAWS, 1));
done:
    discretised_noise_close(&noise);
    return status;
}

/* P(K < k) for the noise K above. */
static double samplers_below(const struct mechanism *m, int k)
{
    return m->integer ? m->integer->cdf(k - 1, 1.0 / SCALE) : m->cdf((double)k / SCALE);
}

/* z score (Wilson and Hilferty) of Pearson's statistic over floor(X), the ends taking the tails. */
static double lattice_z(const struct mechanism *m, const int64_t *drawn)
{
    double observed[CELLS] = {0}, sum = 0;
    int cells = 0;
    for (int i = 0; i < DRAWS; i++) {
        int64_t k = drawn[i] + CELLS / 2;
        observed[k < 0 ? 0 : k >= CELLS ? CELLS - 1 : k]++;
    }
    for (int i = 0; i < CELLS; i++) {
        double low = i == 0 ? 0 : samplers_below(m, i - CELLS / 2);
        double high = i == CELLS - 1 ? 1 : samplers_below(m, i + 1 - CELLS / 2);
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

/* The middle of each step, at FINE of them in the scale. */
static double samplers_kolmogorov(const struct mechanism *m, const int64_t *drawn, double *x)
{
    double distance = 0;
    for (int i = 0; i < DRAWS; i++)
        x[i] = ((double)drawn[i] + 0.5) / FINE;
    qsort(x, DRAWS, sizeof *x, by_value);
    for (int i = 0; i < DRAWS; i++) {
        double f = m->cdf(x[i]);
        distance = fmax(distance, fmax(f - (double)i / DRAWS, (double)(i + 1) / DRAWS - f));
    }
    return distance * sqrt(DRAWS);
}

static sotto_status check_law(struct checks *c, const struct mechanism *m, struct noise *s, int64_t *drawn,
                              double *x)
{
    sotto_status status = SOTTO_OK;
    char name[80];
    TRY(samplers_draw(drawn, m, SCALE, s));
    double z = lattice_z(m, drawn);
    snprintf(name, sizeof name, "%s: chi-square on the lattice", m->name);
    checks_note(c, name, fabs(z) < 4.5, "z %.2f, expected within 4.5", z);
    if (m->integer)
        goto done;
    TRY(samplers_draw(drawn, m, FINE, s));
    double d = samplers_kolmogorov(m, drawn, x);
    snprintf(name, sizeof name, "%s: Kolmogorov-Smirnov", m->name);
    checks_note(c, name, d < 2.2, "%.2f, expected below 2.2", d);
done:
    return status;
}

void selftest_samplers(struct checks *c)
{
    c->group = "samplers";
    double *x = base_alloc(DRAWS, sizeof *x);
    int64_t *drawn = base_alloc(DRAWS, sizeof *drawn);
    struct noise *s = NULL;
    c->out_of_memory = !x || !drawn || noise_open_insecure(&s, 1) != SOTTO_OK;
    for (size_t i = 0; mechanism_row(i) && !c->out_of_memory; i++) {
        const struct mechanism *m = mechanism_row(i);
        if (m->kind == RELEASE_LATTICE ||
            m->kind == RELEASE_INTEGER) /* the falsifier draws from the others */
            c->out_of_memory = check_law(c, m, s, drawn, x) != SOTTO_OK;
    }
    noise_close(s);
    base_free(drawn);
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
