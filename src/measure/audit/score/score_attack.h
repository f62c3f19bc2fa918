/* score_attack.h - what an attack is: one const record per file, one row in score_attack_list.h (docs/ADDING.md).
 *
 * An attack turns what it may look at into one score per record, HIGHER = MORE MEMBER-LIKE. It never sees who
 * is a member; ROC curves, rates and intervals are computed once, in metrics.c. */
#ifndef AUDIT_SCORE_SCORE_ATTACK_H
#define AUDIT_SCORE_SCORE_ATTACK_H

#include "base/memory.h"
#include "io/text/parameters.h"

/* What a record of arrays can hold; an attack names what it needs. */
enum attack_need {
    NEED_OUTPUTS = 1, /* logits or probabilities, (n, classes) */
    NEED_LABELS = 2,
    NEED_LOSSES = 4,       /* losses, or outputs and labels to compute them from */
    NEED_SCORES = 8,       /* made by another tool */
    NEED_OUT = 16,         /* reference models that were not trained on a record */
    NEED_IN = 32,          /* and others that were */
    NEED_SHADOW = 64,      /* outputs of a model of the attacker's own on records whose membership he knows */
    NEED_POPULATION = 128, /* the target's losses on other records, known to be non-members */
    NEED_POPULATION_REFERENCE = 256,  /* and what the reference models say about those */
    NEED_MEANS = 512,                 /* features, a released mean of some records and one of a population */
    NEED_SHARES = 1024,               /* the same, features and the population's mean between 0 and 1 */
    NEED_VIEWS = 2048,                /* signals of several views of each record */
    NEED_DISCRIMINATOR = 4096,        /* logits of a generative model's discriminator */
    NEED_GENERATED = 8192,            /* the records, and samples of a generator */
    NEED_REFERENCE_GENERATED = 16384, /* and samples of a generator that was trained on other records */
    NEED_TOKENS = 32768,              /* log-probabilities of a text's tokens */
    NEED_TOKEN_MOMENTS = 65536,       /* and their mean and deviation over the vocabulary */
    NEED_TOKEN_REFERENCE = 131072,    /* log-probabilities by a reference model */
    NEED_LOWERCASE = 262144,          /* those of the text in lower case */
    NEED_BYTES = 524288,              /* length of the compressed text */
    NEED_NEIGHBOURS = 1048576,        /* losses of neighbouring texts */
    NEED_TUNED = 2097152,             /* what was found by attacks on reference models */
    NEED_SEVERAL = 4194304            /* at least two reference models: their spread */
};

struct attack_input {
    const double *outputs;   /* (n, classes), NULL without NEED_OUTPUTS */
    bool probabilities;      /* outputs are probabilities, not logits */
    double step;             /* that they were rounded to; 0: they were not */
    const int64_t *labels;   /* (n), 0 .. classes-1 */
    const double *losses;    /* (n), nats */
    bool losses_of_signals;  /* they were computed from the signals, which saves that again */
    const double *scores;    /* (n) */
    const double *signals;   /* (n): posterior_signal() itself, instead of outputs and losses; or NULL */
    const double *reference; /* (n, models): what posterior_signal() is for each reference model */
    const struct reference_summary *summary; /* (n): what attacks ask of `reference` (reference.h); or NULL */
    const uint8_t *trained; /* (n, models): 1 where the model was trained on the record; NULL: nowhere */
    const float *features;  /* (n, width): the records themselves, or NULL */
    const double *released_mean, *reference_mean; /* (width) */
    size_t reference_people;                      /* people behind reference_mean; 0: unknown */
    size_t n, classes, models, width;
    /* quiet, of one thread: several attacks run beside each other; or NULL */
    const struct sotto_context *ctx;
    /* 1 + the reference model that stands in for the target, and is then no reference; 0: none */
    size_t target_model;
    double tuned_a;                /* RMIA's a, found by attacks on reference models */
    size_t views;                  /* 0: none were given */
    const double *view_signals;    /* (views, n): posterior_signal() of the target's answers on each view */
    const double *view_reference;  /* (views, n, models): of the reference models' */
    const double *shadow_outputs;  /* (shadow_n, classes), of the same kind as outputs */
    const int64_t *shadow_labels;  /* (shadow_n) */
    const uint8_t *shadow_trained; /* (shadow_n): 1 for the shadow's own records */
    size_t shadow_n;
    const struct attack_input *population; /* other records, none of them a member of anything; or NULL */
    const double *discriminator;           /* (n): logits */
    const float *generated, *reference_generated; /* (generated_n, width), (reference_generated_n, width) */
    const float *attacker; /* (attacker_n, width): records of the attacker's own; or NULL */
    size_t generated_n, reference_generated_n, attacker_n;
    const struct sotto_token_input *tokens; /* (n); or NULL */
};

struct attack_output {
    double *scores; /* (n) */
    /* (n), all 0 before: 1 where a record had no statistics of its own and others' stood in */
    uint8_t *fallback;
    double threshold; /* the attack's own decision, member when score > threshold, found without looking at
                         the target's members; NAN (before the call) if it has none */
    /* name of a number that the attack's inputs decided; NULL (before the call): there is none */
    const char *chosen;
    double chosen_value;
    double radius; /* the largest distance of samples that count; NAN (before the call) if there is none */
};

enum { ATTACK_PARAMS = 4 }; /* numbers that the user may set as "ATTACK.NAME=VALUE" */

struct score_attack {
    const char *name;   /* key on the command line and in JSON */
    const char *title;  /* one line for reports */
    const char *source; /* who described it first */
    unsigned needs;     /* of enum attack_need, all of them */
    const char *access; /* of a generative model: what of it the attack sees; NULL: no such attack */
    const struct parameter *params; /* ends with a NULL name; NULL: none */
    /* a network: takes too long to be repeated for every reference model that plays the target */
    bool trains;
    /* the score of a non-member is standard normal if its features are independent: p-values are given */
    bool normal_null;
    /* Fills scores[0 .. in->n), all records of both sides in one call, so that statistics may be pooled.
     * Inputs were checked: finite, labels in range, probabilities sum to 1. args: the parameters' values. */
    sotto_status (*run)(struct attack_output *out, const struct attack_input *in, const double *args);
};

/* Is reference model m one that this input compares with? */
static inline bool attack_compares(const struct attack_input *in, size_t m)
{
    return m + 1 != in->target_model;
}

/* NULL-terminated, in list order. */
extern const struct score_attack *const attack_table[];
/* NULL: no such attack. */
const struct score_attack *attack_find(const char *name);
/* True if `have` (of enum attack_need) covers what the attack needs. */
bool attack_applies(const struct score_attack *a, unsigned have);
/* The usual values, then those of `settings` ("attack.param=value", NULL-terminated, may be NULL) that name
 * this attack. EUSAGE: unknown parameter, or a value out of its range. */
sotto_status attack_arguments(double args[ATTACK_PARAMS], const struct score_attack *a,
                              const char *const *settings);
/* Every setting names an attack and a parameter of it. EUSAGE. */
sotto_status attack_settings_check(const char *const *settings);
/* Runs with the usual parameters; scores only. */
sotto_status attack_run(double *scores, const struct score_attack *a, const struct attack_input *in);

#endif
