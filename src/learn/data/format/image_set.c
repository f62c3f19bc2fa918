/* Two passes over fixed chunks: headers first, so that sizes and colours are known before memory is asked
 * for, then the pixels. Where bad images are left out, the first pass decodes too: an image that is left out decides
 * neither size nor colour of the others. */
#include "data/format/image_set.h"

#include "data/image/image.h"
#include "par/par.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 };

struct folder_job {
    const struct bundle *b;
    struct image_list *list;
    struct image_info *infos; /* (n) */
    char **why;               /* (n) an image cannot be read, NULL: it can; or NULL: none is left out */
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

static void name_way_out(void)
{
    if (!sotto_error_hint()[0])
        status_hint("{drop_bad_images} of an import leaves out images that cannot be read");
}

static sotto_status probe_image(struct folder_job *job, size_t i, const struct bytes *bytes)
{
    sotto_status status;
    if (job->why)
        status = image_check(&job->infos[i], bytes->data, bytes->size);
    else
        status = image_probe(&job->infos[i], bytes->data, bytes->size);
    if (status == SOTTO_OK)
        return status;
    bundle_prefix_error(job->b, job->list->items[i].entry);
    if (status != SOTTO_EFORMAT || !job->why) {
        name_way_out();
        return status;
    }
    const char *text = sotto_error_text();
    job->why[i] = base_alloc(strlen(text) + 1, 1);
    if (!job->why[i])
        return status_fail(SOTTO_ENOMEM, "cannot allocate a list of images");
    strcpy(job->why[i], text);
    return SOTTO_OK;
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
        status = probe_image(job, i, &bytes);
        bytes_clear(&bytes);
        if (status != SOTTO_OK)
            goto done;
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
            name_way_out();
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

/* Classes and values are read off the list, so one that nothing is left of would stay among them. */
static sotto_status check_names(const struct folder_job *job, const char *what, char *const *names,
                                size_t count, bool attribute)
{
    sotto_status status = SOTTO_OK;
    size_t *left = NULL;
    NEW(left, count);
    for (size_t i = 0; i < job->list->n; i++)
        left[attribute ? job->list->items[i].attribute : job->list->items[i].label]++;
    for (size_t k = 0; k < count; k++)
        if (left[k] == 0)
            FAIL(SOTTO_EFORMAT, "%s: no image of the %s '%s' can be read; remove it, or mend its images",
                 job->b->origin, what, names[k]);
done:
    base_free(left);
    return status;
}

/* Each was judged by itself. All are named: a class may lose its images of one kind. */
static sotto_status leave_out(struct folder_job *job)
{
    sotto_status status = SOTTO_OK;
    struct image_list *l = job->list;
    size_t kept = 0, all = l->n;
    for (size_t i = 0; i < all; i++) {
        if (job->why[i]) {
            context_log(job->ctx, SOTTO_LOG_WARNING, "left out: %s", job->why[i]);
            continue;
        }
        l->items[kept] = l->items[i];
        job->infos[kept++] = job->infos[i];
    }
    if (kept == all)
        goto done;
    l->n = kept;
    images_arrange(l);
    context_log(job->ctx, SOTTO_LOG_WARNING, "%s: %zu of %zu images cannot be read and were left out",
                job->b->origin, all - kept, all);
    if (2 * kept < all)
        FAIL(SOTTO_EFORMAT, "%s: %zu of %zu images cannot be read; expected at most half of them",
             job->b->origin, all - kept, all);
    if (l->labelled)
        TRY(check_names(job, "class", l->class_names, l->classes, false));
    if (l->values)
        TRY(check_names(job, "attribute", l->value_names, l->values, true));
done:
    return status;
}

sotto_status image_set_read(struct dataset *d, const struct bundle *b, struct image_list *list,
                            const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct folder_job job = {.b = b, .list = list, .d = d, .ctx = ctx};
    size_t height = 0, width = 0, channels = 1, jpegs = 0;
    size_t n = list->n, found = n;
    if (n < b->count)
        context_log(ctx, SOTTO_LOG_INFO, "%s: %zu files that are not images were left out", b->origin,
                    b->count - n);
    NEW(job.infos, n);
    if (options->drop_bad_images)
        NEW(job.why, n);
    TRY(par_chunks((n + CHUNK - 1) / CHUNK, par_threads(ctx), probe_chunk, &job));
    if (job.why)
        TRY(leave_out(&job));
    n = list->n;
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
    TRY(par_chunks((n + CHUNK - 1) / CHUNK, par_threads(ctx), decode_chunk, &job));
    snprintf(d->set.origin, sizeof d->set.origin, "%zu pictures, %zu of them JPEG (lossy)", n, jpegs);
done:
    for (size_t i = 0; job.why && i < found; i++)
        base_free(job.why[i]);
    base_free(job.why);
    base_free(job.infos);
    return status;
}
