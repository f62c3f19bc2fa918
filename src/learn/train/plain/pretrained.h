/* pretrained.h - a training that starts from the file of a pre-trained encoder: the network is the encoder with a new last
 * layer that begins at 0, and parts of it stay as they are. */
#ifndef TRAIN_PLAIN_PRETRAINED_H
#define TRAIN_PLAIN_PRETRAINED_H

#include "sotto/lab/provenance.h"
#include "ssl/encoder.h"
#include "train/network/network.h"

/** EINVAL: options that need an encoder without one, or that do not go with one. */
sotto_status pretrained_check(const struct sotto_train_options *o);
/** Loads o->from (NULL: *out is NULL) and lets it decide model and norm of the options. Free *out with
 * sotto_encoder_free(). EINVAL: as above, or the images do not fit; errors of sotto_encoder_load(). */
sotto_status pretrained_open(struct sotto_encoder **out, struct sotto_train_options *o,
                             const struct sotto_dataset *data, struct nn_shape record);
/** What `freeze` of struct sotto_train_options freezes. */
struct nn_freeze pretrained_freeze(const char *freeze);
/** Its input, what is frozen, and the zeros of the last layer. */
void pretrained_config(struct nn_model_config *config, const struct sotto_encoder *e,
                       const struct sotto_train_options *o);
/** Means, then factors, of the columns of o->standardise, by which embeddings of `e` are standardised; free with base_free().
 * NULL: not asked for. EINVAL: no embeddings of its width; errors of npy_load(). */
sotto_status pretrained_moments(double **out, const struct sotto_encoder *e,
                                const struct sotto_train_options *o);
/** What a network from it is shaped by: the encoder, unless `own` is false, all that it was made from, and the rows of o->standardise.
 * Errors of sotto_encoder_shape(); free with sotto_provenance_clear(). */
sotto_status pretrained_shape(struct sotto_provenance *out, const struct sotto_encoder *e,
                              const struct sotto_train_options *o, bool own);
/** The encoder's weights and running statistics become those of the network's layers below the last; moments (may be NULL):
 * what the last layer reads. */
sotto_status pretrained_import(struct nn_model *m, const struct sotto_encoder *e, const double *moments);
/** SHA-256 over the tensors by which a network standardises its embeddings. */
void pretrained_moments_sha256(char hex[SHA256_HEX], const struct nn_model *m);
/** Names of the tensors that such a training moves, ", " between them; free with base_free(). ENOMEM. */
sotto_status pretrained_trained(char **names, const struct nn_model *m);

#endif
