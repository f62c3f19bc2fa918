/* file_holder.h - which process, on which machine, has a file that other processes respect: one line in it. */
#ifndef BASE_FILE_HOLDER_H
#define BASE_FILE_HOLDER_H

#include "base/memory.h"

enum { HOLDER_LINE = 512 };

/** HOST PROCESS MACHINE TIME. */
struct holder {
    char host[72];
    char machine
        [160]; /* boot and process namespace, in which a process number means something; with '?': not known */
    char since[32]; /* 2026-11-28T10:03:00Z; "": not known */
    long process;
};
/** This process, now. */
void holder_self(struct holder *out);
/** One line that ends in a newline. Returns its length. */
size_t holder_line(char out[HOLDER_LINE], const struct holder *h);
/** false: there is no such file, or it says nothing of a holder; *out is {0} then. */
bool holder_read(struct holder *out, const char *path);
/** The same process? */
bool holder_same(const struct holder *a, const struct holder *b);
/** Certainly ended: it was on this machine, as `self` is, and no process has its number. */
bool holder_is_gone(const struct holder *h, const struct holder *self);

#endif
