/* option_values.h - inside of the loops over a table of options. */
#ifndef OPTIONS_OPTION_VALUES_H
#define OPTIONS_OPTION_VALUES_H

#include "base/status.h"
#include "sotto/option.h"

#include <stdbool.h>

static inline void *option_at(void *options, size_t offset)
{
    return (char *)options + offset;
}
/** Is `name` one of the words of "lr|batch"? */
bool option_listed_in(const char *words, const char *name);
/** Words of "512,128" or "[512, 128]"; "[]" has none. */
struct option_words {
    const char *at, *end;
    bool more;
};
struct option_words option_words_of(const char *text);
/** Returns the word, which is empty behind a comma that ends the list. */
const char *option_words_next(struct option_words *l, size_t *length);
/** sotto_option_set(), but 0 is written as 0, and a list "0" or "[]" whose range holds 0 has SOTTO_NONE entries. */
sotto_status option_put(void *out, const struct sotto_option *row, const char *text);
/** Does SOTTO_ZERO, SOTTO_NONE or SOTTO_SEED_ZERO stand there? */
bool option_is_marked(const void *options, const struct sotto_option *row);
/** Is any member of *options not 0? */
bool options_given(const void *options, const struct sotto_option *table);
/** Members of *changes that are given replace members of *out with the same key; others of *out stay as they are.
 *
 *  Returns: EINVAL  more numbers than *out has room for */
sotto_status options_change(void *out, const struct sotto_option *table, const void *changes,
                            const struct sotto_option *changes_table);
/** The inverse of sotto_options_resolve(): a resolved struct becomes one which a public call resolves to the same. */
void options_state(void *resolved, const struct sotto_option *table);
/** Out: *out: every member of the table gets its default ("auto": 0, as in {0}); other members stay as they are. */
void options_defaults(void *out, const struct sotto_option *table);

#endif
