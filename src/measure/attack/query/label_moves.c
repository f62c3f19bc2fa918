#include "attack/query/label_moves.h"

enum { BLOCK = 64 };

sotto_status label_shape(struct image_shape *out, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_attack_options *o = in->options;
    size_t pixels;
    REQUIRE(size_multiply(&pixels, o->height, o->width) && size_multiply(&pixels, pixels, o->channels) &&
                pixels == in->records.d,
            "attack: images of %zux%zux%zu do not match rows of %zu numbers; give the right "
            "{channels|image=C,H,W}",
            o->channels, o->height, o->width, in->records.d);
    *out = (struct image_shape){o->channels, o->height, o->width};
done:
    return status;
}

sotto_status label_moves(float *bits, struct sotto_target *t, const struct head_data *records,
                         const struct image_shape *shape, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t d = records->d;
    float *rows = NULL;
    int64_t *label = NULL;
    NEW_ROWS(rows, BLOCK * PICTURE_MOVES, d);
    NEW(label, BLOCK * PICTURE_MOVES);
    for (size_t first = 0; first < records->n; first += BLOCK) {
        size_t count = records->n - first < BLOCK ? records->n - first : BLOCK;
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "attack: stopped after %zu of %zu records", first, records->n);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < PICTURE_MOVES; k++)
                image_move(rows + (i * PICTURE_MOVES + k) * d, records->x + (first + i) * d, shape, k);
        TRY(target_labels(t, label, rows, count * PICTURE_MOVES));
        for (size_t b = 0; b < count * PICTURE_MOVES; b++)
            bits[first * PICTURE_MOVES + b] = label[b] == records->y[first + b / PICTURE_MOVES];
    }
done:
    base_free(rows);
    base_free(label);
    return status;
}
