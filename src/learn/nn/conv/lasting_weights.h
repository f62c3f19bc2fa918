/* lasting_weights.h - what a convolution makes of its weights (points, panels), kept for its next calls while the weights stay as
 * they are: leaves of a step have the same ones, and each would make it anew. */
#ifndef NN_CONV_LASTING_WEIGHTS_H
#define NN_CONV_LASTING_WEIGHTS_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>

/* Larger ones are made anew: leaves are to need no more memory than one plan. */
enum { LASTING_BYTES = 4 << 20 };

struct lasting_weights {
    bool kept;        /* else it is made in each call, in scratch */
    void *form[2];    /* forward, backward */
    uint64_t made[2]; /* of which weights; 0: of unknown ones */
    uint64_t weights; /* of the running call; 0: unknown */
};

/** bytes: of each form; backward: there are two. */
static inline void lasting_place(struct lasting_weights *l, struct arena *memory, size_t bytes, bool backward)
{
    l->kept = bytes <= LASTING_BYTES;
    for (int i = 0; l->kept && i <= (int)backward; i++)
        l->form[i] = arena_take(memory, bytes, 1);
}

/** Called behind lasting_place(), if that is called at all: where it is made if it is not kept. */
static inline void lasting_layout(struct lasting_weights *l, struct arena *scratch, size_t bytes)
{
    for (int i = 0; !l->kept && i < 2; i++)
        l->form[i] = i ? l->form[0] : arena_take(scratch, bytes, 1);
}

/** Is it still there? If not, the caller makes it now. */
static inline bool lasting_is_made(struct lasting_weights *l, bool back)
{
    const bool made = l->kept && l->weights && l->made[back] == l->weights;
    l->made[back] = l->weights;
    return made;
}

#endif
