/* Two passes over fixed chunks: headers first, so that sizes and colours are known before memory is asked
 * for, then the pixels. */
#include "data/format/image_set.h"

#include "data/image/image.h"
#include "par/par.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 64 };

struct folder_job {
    const struct bundle *b;
    const struct image_list *list;
    struct image_info *infos; /* (n) */
    struct dataset *d;
    const struct sotto_context *ctx;
    atomic_size_t done;
};

static void image_set_report(struct folder_job *job, const char *stage, size_t images, int thread)
{
    size_t done = atomic_fetch_add(&job->done, images) + images;
    if (thread == 0)
        context_progress(job->ctx, stage, done, job->list->n, "images");
}

static sotto_status probe_chunk(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    struct folder_job *job = arg;
    struct bytes bytes = {0};
    size_t end = (chunk + 1) * CHUNK < job->list->n ? (chunk + 1) * CHUNK : job->list->n;
    for (size_t i = chunk * CHUNK; i < end; i++) {
        TRY(context_check(job->ctx, "stopped while reading %s", job->b->origin));
        TRY(bundle_load(&bytes, job->b, job->list->items[i].entry));
        status = image_probe(&job->infos[i], bytes.data, bytes.size);
        bytes_clear(&bytes);
        if (status != SOTTO_OK) {
            bundle_prefix_error(job->b, job->list->items[i].entry);
            goto done;
        }
    }
    image_set_report(job, "read headers", end - chunk * CHUNK, thread);
done:
    return status;
}

static sotto_status decode_chunk(void *arg, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    struct folder_job *job = arg;
    struct bytes bytes = {0};
    const struct sotto_dataset *s = &job->d->set;
    size_t end = (chunk + 1) * CHUNK < job->list->n ? (chunk + 1) * CHUNK : job->list->n;
    for (size_t i = chunk * CHUNK; i < end; i++) {
        TRY(context_check(job->ctx, "stopped while reading %s", job->b->origin));
        TRY(bundle_load(&bytes, job->b, job->list->items[i].entry));
        status = image_from_memory(job->d->images + i * s->channels * s->height * s->width, s->channels,
                                   s->height, s->width, bytes.data, bytes.size);
        bytes_clear(&bytes);
        if (status != SOTTO_OK) {
            bundle_prefix_error(job->b, job->list->items[i].entry);
            goto done;
        }
    }
    image_set_report(job, "decode", end - chunk * CHUNK, thread);
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

/* The requested size, or the most common one (the larger on a tie); the rest are resized to it. */
static sotto_status choose_size(size_t *height, size_t *width, const struct folder_job *job,
                                const struct sotto_import_options *options)
{
    sotto_status status = SOTTO_OK;
    struct image_info *sizes = NULL;
    size_t best = 0;
    NEW(sizes, job->list->n);
    for (size_t i = 0; i < job->list->n; i++)
        sizes[i] = job->infos[i];
    qsort(sizes, job->list->n, sizeof *sizes, by_size);
    for (size_t i = 0, run = 0; i < job->list->n; i++) {
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
    } else if (2 * best < job->list->n) {
        status = status_fail(SOTTO_EINVAL,
                             "%s: the images have several sizes (%zux%zu to %zux%zu); expected one size",
                             job->b->origin, sizes[0].height, sizes[0].width, sizes[job->list->n - 1].height,
                             sizes[job->list->n - 1].width);
        status_hint("give {height|size=HEIGHTxWIDTH} to resize all of them");
        goto done;
    } else if (best < job->list->n) {
        context_log(job->ctx, SOTTO_LOG_WARNING,
                    "%s: %zu of %zu images were resized to %zux%zu, the size of the others", job->b->origin,
                    job->list->n - best, job->list->n, *height, *width);
    }
done:
    base_free(sizes);
    return status;
}

sotto_status image_set_read(struct dataset *d, const struct bundle *b, const struct image_list *list,
                            const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct folder_job job = {.b = b, .list = list, .d = d, .ctx = ctx};
    size_t height = 0, width = 0, channels = 1, jpegs = 0;
    size_t n = list->n, chunks = (n + CHUNK - 1) / CHUNK;
    if (n < b->count)
        context_log(ctx, SOTTO_LOG_INFO, "%s: %zu files that are not images were left out", b->origin,
                    b->count - n);
    NEW(job.infos, n);
    TRY(par_chunks(chunks, par_threads(ctx), probe_chunk, &job));
    for (size_t i = 0; i < n; i++) {
        channels = job.infos[i].colour ? 3 : channels;
        jpegs += job.infos[i].kind == IMAGE_JPEG;
    }
    TRY(choose_size(&height, &width, &job, options));
    TRY(dataset_reserve_images(d, n, channels, height, width, list->labelled));
    d->set.n_train = list->n_train;
    if (list->labelled)
        TRY(dataset_set_classes(d, list->classes, (const char *const *)list->class_names));
    for (size_t i = 0; list->labelled && i < n; i++)
        d->labels[i] = list->items[i].label;
    if (list->values)
        TRY(dataset_reserve_attribute(d, list->attribute_name, list->values,
                                      (const char *const *)list->value_names));
    for (size_t i = 0; list->values && i < n; i++)
        d->attribute[i] = list->items[i].attribute;
    atomic_store(&job.done, 0);
    TRY(par_chunks(chunks, par_threads(ctx), decode_chunk, &job));
    snprintf(d->set.origin, sizeof d->set.origin, "%zu pictures, %zu of them JPEG (lossy)", n, jpegs);
done:
    base_free(job.infos);
    return status;
}
