/* head_checkpoint.h - where a private training of a head stands, between two steps. It holds what came out of noisy
 * steps, and the hash of the records that it belongs to: a private file, mode 0600. */
#ifndef HEAD_PRIVATE_HEAD_CHECKPOINT_H
#define HEAD_PRIVATE_HEAD_CHECKPOINT_H

#include "base/sha256.h"

struct head_checkpoint {
    char recipe[SHA256_HEX]; /* what the run must agree on to go on: recipe and records */
    char data[SHA256_HEX];
    char run[48]; /* its name in the ledger */
    size_t step;  /* steps that are in the weights */
    size_t count;
    double *weights, *mean, *square; /* (count) each, borrowed */
    double *average;                 /* (count), or NULL: the run has none */
};
sotto_status head_checkpoint_save(const char *path, const struct head_checkpoint *c);
/** Fills run, step and the three arrays. EINVAL: made by another recipe or of other records; EFORMAT: damaged, by as
 * little as a bit, or of another kind or version; ENOENT, EIO, ENOMEM. After a failure *c is as it was. */
sotto_status head_checkpoint_load(struct head_checkpoint *c, const char *path);

#endif
