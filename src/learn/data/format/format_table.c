/* Which layout is it? The first row that recognises the files reads them. */
#include "data/format/format.h"

#include "data/format/array_pair.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) extern const struct dataset_format format_##name;
#include "data/format/format_list.h"
#undef ROW
const struct dataset_format *const dataset_formats[] = {
#define ROW(name) &format_##name,
#include "data/format/format_list.h"
#undef ROW
    NULL};

sotto_status format_open_bundle(struct bundle *out, const char *path, const struct sotto_context *ctx)
{
    const size_t colon = array_pair_colon(path);
    return colon ? bundle_of_pair(out, path, colon, ctx) : bundle_open(out, path, ctx);
}

static bool describes_table(const struct sotto_import_options *o)
{
    return o->separator || o->missing || o->types || o->drop || o->no_header || o->drop_bad_rows;
}

sotto_status format_read(struct dataset *d, const struct dataset_format **used, const struct bundle *b,
                         const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    static const struct sotto_import_options none = {0};
    for (const struct dataset_format *const *f = dataset_formats; *f; f++) {
        if (!(*f)->recognise(b))
            continue;
        *used = *f;
        if (options && options->height && !(*f)->takes_size)
            return status_fail(SOTTO_EUSAGE, "%s: a size cannot be given for the layout '%s'", b->origin,
                               (*f)->name);
        if (options && options->label && !(*f)->takes_label)
            return status_fail(SOTTO_EUSAGE, "%s: a label column cannot be given for the layout '%s'",
                               b->origin, (*f)->name);
        if (options && options->attribute && !(*f)->takes_attribute)
            return status_fail(SOTTO_EUSAGE, "%s: an attribute column cannot be given for the layout '%s'",
                               b->origin, (*f)->name);
        if (options && describes_table(options) && !(*f)->takes_schema)
            return status_fail(SOTTO_EUSAGE,
                               "%s: {separator}, {missing}, {types}, {drop}, {no_header} and {drop_bad_rows} "
                               "cannot be given for the layout '%s'; they describe tables",
                               b->origin, (*f)->name);
        if (options && options->drop_bad_images && !(*f)->drops_images)
            return status_fail(
                SOTTO_EUSAGE,
                "%s: {drop_bad_images} cannot be given for the layout '%s'; it is for files of images",
                b->origin, (*f)->name);
        if (options && options->schema && !(*f)->takes_schema)
            return status_fail(SOTTO_EUSAGE,
                               "%s: a schema cannot be given for the layout '%s'; it describes tables",
                               b->origin, (*f)->name);
        if (options && (options->loci || options->absent) && !(*f)->takes_loci)
            return status_fail(
                SOTTO_EUSAGE,
                "%s: a list of loci cannot be given for the layout '%s'; it describes genotypes", b->origin,
                (*f)->name);
        if (options && options->person && !(*f)->takes_person)
            return status_fail(SOTTO_EUSAGE,
                               "%s: a person column cannot be given for the layout '%s'; tables have one",
                               b->origin, (*f)->name);
        if (options && options->part && !(*f)->takes_part)
            return status_fail(SOTTO_EUSAGE, "%s: a part cannot be given for the layout '%s'", b->origin,
                               (*f)->name);
        return (*f)->read(d, b, options ? options : &none, ctx);
    }
    char hint[480];
    size_t at = 0;
    for (const struct dataset_format *const *f = dataset_formats; *f && at < sizeof hint; f++)
        at += (size_t)snprintf(hint + at, sizeof hint - at, "%s%s",
                               at ? ", " : "supported layouts: ", (*f)->name);
    sotto_status status =
        status_fail(SOTTO_EFORMAT, "%s: not a layout that can be imported (first of %zu files: %s)",
                    b->origin, b->count, b->entries[0].name);
    status_hint("%s; 'sotto data list' describes them", hint);
    return status;
}
