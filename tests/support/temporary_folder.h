/* One temporary folder for a test program: cmocka group set-up and tear-down, and paths inside it. */
#ifndef TESTS_TEMPORARY_FOLDER_H
#define TESTS_TEMPORARY_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

/* The path of a file in it; good for eight calls. */
static inline const char *path_of(const char *name)
{
    static char path[8][128];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    return mkdtemp(folder) && setenv("XDG_DATA_HOME", folder, 1) == 0 ? 0 : -1; /* no ledger outside of it */
}

/* New bytes in a file as a forger writes them: file_write() would move a certificate beside it out of the way. */
static inline int overwrite(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    size_t written = f ? fwrite(data, 1, bytes, f) : 0;
    return f && fclose(f) == 0 && written == bytes ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
