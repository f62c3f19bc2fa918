/* fields.h - one description of the members of a struct: which of them stands under which key of a document, in the order of the document.
 * Writing and reading are loops over it.
 *
 *     #define T struct sotto_estimate
 *     static const struct field estimate[] = {FIELD_REAL_OF("lower", T, lower), FIELD_REAL_OF("upper", T, upper), FIELDS_END};
 *     #undef T
 *
 *     struct json *j = fields_object(estimate, &e);
 *     TRY(fields_get(&e, estimate, j, "report.json", &memory));   "report.json: 'lower' is not a number" */
#ifndef IO_FIELDS_FIELDS_H
#define IO_FIELDS_FIELDS_H

#include "io/fields/fields_memory.h"
#include "io/json/json.h"

#include <stdbool.h>
#include <stddef.h>

enum field_kind {
    FIELD_END,
    FIELD_TEXT,     /* const char * */
    FIELD_CHARS,    /* char[size] */
    FIELD_CONSTANT, /* no member: the text `names`[0] */
    FIELD_REAL,     /* double; not finite: null */
    FIELD_COUNT,    /* size_t */
    FIELD_SEED,     /* uint64_t */
    FIELD_ROW,      /* int64_t; below 0: null */
    FIELD_WHOLE,    /* int */
    FIELD_FLAG,     /* int: 0 or not */
    FIELD_BOOLEAN,  /* bool */
    FIELD_CHOICE,   /* an enum, by `names` from 0 */
    FIELD_PART,     /* a struct; an object */
    FIELD_MERGED,   /* a struct whose fields stand in the object of the one that holds it */
    FIELD_POINTER,  /* to a struct, or NULL: an object */
    FIELD_MERGED_POINTER,
    FIELD_LIST, /* structs and their number: an array */
    FIELD_MAP, /* structs and their number: an object. inner[0]: the key, a text or a real; inner[1]: the value */
    FIELD_TEXTS,  /* const char ** and their number */
    FIELD_COUNTS, /* size_t * and their number */
    FIELD_PAIRS   /* double (*)[2] and their number */
};
enum field_flags {
    FIELD_OPTIONAL = 1,   /* left out, not null, where there is none: NULL, "", 0 or NAN */
    FIELD_NULLABLE = 2,   /* null where there is none; a part: where its first real is NAN */
    FIELD_REQUIRED = 4,   /* the reader refuses a document without it */
    FIELD_INFINITE = 8,   /* a threshold: null is INFINITY */
    FIELD_SAME_COUNT = 16 /* the number of elements is that of an earlier field */
};
struct field {
    const char *key;
    enum field_kind kind;
    unsigned flags;
    size_t at, count_at, size; /* of the member, of the number of its elements, of one of those */
    const struct field *inner; /* ended by FIELD_END */
    const char *const *names;  /* ended by NULL */
};

#define FIELDS_END                                                                                           \
    {                                                                                                        \
        .kind = FIELD_END                                                                                    \
    }
#define FIELD_OF(k, of_kind, of_flags, type, member)                                                         \
    {                                                                                                        \
        .key = k, .kind = of_kind, .flags = of_flags, .at = offsetof(type, member),                          \
        .size = sizeof((type *)NULL)->member                                                                 \
    }
#define FIELD_TEXT_OF(k, type, member) FIELD_OF(k, FIELD_TEXT, 0, type, member)
#define FIELD_REAL_OF(k, type, member) FIELD_OF(k, FIELD_REAL, 0, type, member)
#define FIELD_COUNT_OF(k, type, member) FIELD_OF(k, FIELD_COUNT, 0, type, member)
#define FIELD_FLAG_OF(k, type, member) FIELD_OF(k, FIELD_FLAG, 0, type, member)
#define FIELD_CONSTANT_OF(k, text)                                                                           \
    {                                                                                                        \
        .key = k, .kind = FIELD_CONSTANT, .names = (const char *const[])                                     \
        {                                                                                                    \
            text, NULL                                                                                       \
        }                                                                                                    \
    }
#define FIELD_CHOICE_OF(k, of_flags, type, member, of_names)                                                 \
    {                                                                                                        \
        .key = k, .kind = FIELD_CHOICE, .flags = of_flags, .at = offsetof(type, member), .names = of_names   \
    }
#define FIELD_PART_OF(k, of_flags, type, member, table)                                                      \
    {                                                                                                        \
        .key = k, .kind = FIELD_PART, .flags = of_flags, .at = offsetof(type, member), .inner = table        \
    }
/* An object that no struct of its own stands for. */
#define FIELD_GROUP_OF(k, table)                                                                             \
    {                                                                                                        \
        .key = k, .kind = FIELD_PART, .inner = table                                                         \
    }
#define FIELD_MERGED_OF(type, member, table)                                                                 \
    {                                                                                                        \
        .kind = FIELD_MERGED, .at = offsetof(type, member), .inner = table                                   \
    }
#define FIELD_POINTER_OF(k, of_flags, type, member, table)                                                   \
    {                                                                                                        \
        .key = k, .kind = FIELD_POINTER, .flags = of_flags, .at = offsetof(type, member),                    \
        .size = sizeof *((type *)NULL)->member, .inner = table                                               \
    }
#define FIELD_MERGED_POINTER_OF(type, member, table)                                                         \
    {                                                                                                        \
        .kind = FIELD_MERGED_POINTER, .flags = FIELD_OPTIONAL, .at = offsetof(type, member),                 \
        .size = sizeof *((type *)NULL)->member, .inner = table                                               \
    }
#define FIELD_MANY_OF(k, of_kind, of_flags, type, member, count, table)                                      \
    {                                                                                                        \
        .key = k, .kind = of_kind, .flags = of_flags, .at = offsetof(type, member),                          \
        .count_at = offsetof(type, count), .size = sizeof *((type *)NULL)->member, .inner = table            \
    }

/* A part is absent if its first real is NAN, or its first list is empty. */
bool fields_part_is_absent(const struct field *table, const void *part);

/* The struct as an object; NULL: out of memory. */
struct json *fields_object(const struct field *table, const void *part);
/* Puts its members behind those that are there. */
void fields_put(struct json **object, const struct field *table, const void *part);
/* The struct's document as text, or as a file; both ENOMEM, and EIO. */
sotto_status fields_dump(char **text, const struct field *table, const void *part, int style);
sotto_status fields_write(const char *path, const struct field *table, const void *part);

/* Sets the members of a struct. The text may come from anywhere, so every kind, number and key is checked.
 *
 *  In:      name     of the document, for errors
 *  Out:     part     texts and elements belong to *memory
 *  Returns: EFORMAT  "<name>: 'epsilon.lower' is not a number"
 *           ENOMEM */
sotto_status fields_get(void *part, const struct field *table, const struct json *object, const char *name,
                        struct fields_memory *memory);

#endif
