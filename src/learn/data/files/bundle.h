/* bundle.h - the files that make up a data set, whatever holds them.
 *
 * A folder is listed and its files are read on demand; an archive or a compressed file is unpacked in memory,
 * so no name inside it can ever touch the file system. Entries are sorted by name. */
#ifndef DATA_FILES_BUNDLE_H
#define DATA_FILES_BUNDLE_H

#include "base/memory.h"

struct bundle_entry {
    char *name;          /* path inside, separated by '/', UTF-8, no ".." */
    unsigned char *data; /* NULL: on disk (bundle_path()), or left in the archive */
    size_t size;         /* of data, or of what was left in the archive */
    bool left;           /* too large for memory: read again from the archive when it is needed */
};
struct bundle {
    char *origin; /* the path that the user gave */
    bool single;  /* one plain or compressed file, not a folder or an archive */
    /* of "X:Y", two arrays from anywhere, which are not read yet: where Y begins, less one; or 0 */
    size_t colon;
    size_t count, capacity;
    struct bundle_entry *entries;
    /* of the call that opened it, asked while entries are read; must outlive it */
    const struct sotto_context *ctx;
};
/** What may be unpacked before the source counts as a decompression bomb. */
struct bundle_limits {
    size_t entries;
    size_t bytes;     /* all entries together */
    size_t expansion; /* unpacked / packed, checked beyond the first 64 MiB */
    size_t memory;    /* a larger entry of an archive on disk is left there */
};
extern const struct bundle_limits bundle_default_limits;

/** Folder, archive (tar, zip, compressed or not) or single file (compressed or not).
 *  ENOENT; EFORMAT: damaged, empty, over a limit, a name that is not UTF-8 or leaves the archive. */
sotto_status bundle_open(struct bundle *out, const char *path, const struct sotto_context *ctx);
/** "X:Y", two arrays with a colon there; nothing is read. */
sotto_status bundle_of_pair(struct bundle *out, const char *origin, size_t colon,
                            const struct sotto_context *ctx);
/** The archive walk behind bundle_open(), on bytes. `name`: for messages and for the entry of a single
 * file. */
sotto_status bundle_from_memory(struct bundle *out, const char *name, const void *data, size_t size,
                                const struct bundle_limits *limits);
sotto_status bundle_from_archive(struct bundle *out, const char *path, const struct bundle_limits *limits,
                                 const struct sotto_context *ctx);
void bundle_clear(struct bundle *b);

/** Takes `data` over (also on failure). EFORMAT: bad name. */
sotto_status bundle_add(struct bundle *b, const char *name, unsigned char *data, size_t size);
void bundle_sort(struct bundle *b);

/** One entry's bytes: borrowed from the bundle, or owned when they had to be read. */
struct bytes {
    const unsigned char *data;
    size_t size;
    unsigned char *owned;
};
sotto_status bundle_load(struct bytes *out, const struct bundle *b, size_t entry);
void bytes_clear(struct bytes *b);
/** Reads one entry front to back without holding it: for files larger than memory. Close accepts NULL. */
struct entry_stream;
sotto_status entry_open(struct entry_stream **out, const struct bundle *b, size_t entry);
size_t entry_size(const struct entry_stream *s);
/** Exactly `bytes` more. EFORMAT: the file ends before; the message names it. */
sotto_status entry_read(struct entry_stream *s, void *block, size_t bytes);
void entry_close(struct entry_stream *s);
/** An open entry of an archive on disk (bundle_archive.c), behind the above. */
struct archive_stream;
sotto_status archive_stream_open(struct archive_stream **out, const char *path, const char *name);
/** 0 bytes at the end. */
sotto_status archive_stream_read(size_t *got, struct archive_stream *s, void *block, size_t bytes);
void archive_stream_close(struct archive_stream *s);
/** If `b` starts like a gzip file, replaces it by what is inside. EFORMAT: damaged, or larger than
 * `limit`. ESTOPPED. */
sotto_status bytes_gunzip(struct bytes *b, size_t limit, const struct sotto_context *ctx);
/** A zlib stream of unknown length, unpacked. EFORMAT: damaged, or larger than `limit`. ENOMEM, ESTOPPED. */
sotto_status bytes_inflate(struct bytes *out, const unsigned char *data, size_t size, size_t limit,
                           const struct sotto_context *ctx);

/** The file on disk that is this entry; false: it lies in memory or in an archive, or its path is too long. */
bool bundle_path(char *out, size_t capacity, const struct bundle *b, size_t entry);
/** How messages name an entry: "folder/name", "archive.tar: name", or "file.csv". */
void bundle_where(char *out, size_t capacity, const struct bundle *b, size_t entry);
/** status_prefix() with the above. */
void bundle_prefix_error(const struct bundle *b, size_t entry);

/** The last component of an entry's name. */
const char *path_base(const char *name);
bool text_is_utf8(const char *text);
/** Case-insensitive match of the end of `name`. */
bool name_ends(const char *name, const char *ending);

#endif
