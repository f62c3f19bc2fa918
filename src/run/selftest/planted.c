/* The planted bugs of releases; those of training steps are in toy_training.c. Each is a mistake that was
 * made in some library (dp.md 2.6 of the specification lists them). */
#include "base/memory.h"
#include "selftest/toy_training.h"
#include "selftest/toys.h"

#include <stdlib.h>

/* What moves delta by a few percent, or shows in the last bits alone, is found with near certainty by so many. */
enum { MANY_DRAWS = 200000 };

/* Scale computed with the wrong constant. */
static struct toy scale_off(const struct mechanism *m)
{
    struct toy toy = toy_alone(m);
    toy.name = "scale off by 20 %";
    toy.scale = 1 / 1.2;
    toy.draws = MANY_DRAWS;
    return toy;
}

/* Four numbers that move by 2: scaled and accounted as if 4, their L2 norm, were the L1 norm. */
static struct toy l2_for_l1(const struct mechanism *m)
{
    struct toy toy = toy_vector(m, 2);
    toy.name = "L2 sensitivity used for L1";
    toy.shift = 4;
    toy.draws = MANY_DRAWS;
    if (!m->pure) /* Gaussian laws are by L2 */
        toy.draw = NULL;
    return toy;
}

/* Two values, of which one moves, under noise from the same seed: their difference is released bare. */
static sotto_status planted_reuse(double *out, size_t draws, int world, const struct toy *toy,
                                  struct toy_source *source)
{
    sotto_status status = SOTTO_OK;
    struct toy_source again = {.ledger = source->ledger, .seeded = true, .ctx = source->ctx};
    double *values = NULL;
    NEW(values, draws);
    uint64_t seed = source->seed++;
    for (size_t j = 0; j < 2; j++) {
        for (size_t i = 0; i < draws; i++)
            values[i] = j == 0 ? toy->inputs[world][0] : 0;
        again.seed = seed;
        TRY(toy_add_noise(values, draws, toy, &again));
        for (size_t i = 0; i < draws; i++)
            out[2 * i + j] = values[i];
    }
done:
    base_free(values);
    return status;
}

/* x + noise in doubles (Mironov 2012; Haney et al. 2022): for x = 1 small outputs are multiples of 2^-53. */
static sotto_status add_doubles(double *out, size_t draws, int world, const struct toy *toy,
                                struct toy_source *source)
{
    struct noise *s;
    sotto_status status = source->seeded ? noise_open_insecure(&s, source->seed++) : noise_open(&s);
    if (status != SOTTO_OK)
        return status;
    for (size_t i = 0; i < draws; i++) {
        double u = noise_unit(s), v = noise_unit(s);
        out[i] = toy->inputs[world][0] + toy->scale * toy->noise->measure(u, v);
    }
    noise_close(s);
    return SOTTO_OK;
}

/* One coordinate is forgotten (diffprivlib #104: a sensitivity that came out as zero). */
static sotto_status planted_forget(double *out, size_t draws, int world, const struct toy *toy,
                                   struct toy_source *source)
{
    sotto_status status = toy_release(out, draws, world, toy, source);
    for (size_t i = 0; i < draws; i++)
        out[2 * i + 1] = toy->inputs[world][1];
    return status;
}

/* The median of four zeros and seven ones, or of five and six: noise scaled to what one record of THIS set can change, which
 * is nothing, or everything. */
static sotto_status local_scale(double *out, size_t draws, int world, const struct toy *toy,
                                struct toy_source *source)
{
    struct noise *s;
    (void)toy;
    sotto_status status = source->seeded ? noise_open_insecure(&s, source->seed++) : noise_open(&s);
    if (status != SOTTO_OK)
        return status;
    for (size_t i = 0; i < draws; i++)
        out[i] = 1 + (world ? log(noise_unit(s)) : 0);
    noise_close(s);
    return SOTTO_OK;
}

/* Noise for the mean loss of four records in the sum of their losses. */
static sotto_status mean_for_sum(double *out, size_t draws, int world, const struct toy *toy,
                                 struct toy_source *source)
{
    return toy_minimum(out, draws, world, toy, source, 0.25);
}

static struct toy planted_special(const char *name, const struct mechanism *m, bool possible, int width,
                                  sotto_status (*draw)(double *, size_t, int, const struct toy *,
                                                       struct toy_source *))
{
    return (struct toy){.name = name,
                        .noise = m,
                        .width = width,
                        .inputs = {{0, 0}, {1, 1}},
                        .scale = 1,
                        .shift = 2,
                        .rate = 1,
                        .draws = draw == add_doubles ? MANY_DRAWS : 0,
                        .draw = possible ? draw : NULL};
}

/* Bugs that a mechanism can have; draw NULL: it cannot have that one. */
enum { KINDS = 5 };
static struct toy planted_in(const struct mechanism *m, size_t kind)
{
    bool additive = m->kind == RELEASE_LATTICE || m->kind == RELEASE_INTEGER;
    switch (kind) {
    case 0:
        if (m->kind == RELEASE_MINIMUM) /* slack likewise */
            return planted_special("noise of the mean loss in the sum", m, true, 2, mean_for_sum);
        return m->kind == RELEASE_MEDIAN
                   ? planted_special("noise scaled to the local sensitivity", m, true, 1, local_scale)
                   : scale_off(m); /* a smooth median leaves slack that would hide it */
    case 1:
        return l2_for_l1(m);
    case 2:
        return planted_special("noise seed reused", m, additive, 2, planted_reuse);
    case 3:
        return planted_special("noise added in floating point", m,
                               m->measure != NULL && m->kind == RELEASE_LATTICE, 1, add_doubles);
    default:
        return planted_special("zero noise on a coordinate", m, additive, 2, planted_forget);
    }
}

bool toy_planted(struct toy *out, size_t i)
{
    size_t at = 0;
    for (size_t j = 0; mechanism_row(j); j++)
        for (size_t kind = 0; kind < KINDS; kind++) {
            struct toy toy = planted_in(mechanism_row(j), kind);
            if (toy.draw && at++ == i) {
                *out = toy;
                return true;
            }
        }
    return toy_training_planted(out, i - at);
}
