#include "attack/query/memory_pictures.h"

#include "io/text/bitmap.h"

#include <math.h>
#include <string.h>

enum { BESIDE = 5, TILES = BESIDE + 2, GAP = 2, SIDE_MAX = 64, COLOURS = 3 };

/* The place of the largest value that was not taken; it becomes NAN. n: there is none. */
static size_t take_largest(double *value, size_t n)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (!isnan(value[i]) && (best == n || value[i] > value[best]))
            best = i;
    if (best < n)
        value[best] = NAN;
    return best;
}

/* Image x in tile number `tile`, (channels, height, width) in [0, 1]; map > 0 turns it pink. */
static void memory_pictures_draw(uint8_t *sheet, size_t tile, const float *x, const float *map,
                                 struct nn_shape r)
{
    static const double pink[COLOURS] = {255, 20, 147};
    const size_t width = TILES * (r.width + GAP) - GAP, size = r.height * r.width;
    for (size_t c = 0; c < COLOURS; c++)
        for (size_t i = 0; i < size; i++) {
            const double value = 255 * (double)x[(r.channels == COLOURS ? c : 0) * size + i],
                         part = map ? 0.7 * (double)map[i] : 0, mixed = value + part * (pink[c] - value);
            sheet[(c * r.height + i / r.width) * width + tile * (r.width + GAP) + i % r.width] =
                (uint8_t)lrint(fmin(fmax(mixed, 0), 255));
        }
}

static sotto_status memory_pictures_picture(struct facts *to, struct layer_memories *m,
                                            const struct memory_explanation *e, const float *x,
                                            const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct nn_shape r = m->network->record;
    const size_t width = TILES * (r.width + GAP) - GAP;
    uint8_t *sheet = NULL;
    double *active = NULL;
    char *text = NULL;
    if (r.height * r.width == 1 || r.height > SIDE_MAX || r.width > SIDE_MAX ||
        (r.channels != 1 && r.channels != COLOURS))
        goto done;
    NEW_ROWS(sheet, COLOURS * r.height, width);
    NEW(active, in->attacker.n);
    memset(sheet, 255, COLOURS * r.height * width);
    TRY(layer_memories_activation(active, m, e->layer, e->unit, &in->attacker, in->ctx));
    memory_pictures_draw(sheet, 0, x, NULL, r);
    memory_pictures_draw(sheet, 1, x, e->map, r);
    for (size_t k = 0; k < BESIDE; k++) {
        size_t at = take_largest(active, in->attacker.n);
        if (at < in->attacker.n)
            memory_pictures_draw(sheet, 2 + k, in->attacker.x + at * in->attacker.d, NULL, r);
    }
    text = bitmap_uri(sheet, COLOURS, r.height, width);
    if (!text)
        FAIL(SOTTO_ENOMEM, "attack: out of memory for a picture");
    fact_text(to, "picture", text);
done:
    base_free(text);
    base_free(active);
    base_free(sheet);
    return status;
}

sotto_status memory_pictures_add(struct facts *out, struct layer_memories *m, const double *scores,
                                 const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const size_t n = in->records.n, d = in->records.d;
    struct facts *list = fact_list(out, "explained");
    struct memory_explanation e = {0};
    double *left = NULL;
    NEW(left, n);
    memcpy(left, scores, n * sizeof *left);
    for (size_t k = 0; k < in->options->explain && k < n; k++) {
        const size_t row = take_largest(left, n);
        const struct head_data one = {in->records.x + row * d, in->records.y + row, 1, d,
                                      in->records.classes};
        struct facts *to = fact_group(list, NULL);
        base_free(e.map);
        e.map = NULL;
        TRY(memory_explain(&e, m, &one, in->ctx));
        fact_count(to, "row", row);
        fact_real(to, "score", scores[row]);
        fact_count(to, "layer", m->layers - e.layer); /* from the last */
        fact_count(to, "unit", e.unit);
        fact_real(to, "displacement", e.displacement);
        fact_real(to, "share", e.share);
        TRY(memory_pictures_picture(to, m, &e, one.x, in));
    }
done:
    base_free(e.map);
    base_free(left);
    return status;
}
