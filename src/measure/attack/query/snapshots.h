/* snapshots.h - the models that a network was on its way to what it is: files of `sotto train --snapshot-every`. */
#ifndef ATTACK_QUERY_SNAPSHOTS_H
#define ATTACK_QUERY_SNAPSHOTS_H

#include "head/model/head_model.h"
#include "train/network/network.h"

struct snapshots {
    const char *folder;               /* borrowed, as is: */
    const struct sotto_network *last; /* which the training ended with */
    size_t every, count;              /* models of the epochs every, 2 every, ..., count every */
};
/* EUSAGE: the folder holds no model of an epoch before the last. */
sotto_status snapshots_open(struct snapshots *out, const char *folder, const struct sotto_network *last);
/* out (n, classes): posteriors of the records by model i, 0 the earliest. ENOENT, EINVAL: it is missing, of another epoch than
 * its name says, or of another training than the last one; errors of sotto_network_load(). */
sotto_status snapshots_ask(float *out, const struct snapshots *s, size_t i, const struct head_data *records,
                           const struct sotto_context *ctx);

#endif
