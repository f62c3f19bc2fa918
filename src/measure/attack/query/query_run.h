/* query_run.h - one run of an attack that queries a model (query_attack_run.c) and its parts. */
#ifndef ATTACK_QUERY_QUERY_RUN_H
#define ATTACK_QUERY_QUERY_RUN_H

#include "attack/query_attack.h"
#include "sotto/attack.h"

/* Everything of one run that must be freed. */
struct query_work {
    float *x, *answers, *known_x;
    int64_t *y, *known_y;
    uint8_t *known_member;
    double *posteriors;
    /* (n): the record in each row of x, y and posteriors while the attack runs; NULL: as given */
    int64_t *order;
    struct sotto_head_recipe recipe;
    struct sotto_train_options network;
    struct sotto_train_privacy privacy;
};

/* Are shadows whole networks? */
bool query_shadows_are_networks(const struct sotto_attack_input *in, const struct sotto_attack_options *o);
/* The recipe of the shadows, if the attack trains any, into `out`. EUSAGE: it is unknown, or not the target's. */
sotto_status query_choose_shadows(struct query_input *out, struct query_work *w, const struct query_attack *a,
                                  const struct sotto_attack_input *in, const struct sotto_attack_options *o);

sotto_status query_measure(struct sotto_audit_result *out, const double *scores,
                           const struct query_result *result, const struct query_attack *a,
                           const struct query_input *in, const struct sotto_attack_input *given);
sotto_status query_check_overlap(struct sotto_audit_result *r, const struct sotto_attack_input *given,
                                 const struct sotto_context *ctx);
sotto_status query_describe(struct sotto_audit_result *out, const double *scores, struct query_result *r,
                            const struct query_attack *a, const struct query_input *in, size_t n_member);

#endif
