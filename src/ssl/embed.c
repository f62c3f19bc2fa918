/* Batches of one fixed size, the last one filled up with repeats: the rows around an image do not change its
 * bits. */
#include "ssl/encoder.h"

#include "data/augment/augment.h"
#include "par/par.h"

#include <string.h>

enum { BATCH = 64 };

sotto_status encoder_check_image(const struct sotto_encoder *e, const char *name, struct nn_shape image)
{
    sotto_status status = SOTTO_OK;
    struct nn_shape wanted = nn_model_input(e->model);
    REQUIRE(image.channels == 1 || image.channels == 3,
            "data set '%s': images have %zu channels; expected 1 (grey) or 3 (RGB)", name, image.channels);
    REQUIRE(augment_fitted(image.height) == wanted.height && augment_fitted(image.width) == wanted.width,
            "data set '%s' has %zux%zu images, but the encoder was trained on %zux%zu", name, image.height,
            image.width, wanted.height, wanted.width);
done:
    return status;
}

sotto_status encoder_check_size(const struct sotto_encoder *e, const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(data->images, "data set '%s' contains features; an encoder needs images", data->name);
    TRY(encoder_check_image(e, data->name, (struct nn_shape){data->channels, data->height, data->width}));
done:
    return status;
}

sotto_status sotto_embed(float *out, const struct sotto_encoder *e, const struct sotto_dataset *data,
                         const int64_t *rows, size_t n, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    struct nn_plan *plan = NULL;
    struct augmenter *augmenter = NULL;
    const struct nn_backend *backend;
    size_t width = sotto_encoder_width(e);
    int threads = par_threads(ctx);
    TRY(encoder_check_size(e, data));
    REQUIRE(rows || n <= data->n, "data set '%s' has %zu records; expected %zu", data->name, data->n, n);
    if (rows)
        TRY(encoder_check_rows(data, rows, n));
    TRY(nn_backend_find(&backend, "auto"));
    par_set_threads(threads);
    struct nn_plan_config config = {
        .batch = BATCH, .dtype = NN_F32, .backend = backend, .embedding_only = 1, .ctx = ctx};
    struct augment_config augment = {.strength = {.min_area = 1},
                                     .channels = data->channels,
                                     .height = data->height,
                                     .width = data->width,
                                     .views = 1,
                                     .threads = threads,
                                     .ctx = ctx};
    TRY(nn_plan_create(&plan, e->model, &config));
    TRY(augmenter_create(&augmenter, &augment));
    for (size_t first = 0; first < n; first += BATCH) {
        size_t count = n - first < BATCH ? n - first : BATCH;
        int64_t batch[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            size_t at = first + (i < count ? i : count - 1);
            batch[i] = rows ? rows[at] : (int64_t)at;
        }
        TRY(augmenter_run_plain(augmenter, nn_plan_input(plan), data->images, batch, BATCH));
        TRY(nn_plan_forward(plan, 0, 0, 0));
        memcpy(out + first * width, nn_plan_output(plan), count * width * sizeof *out);
        context_progress(ctx, "embed", first + count, n, "images");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "embed: stopped after %zu of %zu images", first + count, n);
    }
done:
    par_set_threads(pool);
    augmenter_free(augmenter);
    nn_plan_free(plan);
    return status;
}
