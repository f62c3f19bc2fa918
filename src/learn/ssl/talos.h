/* talos.h - the adversary of a pre-training run: turns, its loss, and both optimizers.
 *
 * Talos (He & Zhang, CCS 2021) censors one attribute of the records in the encoder's output. A classifier C
 * on the embedding learns to read the attribute (L_C); the encoder learns L_contrastive - lambda L_C through
 * a gradient reversal. It censors against THIS classifier only and proves nothing: only an attacker trained
 * afresh on the embeddings tells what is left. */
#ifndef SSL_TALOS_H
#define SSL_TALOS_H

#include "base/sha256.h"
#include "nn/optimizer/optimizer.h"
#include "nn/plan/leaves.h"
#include "sotto/ssl.h"

struct checkpoint_adversary;
struct metric_log;
struct talos;

enum { TALOS_VALUES_MAX = 1000 };
/** What a run with Talos is fixed by; in struct pretrain_setup. */
struct talos_setup {
    bool on, two_pass, joint, bounded, relu_logits;
    bool images, of_images; /* the images go along, after their views; C reads them and not the views */
    size_t adversary_steps; /* on each batch of its turn */
    double lambda;
    const int64_t *attribute; /* (data->n), borrowed */
    size_t values;
    double share[TALOS_VALUES_MAX]; /* (values), of the rows in training */
    char sha256[SHA256_HEX];        /* of the attribute of the rows in training */
};
/** EINVAL: no attribute, one out of range or the same for all rows; lambda or alternation. */
sotto_status talos_resolve(struct talos_setup *out, const struct sotto_talos *options,
                           const struct sotto_dataset *data, const int64_t *rows, size_t n);
/** For the model's config. */
struct nn_adversary talos_adversary(const struct talos_setup *s);
/** Walks over the images in one epoch: 1, or 2 where both take their turn in every epoch. */
size_t talos_passes(const struct talos_setup *s);
/** What pass number `pass` (from 0) trains: C, or encoder and projector, or all (joint). */
enum talos_turn { TALOS_ENCODER = 1, TALOS_ADVERSARY = 2, TALOS_BOTH = 3 };
enum talos_turn talos_turn(const struct talos_setup *s, uint64_t pass);
/** diff (n, values), the gradient of L_C, becomes that of its bounded form, the mean of min(L_i, -ln share of
 * the record's value): 0 in rows where C gives the value no more than its share. */
void talos_bound(float *diff, const float *logits, const int64_t *labels, size_t n,
                 const struct talos_setup *s);

/** Borrows setup, model and leaves; images: of a step, views of each. `config`: both optimizers, of the team of the leaves.
 * Leaves are of that many views, and of one more for the images themselves if setup has them. */
sotto_status talos_create(struct talos **out, const struct talos_setup *s, struct nn_model *model,
                          struct leaves *leaves, const struct nn_optimizer_config *config, size_t images,
                          size_t views);
void talos_free(struct talos *t);
struct nn_optimizer *talos_task_optimizer(struct talos *t);
/** State of both, and of a step of C's that can be taken back. */
size_t talos_optimizer_bytes(const struct talos *t);
/** How many C has. */
size_t talos_weights(const struct talos *t);
/** After a forward pass over all views of the images `rows`: L_C over what C reads of them, (7), added to the
 * epoch's sums, and the gradient for the encoder (bounded, if so set) where the way back expects it. Ranks, which have just
 * agreed, do it together. EDIVERGED: L_C is not finite. */
sotto_status talos_loss(struct talos *t, const int64_t *rows);
/** After that and, if it is the encoder's turn, the backward pass: the step of what this turn trains.
 * C learns from the embeddings of this pass, by the whole gradient, whatever the encoder does about them.
 * ESTOPPED: nothing has moved. */
sotto_status talos_update(struct talos *t, double lr, enum talos_turn turn);
/** Means over the epoch that ends: adversary_loss and adversary_accuracy; starts the next. */
sotto_status talos_log(struct talos *t, struct metric_log *log, uint64_t step, double seconds);
/** Means over the last whole epoch. */
double talos_epoch_loss(const struct talos *t);
double talos_epoch_accuracy(const struct talos *t);
/** What a checkpoint keeps of the adversary. */
struct checkpoint_adversary *talos_state(struct talos *t);

#endif
