/* Named parts of a set as arrays that every other verb reads: the rows of one uniformly random permutation,
 * one run of them for each part, so that members and non-members come from the same pool. Beside every part
 * lie the source of its records and how their columns became numbers.
 *
 * Tables with --one-hot go through an encoding (encoding.h); others are written as they are stored. Images
 * become rows of values in [0, 1]. */
#include "base/file.h"
#include "data/dataset.h"
#include "data/set/split_encoding.h"
#include "options/option_tables.h"
#include "rng/rng.h"
#include "sotto/option.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct part_plan {
    const struct sotto_dataset *set;
    const struct sotto_table_encoding *encoding; /* NULL: as they are */
    struct encoding_rows *rows;                  /* of the set, with `encoding` */
    size_t width;
};

static sotto_status parts_plan(struct part_plan *p, const struct sotto_dataset *s,
                               const struct sotto_table_encoding *e)
{
    sotto_status status = SOTTO_OK;
    *p = (struct part_plan){.set = s,
                            .encoding = e,
                            .width = e           ? sotto_table_encoding_width(e)
                                     : s->images ? s->channels * s->height * s->width
                                                 : s->columns};
    if (e)
        TRY(encoding_rows_open(&p->rows, e, s));
done:
    return status;
}

static void write_row(float *out, const struct part_plan *p, size_t row)
{
    const struct sotto_dataset *s = p->set;
    if (p->encoding) {
        encoding_rows_write(out, p->rows, row);
    } else if (s->images) {
        for (size_t j = 0; j < p->width; j++)
            out[j] = (float)s->images[row * p->width + j] / 255;
    } else {
        memcpy(out, s->features + row * s->columns, s->columns * sizeof *out);
    }
}

/* The array and, beside it, the source of its records (NULL: no records). */
static sotto_status parts_save(const char *folder, const char *part, const char *what, struct sotto_array *a,
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

/* The part's share of a column of the whole set, if there is one. Labels are those of the encoding. */
static sotto_status write_column(const char *folder, const struct sotto_data_part *part, const int64_t *rows,
                                 const char *what, const int64_t *column, const struct encoding_rows *labels,
                                 const struct sotto_provenance *whose)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    if (!column)
        goto done;
    TRY(sotto_array_make(&a, SOTTO_I8, 1, &part->n));
    for (size_t i = 0; i < part->n; i++)
        ((int64_t *)a.data)[i] = labels ? encoding_rows_label(labels, (size_t)rows[i]) : column[rows[i]];
    TRY(parts_save(folder, part->name, what, &a, whose));
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
    TRY(split_provenance(&whose, p->set, p->encoding, rows, part->n));
    TRY(sotto_array_make(&x, SOTTO_F4, 2, (const size_t[]){part->n, p->width}));
    TRY(sotto_array_make(&r, SOTTO_I8, 1, &part->n));
    for (size_t i = 0; i < part->n; i++)
        write_row((float *)x.data + i * p->width, p, (size_t)rows[i]);
    memcpy(r.data, rows, part->n * sizeof *rows);
    TRY(parts_save(folder, part->name, "features", &x, &whose));
    TRY(parts_save(folder, part->name, "rows", &r, NULL));
    TRY(write_column(folder, part, rows, "labels", p->set->labels, p->rows, &whose));
    TRY(write_column(folder, part, rows, "attribute", p->set->attribute, NULL, &whose));
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
                "split: part name '%s' is not allowed; expected a-z 0-9 _ -", parts[i].name);
        REQUIRE(parts[i].n > 0, "split: part '%s' has no records; expected at least 1", parts[i].name);
        for (size_t k = 0; k < i; k++)
            REQUIRE(strcmp(parts[i].name, parts[k].name) != 0, "split: part '%s' is given twice",
                    parts[i].name);
        REQUIRE(size_add(&total, total, parts[i].n), "split: the sum of the part sizes is too large");
    }
    REQUIRE(count > 0, "split: no part was given; expected at least one by {parts}");
    REQUIRE(total <= s->n, "split: the parts need %zu records; %s has %zu", total, s->name, s->n);
done:
    return status;
}

/* A hair is added, as .7 of 10 is below 7. */
static sotto_status count_shares(struct sotto_data_part *parts, size_t count, size_t records)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < count; i++) {
        REQUIRE(
            parts[i].share >= 0 && parts[i].share <= 1 && (parts[i].share == 0 || parts[i].n == 0),
            "split: the share of part '%s' is %g; expected above 0 and at most 1, and no number beside it",
            parts[i].name, parts[i].share);
        if (parts[i].share > 0)
            parts[i].n = (size_t)floor(parts[i].share * (double)records + 1e-6);
    }
done:
    return status;
}

static sotto_status draw_order(int64_t **out, size_t n, uint64_t seed)
{
    int64_t *order = base_alloc(n, sizeof *order);
    if (!order)
        return status_fail(SOTTO_ENOMEM, "split: out of memory for %zu records", n);
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    struct rng random = rng_stream(seed, RNG_SPLIT, 4, 0);
    rng_shuffle(&random, order, n);
    *out = order;
    return SOTTO_OK;
}

/* The rows of the part that an encoding is fitted on; NULL: of none. */
static sotto_status find_public(struct split_rows *out, const struct sotto_data_part *parts, size_t count,
                                const int64_t *order, const char *name)
{
    *out = (struct split_rows){.part = name};
    for (size_t i = 0; name && i < count; order += parts[i++].n)
        if (strcmp(parts[i].name, name) == 0)
            *out = (struct split_rows){name, order, parts[i].n};
    return name && !out->rows
               ? status_fail(SOTTO_EINVAL,
                             "split: {fit_part|fit-on='%.80s'} is not a part; expected one of {parts}", name)
               : SOTTO_OK;
}

static sotto_status save_encoding(const char *folder, const struct sotto_table_encoding *e)
{
    sotto_status status = SOTTO_OK;
    char path[4096];
    if (!e)
        goto done;
    TRY(path_join(path, sizeof path, folder, "encoding.json"));
    TRY(encoding_save(path, e));
done:
    return status;
}

enum { OUTPUTS = 4, BESIDE = 1 << 16 /* bytes of headers and of what lies beside an array */ };

/* Room for one part's files, before bounds are paid for that would be lost with them. */
static sotto_status hold_part(struct held_file held[OUTPUTS], const char *folder, const struct part_plan *p,
                              const struct sotto_data_part *part)
{
    static const char *const whats[OUTPUTS] = {"features", "rows", "labels", "attribute"};
    sotto_status status = SOTTO_OK;
    char name[96], path[4096];
    for (size_t k = 0; k < OUTPUTS; k++) {
        const size_t bytes = k == 0 ? p->width * sizeof(float) : sizeof(int64_t);
        if (k == 3 && !p->set->attribute)
            continue;
        snprintf(name, sizeof name, "%s-%s.npy", part->name, whats[k]);
        TRY(path_join(path, sizeof path, folder, name));
        TRY(file_hold(&held[k], path, part->n * bytes + BESIDE));
    }
done:
    return status;
}

/* Private bounds, once the files that need them can be written. */
static sotto_status fit_privately(struct sotto_table_encoding *e, const char *folder,
                                  const struct part_plan *p, const struct sotto_data_part *parts,
                                  size_t count, const struct sotto_split_options *o,
                                  const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct held_file encoding = {0}, *held = NULL;
    char path[4096];
    if (o->private_epsilon == 0)
        goto done;
    NEW(held, OUTPUTS * count);
    TRY(path_join(path, sizeof path, folder, "encoding.json"));
    TRY(file_hold(&encoding, path, BESIDE));
    for (size_t i = 0; i < count; i++)
        TRY(hold_part(held + OUTPUTS * i, folder, p, &parts[i]));
    TRY(split_private_fit(e, p->set, o, ctx));
done:
    file_release(&encoding);
    for (size_t k = 0; held && k < OUTPUTS * count; k++)
        file_release(&held[k]);
    base_free(held);
    return status;
}

/* Persons in a random order; a part takes each that still fits, so that no person is in two parts. The order depends on
 * how many rows each person has, which is public, and on nothing else of the rows. */
static sotto_status order_by_person(int64_t *order, struct sotto_data_part *parts, size_t count,
                                    const struct dataset *d, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t n = d->set.n;
    size_t *starts = NULL, persons = 0, at = 0;
    int64_t *rows = NULL, *drawn = NULL;
    struct rng random = rng_stream(seed, RNG_SPLIT, 5, 0);
    NEW(starts, n + 2);
    NEW(rows, n);
    for (size_t i = 0; i < n; i++) {
        starts[d->persons[i] + 2]++;
        persons = (size_t)d->persons[i] >= persons ? (size_t)d->persons[i] + 1 : persons;
    }
    for (size_t p = 1; p <= persons; p++)
        starts[p + 1] += starts[p];
    for (size_t i = 0; i < n; i++)
        rows[starts[d->persons[i] + 1]++] = (int64_t)i; /* now starts[p] is where p begins */
    NEW(drawn, persons);
    for (size_t p = 0; p < persons; p++)
        drawn[p] = (int64_t)p;
    rng_shuffle(&random, drawn, persons);
    for (size_t k = 0; k < count; k++) {
        const size_t wanted = parts[k].n;
        size_t left = wanted, whole = 0;
        for (size_t p = 0; p < persons && left > 0; p++) {
            const size_t from = drawn[p] < 0 ? 0 : starts[drawn[p]];
            const size_t own = drawn[p] < 0 ? 0 : starts[drawn[p] + 1] - from;
            if (own == 0 || own > left)
                continue;
            memcpy(order + at, rows + from, own * sizeof *order);
            at += own;
            left -= own;
            whole++;
            drawn[p] = -1;
        }
        parts[k].n = wanted - left;
        REQUIRE(parts[k].n > 0, "split: part '%s': no person fits into %zu rows", parts[k].name, wanted);
        context_log(ctx, SOTTO_LOG_INFO, "part %s: %zu rows of %zu persons, none of them in another part",
                    parts[k].name, parts[k].n, whole);
    }
done:
    base_free(starts);
    base_free(rows);
    base_free(drawn);
    return status;
}

/* Which rows go where. `sized` is a copy of the parts, whose sizes follow whole persons. */
static sotto_status draw_parts(int64_t **order, struct sotto_data_part *sized, size_t count,
                               const struct sotto_dataset *s, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct dataset *d = dataset_behind(s);
    TRY(draw_order(order, s->n, seed));
    if (d && d->persons)
        TRY(order_by_person(*order, sized, count, d, seed, ctx));
    else
        REQUIRE(!d || d->provenance.rows_per_person == 0,
                "split: the rows of %s are of persons, but which are one person's is not known; split the "
                "imported table",
                s->name);
done:
    return status;
}

static sotto_status write_all(const char *folder, const struct part_plan *p,
                              const struct sotto_data_part *parts, size_t count, const int64_t *order)
{
    sotto_status status = SOTTO_OK;
    TRY(save_encoding(folder, p->encoding));
    for (size_t i = 0; i < count; order += parts[i++].n)
        TRY(write_part(folder, p, &parts[i], order));
done:
    return status;
}

sotto_status sotto_data_split(const char *folder, const char *set, const struct sotto_data_part *parts,
                              size_t count, const struct sotto_split_options *options,
                              const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(folder, set, !count || parts);
    sotto_status status = SOTTO_OK;
    struct sotto_split_options chosen;
    struct sotto_dataset *s = NULL;
    struct sotto_table_encoding *e = NULL;
    struct part_plan p = {0};
    struct split_rows public;
    int64_t *order = NULL;
    struct sotto_data_part *sized = NULL;
    TRY(sotto_options_resolve(&chosen, options, options_split));
    TRY(split_check_options(&chosen));
    TRY(sotto_dataset_open(&s, set, ctx));
    NEW(sized, count);
    if (count)
        memcpy(sized, parts, count * sizeof *sized);
    TRY(count_shares(sized, count, s->n));
    TRY(check_parts(sized, count, s));
    if (!chosen.one_hot)
        TRY(dataset_check_encoded(s));
    TRY(draw_parts(&order, sized, count, s, chosen.seed, ctx));
    TRY(find_public(&public, sized, count, order, chosen.fit_part));
    TRY(split_encoding(&e, s, &chosen, &public, ctx));
    TRY(parts_plan(&p, s, e));
    TRY(folder_make(folder));
    TRY(fit_privately(e, folder, &p, sized, count, &chosen, ctx));
    status = write_all(folder, &p, sized, count, order);
    if (status != SOTTO_OK && chosen.private_epsilon != 0)
        encoding_name_charge(chosen.private_epsilon);
    TRY(status);
    split_warn(s, e, ctx);
done:
    encoding_rows_close(p.rows);
    sotto_table_encoding_free(e);
    sotto_dataset_free(s);
    base_free(order);
    base_free(sized);
    return status;
}
