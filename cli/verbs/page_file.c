/* A page that is asked for by a verb. */
#include "verbs/page_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sotto_status page_file_write(const char *path, const char *page)
{
    if (!path) {
        fputs(page, stdout);
        return SOTTO_OK;
    }
    FILE *f = fopen(path, "w");
    if (!f)
        return cli_fail(SOTTO_ECREATE, "%s: cannot be created: %s", path, strerror(errno));
    const int failed = fputs(page, f) < 0;
    if (fclose(f) == 0 && !failed)
        return SOTTO_OK;
    const int why = errno;
    struct stat info;
    if (stat(path, &info) == 0 &&
        S_ISREG(info.st_mode)) /* half of a page says something else than all of it */
        unlink(path);
    return cli_fail(SOTTO_EIO, "%s: cannot be written: %s", path, strerror(why));
}
