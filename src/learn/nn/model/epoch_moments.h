/* epoch_moments.h - running moments of batch norms in leaves that do not hear of each other in a step (norm scope "leaf").
 *
 * A batch norm of a leaf computes with the moments of the leaf. What the network is used with later are the running ones: after step
 * s of an epoch each leaf would move its own, r = (1 - .1) r + .1 x, and those of the network are their mean, weighted by
 * records. That is linear, so over an epoch of S steps it is
 *
 *     r = .9^S r + sum over steps s and leaves i of .1 .9^(S - 1 - s) (records of i / records of a step) x(s, i)
 *
 * and the sum may be made in any order: exactly (par/any_order.h), so that neither threads, ranks, nor the moments at which a
 * checkpoint is written make a difference. In between the network's running moments are those of the last epoch's end. */
#ifndef NN_MODEL_EPOCH_MOMENTS_H
#define NN_MODEL_EPOCH_MOMENTS_H

#include "nn/nn.h"
#include "par/any_order.h"
#include "par/ranks.h"

struct epoch_moments {
    struct nn_model *model;
    const struct sotto_team *team;
    size_t steps, count;    /* steps of an epoch; count: of nn_model.statistics */
    struct any_order *sums; /* (count): what this rank has of the running epoch */
    struct any_order *room; /* (ranks, count) */
    size_t *borders;        /* (ranks + 1) of the gather */
};
/** Borrows the model. ENOMEM. */
sotto_status epoch_moments_create(struct epoch_moments **out, struct nn_model *m, size_t steps,
                                  const struct sotto_team *team);
void epoch_moments_free(struct epoch_moments *e);
/** By how much a leaf's moments of this step count. */
double epoch_moments_weight(const struct epoch_moments *e, uint64_t step, size_t records, size_t of);
/** On ranks by all, right after an agreement: rank 0 has the sums of all, for a checkpoint, and the others none. Errors of the
 * transport. */
sotto_status epoch_moments_collect(struct epoch_moments *e);
/** Likewise, at the end of an epoch: moves the model's running moments, and begins anew. */
sotto_status epoch_moments_finish(struct epoch_moments *e);
/** Tensor "moments.sums" (2 count) of a checkpoint. EFORMAT: it is missing, or another network's. */
sotto_status epoch_moments_export(struct sotto_tensors *out, const struct epoch_moments *e);
sotto_status epoch_moments_import(struct epoch_moments *e, const struct sotto_tensors *in);

#endif
