/* option.h - more of tables of options: rows by name, defaults, lists and single numbers. For the program and the Python package: not
 * installed. */
#ifndef SOTTO_PRIVATE_OPTION_H
#define SOTTO_PRIVATE_OPTION_H

#include "sotto/option.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Finds a row.
 *
 *  In:      name  its name, key, alias or old name
 *  Returns: the row; NULL: there is none */
SOTTO_API const struct sotto_option *sotto_option_find(const struct sotto_option *table, const char *name);
/** Numbers of a REALS member from text.
 *
 *  In:      text    "0.01,0.001" or "[0.01, 0.001]"
 *  Out:     out     (*count), at most `capacity`
 *  Returns: EINVAL  text is no such list, or a number is outside of the row's range */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_option_reals(double *out, size_t capacity, size_t *count,
                                                           const struct sotto_option *row, const char *text);
/** Checks one number against the range of a row.
 *
 *  Returns: EINVAL  as sotto_options_check() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_option_check_number(const struct sotto_option *row, double x);

#ifdef __cplusplus
}
#endif
#endif
