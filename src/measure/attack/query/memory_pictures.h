/* memory_pictures.h - explanations of the records that an attack is surest of, for a report. */
#ifndef ATTACK_QUERY_MEMORY_PICTURES_H
#define ATTACK_QUERY_MEMORY_PICTURES_H

#include "attack/query/layer_memories.h"

/** Adds a list "explained" of options->explain records: row (members first), layer, unit, displacement, share and, of images of at
 * most 64 pixels a side, a picture: the record, the same with the unit's places in pink, and the attacker's records that excite
 * the unit most. ENOMEM, ESTOPPED. */
sotto_status memory_pictures_add(struct facts *out, struct layer_memories *m, const double *scores,
                                 const struct query_input *in);

#endif
