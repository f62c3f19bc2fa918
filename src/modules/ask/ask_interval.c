#include "ask/ask_interval.h"

#include <math.h>
#include <string.h>

double ask_tail(double a, double b, double t, bool gaussian)
{
    if (gaussian)
        return erfc(t / sqrt(2 * (a * a + b * b)));
    const double large = fmax(a, b), small = fmin(a, b), r = small / large;
    if (r > 1 - 1e-6) /* two equal ones */
        return (1 + t / (2 * large)) * exp(-t / large);
    return ((small > 0 ? -r * r * exp(-t / small) : 0) + exp(-t / large)) / (1 - r * r);
}

double ask_half_width(double a, double b, double scale, double rare, bool gaussian)
{
    double low = 0, high = 4 * (a + b) * (1 - log(rare)); /* in scales */
    if (gaussian)
        return ask_deviations(rare, true) * hypot(a, b) * scale;
    for (int i = 0; i < 60 && high > 0; i++) {
        const double middle = (low + high) / 2;
        if (ask_tail(a, b, middle, false) < rare)
            high = middle;
        else
            low = middle;
    }
    return high * scale;
}

double ask_combine(const double *weights, const struct ask_moments *m)
{
    double sum = 0;
    for (size_t i = 0; i < ASK_POWERS; i++)
        sum += weights[i] * m->sums[i];
    return sum;
}

double ask_combined_deviation(const double *weights, const struct ask_moments *m)
{
    double variance = 0;
    for (size_t i = 0; i < ASK_POWERS; i++)
        for (size_t j = 0; j < ASK_POWERS && weights[i] != 0; j++)
            variance += weights[i] * weights[j] * m->covariance[i][j];
    return sqrt(fmax(0, variance));
}

double ask_deviations(double rare, bool gaussian)
{
    double low = 0, high = 40;
    if (!gaussian)
        return -log(rare) / sqrt(2);
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) < rare)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Those v at which |sum - v n| is at most z deviations lie between the roots of a quadratic, where n itself is clear of the noise (Fieller
 * 1954). */
bool ask_mean_interval(double out[2], const struct ask_moments *m, const double *weights, double low,
                       double high, double rare, bool gaussian)
{
    const double z = ask_deviations(rare, gaussian), n = m->sums[ASK_ONE], sum = ask_combine(weights, m),
                 deviation = ask_combined_deviation(weights, m);
    double both = 0;
    for (size_t i = 0; i < ASK_POWERS; i++)
        both += weights[i] * m->covariance[i][ASK_ONE];
    const double a = n * n - z * z * m->covariance[ASK_ONE][ASK_ONE], b = sum * n - z * z * both,
                 c = sum * sum - z * z * deviation * deviation, root = sqrt(fmax(0, b * b - a * c));
    out[0] = low, out[1] = high;
    if (!(n > 0 && a > 0))
        return false;
    out[0] = fmin(high, fmax(low, (b - root) / a));
    out[1] = fmin(high, fmax(low, (b + root) / a));
    return true;
}

/* ---- second moments ---- */

/* (x - s)(y - t), or (x - s)^2. */
static void set_products(double weights[ASK_POWERS], double s, double t, bool pair)
{
    memset(weights, 0, ASK_POWERS * sizeof *weights);
    weights[pair ? ASK_XY : ASK_XX] = 1;
    weights[ASK_X] = pair ? -t : -2 * s;
    weights[ASK_Y] = pair ? -s : 0;
    weights[ASK_ONE] = pair ? s * t : s * s;
}

bool ask_moment_interval(double out[2], const struct ask_moments *m, bool pair, double rare, bool gaussian)
{
    enum { STEPS = 8 };
    static const double means[2][ASK_POWERS] = {{[ASK_X] = 1}, {[ASK_Y] = 1}};
    double centre[2][2] = {{0}}, ends[2], weights[ASK_POWERS];
    bool told = true;
    for (int j = 0; j <= pair; j++) /* 1 % of 5 % for both means together */
        told = ask_mean_interval(centre[j], m, means[j], 0, 1, rare / (pair ? 10 : 5), gaussian) && told;
    out[0] = pair ? -0.25 : 0, out[1] = 0.25;
    double low = out[1], high = out[0];
    for (int i = 0; told && i <= STEPS; i++) /* and 4 % of 5 % at the true ones, wherever these are */
        for (int j = 0; j <= (pair ? STEPS : 0); j++) {
            set_products(weights, centre[0][0] + (centre[0][1] - centre[0][0]) * i / STEPS,
                         centre[1][0] + (centre[1][1] - centre[1][0]) * j / STEPS, pair);
            told = ask_mean_interval(ends, m, weights, out[0], out[1], 0.8 * rare, gaussian) && told;
            low = fmin(low, ends[0]);
            high = fmax(high, ends[1]);
        }
    if (told)
        out[0] = low, out[1] = high;
    return told;
}

/* ---- sampling ---- */

/* All p that |mean - p|^2 <= (half of the noise's interval)^2 + z^2 p (1 - p) / n holds for, between the roots of a quadratic (Wilson 1927). */
void ask_add_sampling(double ends[2], double mean, double low, double high, double n, double rare)
{
    const double z = ask_deviations(rare, true), k = z * z / n, s = (mean - low) / (high - low);
    if (!(n > 0) || isnan(s))
        return;
    for (int side = 0; side < 2; side++) {
        const double half = (ends[side] - mean) / (high - low), b = s + k / 2,
                     root = sqrt(fmax(0, b * b - (1 + k) * (s * s - half * half))),
                     p = (b + (side ? root : -root)) / (1 + k);
        ends[side] = low + (high - low) * fmin(1, fmax(0, p));
    }
}
