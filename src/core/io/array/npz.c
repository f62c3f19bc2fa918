#include "io/array/npz.h"

#include "base/file.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "io/array/zip.h"
#include "io/text/utf8.h"

#include <stdio.h>
#include <string.h>

static const uint64_t TOTAL_LIMIT = (uint64_t)64 << 30;

/* "weights.npy" -> the length of "weights"; 0: no such name. */
static size_t key_length(const char *member)
{
    size_t n = strlen(member);
    return n > 4 && strcmp(member + n - 4, ".npy") == 0 ? n - 4 : 0;
}

static sotto_status read_array(struct sotto_array *out, const struct zip *z, size_t member)
{
    sotto_status status = SOTTO_OK;
    const struct zip_member *m = &z->members[member];
    char where[600], shown[80];
    unsigned char *data = NULL;
    utf8_printable(shown, sizeof shown, m->name, strlen(m->name));
    if (m->size > TOTAL_LIMIT)
        FAIL(SOTTO_EFORMAT, "%s: member '%s' has more than 64 GiB", z->source->name, shown);
    NEW(data, (size_t)m->size + 1);
    TRY(zip_read(data, z, member));
    snprintf(where, sizeof where, "%.480s: %s", z->source->name, shown);
    TRY(npy_from_memory(out, data, (size_t)m->size, where));
done:
    base_free(data);
    return status;
}

/* Every member is an array, and all together fit. */
static sotto_status check_members(const struct zip *z)
{
    sotto_status status = SOTTO_OK;
    uint64_t total = 0;
    char shown[80];
    for (size_t i = 0; i < z->count; i++) {
        const struct zip_member *m = &z->members[i];
        utf8_printable(shown, sizeof shown, m->name, strlen(m->name));
        if (!key_length(m->name))
            FAIL(SOTTO_EFORMAT, "%s: member '%s' is not a .npy file", z->source->name, shown);
        for (size_t k = 0; k < i; k++)
            if (strcmp(z->members[k].name, m->name) == 0)
                FAIL(SOTTO_EFORMAT, "%s: two members are named '%s'", z->source->name, shown);
        total += m->size < TOTAL_LIMIT ? m->size : TOTAL_LIMIT;
    }
    if (total > TOTAL_LIMIT || total / 1032 > z->source->size)
        FAIL(SOTTO_EFORMAT, "%s: its members claim more than a file of this size can hold", z->source->name);
done:
    return status;
}

sotto_status npz_read(struct sotto_tensors *out, const struct source *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct sotto_array a = {0};
    struct zip z = {0};
    TRY(zip_open(&z, s));
    TRY(check_members(&z));
    for (size_t i = 0; i < z.count; i++) {
        TRY(read_array(&a, &z, i));
        z.members[i].name[key_length(z.members[i].name)] = '\0';
        TRY(tensors_push(&t, z.members[i].name, &a));
    }
    *out = t;
    t = (struct sotto_tensors){0};
done:
    zip_close(&z);
    sotto_array_clear(&a);
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status no_such_member(const struct zip *z, const char *name)
{
    const char *file = z->source->name;
    char names[256] = "", shown[80];
    size_t used = 0;
    for (size_t i = 0; i < z->count && used < sizeof names; i++) {
        utf8_printable(shown, sizeof shown, z->members[i].name, key_length(z->members[i].name));
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", shown);
    }
    if (name)
        return status_fail(SOTTO_EFORMAT, "%s: has no array '%s'; it contains %s", file, name, names);
    if (strlen(file) < 4 || strcmp(file + strlen(file) - 4, ".npz") != 0)
        return status_fail(
            SOTTO_EFORMAT,
            "%s: is a ZIP archive of %zu arrays (%s); name it .npz and choose one by FILE.npz:NAME", file,
            z->count, names);
    return status_fail(SOTTO_EFORMAT, "%s: contains %zu arrays (%s); choose one by %s:NAME", file, z->count,
                       names, file);
}

sotto_status npz_read_member(struct sotto_array *out, const struct source *s, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct zip z = {0};
    size_t found = 0;
    TRY(zip_open(&z, s));
    TRY(check_members(&z));
    while (name && found < z.count &&
           (strlen(name) != key_length(z.members[found].name) ||
            strncmp(z.members[found].name, name, strlen(name)) != 0))
        found++;
    if (name ? found == z.count : z.count != 1)
        TRY(no_such_member(&z, name));
    TRY(read_array(out, &z, found));
done:
    zip_close(&z);
    return status;
}

sotto_status npz_from_memory(struct sotto_tensors *out, const void *data, size_t size, const char *name)
{
    struct source s = source_memory(data, size, name);
    return npz_read(out, &s);
}

sotto_status sotto_npz_load(struct sotto_tensors *out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    return npz_load_asking(out, path, NULL);
}

sotto_status npz_load_asking(struct sotto_tensors *out, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    TRY(source_open(&s, path, ctx));
    TRY(npz_read(out, &s));
done:
    source_close(&s);
    return status;
}

static sotto_status write_array(struct zip_writer *w, const struct sotto_tensor *item)
{
    sotto_status status = SOTTO_OK;
    unsigned char header[NPY_HEADER_LIMIT];
    const size_t room = strlen(item->name) + 5;
    char *member = NULL;
    NEW(member, room);
    snprintf(member, room, "%s.npy", item->name);
    TRY(zip_write(w, member, header, npy_header(header, &item->array), item->array.data,
                  item->array.count * sotto_dtype_size(item->array.dtype)));
done:
    base_free(member);
    return status;
}

sotto_status npz_save(const char *path, const struct sotto_tensors *t)
{
    REQUIRE_GIVEN(path, t);
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {0};
    struct zip_writer w = {.file = &f};
    TRY(atomic_open(&f, path));
    for (size_t i = 0; i < t->count && status == SOTTO_OK; i++)
        status = write_array(&w, &t->items[i]);
    zip_write_end(&w);
    if (status == SOTTO_OK)
        status = atomic_commit(&f);
done:
    atomic_discard(&f);
    return status;
}
