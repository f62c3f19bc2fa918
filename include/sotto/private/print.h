/* print.h - documents and lines that the program and the Python package print: not installed.
 *
 * Every char ** is a text: free with sotto_text_free(). */
#ifndef SOTTO_PRIVATE_PRINT_H
#define SOTTO_PRIVATE_PRINT_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_account;
struct sotto_any_order;
struct sotto_sensitivity_sample;
struct sotto_local_sensitivity;
struct sotto_selftest;
struct sotto_autotune;

enum { SOTTO_NUMBER_TEXT = 40 };
/** Writes x with at most so many significant digits (1 to 17), rounded up, so that "at most" is true of what is read, or down, for "at
 *  least". A unit in the last place of x is forgiven, as x stands for the decimal that it was computed for.
 *
 *  In:      up  0: rounded down
 *  Returns: out, which may be NULL */
SOTTO_API const char *sotto_number_text(char out[SOTTO_NUMBER_TEXT], double x, int digits, int up);

/** One line about the i-th mechanism. Returns: NULL after the last. */
SOTTO_API const char *sotto_mechanism_title(size_t i);
/** Out: *json: the account as one JSON object, schema sotto.account/1; free with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_json(char **json, const struct sotto_account *account);
/** Puts a sentence in front of the account's note: what must be true of values that were read from the private data. The note is cut
 *  where it has no room.
 *
 *  In:      read_from_data  their names, the last one followed by NULL; "l1"
 *  Returns: EUSAGE: the names are too long for a note */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_condition(struct sotto_account *account,
                                                                const char *const *read_from_data);

/** Out: *json  a sotto.any_order/1 document (docs/FORMATS.md); release with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_any_order_json(char **json, const struct sotto_any_order *any);

/** The document of sotto_sensitivity_save() on one line.
 *
 *  Out: *json: free with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_json(char **json,
                                                               const struct sotto_sensitivity_sample *s);

/** Out: *json: schema sotto.local-sensitivity/1, kind "local"; no other verb takes it for a sensitivity. Free with
 *       sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_local_sensitivity_json(char **json,
                                                                     const struct sotto_local_sensitivity *s);

/** Out: *json: one object, schema sotto.selftest/1; free with sotto_text_free(). Returns: ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_selftest_json(char **json, const struct sotto_selftest *t);

/** Out:     *text: all sets as a table for the terminal: registered, imported, found, missing, and how to get them
 *  Returns: ENOENT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_table(char **text);
/** Out:     *json: all sets, "sotto.data-list/1"
 *  Returns: ENOENT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_list(char **json);

#ifdef __cplusplus
}
#endif
#endif
