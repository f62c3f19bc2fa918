/* commands.h - what the program is asked to do end to end: releases with noise to attack, and rules that
 * it must keep. A new private verb, trainer or mechanism is one row in commands.c. */
#ifndef SELFTEST_COMMANDS_H
#define SELFTEST_COMMANDS_H

#include "selftest/neighbours.h"

#include <stdbool.h>
#include <stddef.h>

enum { COMMAND_STEPS = 5 };
/** Before a command of a rule: it is stopped by a signal once it has charged its ledger. */
#define STOPPED_BY_HAND "stopped "

/** A release on neighbouring files. Each run has a folder of its own inside the world's, so that the world's
 * files are `../NAME` and what `prepare` made is `../prepared/NAME`. */
struct release_row {
    const char *name;
    enum neighbours files;
    const char *prepare[COMMAND_STEPS]; /* not private; once in a world */
    /* run again and again. Where it is several, separated by "; ", the last one starts from the ledger that the others left,
     * which is its owner's and not looked at: it lists new records. */
    const char *command;
    const char *noisy;     /* the file with noisy values */
    double epsilon, delta; /* what the command asked for; 0: what the certificate says */
    size_t share;          /* it takes one in so many of the runs, as it is slow; 0: all */
};
/** NULL after the last. */
const struct release_row *release_row(size_t i);

/** Commands in one folder; all but the last succeed, or are stopped (exit code 130). Besides those of the
 * program there are two that the attacker runs himself (attacker.h). */
struct rule_row {
    const char *name;
    enum neighbours files;
    const char *steps[COMMAND_STEPS];
    int code;                /* exit code of the last; not 0: it must charge nothing */
    const char *conditional; /* a certificate that must not say that its epsilon is proved; or NULL */
};
const struct rule_row *rule_row(size_t i);

#endif
