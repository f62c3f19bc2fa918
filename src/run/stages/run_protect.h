/* run_protect.h - what the rows of `protect` ask, and the plan that those of fixed parameters are charged as. */
#ifndef RUN_STAGES_RUN_PROTECT_H
#define RUN_STAGES_RUN_PROTECT_H

#include "run/stages/run_stages.h"
#include "sotto/lab/provenance.h"
#include "sotto/lab/sensitivity.h"
#include "sotto/release.h"

/** Everything that decides a protected model. */
struct json *run_protect_key(const struct run *r, const struct run_model *m);
/** Noise on the case's trained head, as it is asked: no output, and nothing of what is spent. */
struct run_noise {
    struct sotto_protect protect;             /* points into this */
    struct sotto_sensitivity_sample measured; /* where it is not stated */
    char input[RUN_PATH], sensitivity[RUN_PATH];
};
/** The head and its sensitivity are there. ENOENT, EFORMAT, EINVAL. */
sotto_status run_noise_ask(struct run_noise *out, const struct run *r, const struct run_model *m);

/** What a row spends, without ledger, source and purpose. *whose, its unit and what shaped its columns, is borrowed by *out;
 * sotto_provenance_clear(). */
sotto_status run_spend_of(struct sotto_spend *out, struct sotto_provenance *whose, const struct run *r,
                          const struct run_model *m);
/** A head of its own, as its training is asked. */
struct sotto_head_privacy run_head_privacy(const struct run *r, const struct run_model *m,
                                           const struct sotto_spend *spend);
/** Of the stage of this hash, so that another recipe never meets this one's; "": a training without one. */
sotto_status run_checkpoint_path(char out[RUN_PATH], const struct run *r, const struct run_model *m,
                                 const char *hash);
struct planned_event;
/** What a private training will charge, of a head or a network. Its errors. */
sotto_status run_training_event(struct planned_event *out, const struct run *r, const struct run_model *m);

/** Before the first noise: rows whose parameters are all fixed by the experiment and its recipes are charged as one plan, which
 * plans.json names, and each finds its slot. Rows that a plan of this folder has an open slot for keep it; one row alone is
 * no plan. Tells which rows are charged by themselves, and why. Errors of sotto_ledger_plan(), but for a budget: then they are
 * charged one by one. */
sotto_status run_plan_releases(struct run *r);
/** "ID:K" for the stage of this hash; NULL: it is charged by itself. */
const char *run_slot_of(const struct run *r, const char *hash);
void run_slots_clear(struct run *r);

#endif
