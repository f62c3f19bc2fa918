/* The combined label-only attack: everything that labels can tell about a record, weighed by a regression
 * that saw the same of a shadow's members and others. On images: the distance to the boundary from the record
 * and from its copies shifted by one pixel, as published (5 x 2,500 queries), and which moved copies keep the
 * class. On any record: its distance, and the share of noisy copies that keep the class at every strength.
 *
 * The weights are those of a logistic regression with a ridge: a few hundred rehearsed records are too few
 * for the network that weighs the bits of the augmentation attack. */
#include "attack/query/label_attack.h"
#include "attack/query/label_moves.h"
#include "audit/fit/linear_model.h"

#include <string.h>

enum { QUERIES = 12500, REHEARSED = 200, SHIFTED = 4, FIRST_SHIFT = 9, IMAGE_COPIES = 50, COPIES = 500 };
static const double ridge = 1e-2;

struct plan {
    bool image;
    struct image_shape shape;
    size_t distances, width; /* columns: distances, shares of noisy copies, bits of moved copies */
    size_t each, copies;     /* queries for a distance; noisy copies at each strength */
    struct label_setting *setting;
};

/* Cuts the queries of one record: a quarter for noise (of an image a twentieth), one for each moved copy, the
 * rest for distances. */
static sotto_status query_label_combined_cut(struct plan *p, const struct query_input *in,
                                             struct label_setting *s)
{
    sotto_status status = SOTTO_OK;
    *p = (struct plan){.image = in->options->channels > 0, .setting = s};
    if (p->image)
        TRY(label_shape(&p->shape, in));
    size_t moves = p->image ? PICTURE_MOVES : 0;
    p->distances = p->image ? 1 + SHIFTED : 1;
    p->width = p->distances + LABEL_LEVELS + moves;
    size_t most = p->image ? IMAGE_COPIES : COPIES;
    p->copies = s->queries / ((p->image ? 20 : 4) * LABEL_LEVELS);
    p->copies = p->copies < 1 ? 1 : p->copies > most ? most : p->copies;
    size_t others = LABEL_LEVELS * p->copies + moves, least = others + 2 * p->distances;
    if (s->queries < least)
        FAIL(SOTTO_EBUDGET,
             "attack: label-combined has a budget of %zu queries per record; expected at least %zu",
             s->queries, least);
    p->each = (s->queries - others) / p->distances;
done:
    return status;
}

static void put_column(float *rows, const double *column, size_t n, size_t width, size_t j)
{
    for (size_t i = 0; i < n; i++)
        rows[i * width + j] = (float)column[i];
}

/* Distances of the records and of their shifted copies. */
static sotto_status ask_distances(float *rows, struct sotto_target *t, const struct head_data *records,
                                  const struct plan *p, double *column)
{
    sotto_status status = SOTTO_OK;
    size_t d = records->d;
    struct head_data moved = *records;
    float *x = NULL;
    uint64_t seed = p->setting->seed;
    p->setting->queries = p->each;
    if (p->image)
        NEW_ROWS(x, records->n, d);
    for (size_t k = 0; k < p->distances; k++) {
        for (size_t i = 0; k && i < records->n; i++)
            image_move(x + i * d, records->x + i * d, &p->shape, FIRST_SHIFT + k - 1);
        moved.x = k ? x : records->x;
        p->setting->seed = seed + k;
        TRY(label_boundary(column, t, &moved, 0, p->setting));
        put_column(rows, column, records->n, p->width, k);
    }
done:
    p->setting->seed = seed;
    base_free(x);
    return status;
}

/* rows (n, width): all that labels tell about the records. */
static sotto_status query_label_combined_ask(float *rows, struct sotto_target *t,
                                             const struct head_data *records, const struct plan *p,
                                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t n = records->n, first = p->distances + LABEL_LEVELS;
    double *column = NULL;
    float *bits = NULL;
    NEW(column, n);
    if (p->image)
        NEW_ROWS(bits, n, PICTURE_MOVES);
    TRY(ask_distances(rows, t, records, p, column));
    p->setting->queries = p->copies;
    for (size_t level = 0; level < LABEL_LEVELS; level++) {
        TRY(label_noise(column, t, records, (double)level, p->setting));
        put_column(rows, column, n, p->width, p->distances + level);
    }
    if (p->image)
        TRY(label_moves(bits, t, records, &p->shape, ctx));
    for (size_t i = 0; p->image && i < n; i++)
        memcpy(rows + i * p->width + first, bits + i * PICTURE_MOVES, PICTURE_MOVES * sizeof *rows);
done:
    base_free(column);
    base_free(bits);
    return status;
}

static sotto_status query_label_combined_weigh(struct linear_model *out, const struct shadow_calibration *r,
                                               const struct plan *p, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t n = r->records.n;
    float *rows = NULL;
    int64_t *member = NULL;
    size_t *row = NULL;
    NEW_ROWS(rows, n, p->width);
    NEW(member, n);
    NEW(row, n);
    for (size_t i = 0; i < n; i++) {
        member[i] = i < r->n_member;
        row[i] = i;
    }
    TRY(query_label_combined_ask(rows, r->target, &r->records, p, ctx));
    TRY(linear_model_fit(out, &(struct linear_rows){rows, member, row, n, p->width}, 2, ridge, NULL));
done:
    base_free(rows);
    base_free(member);
    base_free(row);
    return status;
}

static sotto_status query_label_combined_run(double *scores, struct query_result *result,
                                             const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct label_setting s = {0};
    struct shadow_calibration r = {0};
    struct linear_model m = {0};
    struct plan p;
    size_t n = in->records.n;
    float *rows = NULL;
    TRY(label_setting_make(&s, in, QUERIES, 0));
    TRY(query_label_combined_cut(&p, in, &s));
    TRY(shadow_calibration_make(&r, result, in, REHEARSED));
    if (result->pending)
        goto done;
    NEW_ROWS(rows, n, p.width);
    TRY(query_label_combined_weigh(&m, &r, &p, in->ctx));
    s.unreachable = 0;
    TRY(query_label_combined_ask(rows, in->target, &in->records, &p, in->ctx));
    for (size_t i = 0; i < n; i++) {
        double logits[2];
        linear_model_logits(logits, &m, rows + i * p.width);
        scores[i] = logits[1];
    }
    result->threshold = 0;
    fact_count(&result->facts, "distances", p.distances);
    fact_count(&result->facts, "queries_per_distance", p.each);
    fact_count(&result->facts, "noisy_copies", LABEL_LEVELS * p.copies);
    fact_count(&result->facts, "moved_copies", p.image ? (size_t)PICTURE_MOVES : 0);
    fact_count(&result->facts, "without_boundary", s.unreachable);
done:
    base_free(rows);
    linear_model_clear(&m);
    shadow_calibration_clear(&r);
    label_setting_clear(&s);
    return status;
}

const struct query_attack query_label_combined = {
    .name = "label-combined",
    .title = "Label only: combination of boundary, noise and augmentation",
    .source = "Choquette-Choo et al. 2021, combined attack",
    .needs = QUERY_DECISIONS | QUERY_LABELS | QUERY_SHADOWS | QUERY_QUERIES,
    .default_shadows = 1,
    .run = query_label_combined_run};
