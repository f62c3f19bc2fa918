/* release_vector.h - noise on whole numbers that are not known yet: the charge is on disk before the records are read. */
#ifndef DP_RELEASE_RELEASE_VECTOR_H
#define DP_RELEASE_RELEASE_VECTOR_H

#include "dp/release/release.h"

struct vector_release;
/** All of sotto_dp_release() up to the noise: checks, account, ledger entry. Continuous additive laws only.
 *  In:      r        texts and records are borrowed until the release is closed
 *           n        values
 *           choices  beside them, each of which the noise on one more value dominates (dp/release/statistic.h); the account counts them so
 *  Returns: errors of sotto_dp_release() */
sotto_status vector_release_open(struct vector_release **out, const struct sotto_release *r, size_t n,
                                 size_t choices, const struct sotto_context *ctx);
/** Adds noise of one radius and that scale to values (n), before vector_release_draw(). ENOMEM. */
sotto_status vector_release_cube(double *out, const int64_t *values, size_t n, uint64_t scale,
                                 struct vector_release *v);
/** One of n candidates by their gaps, as choice_draw() does, before vector_release_draw(). */
size_t vector_release_choose(const uint128 *gap, size_t *left, size_t n, uint64_t m,
                             struct vector_release *v);
/** Of the noise on one value, in their units. */
double vector_release_scale(const struct vector_release *v);
/** values (n) with noise, once.
 *  In:      values         (n), of magnitude below 2^62
 *  Out:     out            (n), rounded to doubles
 *           *certificate   sotto_certificate_free()
 *  Returns: EINVAL  it was drawn; ENOMEM: out is then not to be used */
sotto_status vector_release_draw(struct sotto_certificate **certificate, double *out, const int64_t *values,
                                 struct vector_release *v);
/** Adds to a failure between the two what was charged (charge_hint.h). NULL is fine, and so is a release that was drawn. */
void vector_release_name_charge(const struct vector_release *v);
/** NULL is fine. What was charged stays charged. */
void vector_release_close(struct vector_release *v);

#endif
