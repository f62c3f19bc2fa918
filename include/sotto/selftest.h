/* selftest.h - does this build do the right thing on this machine? Known answers, samplers, files, and a
 * black-box attack on every mechanism. */
#ifndef SOTTO_SELFTEST_H
#define SOTTO_SELFTEST_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_check {
    char group
        [24]; /**< "known answers", "agreement", "samplers", "files", "falsifier", "planted bugs", "end to end" */
    char name[80];
    char detail[200]; /**< figures: what came out and what was expected */
    int ok;
};
/** Initialise with {0}; free with sotto_selftest_clear(). */
struct sotto_selftest {
    size_t count, failed;
    struct sotto_check *checks;
    size_t falsifier_tests; /**< statistical tests made by the falsifier; 0: it was not run */
    double falsifier_alarm; /**< chance that all of them together accuse correct mechanisms */
    size_t falsifier_draws; /**< per input */
};
/** {0}: all defaults. */
struct sotto_selftest_options {
    int falsify;  /**< 1: attack every mechanism, and every planted bug, with `draws` draws per input */
    size_t draws; /**< [1,000,000] at least 1000 */
    const char
        *program; /**< falsify: path of the sotto program, which is attacked through its command line: every
                            private verb, trainer and mechanism on neighbouring files; NULL: not */
    size_t runs;  /**< [200] of the program, on each of two neighbouring files; at least 20 */
    const char *only;     /**< falsify: only attacks with this text in their names, and no other check; NULL:
                            everything. EINVAL: there is none */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Runs everything and fills *out, also on EGATE (a check failed; the first one is named). Noise comes from
 * the operating system. Writes only to a folder of its own below $TMPDIR (default /tmp) and removes it.
 * EINVAL, ECREATE, EIO, ENOMEM, ESTOPPED: *out is untouched. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_selftest(struct sotto_selftest *out,
                                                       const struct sotto_selftest_options *options,
                                                       const struct sotto_context *ctx);
SOTTO_API void sotto_selftest_clear(struct sotto_selftest *t);
/** One JSON object, schema sotto.selftest/1 (free with sotto_text_free). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_selftest_json(char **json, const struct sotto_selftest *t);

#ifdef __cplusplus
}
#endif
#endif
