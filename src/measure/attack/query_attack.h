/* query_attack.h - attacks that query a model or train models of their own: one const record per file, one
 * row in query_attack_list.h.
 *
 * As in score_attack.h an attack gives one score per record, HIGHER = MORE MEMBER-LIKE, and never sees who is
 * a member. It may also fix a threshold from the attacker's own data, to which the evaluation holds it. */
#ifndef ATTACK_QUERY_ATTACK_H
#define ATTACK_QUERY_ATTACK_H

#include "attack/attack_facts.h"
#include "attack/target/target.h"
#include "head/model/head_model.h"
#include "sotto/attack.h"

/* What an attack needs; sotto_attack() refuses to run it without. */
enum query_need {
    QUERY_POSTERIORS = 1,     /* the target's answers on the records, as probabilities */
    QUERY_LABELS = 2,         /* the records' true classes */
    QUERY_WEIGHTS = 4,        /* the target itself, a head or a network */
    QUERY_ATTACKER = 8,       /* records of the attacker, of the target's kind */
    QUERY_SHADOWS = 16,       /* trains models of the target's kind: needs a recipe */
    QUERY_OTHER = 32,         /* records of another set */
    QUERY_QUERIES = 64,       /* asks for more than the records */
    QUERY_DECISIONS = 128,    /* only the classes that the target decides for: `posteriors` is one-hot */
    QUERY_KNOWN_IF_ANY = 512, /* learns from known members where there are any, and then trains no shadows */
    QUERY_NETWORK = 1024,     /* the weights of a whole network, not of a head */
    QUERY_HALVES =
        2048, /* trains shadows on halves of the records to judge: they can be poisoned, and tell memorisation */
    QUERY_SHADOW_IF_ANY =
        256 /* rehearses on a shadow where records and a recipe are at hand: recipe may be NULL */
};

struct query_input {
    struct sotto_target *target;
    struct head_data records; /* to judge: members and non-members, without saying where one ends */
    const double *posteriors; /* (n, classes): the target's answers on the records; NULL without the need */
    struct head_data attacker, other;
    struct head_data known;      /* records of which the attacker knows whether they are members; n 0: none */
    const uint8_t *known_member; /* (known.n) */
    const struct sotto_head_recipe *recipe;    /* of shadow heads, checked; NULL without shadow heads */
    const struct sotto_train_options *network; /* of shadow networks, checked; NULL without shadow networks */
    const struct sotto_train_privacy *privacy; /* of shadow networks trained by DP-SGD, else NULL */
    const struct sotto_attack_options *options;
    const struct sotto_context *ctx;
};
/* Is it known how shadows are trained? */
static inline bool model_has_recipe(const struct query_input *in)
{
    return in->recipe || in->network;
}
enum { QUERY_THRESHOLDS = 8 };
struct query_result {
    double threshold;              /* member if score > threshold; NAN: the attack fixes none */
    double also[QUERY_THRESHOLDS]; /* more thresholds of its own, to be reported beside */
    size_t also_count;
    /* Where options ask for memorisation, what shadows on halves of the records say of them, signals and training mask
     * (n, models) in the order of in->records; owned. NULL: no such shadows. */
    double *signals;
    uint8_t *trained;
    size_t models;
    struct facts facts; /* members for "model_attack": what was trained, asked, refused */
    bool pending;       /* other shards of the shadows are not done: no scores yet, facts say what is */
};

struct query_attack {
    const char *name, *title, *source;
    unsigned needs;         /* of enum query_need */
    size_t default_shadows; /* 0: trains none */
    const char *snapshots;  /* title where it reads the target's own intermediate models; NULL: it cannot */
    sotto_status (*run)(double *scores, struct query_result *result, const struct query_input *in);
};

/* NULL-terminated, in list order. */
extern const struct query_attack *const query_attack_table[];
const struct query_attack *query_attack_find(const char *name);

#endif
