/* run_config.h - the experiment file, resolved: every default is filled in, every value checked. */
#ifndef RUN_CONFIG_RUN_CONFIG_H
#define RUN_CONFIG_RUN_CONFIG_H

#include "data/set/split.h"
#include "io/json/json.h"
#include "sotto/head.h"
#include "sotto/lab/ssl.h"
#include "sotto/lab/train.h"
#include "sotto/release.h"

#include <stdbool.h>

enum {
    RUN_NAME = 64,
    RUN_CASES = 32,
    RUN_PROTECTIONS = 32,
    RUN_NETWORKS = 64,
    RUN_CONDITIONS = 8,
    RUN_ATTACKS = 16,
    RUN_RATES = 8,
    RUN_SWEEP = 32,
    RUN_SWEEP_MECHANISMS = 8
};

/** A whole network that is trained by DP-SGD on the records of a case: of a model of its own, or from the experiment's
 * encoder. Zeros are stated (sotto/base.h), `from` and the backend are not final. */
struct run_network {
    struct sotto_train_options training;
    struct sotto_train_privacy privacy; /* without target and spending */
    char texts[6][32];
};
/** Canaries of a private training, and the audit by them: number of guesses and access are fixed before it begins. */
struct run_canary_audit {
    struct sotto_canary_options options; /* count 0: none */
    size_t guesses;                      /* on each side */
    bool white_box; /* scores of an observer of all steps; else of the trained model's answers */
};
/** One protected head: noise on the trained one, of a scale or for a target; or a private training of its own. */
struct run_protection {
    char mechanism[24]; /* the trainer's name, if the head is trained privately */
    bool trained;       /* by `recipe`, for the release's target */
    struct sotto_head_recipe recipe;
    const struct run_network *network; /* instead of a head, by `recipe.trainer`; of the same configuration */
    enum sotto_adjacency adjacency;    /* of a private training by DP-SGD */
    struct run_canary_audit canaries;  /* in it */
    char texts[1][32], conditions[RUN_CONDITIONS][32];
    const char *read_from_data[RUN_CONDITIONS + 1]; /* the conditions, NULL-terminated */
    /** Points to mechanism and conditions above, so protections are not copied; numbers are NAN where not given, norms
     * too where the sampled sensitivity is used. */
    struct sotto_release release;
};
/** Settings that are measured over many draws and never released: every mechanism at every target epsilon,
 * and at every scale. */
struct run_sweep {
    double epsilons[RUN_SWEEP], scales[RUN_SWEEP], delta;
    size_t epsilon_count, scale_count;
    char mechanisms[RUN_SWEEP_MECHANISMS][32];
    size_t mechanism_count;
    bool paper_norms; /* also with the norms that the paper seems to have used (notes/results.md) */
};
/** One head on its own slice of the private part, and what is done with it. */
struct run_case {
    char name[RUN_NAME], title[128];
    size_t records; /* cases that release something: disjoint slices of the private part, in the order of the
                       cases; others start at its beginning */
    struct sotto_head_recipe recipe;
    bool fine_tune; /* the encoder too: measured only, no privacy statement */
    size_t pairs;   /* of the sensitivity sampler; 0: not sampled */
    struct run_protection protections[RUN_PROTECTIONS];
    size_t protection_count;
    size_t references; /* shadow heads of the attacker; 0: none */
    bool known_start;  /* they have the target's own seed */
    struct run_sweep sweep;
};
struct run_config {
    char name[RUN_NAME], title[128];
    uint64_t seed;
    char data_set[512], public_set[512]; /* the latter "" for a part of the former */
    size_t sizes[SPLIT_PARTS];
    size_t classes;                         /* 0: those of the data set's description */
    struct sotto_pretrain_options pretrain; /* texts point into the arrays below */
    char pretrain_texts[8][32];
    char dtype[16], backend[16]; /* of pre-training; "auto" until a stage has chosen */
    int evaluate_encoder;        /* k-NN and a linear probe on the private part */
    struct run_case cases[RUN_CASES];
    size_t case_count;
    struct run_network networks[RUN_NETWORKS];
    size_t network_count;
    char attacks[RUN_ATTACKS][32];
    size_t attack_count;
    size_t draws;
    double rates[RUN_RATES];
    size_t rate_count;
    double confidence;
};

struct config_rows;
/** Every key of the file: members of options structs by their tables, and those of no struct. */
void run_config_rows(struct config_rows *out);
/** True for trainers with a proved sensitivity; and for cases with a sensitivity, sampled or proved. */
bool run_is_convex(const struct run_case *c);
bool run_has_sensitivity(const struct run_case *c);
/** A norm is stated by the user. */
bool run_states_sensitivity(const struct run_protection *p);
/** Reads a config (path, or text with `name` for errors), applies "key=value" overrides, checks it.
 *  ECONFIG "run.yaml:14:5: unknown key 'epsilonn' under protect[1]; did you mean 'epsilon'?".
 *  *resolved: the same experiment as YAML text with every default written out (sotto_text_free). */
sotto_status run_config_read(struct run_config *out, char **resolved, const char *path, const char *text,
                             const char *name, const char *const *overrides);

#endif
