/* What all toys share: noise by the release function, the claim, the attack. */
#include "selftest/toys.h"
#include "sotto/release.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Toys are no data: a ledger may lie anywhere. */
static const struct sotto_source_records exercise = {.public_set = 1};

struct sotto_release toy_request(const struct toy *toy, struct toy_source *source)
{
    return (struct sotto_release){.mechanism = toy->noise->name,
                                  .scale = toy->scale,
                                  .target = {NAN, 1e-5},
                                  .sensitivity = {.l1 = 1, .l2 = 1, .value_step = 1},
                                  .spend = {.dataset_id = "selftest",
                                            .ledger = source->ledger,
                                            .source = &exercise,
                                            .purpose = "selftest",
                                            .insecure = source->seeded,
                                            .insecure_seed = source->seed++},
                                  .flat_doubt = toy->flat_doubt};
}

sotto_status toy_add_noise(double *values, size_t n, const struct toy *toy, struct toy_source *source)
{
    sotto_status status = SOTTO_OK;
    struct sotto_certificate *certificate = NULL;
    float *vector = NULL;
    NEW(vector, n);
    for (size_t i = 0; i < n; i++)
        vector[i] = (float)values[i];
    struct sotto_release release = toy_request(toy, source);
    TRY(sotto_dp_release(&certificate, vector, n, &release, NULL));
    for (size_t i = 0; i < n; i++)
        values[i] = (double)vector[i];
done:
    sotto_certificate_free(certificate);
    base_free(vector);
    return status;
}

sotto_status toy_release(double *out, size_t draws, int world, const struct toy *toy,
                         struct toy_source *source)
{
    size_t width = (size_t)toy->width;
    for (size_t i = 0; i < draws * width; i++)
        out[i] = toy->inputs[world][i % width];
    return toy_add_noise(out, draws * width, toy, source);
}

/* delta at epsilon >= 0 of the mechanism's curve at noise of scale 1. */
static double toys_curve(const struct mechanism *m, double shift, double epsilon)
{
    return m->integer ? m->integer->delta(shift, iv(1), epsilon).hi : m->delta(iv(shift), epsilon).hi;
}

/* The same, Poisson-sampled at `rate`: q delta(ln(1 + (e^eps - 1) / q)) when the record is removed,
 * (1 - (1-q) e^eps) delta(ln(q e^eps / (1 - (1-q) e^eps))) when it is added. */
static double claimed_delta(const struct toy *toy, double epsilon)
{
    const double rounding = 1e-12, rate = toy->rate;
    if (rate == 1)
        return toys_curve(toy->noise, toy->shift, epsilon);
    double grown = exp(epsilon), rest = 1 - (1 - rate) * grown;
    double removed = rate * toys_curve(toy->noise, toy->shift, log1p(expm1(epsilon) / rate));
    double added = rest > 0 ? rest * toys_curve(toy->noise, toy->shift, log(rate * grown / rest)) : 0;
    return fmax(removed, added) + rounding;
}

void toy_claim(struct falsify_claim *out, const struct toy *toy)
{
    static const double grid[FALSIFY_EPSILONS] = {0, 0.25, 0.5, 1, 1.5};
    double reach = toy->rate == 1 ? toy->shift : log1p(toy->rate * expm1(toy->shift));
    for (int i = 0; i < FALSIFY_EPSILONS; i++) {
        out->epsilon[i] = grid[i] * reach;
        out->delta[i] = claimed_delta(toy, out->epsilon[i]);
    }
    bool logistic = strcmp(toy->noise->name, "logistic") == 0 && toy->rate == 1;
    out->log_odds = logistic ? toy->shift : NAN;
}

sotto_status toy_attack(struct falsify_verdict *out, const struct toy *toy, size_t draws, double error,
                        struct toy_source *source)
{
    sotto_status status = SOTTO_OK;
    struct falsify_claim claim;
    size_t width = (size_t)toy->width;
    double *worlds[2] = {NULL, NULL};
    for (int w = 0; w < 2; w++) {
        NEW_ROWS(worlds[w], draws, width);
        TRY(context_check(source->ctx, "selftest: stopped"));
        TRY(toy->draw(worlds[w], draws, w, toy, source));
    }
    toy_claim(&claim, toy);
    TRY(context_check(source->ctx, "selftest: stopped"));
    struct falsify_outputs outputs = {{worlds[0], worlds[1]}, draws, toy->width};
    TRY(falsify(out, &outputs, &claim, error));
done:
    base_free(worlds[0]);
    base_free(worlds[1]);
    return status;
}
