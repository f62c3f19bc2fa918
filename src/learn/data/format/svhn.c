/* Street View House Numbers, format 2: train_32x32.mat and test_32x32.mat (and extra_32x32.mat, which is left alone),
 * X of (height, width, 3, n) bytes with the first index fastest, and y of n digits, in which 10 stands for 0. */
#include "data/format/format.h"
#include "data/format/mat.h"

#include <string.h>

static const char *const part_names[2] = {"train_32x32.mat", "test_32x32.mat"};

struct part {
    struct bytes file;
    struct mat_array images, labels;
};

static void svhn_clear(struct part *p)
{
    mat_clear(&p->images);
    mat_clear(&p->labels);
    bytes_clear(&p->file);
}

static bool svhn_find(size_t *entry, const struct bundle *b, const char *name)
{
    for (*entry = 0; *entry < b->count; ++*entry)
        if (strcmp(path_base(b->entries[*entry].name), name) == 0)
            return true;
    return false;
}

static sotto_status svhn_check(const struct part *p)
{
    const struct mat_array *x = &p->images, *y = &p->labels;
    if (!x->bytes || x->ndim < 3 || x->shape[2] != 3)
        return status_fail(SOTTO_EFORMAT, "array 'X' is not of (height, width, 3, images) bytes");
    size_t n = x->ndim == 4 ? x->shape[3] : 1; /* a last side of 1 is not written */
    if (y->count != n)
        return status_fail(SOTTO_EFORMAT, "%zu labels for %zu images", y->count, n);
    for (size_t i = 0; i < n; i++) {
        double digit = mat_value(y, i);
        if (!(digit >= 0 && digit <= 10) || digit != (double)(int)digit)
            return status_fail(SOTTO_EFORMAT, "label %g of image %zu; expected a digit, 1 to 9, or 10 for 0",
                               digit, i);
    }
    return SOTTO_OK;
}

static sotto_status svhn_load(struct part *p, const struct bundle *b, size_t entry,
                              const struct sotto_context *ctx)
{
    sotto_status status = bundle_load(&p->file, b, entry);
    size_t limit = bundle_default_limits.bytes;
    if (status != SOTTO_OK)
        return status; /* names the file itself */
    TRY(mat_from_memory(&p->images, p->file.data, p->file.size, "X", limit, ctx));
    TRY(mat_from_memory(&p->labels, p->file.data, p->file.size, "y", limit, ctx));
    TRY(svhn_check(p));
done:
    if (status != SOTTO_OK)
        bundle_prefix_error(b, entry);
    return status;
}

/* Columns become rows: the first index is the fastest in the file, the last in the set. */
static void svhn_copy(struct dataset *d, size_t first, const struct part *p)
{
    size_t height = p->images.shape[0], width = p->images.shape[1], pixels = height * width;
    for (size_t i = 0; i < p->labels.count; i++) {
        const unsigned char *in = p->images.bytes + 3 * pixels * i;
        uint8_t *out = d->images + 3 * pixels * (first + i);
        for (size_t c = 0; c < 3; c++)
            for (size_t y = 0; y < height; y++)
                for (size_t x = 0; x < width; x++)
                    out[c * pixels + y * width + x] = in[c * pixels + x * height + y];
        d->labels[first + i] = (int64_t)mat_value(&p->labels, i) % 10;
    }
}

static bool svhn_recognise(const struct bundle *b)
{
    size_t entry;
    return svhn_find(&entry, b, part_names[0]) || svhn_find(&entry, b, part_names[1]);
}

static sotto_status read_digits(struct dataset *d, const struct bundle *b,
                                const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct part parts[2] = {{.file = {0}}, {.file = {0}}};
    size_t entry, n = 0, row = 0;
    const struct part *first = NULL;
    (void)options;
    for (int k = 0; k < 2; k++) {
        if (!svhn_find(&entry, b, part_names[k]))
            continue;
        TRY(svhn_load(&parts[k], b, entry, ctx));
        first = first ? first : &parts[k];
        if (parts[k].images.shape[0] != first->images.shape[0] ||
            parts[k].images.shape[1] != first->images.shape[1])
            FAIL(SOTTO_EFORMAT, "%s: test images are %zux%zu, training images %zux%zu", b->origin,
                 parts[k].images.shape[0], parts[k].images.shape[1], first->images.shape[0],
                 first->images.shape[1]);
        n += parts[k].labels.count;
    }
    TRY(dataset_reserve_images(d, n, 3, first->images.shape[0], first->images.shape[1], true));
    for (int k = 0; k < 2; k++) {
        if (parts[k].labels.count)
            svhn_copy(d, row, &parts[k]);
        row += parts[k].labels.count;
    }
    d->set.n_train = parts[0].labels.count;
    d->set.classes = 10;
done:
    svhn_clear(&parts[0]);
    svhn_clear(&parts[1]);
    return status;
}

const struct dataset_format format_svhn = {.name = "svhn",
                                           .layout = "SVHN, format 2: train_32x32.mat and test_32x32.mat",
                                           .set = "svhn",
                                           .recognise = svhn_recognise,
                                           .read = read_digits};
