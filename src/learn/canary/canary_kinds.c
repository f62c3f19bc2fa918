/* What a canary is: its record for heads, and the one for tails. All of it is drawn from a seed that is no secret; the coins
 * are not known here. */
#include "base/memory.h"
#include "canary/canaries.h"
#include "num/symmetric.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { CANARY_STREAM = 'c' /* a step of its own */, LARGEST_WIDTH = 2048 /* of a matrix of covariances */ };

const char *canary_kind_name(enum sotto_canary_kind kind)
{
    static const char *const names[] = {"mislabelled", "random", "dirac", "clipbkd", "in-distribution"};
    return names[kind];
}

const char *canary_relation_name(enum sotto_canary_relation relation)
{
    static const char *const names[] = {"it or nothing", "one of two", "in or out"};
    return names[relation];
}

size_t canary_displaces(enum sotto_canary_kind kind, enum sotto_canary_relation relation)
{
    return kind == SOTTO_CANARY_MISLABELLED       ? 1
           : kind != SOTTO_CANARY_IN_DISTRIBUTION ? 0
           : relation == SOTTO_CANARY_ONE_OF_TWO  ? 2
                                                  : 1;
}

/* A class that is neither of two (-1: none). */
static int64_t other_class(struct rng *r, size_t classes, int64_t a, int64_t b)
{
    int64_t k;
    do
        k = (int64_t)rng_below(r, classes);
    while (k == a || k == b);
    return k;
}

static void noise_record(struct sotto_canaries *c, unsigned char *out, struct rng *r)
{
    if (c->data.images)
        for (size_t j = 0; j < c->width; j++)
            out[j] = (unsigned char)rng_below(r, 256);
    else
        for (size_t j = 0; j < c->width / sizeof(float); j++)
            ((float *)out)[j] = (float)rng_normal(r);
}

/* A pixel is grey plus the direction, at full contrast. */
static void direction_record(struct sotto_canaries *c, unsigned char *out, const float *direction)
{
    float largest = 1e-30f;
    if (!c->data.images) {
        memcpy(out, direction, c->width);
        return;
    }
    for (size_t j = 0; j < c->width; j++)
        largest = fmaxf(largest, fabsf(direction[j]));
    for (size_t j = 0; j < c->width; j++)
        out[j] = (unsigned char)lrintf(127.5f + 127.5f * direction[j] / largest);
}

/* The record for heads; for tails, where there is one, the same with another label. */
void canary_fill(struct sotto_canaries *c, size_t i, size_t classes, const struct canary_source *from)
{
    struct rng r = rng_stream(c->seed, RNG_SYNTHETIC, CANARY_STREAM, i);
    unsigned char *heads = c->values[1] + i * c->width, *tails = c->values[0] + i * c->width;
    const bool two = c->relation == SOTTO_CANARY_ONE_OF_TWO;
    int64_t label = -1, other = -1;
    switch (c->kind) {
    case SOTTO_CANARY_MISLABELLED:
        memcpy(heads, from->displaced[0], c->width);
        label = other_class(&r, classes, from->label[0], -1);
        other = two ? other_class(&r, classes, from->label[0], label) : -1;
        break;
    case SOTTO_CANARY_IN_DISTRIBUTION:
        memcpy(heads, from->displaced[0], c->width);
        label = from->label[0];
        if (two) {
            memcpy(tails, from->displaced[1], c->width);
            other = from->label[1];
        }
        break;
    case SOTTO_CANARY_RANDOM:
    case SOTTO_CANARY_CLIPBKD:
        if (c->kind == SOTTO_CANARY_RANDOM)
            noise_record(c, heads, &r);
        else
            direction_record(c, heads, from->direction);
        label = other_class(&r, classes, -1, -1);
        other = two ? other_class(&r, classes, label, -1) : -1;
        break;
    case SOTTO_CANARY_DIRAC:
        break;
    }
    if (c->kind != SOTTO_CANARY_IN_DISTRIBUTION || !two)
        memcpy(tails, heads, c->width);
    c->labels[1][i] = label;
    c->labels[0][i] = other;
}

static void canary_kinds_covariance(double *out, const float *rows, size_t n, size_t d, double *mean)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            mean[j] += rows[i * d + j] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            const double x = rows[i * d + j] - mean[j];
            for (size_t k = j; k < d && x != 0; k++)
                out[j * d + k] += x * (rows[i * d + k] - mean[k]);
        }
    for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < j; k++)
            out[j * d + k] = out[k * d + j];
}

static double mean_norm(const float *rows, size_t n, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++)
            square += (double)rows[i * d + j] * rows[i * d + j];
        sum += sqrt(square);
    }
    return sum / (double)n;
}

sotto_status canary_directions(float **directions, size_t count, const float *rows, size_t n, size_t d)
{
    sotto_status status = SOTTO_OK;
    double *a = NULL, *values = NULL, *scratch = NULL, *mean = NULL;
    float *out = NULL;
    REQUIRE(rows && n >= 2,
            "canaries of kind clipbkd need public rows; give {public_rows|canary-public=FILE}");
    REQUIRE(count <= d, "%zu canaries of kind clipbkd; expected at most %zu, the values of a record", count,
            d);
    REQUIRE(d <= LARGEST_WIDTH,
            "records of %zu values are too wide for canaries of kind clipbkd; expected at most %d", d,
            (int)LARGEST_WIDTH);
    NEW_ROWS(a, d, d);
    NEW(values, d);
    NEW(mean, d);
    NEW(scratch, d * d + 3 * d);
    NEW_ROWS(out, count, d);
    canary_kinds_covariance(a, rows, n, d, mean);
    REQUIRE(symmetric_eigen(a, values, d, scratch),
            "the public rows of canaries hold values that are not finite");
    const double norm = mean_norm(rows, n, d);
    for (size_t i = 0; i < count; i++) {
        size_t least = 0;
        for (size_t k = 1; k < d; k++)
            least = values[k] < values[least] ? k : least;
        for (size_t j = 0; j < d; j++)
            out[i * d + j] = (float)(norm * a[least * d + j]);
        values[least] = INFINITY;
    }
    *directions = out;
    out = NULL;
done:
    base_free(a);
    base_free(values);
    base_free(mean);
    base_free(scratch);
    base_free(out);
    return status;
}
