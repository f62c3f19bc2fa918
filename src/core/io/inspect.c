/* The kind of a file is decided by its first bytes, and by its name only where bytes do not decide (CSV,
 * YAML) or contradict it (then the reader for that name explains what is wrong). One document serves both
 * outputs. */
#include "io/array/array.h"
#include "io/array/npy.h"
#include "io/array/npz.h"
#include "io/array/safetensors.h"
#include "io/json/json.h"
#include "io/table/csv.h"
#include "io/text/utf8.h"
#include "io/yaml/yaml_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <strings.h>
#include <zlib.h>

enum kind {
    KIND_UNKNOWN,
    KIND_NPY,
    KIND_NPZ,
    KIND_SAFETENSORS,
    KIND_JSON,
    KIND_CSV,
    KIND_YAML,
    KIND_IDX,
    KIND_LEDGER
};
static const char *const kind_names[] = {"unknown", "npy",  "npz", "safetensors", "json",
                                         "csv",     "yaml", "idx", "ledger"};
static const char ledger_start[] = "{\"schema\":\"sotto.ledger/"; /* of records and of persons */

static const struct {
    const char *ending;
    enum kind kind;
} endings[] = {{".npy", KIND_NPY},   {".npz", KIND_NPZ},   {".safetensors", KIND_SAFETENSORS},
               {".json", KIND_JSON}, {".csv", KIND_CSV},   {".data", KIND_CSV},
               {".test", KIND_CSV},  {".yaml", KIND_YAML}, {".yml", KIND_YAML}};

static enum kind kind_of_name(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i].ending);
        if (length > n && strcasecmp(path + length - n, endings[i].ending) == 0)
            return endings[i].kind;
    }
    return KIND_UNKNOWN;
}

static enum kind kind_of_bytes(const unsigned char *b, size_t have, size_t size)
{
    static const unsigned char idx_types[] = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};
    if (have >= 6 && memcmp(b, "\x93NUMPY", 6) == 0)
        return KIND_NPY;
    if (have >= 4 && (memcmp(b, "PK\x03\x04", 4) == 0 || memcmp(b, "PK\x05\x06", 4) == 0))
        return KIND_NPZ;
    if (have >= 2 && b[0] == 0x1f && b[1] == 0x8b)
        return KIND_IDX;
    if (have >= 4 && b[0] == 0 && b[1] == 0 && b[3] > 0 && b[3] <= SOTTO_MAX_DIMS &&
        memchr(idx_types, b[2], sizeof idx_types))
        return KIND_IDX;
    uint64_t length = 0;
    for (size_t i = 0; i < 8 && have > 8; i++)
        length |= (uint64_t)b[i] << 8 * i;
    if (have > 8 && b[8] == '{' && length <= size - 8)
        return KIND_SAFETENSORS;
    size_t i = 0;
    while (i < have && strchr(" \t\r\n", b[i]) && b[i])
        i++;
    return i < have && (b[i] == '{' || b[i] == '[') ? KIND_JSON : KIND_UNKNOWN;
}

static struct json *shape_json(int ndim, const size_t *shape)
{
    return json_make_counts(shape, (size_t)ndim);
}

/* Mean by Welford's running update: no overflow, no cancellation. Statistics are over the finite values. */
struct tally {
    double low, high, mean;
    size_t nans, infinities, finite;
    const struct sotto_context *ctx;
};

static sotto_status tally_add(void *arg, const struct sotto_array *a)
{
    enum { PIECE = 1 << 20 };
    sotto_status status = SOTTO_OK;
    struct tally *t = arg;
    for (size_t i = 0; i < a->count; i++) {
        double x = array_value(a, i);
        if (i % PIECE == 0)
            TRY(context_check(t->ctx, "inspect: stopped"));
        t->nans += isnan(x);
        t->infinities += isinf(x) != 0;
        if (!isfinite(x))
            continue;
        t->mean += (x - t->mean) / (double)++t->finite;
        t->low = x < t->low ? x : t->low;
        t->high = x > t->high ? x : t->high;
    }
done:
    return status;
}

/* header: dtype and shape. */
static struct json *array_json(const char *name, const struct sotto_array *header, const struct tally *t)
{
    struct json *j = json_make_object();
    if (name)
        json_put_text(&j, "name", name);
    json_put_text(&j, "dtype", sotto_dtype_name(header->dtype));
    json_put(&j, "shape", shape_json(header->ndim, header->shape));
    json_put_real(&j, "min", t->finite ? t->low : NAN);
    json_put_real(&j, "max", t->finite ? t->high : NAN);
    json_put_real(&j, "mean", t->finite ? t->mean : NAN);
    json_put_integer(&j, "nan", (int64_t)t->nans);
    json_put_integer(&j, "infinite", (int64_t)t->infinities);
    return j;
}

static struct tally tally_begin(const struct sotto_context *ctx)
{
    return (struct tally){.low = INFINITY, .high = -INFINITY, .ctx = ctx};
}

static sotto_status inspect_npy(struct json **doc, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array header;
    struct source s = {.fd = -1};
    struct tally t = tally_begin(ctx);
    struct json *arrays = NULL;
    TRY(source_open(&s, path, ctx));
    TRY(npy_walk(&header, &s, tally_add, &t));
    arrays = json_make_array();
    json_push(&arrays, array_json(NULL, &header, &t));
    json_put(doc, "arrays", arrays);
done:
    source_close(&s);
    return status;
}

static sotto_status inspect_tensors(struct json **doc, const char *path, enum kind kind,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct json *arrays = json_make_array(), *metadata = json_make_object();
    TRY(kind == KIND_NPZ ? npz_load_asking(&t, path, ctx) : safetensors_load_asking(&t, path, ctx));
    for (size_t i = 0; i < t.count; i++) {
        struct tally tally = tally_begin(ctx);
        TRY(tally_add(&tally, &t.items[i].array));
        json_push(&arrays, array_json(t.items[i].name, &t.items[i].array, &tally));
    }
    for (size_t i = 0; i < t.metadata_count; i++)
        json_put_text(&metadata, t.metadata[2 * i], t.metadata[2 * i + 1]);
    json_put(doc, "arrays", arrays);
    arrays = NULL;
    if (kind == KIND_SAFETENSORS) {
        json_put(doc, "metadata", metadata);
        metadata = NULL;
    }
done:
    json_free(arrays);
    json_free(metadata);
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status inspect_json(struct json **doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct json *j = NULL, *keys = json_make_array();
    TRY(json_read_file(&j, path));
    const struct json *schema = json_find(j, "schema");
    if (schema && json_text(schema))
        json_put_text(doc, "document_schema", json_text(schema));
    if (json_kind(j) == JSON_KIND_ARRAY) {
        json_put_integer(doc, "elements", (int64_t)json_count(j));
    } else {
        for (const char *key = json_first_key(j); key; key = json_next_key(j, key))
            json_push(&keys, json_make_text(key));
        json_put(doc, "keys", keys);
        keys = NULL;
    }
done:
    json_free(keys);
    json_free(j);
    return status;
}

/* How many entries of each event; 'sotto ledger show' adds them up. */
static sotto_status inspect_ledger(struct json **doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct json *entry = NULL, *events = json_make_object();
    unsigned char *data = NULL;
    size_t size, entries = 0;
    const char *event;
    TRY(file_read(&data, &size, path, (size_t)1 << 32));
    for (char *line = (char *)data, *end; (end = memchr(line, '\n', size - (size_t)(line - (char *)data)));
         line = end + 1, entries++) {
        TRY(json_parse(&entry, line, (size_t)(end - line), path));
        TRY(json_get_text(&event, entry, path, "event"));
        const struct json *before = json_member(events, event);
        json_put_integer(&events, event, (before ? json_whole(before) : 0) + 1);
        json_free(entry);
        entry = NULL;
    }
    json_put_integer(doc, "entries", (int64_t)entries);
    json_put(doc, "events", events);
    events = NULL;
done:
    json_free(events);
    json_free(entry);
    base_free(data);
    return status;
}

static sotto_status inspect_csv(struct json **doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct csv c = {0};
    const struct csv_style style = {.trim = true, .comment = '|'};
    TRY(csv_read_file(&c, path, &style));
    bool header = csv_has_header(&c);
    json_put_integer(doc, "rows", (int64_t)(c.rows - header));
    json_put_integer(doc, "columns", (int64_t)c.columns);
    if (header) {
        struct json *keys = json_make_array();
        for (size_t i = 0; i < c.columns; i++)
            json_push(&keys, json_make_text(csv_cell(&c, 0, i)));
        json_put(doc, "keys", keys);
    }
done:
    csv_clear(&c);
    return status;
}

static sotto_status inspect_yaml(struct json **doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    unsigned char *text = NULL;
    size_t size = 0;
    struct yaml_node *root = NULL;
    TRY(file_read(&text, &size, path, YAML_SIZE_LIMIT));
    TRY(yaml_parse(&root, (const char *)text, size, path));
    struct json *keys = json_make_array();
    for (const struct yaml_node *child = root ? root->first : NULL; child; child = child->next)
        json_push(&keys, json_make_text(child->key));
    json_put(doc, "keys", keys);
done:
    yaml_free(root);
    base_free(text);
    return status;
}

/* IDX: 00 00 type ndim, ndim big-endian sizes, data; zlib reads plain and compressed files alike. */
static sotto_status inspect_idx(struct json **doc, const char *path)
{
    sotto_status status = SOTTO_OK;
    static const struct {
        unsigned char code;
        const char *name;
        size_t size;
    } types[] = {{8, "u1", 1}, {9, "i1", 1}, {11, "i2", 2}, {12, "i4", 4}, {13, "f4", 4}, {14, "f8", 8}};
    unsigned char head[4 + 4 * SOTTO_MAX_DIMS], block[16384];
    size_t shape[SOTTO_MAX_DIMS], type = 0, expected, have = 0;
    gzFile f = gzopen(path, "rb");
    if (!f)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    if (gzread(f, head, 4) != 4 || head[0] != 0 || head[1] != 0 || head[3] == 0 || head[3] > SOTTO_MAX_DIMS)
        FAIL(SOTTO_EFORMAT, "%s: contains no IDX array", path);
    while (type < 6 && types[type].code != head[2])
        type++;
    if (type == 6 || gzread(f, head + 4, 4u * head[3]) != 4 * head[3])
        FAIL(SOTTO_EFORMAT, "%s: contains no IDX array", path);
    expected = types[type].size;
    for (int i = 0; i < head[3]; i++) {
        const unsigned char *b = head + 4 + 4 * i;
        shape[i] = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
        if (!size_multiply(&expected, expected, shape[i]))
            FAIL(SOTTO_EFORMAT, "%s: its size does not fit in 64 bits", path);
    }
    for (int got; (got = gzread(f, block, sizeof block)) != 0; have += (size_t)got)
        if (got < 0 || have > expected)
            break;
    int error = Z_OK;
    (void)gzerror(f, &error);
    if (error != Z_OK || have != expected)
        FAIL(SOTTO_EFORMAT,
             "%s: header states %zu bytes of data but the file has %s%zu; the file is cut or damaged", path,
             expected, have > expected ? "at least " : "", have);
    struct json *arrays = json_make_array(), *j = json_make_object();
    json_put_text(&j, "dtype", types[type].name);
    json_put(&j, "shape", shape_json(head[3], shape));
    json_push(&arrays, j);
    json_put(doc, "arrays", arrays);
done:
    if (f)
        gzclose(f);
    return status;
}

static sotto_status inspect_contents(struct json **doc, const char *path, enum kind kind,
                                     const struct sotto_context *ctx)
{
    switch (kind) {
    case KIND_NPY:
        return inspect_npy(doc, path, ctx);
    case KIND_NPZ:
    case KIND_SAFETENSORS:
        return inspect_tensors(doc, path, kind, ctx);
    case KIND_JSON:
        return inspect_json(doc, path);
    case KIND_CSV:
        return inspect_csv(doc, path);
    case KIND_YAML:
        return inspect_yaml(doc, path);
    case KIND_IDX:
        return inspect_idx(doc, path);
    case KIND_LEDGER:
        return inspect_ledger(doc, path);
    default:
        return status_fail(
            SOTTO_EFORMAT,
            "%s: unknown kind of file; expected .npy, .npz, .safetensors, JSON, CSV, YAML or IDX", path);
    }
}

static sotto_status inspect_file(struct json **out, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    unsigned char start[64] = {0};
    struct json *doc = NULL;
    struct stat info;
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && S_ISFIFO(info.st_mode)))
        FAIL(SOTTO_ENOENT, "%s: is a pipe; expected a file, which is read more than once", path);
    TRY(source_open(&s, path, ctx));
    size_t have = s.size < sizeof start ? s.size : sizeof start;
    TRY(source_read(&s, start, 0, have));
    enum kind kind = kind_of_name(path);
    if (kind == KIND_UNKNOWN)
        kind = kind_of_bytes(start, have, s.size);
    if (kind == KIND_JSON && have >= sizeof ledger_start - 1 &&
        memcmp(start, ledger_start, sizeof ledger_start - 1) == 0)
        kind = KIND_LEDGER;
    doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.inspect/1");
    json_put_text(&doc, "path", path);
    json_put_text(&doc, "kind", kind_names[kind]);
    json_put_integer(&doc, "bytes", (int64_t)s.size);
    TRY(inspect_contents(&doc, path, kind, ctx));
    *out = doc;
    doc = NULL;
done:
    json_free(doc);
    source_close(&s);
    return status;
}

sotto_status sotto_inspect(char **json, const char *path, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(json, path);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(inspect_file(&doc, path, ctx));
    TRY(json_dump(json, doc, JSON_PRETTY));
done:
    json_free(doc);
    return status;
}

static void print_printable(FILE *f, const char *text)
{
    char shown[256];
    fputs(utf8_printable(shown, sizeof shown, text, strlen(text)), f);
}

static void print_array(FILE *f, const struct json *j)
{
    const struct json *name = json_member(j, "name"), *shape = json_member(j, "shape");
    fputs("  ", f);
    if (name) {
        print_printable(f, json_text(name));
        fputs("  ", f);
    }
    fprintf(f, "%s (", json_text(json_member(j, "dtype")));
    for (size_t i = 0; i < json_count(shape); i++)
        fprintf(f, "%s%lld", i ? ", " : "", (long long)json_whole(json_at(shape, i)));
    fputs(json_count(shape) == 1 ? ",)" : ")", f);
    const struct json *low = json_member(j, "min");
    if (low && json_kind(low) != JSON_KIND_NULL)
        fprintf(f, "  min %g  max %g  mean %g", json_number(low), json_number(json_member(j, "max")),
                json_number(json_member(j, "mean")));
    if (low)
        fprintf(f, "  NaN %lld  infinite %lld", (long long)json_whole(json_member(j, "nan")),
                (long long)json_whole(json_member(j, "infinite")));
    fputc('\n', f);
}

static void print_document(FILE *f, const struct json *doc)
{
    const struct json *arrays = json_member(doc, "arrays"), *metadata = json_member(doc, "metadata"),
                      *keys = json_member(doc, "keys"), *events = json_member(doc, "events");
    print_printable(f, json_text(json_member(doc, "path")));
    fprintf(f, ": %s, %lld bytes\n", json_text(json_member(doc, "kind")),
            (long long)json_whole(json_member(doc, "bytes")));
    if (json_member(doc, "document_schema")) {
        fputs("  schema: ", f);
        print_printable(f, json_text(json_member(doc, "document_schema")));
        fputc('\n', f);
    }
    for (size_t i = 0; arrays && i < json_count(arrays); i++)
        print_array(f, json_at(arrays, i));
    if (json_member(doc, "rows"))
        fprintf(f, "  %lld rows, %lld columns\n", (long long)json_whole(json_member(doc, "rows")),
                (long long)json_whole(json_member(doc, "columns")));
    if (json_member(doc, "elements"))
        fprintf(f, "  %lld elements\n", (long long)json_whole(json_member(doc, "elements")));
    for (const char *event = events ? json_first_key(events) : NULL; event;
         event = json_next_key(events, event)) {
        fprintf(f, "  %lld x ", (long long)json_whole(json_member(events, event)));
        print_printable(f, event);
        fputc('\n', f);
    }
    if (events)
        fputs("  'sotto ledger show FILE' adds up their epsilons\n", f);
    for (size_t i = 0; keys && i < json_count(keys); i++) {
        fputs(i == 0 ? "  keys: " : ", ", f);
        print_printable(f, json_text(json_at(keys, i)));
        fputs(i + 1 == json_count(keys) ? "\n" : "", f);
    }
    for (const char *key = metadata ? json_first_key(metadata) : NULL; key;
         key = json_next_key(metadata, key)) {
        fputs("  ", f);
        print_printable(f, key);
        fputs(": ", f);
        print_printable(f, json_text(json_member(metadata, key)));
        fputc('\n', f);
    }
}

sotto_status sotto_inspect_text(char **text, const char *path, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(text, path);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    FILE *f = NULL;
    char *block = NULL;
    size_t size = 0;
    TRY(inspect_file(&doc, path, ctx));
    if (!doc || !(f = open_memstream(&block, &size)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    print_document(f, doc);
    int failed = ferror(f);
    failed |= fclose(f);
    char *copy = failed ? NULL : base_strdup(block);
    if (!copy)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    *text = copy;
done:
    base_free(block);
    json_free(doc);
    return status;
}
