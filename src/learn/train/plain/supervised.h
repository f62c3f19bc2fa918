/* supervised.h - one run of supervised training, in pieces, for callers that train in another way: resolve,
 * plan, make the loop, put another draw() or gradient() into loop.step, run it, finish. supervised_plan()
 * resolves dtype and backend "auto", once the plan's rows and views are known.
 *
 *     TRY(supervised_resolve(&t, data, rows, n, &options, ctx));
 *     TRY(supervised_plan(&t));
 *     supervised_loop(&loop, &t);
 *     loop.step = ...;
 *     TRY(training_loop_run(&loop));
 *     TRY(supervised_finish(&network, &t, statement));
 *
 * The replaced step may take other batches, or gradients that are clipped and noised. */
#ifndef TRAIN_PLAIN_SUPERVISED_H
#define TRAIN_PLAIN_SUPERVISED_H

#include "nn/loop/autotuner.h"
#include "nn/loop/training_loop.h"
#include "nn/plan/leaves.h"
#include "sotto/lab/provenance.h"
#include "train/network/network.h"

struct supervised {
    struct sotto_train_options options; /* checked, texts static; dtype and backend are *choice's names */
    const struct sotto_dataset *data;
    const int64_t *rows;
    size_t n;
    const struct sotto_context *ctx; /* without a team in it */
    const struct sotto_team *team;   /* set behind supervised_resolve(); NULL: alone */
    struct nn_shape record;
    struct sotto_encoder *encoder;  /* that training starts from; NULL: none */
    double *moments;                /* that standardise its embeddings (pretrained.h); NULL: nothing does */
    struct sotto_provenance shaped; /* its shaped_by: what the encoder and the moments were made from */
    struct nn_model_config config;
    struct sotto_autotune choice;
    int threads;
    size_t steps_per_epoch;
    uint64_t steps;
    struct schedule schedule;
    struct nn_model *model;
    struct leaf_order sums;
    struct leaves *leaves; /* of options.batch records; NULL: gradients of single examples are asked for */
    struct epoch_moments *running; /* norm scope "leaf"; or NULL */
    size_t plan_bytes;             /* of these, or of the plans that a private trainer made */
    struct nn_optimizer *optimizer;
    struct epoch_order order;
    struct record_input input;
    int64_t *labels;           /* (batch), with the leaves */
    struct record_view *views; /* (batch), likewise */
    const char *privacy; /* lines of the recipe that a private trainer adds; "": none. Files then hold no hash
                            of the records */
    size_t plan_rows, plan_views; /* of the plan, labels and views; batch and 0 unless changed */
    char rows_sha256[SHA256_HEX], recipe[2048], machine[LEAVES_MACHINE],
        hint[96]; /* recipe, machine: of the choice */
};
/** Checks everything. Free with supervised_clear(), after an error too. EINVAL, ENOTSUP, ENOMEM; errors of
 * sotto_encoder_load(). */
sotto_status supervised_resolve(struct supervised *t, const struct sotto_dataset *data, const int64_t *rows,
                                size_t n, const struct sotto_train_options *options,
                                const struct sotto_context *ctx);
/** EINVAL: a row is given twice; for trainings that count how often a record is used. */
sotto_status supervised_rows_once(const struct supervised *t);
/** For a private trainer, between the two: another number of steps, another plan, and its part of the recipe
 * (a text that lives as long as *t). */
void supervised_change(struct supervised *t, uint64_t steps, size_t plan_rows, size_t plan_views,
                       const char *privacy);
/** Order of sums, dtype and backend for the plan as it is now, and the texts that name them. Called by supervised_plan(). */
sotto_status supervised_choose(struct supervised *t);
/** Model with its first weights, optimizer, and, unless gradients of single examples are asked for, plan and scratch
 * of a step. */
sotto_status supervised_plan(struct supervised *t);
/** A loop around plain steps. Borrows *t. */
void supervised_loop(struct training_loop *out, struct supervised *t);
/** Is this one of the first steps, which train the last layer alone? The step after them begins with a new optimizer. */
bool supervised_warms_up(struct supervised *t, uint64_t step);
/** How many of the logits (n, classes) are largest at the label. */
size_t supervised_right(const float *logits, const int64_t *labels, size_t n, size_t classes);
/** One line of what is about to run, in the log. */
void supervised_announce(const struct supervised *t, const struct training_loop *l);
void supervised_report(struct sotto_train_result *out, const struct supervised *t,
                       const struct training_loop *l);
/** The trained network; takes the model. statement: "" or what the file is to say (io/provenance/statement.h). */
sotto_status supervised_finish(struct sotto_network **out, struct supervised *t, const char *statement);
void supervised_clear(struct supervised *t);

/** sotto_train() of one network on rows (n). team: NULL, or all of its ranks call this; ctx has none. */
sotto_status supervised_train(struct sotto_network **out, struct sotto_train_result *result,
                              const struct sotto_dataset *data, const int64_t *rows, size_t n,
                              const struct sotto_train_options *options, const struct sotto_team *team,
                              const struct sotto_context *ctx);

#endif
