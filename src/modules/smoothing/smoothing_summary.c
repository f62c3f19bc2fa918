/* What all rows say together: the certified-accuracy curve. */
#include "num/beta.h"
#include "num/binomial.h"
#include "smoothing/smoothing_private.h"

#include <math.h>

enum { STEPS = 20 };

const char *smoothing_noise_name(enum sotto_smoothing_noise noise)
{
    static const char *const names[] = {"gaussian", "laplace", "logistic"};
    return names[noise];
}

const char *smoothing_norm_name(enum sotto_smoothing_noise noise)
{
    return noise == SOTTO_SMOOTHING_GAUSSIAN ? "l2" : "l1";
}

/* Share of rows that are right; with radii: with at least this one, by either method. */
static struct sotto_estimate accuracy_at(const struct sotto_smoothing_result *r, double radius, bool pixeldp)
{
    double right = 0, n = (double)r->row_count;
    struct sotto_estimate e;
    for (size_t i = 0; i < r->row_count; i++) {
        const struct sotto_smoothing_row *row = &r->rows[i];
        double own = isnan(row->p_lower) ? 0 : pixeldp ? row->pixeldp : row->radius;
        right += !row->abstained && row->answer == row->label && own >= radius;
    }
    e.estimate = right / n;
    clopper_pearson(&e.lower, &e.upper, right, n, 0.95);
    return e;
}

sotto_status smoothing_summarise(struct sotto_smoothing_result *r, const struct sotto_smoothing_options *o,
                                 bool labelled)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_estimate unknown = {NAN, NAN, NAN};
    r->options = *o;
    r->options.radii = NULL;
    r->options.radius_count = 0;
    r->options.seed = r->seeded ? o->seed : 0;
    double all = o->alpha * (double)r->row_count;
    r->alpha_all = all < 1 ? all : 1;
    r->largest_radius =
        o->certify ? smoothing_radius(o->noise, o->sigma, binomial_lower_limit(o->n, o->n, o->alpha)) : NAN;
    r->curve_count = !o->certify ? 1 : o->radius_count ? o->radius_count : STEPS + 1;
    NEW(r->curve, r->curve_count);
    for (size_t i = 0; i < r->row_count; i++)
        r->abstained += r->rows[i].abstained != 0;
    for (size_t i = 0; i < r->curve_count; i++) {
        struct sotto_smoothing_point *point = &r->curve[i];
        point->radius = !o->certify       ? 0
                        : o->radius_count ? o->radii[i]
                                          : r->largest_radius * (double)i / STEPS;
        point->accuracy = labelled ? accuracy_at(r, point->radius, false) : unknown;
        point->pixeldp = labelled && o->compare ? accuracy_at(r, point->radius, true) : unknown;
    }
done:
    return status;
}
