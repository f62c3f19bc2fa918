/* release.h - more of releases: sums of floats, the lattice of a session, released files that a trainer reads, and noise for measuring
 * only. No promise: it may change with any version. */
#ifndef SOTTO_LAB_RELEASE_H
#define SOTTO_LAB_RELEASE_H

#include "sotto/release.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns: the step r of the lattice that sums are rounded to, a power of two: 2^-31 of the noise's scale or less
 *           (clipping by L1 in many dimensions: down to 2^-40), and coarse enough that `records` contributions of
 *           max_grad_norm are at most 2^50 steps. */
SOTTO_API double sotto_dpsgd_session_lattice(const struct sotto_dpsgd_session *steps);

/** What the certificate of sotto_protect_records() says of files that a trainer reads. Start from {0}. */
struct sotto_released_inputs {
    char entry[65];  /**< hash of the ledger entry of the release; "": not both files were released by it */
    char text[2048]; /**< what may be said of what is trained on these files; "": nothing */
};
/** Reads FEATURES.certificate.json. Both files are compared with the hashes in it.
 *
 *  In:      labels  NULL: none are read
 *  Out:     *out    both were released by that certificate: entry, and its guarantee as that of post-processing;
 *                   the features alone: "features private, labels not"; neither, or no certificate: {0}
 *  Returns: EFORMAT  the certificate is damaged
 *           EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_released_inputs(struct sotto_released_inputs *out,
                                                              const char *features, const char *labels,
                                                              const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
