#include "io/array/npy_rows.h"
#include "io/array/npy.h"
#include "io/text/source.h"

#include <string.h>
#include <sys/stat.h>

struct sotto_rows {
    struct source source;
    char *name; /* the source's */
    struct sotto_array header;
    size_t data_at;
};

/* Looking at a pipe would take bytes from it. */
static bool is_regular(const char *path)
{
    struct stat info;
    return !array_member(path) && strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Row-major numbers of this machine, as many as the header states, of a type that becomes double in place. */
static bool is_plain(const struct sotto_array *header, const struct npy_layout *layout, size_t data_at,
                     const struct source *s)
{
    const bool exact = dtype_is_float(header->dtype) || sotto_dtype_size(header->dtype) == 1;
    return exact && header->ndim == 2 && !layout->fortran && !layout->big_endian &&
           header->count * sotto_dtype_size(header->dtype) == s->size - data_at;
}

sotto_status sotto_rows_open(struct sotto_rows **out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    sotto_status status = SOTTO_OK;
    static const unsigned char magic[6] = "\x93NUMPY";
    struct sotto_rows *r = NULL;
    struct npy_layout layout;
    unsigned char start[sizeof magic];
    *out = NULL;
    if (!is_regular(path))
        return SOTTO_OK;
    NEW(r, 1);
    r->source.fd = -1;
    NEW_TEXT(r->name, path);
    TRY(source_open(&r->source, r->name, NULL));
    if (r->source.size < sizeof magic)
        goto done;
    TRY(source_read(&r->source, start, 0, sizeof start));
    if (memcmp(start, magic, sizeof magic) != 0)
        goto done;
    TRY(npy_header_parse(&r->header, &layout, &r->data_at, &r->source));
    if (!is_plain(&r->header, &layout, r->data_at, &r->source))
        goto done;
    *out = r;
    r = NULL;
done:
    sotto_rows_close(r);
    return status;
}

void sotto_rows_shape(size_t *rows, size_t *columns, enum sotto_dtype *dtype, const struct sotto_rows *r)
{
    GIVEN_OR(, rows, columns, dtype, r);
    *rows = r->header.shape[0];
    *columns = r->header.shape[1];
    *dtype = r->header.dtype;
}

const char *npy_rows_name(const struct sotto_rows *r)
{
    GIVEN_OR(NULL, r);
    return r->name;
}

/* Narrower numbers come to lie at the end of *out, and are widened from its start on. */
sotto_status npy_rows_read(double *out, const struct sotto_rows *r, size_t first, size_t count)
{
    REQUIRE_GIVEN(out, r);
    sotto_status status = SOTTO_OK;
    const size_t columns = r->header.shape[1], size = sotto_dtype_size(r->header.dtype);
    REQUIRE(first <= r->header.shape[0] && count <= r->header.shape[0] - first,
            "%s: has %zu rows; rows %zu to %zu were asked for", r->name, r->header.shape[0], first,
            first + count);
    struct sotto_array part = r->header;
    part.count = count * columns;
    part.data = (unsigned char *)out + part.count * (sizeof *out - size);
    TRY(source_read(&r->source, part.data, r->data_at + first * columns * size, part.count * size));
    TRY(array_check_booleans(&part, first * columns, r->name));
    for (size_t i = 0; size < sizeof *out && i < part.count; i++)
        out[i] = array_value(&part, i);
done:
    return status;
}

void sotto_rows_close(struct sotto_rows *r)
{
    if (!r)
        return;
    source_close(&r->source);
    base_free(r->name);
    base_free(r);
}
