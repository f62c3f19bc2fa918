/* LOGAN without the target's discriminator: an attacker's own, taught that the target's samples are the real ones (Hayes et al.
 * 2019). Records of which the attacker knows the membership teach it directly: the samples stand beside known members, which they
 * resemble, and known non-members are what both are told from. With samples on the other side it learns to see in members what
 * samples have in common with them, and errs on the wrong side of .5 (notes/results.md). */
#include "generate/generator.h"

#include "options/module_tables.h"
#include "par/par.h"
#include "sotto/option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples, known members and known non-members, one after the other, as images of one set. */
struct imitation {
    struct sotto_dataset set;
    uint8_t *images;
    int64_t *rows;
    size_t samples, members, nonmembers;
};

static void to_bytes(uint8_t *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)lrintf((x[i] + 1) * 127.5F);
}

static sotto_status add_samples(struct imitation *im, const struct sotto_generator *target, uint64_t seed,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t values = im->set.channels * GENERATOR_SIDE * GENERATOR_SIDE;
    float *samples = NULL;
    NEW_ROWS(samples, im->samples, values);
    TRY(sotto_generator_sample(samples, NULL, target, im->samples, seed, ctx));
    to_bytes(im->images, samples, im->samples * values);
done:
    base_free(samples);
    return status;
}

static sotto_status add_known(struct imitation *im, const struct sotto_generator *target,
                              const struct sotto_known_records *known)
{
    sotto_status status = SOTTO_OK;
    size_t values = im->set.channels * GENERATOR_SIDE * GENERATOR_SIDE, n = im->members + im->nonmembers;
    float *records = NULL;
    if (!n)
        goto done;
    NEW_ROWS(records, n, values);
    TRY(sotto_generator_records(records, target, known->data, known->member, im->members));
    TRY(sotto_generator_records(records + im->members * values, target, known->data, known->nonmember,
                                im->nonmembers));
    to_bytes(im->images + im->samples * values, records, n * values);
done:
    base_free(records);
    return status;
}

static sotto_status generator_imitate_gather(struct imitation *im, const struct sotto_generator *target,
                                             const struct sotto_known_records *known,
                                             const struct sotto_imitation_options *options,
                                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(
        !known || (known->n_member > 0 && known->n_nonmember > 1),
        "imitation: %zu known members and %zu known non-members; expected at least 1 and 2, or none of both",
        known ? known->n_member : 0, known ? known->n_nonmember : 0);
    REQUIRE(!known || (known->member && known->nonmember),
            "imitation: rows of known records are missing; expected member and nonmember");
    im->samples = options->samples;
    im->members = known ? known->n_member : 0;
    im->nonmembers = known ? known->n_nonmember : 0;
    size_t n = im->samples + im->members + im->nonmembers;
    im->set = (struct sotto_dataset){.name = "imitation",
                                     .n = n,
                                     .n_train = n,
                                     .channels = target->channels,
                                     .height = GENERATOR_SIDE,
                                     .width = GENERATOR_SIDE};
    NEW_ROWS(im->images, n, target->channels * GENERATOR_SIDE * GENERATOR_SIDE);
    NEW(im->rows, n);
    for (size_t i = 0; i < n; i++)
        im->rows[i] = (int64_t)i;
    im->set.images = im->images;
    TRY(add_samples(im, target, options->seed, ctx));
    TRY(add_known(im, target, known));
done:
    return status;
}

/* A number of the target's recipe, which an attacker is taken to know; 0: it does not say. */
static double recipe_number(const struct sotto_generator *g, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < g->fact_count; i++)
        for (const char *at = strcmp(g->facts[2 * i], "recipe") == 0 ? g->facts[2 * i + 1] : NULL; at;
             at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
            if (strncmp(at, key, length) == 0 && at[length] == '=')
                return strtod(at + length + 1, NULL);
    return 0;
}

static size_t recipe_count(const struct sotto_generator *g, const char *key)
{
    double x = recipe_number(g, key);
    return x >= 1 && x <= 1e9 ? (size_t)x : 0;
}

sotto_status sotto_generator_imitate(struct sotto_generator **out, const struct sotto_generator *target,
                                     const struct sotto_known_records *known,
                                     const struct sotto_imitation_options *options,
                                     const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, target);
    sotto_status status = SOTTO_OK;
    struct imitation im = {0};
    struct sotto_imitation_options o;
    struct sotto_generator_options training = {.model = "dcgan"};
    TRY(sotto_options_resolve(&o, options, options_imitation));
    TRY(generator_imitate_gather(&im, target, known, &o, ctx));
    if (!target->kind->encodes) {
        training.model = known ? "dcgan" : target->kind->name;
        training.steps = recipe_count(target, "steps"), training.batch = recipe_count(target, "batch");
        training.width = target->width;
        training.lr = known ? 0 : recipe_number(target, "lr");
    }
    training.seed = o.seed;
    training.steps = o.steps ? o.steps : training.steps;
    size_t teachers = known ? im.nonmembers : im.samples, batch = training.batch ? training.batch : 64;
    training.batch = batch < teachers ? batch : teachers;
    const struct generator_others others = {.rows = {im.rows + im.samples, im.rows},
                                            .n = {im.members, im.samples}};
    TRY(generator_train(out, NULL, &im.set, known ? im.rows + im.samples + im.members : im.rows, teachers,
                        known ? &others : NULL, &training, ctx));
done:
    base_free(im.images);
    base_free(im.rows);
    return status;
}
