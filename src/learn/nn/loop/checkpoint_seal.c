/* The last 16 bytes of the file are BLAKE2b over all bytes before them, header included (`head -c -16 FILE | b2sum -l 128`). It
 * stands last, so that the thread that writes a copy of the state can compute it, and no step waits for that. */
#include "nn/loop/checkpoint_seal.h"

#include "base/sha256.h"
#include "io/array/tensors.h"

#include <string.h>

static const char name[] = "checksum";

sotto_status checkpoint_seal_add(struct sotto_tensors *t)
{
    return tensors_add(t, name, SOTTO_U1, 1, (const size_t[]){DIGEST_BYTES}, NULL);
}

bool checkpoint_seal_is_there(const struct sotto_tensors *t)
{
    return tensors_find(t, name) != NULL;
}

void checkpoint_seal_fill(const struct safetensors_file *f)
{
    const struct sotto_tensors *t = f->tensors;
    struct digest d;
    digest_init(&d);
    digest_update(&d, f->header, f->size);
    for (size_t i = 0; i + 1 < t->count; i++) {
        const struct sotto_array *a = &t->items[i].array;
        digest_update(&d, a->data, a->count * sotto_dtype_size(a->dtype));
    }
    digest_end(t->items[t->count - 1].array.data, &d);
}

sotto_status checkpoint_seal_check(const struct source *s)
{
    enum { PIECE = 1 << 18 };
    sotto_status status = SOTTO_OK;
    unsigned char *piece = NULL, stated[DIGEST_BYTES], found[DIGEST_BYTES];
    struct digest d;
    bool same = false;
    NEW(piece, PIECE);
    digest_init(&d);
    if (s->size >= DIGEST_BYTES) {
        const size_t end = s->size - DIGEST_BYTES;
        for (size_t at = 0, bytes; at < end; at += bytes) {
            bytes = end - at < PIECE ? end - at : PIECE;
            TRY(source_read(s, piece, at, bytes));
            digest_update(&d, piece, bytes);
        }
        TRY(source_read(s, stated, end, DIGEST_BYTES));
        digest_end(found, &d);
        same = memcmp(found, stated, DIGEST_BYTES) == 0;
    }
    if (!same)
        FAIL(SOTTO_EFORMAT,
             "%s: does not match its checksum, so it was damaged or changed after it was written", s->name);
done:
    base_free(piece);
    return status;
}
