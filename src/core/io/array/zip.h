/* zip.h - zip archives as .npz uses them: members that are stored or deflated, Zip64 where sizes need it. */
#ifndef IO_ARRAY_ZIP_H
#define IO_ARRAY_ZIP_H

#include "base/file.h"
#include "io/text/source.h"

struct zip_member {
    char *name;            /* owned, UTF-8, printable for error texts as it is */
    uint64_t size, packed; /* bytes unpacked, and in the file */
    uint64_t at;           /* of its local header; once zip_open() has returned, of its data */
    uint32_t crc;
    bool deflated;
};
struct zip {
    const struct source *source; /* borrowed */
    size_t count;
    struct zip_member *members;
};
/** The directory. EFORMAT: no zip archive, damaged, more than 10,000 members, one that is encrypted, of another compression or
 *  claims more than the file can hold; ENOMEM, EIO. Close with zip_close(). */
sotto_status zip_open(struct zip *out, const struct source *s);
/** All bytes of a member, members[member].size, checked against their CRC. EFORMAT, EIO, ENOMEM, ESTOPPED. */
sotto_status zip_read(unsigned char *out, const struct zip *z, size_t member);
void zip_close(struct zip *z);

/** A member is written as head (head_size) and data (size), stored and without a time stamp: equal contents, equal bytes.
 *  `at` counts the bytes of the archive so far; end with zip_write_end(), which frees. */
struct zip_writer {
    struct atomic_file *file; /* borrowed; remembers errors */
    uint64_t at;
    size_t count;
    struct zip_member *members;
};
sotto_status zip_write(struct zip_writer *w, const char *name, const void *head, size_t head_size,
                       const void *data, size_t size);
void zip_write_end(struct zip_writer *w);

#endif
