/* One array of any origin: the first bytes say what a file or a pipe is, and the ending where they cannot. */
#include "io/array/npy.h"
#include "io/array/npz.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/table/csv.h"
#include "io/text/number.h"

#include <math.h>
#include <string.h>

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

/* A double would round them without a word. */
static sotto_status check_whole_numbers(const struct csv *table, size_t first)
{
    const int64_t limit = (int64_t)1 << 53;
    sotto_status status = SOTTO_OK;
    for (size_t r = first; r < table->rows; r++)
        for (size_t c = 0; c < table->columns; c++) {
            const char *cell = csv_cell(table, r, c), *digits = cell + strspn(cell, "+-");
            if (strlen(digits) < 16 || digits[strspn(digits, "0123456789")])
                continue;
            int64_t x;
            if (!number_whole(&x, digits, strlen(digits)) || x > limit)
                FAIL(SOTTO_EFORMAT, "%s:%zu: cell %zu is %.40s; expected whole numbers up to 2^53",
                     table->name, table->lines[r], c + 1, cell);
        }
done:
    return status;
}

/* Of private records: what is no number is NaN. */
static sotto_status to_array_in_silence(struct sotto_array *out, const struct csv *table, size_t first)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(first < table->rows, "%s: contains no rows of numbers; expected at least one", table->name);
    TRY(sotto_array_make(out, SOTTO_F8, 2, (const size_t[]){table->rows - first, table->columns}));
    double *x = out->data;
    for (size_t i = 0; i < out->count; i++) {
        const char *cell = csv_cell(table, first + i / table->columns, i % table->columns);
        if (!number_real(&x[i], cell, strlen(cell)))
            x[i] = NAN;
    }
done:
    return status;
}

static sotto_status read_csv(struct sotto_array *out, const struct source *s, bool quiet)
{
    sotto_status status = SOTTO_OK;
    struct csv_style style = {.ctx = s->ctx};
    struct csv table = {0};
    char *text = NULL;
    if (!quiet)
        TRY(source_check_text(s));
    if (s->size > (size_t)1 << 30)
        FAIL(SOTTO_EFORMAT, "%s: has more than 1 GiB; save a table of this size as .npy", s->name);
    NEW(text, s->size + 1);
    TRY(source_read(s, text, 0, s->size));
    TRY(csv_parse(&table, text, s->size, s->name, &style));
    if (table.columns ==
        1) { /* without its cell a record must not vanish: all labels behind it would move up */
        csv_clear(&table);
        style.empty_row = true;
        TRY(csv_parse(&table, text, s->size, s->name, &style));
    }
    const size_t first = csv_has_header(&table) ? 1 : 0;
    if (quiet) {
        TRY(to_array_in_silence(out, &table, first));
    } else {
        TRY(check_whole_numbers(&table, first));
        TRY(csv_to_array(out, &table, first));
    }
done:
    csv_clear(&table);
    base_free(text);
    return status;
}

static sotto_status read_safetensors(struct sotto_array *out, const struct source *s, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors all = {0};
    struct sotto_array *found = NULL;
    TRY(safetensors_read(&all, s));
    if (name)
        found = tensors_find(&all, name);
    else if (all.count == 1)
        found = &all.items[0].array;
    if (!found && name)
        FAIL(SOTTO_EFORMAT, "%s: has no array '%s'", s->name, name);
    if (!found)
        FAIL(SOTTO_EFORMAT, "%s: contains %zu arrays; choose one by %s:NAME", s->name, all.count, s->name);
    *out = *found;
    *found = (struct sotto_array){0}; /* moved */
done:
    sotto_tensors_clear(&all);
    return status;
}

/* member NULL: the only array. */
static sotto_status read_any(struct sotto_array *out, const struct source *s, const char *member, bool quiet)
{
    sotto_status status = SOTTO_OK;
    unsigned char b[9] = {0};
    const size_t have = s->size < sizeof b - 1 ? s->size : sizeof b - 1;
    TRY(source_read(s, b, 0, s->size < sizeof b ? s->size : sizeof b));
    const bool unnamed = s->memory || strcmp(s->name, "-") == 0;
    const bool zip = memcmp(b, "PK\x03\x04", 4) == 0 || memcmp(b, "PK\x05\x06", 4) == 0;
    const bool npy = memcmp(b, "\x93NUMPY", 6) == 0, header = b[8] == '{' && memchr(b, 0, 8);
    if (zip || ends_in(s->name, ".npz"))
        status = npz_read_member(out, s, member);
    else if (!npy && (header || ends_in(s->name, ".safetensors")))
        status = read_safetensors(out, s, member);
    else if (!npy && (ends_in(s->name, ".csv") || (unnamed && have > 0 && !memchr(b, 0, have))))
        status = read_csv(out, s, quiet);
    else
        status = npy_read(out, s);
done:
    return status;
}

sotto_status sotto_array_load(struct sotto_array *out, const char *path, int quiet,
                              const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, path);
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    const char *colon = array_member(path);
    char *file = NULL;
    NEW_TEXT(file, path);
    if (colon)
        file[colon - path] = '\0';
    TRY(source_open(&s, file, ctx));
    TRY(read_any(out, &s, colon ? colon + 1 : NULL, quiet));
done:
    source_close(&s);
    base_free(file);
    return status;
}
