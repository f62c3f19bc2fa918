/* Replays every file of the folders given through a fuzz target, in name order. The ordinary test run links
 * this instead of libFuzzer; an empty input is always tried. usage: test_fuzz PARSER FOLDER... */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int target(const uint8_t *data, size_t size);

/* cmake/tests.cmake gives each target the name of its file. */
#define ROW(parser) target fuzz_##parser;
#include "replay_rows.inc"
#undef ROW
static const struct {
    const char *parser;
    target *run;
} targets[] = {
#define ROW(parser) {#parser, fuzz_##parser},
#include "replay_rows.inc"
#undef ROW
};

static int replay_file(target *run, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (data && size >= 0 && fread(data, 1, (size_t)size, f) == (size_t)size)
        run(data, (size_t)size);
    free(data);
    fclose(f);
    return 1;
}

int main(int argc, char **argv)
{
    int replayed = 0;
    target *run = NULL;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (argc > 1 && strcmp(targets[i].parser, argv[1]) == 0)
            run = targets[i].run;
    if (!run) {
        fprintf(stderr,
                "usage: test_fuzz PARSER FOLDER...; a parser is what tests/fuzz/fuzz_PARSER.c names\n");
        return 2;
    }
    run((const uint8_t *)"", 0);
    for (int i = 2; i < argc; i++) {
        struct dirent **entries;
        int count = scandir(argv[i], &entries, NULL, alphasort);
        for (int e = 0; e < count; e++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entries[e]->d_name);
            if (entries[e]->d_name[0] != '.')
                replayed += replay_file(run, path);
            free(entries[e]);
        }
        if (count >= 0)
            free(entries);
    }
    printf("replayed %d inputs\n", replayed);
    return replayed > 0 ? 0 : 1; /* an empty corpus is a broken test */
}
