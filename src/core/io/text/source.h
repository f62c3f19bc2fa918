/* source.h - bytes with a name and a known length, from a file or from memory, so that one parser serves
 * both. */
#ifndef IO_TEXT_SOURCE_H
#define IO_TEXT_SOURCE_H

#include "base/memory.h"

struct source {
    const char *name; /* for error texts; borrowed */
    size_t size;
    const unsigned char *memory; /* borrowed; NULL: read from fd */
    unsigned char *owned;        /* the same, of a pipe that was read to its end; or NULL */
    int fd;
    const struct sotto_context *ctx; /* NULL, or asked every few megabytes of a read from fd */
};

/** A file, or a pipe, which is read to its end here. Errors of file_open() and pipe_read(). Close with source_close(). */
sotto_status source_open(struct source *out, const char *path, const struct sotto_context *ctx);
struct source source_memory(const void *data, size_t size, const char *name);
/** Reads exactly `bytes` at `offset`. EFORMAT when they lie outside the source, EIO, ESTOPPED. */
sotto_status source_read(const struct source *s, void *out, size_t offset, size_t bytes);
void source_close(struct source *s);
/** What the first bytes say that a file is: "a ZIP archive (an .npz file?)", "text"; NULL: nothing that is known. EIO. */
sotto_status source_kind(const char **out, const struct source *s);
/** EFORMAT: "x.npy: is a ZIP archive (an .npz file?); expected a .npy file". */
sotto_status source_refuse(const struct source *s, const char *expected);
/** The same of what is to be a table and is known to be no text. Not for private records: their first letters would decide. */
sotto_status source_check_text(const struct source *s);

enum { SOURCE_BYTES = 32 };
/** "41312 bytes", "1.5 MiB", "8 EiB" into out; returns out. */
const char *source_bytes(char out[SOURCE_BYTES], uint64_t bytes);

#endif
