/* accountant.h - epsilon of one release, or of k identical ones, as an interval. */
#ifndef DP_ACCOUNT_ACCOUNTANT_H
#define DP_ACCOUNT_ACCOUNTANT_H

#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/renyi.h"
#include "dp/mechanism/require.h"
#include "sotto/account.h"

/** A sensitivity over a scale: how far adjacent outputs lie apart, in units of the noise. */
struct sensitivity_ratio {
    struct interval l1, l2; /* l1.hi may be INFINITY: unknown */
    double dimension;       /* 0: unknown */
    /* Noise on whole steps only (else 0): the L1 shift in steps, and the step over the scale; how far one
     * coordinate alone can move, and how many can move by one step each, as the norms allow. */
    double steps;
    struct interval step;
    double one_coordinate, coordinates;
};

/** The sensitivity with NAN for unknown norms, which are 0 in the public struct. */
struct sotto_sensitivity sensitivity_normal(const struct sotto_sensitivity *s);
/** Checks scale and sensitivity and fills in what one norm says about the other: l2 <= l1 <= sqrt(n) l2. With
 * a known dimension the sensitivity is that of the vector rounded to the noise lattice: l1 + n r, l2 +
 * sqrt(n) r, r by lattice_exponent(scale, bits). EINVAL. */
sotto_status sensitivity_ratio_make(struct sensitivity_ratio *out, double scale,
                                    const struct sotto_sensitivity *sensitivity, int bits);

/** The same as the mechanism needs it: whole steps for noise on whole steps (no rounding, l1 <= l2^2 / step),
 * one number for scores and labels. EINVAL also where the mechanism needs something that is not known. */
sotto_status sensitivity_ratio_for(struct sensitivity_ratio *out, const struct mechanism *m, double scale,
                                   const struct sotto_sensitivity *sensitivity);
/** The same on another lattice than that of the mechanism's releases. */
sotto_status sensitivity_ratio_on(struct sensitivity_ratio *out, const struct mechanism *m, double scale,
                                  const struct sotto_sensitivity *sensitivity, int bits);
/** The lattice (bits) of the mechanism's releases. */
int mechanism_lattice(const struct mechanism *m);
/** Hockey-stick divergence of k releases seen as one shifted pair, at ANY real epsilon (below 0 by symmetry:
 * delta(-e) = 1 - e^-e + e^-e delta(e)). For k > 1 the shift is k times as long, which dominates. */
struct interval account_delta(const struct mechanism *m, const struct sensitivity_ratio *shifts, double k,
                              double epsilon);
/** Its inverse for delta in (0, 1): the smallest epsilon >= 0. */
struct interval account_epsilon(const struct mechanism *m, const struct sensitivity_ratio *shifts, double k,
                                double delta);

/** The shift that the scalar curves are taken at, by the mechanism's norm; hi INFINITY: unknown. */
struct interval account_shift(const struct mechanism *m, const struct sensitivity_ratio *shifts);
/** Standard deviation of one coordinate of the noise, at scale 1; NAN: it has none. */
double account_deviation(const struct mechanism *m, const struct sensitivity_ratio *shifts);
/** The smallest bound of the Renyi divergence of one release that applies, at order alpha > 1. */
struct interval account_renyi(const struct mechanism *m, const struct sensitivity_ratio *shifts,
                              double alpha);
/** k releases as a curve of Renyi divergences, the argument of renyi_curve_epsilon(): by the mechanism's own norm,
 * and by the L2 theorem. */
struct release_curve {
    const struct mechanism *m;
    const struct sensitivity_ratio *shifts;
    double k;
};
struct interval release_renyi(double alpha, const void *curve);
struct interval release_renyi_ball(double alpha, const void *curve);
/** Notes an upper bound; the smallest becomes the account's epsilon. At most SOTTO_MAX_BOUNDS. */
void account_add_bound(struct sotto_account *account, const char *name, double epsilon);
/** Has a composition no exact law, so that sotto_account_release() adds the privacy-loss distribution? */
bool account_needs_pld(const struct mechanism *m, const struct sensitivity_ratio *shifts, double delta,
                       size_t compose);
/** The account of checked inputs without its lower end (0); cannot fail. */
void account_upper(struct sotto_account *out, const struct mechanism *m, double scale,
                   const struct sensitivity_ratio *shifts, double delta, size_t compose);
/** The account of checked inputs; cannot fail. */
void account_compute(struct sotto_account *out, const struct mechanism *m, double scale,
                     const struct sensitivity_ratio *shifts, double delta, size_t compose);
/** EDOMAIN: at delta 0 the mechanism has no epsilon, or the norm that it needs is not known. */
sotto_status account_require_pure(const struct mechanism *m, const struct sensitivity_ratio *s, double delta);
/** EDOMAIN: an account without a finite epsilon, which is neither charged nor certified. */
sotto_status account_require_finite(const struct sotto_account *a);
/** sotto_account_release() of one release on the lattice of so many bits, before it is charged. */
sotto_status account_to_charge(struct sotto_account *out, const struct mechanism *m, double scale,
                               const struct sotto_sensitivity *sensitivity, double delta, int bits,
                               const struct sotto_context *ctx);
/** The same for what an old certificate says: where there is no epsilon, it is infinite. */
sotto_status account_on(struct sotto_account *out, const char *mechanism, double scale,
                        const struct sotto_sensitivity *sensitivity, double delta, int bits,
                        const struct sotto_context *ctx);
/** Adds the other adjacency's epsilon to the account of s, as sotto_account_sampled_both() does. */
sotto_status account_sampled_other(struct sotto_account *account, const struct sotto_sampled *s,
                                   const struct sotto_context *ctx);
/** What calibrations aim at: so far below a target that its n-th parts, as doubles and with their sums rounded, stay below it. */
static inline double calibration_aim(double epsilon)
{
    return epsilon * (1 - 0x1p-51);
}
/** sotto_calibrate() on that lattice. */
sotto_status calibrate_on(double *scale, const char *mechanism, const struct sotto_sensitivity *sensitivity,
                          struct sotto_dp target, int bits, const struct sotto_context *ctx);
/** The account of an early release, whose sampler was within `distance` of its law in total variation. What that
 * cost, (1 + e^epsilon) distance, was taken out of delta beforehand, so neither a pure epsilon nor zCDP was
 * left. EDOMAIN: delta is 0 or too small for it. */
sotto_status account_within(struct sotto_account *out, const char *mechanism, double scale,
                            const struct sotto_sensitivity *sensitivity, double delta, double distance,
                            const struct sotto_context *ctx);

#endif
