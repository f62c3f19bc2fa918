/* store.h - imported sets on disk: FOLDER/NAME/{images.npy or features.npy, labels.npy, attribute.npy,
 * dataset.json}. */
#ifndef DATA_STORE_STORE_H
#define DATA_STORE_STORE_H

#include "data/dataset.h"

/** $SOTTO_DATA_DIR, $XDG_DATA_HOME/sotto/data or ~/.local/share/sotto/data. ENOENT: none of them is set. */
sotto_status store_folder(char *path, size_t capacity);
/** Whether NAME was imported, and its folder. false also when there is no data folder at all. */
bool store_find(char *path, size_t capacity, const char *name);
struct json;
/** Column j of a described table as an object, and how the table's text was read. */
struct json *store_column_json(const struct dataset *d, size_t j);
struct json *store_table_json(const struct dataset *d);
/** Writes a finished set into an existing empty folder; runs d->stream and fills set.sha256 after it.
 * `source`: facts on the file it came from. */
struct store_source {
    const char *file, *format, *sha256; /* base name, layout, of the file; sha256 NULL for folders */
    const char *url;                    /* where it was fetched, or NULL */
    bool registered;                    /* from the address on record: the public set */
};
sotto_status store_write(const char *folder, struct dataset *d, const struct store_source *source,
                         const struct sotto_context *ctx);
/** Reads it back; checks dataset.json against the arrays, but not their hash. */
sotto_status store_read(struct dataset *d, const char *folder);
/** Names of all imported sets in byte order; free with store_names_free(). */
sotto_status store_names(char ***names, size_t *count);
void store_names_free(char **names, size_t count);
/** Title, record count and problem of one imported set without reading its arrays. */
struct store_summary {
    char title[128];
    char dataset_id[128]; /* "": version 1 */
    size_t n;
};
sotto_status store_summarise(struct store_summary *out, const char *folder);

#endif
