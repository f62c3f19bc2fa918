/* talos_part.h - the adversary of a pre-training run: turns, its loss, and both optimizers.
 *
 * Talos (He & Zhang, CCS 2021) censors one attribute of the records in the encoder's output. A classifier C
 * on the embedding learns to read the attribute (L_C); the encoder learns L_contrastive - lambda L_C through
 * a gradient reversal. It censors against THIS classifier only and proves nothing: only an attacker trained
 * afresh on the embeddings tells what is left. */
#ifndef TALOS_TALOS_PART_H
#define TALOS_TALOS_PART_H

#include "base/sha256.h"
#include "sotto/lab/talos.h"
#include "ssl/pretrain_part.h"

enum { TALOS_VALUES_MAX = 1000 };
/** What a run with Talos is fixed by. */
struct talos_setup {
    bool two_pass, joint, bounded, relu_logits;
    bool images, of_images; /* the images go along, after their views; C reads them and not the views */
    size_t adversary_steps; /* on each batch of its turn */
    double lambda;
    const int64_t *attribute; /* (data->n), borrowed */
    size_t values;
    double share[TALOS_VALUES_MAX]; /* (values), of the rows in training */
    char sha256[SHA256_HEX];        /* of the attribute of the rows in training */
};
/** diff (n, values), the gradient of L_C, becomes that of its bounded form, the mean of min(L_i, -ln share of
 * the record's value): 0 in rows where C gives the value no more than its share. */
void talos_bound(float *diff, const float *logits, const int64_t *labels, size_t n,
                 const struct talos_setup *s);

/** The record of the part, for tests and benches. */
extern const struct pretrain_part pretrain_part_talos;

#endif
