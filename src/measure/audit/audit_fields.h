/* audit_fields.h - the one description of "sotto.audit/1": which member of which struct stands under which key, in the
 * order of the document. */
#ifndef AUDIT_AUDIT_FIELDS_H
#define AUDIT_AUDIT_FIELDS_H

#include "io/fields/fields.h"

extern const struct field audit_estimate_fields[]; /* of struct sotto_estimate */
extern const struct field audit_result_fields[];
extern const char *const audit_level_names[]; /* by enum sotto_check_level; ended by NULL */

#endif
