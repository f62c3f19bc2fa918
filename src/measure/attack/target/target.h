/* target.h - a model that is reached by queries; one struct of this kind per way of reaching one.
 *
 * The maker of a target fills in inputs, classes, query and close, and keeps what it needs behind the struct
 * (this one is its first member). Attacks ask through target_query(), which counts, and checks
 * answers. */
#ifndef ATTACK_TARGET_TARGET_H
#define ATTACK_TARGET_TARGET_H

#include "base/memory.h"
#include "sotto/lab/query.h"
#include "sotto/lab/train.h"

struct sotto_target {
    const char *name;                /* for errors: a file or a command; owned by the maker of the target */
    size_t inputs, classes;          /* of a row and of an answer */
    uint64_t used, budget;           /* rows; budget UINT64_MAX: no limit */
    const struct sotto_context *ctx; /* of the call that queries, asked between blocks of rows; or NULL */
    size_t repeats;                  /* answers averaged for every row, all counted; 0 and 1: one */
    uint64_t cover;                  /* of `used`: rows that are sent only to hide the others */
    size_t clients;                  /* names under which rows are sent; 0: none */
    const struct sotto_head *head;   /* weights, for white-box attacks; NULL: none to see */
    const struct sotto_network *network; /* likewise; at most one of the two */
    /* posteriors (n, classes) of rows (n, inputs); both were checked to be there, rows to be finite. */
    sotto_status (*query)(struct sotto_target *t, float *posteriors, const float *rows, size_t n);
    /* The noise that the model adds to its next answers is that of this seed; NULL: it adds none, or draws its own. */
    void (*reseed)(struct sotto_target *t, uint64_t seed);
    void (*close)(struct sotto_target *t); /* frees the target too */
};

/* What every maker starts from: no budget, nothing used. */
struct sotto_target target_make(const char *name, size_t inputs, size_t classes);
/* label (n): the largest posterior's class, ties to the lower one. Counts like a query. */
sotto_status target_labels(struct sotto_target *t, int64_t *label, const float *rows, size_t n);

/* EINVAL names the first row of `what` that is not finite, (n, d), or has no label among the classes. */
sotto_status target_check_records(const struct sotto_records *r, size_t d, size_t classes, const char *what);

/* target_command.c: a command the answers of which are passed on as they are. No row is asked beforehand, and the
 * number of classes stays 0: for target_command_answer() only. */
sotto_status target_command_open(struct sotto_target **out, const char *command, size_t inputs,
                                 const struct sotto_command_options *options,
                                 const struct sotto_context *ctx);
/* One frame. *answer: (n, classes) of a float type, or (n) whole numbers; clear it. */
sotto_status target_command_answer(struct sotto_array *answer, struct sotto_target *t, const float *rows,
                                   size_t n);

enum { TARGET_CLIENT = 65 };
/* Of a command: frames from now on follow a line "client NAME", for a command that reads such lines (one that watches queries). */
bool target_is_command(const struct sotto_target *t);
void target_command_client(struct sotto_target *t, const char *name);
/** Returns: the weights, for attacks that look inside; NULL if the target only answers. Borrowed. */
const struct sotto_head *target_head(const struct sotto_target *t);
/** Returns: the same of a whole network. */
const struct sotto_network *target_held_network(const struct sotto_target *t);
/** In:  path  a head or MLP, of sotto or PyTorch
 *  Out: *out  free with sotto_target_close()
 *  Returns: those of sotto_head_load() */
sotto_status target_open_head(struct sotto_target **out, const char *path);
/** In:  rows        (n, inputs)
 *  Out: posteriors  (n, classes)
 *
 *  Returns: EBUDGET  more rows than the budget still allows; no row is asked
 *           EINVAL   a row that is not finite
 *           EFORMAT  an answer that is not finite, is negative, or does not sum to 1 within 1e-3
 *           those of the model */
sotto_status target_query(struct sotto_target *t, float *posteriors, const float *rows, size_t n);
/** Returns: rows asked so far. */
uint64_t target_used(const struct sotto_target *t);

#endif
