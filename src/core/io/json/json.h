/* json.h - building, reading and writing JSON documents (jansson behind it; only src/core/io sees it).
 *
 * Building is linear: every put takes ownership of its value, and a failure anywhere turns the whole document
 * into NULL, which every function accepts, so one check at the end is enough:
 *
 *     struct json *doc = json_make_object(), *interval = json_make_object();
 *     json_put_real(&interval, "lower", lower);
 *     json_put_real(&interval, "upper", upper);
 *     json_put(&doc, "epsilon", interval);
 *     TRY(json_dump(&text, doc, JSON_PRETTY));      ENOMEM if anything above failed
 *   done:
 *     json_free(doc);
 *
 * Reading takes the name of the document for its errors, and a path: "epsilon.lower", "attacks[0].name":
 *
 *     TRY(json_get_real(&l1, doc, "sensitivity.json", "l1"));
 *     "sensitivity.json: 'l1' is missing; expected a number" */
#ifndef IO_JSON_JSON_H
#define IO_JSON_JSON_H

#include "base/memory.h"

#include <string.h>

struct json;

/* --- building ------------------------------------------------------------------------------------------- */
struct json *json_make_object(void);
struct json *json_make_array(void);
/** NULL gives JSON null. Bytes that are not UTF-8, and characters JSON cannot hold, become U+FFFD. */
struct json *json_make_text(const char *text);
/** NaN and infinities have no JSON form: null. */
struct json *json_make_real(double x);
struct json *json_make_integer(int64_t x);
struct json *json_make_boolean(bool x);
struct json *json_make_null(void);
/** Deep copy, e.g. of a borrowed part of another document. */
struct json *json_clone(const struct json *j);
void json_free(struct json *j);

/** Sets or replaces a member; takes `value` (also on failure). On failure frees *object and sets it to
 * NULL. */
void json_put(struct json **object, const char *key, struct json *value);
void json_put_text(struct json **object, const char *key, const char *text);
void json_put_real(struct json **object, const char *key, double x);
void json_put_integer(struct json **object, const char *key, int64_t x);
void json_put_boolean(struct json **object, const char *key, bool x);
/** Appends; same ownership. */
void json_push(struct json **array, struct json *value);
/** Arrays of numbers. */
struct json *json_make_reals(const double *x, size_t n);
struct json *json_make_counts(const size_t *x, size_t n);

/* --- reading -------------------------------------------------------------------------------------------- */
enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_BOOLEAN,
    JSON_KIND_INTEGER,
    JSON_KIND_REAL,
    JSON_KIND_TEXT,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT
};

/** Strict JSON (RFC 8259) with an object or array on top, no duplicate keys, at most 64 levels deep.
 *  EFORMAT "name:LINE:COLUMN: what"; ENOMEM. */
sotto_status json_parse(struct json **out, const char *text, size_t size, const char *name);
/** json_parse, several times as fast where the text is what json_dump() writes with JSON_LINE, and a newline: of a document that is
 *  only read, so not put into another, nor added to. Errors are those of json_parse().
 *  *out: in: NULL, or a document that was read so and is not needed any more: its memory is used again. */
sotto_status json_parse_line(struct json **out, const char *text, size_t size, const char *name);
/** json_parse of a file of at most 64 MiB. ENOENT, EIO. */
sotto_status json_read_file(struct json **out, const char *path);

/** NULL counts as null. */
enum json_kind json_kind(const struct json *j);
/** Borrowed value at a path, or NULL. Keys may contain dots: the longest key that exists is taken first. */
const struct json *json_find(const struct json *j, const char *path);
/** Members of an object, elements of an array, else 0. */
size_t json_count(const struct json *j);
/** NULL: there are not so many. */
const struct json *json_at(const struct json *array, size_t i);
/** Walks an object: for (k = json_first_key(o); k; k = json_next_key(o, k)); the value is json_member(o,
 * k). */
const char *json_first_key(const struct json *object);
const char *json_next_key(const struct json *object, const char *key);
const struct json *json_member_of(const struct json *object, const char *key, size_t length);
/* Here, so that the length of a name that stands in the program is known before it runs. */
static inline const struct json *json_member(const struct json *object, const char *key)
{
    return json_member_of(object, key, strlen(key));
}
/** Plain values; a wrong kind gives NAN, 0 and NULL. */
double json_number(const struct json *j);
int64_t json_whole(const struct json *j);
const char *json_text(const struct json *j);
/* Whether it is the value true. */
bool json_says_true(const struct json *j);

/* EFORMAT "<name>: '<path>' is missing; expected ..." or "<name>: '<path>' is 3; expected ...". Texts,
 * objects and arrays are borrowed from the document. */
sotto_status json_get_real(double *out, const struct json *j, const char *name, const char *path);
/** null gives NAN; missing is still an error. */
sotto_status json_get_real_or_null(double *out, const struct json *j, const char *name, const char *path);
sotto_status json_get_integer(int64_t *out, const struct json *j, const char *name, const char *path);
/** A whole number >= 0. */
sotto_status json_get_size(size_t *out, const struct json *j, const char *name, const char *path);
sotto_status json_get_boolean(bool *out, const struct json *j, const char *name, const char *path);
sotto_status json_get_text(const char **out, const struct json *j, const char *name, const char *path);
/** Text copied into out[capacity]; EFORMAT if it does not fit. */
sotto_status json_get_text_into(char *out, size_t capacity, const struct json *j, const char *name,
                                const char *path);
sotto_status json_get_object(const struct json **out, const struct json *j, const char *name,
                             const char *path);
sotto_status json_get_array(const struct json **out, const struct json *j, const char *name,
                            const char *path);
/** A list of at most `capacity` whole numbers >= 1. Also on failure *count is at most `capacity`. */
sotto_status json_get_sizes(size_t *out, size_t *count, size_t capacity, const struct json *j,
                            const char *name, const char *path);

/* --- writing -------------------------------------------------------------------------------------------- */
enum json_style {
    JSON_LINE = 0,   /* one line without blanks, insertion order */
    JSON_PRETTY = 1, /* two-space indent, ends in a newline when written to a file */
    JSON_SORTED = 2  /* flag: keys in byte order, so that equal documents have equal bytes */
};
/** Text with 17 significant digits (doubles survive); free with sotto_text_free(). A NULL document gives
 * ENOMEM. */
sotto_status json_dump(char **text, const struct json *j, int style);
/** Atomic; ends in a newline. */
sotto_status json_write_file(const char *path, const struct json *j, int style);
/** A file that is there is kept as it is, which is no error. */
sotto_status json_write_once(const char *path, const struct json *j, int style);

#endif
