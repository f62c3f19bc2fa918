#include "io/json/json_quick.h"
#include "io/text/number.h"
#include "io/text/utf8.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 8, WHOLE_DIGITS = 18 };
enum { WORD = NUMBER_WORD };

struct reader {
    char *at; /* in the copy, which ends in '\0' */
    struct json_head *head;
    struct json_quick *values;
    size_t count, capacity;
    bool full;
    const char *start; /* of the copy */
    struct leaf *leaves;
    size_t leaf_count;
};

/* A value that holds no others: which one it is, where it stands in the text, and what that says (of whatever type, as bits). */
struct leaf {
    uint32_t value, start, end;
    bool changed; /* the value is of a later text */
    int64_t said;
};

/* Of a document: before its values in the same block, which has room for so many bytes. Members of all objects by their keys: an open
 * table, never full. */
struct json_head {
    size_t room;
    size_t mask; /* places but one, 2^n - 1 */
    const struct json_quick **place;
    struct leaf *leaves; /* in the order of the text */
    size_t leaf_count;
    char *text; /* as it was given; of a long one none is kept */
    size_t size;
    char *again; /* a later text, of at most MORE bytes more */
};
enum { MORE = 64, KEPT_AT_MOST = 1 << 16 };

/* How many do two texts begin with together? */
static inline size_t same_bytes(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    for (; n + WORD <= most; n += WORD) {
        const uint64_t differs = number_word(a + n) ^ number_word(b + n);
        if (differs)
            return n + (unsigned)__builtin_ctzll(differs) / 8;
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* ---- keys ---- */

/* By words, of which the last may overlap the one before it. */
static inline bool same_key(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    if (n >= WORD) {
        for (; i + WORD < n; i += WORD)
            if (number_word(a + i) != number_word(b + i))
                return false;
        return number_word(a + n - WORD) == number_word(b + n - WORD);
    }
    while (i < n && a[i] == b[i])
        i++;
    return i == n;
}

/* Where the member is, or would be. */
static const struct json_quick **place_of(const struct json_quick *object, const char *key, size_t length)
{
    struct json_head *k = object->head;
    const unsigned char first = length > 0 ? (unsigned char)key[0] : 0,
                        middle = length > 0 ? (unsigned char)key[length / 2] : 0,
                        last = length > 0 ? (unsigned char)key[length - 1] : 0;
    size_t i = ((uintptr_t)object >> 3) + length * 105 + first * 111u + middle * 125u + last * 23u;
    for (;; i++) {
        const struct json_quick *m = k->place[i & k->mask];
        if (!m || (m->key_length == length && m->object == object && same_key(m->key, key, length)))
            return &k->place[i & k->mask];
    }
}

const struct json_quick *json_quick_at(const struct json_quick *array, size_t i)
{
    if (array->type != QUICK + JSON_ARRAY || i >= array->count)
        return NULL;
    const struct json_quick *element = array + 1;
    if (array->flat)
        return element + i;
    while (i-- > 0)
        element = json_quick_next(element);
    return element;
}

const struct json_quick *json_quick_member(const struct json_quick *object, const char *key, size_t length)
{
    return object->type == QUICK + JSON_OBJECT ? *place_of(object, key, length) : NULL;
}

/* ---- reading: false leaves the document to jansson ---- */

static bool read_value(struct reader *r, int depth);

static struct json_quick *json_quick_add(struct reader *r, json_type type)
{
    r->full = r->count == r->capacity;
    if (r->full)
        return NULL;
    r->values[r->count] = (struct json_quick){.type = QUICK + type};
    return &r->values[r->count++];
}

static const uint64_t ones = UINT64_MAX / 255, high_bits = UINT64_MAX / 255 * 0x80;

/* How many bytes of a word, which begins with its lowest, are in front of a quote, a backslash or one below a blank. */
static unsigned ordinary_bytes(uint64_t word)
{
    const uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\'),
                   ends = (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
                           ((word - ones * ' ') & ~word)) &
                          high_bits; /* exact up to the first */
    return ends ? (unsigned)__builtin_ctzll(ends) / 8 : WORD;
}

/* Its end becomes the end of a text of C. */
static bool read_text(const char **text, size_t *length, struct reader *r)
{
    char *p = r->at + 1;
    uint64_t word, words = 0;
    unsigned n = WORD;
    *text = p;
    for (; n == WORD; p += n) {
        word = number_word(p);
        n = ordinary_bytes(word);
        words |= n == WORD ? word : word & ((UINT64_C(1) << 8 * n) - 1);
    }
    if (*p != '"')
        return false;
    *length = (size_t)(p - *text);
    *p = '\0';
    r->at = p + 1;
    return (words & high_bits) == 0 || utf8_valid(*text, *length);
}

static bool take_real(struct reader *r, double value)
{
    struct json_quick *v = json_quick_add(r, JSON_REAL);
    if (v)
        v->real = value;
    return v && isfinite(value);
}

static bool take_whole(struct reader *r, int64_t value)
{
    struct json_quick *v = json_quick_add(r, JSON_INTEGER);
    if (v)
        v->whole = value;
    return v != NULL;
}

/* Behind the end of the text are zeros. */
static bool read_number(struct reader *r)
{
    const char *const start = r->at, *const first = start + (*start == '-'), *p, *part;
    uint64_t mantissa = 0, exponent = 0;
    bool exact = true;
    long power = 0;
    double value;
    p = number_digits(&mantissa, &exact, first);
    if (p == first || (*first == '0' && p > first + 1))
        return false;
    const char *const whole = p;
    if (*p == '.') {
        part = p + 1;
        p = number_digits(&mantissa, &exact, part);
        power = -(long)(p - part);
        if (p == part)
            return false;
    }
    if (*p == 'e' || *p == 'E') {
        const bool minus = p[1] == '-';
        part = p + 1 + (minus || p[1] == '+');
        p = number_digits(&exponent, &exact, part);
        if (p == part)
            return false;
        exact = exact && exponent < 1000;
        power += minus ? -(long)exponent : (long)exponent;
    }
    r->at += p - start;
    if (p == whole)
        return whole - first <= WHOLE_DIGITS &&
               take_whole(r, *start == '-' ? -(int64_t)mantissa : (int64_t)mantissa);
    if (exact && number_scaled(&value, mantissa, power))
        return take_real(r, *start == '-' ? -value : value);
    return number_real(&value, start, (size_t)(p - start)) && take_real(r, value);
}

static bool read_word(struct reader *r, const char *word, size_t length, json_type type)
{
    if (strncmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return json_quick_add(r, type) != NULL;
}

/* false: there is one with its key. */
static bool take_key(const struct json_quick *object, struct json_quick *member, const char *key,
                     size_t length)
{
    const struct json_quick **place = place_of(object, key, length);
    if (*place)
        return false;
    member->key = key;
    member->key_length = (uint32_t)length;
    member->object = object;
    *place = member;
    return true;
}

static bool read_container(struct reader *r, int depth, bool object)
{
    const char end = object ? '}' : ']';
    struct json_quick *self = depth < DEPTH ? json_quick_add(r, object ? JSON_OBJECT : JSON_ARRAY) : NULL,
                      *before = NULL;
    if (!self)
        return false;
    if (object)
        self->head = r->head;
    if (*++r->at == end) {
        r->at++;
        return true;
    }
    for (;; r->at++) {
        struct json_quick *child = &r->values[r->count];
        const char *key = NULL;
        size_t length = 0;
        if (object && (*r->at != '"' || !read_text(&key, &length, r) || *r->at++ != ':'))
            return false;
        if (!read_value(r, depth + 1) || (object && !take_key(self, child, key, length)))
            return false;
        if (before)
            before->next = (uint32_t)(child - before);
        before = child;
        self->count++;
        if (*r->at != ',')
            break;
    }
    if (!object)
        self->flat = &r->values[r->count] == self + 1 + self->count;
    return *r->at++ == end;
}

static bool read_leaf(struct reader *r)
{
    const char *text;
    size_t length;
    struct json_quick *v;
    switch (*r->at) {
    case '"':
        v = read_text(&text, &length, r) ? json_quick_add(r, JSON_STRING) : NULL;
        if (v)
            v->text = text;
        return v != NULL;
    case 't':
        return read_word(r, "true", 4, JSON_TRUE);
    case 'f':
        return read_word(r, "false", 5, JSON_FALSE);
    case 'n':
        return read_word(r, "null", 4, JSON_NULL);
    default:
        return read_number(r);
    }
}

static bool read_value(struct reader *r, int depth)
{
    if (*r->at == '{' || *r->at == '[')
        return read_container(r, depth, *r->at == '{');
    struct leaf *leaf = &r->leaves[r->leaf_count++];
    *leaf = (struct leaf){.value = (uint32_t)r->count, .start = (uint32_t)(r->at - r->start)};
    if (!read_leaf(r))
        return false;
    leaf->end = (uint32_t)(r->at - r->start);
    leaf->said = r->values[leaf->value].whole;
    return true;
}

static struct json_head *head_of(const struct json_quick *top)
{
    return top ? (struct json_head *)top - 1 : NULL;
}

void json_quick_free(const struct json_quick *top)
{
    base_free(head_of(top));
}

/* In one block: the head, the values, the places of their keys, the leaves, the copy, the text, and room for the next one. *full: *out is
 * good for its memory alone. */
static sotto_status read_into(struct json **out, bool *full, size_t capacity, const char *text, size_t size,
                              const char *name)
{
    struct reader r = {.capacity = capacity, .head = head_of(json_quick(*out))};
    size_t places = 64;
    while (places < capacity)
        places *= 2;
    const size_t keys = places * sizeof *r.head->place, leaves = (capacity + 1) * sizeof *r.leaves,
                 kept = size <= KEPT_AT_MOST ? size : 0, texts = size + 2 * kept + MORE + 2 * WORD,
                 bytes = (sizeof *r.head + capacity * sizeof *r.values + keys + leaves + texts) | 1023;
    *out = NULL;
    if (!r.head || r.head->room < bytes) {
        base_free(r.head);
        if (!(r.head = base_alloc(bytes, 1)))
            return status_fail(SOTTO_ENOMEM, "%s: out of memory", name);
        r.head->room = bytes;
    }
    r.values = (struct json_quick *)(r.head + 1);
    r.head->place = memset(r.values + capacity, 0, keys);
    r.head->mask = places - 1;
    r.leaves = (struct leaf *)(r.head->place + places);
    r.start = r.at = memcpy(r.leaves + capacity + 1, text, size);
    char *const end = r.at + size;
    memset(end, 0, WORD);
    r.head->size = kept;
    r.head->text = memcpy(end + WORD, text, kept);
    r.head->again = r.head->text + kept;
    *full = false;
    const bool whole = read_value(&r, 0) && r.at == end;
    r.head->leaves = r.leaves;
    r.head->leaf_count = r.leaf_count;
    if (whole || (*full = r.full))
        *out = (struct json *)r.values;
    else
        base_free(r.head);
    return SOTTO_OK;
}

/* ---- a text like the one before: only values that differ are read ---- */

static bool read_leaf_again(struct reader *r, struct leaf *leaf)
{
    struct json_quick *v = &r->values[leaf->value];
    const struct json_quick was = *v;
    r->count = leaf->value;
    r->capacity = r->count + 1;
    if (!read_leaf(r) || v->type != was.type)
        return false;
    const int64_t says = v->whole;
    *v = was;
    v->whole = says;
    leaf->changed = true;
    return true;
}

/* false: something else than values differs, and the document is good for its memory alone. */
static bool read_again(struct json_quick *top, const char *text, size_t size)
{
    struct json_head *head = head_of(top);
    struct reader r = {.values = top, .at = head->again};
    struct leaf *leaf = head->leaves, *const behind = leaf + head->leaf_count;
    if (head->size == 0 || size > head->size + MORE)
        return false;
    memcpy(r.at, text, size);
    memset(r.at + size, 0, WORD);
    for (struct leaf *l = leaf; l < behind; l++)
        if (l->changed) {
            top[l->value].whole = l->said;
            l->changed = false;
        }
    for (size_t at = 0;; leaf++) { /* in the text of before, as r.at is in this one */
        const size_t left = head->size - at, rest = (size_t)(head->again + size - r.at),
                     same = same_bytes(head->text + at, r.at, left < rest ? left : rest);
        if (same == left && same == rest)
            return true;
        while (leaf < behind && leaf->end < at + same)
            leaf++;
        if (leaf == behind || leaf->start > at + same)
            return false;
        r.at += leaf->start - at;
        if (!read_leaf_again(&r, leaf))
            return false;
        at = leaf->end;
    }
}

sotto_status json_quick_read(struct json **out, const char *text, size_t size, const char *name)
{
    bool full = false;
    size -= size > 0 && text[size - 1] == '\n';
    if (size == 0 || size > UINT32_MAX || (*text != '{' && *text != '[')) {
        if (*out)
            json_quick_free(json_quick(*out));
        *out = NULL;
        return SOTTO_OK;
    }
    if (*out && read_again((struct json_quick *)*out, text, size))
        return SOTTO_OK;
    const sotto_status status = read_into(out, &full, size / 16 + 16, text, size, name);
    return full ? read_into(out, &full, size / 2 + 2, text, size, name) : status; /* more cannot be there */
}

json_t *json_quick_copy(const struct json_quick *value)
{
    const json_type type = value->type - QUICK;
    json_t *copy = type == JSON_OBJECT    ? json_object()
                   : type == JSON_ARRAY   ? json_array()
                   : type == JSON_STRING  ? json_string(value->text)
                   : type == JSON_INTEGER ? json_integer(value->whole)
                   : type == JSON_REAL    ? json_real(value->real)
                   : type == JSON_NULL    ? json_null()
                                          : json_boolean(type == JSON_TRUE);
    bool good = copy != NULL;
    for (const struct json_quick *m = json_quick_first(value); good && m; m = json_quick_next(m))
        good = (m->key ? json_object_set_new(copy, m->key, json_quick_copy(m))
                       : json_array_append_new(copy, json_quick_copy(m))) == 0;
    if (good)
        return copy;
    json_decref(copy);
    return NULL;
}
