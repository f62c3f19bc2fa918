#include "nn/loop/resumes.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sotto_status name_file(char **out, const char *checkpoint)
{
    sotto_status status = SOTTO_OK;
    const size_t capacity = strlen(checkpoint) + sizeof ".resumes";
    NEW(*out, capacity);
    snprintf(*out, capacity, "%s.resumes", checkpoint);
done:
    return status;
}

/* One digit and a line break. */
static sotto_status read_count(int *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    unsigned char *text = NULL;
    size_t size;
    *out = 0;
    if (!file_exists(path))
        goto done;
    TRY(file_read(&text, &size, path, 64));
    if (size != 2 || text[0] < '0' || text[0] > '0' + RESUMES_MOST || text[1] != '\n')
        FAIL(SOTTO_EFORMAT, "%s: not a count of resumes; expected a digit up to %d. Remove it to count anew",
             path, RESUMES_MOST);
    *out = text[0] - '0';
done:
    base_free(text);
    return status;
}

sotto_status resumes_count(const char *checkpoint)
{
    sotto_status status = SOTTO_OK;
    char *path = NULL;
    int count;
    TRY(name_file(&path, checkpoint));
    TRY(read_count(&count, path));
    if (count == RESUMES_MOST) {
        status = status_fail(
            SOTTO_ESTUCK,
            "%s: %d resumes in a row ended before they had finished one step; expected a step, so this one "
            "stops before it trains or charges anything",
            checkpoint, RESUMES_MOST);
        status_hint(
            "find out what ends them (too little memory, or a time limit that no step fits in), then remove "
            "%s to continue, or give {fresh} to start again at step 0",
            path);
        goto done;
    }
    TRY(file_write(path, (const char[]){(char)('1' + count), '\n'}, 2));
done:
    base_free(path);
    return status;
}

sotto_status resumes_forget(const char *checkpoint)
{
    sotto_status status = SOTTO_OK;
    char *path = NULL;
    TRY(name_file(&path, checkpoint));
    if (unlink(path) != 0 && errno != ENOENT)
        FAIL(SOTTO_EIO, "%s: cannot be removed after a finished step: %s", path, strerror(errno));
done:
    base_free(path);
    return status;
}
