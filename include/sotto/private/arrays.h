/* arrays.h - the arrays that an audit, or an attack on an encoder, takes by the names of its options. Type and shape stand in the option's row
 * (option.h); one loop reads, checks and converts them for program and Python. Not installed. */
#ifndef SOTTO_PRIVATE_ARRAYS_H
#define SOTTO_PRIVATE_ARRAYS_H

#include "sotto/audit.h"
#include "sotto/lab/array.h"
#include "sotto/lab/audit.h"
#include "sotto/option.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_arrays;
/** Free with sotto_arrays_close(). ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_arrays_open(struct sotto_arrays **out);
/** Gives the array of one option, in memory or in a file. Nothing is read or checked yet.
 *
 *  In:      row    of a table "..._input", or of "encoder_attack"; lives on
 *           array  lent until *a is closed; NULL: in a file
 *           file   any that sotto_array_load() reads; its name in errors. NULL: errors name the option
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_arrays_give(struct sotto_arrays *a,
                                                          const struct sotto_option *row,
                                                          const struct sotto_array *array, const char *file);
/** What was given becomes the input of sotto_audit().
 *
 *  In:      labels_from  number of the first class in labels, 0 or 1; -1: not said, and 0 is taken
 *           deepest      of attribute inference; 0: that of sotto_attribute_input
 *  Out:     *out         lives as long as *a
 *  Returns: EUSAGE       arrays that contradict, or need, each other
 *           EINVAL       "x.npy: has shape (5, 600); expected (n, models), n = 600 as in l.npy"; values that are none
 *           as of sotto_array_load() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_arrays_audit(const struct sotto_audit_input **out,
                                                           struct sotto_arrays *a, int labels_from,
                                                           size_t deepest, const struct sotto_context *ctx);
/** Likewise of sotto_encoder_attack(), of which all arrays are given so. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_arrays_encoder_attack(struct sotto_encoder_attack_input *out,
                                                                    struct sotto_arrays *a,
                                                                    const struct sotto_context *ctx);
SOTTO_API void sotto_arrays_close(struct sotto_arrays *a);

#ifdef __cplusplus
}
#endif
#endif
