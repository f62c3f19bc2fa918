/* Pictures in folders: split/class/NAME.jpg, class/NAME.jpg, or NAME.jpg alone (no labels). A folder that
 * lies in is looked through. Rows are ordered by split (training first), class, file name; classes by number
 * where their names are numbers, else by name. Two passes over fixed chunks: headers first, so that sizes and
 * colours are known before memory is asked for, then the pixels. */
#include "data/format.h"
#include "data/image.h"

#include "par/par.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 };

struct picture {
    size_t entry;
    int split; /* 0 training, 1 validation, 2 test */
    const char *class_name;
    size_t class_length;
    struct image_info info;
};
struct folder_job {
    const struct bundle *b;
    struct picture *pictures;
    size_t n, classes;
    struct dataset *d;
    const struct sotto_context *ctx;
    atomic_size_t done;
};

static bool is_picture(const char *name)
{
    return name_ends(name, ".png") || name_ends(name, ".jpg") || name_ends(name, ".jpeg");
}

static bool recognise(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_picture(b->entries[i].name))
            return true;
    return false;
}

/* Which split a folder name means; -1: none. */
static int split_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        int split;
    } known[] = {{"train", 0},      {"training", 0}, {"val", 1},    {"valid", 1},
                 {"validation", 1}, {"test", 2},     {"testing", 2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && strncmp(name, known[i].name, length) == 0)
            return known[i].split;
    return -1;
}

static size_t component(const char *name)
{
    return strcspn(name, "/");
}

/* Bytes of the leading folders that all pictures share and that say nothing ("CIFAR-10-images/"): at least
 * one folder level must stay below, and a split's name is never dropped. */
static size_t shared_prefix(const struct folder_job *job)
{
    size_t prefix = 0;
    for (;;) {
        const char *first = job->b->entries[job->pictures[0].entry].name + prefix;
        size_t length = component(first);
        if (first[length] != '/' || split_of(first, length) >= 0)
            return prefix;
        for (size_t i = 0; i < job->n; i++) {
            const char *name = job->b->entries[job->pictures[i].entry].name + prefix;
            if (strncmp(name, first, length + 1) != 0 || !strchr(name + length + 1, '/'))
                return prefix;
        }
        prefix += length + 1;
    }
}

static sotto_status place(struct folder_job *job, size_t *depth)
{
    sotto_status status = SOTTO_OK;
    size_t prefix = shared_prefix(job);
    bool splits = true;
    for (size_t i = 0; i < job->n; i++) {
        const char *name = job->b->entries[job->pictures[i].entry].name + prefix;
        splits = splits && name[component(name)] == '/' && split_of(name, component(name)) >= 0;
    }
    for (size_t i = 0; i < job->n; i++) {
        struct picture *p = &job->pictures[i];
        const char *name = job->b->entries[p->entry].name + prefix;
        if (splits) {
            p->split = split_of(name, component(name));
            name += component(name) + 1;
        }
        size_t length = component(name), levels = 0;
        for (const char *c = name; *c; c++)
            levels += *c == '/';
        if (i == 0)
            *depth = levels;
        if (levels > 1 || levels != *depth)
            FAIL(SOTTO_EFORMAT, "%s: %s lies %s; expected split/class/picture or class/picture for all",
                 job->b->origin, job->b->entries[p->entry].name,
                 levels > 1 ? "too deep" : "at another depth than the others");
        p->class_name = name;
        p->class_length = levels ? length : 0;
    }
done:
    return status;
}

static bool all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return length > 0;
}

static int compare_classes(const struct picture *a, const struct picture *b)
{
    bool x = all_digits(a->class_name, a->class_length), y = all_digits(b->class_name, b->class_length);
    if (x != y)
        return x ? -1 : 1;
    if (x && a->class_length != b->class_length) {
        unsigned long long p = strtoull(a->class_name, NULL, 10), q = strtoull(b->class_name, NULL, 10);
        if (p != q)
            return p < q ? -1 : 1;
    }
    size_t shorter = a->class_length < b->class_length ? a->class_length : b->class_length;
    int order = memcmp(a->class_name, b->class_name, shorter);
    return order ? order : (a->class_length > b->class_length) - (a->class_length < b->class_length);
}

static int by_class(const void *a, const void *b)
{
    const struct picture *p = a, *q = b;
    int order = compare_classes(p, q);
    return order ? order : (p->entry > q->entry) - (p->entry < q->entry);
}

/* Numbers the classes, names them in the set, and puts the pictures into their final order. labels[entry
 * order] is found again through the class number kept in class_length. */
static sotto_status number_classes(struct folder_job *job, bool labelled)
{
    sotto_status status = SOTTO_OK;
    char **names = NULL;
    size_t classes = 0;
    qsort(job->pictures, job->n, sizeof *job->pictures, by_class);
    for (size_t i = 0; i < job->n; i++)
        classes += i == 0 || compare_classes(&job->pictures[i - 1], &job->pictures[i]) != 0;
    names = base_alloc(classes, sizeof *names);
    if (!names)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", job->b->origin);
    size_t k = 0, first = 0;
    for (size_t i = 0; labelled && i < job->n; i++) {
        if (i > 0 && compare_classes(&job->pictures[first], &job->pictures[i]) == 0)
            continue;
        first = i;
        names[k] = base_alloc(job->pictures[i].class_length + 1, 1);
        if (!names[k])
            FAIL(SOTTO_ENOMEM, "%s: out of memory", job->b->origin);
        memcpy(names[k], job->pictures[i].class_name, job->pictures[i].class_length);
        k++;
    }
    if (labelled)
        TRY(dataset_set_classes(job->d, classes, (const char *const *)names));
    job->classes = classes;
done:
    for (size_t i = 0; names && i < classes; i++)
        base_free(names[i]);
    base_free(names);
    return status;
}

static void report(struct folder_job *job, const char *stage, size_t pictures, int thread)
{
    size_t done = atomic_fetch_add(&job->done, pictures) + pictures;
    if (thread == 0)
        context_progress(job->ctx, stage, done, job->n, "images");
}

static sotto_status probe_chunk(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    struct folder_job *job = arg;
    struct bytes bytes = {0};
    size_t end = (chunk + 1) * CHUNK < job->n ? (chunk + 1) * CHUNK : job->n;
    if (context_stopped(job->ctx))
        FAIL(SOTTO_ESTOPPED, "stopped while reading %s", job->b->origin);
    for (size_t i = chunk * CHUNK; i < end; i++) {
        TRY(bundle_load(&bytes, job->b, job->pictures[i].entry));
        status = image_probe(&job->pictures[i].info, bytes.data, bytes.size);
        bytes_clear(&bytes);
        if (status != SOTTO_OK) {
            bundle_blame(job->b, job->pictures[i].entry);
            goto done;
        }
    }
    report(job, "read headers", end - chunk * CHUNK, thread);
done:
    return status;
}

static sotto_status decode_chunk(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    struct folder_job *job = arg;
    struct bytes bytes = {0};
    const struct sotto_dataset *s = &job->d->set;
    size_t end = (chunk + 1) * CHUNK < job->n ? (chunk + 1) * CHUNK : job->n;
    if (context_stopped(job->ctx))
        FAIL(SOTTO_ESTOPPED, "stopped while reading %s", job->b->origin);
    for (size_t i = chunk * CHUNK; i < end; i++) {
        TRY(bundle_load(&bytes, job->b, job->pictures[i].entry));
        status = image_from_memory(job->d->images + i * s->channels * s->height * s->width, s->channels,
                                   s->height, s->width, bytes.data, bytes.size);
        bytes_clear(&bytes);
        if (status != SOTTO_OK) {
            bundle_blame(job->b, job->pictures[i].entry);
            goto done;
        }
    }
    report(job, "decode", end - chunk * CHUNK, thread);
done:
    return status;
}

static int by_size(const void *a, const void *b)
{
    const struct image_info *p = a, *q = b;
    if (p->height != q->height)
        return p->height < q->height ? -1 : 1;
    return (p->width > q->width) - (p->width < q->width);
}

/* The size asked for, or the most common one (the larger on a tie); the rest are resized to it. */
static sotto_status choose_size(size_t *height, size_t *width, const struct folder_job *job,
                                const struct sotto_import_options *options)
{
    sotto_status status = SOTTO_OK;
    struct image_info *sizes = base_alloc(job->n, sizeof *sizes);
    size_t best = 0;
    if (!sizes)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", job->b->origin);
    for (size_t i = 0; i < job->n; i++)
        sizes[i] = job->pictures[i].info;
    qsort(sizes, job->n, sizeof *sizes, by_size);
    for (size_t i = 0, run = 0; i < job->n; i++) {
        run = i > 0 && by_size(&sizes[i - 1], &sizes[i]) == 0 ? run + 1 : 1;
        if (run >= best) {
            best = run;
            *height = sizes[i].height;
            *width = sizes[i].width;
        }
    }
    if (options->height > 0) {
        *height = options->height;
        *width = options->width;
    } else if (2 * best < job->n) {
        status =
            status_fail(SOTTO_EINVAL, "%s: the pictures have many sizes (%zux%zu to %zux%zu)", job->b->origin,
                        sizes[0].height, sizes[0].width, sizes[job->n - 1].height, sizes[job->n - 1].width);
        status_hint("choose one: --size HEIGHTxWIDTH");
        goto done;
    } else if (best < job->n) {
        context_log(job->ctx, SOTTO_LOG_WARNING,
                    "%s: %zu of %zu pictures were resized to %zux%zu, the size of the others", job->b->origin,
                    job->n - best, job->n, *height, *width);
    }
done:
    base_free(sizes);
    return status;
}

static int by_split(const void *a, const void *b)
{
    const struct picture *p = a, *q = b;
    return p->split != q->split ? p->split - q->split : by_class(a, b);
}

/* class number of every picture, written where the labels go once the order is final */
static void fill_labels(struct folder_job *job)
{
    for (size_t i = 0; i < job->n; i++) {
        const struct picture *p = &job->pictures[i];
        size_t low = 0, high = job->classes; /* class names are sorted: halve */
        while (high - low > 1) {
            size_t middle = (low + high) / 2;
            struct picture probe = {.class_name = job->d->class_names[middle],
                                    .class_length = strlen(job->d->class_names[middle])};
            if (compare_classes(p, &probe) < 0)
                high = middle;
            else
                low = middle;
        }
        job->d->labels[i] = (int64_t)low;
    }
}

static sotto_status list_pictures(struct folder_job *job)
{
    sotto_status status = SOTTO_OK;
    job->pictures = base_alloc(job->b->count, sizeof *job->pictures);
    if (!job->pictures)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", job->b->origin);
    for (size_t i = 0; i < job->b->count; i++)
        if (is_picture(job->b->entries[i].name))
            job->pictures[job->n++].entry = i;
    if (job->n < job->b->count)
        context_log(job->ctx, SOTTO_LOG_INFO, "%s: %zu files that are not pictures were left out",
                    job->b->origin, job->b->count - job->n);
done:
    return status;
}

static sotto_status read_pictures(struct dataset *d, const struct bundle *b,
                                  const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct folder_job job = {.b = b, .d = d, .ctx = ctx};
    size_t depth = 0, height = 0, width = 0, channels = 1, jpegs = 0;
    TRY(list_pictures(&job));
    TRY(place(&job, &depth));
    TRY(number_classes(&job, depth > 0));
    qsort(job.pictures, job.n, sizeof *job.pictures, by_split);
    size_t chunks = (job.n + CHUNK - 1) / CHUNK;
    TRY(par_chunks(chunks, par_threads(ctx), probe_chunk, &job));
    for (size_t i = 0; i < job.n; i++) {
        channels = job.pictures[i].info.colour ? 3 : channels;
        jpegs += job.pictures[i].info.kind == IMAGE_JPEG;
    }
    TRY(choose_size(&height, &width, &job, options));
    TRY(dataset_reserve_images(d, job.n, channels, height, width, depth > 0));
    if (depth > 0)
        fill_labels(&job);
    for (d->set.n_train = 0; d->set.n_train < job.n && job.pictures[d->set.n_train].split == 0;)
        d->set.n_train++;
    atomic_store(&job.done, 0);
    TRY(par_chunks(chunks, par_threads(ctx), decode_chunk, &job));
    snprintf(d->set.origin, sizeof d->set.origin, "%zu pictures, %zu of them JPEG (lossy)", job.n, jpegs);
done:
    base_free(job.pictures);
    return status;
}

const struct dataset_format format_image_folder = {
    .name = "image-folder",
    .layout = "pictures as split/class/*.{png,jpg}, class/*.{png,jpg}, or *.{png,jpg} without labels",
    .takes_size = true,
    .recognise = recognise,
    .read = read_pictures};
