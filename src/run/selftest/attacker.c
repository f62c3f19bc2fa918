/* The attacker has the released files and the library, and no ledger but the one that he is shown. */
#include "selftest/attacker.h"

#include "base/file.h"
#include "base/sha256.h"
#include "selftest/program.h"
#include "sotto/release.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 1 << 20, REFUSED = 65 };

/* ---- another file under a certificate ---- */

static sotto_status name_hash(const char *certificate, const char *old, const char *new)
{
    sotto_status status = SOTTO_OK;
    unsigned char *text = NULL;
    size_t size;
    TRY(file_read(&text, &size, certificate, LIMIT));
    for (char *at = (char *)text; (at = strstr(at, old)); at++)
        memcpy(at, new, SHA256_HEX - 1);
    TRY(file_write(certificate, text, size));
done:
    base_free(text);
    return status;
}

static sotto_status attacker_forge(int *code, const char *line, const char *folder)
{
    sotto_status status = SOTTO_OK;
    char file[64], other[64], path[PROGRAM_PATH], from[PROGRAM_PATH], certificate[PROGRAM_PATH + 32];
    char old[SHA256_HEX], new[SHA256_HEX];
    unsigned char *data = NULL, *document = NULL;
    size_t size, length;
    if (sscanf(line, "forge %63s %63s", file, other) != 2)
        FAIL(SOTTO_EINTERNAL, "selftest: '%s'; expected two files", line);
    TRY(path_join(path, sizeof path, folder, file));
    TRY(path_join(from, sizeof from, folder, other));
    snprintf(certificate, sizeof certificate, "%s.certificate.json", path);
    TRY(sha256_file(old, path));
    TRY(sha256_file(new, from));
    TRY(file_read(&data, &size, from, LIMIT));
    TRY(file_read(&document, &length, certificate, LIMIT)); /* which a write of the file would put aside */
    TRY(file_write(path, data, size));
    TRY(file_write(certificate, document, length));
    TRY(name_hash(certificate, old, new));
    *code = 0;
done:
    base_free(data);
    base_free(document);
    return status;
}

/* ---- a child that goes on ---- */

static bool is_taken(struct sotto_dpsgd_session *steps)
{
    uint32_t row;
    size_t count;
    double sum = 0;
    return sotto_dp_sample(steps, &row, &count, 1) == SOTTO_OK || sotto_dp_step(steps, &sum) == SOTTO_OK;
}

static sotto_status fork_steps(int *code, const char *line, const char *folder)
{
    sotto_status status = SOTTO_OK;
    char ledger[PROGRAM_PATH];
    const struct sotto_source_records exercise = {.public_set = 1}; /* no data: a ledger may lie anywhere */
    struct sotto_dpsgd_session *steps = NULL;
    (void)line;
    TRY(folder_make(folder));
    TRY(path_join(ledger, sizeof ledger, folder, "forked.jsonl"));
    struct sotto_dpsgd_request r = {.sampled = {.mechanism = "gaussian",
                                                .noise_multiplier = 10,
                                                .sample_rate = 1,
                                                .steps = 1,
                                                .delta = 1e-3,
                                                .adjacency = SOTTO_ZERO_OUT},
                                    .max_grad_norm = 1,
                                    .dimension = 1,
                                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger}};
    TRY(sotto_dp_reserve(&steps, &r, &(struct sotto_context){.threads = 1}));
    const pid_t child = fork();
    if (child == 0)
        _exit(is_taken(steps) ? 0 : REFUSED);
    if (child < 0)
        FAIL(SOTTO_EIO, "selftest: fork: %s", strerror(errno));
    TRY(program_end(code, child));
done:
    sotto_dpsgd_session_close(steps);
    return status;
}

/* ---- by name ---- */

static const struct {
    const char *name;
    sotto_status (*run)(int *code, const char *line, const char *folder);
} own[] = {{"forge ", attacker_forge}, {"fork", fork_steps}};
enum { OWN = sizeof own / sizeof *own };

static int number_of(const char *line)
{
    int i = 0;
    while (i < OWN && strncmp(line, own[i].name, strlen(own[i].name)) != 0)
        i++;
    return i;
}

bool attacker_runs(const char *line)
{
    return number_of(line) < OWN;
}

sotto_status attacker_run(int *code, const char *line, const char *folder)
{
    return own[number_of(line)].run(code, line, folder);
}
