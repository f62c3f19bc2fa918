/* checks.h - the list that a self test fills. A failed allocation is kept and reported once, at the end. */
#ifndef SELFTEST_CHECKS_H
#define SELFTEST_CHECKS_H

#include "num/interval.h"
#include "sotto/lab/selftest.h"

#include <stdbool.h>

struct checks {
    struct sotto_selftest found;
    const char *group;
    size_t capacity;
    bool out_of_memory;
    const struct sotto_context *ctx; /* may be NULL; once it says stop, what is left is dropped */
};

void checks_note(struct checks *c, const char *name, bool ok, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** ok: |got - expected| <= relative |expected|. */
void checks_close(struct checks *c, const char *name, double got, double expected, double relative);
/** ok: both ends within relative |expected| of it, and lo <= hi. */
void checks_interval(struct checks *c, const char *name, struct interval got, double expected,
                     double relative);

/* The groups; each adds its checks. */
void selftest_known_answers(struct checks *c);
void selftest_agreement(struct checks *c);
void selftest_samplers(struct checks *c);
void selftest_randomness(struct checks *c);
void selftest_files(struct checks *c, const char *folder);
/** Whether the attack of that number in the list of all is asked for. */
bool selftest_wants(const struct sotto_selftest_options *options, size_t number, const char *name);
/** With the draws and runs of `options`, which are not 0. */
sotto_status selftest_falsify(struct checks *c, const char *folder,
                              const struct sotto_selftest_options *options, const struct sotto_context *ctx);

#endif
