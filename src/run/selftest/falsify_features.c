/* Features that have caught real bugs: the value, the lowest bit in use (noise added in floating point), sums
 * (norms mixed up), differences (noise used twice), sizes (noise scaled by data), and a learned direction. */
#include "selftest/falsify_features.h"

#include <math.h>
#include <string.h>

static const char *const whole[] = {"sum",      "sum of sizes",     "largest",
                                    "smallest", "first difference", "learned score"};
enum { WHOLE = sizeof whole / sizeof *whole, LEARN = 2048, ROUNDS = 200 };

int falsify_feature_count(int width)
{
    return 2 * width + (width > 1 ? WHOLE : 0);
}

const char *falsify_feature_name(int feature, int width)
{
    if (feature >= 2 * width)
        return whole[feature - 2 * width];
    return feature < width ? "coordinate" : "lowest bit of a coordinate";
}

/* Exponent of the lowest set bit; multiples of 2^e have at least e. */
static double lowest_bit(double y)
{
    int exponent;
    if (y == 0 || !isfinite(y))
        return 5000;
    int64_t mantissa = (int64_t)ldexp(frexp(y, &exponent), 53);
    return exponent - 53 + __builtin_ctzll((unsigned long long)mantissa);
}

static double falsify_features_standard(const struct falsify_score *s, int j, double y)
{
    double z = (y - s->mean[j]) / s->deviation[j];
    return fmax(-10, fmin(10, z)); /* NaN becomes -10 */
}

static void parts_of(double parts[3], const struct falsify_score *s, int j, double y)
{
    double z = falsify_features_standard(s, j, y);
    parts[0] = z;
    parts[1] = fabs(z);
    parts[2] = tanh(z);
}

static double score_of(const struct falsify_score *s, const double *y, int width)
{
    double sum = 0, parts[3];
    for (int j = 0; j < width; j++) {
        parts_of(parts, s, j, y[j]);
        for (int p = 0; p < 3; p++)
            sum += s->weight[j][p] * parts[p];
    }
    return sum;
}

double falsify_feature(int feature, const double *y, int width, const struct falsify_score *score)
{
    double sum = 0, sizes = 0, largest = -INFINITY, smallest = INFINITY;
    if (feature < width)
        return isnan(y[feature]) ? -INFINITY : y[feature];
    if (feature < 2 * width)
        return lowest_bit(y[feature - width]);
    if (feature == 2 * width + WHOLE - 1)
        return score_of(score, y, width);
    for (int j = 0; j < width; j++) {
        sum += y[j];
        sizes += fabs(y[j]);
        largest = fmax(largest, y[j]);
        smallest = fmin(smallest, y[j]);
    }
    const double values[] = {sum, sizes, largest, smallest, y[0] - y[1]};
    double value = values[feature - 2 * width];
    return isnan(value) ? -INFINITY : value;
}

static void falsify_features_standardise(struct falsify_score *s, const struct falsify_outputs *o, size_t n)
{
    for (int j = 0; j < o->width; j++) {
        double sum = 0, square = 0, count = 0;
        for (int w = 0; w < 2; w++)
            for (size_t i = 0; i < n; i++) {
                double y = o->world[w][i * (size_t)o->width + (size_t)j];
                if (fabs(y) < 1e100) {
                    sum += y;
                    square += y * y;
                    count++;
                }
            }
        s->mean[j] = count ? sum / count : 0;
        double variance = count ? square / count - s->mean[j] * s->mean[j] : 0;
        s->deviation[j] = variance > 0 ? sqrt(variance) : 1;
    }
}

void falsify_learn(struct falsify_score *s, const struct falsify_outputs *o, size_t train)
{
    size_t n = train < LEARN ? train : LEARN, width = (size_t)o->width;
    memset(s, 0, sizeof *s);
    falsify_features_standardise(s, o, n);
    double offset = 0;
    for (int round = 0; round < ROUNDS; round++) { /* gradient ascent on the log-likelihood of the world */
        double slope[FALSIFY_WIDTH][3] = {{0}}, parts[3], up = 0;
        for (int w = 0; w < 2; w++)
            for (size_t i = 0; i < n; i++) {
                const double *y = o->world[w] + i * width;
                double error = w - 1 / (1 + exp(-offset - score_of(s, y, o->width)));
                up += error;
                for (int j = 0; j < o->width; j++) {
                    parts_of(parts, s, j, y[j]);
                    for (int p = 0; p < 3; p++)
                        slope[j][p] += error * parts[p];
                }
            }
        offset += up / (double)n;
        for (int j = 0; j < o->width; j++)
            for (int p = 0; p < 3; p++)
                s->weight[j][p] += slope[j][p] / (double)n;
    }
}
