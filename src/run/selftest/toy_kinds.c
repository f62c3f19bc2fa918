/* The correct toys: every mechanism in the form in which it releases, so a new row of the mechanism list is
 * attacked without a word here, unless it is of a new kind. */
#include "base/memory.h"
#include "dp/noise/cauchy.h"
#include "dp/noise/knorm.h"
#include "dp/release/release_median.h"
#include "head/private/head_objective.h"
#include "selftest/toy_training.h"
#include "selftest/toys.h"
#include "sotto/release.h"

#include <stdlib.h>
#include <string.h>

static sotto_status open_stream(struct noise **s, struct toy_source *source)
{
    return source->seeded ? noise_open_insecure(s, source->seed++) : noise_open(s);
}

/* One release is one draw for the whole vector: the sampler that sotto_dp_release() uses, a million times. */
static sotto_status draw_knorm(double *out, size_t draws, int world, const struct toy *toy,
                               struct toy_source *source)
{
    struct noise *s;
    sotto_status status = open_stream(&s, source);
    if (status != SOTTO_OK)
        return status;
    size_t width = (size_t)toy->width;
    double step = ldexp(1, lattice_make(toy->scale).exponent);
    for (size_t i = 0; i < draws; i++) {
        knorm_draw(out + i * width, width, toy->scale, s);
        for (size_t j = 0; j < width; j++)
            out[i * width + j] =
                (float)(step * (nearbyint(out[i * width + j] / step) + toy->inputs[world][j] / step));
    }
    noise_close(s);
    return SOTTO_OK;
}

/* Three scores; the samplers that sotto_dp_select() uses. */
static sotto_status draw_choice(double *out, size_t draws, int world, const struct toy *toy,
                                struct toy_source *source)
{
    enum { CANDIDATES = 3 };
    struct lattice lattice = lattice_make(toy->scale);
    uint128 gap[CANDIDATES];
    int128 score[CANDIDATES], best = 0;
    size_t left[CANDIDATES] = {0, 1, 2};
    struct noise *s;
    sotto_status status = open_stream(&s, source);
    if (status != SOTTO_OK)
        return status;
    for (int j = 0; j < CANDIDATES; j++) {
        score[j] = lattice_index(toy->inputs[world][j], lattice);
        best = score[j] > best ? score[j] : best;
    }
    for (int j = 0; j < CANDIDATES; j++)
        gap[j] = (uint128)(best - score[j]);
    for (size_t i = 0; i < draws; i++)
        out[i] = (double)toy->noise->choose(s, gap, left, CANDIDATES, 2 * lattice.m);
    noise_close(s);
    return SOTTO_OK;
}

/* One of three labels per record, by sotto_dp_randomise(). */
static sotto_status draw_labels(double *out, size_t draws, int world, const struct toy *toy,
                                struct toy_source *source)
{
    sotto_status status = SOTTO_OK;
    struct sotto_certificate *certificate = NULL;
    int64_t *labels = NULL;
    NEW(labels, draws);
    for (size_t i = 0; i < draws; i++)
        labels[i] = world;
    struct sotto_release release = toy_request(toy, source);
    TRY(sotto_dp_randomise(&certificate, labels, draws, 3, &release, NULL));
    for (size_t i = 0; i < draws; i++)
        out[i] = (double)labels[i];
done:
    sotto_certificate_free(certificate);
    base_free(labels);
    return status;
}

/* The median of three values in [0, 1], of which one moves from one end to the other: the plan and the noise that
 * sotto_dp_median() uses. */
static sotto_status draw_median(double *out, size_t draws, int world, const struct toy *toy,
                                struct toy_source *source)
{
    sotto_status status = SOTTO_OK;
    const double values[] = {0, toy->inputs[world][0], 1};
    struct median_plan plan;
    struct noise *s = NULL;
    int128 *k = NULL;
    NEW(k, draws);
    TRY(open_stream(&s, source));
    TRY(median_plan(&plan, values, 3, 0, 1, 1 / toy->scale, NULL));
    TRY(cauchy_draw(k, draws, plan.width, s));
    for (size_t i = 0; i < draws; i++)
        out[i] = fmin(1, fmax(0, lattice_double(2 * (plan.median + k[i]) + 1, plan.lattice)));
done:
    base_free(k);
    noise_close(s);
    return status;
}

/* A head of one feature on four records, of which one changes its label: noise in the objective, minimum and blur as the
 * trainer has them. */
sotto_status toy_minimum(double *out, size_t draws, int world, const struct toy *toy,
                         struct toy_source *source, double noise)
{
    enum { RECORDS = 4, WEIGHTS = 2 };
    sotto_status status = SOTTO_OK;
    const float x[RECORDS] = {2, 1, -1, 0.5F};
    const int64_t y[RECORDS] = {world, 1, 0, 0};
    const struct head_data data = {x, y, RECORDS, 1, 2};
    struct objective_plan plan;
    struct objective o = {.linear = NULL};
    struct noise *s = NULL;
    TRY(open_stream(&s, source));
    TRY(objective_plan_find(&plan, toy->shift / toy->scale, RECORDS, 1, 2));
    TRY(objective_open(&o, &plan, &data));
    const struct objective_noise *n = &plan.weights;
    const struct knorm_blocks inside = {1, WEIGHTS, noise * n->inside.scale};
    for (size_t i = 0; i < draws; i++, out += WEIGHTS) {
        TRY(knorm_draw_discretised(out, &inside, s));
        TRY(objective_load(&o, out, source->ctx));
        TRY(objective_minimise(&o, source->ctx));
        TRY(knorm_blur(o.v, WEIGHTS, n->blur, n->end, s));
        memcpy(out, o.v, WEIGHTS * sizeof *out);
    }
done:
    objective_close(&o);
    noise_close(s);
    return status;
}

static sotto_status draw_minimum(double *out, size_t draws, int world, const struct toy *toy,
                                 struct toy_source *source)
{
    return toy_minimum(out, draws, world, toy, source, 1);
}

/* By enum release_kind; `inputs` are those of the worst pair at distance 1. */
static const struct toy kinds[] = {
    [RELEASE_LATTICE] = {.name = "one value", .width = 1, .inputs = {{0}, {1}}, .draw = toy_release},
    [RELEASE_INTEGER] = {.name = "one whole number", .width = 1, .inputs = {{0}, {1}}, .draw = toy_release},
    [RELEASE_VECTOR] = {.name = "one value", .width = 1, .inputs = {{0}, {1}}, .draw = draw_knorm},
    [RELEASE_CHOICE] = {.name = "one of three",
                        .width = 1,
                        .inputs = {{1, 0, 0}, {0, 1, 1}},
                        .draw = draw_choice},
    [RELEASE_LABELS] = {.name = "one label of three", .width = 1, .draw = draw_labels},
    [RELEASE_MEDIAN] = {.name = "the median of three", .width = 1, .inputs = {{0}, {1}}, .draw = draw_median},
    [RELEASE_MINIMUM] = {.name = "a head of one feature", .width = 2, .draw = draw_minimum},
    [RELEASE_NONE] = {.draw = NULL},
};

struct toy toy_alone(const struct mechanism *m)
{
    struct toy toy = kinds[m->kind];
    toy.noise = m;
    toy.scale = toy.shift = toy.rate = 1;
    return toy;
}

struct toy toy_vector(const struct mechanism *m, double each)
{
    bool additive = m->kind == RELEASE_LATTICE || m->kind == RELEASE_INTEGER;
    return (struct toy){.name = "a vector of four",
                        .noise = m,
                        .width = 4,
                        .inputs = {{0}, {each, each, each, each}},
                        .scale = 1,
                        .shift = m->by_l2 ? 2 * each : 4 * each,
                        .rate = 1,
                        .draw = additive ? toy_release : NULL};
}

static struct toy in_a_ball(const struct mechanism *m)
{
    struct toy toy = toy_alone(m);
    toy.name = "a vector of three";
    toy.width = 3;
    if (m->kind != RELEASE_VECTOR)
        toy.draw = NULL;
    return toy;
}

static struct toy with_flat_doubt(const struct mechanism *m)
{
    struct toy toy = toy_alone(m);
    toy.name = "one value with flat doubt";
    toy.flat_doubt = true;
    if (!mechanism_is_discretised(m))
        toy.draw = NULL;
    return toy;
}

bool toy_at(struct toy *out, size_t i)
{
    size_t at = 0;
    const struct mechanism *m;
    for (size_t j = 0; (m = mechanism_row(j)) != NULL; j++) {
        const struct toy forms[] = {toy_alone(m), toy_vector(m, m->kind == RELEASE_INTEGER ? 1 : 0.5),
                                    in_a_ball(m), with_flat_doubt(m)};
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
            if (forms[f].draw && at++ == i) {
                *out = forms[f];
                return true;
            }
    }
    return toy_training(out, i - at);
}
