/* head_trainer.h - the ways to train a head: one const record per trainer, one row in head_trainer_list.h. */
#ifndef HEAD_MODEL_HEAD_TRAINER_H
#define HEAD_MODEL_HEAD_TRAINER_H

#include "head/model/head_model.h"
#include "options/option_tables.h"
#include "sotto/certificate.h"

struct json;
struct moment_trainer;

struct planned_event;
struct head_trainer {
    const char *name;
    const char *title, *source;           /* trainers on second moments only */
    bool convex;                          /* its sensitivity is proved (docs/derivations/head.md) */
    const struct moment_trainer *moments; /* or NULL */
    bool once;     /* its noise is no sequence of steps, though not on second moments */
    bool balances; /* takes weights of classes */

    /** Checks the members that it uses, fills in their defaults and sets the others to 0. EINVAL. */
    sotto_status (*check)(struct sotto_head_recipe *r);
    /** Canonical JSON: what the recipe hash is taken of. */
    void (*text)(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                 size_t classes);
    /** The inverse, but for trainer, inputs and classes. EFORMAT texts start with `name`. */
    sotto_status (*parse)(struct sotto_head_recipe *r, const struct json *doc, const char *name);
    /** L2 norm that records are scaled to in training and in queries; 0: they are not. */
    double (*radius)(const struct sotto_head_recipe *r);
    /** Fills in h->parameters; *isa is static text. NULL: a trainer that draws noise. */
    sotto_status (*train)(struct sotto_head *h, const char **isa, const struct head_data *data,
                          const struct sotto_head_recipe *r, const struct sotto_context *ctx);
    /** sotto_head_train_private(). NULL: a trainer that draws no noise. */
    sotto_status (*train_private)(struct sotto_head **out, struct sotto_certificate **certificate,
                                  const struct head_data *data, const struct sotto_head_recipe *recipe,
                                  const struct sotto_head_privacy *privacy, const struct sotto_context *ctx);
    /** What train_private() charges, as an event of a plan. Of the data only n, d and classes are read. */
    sotto_status (*as_event)(struct planned_event *out, const struct head_data *data,
                             const struct sotto_head_recipe *recipe, const struct sotto_head_privacy *privacy,
                             const struct sotto_context *ctx);
};
/** sotto_head_train_private() up to its charge, on n records of d features. Its errors. */
sotto_status head_private_as_event(struct planned_event *out, size_t n, size_t d, size_t classes,
                                   const struct sotto_head_recipe *recipe,
                                   const struct sotto_head_privacy *privacy, const struct sotto_context *ctx);

/** NULL: no trainer has that name. */
const struct head_trainer *head_trainer_find(const char *name);
/** NULL behind the last one. */
const struct head_trainer *head_trainer_at(size_t i);
/** The trainer of a checked recipe. */
const struct head_trainer *head_trainer_of(const struct sotto_head_recipe *r);
/** EINVAL: the trainer of a resolved recipe draws no noise. */
sotto_status head_trainer_require_private(const struct sotto_head_recipe *r);

/* Parts of a recipe that trainers share. */
/** Steps on all records, unless told. */
enum { HEAD_FULL_STEPS = 500 };
/** Members ("clip|bias") against the ranges of options_head_recipe. */
sotto_status head_recipe_check_ranges(const struct sotto_head_recipe *r, const char *members);
sotto_status head_recipe_check_epochs(const struct sotto_head_recipe *r);
/** epochs, batch, seed, hidden widths and learning rate. */
sotto_status head_recipe_check_batches(struct sotto_head_recipe *r);
sotto_status head_recipe_parse_batches(struct sotto_head_recipe *r, const struct json *doc, const char *name);
/** "balance":[1,4], of a recipe; nothing where it has none. */
void head_recipe_text_balance(char out[HEAD_BALANCE_TEXT], const struct sotto_head_recipe *r);
sotto_status head_recipe_parse_balance(struct sotto_head_recipe *r, const struct json *doc, const char *name);
/** Sets what only trainers with noise use to 0. */
void head_recipe_clear_noise(struct sotto_head_recipe *r);
/** The text of trainers on batches; `noise`: members of a trainer that draws noise, or "". */
void head_recipe_text_batches(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                              size_t classes, const char *noise);
/** Shortest decimal that reads back as the same double. */
void head_recipe_shortest(char out[32], double x);
/** One line about the i-th trainer on second moments. Returns: NULL after the last. */
const char *head_moment_title(size_t i);
/** Name of the i-th trainer on second moments. Returns: NULL after the last. */
const char *head_moment_trainer(size_t i);

#endif
