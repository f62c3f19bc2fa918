/* ask_persons.h - how many rows of each person were seen, under marks of 128 bits that only this run can make. */
#ifndef ASK_ASK_PERSONS_H
#define ASK_ASK_PERSONS_H

#include "base/sha256.h"
#include "base/status.h"

#include <stdint.h>

/** Two persons with one mark would share a cap: among 2^32 of them this has a probability below 2^-64. */
struct ask_mark {
    uint64_t words[2];
};
struct ask_persons {
    unsigned char key[MARK_KEY];
    struct ask_mark *marks; /* (capacity) open addressing */
    uint32_t *counts;       /* (capacity) 0: free */
    size_t capacity, used;
};
/** A new key. EINTERNAL, ENOMEM. */
sotto_status ask_persons_open(struct ask_persons *p);
void ask_persons_close(struct ask_persons *p);
/** Whose row it is: 7, 007 and 7.0 are one person. False: the text names nobody. */
bool ask_persons_mark(struct ask_mark *mark, const struct ask_persons *p, const char *text);
/** The mark of a person in a cell of a query. */
struct ask_mark ask_persons_in(const struct ask_persons *p, struct ask_mark person, size_t query,
                               size_t cell);
/** How many rows of a person were seen. */
uint32_t ask_persons_count(const struct ask_persons *p, struct ask_mark mark);
/** One more row of a person. *count: with it. ENOMEM. */
sotto_status ask_persons_add(uint32_t *count, struct ask_persons *p, struct ask_mark mark);

#endif
