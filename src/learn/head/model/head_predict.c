/* The query handler (heads of trainers that scaled records to a norm scale queries, too): rows go through the
 * same kernels as in training, in batches that fit a core's cache; the softmax of the answers is taken in
 * double, shifted by the largest logit. */
#include "head/kernel/head_bits.h"
#include "head/kernel/head_kernels.h"
#include "head/model/head_trainer.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64, EVERY = 16 }; /* records of a batch; batches between two questions whether to stop */

struct predictor {
    struct arena memory;
    struct head_net net;
    const struct head_kernels *kernels;
    double clip;   /* norm that records are scaled to; 0: they are not */
    float *copied; /* (ROWS, d): records that are clipped, or do not lie side by side */
    struct head_bit_rows bits;
};

static void head_predict_layout(struct predictor *p, const struct sotto_head *h)
{
    p->net.layers = h->layers;
    p->copied = arena_take(&p->memory, ROWS * h->width[0], sizeof *p->copied);
    p->bits.batch = ROWS;
    p->bits.words = arena_take(&p->memory, head_bit_words(h->width[0]) * ROWS, sizeof *p->bits.words);
    for (size_t l = 0; l < h->layers; l++) {
        struct head_layer *layer = &p->net.layer[l];
        *layer = (struct head_layer){
            .in = h->width[l], .out = h->width[l + 1], .ld = head_padded(h->width[l + 1])};
        layer->w = arena_take(&p->memory, (layer->in + 1) * layer->ld, sizeof(real));
        layer->value = arena_take(&p->memory, ROWS * layer->ld, sizeof(real));
    }
}

static sotto_status head_predict_plan(struct predictor *p, const struct sotto_head *h)
{
    p->kernels = head_kernels_find();
    p->clip = h->has_recipe ? head_trainer_of(&h->recipe)->radius(&h->recipe) : 0;
    head_predict_layout(p, h);
    sotto_status status = arena_reserve(&p->memory, "predict");
    if (status != SOTTO_OK)
        return status;
    head_predict_layout(p, h);
    for (size_t l = 0; l < h->layers; l++) {
        struct head_layer *layer = &p->net.layer[l];
        const float *weights = h->parameters + head_offset(h, l), *bias = weights + layer->in * layer->out;
        for (size_t o = 0; o < layer->out; o++) {
            for (size_t i = 0; i < layer->in; i++)
                layer->w[i * layer->ld + o] = weights[o * layer->in + i];
            layer->w[layer->in * layer->ld + o] = bias[o];
        }
    }
    return SOTTO_OK;
}

static const struct head_layer *logits_of(const struct predictor *p, const float *x, size_t rows)
{
    size_t d = p->net.layer[0].in;
    for (size_t i = 0; p->clip > 0 && i < rows; i++)
        head_record_clip(p->copied + i * d, x + i * d, d, p->clip);
    p->kernels->forward(&p->net, p->clip > 0 ? p->copied : x, rows);
    return &p->net.layer[p->net.layers - 1];
}

/* The same for records start .. start + rows of a part. */
static const struct head_layer *logits_of_part(const struct predictor *p, const struct head_part *part,
                                               size_t start, size_t rows)
{
    const float *x = part->data->x;
    size_t d = part->data->d;
    if (!part->record && (!part->bits || p->clip > 0))
        return logits_of(p, x + start * d, rows);
    for (size_t i = 0; i < rows; i++) {
        size_t record = head_part_record(part, start + i);
        if (part->bits && p->clip == 0)
            head_bit_rows_put(&p->bits, i, part->bits, record, d);
        else
            memcpy(p->copied + i * d, x + record * d, d * sizeof *x);
    }
    if (!part->bits || p->clip > 0)
        return logits_of(p, p->copied, rows);
    p->kernels->forward_bits(&p->net, &p->bits, rows);
    return &p->net.layer[p->net.layers - 1];
}

static sotto_status check_width(const struct sotto_head *h, size_t d)
{
    if (d == h->width[0])
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL, "features have %zu columns but the head expects %zu", d, h->width[0]);
}

sotto_status sotto_head_predict(float *out, const struct sotto_head *h, const float *x, size_t n, size_t d,
                                int logits, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, h, !n || x);
    sotto_status status = SOTTO_OK;
    struct predictor p = {0};
    size_t classes = sotto_head_classes(h);
    TRY(check_width(h, d));
    for (size_t i = 0; i < n * d; i++)
        REQUIRE(isfinite(x[i]), "features: row %zu, column %zu is not finite; features must be finite", i / d,
                i % d);
    TRY(head_predict_plan(&p, h));
    for (size_t start = 0; start < n; start += ROWS) {
        size_t rows = n - start < ROWS ? n - start : ROWS;
        if (start / ROWS % EVERY == 0)
            TRY(context_check(ctx, "predict: stopped after %zu of %zu records", start, n));
        const struct head_layer *last = logits_of(&p, x + start * d, rows);
        float *answers = out + start * classes;
        if (!logits)
            p.kernels->softmax(answers, last->value, last->ld, rows, classes);
        for (size_t i = 0; logits && i < rows; i++)
            memcpy(answers + i * classes, last->value + i * last->ld, classes * sizeof *answers);
    }
done:
    arena_clear(&p.memory);
    return status;
}

sotto_status head_part_accuracy(double *out, const struct sotto_head *h, const struct head_part *part,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct predictor p = {0};
    size_t classes = sotto_head_classes(h), right = 0, n = part->n;
    TRY(check_width(h, part->data->d));
    REQUIRE(n > 0, "accuracy: 0 records; expected at least 1");
    TRY(head_predict_plan(&p, h));
    for (size_t start = 0; start < n; start += ROWS) {
        size_t rows = n - start < ROWS ? n - start : ROWS;
        if (start / ROWS % EVERY == 0)
            TRY(context_check(ctx, "accuracy: stopped after %zu of %zu records", start, n));
        const struct head_layer *last = logits_of_part(&p, part, start, rows);
        for (size_t i = 0; i < rows; i++) {
            const float *z = last->value + i * last->ld;
            size_t best = 0;
            for (size_t k = 1; k < classes; k++)
                best = z[k] > z[best] ? k : best;
            right += part->data->y[head_part_record(part, start + i)] == (int64_t)best;
        }
    }
    *out = (double)right / (double)n;
done:
    arena_clear(&p.memory);
    return status;
}

sotto_status sotto_head_accuracy(double *out, const struct sotto_head *h, const float *x, const int64_t *y,
                                 size_t n, size_t d, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, h, !n || x, !n || y);
    struct head_data data = {x, y, n, d, sotto_head_classes(h)};
    struct head_part all = head_part_all(&data);
    return head_part_accuracy(out, h, &all, ctx);
}
