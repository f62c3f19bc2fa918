/* ledger_rewrite.h - a ledger's lines, changed and chained anew: what a forger can do. */
#ifndef TESTS_LEDGER_REWRITE_H
#define TESTS_LEDGER_REWRITE_H

#include "support/ledger_folder.h"
#include "support/test.h"
#include "base/file.h"
#include "base/sha256.h"

/* Calls `change` for every line up to its chain, and writes the ledger with a chain that fits. */
static inline void rewrite(void (*change)(char *line, size_t index))
{
    unsigned char *data;
    size_t size;
    char prev[SHA256_HEX], hash[SHA256_HEX], *at, line[16384];
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    memset(prev, '0', 64);
    prev[64] = '\0';
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    at = strtok((char *)data, "\n");
    for (size_t i = 0; at; at = strtok(NULL, "\n"), i++) {
        snprintf(line, sizeof line, "%s", at);
        *strstr(line, ",\"hash\":\"") = '\0';
        memcpy(strstr(line, "\"prev\":\"") + 8, prev, 64);
        change(line, i);
        strcat(line, "}");
        sha256_of(hash, line, strlen(line));
        line[strlen(line) - 1] = '\0';
        fprintf(out, "%s,\"hash\":\"%s\"}\n", line, hash);
        memcpy(prev, hash, 64);
    }
    fclose(out);
    base_free(data);
}

#endif
