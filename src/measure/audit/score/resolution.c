#include "audit/score/resolution.h"

#include <math.h>

static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};

struct resolution resolution_start(void)
{
    return (struct resolution){.smallest = INFINITY, .half = true};
}

/* A number of 11 significant bits, and of no bit below 2^-24. */
static bool is_half(double p)
{
    int exponent;
    frexp(p, &exponent);
    const double scaled = ldexp(p, -(exponent - 11 > -24 ? exponent - 11 : -24));
    return scaled == floor(scaled);
}

/* Values may have been floats before. */
static bool has_decimals(double p, int decimals)
{
    const double scaled = p * powers[decimals];
    return fabs(scaled - round(scaled)) <= scaled * 0x1p-23 + 1e-9;
}

static void resolution_note_one(struct resolution *r, double p)
{
    if (p == 0)
        r->zeros = true;
    if (!(p > 0 && p < 1))
        return;
    r->between++;
    r->smallest = p < r->smallest ? p : r->smallest;
    r->half = r->half && is_half(p);
    while (r->decimals <= RESOLUTION_DECIMALS && !has_decimals(p, r->decimals))
        r->decimals++;
}

void resolution_see(struct resolution *r, const double *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        resolution_note_one(r, p[i]);
}

void resolution_see_single(struct resolution *r, const float *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        resolution_note_one(r, (double)p[i]);
}

double resolution_step(const struct resolution *r)
{
    if (r->between < RESOLUTION_LEAST)
        return 0;
    if (r->decimals <= RESOLUTION_DECIMALS)
        return 1 / powers[r->decimals];
    if (r->half)
        return 0x1p-24;
    return r->zeros ? r->smallest : 0;
}

double resolution_slack(double step, size_t classes)
{
    return fmax(1e-3, (double)classes * step / 2 + 1e-6);
}
