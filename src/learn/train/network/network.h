/* network.h - a trained whole network: its weights, what it takes, and where it came from. */
#ifndef TRAIN_NETWORK_NETWORK_H
#define TRAIN_NETWORK_NETWORK_H

#include "head/model/head_model.h"
#include "sotto/lab/train.h"
#include "train/network/record_input.h"

enum { NETWORK_FACTS = 24, TRAIN_RECIPE_TEXT = 1408 };

struct sotto_network {
    struct nn_model *model;
    struct nn_model_config config; /* texts are static */
    struct nn_shape record;
    char weights_sha256[SHA256_HEX];
    bool has_recipe;
    struct sotto_train_options recipe,
        stated;                     /* resolved, and as a caller gets it; texts are static; no files;
                                                  backend NULL: not known */
    char *facts[2 * NETWORK_FACTS]; /* key, value, ...: data, machine, statement, ...; saved as metadata */
    size_t fact_count;
    bool seeded; /* its noise is drawn by noise_seed instead of a seed from the system */
    uint64_t noise_seed;
    size_t repeats;             /* noisy answers averaged; 0 and 1: one */
    bool mean_of_probabilities; /* of repeats: then answers are logarithms of their mean */
};
/* Fact of a network with a map between embedding and last layer: SHA-256 over the map's numbers. A reader builds it. */
#define TRAIN_STANDARDISE_KEY "standardise"
/* Fact of an intermediate model: the epoch, counted from 1, after which it was kept. */
#define TRAIN_EPOCH_KEY "epoch"
/** Path of the model of an epoch in the folder of intermediate models. */
sotto_status network_snapshot_path(char *out, size_t capacity, const char *folder, size_t epoch);
/** Takes the model over, also on failure. EDIVERGED: a weight is not finite. */
sotto_status network_wrap(struct sotto_network **out, struct nn_model *model,
                          const struct nn_model_config *config, struct nn_shape record);
/* Does it draw noise for its answers? */
bool network_is_noisy(const struct sotto_network *n);
sotto_status network_add_fact(struct sotto_network *n, const char *key, const char *value);
/** NULL: not known. */
const char *network_fact(const struct sotto_network *n, const char *key);
/** The checks behind sotto_network_load(); `path` names the file in errors. */
sotto_status network_from_tensors(struct sotto_network **out, const struct sotto_tensors *t,
                                  const char *path);
/** Is this .safetensors a network (and not a head or an encoder)? */
bool network_is(const struct sotto_tensors *t);

/** Resolved options become its recipe, without the names of files. */
void network_take_recipe(struct sotto_network *n, const struct sotto_train_options *o);

/* ---- recipes ---- */

/** EINVAL names the member; on success texts are static (a NULL one its default) and members that the model
 * or the optimizer does not use are 0. Files, backend and dtype stay as they are. */
sotto_status train_options_check(struct sotto_train_options *o);
/** A caller's options in full (NULL: {0}). EINVAL. */
sotto_status train_options_resolve(struct sotto_train_options *out, const struct sotto_train_options *given);
/** The static text of `known` (NULL-terminated) that equals `asked`; NULL means the first. EINVAL lists `expected`. */
sotto_status train_one_of(const char **out, const char *asked, const char *what, const char *const *known,
                          const char *expected);
/** Canonical JSON of what decides the weights, but for records and machine; dtype must be f32 or bf16. */
sotto_status train_recipe_text(char out[TRAIN_RECIPE_TEXT], const struct sotto_train_options *o);
/** The inverse; EFORMAT texts start with `where`. */
sotto_status train_recipe_parse(struct sotto_train_options *out, const char *text, const char *where);
/** The model of such options for such records. */
sotto_status train_model_config(struct nn_model_config *out, const struct sotto_train_options *o,
                                struct nn_shape record, size_t classes);

/** Noise and members as JSON on one line; "" where there are none. The inverse of ..._parse(); its EFORMAT
 * texts start with `where`. */
enum { TRAIN_RESIDUAL_TEXT = 448 };
struct sotto_residual_noise train_residual_of(const struct nn_model_config *config);
sotto_status train_residual_text(char out[TRAIN_RESIDUAL_TEXT], const struct sotto_residual_noise *r);
sotto_status train_residual_parse(struct sotto_residual_noise *out, const char *text, const char *where);

/* ---- answers ---- */

/* A thread has a plan of its own: products of a batch on several threads may be cut, and so added up, by their number. */
struct network_worker {
    struct nn_plan *plan; /* NULL until a query has a batch for it */
    float *sum;           /* (batch, width), where answers are averaged; else NULL */
};
/** Plans for many queries of one network. Not for several threads at once. */
struct network_query {
    const struct sotto_network *network; /* borrowed */
    struct network_worker *workers;      /* one a thread */
    bool embedding;
    size_t width; /* of an answer */
    int threads;
    uint64_t noise_seed, step; /* of the noise of the next pass */
};
/** embedding: answers are what the last layer sees, (D), instead of logits. */
sotto_status network_query_make(struct network_query *out, const struct sotto_network *n, bool embedding,
                                const struct sotto_context *ctx);
void network_query_clear(struct network_query *a);
/** out (n, width): logits or embeddings of rows x (n, inputs), seen in one view (NULL: as they are). ESTOPPED. */
sotto_status network_query_run(float *out, struct network_query *a, const float *x, size_t n,
                               const struct record_view *view, const struct sotto_context *ctx);
/** In place: logits (n, k) to probabilities. */
void network_softmax(float *z, size_t n, size_t k);
/** Is there anything below the last layer? */
bool network_has_layers(const struct sotto_network *n);
/** The last layer, a linear head on embeddings (after a standardisation: both in one). Free with sotto_head_free(). */
sotto_status network_last_layer(struct sotto_head **out, const struct sotto_network *n);
/** Returns: "none: ..." if private records trained it without protection, else "". */
const char *network_statement(const struct sotto_network *n);

#endif
