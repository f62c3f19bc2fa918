/* Text is measured, allocated by base, then written, so that callers free all text the same way. */
#include "base/file.h"
#include "io/json/json_quick.h"

#include <string.h>

sotto_status json_dump(char **text, const struct json *j, int style)
{
    sotto_status status = SOTTO_OK;
    size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    flags |= style & JSON_PRETTY ? (size_t)JSON_INDENT(2) : JSON_COMPACT;
    flags |= style & JSON_SORTED ? JSON_SORT_KEYS : 0;
    json_t *value = json_quick(j) ? json_quick_copy(json_quick(j)) : json_incref((json_t *)j);
    locale_t before = uselocale(c_locale());
    size_t length = value ? json_dumpb(value, NULL, 0, flags) : 0;
    char *block = length > 0 ? base_alloc(length + 1, 1) : NULL;
    if (!block || json_dumpb(value, block, length, flags) != length)
        FAIL(SOTTO_ENOMEM, "JSON text: out of memory");
    *text = block;
    block = NULL;
done:
    uselocale(before);
    json_decref(value);
    base_free(block);
    return status;
}

static sotto_status write_file(const char *path, const struct json *j, int style,
                               sotto_status (*commit)(struct atomic_file *))
{
    sotto_status status = SOTTO_OK;
    char *text = NULL;
    struct atomic_file f = {0};
    TRY(json_dump(&text, j, style));
    TRY(atomic_open(&f, path));
    atomic_write(&f, text, strlen(text));
    atomic_write(&f, "\n", 1);
    TRY(commit(&f));
done:
    atomic_discard(&f);
    sotto_text_free(text);
    return status;
}

sotto_status json_write_file(const char *path, const struct json *j, int style)
{
    return write_file(path, j, style, atomic_commit);
}

sotto_status json_write_once(const char *path, const struct json *j, int style)
{
    return write_file(path, j, style, atomic_commit_once);
}

void sotto_text_free(char *text)
{
    base_free(text);
}
