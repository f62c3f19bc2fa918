/* file.h - whole-file reads and writes that are complete or not there at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/memory.h"

#include <stdio.h>

/** Opens a file for reading; "-" is standard input. *regular: it has a size and can be read anywhere; else it is a pipe, to
 * be read once by pipe_read(), and opening it does not wait for a writer. ENOENT (missing, a folder, a device, no permission),
 * EIO. */
sotto_status file_open(int *fd, size_t *size, bool *regular, const char *path);
/** Reads a pipe to its end, as file_read(). ESTOPPED: ctx said so, or without one a signal came while nothing did. */
sotto_status pipe_read(unsigned char **data, size_t *size, int fd, const char *path, size_t limit,
                       const struct sotto_context *ctx);
/** Reads a whole file or pipe. *data is one byte longer than *size and ends in '\0'; free with base_free().
 *  ENOENT (as file_open()), EFORMAT (larger than `limit`), EIO, ENOMEM. */
sotto_status file_read(unsigned char **data, size_t *size, const char *path, size_t limit);
/** The same, for large files: asks ctx every few megabytes. ESTOPPED. */
sotto_status file_read_asking(unsigned char **data, size_t *size, const char *path, size_t limit,
                              const struct sotto_context *ctx);

/** Bytes of an open file as memory that is read-only: pages are read when they are touched. A file that is cut meanwhile ends
 * the process by SIGBUS; one that is removed or replaced stays as it was. Initialise with {0}. */
struct file_map {
    void *base; /* NULL: nothing is mapped */
    size_t bytes;
};
/** EIO: this file system maps none, or the address space is used up. */
sotto_status file_map(struct file_map *out, int fd, size_t bytes, const char *path);
/** Harmless on {0}. */
void file_unmap(struct file_map *map);

/** A file that appears under its name only once it is whole: written to a temporary name in the same folder,
 *  fsynced, renamed, folder fsynced. Mode 0600. A certificate beside it (PATH.certificate.json) speaks of the bytes
 *  that go: it is renamed to PATH.certificate.json.old first. ECREATE: PATH is a folder, a device, a pipe, or a ledger, which is
 *  replaced by nothing but a ledger. */
struct atomic_file {
    FILE *stream;
    char *path, *temporary;
};
sotto_status atomic_open(struct atomic_file *f, const char *path);
/** Writes; an error is kept by the stream and reported by atomic_commit(). */
void atomic_write(struct atomic_file *f, const void *data, size_t bytes);
sotto_status atomic_commit(struct atomic_file *f);
/** The same, but a file that is there is kept as it is, which is no error: for results of which several processes may make
 *  equal ones. */
sotto_status atomic_commit_once(struct atomic_file *f);
/** Removes the temporary file of an uncommitted write; harmless after a commit. Call at every `done:`. */
void atomic_discard(struct atomic_file *f);
/** Open, write, commit. */
sotto_status file_write(const char *path, const void *data, size_t bytes);
/** Open, write, commit once. */
sotto_status file_write_once(const char *path, const void *data, size_t bytes);

/** Room for a file that will be written later: proof that its folder can be written to, and `bytes` that are taken
 * on the disk until file_release(), or until the process ends in any way. Initialise with {0}. */
struct held_file {
    int next; /* behind the descriptor of a file without a name; 0: none */
};
/** ECREATE: PATH cannot be created, or not replaced (as in atomic_open()); EIO: there is no room. */
sotto_status file_hold(struct held_file *h, const char *path, size_t bytes);
/** Gives the room back, right before the file is written; harmless on {0}. */
void file_release(struct held_file *h);

/** For files that are opened to be continued. ECREATE: PATH is a ledger, which only charges may change. */
sotto_status file_spare_ledger(const char *path);

bool file_exists(const char *path);
bool file_is_folder(const char *path);
/** Standard input ("-"), a pipe or a FIFO: what was read of it is gone. */
bool file_is_pipe(const char *path);
/** mkdir -p with mode 0700. */
sotto_status folder_make(const char *path);
/** A new folder NAME-XXXXXX, mode 0700, where temporary files go (TMPDIR, else /tmp); the caller removes
 * it. */
sotto_status folder_temporary(char *out, size_t capacity, const char *name);
/** fsync of a folder, so that a rename in it survives a power cut. */
sotto_status folder_sync(const char *path);
/** snprintf that fails instead of cutting. */
sotto_status path_join(char *out, size_t capacity, const char *folder, const char *name);

#endif
