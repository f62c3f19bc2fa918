/* Augmentation, from labels alone: for each turned or shifted copy of an image, does the target still give
 * its class? A network that saw those bits on a shadow's members and others judges them (one for all classes,
 * 64 ReLU units; the paper has 10-10 for each class). */
#include "attack/query/attack_net.h"
#include "attack/query/label_moves.h"
#include "attack/shadow/shadow_calibration.h"

enum { REHEARSED = 5000 };

static sotto_status query_augmentation_learn(struct output_table *t, const struct shadow_calibration *r,
                                             const struct image_shape *shape, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t n = r->records.n;
    t->width = PICTURE_MOVES;
    NEW(t->x, n * PICTURE_MOVES);
    NEW(t->member, n);
    t->n = n;
    for (size_t i = 0; i < n; i++)
        t->member[i] = i < r->n_member;
    TRY(label_moves(t->x, r->target, &r->records, shape, ctx));
done:
    return status;
}

static sotto_status query_augmentation_run(double *scores, struct query_result *result,
                                           const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attack_options *o = in->options;
    struct image_shape shape;
    struct shadow_calibration r = {0};
    struct output_table known = {0};
    size_t n = in->records.n;
    float *bits = NULL;
    NEW(bits, n * PICTURE_MOVES);
    if (o->channels == 0)
        FAIL(SOTTO_EUSAGE, "attack: augmentation needs image shapes; give {channels|image=C,H,W}");
    TRY(label_shape(&shape, in));
    TRY(shadow_calibration_make(&r, result, in, REHEARSED));
    if (result->pending)
        goto done;
    TRY(query_augmentation_learn(&known, &r, &shape, in->ctx));
    TRY(label_moves(bits, in->target, &in->records, &shape, in->ctx));
    TRY(attack_net_scores(scores, &known, bits, n, o->seed, in->ctx));
    result->threshold = 0;
    fact_count(&result->facts, "queries_per_record", PICTURE_MOVES);
done:
    output_table_clear(&known);
    shadow_calibration_clear(&r);
    base_free(bits);
    return status;
}

const struct query_attack query_augmentation = {
    .name = "augmentation",
    .title = "Label only: share of rotated and shifted copies that keep the class",
    .source = "Choquette-Choo et al. 2021",
    .needs = QUERY_DECISIONS | QUERY_LABELS | QUERY_SHADOWS | QUERY_QUERIES,
    .default_shadows = 1,
    .run = query_augmentation_run};
