/* Replays every file of the folders given through a fuzz target, in name order. The ordinary test run links
 * this instead of libFuzzer; an empty input is always tried. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (data && size >= 0 && fread(data, 1, (size_t)size, f) == (size_t)size)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    fclose(f);
    return 1;
}

int main(int argc, char **argv)
{
    int replayed = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        int count = scandir(argv[i], &entries, NULL, alphasort);
        for (int e = 0; e < count; e++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entries[e]->d_name);
            if (entries[e]->d_name[0] != '.')
                replayed += replay_file(path);
            free(entries[e]);
        }
        if (count >= 0)
            free(entries);
    }
    printf("replayed %d inputs\n", replayed);
    return replayed > 0 ? 0 : 1; /* an empty corpus is a broken test */
}
