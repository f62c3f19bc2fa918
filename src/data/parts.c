/* Named parts of a set as arrays that every other verb reads: the rows of one uniformly random permutation,
 * one run of them for each part, so that members and non-members come from the same pool.
 *
 * One-hot tables: a column of categories becomes one column of bits for each of its values; a column of
 * numbers is centred and scaled to unit variance over the whole set. Images become rows of values in [0, 1].
 */
#include "base/file.h"
#include "data/dataset.h"
#include "rng/rng.h"
#include "sotto/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How one column of the set is written. */
struct plan_column {
    size_t width; /* columns that it becomes */
    bool bits;    /* one for each code, else scaled */
    double centre, scale;
};
struct part_plan {
    const struct sotto_dataset *set;
    struct plan_column *columns; /* (set columns); NULL: as they are */
    size_t width;
};

static void measure(struct plan_column *c, const struct sotto_dataset *s, size_t j)
{
    double sum = 0, squares = 0, n = (double)s->n;
    for (size_t i = 0; i < s->n; i++)
        sum += (double)s->features[i * s->columns + j];
    c->centre = sum / n;
    for (size_t i = 0; i < s->n; i++) {
        double v = (double)s->features[i * s->columns + j] - c->centre;
        squares += v * v;
    }
    c->scale = squares > 0 ? sqrt(n / squares) : 1;
}

static sotto_status plan(struct part_plan *p, const struct sotto_dataset *s, bool one_hot)
{
    sotto_status status = SOTTO_OK;
    const struct dataset *d = s->owner;
    *p = (struct part_plan){.set = s, .width = s->images ? s->channels * s->height * s->width : s->columns};
    if (!one_hot)
        goto done;
    REQUIRE(s->features && d->columns && json_count(d->columns) == s->columns,
            "%s: one-hot needs a table whose columns are described (an imported CSV)", s->name);
    p->columns = base_alloc(s->columns, sizeof *p->columns);
    if (!p->columns)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", s->name);
    p->width = 0;
    for (size_t j = 0; j < s->columns; j++) {
        struct plan_column *c = &p->columns[j];
        const struct json *codes = json_find(json_at(d->columns, j), "codes");
        c->bits = codes != NULL;
        c->width = codes ? json_count(codes) : 1;
        if (!codes)
            measure(c, s, j);
        p->width += c->width;
    }
done:
    return status;
}

static void write_row(float *out, const struct part_plan *p, size_t row)
{
    const struct sotto_dataset *s = p->set;
    if (s->images) {
        for (size_t j = 0; j < p->width; j++)
            out[j] = (float)s->images[row * p->width + j] / 255;
        return;
    }
    const float *x = s->features + row * s->columns;
    if (!p->columns) {
        memcpy(out, x, s->columns * sizeof *out);
        return;
    }
    memset(out, 0, p->width * sizeof *out);
    for (size_t j = 0; j < s->columns; j++) {
        const struct plan_column *c = &p->columns[j];
        if (!c->bits)
            *out = (float)(((double)x[j] - c->centre) * c->scale);
        else if (x[j] >= 0 && x[j] < (float)c->width)
            out[(size_t)x[j]] = 1;
        out += c->width;
    }
}

/* The array and, beside it, whose records it holds (NULL: no records). */
static sotto_status save(const char *folder, const char *part, const char *what, struct sotto_array *a,
                         const struct sotto_provenance *whose)
{
    sotto_status status = SOTTO_OK;
    char name[96], path[4096];
    snprintf(name, sizeof name, "%s-%s.npy", part, what);
    TRY(path_join(path, sizeof path, folder, name));
    TRY(sotto_npy_save(path, a));
    if (whose)
        TRY(sotto_provenance_save(path, whose));
done:
    return status;
}

/* The part's share of a column of the whole set, if there is one. */
static sotto_status write_column(const char *folder, const struct sotto_data_part *part, const int64_t *rows,
                                 const char *what, const int64_t *column,
                                 const struct sotto_provenance *whose)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    if (!column)
        goto done;
    TRY(sotto_array_make(&a, SOTTO_I8, 1, &part->n));
    for (size_t i = 0; i < part->n; i++)
        ((int64_t *)a.data)[i] = column[rows[i]];
    TRY(save(folder, part->name, what, &a, whose));
done:
    sotto_array_clear(&a);
    return status;
}

static sotto_status write_part(const char *folder, const struct part_plan *p,
                               const struct sotto_data_part *part, const int64_t *rows)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array x = {0}, r = {0};
    struct sotto_provenance whose = {0};
    TRY(sotto_provenance_of_rows(&whose, p->set, rows, part->n));
    TRY(sotto_array_make(&x, SOTTO_F4, 2, (const size_t[]){part->n, p->width}));
    TRY(sotto_array_make(&r, SOTTO_I8, 1, &part->n));
    for (size_t i = 0; i < part->n; i++)
        write_row((float *)x.data + i * p->width, p, (size_t)rows[i]);
    memcpy(r.data, rows, part->n * sizeof *rows);
    TRY(save(folder, part->name, "features", &x, &whose));
    TRY(save(folder, part->name, "rows", &r, NULL));
    TRY(write_column(folder, part, rows, "labels", p->set->labels, &whose));
    TRY(write_column(folder, part, rows, "attribute", p->set->attribute, &whose));
done:
    sotto_provenance_clear(&whose);
    sotto_array_clear(&x);
    sotto_array_clear(&r);
    return status;
}

static sotto_status check_parts(const struct sotto_data_part *parts, size_t count,
                                const struct sotto_dataset *s)
{
    sotto_status status = SOTTO_OK;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(parts[i].name);
        REQUIRE(length > 0 && length < 64 &&
                    strspn(parts[i].name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length,
                "split: '%s' is no name of a part; expected a-z 0-9 _ -", parts[i].name);
        REQUIRE(parts[i].n > 0, "split: part '%s' has no records; expected at least 1", parts[i].name);
        for (size_t k = 0; k < i; k++)
            REQUIRE(strcmp(parts[i].name, parts[k].name) != 0, "split: part '%s' is named twice",
                    parts[i].name);
        REQUIRE(size_add(&total, total, parts[i].n), "split: the part sizes overflow");
    }
    REQUIRE(count > 0, "split: no part was named");
    REQUIRE(total <= s->n, "split: the parts need %zu records; %s has %zu", total, s->name, s->n);
done:
    return status;
}

sotto_status sotto_data_split(const char *folder, const char *set, const struct sotto_data_part *parts,
                              size_t count, int one_hot, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = NULL;
    struct part_plan p = {0};
    int64_t *order = NULL;
    TRY(sotto_dataset_open(&s, set, ctx));
    TRY(check_parts(parts, count, s));
    TRY(plan(&p, s, one_hot != 0));
    order = base_alloc(s->n, sizeof *order);
    if (!order)
        FAIL(SOTTO_ENOMEM, "split: out of memory for %zu records", s->n);
    for (size_t i = 0; i < s->n; i++)
        order[i] = (int64_t)i;
    struct rng random = rng_stream(seed, RNG_SPLIT, 4, 0);
    rng_shuffle(&random, order, s->n);
    TRY(folder_make(folder));
    for (size_t i = 0, first = 0; i < count; first += parts[i++].n)
        TRY(write_part(folder, &p, &parts[i], order + first));
done:
    sotto_dataset_free(s);
    base_free(p.columns);
    base_free(order);
    return status;
}
