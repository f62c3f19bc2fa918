/* selftest.h - checks of this build on this machine: known answers, samplers, files, and a black-box attack on every
 * mechanism. */
#ifndef SOTTO_LAB_SELFTEST_H
#define SOTTO_LAB_SELFTEST_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_check {
    /** "known answers", "agreement", "samplers", "files", "falsifier", "planted bugs" or "end to end". */
    char group[24];
    char name[80];
    /** Figures: what came out and what was expected. */
    char detail[200];
    int ok;
};
/** Initialise with {0}; free with sotto_selftest_clear(). */
struct sotto_selftest {
    size_t count, failed;
    struct sotto_check *checks;
    /** Statistical tests that the falsifier made; 0: it was not run. */
    size_t falsifier_tests;
    /** Chance that all of them together accuse correct mechanisms. */
    double falsifier_alarm;
    /** Draws for each input. */
    size_t falsifier_draws;
};
/** {0}: all defaults. */
struct sotto_selftest_options {
    /** 1: attack every mechanism, and every planted bug, with `draws` draws for each input. */
    int falsify;
    /** [1,000,000] at least 1000. A planted bug that so many do not tell from a correct release has more. */
    size_t draws;
    /** With falsify: path of the sotto program, which is attacked through its command line: every private verb, trainer
     *  and mechanism on neighbouring files. NULL: the program is not attacked. */
    const char *program;
    /** Runs of the program on each of two neighbouring files [200]; at least 20. */
    size_t runs;
    /** With falsify: only attacks with this text in their names, and no other check. NULL: all. */
    const char *only;
    /** With falsify: only attacks with number % shards == shard [0 of 1], and no other check where there are several shards. */
    size_t shard, shards;
};
/** Runs the checks. Noise comes from the operating system. Files are written to a folder below $TMPDIR (default /tmp),
 *  which is removed.
 *
 *  Out: *out  also on EGATE; untouched on other failures
 *
 *  Returns: EGATE     a check failed; the first one is named
 *           EINVAL    draws, runs or shard out of range; no attack of the shard has the text `only` in its name
 *           ECREATE, EIO, ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_selftest(struct sotto_selftest *out,
                                                       const struct sotto_selftest_options *options,
                                                       const struct sotto_context *ctx);
SOTTO_API void sotto_selftest_clear(struct sotto_selftest *t);

#ifdef __cplusplus
}
#endif
#endif
