/* end_to_end.h - the program attacked through its command line: neighbouring files in, everything that it
 * prints and leaves behind out. Facts must be the same for every neighbour, byte by byte; noisy values are
 * attacked by falsify() and must keep the epsilon of the certificate. */
#ifndef SELFTEST_END_TO_END_H
#define SELFTEST_END_TO_END_H

#include "selftest/checks.h"

struct end_to_end {
    const struct sotto_selftest_options *asked; /* the program, which rows, and how many runs */
    const char *folder;                         /* where the program's files may lie */
    size_t first;                               /* number of the first release in the list of all attacks */
    double error; /* of each of the statistical tests, FALSIFY_TESTS a release */
};
/** One check a release and one a rule. EIO, ENOMEM, ESTOPPED: the program cannot be run. */
sotto_status selftest_end_to_end(struct checks *c, const struct end_to_end *e,
                                 const struct sotto_context *ctx);
/** Number of releases that are asked for; the first of all is number `first` of the list of attacks. */
size_t end_to_end_releases(size_t first, const struct sotto_selftest_options *asked);

#endif
