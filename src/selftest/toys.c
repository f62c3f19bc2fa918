/* The correct toys, and what all toys share. */
#include "selftest/toys.h"
#include "base/memory.h"
#include "selftest/toy_training.h"
#include "sotto/io.h"

#include <stdlib.h>
#include <string.h>

sotto_status toy_add_noise(double *values, size_t n, const struct toy *toy, struct toy_source *source)
{
    sotto_status status = SOTTO_OK;
    char *certificate = NULL;
    float *vector = base_alloc(n, sizeof *vector);
    if (!vector)
        FAIL(SOTTO_ENOMEM, "falsifier: out of memory");
    for (size_t i = 0; i < n; i++)
        vector[i] = (float)values[i];
    struct sotto_release release = {.mechanism = toy->noise->name,
                                    .scale = toy->scale,
                                    .target = {NAN, 1e-5},
                                    .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_GIVEN},
                                    .fingerprint = "selftest",
                                    .ledger = source->ledger,
                                    .purpose = "selftest",
                                    .insecure = source->seeded,
                                    .insecure_seed = source->seed++};
    TRY(sotto_dp_release(&certificate, vector, n, &release, NULL));
    for (size_t i = 0; i < n; i++)
        values[i] = (double)vector[i];
done:
    sotto_text_free(certificate);
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

/* delta at epsilon >= 0 of the curve at `shift`, sampled at `rate`: q delta(ln(1 + (e^eps - 1) / q)) when the
 * record is removed, (1 - (1-q) e^eps) delta(ln(q e^eps / (1 - (1-q) e^eps))) when it is added. */
static double claimed_delta(const struct mechanism *m, double shift, double rate, double epsilon)
{
    if (rate == 1)
        return m->delta(iv(shift), epsilon).hi;
    double grown = exp(epsilon), rest = 1 - (1 - rate) * grown;
    double removed = rate * m->delta(iv(shift), log1p(expm1(epsilon) / rate)).hi;
    double added = rest > 0 ? rest * m->delta(iv(shift), log(rate * grown / rest)).hi : 0;
    return fmax(removed, added) + 1e-12; /* rounding of this function */
}

void toy_claim(struct falsify_claim *out, const struct toy *toy)
{
    static const double grid[FALSIFY_EPSILONS] = {0, 0.25, 0.5, 1, 1.5};
    double reach = toy->rate == 1 ? toy->shift : log1p(toy->rate * expm1(toy->shift));
    for (int i = 0; i < FALSIFY_EPSILONS; i++) {
        out->epsilon[i] = grid[i] * reach;
        out->delta[i] = claimed_delta(toy->noise, toy->shift, toy->rate, out->epsilon[i]);
    }
    bool logistic = strcmp(toy->noise->name, "logistic") == 0 && toy->rate == 1;
    out->log_odds = logistic ? toy->shift : NAN;
}

/* One number that moves by 1 under noise of scale 1. */
static struct toy alone(const struct mechanism *m)
{
    return (struct toy){.name = "one value",
                        .noise = m,
                        .width = 1,
                        .inputs = {{0}, {1}},
                        .scale = 1,
                        .shift = 1,
                        .rate = 1,
                        .draw = toy_release};
}

/* Four numbers that move by 1/2 each: 2 in L1, 1 in L2. */
static struct toy vector(const struct mechanism *m)
{
    return (struct toy){.name = "a vector",
                        .noise = m,
                        .width = 4,
                        .inputs = {{0}, {0.5, 0.5, 0.5, 0.5}},
                        .scale = 1,
                        .shift = m->by_l2 ? 1 : 2,
                        .rate = 1,
                        .draw = toy_release};
}

static size_t mechanism_count(void)
{
    size_t n = 0;
    while (mechanism_at(n))
        n++;
    return n;
}

bool toy_at(struct toy *out, size_t i)
{
    size_t mechanisms = mechanism_count();
    if (i < 2 * mechanisms) {
        const struct mechanism *m = mechanism_at(i / 2);
        *out = i % 2 ? vector(m) : alone(m);
        return true;
    }
    return toy_training(out, i - 2 * mechanisms);
}

sotto_status toy_attack(struct falsify_verdict *out, const struct toy *toy, size_t draws, double error,
                        struct toy_source *source)
{
    sotto_status status = SOTTO_OK;
    struct falsify_claim claim;
    size_t width = (size_t)toy->width;
    double *worlds[2] = {base_alloc(draws, width * sizeof(double)),
                         base_alloc(draws, width * sizeof(double))};
    if (!worlds[0] || !worlds[1])
        FAIL(SOTTO_ENOMEM, "falsifier: out of memory");
    for (int w = 0; w < 2; w++)
        TRY(toy->draw(worlds[w], draws, w, toy, source));
    toy_claim(&claim, toy);
    struct falsify_outputs outputs = {{worlds[0], worlds[1]}, draws, toy->width};
    TRY(falsify(out, &outputs, &claim, error));
done:
    base_free(worlds[0]);
    base_free(worlds[1]);
    return status;
}
