/* Attacks that score a record by one number of its answer. */
#include "audit/score/class_threshold.h"
#include "audit/score/posterior.h"

#include <math.h>

/* Training pushes the loss of its own records down, so a low loss looks like a member. */
static sotto_status run_loss(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = in->losses ? -in->losses[i] : -posterior_loss(in, i);
    return SOTTO_OK;
}

const struct score_attack attack_loss = {.name = "loss",
                                         .title = "Loss threshold",
                                         .source = "Yeom et al. 2018",
                                         .needs = NEED_LOSSES,
                                         .run = run_loss};

/* p_y. It orders records as the loss does until it saturates at 1; papers report both. */
static sotto_status run_confidence(struct attack_output *out, const struct attack_input *in,
                                   const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = exp(posterior_log(in, i, (size_t)in->labels[i]));
    return SOTTO_OK;
}

const struct score_attack attack_confidence = {.name = "confidence",
                                               .title = "Confidence in the true class",
                                               .source = "Song and Mittal 2021",
                                               .needs = NEED_OUTPUTS | NEED_LABELS,
                                               .run = run_confidence};

/* The baseline: an attack that does not beat it has found the train-test gap and nothing more. */
static sotto_status run_correctness(struct attack_output *out, const struct attack_input *in,
                                    const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = posterior_argmax(in, i) == (size_t)in->labels[i];
    return SOTTO_OK;
}

const struct score_attack attack_correctness = {.name = "correctness",
                                                .title = "Correct answer (gap baseline)",
                                                .source = "Yeom et al. 2018",
                                                .needs = NEED_OUTPUTS | NEED_LABELS,
                                                .run = run_correctness};

/* An unsure answer looks like a non-member. The one metric attack that works without labels. */
static sotto_status run_entropy(struct attack_output *out, const struct attack_input *in, const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = -posterior_entropy(in, i);
    return SOTTO_OK;
}

const struct score_attack attack_entropy = {.name = "entropy",
                                            .title = "Prediction entropy (without labels)",
                                            .source = "Song and Mittal 2021",
                                            .needs = NEED_OUTPUTS,
                                            .run = run_entropy};

/* Entropy that knows the label: confidently wrong is as far from a member as can be. */
static sotto_status run_modified_entropy(struct attack_output *out, const struct attack_input *in,
                                         const double *args)
{
    (void)args;
    for (size_t i = 0; i < in->n; i++)
        out->scores[i] = -posterior_modified_entropy(in, i);
    return SOTTO_OK;
}

const struct score_attack attack_modified_entropy = {.name = "modified-entropy",
                                                     .title = "Modified entropy",
                                                     .source = "Song and Mittal 2021",
                                                     .needs = NEED_OUTPUTS | NEED_LABELS,
                                                     .run = run_modified_entropy};

/* ---- the same with a threshold for each class ---- */

static sotto_status run_class_confidence(struct attack_output *out, const struct attack_input *in,
                                         const double *args)
{
    return class_threshold_run(out, &attack_confidence, in, args[0]);
}

const struct score_attack attack_class_confidence = {.name = "class-confidence",
                                                     .title = "Confidence, threshold of the class",
                                                     .source = "Song and Mittal 2021",
                                                     .needs = NEED_OUTPUTS | NEED_LABELS | NEED_SHADOW,
                                                     .params = class_threshold_params,
                                                     .run = run_class_confidence};

static sotto_status run_class_entropy(struct attack_output *out, const struct attack_input *in,
                                      const double *args)
{
    return class_threshold_run(out, &attack_entropy, in, args[0]);
}

const struct score_attack attack_class_entropy = {.name = "class-entropy",
                                                  .title = "Entropy, threshold of the class",
                                                  .source = "Song and Mittal 2021",
                                                  .needs = NEED_OUTPUTS | NEED_LABELS | NEED_SHADOW,
                                                  .params = class_threshold_params,
                                                  .run = run_class_entropy};

static sotto_status run_class_modified_entropy(struct attack_output *out, const struct attack_input *in,
                                               const double *args)
{
    return class_threshold_run(out, &attack_modified_entropy, in, args[0]);
}

const struct score_attack attack_class_modified_entropy = {.name = "class-modified-entropy",
                                                           .title =
                                                               "Modified entropy, threshold of the class",
                                                           .source = "Song and Mittal 2021",
                                                           .needs = NEED_OUTPUTS | NEED_LABELS | NEED_SHADOW,
                                                           .params = class_threshold_params,
                                                           .run = run_class_modified_entropy};
