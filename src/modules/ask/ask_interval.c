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

/* ---- means of several cells ---- */

/* The same for any weights. Laplace: a sum of exponentials, after weights that are nearly equal, or nearly 0, have been raised so that
 * they differ. A larger weight has a larger tail. */
static double tail_of(const double *weights, size_t n, double t, bool gaussian)
{
    double w[ASK_PARTS] = {0}, squares = 0, tail = 0;
    for (size_t i = 0; i < n; i++) { /* falling */
        size_t at = i;
        squares += weights[i] * weights[i];
        for (; at > 0 && w[at - 1] < fabs(weights[i]); at--)
            w[at] = w[at - 1];
        w[at] = fabs(weights[i]);
    }
    if (gaussian)
        return erfc(t / sqrt(2 * squares));
    w[n - 1] = fmax(w[n - 1], 1e-3 * w[0]);
    for (size_t i = n - 1; i-- > 0;)
        w[i] = fmax(w[i], 1.001 * w[i + 1]);
    for (size_t i = 0; i < n; i++) {
        double factor = 1;
        for (size_t j = 0; j < n; j++)
            factor *= j == i ? 1 : w[i] * w[i] / ((w[i] - w[j]) * (w[i] + w[j]));
        tail += factor * exp(-t / w[i]);
    }
    return tail;
}

static double tail_at(const struct ask_parts *p, double v, double scale, bool gaussian)
{
    double weights[ASK_PARTS], sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        weights[i] = p->numbers[i] - v;
        sum += weights[i] * p->cells[i];
    }
    return tail_of(weights, p->count, fabs(sum) / scale, gaussian);
}

bool ask_mean_interval(double out[2], const struct ask_parts *p, double low, double high, double rare,
                       double scale, bool gaussian)
{
    static const double ones[ASK_PARTS] = {1, 1, 1, 1};
    double sum = 0, all = 0;
    out[0] = low, out[1] = high;
    for (size_t i = 0; i < p->count; i++) {
        all += p->cells[i];
        sum += p->numbers[i] * p->cells[i];
    }
    if (all <= 0 || tail_of(ones, p->count, all / scale, gaussian) >= rare)
        return false;
    const double start = fmin(high, fmax(low, sum / all));
    for (int end = 0; end <= 1; end++) {
        double inside = start, outside = out[end];
        if (tail_at(p, outside, scale, gaussian) >= rare)
            continue;
        for (int i = 0; i < 40; i++) {
            const double middle = (inside + outside) / 2;
            if (tail_at(p, middle, scale, gaussian) < rare)
                outside = middle;
            else
                inside = middle;
        }
        out[end] = outside; /* the safe side */
    }
    return true;
}

/* ---- second moments ---- */

/* (x - s)(y - t) in the cells of a variance (y = x), or of a covariance. */
static void set_products(struct ask_parts *p, double s, double t, bool pair)
{
    const double numbers[2][ASK_PARTS] = {{(1 - s) * (1 - s), -s * (1 - s), s * s},
                                          {(1 - s) * (1 - t), -(1 - s) * t, -s * (1 - t), s * t}};
    for (size_t i = 0; i < p->count; i++)
        p->numbers[i] = numbers[pair][i];
}

bool ask_moment_interval(double out[2], const double *cells, bool pair, double scale, bool gaussian)
{
    enum { STEPS = 8 };
    static const double means[3][ASK_PARTS] = {{1, 0.5, 0}, {1, 1, 0, 0}, {1, 0, 1, 0}};
    struct ask_parts p = {.count = pair ? 4 : 3};
    double centre[2][2] = {{0}}, ends[2];
    bool told = true;
    for (size_t i = 0; i < p.count; i++)
        p.cells[i] = cells[i];
    for (int j = 0; j <= pair; j++) { /* 1 % for both means together */
        for (size_t i = 0; i < p.count; i++)
            p.numbers[i] = means[pair + j][i];
        told = ask_mean_interval(centre[j], &p, 0, 1, pair ? 0.005 : 0.01, scale, gaussian) && told;
    }
    out[0] = pair ? -0.25 : 0, out[1] = 0.25;
    double low = out[1], high = out[0];
    for (int i = 0; told && i <= STEPS; i++) /* and 4 % at the true ones, wherever these are */
        for (int j = 0; j <= (pair ? STEPS : 0); j++) {
            set_products(&p, centre[0][0] + (centre[0][1] - centre[0][0]) * i / STEPS,
                         centre[1][0] + (centre[1][1] - centre[1][0]) * j / STEPS, pair);
            told = ask_mean_interval(ends, &p, out[0], out[1], 0.04, scale, gaussian) && told;
            low = fmin(low, ends[0]);
            high = fmax(high, ends[1]);
        }
    if (told)
        out[0] = low, out[1] = high;
    return told;
}
