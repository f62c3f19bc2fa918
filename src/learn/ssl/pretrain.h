/* pretrain.h - what a pre-training run is fixed by, shared by the run and its settings. */
#ifndef SSL_PRETRAIN_H
#define SSL_PRETRAIN_H

#include "data/augment/augment.h"
#include "nn/loop/autotuner.h"
#include "nn/plan/leaves.h"
#include "ssl/encoder.h"
#include "ssl/objective.h"
#include "ssl/pretrain_part.h"

/** What is fixed before the first step. */
struct pretrain_setup {
    struct sotto_pretrain_options options; /* every text filled in */
    const struct objective *objective;
    struct sotto_autotune choice; /* of dtype and backend */
    struct leaf_order order;
    struct nn_shape input;
    struct schedule schedule;
    enum augment_recipe augmentation;
    const struct pretrain_part *part;               /* NULL: none */
    void *part_setup;                               /* its own */
    size_t images, steps_per_epoch, steps_per_pass; /* a pass walks over the images once */
    uint64_t steps;
    int threads;
    const struct sotto_team *team; /* NULL: alone */
    char recipe[1024];             /* "key=value\n"...: whatever decides the weights, besides the machine */
};
/** Inputs of the network for each image: its views, and what a part adds. */
size_t pretrain_inputs(const struct pretrain_setup *s);
/** The network that is trained. */
struct nn_model_config pretrain_model(const struct pretrain_setup *s);
/** Frees what *s holds. */
void pretrain_clear(struct pretrain_setup *s);
/** Checks every option against the data; texts say what was wrong and what was expected. Resolves "auto", on ranks as rank 0
 * does. ctx has no team in it. */
sotto_status pretrain_resolve(struct pretrain_setup *out, const struct sotto_dataset *data,
                              const int64_t *rows, size_t n, const struct sotto_pretrain_options *options,
                              const struct sotto_team *team, const struct sotto_context *ctx);

#endif
