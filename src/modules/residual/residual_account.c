/* What residual perturbation proves and claims about privacy. Published quantities are conditional on
 * assumptions, so they are computed in plain double and rounded up by a hair; the proved one goes through the
 * accountant. */
#include "base/status.h"
#include "options/module_tables.h"
#include "sotto/lab/account.h"
#include "sotto/option.h"
#include "sotto/lab/residual.h"

#include <math.h>
#include <stdint.h>

static double residual_account_up(double x)
{
    return x * (1 + 0x1p-44);
}

static sotto_status check_delta(double delta)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(delta > 0 && delta < 1, "delta is %g; expected above 0 and below 1", delta);
done:
    return status;
}

static sotto_status check_positive(const char *name, double value)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(value > 0 && isfinite(value), "%s is %g; expected a number above 0", name, value);
done:
    return status;
}

/* (alpha, c alpha)-RDP for all alpha is (c + 2 sqrt(c ln(1 / delta)), delta)-DP: the best order is 1 + sqrt(L
 * / c). */
static double epsilon_of(double c, double delta)
{
    return residual_account_up(c + 2 * sqrt(c * -log(delta)));
}
/* The inverse: sqrt(c) = sqrt(L + epsilon) - sqrt(L), written without cancellation and rounded down. */
static double c_of(double epsilon, double delta)
{
    double l = -log(delta), root = epsilon / (sqrt(l + epsilon) + sqrt(l));
    return root * root / (1 + 0x1p-44);
}

/* ---- proved: noise on inputs ---- */

static sotto_status check_input(size_t *releases, const struct sotto_residual_input *in)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_options_check(in, options_residual_input, "radius|delta|uses|copies|label_epsilon"));
    REQUIRE(in->copies <= SIZE_MAX / in->uses, "uses x copies is too large");
    *releases = in->uses * in->copies;
done:
    return status;
}

/* Any two inputs of norm R are at most 2 R apart. */
static struct sotto_sensitivity residual_account_distance(const struct sotto_residual_input *in)
{
    return (struct sotto_sensitivity){.l1 = NAN, .l2 = 2 * in->radius, .source = SOTTO_SENSITIVITY_CLIPPED};
}

sotto_status sotto_residual_input(struct sotto_residual_account *out, const struct sotto_residual_input *in)
{
    REQUIRE_GIVEN(out, in);
    sotto_status status = SOTTO_OK;
    struct sotto_account account;
    size_t releases = 0;
    TRY(check_positive("input noise", in->noise));
    TRY(check_input(&releases, in));
    struct sotto_sensitivity s = residual_account_distance(in);
    TRY(sotto_account_release(&account, "gaussian", in->noise, &s, in->delta, releases, NULL));
    double ratio = in->radius / in->noise;
    *out = (struct sotto_residual_account){
        .epsilon = {account.epsilon.lower, residual_account_up(account.epsilon.upper + in->label_epsilon)},
        .renyi_epsilon = residual_account_up(epsilon_of(2 * ratio * ratio * (double)releases, in->delta) +
                                             in->label_epsilon)};
    if (in->label_epsilon == 0)
        out->epsilon.upper = account.epsilon.upper;
done:
    return status;
}

sotto_status sotto_residual_input_noise(double *noise, double epsilon, const struct sotto_residual_input *in)
{
    REQUIRE_GIVEN(noise, in);
    sotto_status status = SOTTO_OK;
    size_t releases = 0;
    TRY(check_positive("epsilon", epsilon));
    TRY(check_input(&releases, in));
    REQUIRE(epsilon > in->label_epsilon, "epsilon %g is too small; the labels alone need %g", epsilon,
            in->label_epsilon);
    struct sotto_sensitivity s = residual_account_distance(in);
    struct sotto_dp target = {(epsilon - in->label_epsilon) / (1 + 0x1p-40), in->delta};
    TRY(sotto_calibrate_composed(noise, "gaussian", &s, target, releases, NULL));
done:
    return status;
}

/* ---- Theorem 1, as published ---- */

static sotto_status check_theorem1(const struct sotto_residual_theorem1 *t)
{
    sotto_status status = SOTTO_OK;
    TRY(check_positive("radius", t->radius));
    TRY(check_positive("mapping bound", t->mapping_bound));
    TRY(check_positive("uses", t->uses));
    TRY(check_delta(t->delta));
    REQUIRE(isnan(t->lambda) || t->lambda == 0 || (t->lambda > 0 && t->lambda < 1),
            "lambda is %g; expected above 0 and below 1", t->lambda);
done:
    return status;
}

sotto_status sotto_residual_theorem1_noise(struct sotto_residual_theorem1 *t)
{
    REQUIRE_GIVEN(t);
    sotto_status status = SOTTO_OK;
    TRY(check_theorem1(t));
    TRY(check_positive("epsilon", t->epsilon));
    double l = -log(t->delta), c = c_of(t->epsilon, t->delta);
    double lambda = isnan(t->lambda) || t->lambda == 0 ? (c + sqrt(c * l)) / t->epsilon : t->lambda;
    t->lambda = lambda;
    t->alpha = l / ((1 - lambda) * t->epsilon) + 1;
    double factor = residual_account_up(sqrt(2 * t->uses * t->alpha / (lambda * t->epsilon)));
    t->input_noise = t->radius * factor;
    t->gamma = t->mapping_bound * factor;
done:
    return status;
}

sotto_status sotto_residual_theorem1_epsilon(struct sotto_residual_theorem1 *t)
{
    REQUIRE_GIVEN(t);
    sotto_status status = SOTTO_OK;
    TRY(check_theorem1(t));
    TRY(check_positive("input noise", t->input_noise));
    TRY(check_positive("gamma", t->gamma));
    double ratio = fmax(t->radius / t->input_noise, t->mapping_bound / t->gamma),
           c = 2 * ratio * ratio * t->uses;
    t->alpha = 1 + sqrt(-log(t->delta) / c);
    t->epsilon = epsilon_of(c, t->delta);
    t->lambda = c * t->alpha / t->epsilon;
done:
    return status;
}

double sotto_residual_theorem1_mapping(const struct sotto_residual_theorem1 *t, size_t i)
{
    GIVEN_OR(NAN, t);
    return (t->lambda / (double)i + 1 - t->lambda) * t->epsilon;
}

/* ---- Theorem 2 ---- */

static sotto_status check_answers(const struct sotto_residual_answers *in)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_options_check(in, options_residual_answers,
                            "branch_bound|weight_bound|floor|mappings|queries|delta"));
done:
    return status;
}

/* Renyi divergence of two Gaussians of equal covariance, per order: half the squared distance of the means in
 * standard deviations. A branch moves a coordinate set by 2 B where noise is at least gamma eta; the output
 * moves by 2 a x_max where noise is output x_max. */
sotto_status sotto_residual_answers(double *epsilon, double *published,
                                    const struct sotto_residual_answers *in)
{
    REQUIRE_GIVEN(epsilon, in);
    sotto_status status = SOTTO_OK;
    TRY(check_answers(in));
    TRY(check_positive("gamma", in->gamma));
    TRY(check_positive("output noise", in->output));
    double branch = in->branch_bound / (in->gamma * in->floor), output = in->weight_bound / in->output;
    double each = 2 * branch * branch, last = 2 * output * output, mappings = (double)in->mappings;
    *epsilon =
        in->floor > 0 ? epsilon_of((double)in->queries * (mappings * each + last), in->delta) : INFINITY;
    if (published)
        *published = in->floor > 0 ? epsilon_of(mappings * fmax(each, last), in->delta) : INFINITY;
done:
    return status;
}

sotto_status sotto_residual_answers_noise(struct sotto_residual_answers *in, double epsilon)
{
    REQUIRE_GIVEN(in);
    sotto_status status = SOTTO_OK;
    TRY(check_answers(in));
    TRY(check_positive("epsilon", epsilon));
    REQUIRE(in->floor > 0, "floor is 0; expected more than 0, as a zero activation gets no noise without a "
                           "floor, so that no noise scale gives a finite epsilon");
    double layers = (double)in->queries * ((double)in->mappings + 1);
    double factor = residual_account_up(sqrt(2 * layers / c_of(epsilon / (1 + 0x1p-40), in->delta)));
    in->gamma = in->branch_bound / in->floor * factor;
    in->output = in->weight_bound * factor;
done:
    return status;
}
