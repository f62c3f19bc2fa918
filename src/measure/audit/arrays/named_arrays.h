/* named_arrays.h - arrays that are given by the names of their options: each gets the type and the shape of its row, and sizes that rows
 * share are the same in all of them. */
#ifndef AUDIT_ARRAYS_NAMED_ARRAYS_H
#define AUDIT_ARRAYS_NAMED_ARRAYS_H

#include "base/memory.h"
#include "sotto/private/arrays.h"
#include "sotto/private/io.h"

#include <stdbool.h>

enum { ARRAYS_MOST = 64, ARRAYS_NAME = 256 };

struct named_array {
    const struct sotto_option *row;
    const char *file; /* borrowed; NULL: in memory */
    struct sotto_array array;
    bool lent, taken; /* its data are the caller's; it has its type and shape */
};
/* A size that rows share: "n" of the shapes "n,classes" and "n". Tables may have scopes of their own. */
struct named_size {
    const char *axis; /* the text of a shape, from here on */
    size_t length, n;
    int scope;
    const struct named_array *by;
};
struct sotto_arrays {
    struct named_array held[ARRAYS_MOST];
    struct named_size sizes[ARRAYS_MOST];
    size_t count, size_count;
    struct sotto_rows *rows[4]; /* matrices that stay in their files */
    struct sotto_audit_input input;
    struct sotto_generative_input generative;
    struct sotto_token_input tokens;
    struct sotto_attribute_input attribute;
};

/* NULL: it was not given. `name` may name several: "ref-logits|ref-probabilities", of which the first that was given is meant. */
struct named_array *arrays_find(struct sotto_arrays *a, const char *names);
/* Whether a name is one of "a|b". */
bool arrays_name_is_of(const char *name, const char *names);
/* Data that may be changed: a copy of what is lent. */
sotto_status arrays_own(struct named_array *held);
/* For errors: the file, else the option as a caller of C or Python writes it. */
const char *arrays_who(char out[ARRAYS_NAME], const struct named_array *held);
/* Reads it, unless that was done, and gives it its type and shape; sizes that are known must be the same. EINVAL. */
sotto_status arrays_take(struct sotto_arrays *a, struct named_array *held, int scope,
                         const struct sotto_context *ctx);
/* The same for what is given of a table, and stores it in members of `into`, but for names that are `apart` ("a|b"). */
sotto_status arrays_take_table(void *into, struct sotto_arrays *a, const struct sotto_option *table,
                               const char *apart, int scope, const struct sotto_context *ctx);
/* A size that was given; 0: none was. */
size_t arrays_size(const struct sotto_arrays *a, const char *axis, int scope);
/* Says a size that follows from others ("n + m"), or from values. */
sotto_status arrays_say(struct sotto_arrays *a, const char *axis, int scope, size_t n, const char *why);

/* What arrays need of each other; of one rule. */
enum arrays_rule {
    ARRAYS_TOGETHER, /* all or none */
    ARRAYS_EITHER,   /* not both */
    ARRAYS_NEED      /* the first needs one of the others: "ref-views: member-logits|member-probabilities" */
};
struct arrays_need {
    enum arrays_rule rule;
    const char *names; /* "a|b|c" */
    const char *of;    /* ARRAYS_NEED: one of these; ARRAYS_EITHER: any of `names` and any of these */
};
/* EUSAGE for the first rule that is broken; rules end with names NULL. `call`: "audit". */
sotto_status arrays_check_needs(struct sotto_arrays *a, const struct arrays_need *rules, const char *call);

#endif
