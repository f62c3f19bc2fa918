/* person.h - the unit of privacy: one record, or one person with at most so many rows. docs/derivations/person.md */
#ifndef DP_ACCOUNT_PERSON_H
#define DP_ACCOUNT_PERSON_H

#include "sotto/account.h"
#include "sotto/lab/provenance.h"

#include <stdbool.h>

struct privacy_unit {
    size_t rows;               /* of a person, at most; 0: the unit is one record */
    char person[SOTTO_PERSON]; /* column by which they were capped; "": as stated by the caller */
    size_t persons; /* of sampled steps: they take whole persons, out of so many; 0: each row by itself */
};
enum { UNIT_TEXT = SOTTO_PERSON + 144, UNIT_ROWS = 1 << 20 };
/** How the condition ends that a stated cap is. */
#define UNIT_STATED "rows, as stated by the caller"
/** "one record", "one person (column patient, at most 3 rows each)", or of whole persons
 * "one person (column patient, at most 3 rows each, sampled as one of 1200 persons)". */
void unit_word(char out[UNIT_TEXT], const struct privacy_unit *unit);
/** How the condition ends that stated persons are. */
#define UNIT_STATED_WHOLE "rows, all under one number, as stated by the caller"
/** Rows that sampled steps take by themselves, as sotto_sampled.rows_per_person: 0: the unit is sampled as one. */
size_t unit_rows(const struct privacy_unit *unit);
/** Do losses of the two add up: both are of records, or of the persons of one column? M may differ. */
bool unit_adds_up(const struct privacy_unit *a, const struct privacy_unit *b);
/** Replacing a person replaces up to `rows` records, one after the other: norms grow that many times. */
void unit_widen(struct sotto_sensitivity *s, size_t rows);
/** The steps that one record sees which stands for all rows of a person: some of them are in the sample with
 * probability 1 - (1 - q)^rows, and then move the sum by at most `rows` clipping norms. 0 or 1 rows: the same steps. */
struct sotto_sampled unit_steps(const struct sotto_sampled *sampled);

#endif
