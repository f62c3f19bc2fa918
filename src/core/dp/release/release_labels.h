/* release_labels.h - randomised response on one label per record, step by step: for labels that are charged together with what follows. */
#ifndef DP_RELEASE_RELEASE_LABELS_H
#define DP_RELEASE_RELEASE_LABELS_H

#include "dp/release/release.h"
#include "sotto/release.h"

/** Labels of a release; made by label_release_make(), which borrows all but `own`, and stays where it is. */
struct label_release {
    int64_t *labels; /* (n), 0 .. classes - 1 */
    size_t n, classes;
    struct sotto_release own;
    struct release_plan plan;
    char sampler[128];
    uint64_t m;
    unsigned shift;
};
/** Checks and accounts. EINVAL, EDOMAIN. Nothing is written. */
sotto_status label_release_make(struct label_release *out, int64_t *labels, size_t n, size_t classes,
                                const struct sotto_release *release, const struct sotto_context *ctx);
/** The labels, by coins: once the ledger was charged. */
void label_release_draw(struct label_release *r, struct noise *stream);

#endif
