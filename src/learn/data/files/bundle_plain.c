/* Plain files, where there is no libarchive: they need no library. */
#include "data/files/bundle_plain.h"

#include "base/file.h"

#include <string.h>

static bool is_packed(const unsigned char *data, size_t size)
{
    static const struct {
        const char *bytes;
        size_t length, at;
    } magic[] = {{"\x1f\x8b", 2, 0},
                 {"\xfd"
                  "7zXZ",
                  5, 0},
                 {"BZh", 3, 0},
                 {"\x5d\0\0", 3, 0},
                 {"PK\x03\x04", 4, 0},
                 {"PK\x05\x06", 4, 0},
                 {"ustar", 5, 257}};
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
        if (size >= magic[i].at + magic[i].length &&
            memcmp(data + magic[i].at, magic[i].bytes, magic[i].length) == 0)
            return true;
    return false;
}

sotto_status plain_refuse(const char *name)
{
    return status_fail(SOTTO_ENOTSUP,
                       "%s: is an archive or a compressed file; expected libarchive.so.13 (package "
                       "libarchive13) and a sotto that was built with "
                       "libarchive-dev; unpack the file, or install them",
                       name);
}

sotto_status plain_from_memory(struct bundle *out, const char *name, const void *data, size_t size,
                               const struct bundle_limits *limits)
{
    sotto_status status = SOTTO_OK;
    struct bundle b = {.single = true};
    unsigned char *copy = NULL;
    if (is_packed(data, size))
        return plain_refuse(name);
    if (size > limits->bytes)
        FAIL(SOTTO_EFORMAT, "%s: has more than %zu bytes; refused", name, limits->bytes);
    NEW_TEXT(b.origin, name);
    NEW(copy, size + 1);
    if (size > 0)
        memcpy(copy, data, size);
    status = bundle_add(&b, path_base(name), copy, size);
    copy = NULL; /* taken over */
    if (status != SOTTO_OK)
        goto done;
    *out = b;
    b = (struct bundle){0};
done:
    base_free(copy);
    bundle_clear(&b);
    return status;
}

sotto_status plain_from_file(struct bundle *out, const char *path, const struct bundle_limits *limits,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    unsigned char *data = NULL;
    size_t size = 0;
    TRY(file_read_asking(&data, &size, path, limits->bytes, ctx));
    TRY(plain_from_memory(out, path, data, size, limits));
done:
    base_free(data);
    return status;
}
