/* Lists of named files. Names are checked once, when they enter. */
#include "data/files/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct bundle_limits bundle_default_limits = {
    .entries = 4000000, .bytes = (size_t)16 << 30, .expansion = 1000, .memory = (size_t)256 << 20};

void bundle_clear(struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++) {
        base_free(b->entries[i].name);
        base_free(b->entries[i].data);
    }
    base_free(b->entries);
    base_free(b->origin);
    *b = (struct bundle){0};
}

bool text_is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        int more = *p < 0x80                 ? 0
                   : *p >= 0xC2 && *p < 0xE0 ? 1
                   : *p >= 0xE0 && *p < 0xF0 ? 2
                   : *p >= 0xF0 && *p < 0xF5 ? 3
                                             : -1;
        if (more < 0)
            return false;
        /* Overlong forms, surrogates and code points past 10FFFF show in the second byte. */
        if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90) ||
            (*p == 0xF4 && p[1] > 0x8F))
            return false;
        for (p++; more > 0; more--, p++)
            if ((*p & 0xC0) != 0x80)
                return false;
    }
    return true;
}

/* Bytes that a terminal or a log could not show are printed as \xNN. */
static void bundle_printable(char *out, size_t capacity, const char *name)
{
    size_t used = 0;
    for (const unsigned char *p = (const unsigned char *)name; *p && used + 5 < capacity; p++)
        used += (size_t)snprintf(out + used, capacity - used, *p < 0x20 || *p >= 0x7F ? "\\x%02x" : "%c", *p);
    out[used] = '\0';
}

static sotto_status check_name(const char *name)
{
    char shown[256];
    bool control = false;
    for (const char *p = name; *p; p++)
        control |= (unsigned char)*p < 0x20 || *p == 0x7F;
    bundle_printable(shown, sizeof shown, name);
    if (control || !text_is_utf8(name))
        return status_fail(SOTTO_EFORMAT, "file name '%s' is not printable UTF-8 text; rename the file",
                           shown);
    bool leaves = name[0] == '/';
    for (const char *p = name; *p; p++)
        leaves |= (p == name || p[-1] == '/') && p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0');
    if (leaves)
        return status_fail(SOTTO_EFORMAT, "file name '%s' points outside the archive", shown);
    if (name[0] == '\0' || strlen(name) > 1024)
        return status_fail(SOTTO_EFORMAT, "file name '%.60s' is empty or longer than 1024 bytes", shown);
    return SOTTO_OK;
}

sotto_status bundle_add(struct bundle *b, const char *name, unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    TRY(check_name(name));
    if (b->count == b->capacity) {
        size_t capacity = b->capacity ? 2 * b->capacity : 64;
        REGROW(b->entries, b->count, capacity);
        b->capacity = capacity;
    }
    char *copy = NULL;
    NEW_TEXT(copy, name);
    b->entries[b->count++] = (struct bundle_entry){.name = copy, .data = data, .size = size};
    data = NULL;
done:
    base_free(data);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct bundle_entry *)a)->name, ((const struct bundle_entry *)b)->name);
}

void bundle_sort(struct bundle *b)
{
    if (b->count > 1)
        qsort(b->entries, b->count, sizeof *b->entries, by_name);
}

void bytes_clear(struct bytes *b)
{
    base_free(b->owned);
    *b = (struct bytes){0};
}

bool bundle_path(char *out, size_t capacity, const struct bundle *b, size_t entry)
{
    const struct bundle_entry *e = &b->entries[entry];
    int length = b->single || b->colon ? snprintf(out, capacity, "%s", b->single ? b->origin : e->name)
                                       : snprintf(out, capacity, "%s/%s", b->origin, e->name);
    return !e->data && !e->left && (size_t)length < capacity;
}

void bundle_where(char *out, size_t capacity, const struct bundle *b, size_t entry)
{
    const struct bundle_entry *e = &b->entries[entry];
    if (b->single)
        snprintf(out, capacity, "%s", b->origin);
    else if (b->colon)
        snprintf(out, capacity, "%s", e->name);
    else
        snprintf(out, capacity, e->data || e->left ? "%s: %s" : "%s/%s", b->origin, e->name);
}

void bundle_prefix_error(const struct bundle *b, size_t entry)
{
    char where[700];
    bundle_where(where, sizeof where, b, entry);
    status_prefix(where);
}

const char *path_base(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

bool name_ends(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcasecmp(name + n - m, ending) == 0;
}
