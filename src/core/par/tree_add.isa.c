#include "par/tree_add.h"

void ISA_NAME(tree_add)(float *restrict to, const float *restrict from, size_t n);
void ISA_NAME(tree_add)(float *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}
