/* federation.h - participants, their records, and one round of federated averaging. */
#ifndef ATTACK_FEDERATED_FEDERATION_H
#define ATTACK_FEDERATED_FEDERATION_H

#include "head/train/head_plain.h"
#include "sotto/lab/federated.h"

struct federation {
    const struct head_data *data; /* borrowed */
    uint64_t seed;
    size_t participants, parameters;
    size_t *record;                   /* records by participant, then those of no participant */
    size_t *first;                    /* (participants + 2): where each begins */
    struct head_part *part;           /* (participants) */
    struct head_plain *trainer;       /* (participants) */
    struct sotto_head_recipe *recipe; /* (participants): each with the seed of its round */
    struct sotto_head *shape;         /* initial weights */
    float *upload;                    /* (participants, parameters) */
    uint64_t *bits;                   /* of records of zeros and ones */
    double noise, clip;               /* of simulated DP-SGD: noise scale / clip; 0: none */
};
/* owner (data->n): 0 .. participants - 1, or -1. recipe: resolved and checked. EINVAL: a participant without records. */
sotto_status federation_make(struct federation *out, const struct head_data *data, const int64_t *owner,
                             size_t participants, const struct sotto_head_recipe *recipe, uint64_t seed);
void federation_clear(struct federation *f);
/* Owners by chance: `records` for each participant, the others belong to none. EINVAL: too few. */
sotto_status federation_owners(int64_t *owner, size_t n, size_t participants, size_t records, uint64_t seed);

/* Participants from .. to - 1 train from `sent`; the uploads are left in f->upload. What each does depends on (seed, round,
 * participant) and `sent` alone. */
sotto_status federation_round(struct federation *f, size_t from, size_t to, const float *sent, size_t round,
                              const struct sotto_context *ctx);
/* The same work of one participant by DP-SGD with simulated noise (federation_noise.c). */
sotto_status federation_train_noisy(float *upload, const struct federation *f, size_t participant,
                                    const float *sent, size_t round, const struct sotto_context *ctx);
/* Steps that it takes in one round. */
size_t federation_noisy_steps(const struct federation *f, size_t participant);
/* Mean of the uploads, weighted by records. */
void federation_average(float *out, const struct federation *f);

#endif
