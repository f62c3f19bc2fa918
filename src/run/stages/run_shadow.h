/* run_shadow.h - the attacker's models in an experiment: shadow heads on halves of members and non-members
 * (LiRA, RMIA), and one shadow head on records of the attacker's own (attack network). */
#ifndef RUN_STAGES_RUN_SHADOW_H
#define RUN_STAGES_RUN_SHADOW_H

#include "attack/shadow/shadow_pool.h"
#include "run/stages/run_answers.h"

/** What the attacker of a case works with. Without shadow heads or shadow data the corresponding members are
 * NULL. */
struct run_shadow {
    struct shadow_pool heads;
    uint8_t *trained;      /* (pool.n, heads.models): 1 where a head was trained on the record */
    struct head_data pool; /* members, then non-members */
    float *pool_x;         /* owned, as pool_y */
    int64_t *pool_y;
    double *signals;        /* (pool.n, heads.models), as last asked */
    struct sotto_head *own; /* trained on the first own_n / 2 records of the shadow part */
    const float *own_x;     /* (own_n, width), borrowed */
    const int64_t *own_y;
    size_t own_n;
    float *own_logits;
    double *own_outputs;  /* (own_n, classes), as last asked */
    uint8_t *own_trained; /* (own_n) */
};
/** Loads what run_stage_shadow() made. */
sotto_status run_shadow_load(struct run_shadow *s, const struct run *r, size_t index,
                             const struct run_answers *a);
/** Asks the shadow models, each noised first as the target is (mechanism NULL: not at all); draw tells
 * repeated askings apart. */
sotto_status run_shadow_ask(struct run_shadow *s, const struct run *r, const char *mechanism, double scale,
                            uint64_t draw);
void run_shadow_clear(struct run_shadow *s);
/** True if a case has an attacker with models. */
bool run_has_shadow(const struct run *r, size_t index);

#endif
