/* pretrained.h - a training that starts from the file of a pre-trained encoder: the network is the encoder with a new last
 * layer that begins at 0, and parts of it stay as they are. */
#ifndef TRAIN_PLAIN_PRETRAINED_H
#define TRAIN_PLAIN_PRETRAINED_H

#include "ssl/encoder.h"
#include "train/network/network.h"

/** Loads o->from (NULL: *out is NULL) and lets it decide model and norm of the options. Free *out with
 * sotto_encoder_free(). EINVAL: options that need an encoder without one, or that do not go with one; the images do not
 * fit; errors of sotto_encoder_load(). */
sotto_status pretrained_open(struct sotto_encoder **out, struct sotto_train_options *o,
                             const struct sotto_dataset *data);
/** What `freeze` of struct sotto_train_options freezes. */
struct nn_freeze pretrained_freeze(const char *freeze);
/** Its input, what is frozen, and the zeros of the last layer. */
void pretrained_config(struct nn_model_config *config, const struct sotto_encoder *e,
                       const struct sotto_train_options *o);
/** The encoder's weights and running statistics become those of the network's layers below the last. */
sotto_status pretrained_import(struct nn_model *m, const struct sotto_encoder *e);
/** Names of the tensors that such a training moves, ", " between them; free with base_free(). ENOMEM. */
sotto_status pretrained_trained(char **names, const struct nn_model *m);

#endif
