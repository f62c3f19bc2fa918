/* Declared is what a schema says, here or at the import; then public rows, or private releases, may set the
 * scales. With none of these the rows of the set decide everything, and the stamp says so. */
#include "data/set/split_encoding.h"
#include "data/encoding/encoding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sotto_status split_check_options(const struct sotto_split_options *o)
{
    sotto_status status = SOTTO_OK;
    bool private_fit = o->private_epsilon != 0;
    int sources = (o->fit_part != NULL) + (o->fit_table != NULL) + private_fit;
    if (sources > 1)
        FAIL(SOTTO_EUSAGE,
             "split: give at most one of {fit_part|fit-on}, {fit_table} and {private_epsilon|private-fit}");
    if (!o->one_hot && (sources > 0 || o->schema))
        FAIL(SOTTO_EUSAGE, "split: {schema}, {fit_part|fit-on}, {fit_table} and "
                           "{private_epsilon|private-fit} need {one_hot}");
    if (!private_fit && (o->dataset_id || o->ledger))
        FAIL(SOTTO_EUSAGE, "split: {dataset_id||dataset} and {ledger} need {private_epsilon|private-fit}");
done:
    return status;
}

/* The schema of this call, else of the import; *out stays NULL where there is none. */
static sotto_status read_declared(struct sotto_table_encoding **out, const struct sotto_dataset *s,
                                  const char *schema)
{
    sotto_status status = SOTTO_OK;
    const struct dataset *d = dataset_behind(s);
    if (schema) {
        TRY(encoding_read_schema(out, schema));
        if ((*out)->person && !d->person[0])
            FAIL(SOTTO_EUSAGE,
                 "split: %s declares the persons of column '%s', but %s was imported without them; import it "
                 "again with "
                 "{person}",
                 schema, (*out)->person, s->name);
    }
    if (!schema && d->encoding)
        TRY(sotto_table_encoding_parse(out, d->encoding, s->name));
done:
    return status;
}

static sotto_status open_public_table(struct sotto_dataset **out, const char *path,
                                      const struct sotto_dataset *s, const struct sotto_table_encoding *e,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char *encoding = NULL;
    if (e)
        TRY(encoding_text(&encoding, e));
    TRY(dataset_open_like(out, path, s, encoding, ctx));
done:
    sotto_text_free(encoding);
    return status;
}

/* Rows that count as public: whose they are travels with the parts, and meets the records of every charge. */
static sotto_status note_public(struct sotto_table_encoding *e, const struct sotto_dataset *from,
                                const int64_t *rows, size_t n, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance by = {0};
    TRY(sotto_provenance_of_rows(&by, from, rows, n));
    TRY(sotto_provenance_shape(&e->shaped, "encoding", where, &by, sotto_dataset_is_public(by.dataset_id)));
done:
    sotto_provenance_clear(&by);
    return status;
}

/* Kinds, categories and classes of `from` unless they are declared, and its scales. */
static sotto_status split_encoding_fit(struct sotto_table_encoding **e, const struct sotto_dataset *from,
                                       const int64_t *rows, size_t n, enum sotto_encoding how)
{
    sotto_status status = SOTTO_OK;
    bool drafted = *e && (*e)->how == SOTTO_ENCODING_FITTED; /* its categories and classes still are */
    if (!*e)
        TRY(encoding_fit(e, from, rows, n));
    TRY(encoding_fit_scales(*e, from, rows, n));
    (*e)->how = drafted ? SOTTO_ENCODING_FITTED : how;
done:
    return status;
}

static struct encoding_release request_of(const struct sotto_dataset *s, const struct sotto_split_options *o)
{
    return (struct encoding_release){
        o->private_epsilon, o->dataset_id ? o->dataset_id : s->dataset_id, o->ledger, NULL, NULL, NULL};
}

sotto_status split_private_fit(struct sotto_table_encoding *e, const struct sotto_dataset *s,
                               const struct sotto_split_options *o, const struct sotto_context *ctx)
{
    const struct encoding_release request = request_of(s, o);
    return o->private_epsilon != 0 ? encoding_release(e, s, &request, ctx) : SOTTO_OK;
}

sotto_status split_encoding(struct sotto_table_encoding **out, const struct sotto_dataset *s,
                            const struct sotto_split_options *o, const struct split_rows *public,
                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_table_encoding *e = NULL;
    struct sotto_dataset *table = NULL;
    char where[128];
    if (!o->one_hot)
        goto done;
    TRY(read_declared(&e, s, o->schema));
    if (public->part) {
        TRY(split_encoding_fit(&e, s, public->rows, public->n, SOTTO_ENCODING_PUBLIC));
        snprintf(e->by, sizeof e->by, "%zu rows of the public part %.63s", public->n, public->part);
        snprintf(where, sizeof where, "of part %s", public->part);
        TRY(note_public(e, s, public->rows, public->n, where));
    } else if (o->fit_table) {
        TRY(open_public_table(&table, o->fit_table, s, e, ctx));
        TRY(split_encoding_fit(&e, table, NULL, table->n, SOTTO_ENCODING_PUBLIC));
        snprintf(e->by, sizeof e->by, "%zu rows of the public table %.63s", table->n, table->name);
        snprintf(where, sizeof where, "of table %s", table->name);
        TRY(note_public(e, table, NULL, table->n, where));
    } else if (o->private_epsilon != 0) {
        const struct encoding_release request = request_of(s, o);
        TRY(encoding_release_check(e, s, &request));
    } else if (!e) {
        TRY(split_encoding_fit(&e, s, NULL, s->n, SOTTO_ENCODING_FITTED));
        snprintf(e->by, sizeof e->by, "all rows of the set");
    }
    *out = e;
    e = NULL;
done:
    sotto_table_encoding_free(e);
    sotto_dataset_free(table);
    return status;
}

/* What fixes the classes whatever the records are; "": nothing, they were read off the records. */
static const char *classes_given_by(const struct sotto_dataset *s, const struct sotto_table_encoding *e)
{
    const struct dataset *d = dataset_behind(s);
    const struct dataset_source *source = dataset_source_find(s->name);
    if (e && e->how == SOTTO_ENCODING_FITTED)
        return "";
    if ((d->encoding && !d->drafted) || (e && e->declared_classes))
        return "the schema";
    if (e && e->how == SOTTO_ENCODING_PUBLIC)
        return "public rows";
    bool described = source && (source->synthetic || source->classes == s->classes);
    return described && !d->columns ? "the data set's description" : "";
}

static sotto_status copy_class_names(struct sotto_provenance *out, const struct sotto_dataset *s,
                                     const struct sotto_table_encoding *e)
{
    sotto_status status = SOTTO_OK;
    const char *const *names = e ? (const char *const *)e->classes.texts : s->class_names;
    size_t classes = e ? e->classes.count : s->classes;
    if (names)
        NEW(out->class_names, classes);
    out->classes = classes;
    for (size_t k = 0; names && k < classes; k++)
        NEW_TEXT(out->class_names[k], names[k]);
done:
    return status;
}

sotto_status split_provenance(struct sotto_provenance *out, const struct sotto_dataset *s,
                              const struct sotto_table_encoding *e, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance p = {0};
    TRY(sotto_provenance_of_rows(&p, s, rows, n));
    if (e)
        p.encoding = e->how;
    if (e)
        TRY(sotto_provenance_shape(&p, NULL, NULL, &e->shaped, 0));
    if (s->labels && !p.classes_by[0])
        snprintf(p.classes_by, sizeof p.classes_by, "%s", classes_given_by(s, e));
    if (p.classes_by[0] && p.classes == 0)
        TRY(copy_class_names(&p, s, e));
    *out = p;
    p = (struct sotto_provenance){0};
done:
    sotto_provenance_clear(&p);
    return status;
}

void split_warn(const struct sotto_dataset *s, const struct sotto_table_encoding *e,
                const struct sotto_context *ctx)
{
    if ((e ? e->how : dataset_stored_encoding(s)) == SOTTO_ENCODING_FITTED)
        context_log(
            ctx, SOTTO_LOG_WARNING,
            "%s: the encoding was fitted on these rows, so every epsilon on them is conditional; to avoid "
            "this, give {schema} (tables) or {loci} (genotypes) at the import, or {one_hot} with {schema}, "
            "{fit_part|fit-on} or {fit_table}",
            s->name);
}
