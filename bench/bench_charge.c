/* What a charge takes with a ledger of many entries, in milliseconds of processor time: opening and checking the ledger, the budget and the entry. Left out are
 * fsync, which waits for the disk (it is a function of this program here), and the account of the release itself. */
#include "base/file.h"
#include "dp/account/accountant.h"
#include "dp/ledger/charge.h"
#include "sotto/sotto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
    (void)fd;
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static const struct sotto_source_records nobody = {.public_set = 1};

static void fail(void)
{
    fprintf(stderr, "%s\n", sotto_error_text());
    exit(1);
}

/* One of `kinds` different releases. */
static double charge(const char *path, size_t kind)
{
    const struct sotto_sensitivity s = {
        .l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED, .dimension = 4};
    struct sotto_account account;
    const struct privacy_unit unit = {0};
    static unsigned number;
    char nonce[65], input[65];
    snprintf(nonce, sizeof nonce, "%064x", ++number);
    snprintf(input, sizeof input, "%064x", number);
    struct charge c = {.lock = {.fd = -1}};
    if (sotto_account_release(&account, "gaussian", 1000 + (double)kind, &s, 1e-6, 1, NULL) != SOTTO_OK)
        fail();
    const struct charge_entry entry = {.event = LEDGER_RELEASE,
                                       .dataset_id = "bench",
                                       .records = 1000,
                                       .unit = &unit,
                                       .input_sha256 = input,
                                       .input_nonce = nonce,
                                       .sensitivity = &s,
                                       .account = &account,
                                       .sampler =
                                           "exact: floor of the continuous law on a power-of-two lattice",
                                       .randomness = "os",
                                       .dimension = 4};
    const double start = now();
    if (charge_open(&c, "bench", path, &nobody, NULL) != SOTTO_OK ||
        charge_enter(&c, &entry, NULL) != SOTTO_OK)
        fail();
    charge_close(&c);
    return now() - start;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    enum { RUNS = 21 };
    const size_t entries = argc > 1 ? (size_t)atol(argv[1]) : 1000;
    for (size_t kinds = 1; kinds <= 1000; kinds *= 10) {
        char folder[] = "/tmp/sotto-bench-XXXXXX", path[64], *first;
        double ms[RUNS];
        if (!mkdtemp(folder))
            return 1;
        snprintf(path, sizeof path, "%s/l.jsonl", folder);
        setenv("XDG_DATA_HOME", folder, 1);
        if (sotto_ledger_init(&first, "bench", path, (struct sotto_dp){10, 1e-6}, NULL, &nobody, NULL) !=
            SOTTO_OK)
            fail();
        sotto_text_free(first);
        for (size_t i = 0; i < entries; i++)
            charge(path, i % kinds);
        for (int i = 0; i < RUNS; i++)
            ms[i] = charge(path, (size_t)i % kinds);
        qsort(ms, RUNS, sizeof *ms, ascending);
        printf("%zu entries, %zu kinds of releases: a charge takes %.2f ms (median of %d; %.2f to %.2f)\n",
               entries, kinds, ms[RUNS / 2], RUNS, ms[0], ms[RUNS - 1]);
        char command[128];
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        if (system(command) != 0)
            return 1;
    }
    return 0;
}
