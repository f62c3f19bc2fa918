/* npy_stream.h - one .npy file as it arrives through a pipe. The reader is told where the next bytes go and
 * how many belong to the frame, so it never takes a byte of the frame that follows. */
#ifndef IO_ARRAY_NPY_STREAM_H
#define IO_ARRAY_NPY_STREAM_H

#include "io/array/npy.h"

enum { NPY_STREAM_HEADER = 4096 };

struct npy_stream {
    const char *name; /* for error texts; borrowed */
    unsigned char head[NPY_STREAM_HEADER];
    size_t head_have, head_need;
    bool length_known; /* head_need is that of the whole header */
    bool settled;      /* the data are this machine's, row-major */
    struct npy_layout layout;
    bool header_known; /* array holds dtype, ndim, shape and count; its data come with the first room() */
    struct sotto_array array; /* owned */
    size_t data_have, data_bytes;
};
void npy_stream_begin(struct npy_stream *s, const char *name);
/** Where the next bytes go, and how many at most; *want 0: the frame is complete. Memory for the data is
 * asked for here, so look at the shape once header_known. ENOMEM; EINVAL: booleans other than 0 and 1. */
sotto_status npy_stream_room(struct npy_stream *s, void **to, size_t *want);
/** `got` bytes were put there. EFORMAT as soon as they cannot become a .npy file, showing what came
 * instead. */
sotto_status npy_stream_advance(struct npy_stream *s, size_t got);
/** Bytes of the frame so far. */
size_t npy_stream_received(const struct npy_stream *s);
void npy_stream_clear(struct npy_stream *s);

#endif
