/* Numbers that were computed elsewhere, recomputed here by this build on this machine. Origins: closed forms
 * checked by quadrature, finite sums and contour integrals in 113-bit arithmetic
 * (docs/derivations/logistic.md); analytic Gaussian after Balle and Wang 2018; Renyi divergences of the
 * sampled Gaussian by quadrature. */
#include "base/sha256.h"
#include "dp/account/accountant.h"
#include "dp/account/sampled_renyi.h"
#include "num/special.h"
#include "selftest/checks.h"
#include "sotto/lab/account.h"

#include <stdio.h>
#include <string.h>

/* Which value of a mechanism a row tests: see value_of(). */
enum question {
    DELTA,
    EPSILON,
    SHIFT,
    RENYI,
    BALL,
    COMPOSED,
    CALIBRATED,
    COMPOSED_SCALE,
    SAMPLED_RENYI,
    ZCDP
};
struct row {
    enum question question;
    const char *mechanism;
    double a, b, c; /* arguments, in the order of the name below */
    double expected, relative;
};

static const struct {
    const char *what, *arguments[3];
} questions[] = {
    [DELTA] = {"delta", {"shift", "epsilon"}},
    [EPSILON] = {"epsilon", {"shift", "delta"}},
    [SHIFT] = {"shift", {"epsilon", "delta"}},
    [RENYI] = {"Renyi divergence", {"shift", "order"}},
    [BALL] = {"Renyi divergence", {"L2 shift", "dimension", "order"}},
    [COMPOSED] = {"epsilon", {"shift", "releases", "delta"}},
    [CALIBRATED] = {"scale", {"epsilon", "delta"}},
    [COMPOSED_SCALE] = {"scale", {"epsilon", "delta", "releases"}},
    [SAMPLED_RENYI] = {"Renyi divergence", {"rate", "multiplier", "order"}},
    [ZCDP] = {"epsilon", {"rho", "delta"}},
};

static const struct row rows[] = {
    {DELTA, "logistic", 0.1, 0, 0, 0.0249947929684208, 2e-14},
    {DELTA, "logistic", 0.5, 0.25, 0, 0.0350903526361933, 2e-14},
    {DELTA, "logistic", 1, 0.75, 0, 0.0218423174335622, 2e-14},
    {DELTA, "logistic", 2, 0.5, 0, 0.321971105411235, 2e-14},
    {EPSILON, "logistic", 0.1, 1e-5, 0, 0.09804802154319, 2e-13},
    {EPSILON, "logistic", 1, 1e-5, 0, 0.99496526660881, 2e-13},
    {EPSILON, "logistic", 2, 1e-5, 0, 1.99411030000470, 2e-13},
    {SHIFT, "logistic", 1, 1e-5, 0, 1.0050421056354, 1e-13},
    {SHIFT, "logistic", 4, 1e-5, 0, 4.00627657281767, 1e-13},
    {RENYI, "logistic", 1, 1.5, 0, 0.240229013917, 1e-11},
    {RENYI, "logistic", 0.5, 32, 0, 0.39643927107, 1e-11},
    {BALL, "logistic", 1, 100, 8, 1.3090829, 1e-7},
    {COMPOSED, "logistic", 0.1, 10, 1e-5, 0.61161637048479, 2e-11},
    {COMPOSED, "logistic", 0.5, 2, 1e-5, 0.96644392336437, 2e-11},
    {COMPOSED, "logistic", 1, 100, 1e-5, 38.94740619798189, 2e-11},
    {COMPOSED, "logistic", 2, 1000, 1e-5, 764.6693982119248, 2e-11},
    {COMPOSED_SCALE, "logistic", 1, 1e-5, 10, 1 / 0.157785, 5e-6},
    {CALIBRATED, "gaussian", 0.1, 1e-5, 0, 30.749566131978, 1e-12},
    {CALIBRATED, "gaussian", 1, 1e-5, 0, 3.730631634816, 1e-12},
    {CALIBRATED, "gaussian", 10, 1e-5, 0, 0.499888619709, 1e-12},
    {CALIBRATED, "gaussian", 1, 1e-10, 0, 5.867777749631, 1e-12},
    {COMPOSED_SCALE, "gaussian", 1, 1e-5, 1000, 117.972931, 1e-7},
    {DELTA, "gaussian", 1.6512531601110925, 8, 0, 7.971e-6, 2e-4},
    {DELTA, "laplace", 2, 1, 0, 0.39346934028736658, 1e-14},
    {EPSILON, "laplace", 1, 1e-5, 0, 0.99997999989999933, 1e-14},
    {SHIFT, "laplace", 1, 1e-5, 0, 1.0000200001000007, 1e-14},
    {RENYI, "laplace", 1, 2, 0, 0.6191236299985928, 1e-14},
    {SAMPLED_RENYI, "gaussian", 0.01, 1, 2, 0.000171813422075, 1e-11},
    {SAMPLED_RENYI, "gaussian", 0.01, 1, 16, 3.0878507837, 1e-10},
    {SAMPLED_RENYI, "gaussian", 0.04, 1.5, 8, 0.00427158452674, 1e-11},
    {ZCDP, "zcdp", 0.02435597035993018, 1e-6, 0, 1, 1e-8},
};

static struct interval value_of(const struct row *r, const struct sotto_context *ctx)
{
    const struct mechanism *m = mechanism_find(r->mechanism);
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 1};
    double scale = NAN;
    switch (r->question) {
    case DELTA:
        return m->delta(iv(r->a), r->b);
    case EPSILON:
        return m->epsilon(iv(r->a), r->b);
    case SHIFT:
        return iv(m->shift(r->a, r->b));
    case RENYI:
        return m->renyi(iv(r->a), r->b);
    case BALL:
        return m->renyi_ball(iv(r->a), r->b, r->c);
    case COMPOSED:
        return m->composed(iv(r->a), r->b, r->c);
    case SAMPLED_RENYI:
        return sampled_renyi(m, r->b, r->a, r->c);
    case ZCDP:
        return iv(zcdp_epsilon(r->a, r->b));
    default:
        if (sotto_calibrate_composed(&scale, r->mechanism, &s, (struct sotto_dp){r->a, r->b},
                                     r->question == CALIBRATED ? 1 : (size_t)r->c, ctx) != SOTTO_OK)
            scale = NAN;
        return iv(scale);
    }
}

/* "logistic: delta at shift 0.1, epsilon 0" */
static void name_of(char *out, size_t capacity, const struct row *r)
{
    const double values[] = {r->a, r->b, r->c};
    int used = snprintf(out, capacity, "%s: %s at", r->mechanism, questions[r->question].what);
    for (int i = 0; i < 3 && questions[r->question].arguments[i]; i++)
        used += snprintf(out + used, capacity - (size_t)used, "%s %s %g", i ? "," : "",
                         questions[r->question].arguments[i], values[i]);
}

static void check_sha256(struct checks *c)
{
    char hash[SHA256_HEX]; /* FIPS 180-2, appendix B.1 */
    sha256_of(hash, "abc", 3);
    checks_note(c, "SHA-256 of \"abc\"",
                strcmp(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") == 0, "%s",
                hash);
}

void selftest_known_answers(struct checks *c)
{
    c->group = "known answers";
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !context_stopped(c->ctx); i++) {
        const struct row *r = &rows[i];
        char name[80];
        name_of(name, sizeof name, r);
        checks_interval(c, name, value_of(r, c->ctx), r->expected, r->relative);
    }
    check_sha256(c);
}
