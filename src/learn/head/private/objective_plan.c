/* Where epsilon goes, and what follows from it. Nothing here depends on a record; docs/derivations/objective.md has the
 * formulas. The rules for tau, lambda and the shares are heuristics: they decide how good a head is, never how private. */
#include "head/private/head_objective.h"

#include <math.h>

const double objective_radius = 2, objective_constant = 0.6; /* the radius is that of head_descent_centre() */

static const double FINISH = 0x1p-7;                         /* share of epsilon of each blur */
static const double LEAST_CENTRE = 0.03, MOST_CENTRE = 0.2;  /* share of the mean */
static const double CENTRE_NOISE = 8;                        /* that share over the noise it meets */
static const double LEAST_CURVATURE = 0.2, FEW_NOISE = 0.07; /* less curvature where noise is large */
static const double RIDGE = 10, MOST_RIDGE = 0.015;          /* lambda over noise^2 / n, and over n R^2 */
static const double unit = 0x1p-53;

/* Noise over signal of a sum over the records of one class. */
static double noise_per_class(const struct objective_plan *p, double epsilon)
{
    return 2 * (double)p->classes * ((double)p->inputs + 1) / (epsilon * (double)p->records);
}

static double objective_plan_between(double low, double x, double high)
{
    return fmin(high, fmax(low, x));
}

struct interval objective_jacobian(double norm, double curvature, double lambda_sum, size_t classes)
{
    const double k = (double)classes, parts = classes == 2 ? 4 : k, rank = classes == 2 ? 1 : k - 1;
    const struct interval trace = iv_mul(iv(curvature), iv_square(iv(norm)));
    return iv_scale(iv_log1p(iv_div(trace, iv_scale(iv(lambda_sum), parts))), rank);
}

/* |gradient - gradient'| in the norm of the noise, for any two records: 2 (1 + tau) R', for one vector half of it. */
static double sensitivity_of(const struct objective_plan *p)
{
    return iv_mul(iv_scale(iv_add(iv(1), iv(p->curvature)), p->classes == 2 ? 1 : 2), iv(p->norm)).hi;
}

/* Error of a computed gradient at v: at most *constant + *slope |v| (docs/derivations/head.md, section 4, with a linear
 * part). */
static void gradient_rounding(double *constant, double *slope, const struct objective_plan *p)
{
    const double n = (double)p->records, q = (double)p->inputs + 1, k = (double)p->classes, r = p->norm;
    *constant = 2 * unit * r * (4 * k + 64 + 4 * (n + 64) + 32 + 2 * (q + 8));
    *slope = 2 * unit * ((q + 8) * r * r + (q + 24) * p->lambda);
}

/* A radius that minima with usual noise keep within: lambda/2 |v|^2 <= |linear| |v| + tau ln K. */
static double ball_of(const struct objective_plan *p)
{
    const struct knorm_blocks *b = &p->weights.inside;
    const double usual = 2 * sqrt((double)b->blocks) * b->scale * ((double)b->width + 1);
    const double linear = usual / (double)p->records + (1 - p->curvature) * p->norm;
    return (linear + sqrt(linear * linear + 2 * p->lambda * p->curvature * log((double)p->classes))) /
           p->lambda;
}

/* The blur for `error`, and so wide that the ends are within reach of the proof. */
static sotto_status objective_plan_finish(struct objective_noise *noise, size_t dimension, double epsilon)
{
    sotto_status status = SOTTO_OK;
    TRY(knorm_blur_scale(&noise->blur, noise->error, dimension, epsilon));
    noise->blur = fmax(noise->blur, ldexp(noise->end, -KNORM_END));
done:
    return status;
}

static sotto_status plan_centre(struct objective_plan *p, double epsilon, double blur)
{
    const double n = (double)p->records;
    const size_t width = p->inputs + 1;
    struct objective_noise *noise = &p->centre;
    noise->inside = (struct knorm_blocks){1, width, iv_div(iv(2), iv(epsilon)).hi};
    noise->end = n + 64 * noise->inside.scale * (double)width;
    noise->error =
        knorm_error(&noise->inside, width) +
        unit * (2 * n * (n + 64) + 4 * sqrt((double)width) * ((double)width + 8) * (noise->end + n));
    return objective_plan_finish(noise, width, blur);
}

static sotto_status plan_weights(struct objective_plan *p, double epsilon, double blur)
{
    const double n = (double)p->records;
    struct objective_noise *noise = &p->weights;
    double constant, slope;
    noise->inside =
        (struct knorm_blocks){p->outputs, p->inputs + 1, iv_div(iv(p->sensitivity), iv(epsilon)).hi};
    noise->end = ball_of(p);
    gradient_rounding(&constant, &slope, p);
    const double rounding = constant + slope * noise->end;
    p->stop = fmax(0x1p-20 * p->norm / n, 4 * rounding);
    noise->error = 4.04 * (p->stop + rounding + knorm_error(&noise->inside, p->dimension) / n) / p->lambda;
    return objective_plan_finish(noise, p->dimension, blur);
}

/* lambda / n as large as the noise asks for, and so that the determinants cost a quarter of epsilon at most: their bound is
 * below trace / lambda. */
static double objective_plan_ridge(const struct objective_plan *p, double epsilon)
{
    const double n = (double)p->records, radius = objective_radius, k = (double)p->classes;
    const double noise = p->sensitivity * ((double)p->inputs + 1) / epsilon;
    const double rule = 1 / (n / (RIDGE * noise * noise) + 1 / (MOST_RIDGE * n * radius * radius));
    const double trace = p->curvature * p->norm * p->norm * (p->classes == 2 ? 0.25 : 1 - 1 / k);
    return fmax(rule, 4 * trace / epsilon) / n;
}

/* What is left for the noise inside. */
static double left_for_noise(const struct objective_plan *p, double epsilon)
{
    const double n = (double)p->records;
    return epsilon - objective_jacobian(p->norm, p->curvature, p->lambda * n * (1 - 0x1p-40), p->classes).hi;
}

static struct interval cost_of(const struct objective_plan *p)
{
    const struct objective_noise *c = &p->centre, *w = &p->weights;
    struct interval sum = iv_div(iv(2), iv(c->inside.scale));
    sum = iv_add(sum, knorm_blur_cost(c->error, p->inputs + 1, c->blur));
    sum = iv_add(sum, iv_div(iv(p->sensitivity), iv(w->inside.scale)));
    sum = iv_add(sum, knorm_blur_cost(w->error, p->dimension, w->blur));
    sum = iv_add(sum, objective_jacobian(p->norm, p->curvature,
                                         p->lambda * (double)p->records * (1 - 0x1p-40), p->classes));
    return sum;
}

sotto_status objective_plan_find(struct objective_plan *out, double epsilon, size_t n, size_t inputs,
                                 size_t classes)
{
    sotto_status status = SOTTO_OK;
    struct objective_plan p = {.records = n, .inputs = inputs, .classes = classes};
    if (!(epsilon >= 1e-6 && epsilon <= 1e4))
        FAIL(SOTTO_EDOMAIN, "trainer objective: epsilon %g is out of range; expected 1e-6 to 1e4", epsilon);
    const double used = epsilon * (1 - 0x1p-30), noise = noise_per_class(&p, epsilon);
    const double centre =
        objective_plan_between(LEAST_CENTRE, CENTRE_NOISE * noise / (double)classes, MOST_CENTRE) * used;
    const double blur = FINISH * used, rest = used - centre - 2 * blur;
    p.outputs = classes == 2 ? 1 : classes;
    REQUIRE(size_multiply(&p.dimension, p.outputs, inputs + 1), "head: %zu features do not fit in memory",
            inputs);
    p.norm = iv_sqrt(iv_add(iv_square(iv(objective_radius)), iv_square(iv(objective_constant)))).hi;
    p.curvature = objective_plan_between(LEAST_CURVATURE, FEW_NOISE / noise, 1);
    p.sensitivity = sensitivity_of(&p);
    p.lambda = objective_plan_ridge(&p, rest);
    TRY(plan_centre(&p, centre, blur));
    TRY(plan_weights(&p, left_for_noise(&p, rest), blur));
    p.cost = cost_of(&p);
    if (!(p.cost.hi <= epsilon && p.weights.inside.scale > 0))
        FAIL(SOTTO_EINTERNAL, "trainer objective: the parts cost %.17g, more than epsilon %.17g", p.cost.hi,
             epsilon);
    *out = p;
done:
    return status;
}
