/* Small files for the tests of src/learn/data: a temporary folder, images, archives. */
#ifndef TESTS_DATA_FILES_H
#define TESTS_DATA_FILES_H

#include <archive.h>
#include <archive_entry.h>
#include <ftw.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <turbojpeg.h>
#include <unistd.h>

struct blob {
    unsigned char data[1 << 16];
    size_t size;
};

static inline int files_remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}
static inline void files_remove(const char *folder)
{
    nftw(folder, files_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
/** mkdtemp below /tmp; `out` has at least 64 bytes. */
static inline void files_folder(char *out)
{
    strcpy(out, "/tmp/sotto-test-XXXXXX");
    if (!mkdtemp(out))
        abort();
}
/** Writes folder/name and the folders in between. */
static inline void files_write(const char *folder, const char *name, const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}
static inline void files_write_text(const char *folder, const char *name, const char *text)
{
    files_write(folder, name, text, strlen(text));
}

/** A PNG; byte i (interleaved) is start + i. channels 1 or 3. */
static inline void files_png(struct blob *out, unsigned height, unsigned width, unsigned channels,
                             unsigned start)
{
    uint8_t rows[1 << 14];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height};
    image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    for (unsigned i = 0; i < height * width * channels; i++)
        rows[i] = (uint8_t)(start + i);
    png_alloc_size_t size = sizeof out->data;
    if (!png_image_write_to_memory(&image, out->data, &size, 0, rows, 0, NULL))
        abort();
    out->size = size;
}
/** A JPEG of one colour. channels 1 or 3. */
static inline void files_jpeg(struct blob *out, int height, int width, int channels, int level)
{
    uint8_t rows[4096];
    unsigned long size = 0;
    unsigned char *made = NULL;
    memset(rows, level, (size_t)(height * width * channels));
    tjhandle tj = tjInitCompress();
    if (tjCompress2(tj, rows, width, 0, height, channels == 1 ? TJPF_GRAY : TJPF_RGB, &made, &size,
                    channels == 1 ? TJSAMP_GRAY : TJSAMP_420, 95, 0) != 0)
        abort();
    memcpy(out->data, made, size);
    out->size = size;
    tjFree(made);
    tjDestroy(tj);
}

/** Archive under construction in memory: format "ustar" or "zip", filter "none", "gzip" or "xz". */
struct archive_maker {
    struct archive *archive;
    unsigned char *data;
    size_t used, capacity;
};
static inline void maker_start(struct archive_maker *m, const char *format, const char *filter,
                               size_t capacity)
{
    *m = (struct archive_maker){
        .archive = archive_write_new(), .data = malloc(capacity), .capacity = capacity};
    if (archive_write_set_format_by_name(m->archive, format) != ARCHIVE_OK ||
        (strcmp(filter, "none") != 0 && archive_write_add_filter_by_name(m->archive, filter) != ARCHIVE_OK))
        abort();
    archive_write_set_bytes_in_last_block(m->archive, 1);
    archive_write_open_memory(m->archive, m->data, capacity, &m->used);
}
static inline void maker_add(struct archive_maker *m, const char *name, const void *data, size_t size)
{
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_size(e, (la_int64_t)size);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    if (archive_write_header(m->archive, e) < ARCHIVE_WARN || archive_write_data(m->archive, data, size) < 0)
        abort();
    archive_entry_free(e);
}
static inline void maker_finish(struct archive_maker *m)
{
    archive_write_close(m->archive);
    archive_write_free(m->archive);
}

#endif
