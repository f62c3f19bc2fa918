/* local.h - the local sensitivity of a head: what one record of THIS data set can change. It is no privacy parameter;
 * smooth.h has what makes such figures safe. */
#ifndef SOTTO_LAB_LOCAL_H
#define SOTTO_LAB_LOCAL_H

#include "sotto/head.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The largest change of a trained head when one of ITS records changes. Another data set has another one, so noise scaled to
 *  it is NOT differentially private: its size tells the two apart. */
struct sotto_local_sensitivity {
    size_t records, tried; /**< tried: records that were changed; all of them: exact for "left out" */
    /** A record leaves its slot of the batch empty. */
    double left_out_l1, left_out_l2, left_out_linf;
    /** Another of the records takes its slot: a lower end for all values that could. */
    double replaced_l1, replaced_l2, replaced_linf;
    char recipe_hash[65];
};
/** Trains the head of all records, and two for each record that is tried.
 *
 *  In:      x       (n, d)
 *           y       (n)
 *           sample  records to try, drawn without replacement by the recipe's seed; 0: all n
 *  Returns: EINVAL  as sotto_head_train(); fewer than 2 records, or a sample of more than there are
 *           ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_local(
    struct sotto_local_sensitivity *out, const float *x, const int64_t *y, size_t n, size_t d, size_t classes,
    const struct sotto_head_recipe *recipe, size_t sample, const struct sotto_context *ctx);
/** Writes that document. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_local_sensitivity_save(const char *path,
                                                                     const struct sotto_local_sensitivity *s);

#ifdef __cplusplus
}
#endif
#endif
