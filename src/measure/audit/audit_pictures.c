/* Pictures of an audit of a generative model: a sheet of its samples and, where records may be shown, the members that are nearest
 * to one, each beside it. */
#include "audit/audit_private.h"
#include "audit/score/sample_distances.h"
#include "io/text/bitmap.h"

#include <math.h>
#include <string.h>

enum { SHEET_COLUMNS = 8, SHEET_ROWS = 4, GAP = 2, NEAREST = 5, SIDE_MAX = 64 };

/* What is drawn on. */
struct sheet {
    uint8_t *pixels; /* (channels, height, width), white at first */
    size_t channels, height, width;
    double low, high; /* values that are black and white */
};

static sotto_status make_sheet(struct sheet *s, const struct sotto_generative_input *in, size_t rows,
                               size_t columns)
{
    sotto_status status = SOTTO_OK;
    s->channels = in->channels;
    s->height = rows * (in->height + GAP) - GAP, s->width = columns * (in->width + GAP) - GAP;
    NEW_ROWS(s->pixels, s->channels * s->height, s->width);
    memset(s->pixels, 255, s->channels * s->height * s->width);
    s->low = INFINITY, s->high = -INFINITY;
    for (size_t i = 0; i < in->generated_n * in->channels * in->height * in->width; i++) {
        s->low = fmin(s->low, (double)in->generated[i]);
        s->high = fmax(s->high, (double)in->generated[i]);
    }
done:
    return status;
}

static void audit_pictures_draw(struct sheet *s, size_t row, size_t column, const float *image,
                                const struct sotto_generative_input *in)
{
    const double scale = s->high > s->low ? 255 / (s->high - s->low) : 0;
    for (size_t c = 0; c < in->channels; c++)
        for (size_t y = 0; y < in->height; y++)
            for (size_t x = 0; x < in->width; x++) {
                double value = ((double)image[(c * in->height + y) * in->width + x] - s->low) * scale;
                s->pixels[(c * s->height + row * (in->height + GAP) + y) * s->width +
                          column * (in->width + GAP) + x] = (uint8_t)lrint(fmin(fmax(value, 0), 255));
            }
}

static sotto_status audit_pictures_keep(const char **out, struct sotto_audit_result *r, const struct sheet *s)
{
    sotto_status status = SOTTO_OK;
    char *text = bitmap_uri(s->pixels, s->channels, s->height, s->width);
    *out = audit_keep_text(&r->memory, text);
    if (!*out)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for a picture");
done:
    base_free(text);
    return status;
}

static sotto_status draw_samples(struct sotto_audit_result *r, const struct sotto_generative_input *in)
{
    sotto_status status = SOTTO_OK;
    const size_t most = SHEET_COLUMNS * SHEET_ROWS, n = in->generated_n < most ? in->generated_n : most,
                 values = in->channels * in->height * in->width;
    struct sheet s = {0};
    TRY(make_sheet(&s, in, (n + SHEET_COLUMNS - 1) / SHEET_COLUMNS, n < SHEET_COLUMNS ? n : SHEET_COLUMNS));
    for (size_t i = 0; i < n; i++)
        audit_pictures_draw(&s, i / SHEET_COLUMNS, i % SHEET_COLUMNS, in->generated + i * values, in);
    TRY(audit_pictures_keep(&r->generator->sheet, r, &s));
done:
    base_free(s.pixels);
    return status;
}

/* The member of the least distance that was not taken yet; taken ones have distance NAN. */
static size_t take_nearest(const double *distance, size_t n)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (!isnan(distance[i]) && (best == n || distance[i] < distance[best]))
            best = i;
    return best;
}

static sotto_status draw_nearest(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                                 const struct sotto_generative_input *in)
{
    sotto_status status = SOTTO_OK;
    const size_t n = arrays->member.n, values = arrays->all.width, count = n < NEAREST ? n : NEAREST;
    struct sample_pairs pairs = {arrays->all.features, in->generated, n,
                                 in->generated_n,      values,        arrays->all.ctx};
    struct sotto_generator_nearest *nearest;
    struct sheet s = {0};
    double *distance = NULL;
    size_t *which = NULL;
    NEW(distance, n);
    NEW(which, n);
    TRY(sample_nearest(distance, which, &pairs));
    TAKE(&r->memory, nearest, count);
    TRY(make_sheet(&s, in, 1, 2));
    for (size_t i = 0; i < count; i++) {
        size_t row = take_nearest(distance, n);
        nearest[i].row = (int64_t)row, nearest[i].distance = distance[row];
        distance[row] = NAN;
        audit_pictures_draw(&s, 0, 0, arrays->all.features + row * values, in);
        audit_pictures_draw(&s, 0, 1, in->generated + which[row] * values, in);
        TRY(audit_pictures_keep(&nearest[i].picture, r, &s));
    }
    r->generator->nearest = nearest, r->generator->nearest_count = count;
done:
    base_free(s.pixels);
    base_free(distance);
    base_free(which);
    return status;
}

sotto_status audit_draw_pictures(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                                 const struct sotto_generative_input *in,
                                 const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    if (!in || !in->generated || !in->channels || in->height > SIDE_MAX || in->width > SIDE_MAX)
        return SOTTO_OK;
    TRY(draw_samples(r, in));
    if (settings->include_indices)
        TRY(draw_nearest(r, arrays, in));
done:
    return status;
}
