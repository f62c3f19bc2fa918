/* ledger_folder.h - a folder of each test's own with a ledger in it, and a release that is charged to it. */
#ifndef TESTS_LEDGER_FOLDER_H
#define TESTS_LEDGER_FOLDER_H

#include "support/exercise.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64], path[128], torn[160];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/sub/l.jsonl", folder);
    snprintf(torn, sizeof torn, "%s.torn", path);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static inline struct sotto_release release_of(double scale)
{
    return (struct sotto_release){.mechanism = "logistic",
                                  .scale = scale,
                                  .target = {NAN, 1e-5},
                                  .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
                                  .spend = {.dataset_id = "toy", .source = &exercise, .ledger = path}};
}

static inline sotto_status release_once(double scale)
{
    struct sotto_release r = release_of(scale);
    float v[4] = {0};
    struct sotto_certificate *certificate = NULL;
    sotto_status status = sotto_dp_release(&certificate, v, 4, &r, NULL);
    sotto_certificate_free(certificate);
    return status;
}

#endif
