/* pretrain_part.h - a part of pre-training that a module adds (base/plugs.h): it trains a branch of the model against the encoder. */
#ifndef SSL_PRETRAIN_PART_H
#define SSL_PRETRAIN_PART_H

#include "nn/model/model.h"
#include "nn/optimizer/optimizer.h"
#include "nn/plan/leaves.h"
#include "sotto/lab/ssl.h"

struct checkpoint_adversary;
struct metric_log;

/** What a pass over the images trains. */
enum pretrain_turn { TURN_ENCODER = 1, TURN_BRANCH = 2, TURN_BOTH = 3 };

struct pretrain_part {
    const char *name;   /* of sotto_pretrain_options.part */
    const char *method; /* the only one that it goes with */
    const char *fact;   /* of the encoder's file, under its name */
    /** All that a run is fixed by, from the options of the part. *setup: base_free(). EINVAL, ENOMEM. */
    sotto_status (*resolve)(void **setup, const void *options, const struct sotto_dataset *data,
                            const int64_t *rows, size_t n);
    /** 1: the image itself goes along, behind its views; the objective does not see it. */
    size_t (*inputs)(const void *setup);
    /** Walks over the images in one epoch. */
    size_t (*passes)(const void *setup);
    /** "key=value\n"... for the text that identifies a run; returns as snprintf. */
    int (*recipe)(char *out, size_t capacity, const void *setup);
    struct nn_adversary (*branch)(const void *setup);
    enum pretrain_turn (*turn)(const void *setup, uint64_t pass);
    /** Borrows setup, model and leaves; images: of a step, views of each. config: of both its optimizers, which train the model. */
    sotto_status (*create)(void **state, const void *setup, struct nn_model *model, struct leaves *leaves,
                           const struct nn_optimizer_config *config, size_t images, size_t views);
    /** After a forward pass over all inputs of the images `rows`: adds the gradient of its loss for the encoder. Ranks do it
     *  together. EDIVERGED. */
    sotto_status (*loss)(void *state, const int64_t *rows);
    /** The step of what this turn trains. ESTOPPED: nothing has moved. */
    sotto_status (*update)(void *state, double lr, enum pretrain_turn turn);
    /** Of encoder and projector. */
    struct nn_optimizer *(*optimizer)(void *state);
    size_t (*optimizer_bytes)(const void *state);
    /** What ranks tell each other in a step of the branch. */
    size_t (*exchange_bytes)(const void *state);
    /** What a checkpoint keeps of the branch. */
    struct checkpoint_adversary *(*checkpoint)(void *state);
    /** Means over the epoch that ends; starts the next. */
    sotto_status (*log)(void *state, struct metric_log *log, uint64_t step, double seconds);
    void (*release)(void *state);
};
/** EINVAL: no module of this build has it. NULL name: *out is NULL. */
sotto_status pretrain_part_find(const struct pretrain_part **out, const char *name);

#endif
