/* What one run left behind: facts that must not depend on a record, and values that may, within epsilon. */
#include "base/file.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "selftest/program.h"
#include "sotto/private/io.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HASH_DIGITS = 32,
    FILE_LIMIT = 1 << 26
}; /* from so many hexadecimal digits on they are a hash or a name */

struct reader {
    struct outcome *out;
    FILE *facts;
    const char *folder, *noisy;
    bool has_history;
};

static void put_value(struct outcome *o, double value)
{
    if (o->width == OUTCOME_VALUES) {
        memmove(o->values, o->values + 1, (OUTCOME_VALUES - 1) * sizeof *o->values);
        o->width--;
    }
    o->values[o->width++] = value;
}

/* ---- facts ---- */

static bool is_time(const char *text, const char *end)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    if ((size_t)(end - text) < sizeof form - 1)
        return false;
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

static size_t hash_length(const char *text, const char *end)
{
    size_t n = 0;
    while (text + n < end && isxdigit((unsigned char)text[n]))
        n++;
    return n >= HASH_DIGITS ? n : 0;
}

static size_t number_length(const char *text, const char *end)
{
    size_t n = 0;
    while (text + n < end && text[n] && strchr("+-.0123456789eE", text[n]))
        n++;
    return isdigit((unsigned char)*text) || (*text == '-' && n > 1) ? n : 0;
}

/* Text without what differs between two runs on the same records. */
static void put_text(const struct reader *r, const char *text, size_t size, bool numbers)
{
    const char *end = text + size;
    size_t own = strlen(r->folder), skip;
    while (text < end) {
        if ((size_t)(end - text) >= own && memcmp(text, r->folder, own) == 0)
            skip = own;
        else if (is_time(text, end))
            skip = strlen("0000-00-00T00:00:00Z");
        else
            skip = hash_length(text, end);
        if (skip == 0 && !numbers)
            skip = number_length(text, end);
        if (skip)
            fputc('#', r->facts);
        else if (*text == '\n' || isprint((unsigned char)*text))
            fputc(*text, r->facts);
        else
            fprintf(r->facts, "\\%02x", (unsigned char)*text); /* facts are a text: no zero may end it */
        text += skip ? skip : 1;
    }
}

/* Bytes that say what an array is, before its values; all of a file of another kind. */
static size_t header_length(const char *name, const unsigned char *data, size_t size)
{
    const char *dot = strrchr(name, '.');
    size_t length = 0;
    if (dot && strcmp(dot, ".npy") == 0 && size >= 10)
        length = 10 + data[8] + 256u * data[9];
    else if (dot && strcmp(dot, ".safetensors") == 0 && size >= 8)
        for (int i = 8; i-- > 0;)
            length = length << 8 | data[i];
    else
        length = size;
    length += dot && strcmp(dot, ".safetensors") == 0 ? 8 : 0;
    return length < size ? length : size;
}

/* ---- values ---- */

static sotto_status put_array(struct outcome *o, struct sotto_array *a)
{
    sotto_status status = sotto_array_convert(a, SOTTO_F8);
    for (size_t i = 0; status == SOTTO_OK && i < a->count; i++)
        put_value(o, ((double *)a->data)[i]);
    return status;
}

static sotto_status put_npy(struct outcome *o, const char *path)
{
    struct sotto_array a = {0};
    sotto_status status = npy_load(&a, path);
    if (status == SOTTO_OK)
        status = put_array(o, &a);
    sotto_array_clear(&a);
    return status;
}

static sotto_status put_tensors(struct outcome *o, const char *path)
{
    struct sotto_tensors t = {0};
    sotto_status status = safetensors_load(&t, path);
    for (size_t i = 0; status == SOTTO_OK && i < t.count; i++)
        status = put_array(o, &t.items[i].array);
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status put_json(struct outcome *o, const char *path)
{
    return json_file_numbers(put_value, o, path);
}

/* ---- files ---- */

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool starts_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* A folder that stays with the owner of the records, but for what is released from it. The names of its files are seen,
 * checkpoints aside, which are named for hashes. */
static bool is_hidden(const struct reader *r, const char *name)
{
    if (r->has_history && starts_with(name, "home/"))
        return true;
    return starts_with(name, "private/") && !starts_with(name, "private/protected/");
}

static sotto_status read_file(struct reader *r, const char *name)
{
    sotto_status status = SOTTO_OK;
    char path[PROGRAM_PATH];
    unsigned char *data = NULL;
    size_t size;
    bool noisy = r->noisy && strcmp(name, r->noisy) == 0, json = ends_in(name, ".json");
    TRY(path_join(path, sizeof path, r->folder, name));
    if (!noisy && is_hidden(r, name)) {
        if (!starts_with(name, "private/checkpoints/"))
            fprintf(r->facts, "%s\n", name);
        goto done;
    }
    TRY(file_read(&data, &size, path, FILE_LIMIT));
    fprintf(r->facts, "%s", name);
    if (!noisy || !json) /* a number has as many digits as it has */
        fprintf(r->facts, ", %zu bytes", size);
    fputs(":\n", r->facts);
    put_text(r, (const char *)data, header_length(name, data, size), !(noisy && json));
    fputc('\n', r->facts);
    if (noisy)
        TRY(json ? put_json(r->out, path) : (ends_in(name, ".npy") ? put_npy : put_tensors)(r->out, path));
done:
    base_free(data);
    return status;
}

static int is_entry(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Everything below `inside`, a name within the folder ("" is the folder itself), in the order of names. */
static sotto_status read_folder(struct reader *r, const char *inside)
{
    sotto_status status = SOTTO_OK;
    char path[PROGRAM_PATH], name[PROGRAM_PATH];
    struct dirent **entries = NULL;
    TRY(path_join(path, sizeof path, r->folder, inside));
    int count = scandir(path, &entries, is_entry, by_bytes);
    if (count < 0)
        FAIL(SOTTO_EIO, "selftest: %s cannot be listed", path);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%s%s", inside, *inside ? "/" : "", entries[i]->d_name);
        if (status == SOTTO_OK)
            status = path_join(path, sizeof path, r->folder, name);
        if (status == SOTTO_OK)
            status = file_is_folder(path) ? read_folder(r, name) : read_file(r, name);
        free(entries[i]);
    }
    free(entries);
done:
    return status;
}

sotto_status outcome_read(struct outcome *out, const char *folder, int code, const char *noisy,
                          bool has_history)
{
    sotto_status status = SOTTO_OK;
    struct outcome o = {0};
    size_t size;
    struct reader r = {&o, open_memstream(&o.facts, &size), folder, noisy, has_history};
    if (!r.facts)
        return status_fail(SOTTO_ENOMEM, "selftest: out of memory");
    fprintf(r.facts, "exit code %d\n", code);
    status = read_folder(&r, "");
    if (fclose(r.facts) != 0 && status == SOTTO_OK)
        status = status_fail(SOTTO_ENOMEM, "selftest: out of memory");
    if (status != SOTTO_OK)
        outcome_clear(&o);
    *out = o;
    return status;
}

void outcome_clear(struct outcome *o)
{
    free(o->facts); /* of open_memstream() */
    *o = (struct outcome){0};
}

bool outcome_differs(char *text, size_t capacity, const struct outcome *a, const struct outcome *b)
{
    const char *x = a->facts, *y = b->facts;
    size_t n;
    while (*x && (n = strcspn(x, "\n") + 1) && strncmp(x, y, n) == 0) {
        x += n;
        y += n;
    }
    if (!*x && !*y)
        return false;
    n = 0; /* a few characters before the first that differs */
    while (x[n] && x[n] == y[n])
        n++;
    n -= n < 16 ? n : 16;
    x += n, y += n;
    snprintf(text, capacity, "'%.*s' and '%.*s'", (int)(strcspn(x, "\n") < 60 ? strcspn(x, "\n") : 60), x,
             (int)(strcspn(y, "\n") < 60 ? strcspn(y, "\n") : 60), y);
    return true;
}
