/* sha256_blocks.h - SHA-256 by the instructions that many CPUs have for it. Seen by sha256.c alone. */
#ifndef BASE_SHA256_BLOCKS_H
#define BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether this CPU has them, and SOTTO_ISA is not v2. */
bool sha256_has_blocks(void);
/** So many blocks of 64 bytes into h; only where this CPU has them. */
void sha256_blocks(uint32_t h[8], const unsigned char *data, size_t blocks);

#endif
