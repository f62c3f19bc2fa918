/* ledger_output.h - which files came out of a charge. A charge is on disk before its noise is drawn, so it cannot know them:
 * each has a line of its own, written once it is complete. A charge without such a line released no file. */
#ifndef DP_LEDGER_LEDGER_OUTPUT_H
#define DP_LEDGER_LEDGER_OUTPUT_H

#include "base/memory.h"
#include "base/sha256.h"

/** A released file and its certificate. */
struct released_file {
    size_t charge;           /* its number; */
    const char *entry;       /* hash of that line */
    const char *output;      /* SHA-256 of the file; */
    const char *certificate; /* of its certificate, without the line end */
};
/** What the lines of a charge say of it. */
struct released_lines {
    size_t these;  /* name this file and this certificate: 1, or the file did not come out of the charge */
    size_t output; /* name this file, with whatever certificate */
    size_t all;
};
/** In: ledger  whose chain was checked. EINVAL: it holds no such charge; ENOENT, EIO, EFORMAT, ENOMEM. */
sotto_status released_lines_count(struct released_lines *out, const char *ledger,
                                  const struct released_file *file);
/** Adds the line, unless it is there. Where the ledger was moved, to the one where it goes on.
 *  EINVAL: the ledger holds no such charge; ENOENT: it is gone; errors of ledger_open() and ledger_append(). */
sotto_status released_lines_add(const char *ledger, const struct released_file *file,
                                const struct sotto_context *ctx);

#endif
