/* tree_add.h - one addition of vectors; the bits are the same at every instruction-set level. */
#ifndef PAR_TREE_ADD_H
#define PAR_TREE_ADD_H

#include "base/cpu.h"

#include <stddef.h>

/** to (n) += from (n), which lie apart. */
typedef void tree_adder(float *restrict to, const float *restrict from, size_t n);
tree_adder *tree_add_best(void);

#endif
