/* run_folder.h - a run folder and its finished stages.
 *
 * run.json remembers for every stage: its hash, the SHA-256 of each output file, its result, how long it
 * took. A stage is reused when its hash is the same and its files are unchanged; everything else is done
 * again. */
#ifndef RUN_RUN_FOLDER_RUN_FOLDER_H
#define RUN_RUN_FOLDER_RUN_FOLDER_H

#include "base/file.h"
#include "base/sha256.h"
#include "io/json/json.h"
#include "par/claim.h"

#include <stdbool.h>

enum { RUN_PATH = 1024, RUN_FORMAT = 1 /* part of every stage hash: bump when a stage's meaning changes */ };

struct run_folder {
    char path[RUN_PATH];
    struct json *document; /* run.json */
    int lock;              /* descriptor that holds the folder's lock; -1: a worker's */
    bool worker;           /* one of several processes that leave run.json and the report to a merging one */
    bool looks;            /* for a plan: a worker that does no stage */
    struct json *survey;   /* of one that looks: an object for each stage that it met */
    struct claims *claims; /* NULL until a stage is shared */
    size_t busy;           /* stages that other processes work on, or that lack what those make */
    const struct sotto_context *ctx; /* asked at the start of each stage */
};

/** Makes or continues the folder; ctx must outlive it. `document` starts with what run.json already holds about stages.
 *  ECREATE, EFORMAT (a run.json that is not ours), EAGAIN (another process works in it). */
sotto_status run_folder_open(struct run_folder *f, const char *path, const struct sotto_context *ctx);
/** The same for a worker, next to any number of others and to one that merges: makes the folder of tasks, where workers leave what
 *  run.json says of the stages that they finished (tasks/HASH.json) and where shadow models are kept. */
sotto_status run_folder_join(struct run_folder *f, const char *path, const struct sotto_context *ctx);
/** Is there a folder of tasks? Out: its path. */
bool run_folder_tasks(char out[RUN_PATH], const struct run_folder *f);
/** What killed workers left behind their results goes, for the merging process at its end. */
void run_folder_tidy(const struct run_folder *f);
void run_folder_close(struct run_folder *f);
/** "<folder>/<name>", with sub-folders made. */
sotto_status run_folder_path(char out[RUN_PATH], const struct run_folder *f, const char *name);
/** Writes run.json. */
sotto_status run_folder_save(struct run_folder *f);

struct run_stage {
    const char *name;
    char hash[SHA256_HEX];
    double started;
    const struct json *result; /* of the finished stage when it is reused; borrowed */
    bool reused;
    bool busy; /* another process works on it: nothing to do now */
};
/** Computes the hash of `key` (consumed) and looks for a finished stage with it. ESTOPPED. */
sotto_status run_stage_begin(struct run_stage *stage, struct run_folder *f, const char *name,
                             struct json *key);
/** The same for a stage that a worker may do, which neither draws noise for a release nor writes a ledger. Where there are
 *  workers, the stage is this process's only with a claim; while another one has it, the call waits, or a worker that does not
 *  `wait` gets stage->busy. */
sotto_status run_stage_share(struct run_stage *stage, struct run_folder *f, const char *name,
                             struct json *key, bool wait);
/** Only looks: reused, also if a worker finished it, or not. */
sotto_status run_stage_find(struct run_stage *stage, struct run_folder *f, const char *name,
                            struct json *key);
/** Records outputs (file names inside the folder, NULL-terminated) and result (consumed), and saves
 * run.json. It does not ask whether to go on: the work is done, and may have been charged to a ledger. */
sotto_status run_stage_end(struct run_stage *stage, struct run_folder *f, const char *const *outputs,
                           struct json *result);
/** Hash of a finished stage, to go into the keys of the stages that read its outputs. */
const char *run_stage_hash(const struct run_folder *f, const char *name);

#endif
