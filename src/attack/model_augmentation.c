/* Augmentation, from labels alone: for each turned or shifted copy of an image, does the target still give
 * its class? A network that saw those bits on a shadow's members and others judges them (one for all classes,
 * 64 ReLU units; the paper has 10-10 for each class). */
#include "attack/attack_net.h"
#include "attack/picture_moves.h"
#include "attack/rehearsal.h"

enum { REHEARSED = 5000, BLOCK = 64 };

/* bits (n, PICTURE_MOVES). */
static sotto_status ask_moves(float *bits, struct sotto_target *t, const struct head_data *records,
                              const struct picture_shape *shape, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t d = records->d;
    float *rows = base_alloc(BLOCK * PICTURE_MOVES, d * sizeof *rows);
    int64_t *label = base_alloc(BLOCK * PICTURE_MOVES, sizeof *label);
    if (!rows || !label)
        FAIL(SOTTO_ENOMEM, "augmentation: out of memory for rows of %zu", d);
    for (size_t first = 0; first < records->n; first += BLOCK) {
        size_t count = records->n - first < BLOCK ? records->n - first : BLOCK;
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "augmentation: stopped after %zu of %zu records", first, records->n);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < PICTURE_MOVES; k++)
                picture_move(rows + (i * PICTURE_MOVES + k) * d, records->x + (first + i) * d, shape, k);
        TRY(target_labels(t, label, rows, count * PICTURE_MOVES));
        for (size_t b = 0; b < count * PICTURE_MOVES; b++)
            bits[first * PICTURE_MOVES + b] = label[b] == records->y[first + b / PICTURE_MOVES];
    }
done:
    base_free(rows);
    base_free(label);
    return status;
}

static sotto_status learn(struct answer_table *t, const struct rehearsal *r,
                          const struct picture_shape *shape, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t n = r->records.n;
    t->width = PICTURE_MOVES;
    t->x = base_alloc(n * PICTURE_MOVES, sizeof *t->x);
    t->member = base_alloc(n, sizeof *t->member);
    if (!t->x || !t->member)
        FAIL(SOTTO_ENOMEM, "augmentation: out of memory for %zu records", n);
    t->n = n;
    for (size_t i = 0; i < n; i++)
        t->member[i] = i < r->n_member;
    TRY(ask_moves(t->x, r->target, &r->records, shape, ctx));
done:
    return status;
}

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attack_options *o = in->options;
    struct picture_shape shape = {o->channels, o->height, o->width};
    struct rehearsal r = {0};
    struct answer_table known = {0};
    size_t n = in->records.n, pixels;
    float *bits = base_alloc(n * PICTURE_MOVES, sizeof *bits);
    if (!bits)
        FAIL(SOTTO_ENOMEM, "augmentation: out of memory for %zu records", n);
    if (shape.channels == 0)
        FAIL(SOTTO_EUSAGE,
             "attack: augmentation turns and shifts images; say how a row is one (--image C,H,W)");
    REQUIRE(size_multiply(&pixels, shape.height, shape.width) &&
                size_multiply(&pixels, pixels, shape.channels) && pixels == in->records.d,
            "attack: images of %zux%zux%zu do not fill rows of %zu", shape.channels, shape.height,
            shape.width, in->records.d);
    TRY(rehearsal_make(&r, result, in, REHEARSED));
    if (result->pending)
        goto done;
    TRY(learn(&known, &r, &shape, in->ctx));
    TRY(ask_moves(bits, in->target, &in->records, &shape, in->ctx));
    TRY(attack_net_scores(scores, &known, bits, n, o->seed, in->ctx));
    result->threshold = 0;
    json_put_integer(&result->facts, "queries_per_record", PICTURE_MOVES);
done:
    answer_table_clear(&known);
    rehearsal_clear(&r);
    base_free(bits);
    return status;
}

const struct model_attack model_augmentation = {
    .name = "augmentation",
    .title = "Label only: turned and shifted copies that keep the class",
    .source = "Choquette-Choo et al. 2021",
    .needs = MODEL_DECISIONS | MODEL_LABELS | MODEL_SHADOWS | MODEL_QUERIES,
    .default_shadows = 1,
    .run = run};
