#include "ask/ask_interval.h"

#include <math.h>

static const double alpha = 0.05;

double ask_tail(double a, double b, double t, bool gaussian)
{
    if (gaussian)
        return erfc(t / sqrt(2 * (a * a + b * b)));
    const double large = fmax(a, b), small = fmin(a, b), r = small / large;
    if (r > 1 - 1e-6) /* two equal ones */
        return (1 + t / (2 * large)) * exp(-t / large);
    return ((small > 0 ? -r * r * exp(-t / small) : 0) + exp(-t / large)) / (1 - r * r);
}

double ask_half_width(double a, double b, double scale, bool gaussian)
{
    double low = 0, high = 8 * (a + b); /* in scales */
    if (gaussian)
        return 1.9599639845400545 * hypot(a, b) * scale;
    for (int i = 0; i < 60 && high > 0; i++) {
        const double middle = (low + high) / 2;
        if (ask_tail(a, b, middle, false) < alpha)
            high = middle;
        else
            low = middle;
    }
    return high * scale;
}

static bool is_surprise(double m, double h, double l, double scale, bool gaussian)
{
    return ask_tail(1 - m, m, fabs(h * (1 - m) - l * m) / scale, gaussian) < alpha;
}

/* Where surprise begins between a share without it and an end. */
static double find_end(double inside, double end, double h, double l, double scale, bool gaussian)
{
    if (!is_surprise(end, h, l, scale, gaussian))
        return end;
    for (int i = 0; i < 60; i++) {
        const double middle = (inside + end) / 2;
        if (is_surprise(middle, h, l, scale, gaussian))
            end = middle;
        else
            inside = middle;
    }
    return inside;
}

bool ask_share_interval(double out[2], double h, double l, double scale, bool gaussian)
{
    out[0] = 0, out[1] = 1;
    if (h + l <= 0 || ask_tail(1, 1, (h + l) / scale, gaussian) >= alpha)
        return false;
    const double m = h / (h + l); /* beyond an end where one of them is below 0 */
    const double start = fmin(1, fmax(0, m));
    if (is_surprise(start, h, l, scale, gaussian)) {
        out[0] = out[1] = start;
        return true;
    }
    out[0] = find_end(start, 0, h, l, scale, gaussian);
    out[1] = find_end(start, 1, h, l, scale, gaussian);
    return true;
}
