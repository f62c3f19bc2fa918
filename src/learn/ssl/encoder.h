/* encoder.h - a network that turns images into embeddings, and where it came from. */
#ifndef SSL_ENCODER_H
#define SSL_ENCODER_H

#include "base/sha256.h"
#include "nn/nn.h"
#include "sotto/lab/ssl.h"

#include <stdbool.h>

enum { ENCODER_FACTS = 48 }; /* a network has 24, and what its file says besides */
/* What the user stated of weights from elsewhere: ENCODER_STATED "public, by WHO". */
#define ENCODER_PROVENANCE_KEY "provenance"
#define ENCODER_STATED "stated by the user: "

struct sotto_encoder {
    struct nn_model *model;
    char name[64];   /* row of the model list */
    bool group_norm; /* instead of batch norm (a network's) */
    char weights_sha256[SHA256_HEX];
    char *facts[2 * ENCODER_FACTS]; /* key, value, ...: method, recipe, data, isa, ...; saved as metadata */
    size_t fact_count;
};
/** Takes the model over, also on failure. EDIVERGED: a weight is not finite. */
sotto_status encoder_wrap(struct sotto_encoder **out, struct nn_model *model, const char *name);
sotto_status encoder_add_fact(struct sotto_encoder *e, const char *key, const char *value);
/** NULL: not known. */
const char *encoder_fact(const struct sotto_encoder *e, const char *key);
/** Input of an encoder for this data: 3 channels, at least 32x32 (data/augment/augment.h). EINVAL: not a set of
 * images. */
sotto_status encoder_input(struct nn_shape *out, const struct sotto_dataset *data);
/** EINVAL unless the images fit the encoder. */
sotto_status encoder_check_size(const struct sotto_encoder *e, const struct sotto_dataset *data);
/** The same for one image's shape; `name`: of its set, for messages. */
sotto_status encoder_check_image(const struct sotto_encoder *e, const char *name, struct nn_shape image);
/** EINVAL unless the rows lie in the set; NULL: the first n. */
sotto_status encoder_check_rows(const struct sotto_dataset *data, const int64_t *rows, size_t n);

#endif
