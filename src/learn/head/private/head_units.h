/* head_units.h - persons as units of sampling and clipping (docs/derivations/person.md, section 4). Which rows are whose is public. */
#ifndef HEAD_PRIVATE_HEAD_UNITS_H
#define HEAD_PRIVATE_HEAD_UNITS_H

#include "dp/ledger/spend.h"
#include "sotto/release.h"

#include <stddef.h>
#include <stdint.h>

/** Rows of a person that may be in one step. */
enum { UNIT_ROWS_IN_STEP = 1024 };

struct head_units {
    size_t count;    /* persons */
    size_t most;     /* rows of a person in a step, at most */
    size_t capacity; /* rows of any person, at most */
    size_t total;    /* rows of all persons in a step, at most */
    size_t per_step; /* rows that are drawn of a person; 0: all are taken */
    uint64_t seed;   /* of that draw, which is public */
    size_t *start;   /* (count + 1): person p has rows[start[p]] and what follows, below start[p + 1] */
    uint32_t *rows;
};
/** In:      persons (n)  equal numbers: rows of one person
 *  Returns: EINVAL  a person has more rows in a step than UNIT_ROWS_IN_STEP; ENOMEM */
sotto_status head_units_make(struct head_units *u, const int64_t *persons, size_t n, size_t per_step,
                             uint64_t seed);
void head_units_clear(struct head_units *u);
/** EINVAL: persons are asked for, and nobody names them; rows of a person, and the unit is a record; canaries, which are records. */
sotto_status head_units_require(enum sotto_unit unit, const int64_t *persons, size_t per_step,
                                const void *canaries);
/** The cap on a person's rows, where nothing states one. EINVAL: a person has more rows than the cap. */
sotto_status head_units_cap(const struct head_units *u, struct sotto_spend *spend);
/** The rows of a person that are in a step: a function of public numbers. rows: room for u->most. Returns how many. */
size_t head_units_rows(uint32_t *rows, const struct head_units *u, size_t person, size_t step);

#endif
