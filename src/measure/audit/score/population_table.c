#include "audit/score/population_table.h"
#include "audit/score/posterior.h"

#include <math.h>

static size_t width_of(const struct attack_input *in)
{
    if (in->features && in->population->features)
        return in->width + 1;
    return in->labels && in->population->labels ? in->classes + 1 : 1;
}

static void population_table_inputs(double *x, const struct attack_input *in, size_t row, size_t d,
                                    bool features)
{
    for (size_t j = 0; j + 1 < d; j++)
        x[j] = features ? (double)in->features[row * in->width + j] : (size_t)in->labels[row] == j;
    x[d - 1] = 1;
}

static void population_table_standardise(struct population_table *t)
{
    for (size_t j = 0; j < t->d; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < t->n; i++)
            sum += t->x[i * t->d + j];
        double mean = sum / (double)t->n;
        for (size_t i = 0; i < t->n; i++)
            squares += (t->x[i * t->d + j] - mean) * (t->x[i * t->d + j] - mean);
        bool constant = !(squares > 1e-20 * (double)t->n);
        t->mean[j] = j + 1 == t->d ? 0 : mean;
        t->scale[j] = j + 1 == t->d ? 1 : constant ? 0 : sqrt((double)t->n / squares);
    }
    double sum = 0, squares = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += t->y[i];
    t->centre = sum / (double)t->n;
    for (size_t i = 0; i < t->n; i++)
        squares += (t->y[i] - t->centre) * (t->y[i] - t->centre);
    t->spread = squares > 0 ? sqrt(squares / (double)t->n) : 1;
    for (size_t i = 0; i < t->n; i++) {
        t->y[i] = (t->y[i] - t->centre) / t->spread;
        for (size_t j = 0; j < t->d; j++)
            t->x[i * t->d + j] = (t->x[i * t->d + j] - t->mean[j]) * t->scale[j];
    }
}

sotto_status population_table_make(struct population_table *out, const struct attack_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *z = in->population;
    struct population_table t = {.n = z->n, .d = width_of(in), .features = in->features && z->features};
    size_t values, total;
    if (!size_multiply(&values, t.n, t.d) || !size_add(&total, values, t.n) ||
        !size_add(&total, total, 2 * t.d) || !(t.block = base_alloc(total, sizeof *t.block)))
        FAIL(SOTTO_ENOMEM, "population: out of memory for %zu x %zu values", t.n, t.d);
    t.x = t.block, t.y = t.x + values, t.mean = t.y + t.n, t.scale = t.mean + t.d;
    for (size_t i = 0; i < t.n; i++) {
        population_table_inputs(t.x + i * t.d, z, i, t.d, t.features);
        t.y[i] = posterior_signal(z, i);
    }
    population_table_standardise(&t);
    *out = t;
done:
    return status;
}

void population_table_clear(struct population_table *t)
{
    base_free(t->block);
    *t = (struct population_table){0};
}

double population_table_row(double *x, const struct population_table *t, const struct attack_input *in,
                            size_t row)
{
    population_table_inputs(x, in, row, t->d, t->features);
    for (size_t j = 0; j < t->d; j++)
        x[j] = (x[j] - t->mean[j]) * t->scale[j];
    return (posterior_signal(in, row) - t->centre) / t->spread;
}
