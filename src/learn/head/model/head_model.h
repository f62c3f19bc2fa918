/* head_model.h - inside a head: shapes, the parameter block, and what is known about where it came from. */
#ifndef HEAD_MODEL_HEAD_MODEL_H
#define HEAD_MODEL_HEAD_MODEL_H

#include "base/memory.h"
#include "base/sha256.h"
#include "sotto/head.h"
#include "sotto/lab/release.h"
#include "sotto/private/io.h"

enum {
    HEAD_MAX_LAYERS = SOTTO_MAX_HIDDEN + 1,
    HEAD_RECIPE_TEXT = 1024,
    HEAD_BALANCE_TEXT = 8 * SOTTO_MAX_BALANCE + 16
};

struct sotto_head {
    size_t layers;
    size_t width[HEAD_MAX_LAYERS + 1]; /* inputs, hidden ..., classes */
    float *parameters;                 /* file order: weight (out, in), bias (out), next layer ... */
    size_t count;
    bool has_recipe;
    struct sotto_head_recipe recipe,
        stated; /* resolved, and as a caller gets it; trainer points to static text */
    char recipe_hash[SHA256_HEX], data_sha256[SHA256_HEX], encoder[SHA256_HEX];
    char isa[16];
    char *encoding;      /* of the table that trained it, as JSON; NULL: none, or not to be released */
    size_t records;      /* 0: unknown */
    char classes_by[64]; /* where the classes come from; "": unknown */
    bool no_statement;   /* private records trained the encoder (io/provenance/statement.h) */
    struct sotto_released_inputs released; /* what trained it, where a certificate says so */
    bool bound; /* trained here, or loaded with a checksum over what was: see head_checksum() */
};

/** Records and labels, borrowed. */
enum { HEAD_NOTHING = -1 }; /* the label of a record that counts as nothing */
struct head_data {
    const float *x;   /* (n, d) */
    const int64_t *y; /* (n), 0 .. classes - 1; behind head_data_silence() also HEAD_NOTHING */
    size_t n, d, classes;
};

/** Some of a table's records, borrowed. */
struct head_part {
    const struct head_data *data;
    const size_t *record; /* (n): their numbers in the table; NULL: all of them, in order */
    size_t n;
    const uint64_t *bits; /* the whole table's features as bits (head_bits.h), or NULL */
};
static inline struct head_part head_part_all(const struct head_data *data)
{
    return (struct head_part){.data = data, .n = data->n};
}
static inline size_t head_part_record(const struct head_part *p, size_t i)
{
    return p->record ? p->record[i] : i;
}

/** Zeroed parameters; EINVAL for impossible widths, ENOMEM. */
sotto_status head_create(struct sotto_head **out, size_t layers, const size_t *width);
/** Offset of layer l's weights in the parameter block; the bias follows after width[l] * width[l + 1]
 * numbers. */
size_t head_offset(const struct sotto_head *h, size_t l);

/** SHA-256 over recipe, records, data, encoder and weights. What is written into the file at training shows
 * whether they still belong together. No signature: it can be made anew with them. */
void head_checksum(char out[SHA256_HEX], const struct sotto_head *h);

/** What is said of a head's inputs. Start with {0}. */
struct head_origin {
    char encoder[SHA256_HEX]; /* "": none is known */
    bool no_statement;        /* private records trained it */
    char *encoding;           /* owned; NULL: none */
    struct sotto_released_inputs released;
};
/** Of a head of that shape, before there is one. Clear also after a failure. Errors of sotto_head_note_files(). */
sotto_status head_origin_read(struct head_origin *out, const struct sotto_head_files *files, size_t inputs,
                              size_t classes, const struct sotto_context *ctx);
/** The head takes over what *origin owns. */
void head_origin_note(struct sotto_head *h, struct head_origin *origin);
void head_origin_clear(struct head_origin *origin);

/** The checks behind sotto_head_load(); `path` names the file in errors. Converts tensors in place. */
sotto_status head_from_tensors(struct sotto_head **out, struct sotto_tensors *t, const char *path);

/** A caller's recipe in full: *given's (NULL: {0}) defaults are filled in, also those that depend on the trainer. EINVAL. */
sotto_status head_recipe_resolve(struct sotto_head_recipe *out, const struct sotto_head_recipe *given);
/** The resolved recipe becomes the head's. */
void head_take_recipe(struct sotto_head *h, const struct sotto_head_recipe *r);
/** r->lr, or what 0 stands for. */
double head_recipe_rate(const struct sotto_head_recipe *r);
/** Checks a resolved recipe. EINVAL names the member; on success r->trainer points to static text, defaults
 * that depend on other members are filled in, and members that the trainer does not use are 0. */
sotto_status head_recipe_check(struct sotto_head_recipe *r);
/** Weights of classes, where the recipe has some, are one for each class. EINVAL. */
sotto_status head_recipe_fits(const struct sotto_head_recipe *r, size_t classes);
/** (classes) factors of the losses of a class, of mean 1. */
void head_recipe_balance(float *out, const struct sotto_head_recipe *r, size_t classes);
/** Canonical JSON of the recipe for d inputs and K classes: what the recipe hash is taken of. */
void head_recipe_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                      size_t classes);
/** The inverse of head_recipe_text(); EFORMAT texts start with `where`. */
sotto_status head_recipe_parse(struct sotto_head_recipe *out, size_t *inputs, size_t *classes,
                               const char *text, const char *where);
/** head_recipe_check(), and EINVAL for a trainer that draws noise: for all that trains again and again. */
sotto_status head_recipe_check_open(struct sotto_head_recipe *r);
/** The trainer on second moments, or NULL. */
const struct moment_trainer *head_recipe_moments(const struct sotto_head_recipe *r);
/** Is it a trainer that draws noise? */
bool head_recipe_private(const struct sotto_head_recipe *r);
/** Is it a trainer with a proved sensitivity? */
bool head_recipe_convex(const struct sotto_head_recipe *r);

/** One line for everything that cannot be trained on: ranges, NaN, too few records, one class, constant
 * features. The last two are only warned about when `convex`: there a refusal must not depend on how the
 * records relate. */
sotto_status head_data_check(const struct head_data *data, bool convex, const struct sotto_context *ctx);
/** For trainers which must tell nothing of their records: checks sizes alone. A record without a usable label
 * (outside of 0 .. classes - 1) or with a feature that is not finite counts as nothing: data->y becomes
 * *labels, where its label is HEAD_NOTHING. Whether a record counts depends on that record alone.
 * base_free(*labels). EINVAL, ENOMEM. */
sotto_status head_data_silence(int64_t **labels, struct head_data *data);
/** The rule: x (d) is finite, and the label one of 0 .. classes - 1. x NULL: the label alone decides. */
bool head_record_counts(const float *x, size_t d, int64_t label, size_t classes);
/** out (d) = record scaled to norm at most `clip`: never above it, not even by rounding. out may be
 * record. */
void head_record_clip(float *out, const float *record, size_t d, double clip);
/** head_data_check() for part of a table that has been checked. */
sotto_status head_part_check(const struct head_part *part, const struct sotto_context *ctx);
/** sotto_head_accuracy() on part of a table. */
sotto_status head_part_accuracy(double *out, const struct sotto_head *h, const struct head_part *part,
                                const struct sotto_context *ctx);
/** Fills in recipe, hashes and ISA level of a trained head. */
void head_describe(struct sotto_head *h, const struct head_data *data, const struct sotto_head_recipe *r,
                   const char *isa);
void head_recipe_hash(char out[SHA256_HEX], const struct sotto_head_recipe *r, size_t inputs, size_t classes);
void head_data_sha256(char out[SHA256_HEX], const struct head_data *data);
/** In:      sha256  64 lower-case hexadecimal digits, or ""
 *  Returns: EINVAL  another text */
sotto_status head_set_encoder(struct sotto_head *h, const char *sha256);
/** Notes it.
 *
 *  In:      json  is released with the head, so it must not depend on private rows (encoding_beside())
 *  Returns: ENOMEM */
sotto_status head_set_encoding(struct sotto_head *h, const char *json);

#endif
