#include "head/private/head_descent.h"

#include <math.h>
#include <string.h>

/* Constants of the trainer. Those of the rule (TIME, MOST_RATE) are heuristics: they decide how good a head is, never
 * how private. */
const double head_descent_momentum = 0.9;
static const double MEAN_PART = 0.95,
                    SQUARE_PART = 0.3; /* squares sum to less than 1: a contribution's norm */
static const double RADIUS = 2;        /* root mean square of |z|; the bias sees a constant 1 */
static const double LEAST_SPREAD = 0.01, CLEAR = 0.1; /* in units of R^2 */
static const double TIME = 10, MOST_RATE = 4;
enum { CENTRING_SHARE = 20, AVERAGED_SHARE = 4 }; /* 1 / 20 of all steps, 1 / 4 of the others */

bool head_descent_is(const struct sotto_head_recipe *r)
{
    return strcmp(r->trainer, "dp-gd") == 0;
}

void head_descent_layout(struct head_descent *t, struct arena *memory, const struct head_data *data,
                         const struct sotto_head_recipe *r)
{
    t->data = data;
    t->steps = r->steps;
    t->centring = (r->steps + CENTRING_SHARE - 1) / CENTRING_SHARE;
    t->clip = r->clip;
    t->moments = arena_take(memory, data->d + 1, sizeof *t->moments);
    t->centre = arena_take(memory, data->d, sizeof *t->centre);
    t->z = arena_take(memory, data->n * data->d, sizeof *t->z);
}

/* x / R, of norm at most 1. */
static void head_descent_place(float *out, const struct head_descent *t, size_t record)
{
    const size_t d = t->data->d;
    head_record_clip(out, t->data->x + record * d, d, t->clip);
}

void head_descent_sum(struct head_descent *t)
{
    const struct head_data *data = t->data;
    const size_t d = data->d;
    memset(t->moments, 0, (d + 1) * sizeof *t->moments);
    for (size_t i = 0; i < data->n; i++) {
        float *x = t->z + i * d;
        double square = 0;
        if (data->y[i] == HEAD_NOTHING)
            continue;
        head_descent_place(x, t, i);
        for (size_t j = 0; j < d; j++) {
            double u = x[j] / t->clip;
            t->moments[j] += MEAN_PART * u;
            square += u * u;
        }
        t->moments[d] += SQUARE_PART * (square < 1 ? square : 1);
    }
}

/* James and Stein: a mean that the noise drowns is no mean. */
static double head_descent_shrink(double *mean, size_t d, double deviation)
{
    double square = 0, keep;
    for (size_t j = 0; j < d; j++)
        square += mean[j] * mean[j];
    keep = square > 0 ? 1 - (double)d * deviation * deviation / square : 0;
    keep = keep > 0 ? keep : 0;
    for (size_t j = 0; j < d; j++)
        mean[j] *= keep;
    return square * keep * keep;
}

void head_descent_centre(struct head_descent *t, const double *released, double norm, double deviation)
{
    const struct head_data *data = t->data;
    const size_t d = data->d;
    const double all = (double)t->centring * norm * (double)data->n;
    const double each = deviation * sqrt((double)t->centring) / all;
    for (size_t j = 0; j < d; j++)
        t->centre[j] = released[j] / (all * MEAN_PART);
    /* The mean square is at most 1, which is what stands for it where the noise is too large. */
    double square = each / SQUARE_PART < CLEAR ? released[d] / (all * SQUARE_PART) : 1;
    double spread = square - head_descent_shrink(t->centre, d, each / MEAN_PART);
    t->scale = RADIUS / sqrt(spread > LEAST_SPREAD ? spread : LEAST_SPREAD);
    for (size_t i = 0; i < data->n; i++) {
        float *z = t->z + i * d;
        if (data->y[i] == HEAD_NOTHING) {
            memset(z, 0, d * sizeof *z);
            continue;
        }
        head_descent_place(z, t, i);
        for (size_t j = 0; j < d; j++)
            z[j] = (float)(t->scale * (z[j] / t->clip - t->centre[j]));
    }
}

size_t head_descent_averaged(const struct head_descent *t)
{
    return (t->steps - t->centring + AVERAGED_SHARE - 1) / AVERAGED_SHARE;
}

bool head_descent_averages(const struct head_descent *t, size_t step)
{
    return step > t->steps - head_descent_averaged(t);
}

double head_descent_rate(const struct sotto_head_recipe *r, size_t n, size_t inputs, size_t classes)
{
    if (r->step_size > 0)
        return r->step_size;
    const double weights = (double)(inputs + 1) * (double)(classes - 1), steps = (double)r->steps;
    const double signal = (double)n * sqrt(steps) / (r->noise_multiplier * sqrt(weights));
    return fmin(MOST_RATE, TIME * signal * (1 - head_descent_momentum) / steps);
}

void head_descent_export(float *parameters, const struct head_descent *t, const double *w)
{
    const size_t d = t->data->d, classes = t->data->classes;
    for (size_t k = 0; k < classes; k++) {
        double bias = w[classes * d + k];
        for (size_t j = 0; j < d; j++) {
            bias -= t->scale * w[k * d + j] * t->centre[j];
            parameters[k * d + j] = (float)(t->scale * w[k * d + j] / t->clip);
        }
        parameters[classes * d + k] = (float)bias;
    }
}
