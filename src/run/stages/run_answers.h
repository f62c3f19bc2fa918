/* run_answers.h - what a head says about its members (its own records) and non-members (held-out records). */
#ifndef RUN_STAGES_RUN_ANSWERS_H
#define RUN_STAGES_RUN_ANSWERS_H

#include "run/stages/run_stages.h"
#include "sotto/lab/train.h"

struct run_answers {
    const struct sotto_context *ctx;
    size_t n_member, n_nonmember, classes, width;
    const float *member_x, *nonmember_x; /* borrowed */
    const int64_t *member_y, *nonmember_y;
    float *member, *nonmember;                    /* logits (n, classes) of the last head asked */
    struct sotto_array own_member, own_nonmember; /* embeddings of a fine-tuned encoder; else empty */
    int64_t *kept_y; /* labels of the members, where some of the case's records are none */
};
/** A case with shadow heads has as many non-members as members, all others every held-out record. ENOMEM. */
sotto_status run_answers_make(struct run_answers *a, const struct run *r, size_t index);
sotto_status run_answers_ask(struct run_answers *a, const struct sotto_head *head);
/** The same of a network, which reads the images themselves. */
sotto_status run_answers_ask_network(struct run_answers *a, const struct run *r, size_t index,
                                     const struct sotto_network *network);
void run_answers_clear(struct run_answers *a);
/** 1 - accuracy / unprotected (Def. 6.1 of the additive logistic mechanism paper): negative where noise
 * helped, NAN where the unprotected head was never right. */
double run_utility_loss(double accuracy, double unprotected);
/** How many of n rows have their largest logit at their label; ties: lower class. */
size_t run_count_right(const float *logits, const int64_t *y, size_t n, size_t classes);

#endif
