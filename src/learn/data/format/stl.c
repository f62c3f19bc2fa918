/* STL-10: train_X.bin and test_X.bin with their labels, or unlabeled_X.bin. The images are read in blocks
 * and turned on all threads; an import writes each block before it reads the next. The ten folds are not
 * read: they are a protocol for small training sets, and a set here is one pool. */
#include "data/format/stl.h"

#include "data/format/format.h"
#include "data/image/image.h"
#include "par/par.h"

#include <string.h>

enum { CHUNK = 16, BLOCK = 512, FILES = 3 };

sotto_status stl_image(uint8_t *planes, size_t height, size_t width, const unsigned char *record)
{
    uint8_t pixels[STL_PIXELS], resized_here[STL_PIXELS], *resized = resized_here;
    sotto_status status = SOTTO_OK;
    if (height == STL_SIDE && width == STL_SIDE) {
        for (size_t c = 0; c < 3; c++)
            for (size_t y = 0; y < STL_SIDE; y++)
                for (size_t x = 0; x < STL_SIDE; x++)
                    planes[(c * STL_SIDE + y) * STL_SIDE + x] = record[(c * STL_SIDE + x) * STL_SIDE + y];
        return SOTTO_OK;
    }
    for (size_t c = 0; c < 3; c++) /* interleaved rows, as the resizer expects them */
        for (size_t x = 0; x < STL_SIDE; x++)
            for (size_t y = 0; y < STL_SIDE; y++)
                pixels[(y * STL_SIDE + x) * 3 + c] = record[(c * STL_SIDE + x) * STL_SIDE + y];
    if (height * width > STL_SIDE * STL_SIDE)
        NEW_ROWS(resized, 3 * height, width);
    TRY(image_resize(resized, height, width, pixels, STL_SIDE, STL_SIDE, 3));
    for (size_t i = 0; i < height * width; i++)
        for (size_t c = 0; c < 3; c++)
            planes[c * height * width + i] = resized[3 * i + c];
done:
    if (resized != resized_here)
        base_free(resized);
    return status;
}

sotto_status stl_labels(int64_t *labels, size_t count, const unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    if (size != count)
        FAIL(SOTTO_EFORMAT, "%zu labels for %zu images; expected one label per image", size, count);
    for (size_t i = 0; i < count; i++)
        if (data[i] < 1 || data[i] > STL_CLASSES)
            FAIL(SOTTO_EFORMAT, "record %zu has label %d; expected 1 to %d", i, data[i], STL_CLASSES);
    for (size_t i = 0; i < count; i++)
        labels[i] = data[i] - 1;
done:
    return status;
}

/* Files of images in the order of their rows; the file of labels beside each, or NULL. */
static const struct {
    const char *images, *labels;
} names[FILES] = {{"train_X.bin", "train_y.bin"}, {"test_X.bin", "test_y.bin"}, {"unlabeled_X.bin", NULL}};

enum { TRAIN, TEST, UNLABELLED };

static sotto_status stl_find(size_t *entry, bool *found, const struct bundle *b, const char *base)
{
    sotto_status status = SOTTO_OK;
    *found = false;
    for (size_t i = 0; base && i < b->count; i++) {
        if (strcmp(path_base(b->entries[i].name), base) != 0)
            continue;
        if (*found)
            FAIL(SOTTO_EFORMAT, "%s: two files are called %s", b->origin, base);
        *entry = i;
        *found = true;
    }
done:
    return status;
}

static bool stl_recognise(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        for (int k = 0; k < FILES; k++)
            if (strcmp(path_base(b->entries[i].name), names[k].images) == 0)
                return true;
    return false;
}

/* The images of one or two files, one after the other. */
struct stl_stream {
    struct image_stream base; /* first, so that the two pointers are the same */
    struct entry_stream *files[FILES];
    size_t left[FILES]; /* images not yet read */
    size_t height, width;
    unsigned char *block; /* (BLOCK, STL_PIXELS) */
};

struct turning {
    const unsigned char *records;
    uint8_t *images;
    size_t count, height, width;
};

static sotto_status turn_chunk(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    const struct turning *t = arg;
    size_t end = (chunk + 1) * CHUNK < t->count ? (chunk + 1) * CHUNK : t->count;
    (void)thread;
    for (size_t i = chunk * CHUNK; i < end; i++)
        TRY(stl_image(t->images + i * 3 * t->height * t->width, t->height, t->width,
                      t->records + i * STL_PIXELS));
done:
    return status;
}

static sotto_status read_images(struct image_stream *stream, uint8_t *images, size_t count,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct stl_stream *s = (struct stl_stream *)stream;
    for (int k = 0; k < FILES && count > 0; k++) {
        while (s->left[k] > 0 && count > 0) {
            size_t most = count < BLOCK ? count : BLOCK, now = s->left[k] < most ? s->left[k] : most;
            struct turning t = {s->block, images, now, s->height, s->width};
            TRY(entry_read(s->files[k], s->block, now * STL_PIXELS));
            TRY(par_each((now + CHUNK - 1) / CHUNK, ctx, turn_chunk, &t));
            images += now * 3 * s->height * s->width;
            s->left[k] -= now;
            count -= now;
        }
    }
done:
    return status;
}

static void close_stream(struct image_stream *stream)
{
    struct stl_stream *s = (struct stl_stream *)stream;
    for (int k = 0; s && k < FILES; k++)
        entry_close(s->files[k]);
    if (s)
        base_free(s->block);
    base_free(s);
}

/* Opens the files of one part and counts their images. */
static sotto_status open_part(struct stl_stream *s, bool labelled, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    for (int k = 0; k < FILES; k++) {
        size_t entry;
        bool found;
        TRY(stl_find(&entry, &found, b, names[k].images));
        if (!found || labelled != (k != UNLABELLED))
            continue;
        TRY(entry_open(&s->files[k], b, entry));
        size_t size = entry_size(s->files[k]);
        s->left[k] = size / STL_PIXELS;
        if (size == 0 || size % STL_PIXELS != 0) {
            status =
                status_fail(SOTTO_EFORMAT, "has %zu bytes; expected a multiple of %d (96x96x3 pixels each)",
                            size, STL_PIXELS);
            bundle_prefix_error(b, entry);
            goto done;
        }
    }
    if (s->left[TRAIN] + s->left[TEST] + s->left[UNLABELLED] == 0) {
        status = status_fail(SOTTO_EFORMAT, "%s: holds no %s images", b->origin,
                             labelled ? "labelled" : "unlabelled");
        status_hint(labelled ? "give {part=unlabelled} for the unlabelled images"
                             : "give {part=labelled} for the labelled images");
    }
done:
    return status;
}

static sotto_status read_labels(struct dataset *d, const struct stl_stream *s, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes = {0};
    size_t row = 0, entry;
    bool found;
    for (int k = TRAIN; k <= TEST; k++) {
        TRY(stl_find(&entry, &found, b, names[k].labels));
        if (found != (s->left[k] > 0))
            FAIL(SOTTO_EFORMAT, "%s: %s has no matching %s", b->origin,
                 found ? names[k].labels : names[k].images, found ? names[k].images : names[k].labels);
        if (!found)
            continue;
        bytes_clear(&bytes);
        TRY(bundle_load(&bytes, b, entry));
        status = stl_labels(d->labels + row, s->left[k], bytes.data, bytes.size);
        if (status != SOTTO_OK) {
            bundle_prefix_error(b, entry);
            goto done;
        }
        row += s->left[k];
    }
done:
    bytes_clear(&bytes);
    return status;
}

static sotto_status read_part(struct dataset *d, const struct bundle *b,
                              const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    static const char *const classes[STL_CLASSES] = {"airplane", "bird",  "car",    "cat",  "deer",
                                                     "dog",      "horse", "monkey", "ship", "truck"};
    sotto_status status = SOTTO_OK;
    const char *part = options->part ? options->part : "labelled";
    bool labelled = strcmp(part, "labelled") == 0, given = false;
    struct stl_stream *s = NULL;
    NEW(s, 1);
    NEW_ROWS(s->block, BLOCK, STL_PIXELS);
    if (!labelled && strcmp(part, "unlabelled") != 0)
        FAIL(SOTTO_EUSAGE,
             "part '%.40s' of STL-10 is unknown; expected labelled (train and test) or unlabelled", part);
    s->base = (struct image_stream){read_images, close_stream};
    s->height = options->height ? options->height : STL_SIDE;
    s->width = options->width ? options->width : STL_SIDE;
    TRY(open_part(s, labelled, b));
    size_t n_train = s->left[TRAIN] + s->left[UNLABELLED], n = n_train + s->left[TEST];
    if (d->may_stream) {
        given = true;
        TRY(dataset_stream_images(d, &s->base, n, 3, s->height, s->width, labelled));
    } else {
        TRY(dataset_reserve_images(d, n, 3, s->height, s->width, labelled));
    }
    d->set.n_train = n_train;
    if (labelled) {
        TRY(read_labels(d, s, b));
        TRY(dataset_set_classes(d, STL_CLASSES, classes));
    }
    if (!given)
        TRY(read_images(&s->base, d->images, n, ctx));
done:
    if (!given)
        close_stream(s ? &s->base : NULL);
    return status;
}

const struct dataset_format format_stl10 = {
    .name = "stl10",
    .set = "stl10",
    .layout = "STL-10 binary: {train,test}_{X,y}.bin; with part unlabelled: unlabeled_X.bin",
    .takes_size = true,
    .takes_part = true,
    .recognise = stl_recognise,
    .read = read_part};
