#include "options/manual_file.h"

#include <errno.h>
#include <string.h>

sotto_status manual_file_open(FILE **out, const char *folder, const char *name)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return cli_fail(SOTTO_EUSAGE, "help: the path of %s is too long", name);
    *out = fopen(path, "w");
    if (!*out)
        return cli_fail(SOTTO_ECREATE, "%s: cannot be created: %s", path, strerror(errno));
    return SOTTO_OK;
}

sotto_status manual_file_close(FILE *file, const char *name)
{
    int bad = ferror(file);
    if (fclose(file) != 0 || bad)
        return cli_fail(SOTTO_EIO, "%s: write failed", name);
    return SOTTO_OK;
}
