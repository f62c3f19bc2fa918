/* A file is: header length (8 bytes, little-endian), JSON header, data. The reader takes only files in which
 * the tensors, sorted by offset, tile the data exactly: a byte that no tensor owns could smuggle anything,
 * one that two own is a bug of the writer. The writer is deterministic: given order, sorted metadata, header
 * padded with spaces to 8 bytes. */
#include "io/array/safetensors.h"

#include "base/file.h"
#include "io/array/array.h"
#include "io/array/tensors.h"
#include "io/json/json.h"
#include "io/text/source.h"
#include "io/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_CAP = 100 << 20, PREFIX = 8 }; /* the reference implementation has the same cap */

/* BF16 has no dtype of its own here: it is widened on reading, so size and dtype in the file differ from
 * ours. */
static const struct stored_type {
    const char *name;
    size_t size;
    enum sotto_dtype dtype;
} stored_types[] = {{"BOOL", 1, SOTTO_B1}, {"U8", 1, SOTTO_U1},  {"I32", 4, SOTTO_I4}, {"I64", 8, SOTTO_I8},
                    {"F16", 2, SOTTO_F2},  {"F32", 4, SOTTO_F4}, {"F64", 8, SOTTO_F8}, {"BF16", 2, SOTTO_F4},
                    {"I8", 1, SOTTO_I1},   {"I16", 2, SOTTO_I2}, {"U16", 2, SOTTO_U2}, {"U32", 4, SOTTO_U4},
                    {"U64", 8, SOTTO_U8}};
enum { STORED_TYPES = sizeof stored_types / sizeof *stored_types };

struct entry {
    const char *name; /* borrowed from the parsed header */
    const struct stored_type *type;
    int ndim;
    size_t shape[SOTTO_MAX_DIMS], count;
    size_t begin, end, position; /* position: order in the header, for a stable sort */
};

static sotto_status bad_entry(const struct source *s, const char *tensor, const char *what)
{
    char shown[80];
    return status_fail(SOTTO_EFORMAT, "%s: tensor '%s': %s", s->name,
                       utf8_printable(shown, sizeof shown, tensor, strlen(tensor)), what);
}

static sotto_status read_sizes(size_t *out, int capacity, int *count, const struct json *list)
{
    if (!list || json_kind(list) != JSON_KIND_ARRAY || json_count(list) > (size_t)capacity)
        return SOTTO_EFORMAT;
    *count = (int)json_count(list);
    for (int i = 0; i < *count; i++) {
        const struct json *item = json_at(list, (size_t)i);
        if (json_kind(item) != JSON_KIND_INTEGER || json_whole(item) < 0)
            return SOTTO_EFORMAT;
        out[i] = (size_t)json_whole(item);
    }
    return SOTTO_OK;
}

static sotto_status read_entry(struct entry *e, const struct source *s, const char *name,
                               const struct json *j)
{
    size_t offsets[2], bytes;
    int two = 0;
    *e = (struct entry){.name = name};
    if (json_kind(j) != JSON_KIND_OBJECT || json_count(j) != 3)
        return bad_entry(s, name, "expected an object with dtype, shape and data_offsets");
    const struct json *dtype = json_member(j, "dtype");
    const char *text = dtype ? json_text(dtype) : NULL;
    for (size_t i = 0; text && i < STORED_TYPES; i++)
        if (strcmp(text, stored_types[i].name) == 0)
            e->type = &stored_types[i];
    if (!e->type) {
        char shown[24] = "missing", what[128];
        if (text)
            utf8_printable(shown, sizeof shown, text, strlen(text));
        snprintf(what, sizeof what,
                 "its dtype is %s; expected one of BOOL U8 U16 U32 U64 I8 I16 I32 I64 F16 BF16 F32 F64",
                 shown);
        return bad_entry(s, name, what);
    }
    if (read_sizes(e->shape, SOTTO_MAX_DIMS, &e->ndim, json_member(j, "shape")) != SOTTO_OK)
        return bad_entry(s, name, "its shape is not a list of at most 8 whole numbers");
    if (read_sizes(offsets, 2, &two, json_member(j, "data_offsets")) != SOTTO_OK || two != 2 ||
        offsets[0] > offsets[1])
        return bad_entry(s, name, "its data_offsets are not two whole numbers in order");
    e->begin = offsets[0];
    e->end = offsets[1];
    if (!array_bytes(&e->count, &bytes, e->type->dtype, e->ndim, e->shape))
        return bad_entry(s, name, "its size does not fit in memory");
    bytes = e->count * e->type->size;
    if (bytes != e->end - e->begin) {
        char shape[256], what[400];
        snprintf(what, sizeof what, "shape %s needs %zu bytes, data_offsets give %zu",
                 array_describe(shape, e->type->dtype, e->ndim, e->shape), bytes, e->end - e->begin);
        return bad_entry(s, name, what);
    }
    return SOTTO_OK;
}

static int by_offset(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) /* an empty tensor comes before the one that starts at the same place */
        return x->end < y->end ? -1 : 1;
    return x->position < y->position ? -1 : 1;
}

static sotto_status check_tiling(const struct entry *entries, size_t count, size_t data_size,
                                 const struct source *s)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct entry *e = &entries[i];
        if (e->end > data_size) {
            char what[160];
            snprintf(what, sizeof what,
                     "ends at byte %zu but the file holds %zu bytes of data; the file is cut or damaged",
                     e->end, data_size);
            return bad_entry(s, e->name, what);
        }
        if (e->begin < at)
            return bad_entry(s, e->name, "overlaps another tensor");
        if (e->begin > at)
            return status_fail(SOTTO_EFORMAT, "%s: bytes %zu to %zu of the data do not belong to a tensor",
                               s->name, at, e->begin - 1);
        at = e->end;
    }
    if (at != data_size)
        return status_fail(SOTTO_EFORMAT, "%s: contains %zu bytes of data but its tensors need %zu", s->name,
                           data_size, at);
    return SOTTO_OK;
}

static void widen_bf16(struct sotto_array *a, const uint16_t *narrow)
{
    for (size_t i = 0; i < a->count; i++) {
        uint32_t bits = (uint32_t)narrow[i] << 16;
        memcpy((float *)a->data + i, &bits, sizeof bits);
    }
}

static sotto_status read_tensor(struct sotto_tensors *t, const struct source *s, size_t data_start,
                                const struct entry *e)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    uint16_t *narrow = NULL;
    TRY(sotto_array_make(&a, e->type->dtype, e->ndim, e->shape));
    if (e->type->size == sotto_dtype_size(e->type->dtype)) {
        TRY(source_read(s, a.data, data_start + e->begin, e->end - e->begin));
    } else {
        NEW(narrow, a.count);
        TRY(source_read(s, narrow, data_start + e->begin, e->end - e->begin));
        widen_bf16(&a, narrow);
    }
    TRY(array_check_booleans(&a, 0, s->name));
    TRY(tensors_push(t, e->name, &a));
done:
    base_free(narrow);
    sotto_array_clear(&a);
    return status;
}

static sotto_status read_metadata(struct sotto_tensors *t, const struct source *s,
                                  const struct json *metadata)
{
    sotto_status status = SOTTO_OK;
    if (!metadata)
        return SOTTO_OK;
    if (json_kind(metadata) != JSON_KIND_OBJECT)
        FAIL(SOTTO_EFORMAT, "%s: __metadata__ is not an object of texts", s->name);
    for (const char *key = json_first_key(metadata); key; key = json_next_key(metadata, key)) {
        const char *value = json_text(json_member(metadata, key));
        if (!value)
            FAIL(SOTTO_EFORMAT, "%s: __metadata__ is not an object of texts", s->name);
        TRY(tensors_set_metadata(t, key, value));
    }
done:
    return status;
}

static sotto_status read_header(struct json **out, size_t *data_start, const struct source *s)
{
    sotto_status status = SOTTO_OK;
    unsigned char prefix[PREFIX];
    char *text = NULL, shown[SOURCE_BYTES];
    const char *kind;
    uint64_t length = 0;
    if (s->size < PREFIX)
        FAIL(SOTTO_EFORMAT, "%s: has %zu bytes; too short for a .safetensors file", s->name, s->size);
    TRY(source_read(s, prefix, 0, PREFIX));
    for (int i = 0; i < PREFIX; i++)
        length |= (uint64_t)prefix[i] << 8 * i;
    TRY(source_kind(&kind, s));
    if (length > s->size - PREFIX && kind) /* another file's first letters */
        TRY(source_refuse(s, "a .safetensors file"));
    if (length > s->size - PREFIX)
        FAIL(SOTTO_EFORMAT, "%s: header states %s but the file has %zu bytes; the file is cut or damaged",
             s->name, source_bytes(shown, length), s->size);
    if (length > HEADER_CAP)
        FAIL(SOTTO_EFORMAT, "%s: its header has %s; expected at most 100 MiB", s->name,
             source_bytes(shown, length));
    NEW(text, (size_t)length + 1);
    TRY(source_read(s, text, PREFIX, (size_t)length));
    if (text[0] != '{')
        FAIL(SOTTO_EFORMAT, "%s: its header does not start with '{'; not a .safetensors file", s->name);
    TRY(json_parse(out, text, (size_t)length, s->name));
    *data_start = PREFIX + (size_t)length;
done:
    base_free(text);
    return status;
}

sotto_status safetensors_read(struct sotto_tensors *out, const struct source *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct json *header = NULL;
    struct entry *entries = NULL;
    size_t data_start = 0, count = 0;
    TRY(read_header(&header, &data_start, s));
    NEW(entries, json_count(header) + 1);
    for (const char *key = json_first_key(header); key; key = json_next_key(header, key)) {
        if (strcmp(key, "__metadata__") == 0)
            continue;
        TRY(read_entry(&entries[count], s, key, json_member(header, key)));
        entries[count].position = count;
        count++;
    }
    qsort(entries, count, sizeof *entries, by_offset);
    TRY(check_tiling(entries, count, s->size - data_start, s));
    TRY(read_metadata(&t, s, json_member(header, "__metadata__")));
    for (size_t i = 0; i < count; i++)
        TRY(read_tensor(&t, s, data_start, &entries[i]));
    *out = t;
    t = (struct sotto_tensors){0};
done:
    sotto_tensors_clear(&t);
    base_free(entries);
    json_free(header);
    return status;
}

sotto_status safetensors_load_bytes(struct sotto_tensors *out, const void *bytes, size_t size,
                                    const char *name)
{
    REQUIRE_GIVEN(out, !size || bytes, name);
    struct source s = source_memory(bytes, size, name);
    return safetensors_read(out, &s);
}

sotto_status safetensors_load(struct sotto_tensors *out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    return safetensors_load_asking(out, path, NULL);
}

sotto_status safetensors_load_asking(struct sotto_tensors *out, const char *path,
                                     const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    TRY(source_open(&s, path, ctx));
    TRY(safetensors_read(out, &s));
done:
    source_close(&s);
    return status;
}

static const char *stored_name(enum sotto_dtype dtype)
{
    for (size_t i = 0; i < STORED_TYPES; i++)
        if (stored_types[i].dtype == dtype)
            return stored_types[i].name;
    return "?";
}

static struct json *build_header(const struct sotto_tensors *t)
{
    struct json *header = json_make_object();
    size_t at = 0;
    if (t->metadata_count > 0) {
        struct json *metadata = json_make_object();
        for (size_t i = 0; i < t->metadata_count; i++)
            json_put_text(&metadata, t->metadata[2 * i], t->metadata[2 * i + 1]);
        json_put(&header, "__metadata__", metadata);
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct sotto_array *a = &t->items[i].array;
        size_t offsets[2] = {at, at + a->count * sotto_dtype_size(a->dtype)};
        struct json *entry = json_make_object();
        json_put_text(&entry, "dtype", stored_name(a->dtype));
        json_put(&entry, "shape", json_make_counts(a->shape, (size_t)a->ndim));
        json_put(&entry, "data_offsets", json_make_counts(offsets, 2));
        json_put(&header, t->items[i].name, entry);
        at = offsets[1];
    }
    return header;
}

static size_t tensor_bytes(const struct sotto_tensors *t, size_t i)
{
    return t->items[i].array.count * sotto_dtype_size(t->items[i].array.dtype);
}

/* All that stands before the data: length, JSON header, padding. */
static sotto_status encode_header(unsigned char **out, size_t *size, const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    struct json *header = build_header(t);
    char *text = NULL;
    TRY(json_dump(&text, header, JSON_LINE));
    size_t length = strlen(text), padded = (length + 7) & ~(size_t)7;
    NEW(*out, PREFIX + padded);
    for (int i = 0; i < PREFIX; i++)
        (*out)[i] = (unsigned char)((uint64_t)padded >> 8 * i);
    memset(*out + PREFIX, ' ', padded);
    memcpy(*out + PREFIX, text, length);
    *size = PREFIX + padded;
done:
    sotto_text_free(text);
    json_free(header);
    return status;
}

void safetensors_drop(struct safetensors_file *f)
{
    atomic_discard(&f->file);
    base_free(f->header);
    *f = (struct safetensors_file){0};
}

sotto_status safetensors_begin(struct safetensors_file *f, const char *path, const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    struct safetensors_file made = {.tensors = t};
    TRY(encode_header(&made.header, &made.size, t));
    TRY(atomic_open(&made.file, path));
    *f = made;
    made = (struct safetensors_file){0};
done:
    safetensors_drop(&made);
    return status;
}

sotto_status safetensors_finish(struct safetensors_file *f)
{
    const struct sotto_tensors *t = f->tensors;
    atomic_write(&f->file, f->header, f->size);
    for (size_t i = 0; i < t->count; i++)
        atomic_write(&f->file, t->items[i].array.data, tensor_bytes(t, i));
    const sotto_status status = atomic_commit(&f->file);
    safetensors_drop(f);
    return status;
}

sotto_status safetensors_save(const char *path, const struct sotto_tensors *t)
{
    REQUIRE_GIVEN(path, t);
    sotto_status status = SOTTO_OK;
    struct safetensors_file f = {0};
    TRY(safetensors_begin(&f, path, t));
    TRY(safetensors_finish(&f));
done:
    return status;
}

sotto_status safetensors_save_bytes(void **bytes, size_t *size, const struct sotto_tensors *t)
{
    REQUIRE_GIVEN(bytes, size, t);
    sotto_status status = SOTTO_OK;
    unsigned char *header = NULL, *whole;
    size_t at, total;
    TRY(encode_header(&header, &at, t));
    total = at;
    for (size_t i = 0; i < t->count; i++)
        total += tensor_bytes(t, i);
    NEW(whole, total);
    memcpy(whole, header, at);
    for (size_t i = 0; i < t->count; at += tensor_bytes(t, i), i++)
        if (tensor_bytes(t, i) > 0)
            memcpy(whole + at, t->items[i].array.data, tensor_bytes(t, i));
    *bytes = whole;
    *size = total;
done:
    base_free(header);
    return status;
}
