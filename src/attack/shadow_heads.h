/* shadow_heads.h - heads that an attacker trains by the target's recipe on random halves of a pool of
 * records, and what they say about every record: the reference signals of LiRA and RMIA. */
#ifndef ATTACK_SHADOW_HEADS_H
#define ATTACK_SHADOW_HEADS_H

#include "head/head_model.h"

struct shadow_heads {
    size_t models, records, parameters; /* parameters: of one head */
    float *weights;                     /* (models, parameters), file order */
    uint8_t *trained;                   /* (records, models); each record is in exactly half of the models */
    struct sotto_head *shape;           /* a head of the right shape to load weights into */
};

/** Trains `models` (even) heads, each on half of the records of `pool`. The batch is doubled, so that a
 * shadow makes as many steps on as many records as a target trained on half of the pool. Initialisation and
 * batch order are the target's (recipe->seed): the strongest attacker knows them. EINVAL, EDIVERGED,
 * ESTOPPED, ENOMEM. */
sotto_status shadow_heads_train(struct shadow_heads *out, const struct head_data *pool,
                                const struct sotto_head_recipe *recipe, size_t models, uint64_t seed,
                                const struct sotto_context *ctx);
void shadow_heads_clear(struct shadow_heads *s);

/** signals (records, models): posterior_signal() of every record under every shadow. With a mechanism each
 * shadow is first noised by its law at `scale`, as the target was (draws differ from any release; never
 * released): the adaptive attacker. ENOMEM, EINVAL. */
sotto_status shadow_heads_signals(double *signals, const struct shadow_heads *s, const struct head_data *pool,
                                  const char *mechanism, double scale, uint64_t seed,
                                  const struct sotto_context *ctx);

#endif
