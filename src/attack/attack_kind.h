/* attack_kind.h - what an attack is: one const record per file, one row in attack_list.h (docs/ADDING.md).
 *
 * An attack turns what it may look at into one score per record, HIGHER = MORE MEMBER-LIKE. It never sees who
 * is a member; ROC curves, rates and intervals are computed once, in metrics.c. */
#ifndef ATTACK_KIND_H
#define ATTACK_KIND_H

#include "base/memory.h"

/* What a record of arrays can hold; an attack names what it needs. */
enum attack_need {
    NEED_OUTPUTS = 1, /* logits or probabilities, (n, classes) */
    NEED_LABELS = 2,
    NEED_LOSSES = 4, /* losses, or outputs and labels to compute them from */
    NEED_SCORES = 8, /* made by another tool */
    NEED_OUT = 16,   /* reference models that were not trained on a record */
    NEED_IN = 32,    /* and others that were */
    NEED_SHADOW = 64 /* outputs of a model of the attacker's own on records whose membership he knows */
};

struct attack_input {
    const double *outputs;   /* (n, classes), NULL without NEED_OUTPUTS */
    bool probabilities;      /* outputs are probabilities, not logits */
    const int64_t *labels;   /* (n), 0 .. classes-1 */
    const double *losses;    /* (n), nats */
    const double *scores;    /* (n) */
    const double *reference; /* (n, models): what posterior_signal() is for each reference model */
    const uint8_t *trained;  /* (n, models): 1 where the model was trained on the record; NULL: nowhere */
    size_t n, classes, models;
    const double *shadow_outputs;  /* (shadow_n, classes), of the same kind as outputs */
    const int64_t *shadow_labels;  /* (shadow_n) */
    const uint8_t *shadow_trained; /* (shadow_n): 1 for the shadow's own records */
    size_t shadow_n;
};

struct attack {
    const char *name;   /* key on the command line and in JSON */
    const char *title;  /* one line for reports */
    const char *source; /* who described it first */
    unsigned needs;     /* of enum attack_need, all of them */
    /* Fills scores[0 .. in->n), all records of both sides in one call, so that statistics may be pooled.
     * Inputs were checked: finite, labels in range, probabilities sum to 1. */
    sotto_status (*run)(double *scores, const struct attack_input *in);
};

/* NULL-terminated, in list order. */
extern const struct attack *const attack_table[];
/* NULL: no such attack. */
const struct attack *attack_find(const char *name);
/* True if `have` (of enum attack_need) covers what the attack needs. */
bool attack_applies(const struct attack *a, unsigned have);

#endif
