/* The header is a Python literal, a dict with exactly three keys. It is parsed by hand, strictly: strings
 * without escapes, True/False, a tuple of integers. Nothing is evaluated, pickles are refused by name. */
#include "io/array/npy.h"
#include "sotto/private/io.h"

#include "base/file.h"
#include "io/text/utf8.h"

#include <stdio.h>
#include <string.h>

enum { HEADER_CAP = 1 << 16 };

struct cursor {
    const char *p, *end;
    const char *name; /* of the file */
};

static void skip_blanks(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n'))
        c->p++;
}

static bool npy_accept(struct cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->p == c->end || *c->p != wanted)
        return false;
    c->p++;
    return true;
}

static bool accept_word(struct cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->p) < length || memcmp(c->p, word, length) != 0)
        return false;
    c->p += length;
    return true;
}

static sotto_status bad_header(const struct cursor *c, const char *expected)
{
    char shown[40];
    utf8_printable(shown, sizeof shown, c->p, (size_t)(c->end - c->p));
    return status_fail(SOTTO_EFORMAT, "%s: damaged .npy header at '%s'; expected %s", c->name, shown,
                       expected);
}

static sotto_status parse_text(struct cursor *c, const char **text, size_t *length)
{
    skip_blanks(c);
    char quote = c->p < c->end ? *c->p : '\0';
    if (quote != '\'' && quote != '"')
        return bad_header(c, "a quoted text");
    const char *close = memchr(c->p + 1, quote, (size_t)(c->end - c->p - 1));
    if (!close)
        return bad_header(c, "a closing quote");
    *text = c->p + 1;
    *length = (size_t)(close - *text);
    c->p = close + 1;
    return SOTTO_OK;
}

static sotto_status parse_size(struct cursor *c, size_t *out)
{
    skip_blanks(c);
    const char *start = c->p;
    size_t value = 0;
    while (c->p < c->end && *c->p >= '0' && *c->p <= '9') {
        if (!size_multiply(&value, value, 10) || !size_add(&value, value, (size_t)(*c->p - '0')))
            return status_fail(SOTTO_EFORMAT, "%s: a dimension does not fit in 64 bits", c->name);
        c->p++;
    }
    if (c->p == start)
        return bad_header(c, "a whole number");
    *out = value;
    return SOTTO_OK;
}

static sotto_status parse_shape(struct cursor *c, struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    bool comma = true;
    if (!npy_accept(c, '('))
        return bad_header(c, "a shape such as (100, 10)");
    a->ndim = 0;
    while (!npy_accept(c, ')')) {
        if (!comma)
            return bad_header(c, "',' or ')'");
        if (a->ndim == SOTTO_MAX_DIMS)
            return status_fail(SOTTO_EFORMAT, "%s: too many dimensions; expected at most %d", c->name,
                               SOTTO_MAX_DIMS);
        TRY(parse_size(c, &a->shape[a->ndim++]));
        comma = npy_accept(c, ',');
    }
    if (a->ndim == 1 && !comma) /* (5) is a number in Python, (5,) a tuple */
        return bad_header(c, "',' after a single dimension");
done:
    return status;
}

static sotto_status parse_descr(struct cursor *c, enum sotto_dtype *out, bool *big_endian)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    size_t length;
    char shown[40];
    skip_blanks(c);
    if (c->p < c->end && *c->p == '[')
        FAIL(SOTTO_EFORMAT, "%s: contains records with named fields; expected one of " DTYPE_LIST, c->name);
    TRY(parse_text(c, &text, &length));
    utf8_printable(shown, sizeof shown, text, length);
    if (length >= 2 && (text[1] == 'O' || text[0] == 'O'))
        FAIL(SOTTO_EFORMAT,
             "%s: dtype '%s' means pickled Python objects, which could run code; save float32 with "
             "allow_pickle=False",
             c->name, shown);
    if ((length == 3 && memcmp(text + 1, "V2", 2) == 0) ||
        (length == 8 && memcmp(text, "bfloat16", 8) == 0)) {
        status =
            status_fail(SOTTO_EFORMAT, "%s: dtype '%s' is how bfloat16 is saved, which is no type of .npy",
                        c->name, shown);
        status_hint("save it as float32, or in a .safetensors file");
        goto done;
    }
    for (int d = 0; d < DTYPES; d++)
        if (length == 3 && memcmp(text + 1, sotto_dtype_name((enum sotto_dtype)d), 2) == 0 &&
            strchr(sotto_dtype_size((enum sotto_dtype)d) == 1 ? "|" : "<>", text[0])) {
            *out = (enum sotto_dtype)d;
            *big_endian = text[0] == '>';
            return SOTTO_OK;
        }
    FAIL(SOTTO_EFORMAT, "%s: dtype '%s' is not supported; expected one of " DTYPE_LIST, c->name, shown);
done:
    return status;
}

/* out: dtype, ndim, shape. */
static sotto_status parse_header(struct cursor *c, struct sotto_array *out, struct npy_layout *layout)
{
    sotto_status status = SOTTO_OK;
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false}, comma = true;
    if (!npy_accept(c, '{'))
        return bad_header(c, "'{'");
    while (!npy_accept(c, '}')) {
        const char *text;
        size_t length, key = 0;
        if (!comma)
            return bad_header(c, "',' or '}'");
        TRY(parse_text(c, &text, &length));
        while (key < 3 && (strlen(keys[key]) != length || memcmp(keys[key], text, length) != 0))
            key++;
        if (key == 3 || seen[key])
            FAIL(SOTTO_EFORMAT,
                 "%s: damaged .npy header; expected the keys descr, fortran_order and shape, once each",
                 c->name);
        seen[key] = true;
        if (!npy_accept(c, ':'))
            return bad_header(c, "':'");
        if (key == 0) {
            TRY(parse_descr(c, &out->dtype, &layout->big_endian));
        } else if (key == 1) {
            layout->fortran = accept_word(c, "True");
            if (!layout->fortran && !accept_word(c, "False"))
                return bad_header(c, "True or False");
        } else {
            TRY(parse_shape(c, out));
        }
        comma = npy_accept(c, ',');
    }
    skip_blanks(c);
    if (c->p != c->end)
        return bad_header(c, "the end of the header");
    if (!seen[0] || !seen[1] || !seen[2])
        FAIL(SOTTO_EFORMAT,
             "%s: damaged .npy header; expected the keys descr, fortran_order and shape, once each", c->name);
done:
    return status;
}

/* Where the header text starts and how long it is. */
static sotto_status read_preamble(const struct source *s, size_t *start, size_t *length)
{
    sotto_status status = SOTTO_OK;
    unsigned char b[12];
    char shown[SOURCE_BYTES];
    if (s->size < 10)
        FAIL(SOTTO_EFORMAT, "%s: has %zu bytes; too short for a .npy file", s->name, s->size);
    TRY(source_read(s, b, 0, s->size < sizeof b ? s->size : sizeof b));
    if (memcmp(b, "\x93NUMPY", 6) != 0)
        TRY(source_refuse(s, "a .npy file"));
    if (b[6] < 1 || b[6] > 3 || b[7] != 0)
        FAIL(SOTTO_EFORMAT, "%s: .npy version %u.%u is not supported; expected 1.0, 2.0 or 3.0", s->name,
             b[6], b[7]);
    if (b[6] > 1 && s->size < sizeof b)
        FAIL(SOTTO_EFORMAT, "%s: has %zu bytes; too short for a .npy file", s->name, s->size);
    size_t at = b[6] == 1 ? 10 : 12;
    size_t n = b[8] | (size_t)b[9] << 8 | (b[6] == 1 ? 0 : (size_t)b[10] << 16 | (size_t)b[11] << 24);
    if (n > s->size - at)
        FAIL(SOTTO_EFORMAT, "%s: header states %s but the file has %zu bytes; the file is cut or damaged",
             s->name, source_bytes(shown, n), s->size);
    if (n > HEADER_CAP)
        FAIL(SOTTO_EFORMAT, "%s: its header has %s; expected at most %d bytes", s->name,
             source_bytes(shown, n), HEADER_CAP);
    *start = at;
    *length = n;
done:
    return status;
}

sotto_status npy_header_parse(struct sotto_array *out, struct npy_layout *layout, size_t *data_at,
                              const struct source *s)
{
    sotto_status status = SOTTO_OK;
    struct npy_layout found = {0};
    struct sotto_array header = {0};
    char *text = NULL, shown[256];
    size_t start = 0, length = 0, bytes;
    TRY(read_preamble(s, &start, &length));
    NEW(text, length + 1);
    TRY(source_read(s, text, start, length));
    TRY(parse_header(&(struct cursor){text, text + length, s->name}, &header, &found));
    if (!array_bytes(&header.count, &bytes, header.dtype, header.ndim, header.shape))
        FAIL(SOTTO_EFORMAT, "%s: header states %s, which no file can contain; the file is damaged", s->name,
             array_describe(shown, header.dtype, header.ndim, header.shape));
    *out = header;
    *layout = found;
    *data_at = start + length;
done:
    base_free(text);
    return status;
}

static void swap_bytes(struct sotto_array *a)
{
    const size_t size = sotto_dtype_size(a->dtype);
    unsigned char *b = a->data;
    for (size_t i = 0; i < a->count; i++, b += size)
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char kept = b[k];
            b[k] = b[size - 1 - k];
            b[size - 1 - k] = kept;
        }
}

/* From first index fastest to last index fastest. */
static sotto_status to_row_major(struct sotto_array *a, const char *name, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array rows = {0};
    const size_t size = sotto_dtype_size(a->dtype);
    size_t stride[SOTTO_MAX_DIMS], index[SOTTO_MAX_DIMS] = {0}, from = 0, step = size;
    for (int k = 0; k < a->ndim; step *= a->shape[k++])
        stride[k] = step;
    TRY(sotto_array_make(&rows, a->dtype, a->ndim, a->shape));
    for (size_t i = 0; i < a->count; i++) {
        if (i % (1 << 20) == 0)
            TRY(context_check(ctx, "%s: stopped while it was read", name));
        memcpy((unsigned char *)rows.data + i * size, (const unsigned char *)a->data + from, size);
        for (int k = a->ndim; k-- > 0;) {
            from += stride[k];
            if (++index[k] < a->shape[k])
                break;
            from -= stride[k] * a->shape[k];
            index[k] = 0;
        }
    }
    sotto_array_clear(a);
    *a = rows;
    rows = (struct sotto_array){0};
done:
    sotto_array_clear(&rows);
    return status;
}

sotto_status npy_settle(struct sotto_array *a, const struct npy_layout *layout, const char *name,
                        const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(array_check_booleans(a, 0, name));
    if (layout->big_endian)
        swap_bytes(a);
    if (layout->fortran && a->ndim > 1)
        TRY(to_row_major(a, name, ctx));
done:
    return status;
}

/* A header, where its data end with the source. */
static sotto_status read_whole_header(struct sotto_array *header, struct npy_layout *layout, size_t *data_at,
                                      const struct source *s)
{
    sotto_status status = SOTTO_OK;
    char shown[256];
    TRY(npy_header_parse(header, layout, data_at, s));
    size_t have = s->size - *data_at, bytes = header->count * sotto_dtype_size(header->dtype);
    if (bytes != have)
        FAIL(SOTTO_EFORMAT,
             "%s: header states %s = %zu bytes of data but the file has %zu; the file is cut or damaged",
             s->name, array_describe(shown, header->dtype, header->ndim, header->shape), bytes, have);
done:
    return status;
}

sotto_status npy_read(struct sotto_array *out, const struct source *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array header, a = {0};
    struct npy_layout layout;
    size_t at = 0;
    TRY(read_whole_header(&header, &layout, &at, s));
    TRY(sotto_array_make(&a, header.dtype, header.ndim, header.shape));
    TRY(source_read(s, a.data, at, s->size - at));
    TRY(npy_settle(&a, &layout, s->name, s->ctx));
    *out = a;
    a = (struct sotto_array){0};
done:
    sotto_array_clear(&a);
    return status;
}

sotto_status npy_walk(struct sotto_array *header, const struct source *s, npy_block each, void *arg)
{
    enum { BLOCK = 1 << 20 };
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    struct npy_layout layout;
    size_t at = 0;
    TRY(read_whole_header(header, &layout, &at, s));
    if (layout.fortran && header->ndim > 1) {
        TRY(npy_read(&a, s));
        TRY(each(arg, &a));
        goto done;
    }
    const size_t all = header->count, size = sotto_dtype_size(header->dtype),
                 most = all < BLOCK ? all : BLOCK;
    TRY(sotto_array_make(&a, header->dtype, 1, &most));
    for (size_t first = 0; first < all; first += a.count) {
        a.count = all - first < most ? all - first : most;
        TRY(source_read(s, a.data, at + first * size, a.count * size));
        TRY(array_check_booleans(&a, first, s->name));
        if (layout.big_endian)
            swap_bytes(&a);
        TRY(each(arg, &a));
    }
done:
    sotto_array_clear(&a);
    return status;
}

sotto_status npy_from_memory(struct sotto_array *out, const void *data, size_t size, const char *name)
{
    struct source s = source_memory(data, size, name);
    return npy_read(out, &s);
}

sotto_status npy_load(struct sotto_array *out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    return npy_load_asking(out, path, NULL);
}

sotto_status npy_load_asking(struct sotto_array *out, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    TRY(source_open(&s, path, ctx));
    TRY(npy_read(out, &s));
done:
    source_close(&s);
    return status;
}

sotto_status npy_map(struct sotto_array *out, struct file_map *map, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    struct sotto_array header;
    struct npy_layout layout;
    char shown[256];
    size_t at = 0;
    TRY(source_open(&s, path, NULL));
    if (s.fd < 0)
        FAIL(SOTTO_EFORMAT, "%s: is no regular file", path);
    TRY(read_whole_header(&header, &layout, &at, &s));
    if (header.dtype != SOTTO_U1 || (layout.fortran && header.ndim > 1))
        FAIL(SOTTO_EFORMAT, "%s: holds %s%s; expected u1, last index fastest", path,
             array_describe(shown, header.dtype, header.ndim, header.shape),
             layout.fortran ? ", first index fastest" : "");
    TRY(file_map(map, s.fd, s.size, path));
    *out = header;
    out->data = (unsigned char *)map->base + at;
done:
    source_close(&s);
    return status;
}

size_t npy_header(unsigned char out[NPY_HEADER_LIMIT], const struct sotto_array *a)
{
    char *text = (char *)out + 10;
    size_t used = 0, room = NPY_HEADER_LIMIT - 10;
    used += (size_t)snprintf(text, room, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                             sotto_dtype_size(a->dtype) == 1 ? '|' : '<', sotto_dtype_name(a->dtype));
    for (int i = 0; i < a->ndim; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%zu", i ? ", " : "", a->shape[i]);
    used += (size_t)snprintf(text + used, room - used, "%s), }", a->ndim == 1 ? "," : "");
    while ((10 + used + 1) % 64 != 0)
        text[used++] = ' ';
    text[used++] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)(used & 255);
    out[9] = (unsigned char)(used >> 8);
    return 10 + used;
}

sotto_status sotto_npy_save(const char *path, const struct sotto_array *a)
{
    REQUIRE_GIVEN(path, a);
    REQUIRE_GIVEN(!a->count || a->data);
    return npy_save_asking(path, a, NULL);
}

sotto_status npy_save_asking(const char *path, const struct sotto_array *a, const struct sotto_context *ctx)
{
    enum { PIECE = 1 << 22 };
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {0};
    unsigned char header[NPY_HEADER_LIMIT];
    REQUIRE(sotto_dtype_size(a->dtype) > 0 && a->ndim >= 0 && a->ndim <= SOTTO_MAX_DIMS,
            "%s: not a valid array", path);
    TRY(atomic_open(&f, path));
    atomic_write(&f, header, npy_header(header, a));
    size_t bytes = a->count * sotto_dtype_size(a->dtype);
    for (size_t at = 0; at < bytes; at += PIECE) {
        TRY(context_check(ctx, "%s: stopped while it was written", path));
        atomic_write(&f, (const unsigned char *)a->data + at, bytes - at < PIECE ? bytes - at : PIECE);
    }
    TRY(atomic_commit(&f));
done:
    atomic_discard(&f);
    return status;
}
