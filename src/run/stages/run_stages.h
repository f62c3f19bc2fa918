/* run_stages.h - the stages of an experiment. Each one computes or reuses its files and leaves what later
 * ones need in struct run. */
#ifndef RUN_STAGES_RUN_STAGES_H
#define RUN_STAGES_RUN_STAGES_H

#include "run/config/run_config.h"
#include "run/run_folder/run_folder.h"
#include "sotto/lab/provenance.h"
#include "sotto/ledger.h"
#include "sotto/run.h"

/* One model that is measured: a head as trained (protection < 0) or one protected copy of it. */
struct run_model {
    size_t index;    /* of the case */
    long protection; /* -1: unprotected */
    char name[RUN_NAME + 24];
};

struct run {
    struct run_config config;
    struct run_folder folder;
    const struct sotto_run_options *options;
    const struct sotto_context *ctx;
    struct sotto_dataset *data;
    struct sotto_dataset *public_data; /* what the public rows count; often the same as data */
    struct data_split split;
    size_t width, classes;                   /* of embeddings; labels */
    struct sotto_array private_x, private_y; /* (N, D) f4; (N) i8 */
    struct sotto_array heldout_x, heldout_y;
    struct sotto_array shadow_x, shadow_y; /* no data without a shadow part */
    struct run_slot *slots; /* (slot_count): rows of protect that a plan may hold (run_protect.h) */
    size_t slot_count;
};

/** Start of a stage key: what every stage depends on. */
struct json *run_key(const struct run *r);
/** Everything that decides a case's trained head. */
struct json *run_head_key(const struct run *r, size_t index);
/** The recipe of a case as public calls take it: its zeros are marked (sotto/base.h). */
struct sotto_head_recipe run_stated_recipe(const struct run_case *c);
/** Rows of the private part that belong to a case: [*first, *first + records). */
size_t run_case_first(const struct run *r, size_t index);
const float *run_case_x(const struct run *r, size_t index);
const int64_t *run_case_y(const struct run *r, size_t index);
void run_model_name(struct run_model *m, const struct run *r, size_t index, long protection);
/** "models/NAME.safetensors" for trained heads, "protected/NAME.safetensors" for released ones. */
void run_model_file(char out[RUN_PATH], const struct run_model *m);

/** True for a model that was trained privately, on its own. */
bool run_is_trained(const struct run *r, const struct run_model *m);

sotto_status run_stage_split(struct run *r);
sotto_status run_stage_pretrain(struct run *r);
/** What was computed by the experiment's encoder was shaped by its public part (sotto_encoder_shape()). */
sotto_status run_encoder_shape(struct sotto_provenance *p, const struct run *r);
sotto_status run_stage_embed(struct run *r);
/** The pre-trained encoder's file is still the one that pre-training left: no stage may touch it. */
sotto_status run_check_encoder(const struct run *r);
sotto_status run_stage_encoder(struct run *r);
sotto_status run_stage_head(struct run *r, size_t index);
/** The head of a case that fine-tunes the encoder too, with that encoder and its embeddings. */
sotto_status run_stage_fine_tune(struct run *r, size_t index);
/** The fine-tuned encoder's embeddings of the case's records and of the held-out part. */
sotto_status run_load_tuned(struct sotto_array *member, struct sotto_array *nonmember, const struct run *r,
                            size_t index);
sotto_status run_stage_sensitivity(struct run *r, size_t index);
/** Shadow models of a case, if it has any. */
sotto_status run_stage_shadow(struct run *r, size_t index);
sotto_status run_stage_protect(struct run *r, const struct run_model *m);
sotto_status run_stage_measure(struct run *r, const struct run_model *m);
/** Every mechanism of the case's sweep at every target and scale; nothing to do without a sweep. */
sotto_status run_stage_sweep(struct run *r, size_t index);
enum { RUN_NORMS = 2 }; /* entrywise, and the ones the paper seems to have used */
/** The stage of one mechanism of a sweep with one kind of norms. */
void run_sweep_name(char out[RUN_NAME + 80], const struct run_case *c, size_t mechanism, size_t norms);
/** EUSAGE: a case releases something, and the set has no identity, so no ledger to charge, or its classes are not public. */
sotto_status run_check_identity(const struct run *r);
/** Who stated the number of classes, for certificates. */
const char *run_classes_by(const struct run *r);
/** The records of a case, and the ledger that is charged for them. */
struct run_source {
    struct sotto_source_records records;
    unsigned char (*digests)[SOTTO_DIGEST]; /* owned */
    char ledger[RUN_PATH];                  /* "": the data set's own */
};
sotto_status run_source_make(struct run_source *out, struct run *r, size_t index);
void run_source_clear(struct run_source *s);
/** ledger.jsonl of the run folder: the ledger of a public set is there; a private one's is copied. */
sotto_status run_copy_ledgers(struct run *r);
/** The report's "training" member. */
sotto_status run_training_curves(struct json **out, const struct run *r);
/** report.json, report.html, metrics.csv. */
sotto_status run_report(struct run *r);

/** Notes a case's shadow models, of which nothing is known yet. */
void run_plan_shadows(struct run *r, size_t index);
/** What a walk that looks has seen (folder.survey), as one JSON object and as lines. */
sotto_status run_plan_encode(char **json, char **text, const struct run *r);

/** Result of a finished stage, or NULL. */
const struct json *run_result(const struct run *r, const char *stage);

#endif
