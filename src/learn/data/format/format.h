/* format.h - layouts of files that become data sets. One const struct per layout, one ROW in
 * format_list.h. */
#ifndef DATA_FORMAT_FORMAT_H
#define DATA_FORMAT_FORMAT_H

#include "data/dataset.h"
#include "data/files/bundle.h"

struct dataset_format {
    const char *name;   /* "idx" */
    const char *layout; /* one line for `sotto data list` */
    /* registered set (or the beginning of its parts' names) that alone has this layout, or NULL */
    const char *set;
    /* which import options mean something */
    bool takes_size, takes_label, takes_part, takes_attribute, takes_schema, takes_loci, takes_person,
        drops_images;
    /** By names inside, or by content where names say nothing. Cheap. */
    bool (*recognise)(const struct bundle *b);
    /** Fills an empty set; may put a short detail of its own into set.origin. Errors name the file. */
    sotto_status (*read)(struct dataset *d, const struct bundle *b,
                         const struct sotto_import_options *options, const struct sotto_context *ctx);
};
/** NULL-terminated, most specific first: the first that recognises a bundle reads it. */
extern const struct dataset_format *const dataset_formats[];

extern const struct dataset_format format_csv; /* the tables of which a schema is drafted */

/** Reads a bundle in whatever layout it has. EFORMAT: none fits (the hint lists them). */
sotto_status format_read(struct dataset *d, const struct dataset_format **used, const struct bundle *b,
                         const struct sotto_import_options *options, const struct sotto_context *ctx);
/** A set that `python -m sotto.datasets` converts (published.c)? */
bool published_set(const char *name);
/** Opens "PATH", or "X:Y" (array_pair.h). */
sotto_status format_open_bundle(struct bundle *out, const char *path, const struct sotto_context *ctx);

#endif
