/* shaping.h - what shaped the columns of an array, in side files and in metadata of networks that were made from an encoder. */
#ifndef IO_PROVENANCE_SHAPING_H
#define IO_PROVENANCE_SHAPING_H

#include "sotto/lab/provenance.h"

struct json;

/** Metadata of a network: what the encoder that it was made from was shaped by, itself included. It is released with the network, so row
 * numbers stand in it and no digests. */
#define SHAPED_KEY "shaped_by"

/** A list of {what, name, dataset_id, set, public, records, rows}; rows as "0-63,70". */
struct json *shapings_describe(const struct sotto_provenance *p);
/** Adds those of such a list. EFORMAT by `where`; ENOMEM. */
sotto_status shapings_read(struct sotto_provenance *p, const struct json *list, const char *where);
/** The same as one text; free with sotto_text_free(). */
sotto_status shapings_text(char **out, const struct sotto_provenance *p);
sotto_status shapings_parse(struct sotto_provenance *p, const char *text, const char *where);
void shapings_free(struct sotto_provenance *p);

#endif
