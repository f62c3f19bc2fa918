/* label_moves.h - what a target decides about the moved copies of images. */
#ifndef ATTACK_QUERY_LABEL_MOVES_H
#define ATTACK_QUERY_LABEL_MOVES_H

#include "attack/query_attack.h"
#include "data/augment/image_moves.h"
#include "sotto/attack.h"

/* How a row is an image, as the options say (channels > 0). EINVAL: it does not fill a row. */
sotto_status label_shape(struct image_shape *out, const struct query_input *in);
/* bits (n, PICTURE_MOVES): 1 where the target still gives the moved copy the record's class. */
sotto_status label_moves(float *bits, struct sotto_target *t, const struct head_data *records,
                         const struct image_shape *shape, const struct sotto_context *ctx);

#endif
