/* feature_space.h - what values the columns of a table can take, and random records made of them.
 *
 * A column of zeros and ones is a bit: drawn by a fair coin. Any other column is drawn uniformly between its
 * smallest and its largest value. An attacker is assumed to know this much of the format. */
#ifndef ATTACK_SHADOW_FEATURE_SPACE_H
#define ATTACK_SHADOW_FEATURE_SPACE_H

#include "head/model/head_model.h"
#include "rng/rng.h"

struct feature_space {
    size_t d;
    float *low, *high; /* (d) */
    bool *bit;         /* (d) */
};
/* ENOMEM. */
sotto_status feature_space_make(struct feature_space *out, const struct head_data *data);
void feature_space_clear(struct feature_space *s);
float feature_draw(const struct feature_space *s, size_t column, struct rng *r);
void feature_draw_row(float *row, const struct feature_space *s, struct rng *r);

#endif
