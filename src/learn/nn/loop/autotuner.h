/* autotuner.h - what dtype and backend `auto` mean for one training (rules: sotto/lab/autotune.h).
 *
 * autotune() is called once, before a recipe, a stage hash or a cache key is made: those hold the names that
 * it gives, never "auto". Its answer is plain data without pointers, so where several processes train one
 * network the first resolves and sends the struct to the others; they must not measure themselves.
 *
 * Forward passes alone (embeddings, answers) are never measured: they take nn_backend_find("auto"), f32, a
 * fixed rule of the machine, so that their bits do not depend on a time. */
#ifndef NN_LOOP_AUTOTUNER_H
#define NN_LOOP_AUTOTUNER_H

#include "nn/nn.h"
#include "sotto/lab/autotune.h"

/* A run of fewer steps does not win back what measuring costs (9 steps, for a gain of 10 % or more), nor does
 * one of fewer multiplications in its forward passes (about a second on one core). */
enum { AUTOTUNE_STEPS = 100 };
#define AUTOTUNE_WORK 1e10

struct autotune_candidate {
    const char *backend;
    enum nn_dtype dtype;
};
/** The time in seconds; tests put another one in its place. */
struct autotune_clock {
    double (*seconds)(void *state, const struct autotune_candidate *running);
    void *state;
};
struct autotune_request {
    const char *dtype, *backend; /* as asked: a name, or "auto" (also NULL) */
    const struct nn_model_config *model;
    size_t batch, views; /* of the plan, as in nn_plan_config */
    size_t records;      /* of a step, for the rates */
    uint64_t steps;      /* of the whole run */
    int threads;
    const char *checkpoint;             /* of this run; NULL: none */
    const struct autotune_clock *clock; /* NULL: the real one */
};
/** Leaves the pool at request->threads. ENOTSUP, EINVAL: what was asked for by name is not there or unknown;
 * ESTOPPED: while it measured. A candidate without a possible plan is left out; a cache that is broken or
 * cannot be written costs the time of measuring. */
sotto_status autotune(struct sotto_autotune *out, const struct autotune_request *request,
                      const struct sotto_context *ctx);
/** Backend and dtype of an answer; static names. */
const struct nn_backend *autotune_backend(const struct sotto_autotune *a);
enum nn_dtype autotune_dtype(const struct sotto_autotune *a);

/* ---- what is remembered: autotuner_cache.c ---- */

/** Candidates, from fine to coarse rounding, and their seconds for a step. */
struct autotune_times {
    struct autotune_candidate candidate[SOTTO_AUTOTUNE_CANDIDATES];
    double seconds[SOTTO_AUTOTUNE_CANDIDATES];
    size_t count;
};
/** Takes from the file of this request which of times->candidate were measured, and their seconds. false, and
 * *times as it was: no file, or none that is whole and of this request. */
bool autotune_recall(struct autotune_times *times, const struct autotune_request *request);
/** Writes that file, if it can. */
void autotune_remember(const struct autotune_times *times, const struct autotune_request *request);
/** Its path. ENOENT: no folder for caches is known. */
sotto_status autotune_path(char *path, size_t capacity, const struct autotune_request *request);

#endif
