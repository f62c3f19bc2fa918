/* statement.h - the stamp "no privacy statement" in a file's metadata. Whatever private records trained
 * without protection carries it, and everything that would make a statement refuses what carries it. */
#ifndef IO_PROVENANCE_STATEMENT_H
#define IO_PROVENANCE_STATEMENT_H

#include "io/array/tensors.h"
#include "sotto/lab/provenance.h"
#include "sotto/private/io.h"

#include <stdbool.h>
#include <string.h>

#define STATEMENT_KEY "statement"
#define STATEMENT_NONE "none: private records trained the encoder; no privacy statement is made"
#define STATEMENT_NONE_GENERATOR                                                                             \
    "none: a generative model tells of its training records; no privacy statement is made"
#define STATEMENT_NONE_NETWORK "none: private records trained this network; no privacy statement is made"

/* What was trained on files that were released with noise says which release it was, and what that means. */
#define RELEASED_ENTRY_KEY "trained_on_release"
#define RELEASED_TEXT_KEY "trained_on_privacy"

static inline bool statement_is_none(const struct sotto_tensors *t)
{
    const char *text = tensors_metadata(t, STATEMENT_KEY);
    return text && strncmp(text, "none", 4) == 0;
}
/** What an epsilon about these records rests on besides the mechanism. Every private verb passes it on as `condition`.
 *  In:      p: may be NULL
 *  Returns: one sentence for the conditional part of the certificate; NULL: nothing */
const char *provenance_condition(const struct sotto_provenance *p);

#endif
