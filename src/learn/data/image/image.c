/* Decoding by libjpeg-turbo and libpng, and of binary PGM by hand. All decode to interleaved rows, which are then resized and split
 * into planes. The accurate DCT and smooth chroma upsampling are the libjpeg defaults that other tools use,
 * so the pixels agree. */
#include "data/image/image.h"

#include "base/memory.h"

#include <png.h>
#include <string.h>
#include <turbojpeg.h>

enum { PIXEL_LIMIT = 1 << 26 };

static sotto_status probe_jpeg(struct image_info *out, const unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    int width = 0, height = 0, sampling = 0,
        space = 0; /* a stream of tables alone succeeds and sets none of them */
    tjhandle tj = tjInitDecompress();
    if (!tj)
        return status_fail(SOTTO_ENOMEM, "JPEG decoder: out of memory");
    if (tjDecompressHeader3(tj, data, size, &width, &height, &sampling, &space) != 0)
        FAIL(SOTTO_EFORMAT, "damaged JPEG: %s", tjGetErrorStr2(tj));
    if (width < 1 || height < 1)
        FAIL(SOTTO_EFORMAT, "damaged JPEG: contains no image");
    if (space == TJCS_CMYK || space == TJCS_YCCK)
        FAIL(SOTTO_EFORMAT, "JPEG in CMYK is not supported; convert it to RGB");
    *out = (struct image_info){IMAGE_JPEG, (size_t)height, (size_t)width, space != TJCS_GRAY};
done:
    tjDestroy(tj);
    return status;
}

static sotto_status probe_png(struct image_info *out, const unsigned char *data, size_t size)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, data, size))
        return status_fail(SOTTO_EFORMAT, "damaged PNG: %s", image.message);
    *out = (struct image_info){IMAGE_PNG, image.height, image.width,
                               (image.format & PNG_FORMAT_FLAG_COLOR) != 0};
    png_image_free(&image);
    return SOTTO_OK;
}

/* A number of a PGM header behind blanks and comments, at most 2^26; 0: none. */
static size_t pgm_number(size_t *at, const unsigned char *data, size_t size)
{
    size_t value = 0;
    while (*at < size && memchr(" \t\r\n#", data[*at], 5))
        if (data[(*at)++] == '#')
            while (*at < size && data[*at] != '\n')
                ++*at;
    while (*at < size && data[*at] >= '0' && data[*at] <= '9' && value <= PIXEL_LIMIT)
        value = 10 * value + (size_t)(data[(*at)++] - '0');
    return value <= PIXEL_LIMIT ? value : 0;
}

/* "P5 width height 255", one blank, then the pixels. *start: of them. */
static sotto_status probe_pgm(struct image_info *out, size_t *start, const unsigned char *data, size_t size)
{
    size_t at = 2, width = pgm_number(&at, data, size), height = pgm_number(&at, data, size),
           most = pgm_number(&at, data, size);
    if (width == 0 || height == 0 || at >= size)
        return status_fail(SOTTO_EFORMAT,
                           "damaged PGM: expected width, height and the largest value behind P5");
    if (most != 255)
        return status_fail(SOTTO_EFORMAT, "PGM with values up to %zu is not supported; expected 255", most);
    *out = (struct image_info){IMAGE_PGM, height, width, false};
    *start = at + 1;
    return SOTTO_OK;
}

/* Images that are known by their first bytes and not decoded. */
static const char *foreign_kind(const unsigned char *data, size_t size)
{
    static const struct {
        const char *name, *magic;
        size_t at, bytes;
    } kinds[] = {{"WebP", "WEBP", 8, 4},  {"GIF", "GIF8", 0, 4},   {"TIFF", "II*\0", 0, 4},
                 {"TIFF", "MM\0*", 0, 4}, {"TIFF", "II+\0", 0, 4}, {"TIFF", "MM\0+", 0, 4},
                 {"HEIF", "ftyp", 4, 4},  {"BMP", "BM", 0, 2}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (size >= kinds[k].at + kinds[k].bytes &&
            memcmp(data + kinds[k].at, kinds[k].magic, kinds[k].bytes) == 0)
            return kinds[k].name;
    return NULL;
}

static sotto_status refuse_foreign(const char *kind)
{
    sotto_status status = status_fail(SOTTO_EFORMAT, "is a %s image; expected JPEG or PNG", kind);
    status_hint(
        "put a JPEG or PNG in its place ('mogrify -format png FILE', then remove FILE), or import the "
        "set with {drop_bad_images}, which leaves it out");
    return status;
}

sotto_status image_probe(struct image_info *out, const unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    struct image_info info = {0};
    size_t start;
    if (size >= 3 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff)
        TRY(probe_jpeg(&info, data, size));
    else if (size >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0)
        TRY(probe_png(&info, data, size));
    else if (size >= 2 && data[0] == 'P' && data[1] == '5')
        TRY(probe_pgm(&info, &start, data, size));
    else if (size == 0)
        FAIL(SOTTO_EFORMAT, "is empty; expected a JPEG, PNG or binary PGM image");
    else if (foreign_kind(data, size))
        TRY(refuse_foreign(foreign_kind(data, size)));
    else
        FAIL(SOTTO_EFORMAT, "is neither JPEG, PNG nor binary PGM (starts with %02x%02x)", data[0],
             size > 1 ? data[1] : 0);
    if (info.width == 0 || info.height == 0 || info.width > PIXEL_LIMIT / info.height)
        FAIL(SOTTO_EFORMAT, "image of %zux%zu pixels; expected at most 2^26 pixels", info.height, info.width);
    *out = info;
done:
    return status;
}

static sotto_status decode_jpeg(uint8_t *rows, const struct image_info *info, size_t channels,
                                const unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    tjhandle tj = tjInitDecompress();
    if (!tj)
        return status_fail(SOTTO_ENOMEM, "JPEG decoder: out of memory");
    /* A warning means that pixels were made up; a data set should not hold such images unnoticed. */
    int flags = TJFLAG_STOPONWARNING | TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS;
    if (tjDecompress2(tj, data, size, rows, (int)info->width, 0, (int)info->height,
                      channels == 1 ? TJPF_GRAY : TJPF_RGB, flags) != 0)
        FAIL(SOTTO_EFORMAT, "damaged JPEG: %s", tjGetErrorStr2(tj));
done:
    tjDestroy(tj);
    return status;
}

static sotto_status decode_png(uint8_t *rows, const struct image_info *info, size_t channels,
                               const unsigned char *data, size_t size)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    const png_color black = {0, 0, 0};
    if (!png_image_begin_read_from_memory(&image, data, size))
        return status_fail(SOTTO_EFORMAT, "damaged PNG: %s", image.message);
    image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    if (!png_image_finish_read(&image, &black, rows, (png_int_32)(info->width * channels), NULL))
        return status_fail(SOTTO_EFORMAT, "damaged PNG: %s", image.message);
    return SOTTO_OK;
}

static sotto_status decode_pgm(uint8_t *rows, const struct image_info *info, size_t channels,
                               const unsigned char *data, size_t size)
{
    struct image_info same;
    size_t start, pixels = info->height * info->width;
    sotto_status status = probe_pgm(&same, &start, data, size);
    if (status == SOTTO_OK && size - start < pixels)
        status = status_fail(SOTTO_EFORMAT, "damaged PGM: %zu pixels of %zu", size - start, pixels);
    for (size_t i = 0; status == SOTTO_OK && i < pixels; i++)
        memset(rows + i * channels, data[start + i], channels);
    return status;
}

static void split_planes(uint8_t *planes, const uint8_t *rows, size_t pixels, size_t channels)
{
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < pixels; i++)
            planes[c * pixels + i] = rows[i * channels + c];
}

/* *rows: made here, the caller's to free, also on failure. */
static sotto_status decode_image(uint8_t **rows, const struct image_info *info, size_t channels,
                                 const unsigned char *data, size_t size)
{
    *rows = base_alloc(info->height * info->width, channels);
    if (!*rows)
        return status_fail(SOTTO_ENOMEM, "cannot allocate an image of %zux%zu pixels", info->height,
                           info->width);
    if (info->kind == IMAGE_JPEG)
        return decode_jpeg(*rows, info, channels, data, size);
    if (info->kind == IMAGE_PNG)
        return decode_png(*rows, info, channels, data, size);
    return decode_pgm(*rows, info, channels, data, size);
}

sotto_status image_check(struct image_info *out, const unsigned char *data, size_t size)
{
    uint8_t *rows = NULL;
    sotto_status status = image_probe(out, data, size);
    if (status == SOTTO_OK)
        status = decode_image(&rows, out, out->colour ? 3 : 1, data, size);
    base_free(rows);
    return status;
}

sotto_status image_from_memory(uint8_t *planes, size_t channels, size_t height, size_t width,
                               const unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    struct image_info info;
    uint8_t *rows = NULL, *resized = NULL;
    TRY(image_probe(&info, data, size));
    TRY(decode_image(&rows, &info, channels, data, size));
    if (info.height != height || info.width != width) {
        resized = base_alloc(height * width, channels);
        if (!resized)
            FAIL(SOTTO_ENOMEM, "cannot allocate an image of %zux%zu pixels", height, width);
        TRY(image_resize(resized, height, width, rows, info.height, info.width, channels));
    }
    split_planes(planes, resized ? resized : rows, height * width, channels);
done:
    base_free(rows);
    base_free(resized);
    return status;
}
