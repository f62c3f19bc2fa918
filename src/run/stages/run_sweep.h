/* run_sweep.h - a setting of a sweep and the attacks on its draws: between stage_sweep.c, which chooses settings and writes
 * results, and sweep_draws.c, which measures. */
#ifndef RUN_STAGES_RUN_SWEEP_H
#define RUN_STAGES_RUN_SWEEP_H

#include "run/stages/run_answers.h"
#include "run/stages/run_shadow.h"
#include "sotto/account.h"

enum {
    SWEEP_ATTACKS = 3,
    SWEEP_NETWORK_SIDE = 1000 /* members, and as many others, that the attack network judges in a draw */
};
enum attack_slot { BY_LOSS, BY_LIRA, BY_NETWORK };

struct sweep_setting {
    const char *name;      /* as in the configuration */
    const char *mechanism; /* the law of the noise */
    double epsilon;        /* what it is meant for; NAN: a scale was given */
    double scale;
};

struct sweep_scores {
    double auc, balanced, tpr[RUN_RATES];
};
struct sweep_draw {
    double accuracy, utility_loss;
    struct sweep_scores attacks[SWEEP_ATTACKS];
};

/* One setting being measured; draws run in parallel and only write their own slots. */
struct sweep {
    const struct run *r;
    size_t index;
    const struct sotto_head *head;
    const struct run_shadow *shadow;
    struct run_answers *answers; /* one a thread */
    double unprotected;          /* accuracy */
    size_t parameters;
    struct sotto_sensitivity sensitivity; /* entrywise: what the account of a scale rests on */
    struct sotto_sensitivity assumed;     /* what scales are found for: the same, or the paper's norms */
    struct sweep_setting setting;
    struct sweep_draw *drawn; /* (draws) */
    double *network_input;    /* (draws, 2 network_side, classes): logits for the attack network */
    int64_t *network_labels;
    size_t network_side;
};

/** One draw: a par_body on a struct sweep; writes drawn[draw] only. */
sotto_status sweep_measure_draw(void *sweep, size_t draw, int thread);
/** The attack network on all draws: trained once for a setting, it judges them together. */
sotto_status sweep_judge_by_network(const struct sweep *s);

#endif
