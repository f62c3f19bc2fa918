/* json_quick.h - a document that is only read, in one block of memory instead of one for every value. Seen by src/core/io/json alone.
 *
 * It reads what json_dump() writes with JSON_LINE, and less than JSON: no blanks, no escaped characters, whole numbers of at most 18
 * digits. All else it leaves to jansson, as everything that is wrong: so there is one judge, and one text, of every error. */
#ifndef IO_JSON_JSON_QUICK_H
#define IO_JSON_JSON_QUICK_H

#include "io/json/json.h"

#include <jansson.h>

enum { QUICK = 64 }; /* above each type of jansson's, whose values begin with their type too */

struct json_quick {
    json_type type; /* QUICK + that of jansson */
    uint32_t count; /* members or elements */
    uint32_t next;  /* that many values behind this one is the next of its container; 0: none is */
    uint32_t key_length;
    const char *key; /* NULL: element of an array, or on top */
    const struct json_quick *object;
    union {
        const char *text;
        double real;
        int64_t whole;
        struct json_head *head; /* of an object: of the document */
        bool flat;              /* of an array: none of its elements holds others */
    };
};

/** *out: in: NULL, or a document that was read so, whose memory is used again; NULL where it is left to jansson. In: the locale of C.
 * ENOMEM. */
sotto_status json_quick_read(struct json **out, const char *text, size_t size, const char *name);
void json_quick_free(const struct json_quick *top);
/** NULL: jansson's. */
static inline const struct json_quick *json_quick(const struct json *j)
{
    return j && (int)*(const json_type *)j >= QUICK ? (const struct json_quick *)j : NULL;
}
/** The first member or element, and the one behind; NULL: there is none. */
static inline const struct json_quick *json_quick_first(const struct json_quick *container)
{
    return container->count > 0 ? container + 1 : NULL;
}

static inline const struct json_quick *json_quick_next(const struct json_quick *value)
{
    return value->next > 0 ? value + value->next : NULL;
}
const struct json_quick *json_quick_at(const struct json_quick *array, size_t i);
const struct json_quick *json_quick_member(const struct json_quick *object, const char *key, size_t length);
/** The same value of jansson's, to be released; NULL: out of memory. */
json_t *json_quick_copy(const struct json_quick *value);

#endif
