/* checkpoint_seal.h - the checksum at the end of a checkpoint: a flipped bit would give another run, unnoticed. */
#ifndef NN_LOOP_CHECKPOINT_SEAL_H
#define NN_LOOP_CHECKPOINT_SEAL_H

#include "io/array/safetensors.h"

/** Adds the last tensor, in which the checksum will stand: zeros as yet. */
sotto_status checkpoint_seal_add(struct sotto_tensors *t);
bool checkpoint_seal_is_there(const struct sotto_tensors *t);
/** Between safetensors_begin() and safetensors_finish(), on any thread: puts the checksum of all that stands before it in the file
 *  into the last tensor, which checkpoint_seal_add() made. */
void checkpoint_seal_fill(const struct safetensors_file *f);
/** In: a whole file. Returns: EFORMAT: a byte was changed; EIO, ESTOPPED */
sotto_status checkpoint_seal_check(const struct source *s);

#endif
