/* audit_fields.h - the one description of "sotto.audit/1": which member of which struct stands under which key, in the
 * order of the document. audit_json.c is loops over it. */
#ifndef AUDIT_AUDIT_FIELDS_H
#define AUDIT_AUDIT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum field_kind {
    FIELD_END,
    FIELD_TEXT,    /* const char * */
    FIELD_REAL,    /* double; not finite: null */
    FIELD_COUNT,   /* size_t */
    FIELD_SEED,    /* uint64_t */
    FIELD_ROW,     /* int64_t; below 0: null */
    FIELD_FLAG,    /* int */
    FIELD_LEVEL,   /* enum sotto_check_level, by name */
    FIELD_PART,    /* a struct; an object */
    FIELD_MERGED,  /* a struct whose fields stand in the object of the one that holds it */
    FIELD_POINTER, /* to a struct, or NULL: an object */
    FIELD_MERGED_POINTER,
    FIELD_LIST, /* structs and their number: an array */
    FIELD_MAP, /* structs and their number: an object. inner[0]: the key, a text or a real; inner[1]: the value */
    FIELD_TEXTS,  /* const char ** and their number */
    FIELD_COUNTS, /* size_t * and their number */
    FIELD_POINTS  /* struct sotto_audit_point * and their number: pairs */
};
enum field_flags {
    FIELD_OPTIONAL = 1,   /* left out, not null, where there is none: NULL, 0 or NAN */
    FIELD_NULLABLE = 2,   /* a part whose first real is NAN is null */
    FIELD_REQUIRED = 4,   /* the decoder refuses a document without it */
    FIELD_INFINITE = 8,   /* a threshold: null is INFINITY */
    FIELD_SAME_COUNT = 16 /* the number of elements is that of an earlier field */
};
struct field {
    const char *key;
    enum field_kind kind;
    unsigned flags;
    size_t at, count_at, size; /* of the member, of the number of its elements, of one of those */
    const struct field *inner; /* ended by FIELD_END */
};
extern const struct field audit_result_fields[];
extern const char *const audit_level_names[]; /* by enum sotto_check_level; ended by NULL */

/* A part is absent if its first real is NAN. */
bool audit_part_is_absent(const struct field *table, const void *part);

#endif
