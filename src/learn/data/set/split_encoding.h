/* split_encoding.h - which encoding the parts of a set are written by, and what is said about them. */
#ifndef DATA_SET_SPLIT_ENCODING_H
#define DATA_SET_SPLIT_ENCODING_H

#include "data/encoding/encoding.h"

/** The rows that the user named as public. */
struct split_rows {
    const char *part; /* NULL: none */
    const int64_t *rows;
    size_t n;
};
/** EUSAGE: options that contradict each other. */
sotto_status split_check_options(const struct sotto_split_options *options);
/** *out stays NULL without one_hot. A private fit is checked, but neither charged nor done. EINVAL: the set
 * is no described table. */
sotto_status split_encoding(struct sotto_table_encoding **out, const struct sotto_dataset *s,
                            const struct sotto_split_options *options, const struct split_rows *public,
                            const struct sotto_context *ctx);
/** The private fit, if requested: once the folder is there, and before anything is written to it. */
sotto_status split_private_fit(struct sotto_table_encoding *e, const struct sotto_dataset *s,
                               const struct sotto_split_options *options, const struct sotto_context *ctx);
/** Provenance of a part with these rows; clear it. Classes are named only where the records did not decide
 * them. */
sotto_status split_provenance(struct sotto_provenance *out, const struct sotto_dataset *s,
                              const struct sotto_table_encoding *e, const int64_t *rows, size_t n);
/** Logs a line when private rows determined the encoding. */
void split_warn(const struct sotto_dataset *s, const struct sotto_table_encoding *e,
                const struct sotto_context *ctx);

#endif
