#include "base/file.h"
#include "base/sha256.h"
#include "io/array/array.h"

sotto_status array_file_sha256(char out[SHA256_HEX], const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const char *colon = array_member(path);
    char *file = NULL;
    NEW_TEXT(file, path);
    if (colon)
        file[colon - path] = '\0';
    out[0] = '\0';
    if (!file_is_pipe(file))
        TRY(sha256_file_asking(out, file, ctx));
done:
    base_free(file);
    return status;
}
