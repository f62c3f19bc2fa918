/* shadow_split.h - which records each shadow model trains on, and which it is known not to have seen. */
#ifndef ATTACK_SHADOW_SHADOW_SPLIT_H
#define ATTACK_SHADOW_SHADOW_SPLIT_H

#include "base/memory.h"

enum shadow_use { SHADOW_UNUSED, SHADOW_IN, SHADOW_OUT };

/* use (models, n), of enum shadow_use. Every shadow draws `in` records to train on and as many others to
 * compare with; with `disjoint` no record serves two shadows (Shokri et al.: overlapping; the lecture's
 * slide: disjoint). EINVAL: too few records. */
sotto_status shadow_split_draw(uint8_t *use, size_t models, size_t n, size_t in, bool disjoint,
                               uint64_t seed);
/* Every record is IN in exactly half of the models (even) and OUT in the others: for LiRA and RMIA. */
sotto_status shadow_split_halves(uint8_t *use, size_t models, size_t n, uint64_t seed);

#endif
