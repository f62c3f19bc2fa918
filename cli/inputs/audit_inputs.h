/* audit_inputs.h - the arrays that `audit` reads, checked with the names of their files. */
#ifndef CLI_INPUTS_AUDIT_INPUTS_H
#define CLI_INPUTS_AUDIT_INPUTS_H

#include "options/options.h"

struct audit_inputs {
    struct sotto_audit_input input; /* points into the arrays below */
    struct sotto_attribute_input attribute;
    struct sotto_generative_input generative;
    struct sotto_token_input tokens;
    struct sotto_array arrays[48];
    struct sotto_rows *rows[4]; /* matrices that stay in their files */
    double *scores;             /* members first, then non-members */
    struct sotto_report_input files[48];
    size_t file_count;
};
/* One file: read and recorded for the report; what it holds is not looked at. Axes beyond the last wanted one are flattened into it; a
 * single column will do for one dimension. `what` names the values, `shape` what was expected. *out stays
 * NULL if the option was not given. */
sotto_status audit_inputs_open(struct sotto_array **out, struct audit_inputs *in, const struct options *o,
                               const char *option, const char *role, const char *what, int dimensions,
                               const char *shape);
/* And finite. */
sotto_status audit_inputs_read(struct sotto_array **out, struct audit_inputs *in, const struct options *o,
                               const char *option, const char *role, const char *what, int dimensions,
                               const char *shape);
/* The other arrays, once those of the records are there. */
sotto_status audit_inputs_load_references(struct audit_inputs *in, const struct options *o);
sotto_status audit_inputs_load_population(struct audit_inputs *in, const struct options *o);
/* Views, once the population is there. */
sotto_status audit_inputs_load_views(struct audit_inputs *in, const struct options *o);
/* (n, width): all axes but the first are flattened; f4. *rows, *width: what others have, 0 for the first.
 * *out stays NULL if the option was not given; else the array is the last of in->arrays so far. */
sotto_status audit_inputs_table(const float **out, struct audit_inputs *in, const struct options *o,
                                const char *option, const char *role, size_t *rows, size_t *width);
/* Once the numbers of records are known. */
sotto_status audit_inputs_load_dates(struct audit_inputs *in, const struct options *o);
sotto_status audit_inputs_load_features(struct audit_inputs *in, const struct options *o);
/* Samples and discriminator of a generative model, after the features. */
sotto_status audit_inputs_load_generative(struct audit_inputs *in, const struct options *o);
/* Texts, sorted by their membership. */
sotto_status audit_inputs_load_tokens(struct audit_inputs *in, const struct options *o);
/* Scores of canaries, and their coins in place of --membership. */
sotto_status audit_inputs_load_coins(struct audit_inputs *in, const struct options *o);
sotto_status audit_inputs_load_attribute(struct audit_inputs *in, const struct options *o);
/* EUSAGE for options that contradict each other; EINVAL names the file. Clear also after a failure. */
sotto_status audit_inputs_load(struct audit_inputs *in, const struct options *o);
/* Labels (i8) of an option, counted from 0. */
sotto_status audit_inputs_count_labels(struct sotto_array *y, const char *option, const struct options *o);
void audit_inputs_clear(struct audit_inputs *in);

#endif
