/* bf16.h - conversion of one number; inline, so that loops over it vectorise. */
#ifndef NN_KERNEL_BF16_H
#define NN_KERNEL_BF16_H

#include <stdint.h>
#include <string.h>

static inline float bf16_to_float(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Round to nearest even. A NaN with its payload in the lower half keeps a bit set, so that it stays a
 * NaN. */
static inline uint16_t bf16_from_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)(x != x ? (bits >> 16) | 0x40 : rounded);
}

#endif
