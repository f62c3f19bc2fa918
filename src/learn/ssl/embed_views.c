/* Embeddings of random views. The views of an image are drawn with its row as the step, so they depend on
 * seed and row alone, whatever else is embedded beside it. */
#include "data/augment/augment.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "par/par.h"
#include "ssl/encoder.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VIEWS_MAX = 256 };

/* What stands behind "key=" in a line of the encoder's recipe, up to the end of the recipe; NULL: no such
 * line. */
static const char *recipe_value(const struct sotto_encoder *e, const char *key)
{
    size_t length = strlen(key);
    const char *line = NULL;
    for (size_t i = 0; i < e->fact_count; i++)
        if (strcmp(e->facts[2 * i], "recipe") == 0)
            line = e->facts[2 * i + 1];
    while (line && (strncmp(line, key, length) != 0 || line[length] != '='))
        line = (line = strchr(line, '\n')) ? line + 1 : NULL;
    return line ? line + length + 1 : NULL;
}

static double recipe_number(const struct sotto_encoder *e, const char *key, double missing)
{
    const char *value = recipe_value(e, key);
    return value ? strtod(value, NULL) : missing;
}

static void embed_views_take(double *member, const struct sotto_encoder *e, const char *key, double missing)
{
    if (isnan(*member))
        *member = recipe_number(e, key, missing);
}

/* Options that are not given are those of the encoder's pre-training, else the defaults of pre-training. */
static sotto_status embed_views_resolve(struct sotto_view_options *v, const struct sotto_view_options *given,
                                        const struct sotto_encoder *e)
{
    sotto_status status = SOTTO_OK;
    struct sotto_pretrain_options o;
    const char *name = recipe_value(e, "augmentation");
    sotto_pretrain_defaults(&o);
    TRY(sotto_options_resolve(v, given, options_view));
    embed_views_take(&v->min_area, e, "min_area", o.min_area);
    embed_views_take(&v->brightness, e, "brightness", o.brightness);
    embed_views_take(&v->jitter, e, "jitter", o.jitter);
    embed_views_take(&v->grey, e, "grey", o.grey);
    embed_views_take(&v->blur, e, "blur", o.blur);
    if (!v->augmentation) {
        v->augmentation = name && strncmp(name, "simclr\n", 7) == 0 ? "simclr" : "keras";
        v->vertical_flip = recipe_number(e, "vertical_flip", 0) > 0;
    }
done:
    return status;
}

void sotto_view_defaults(struct sotto_view_options *v, const struct sotto_encoder *e)
{
    GIVEN_OR(, v, e);
    sotto_status status = embed_views_resolve(v, NULL, e);
    assert(status == SOTTO_OK);
    (void)status;
    options_state(v, options_view);
}

static sotto_status embed_views_check(const struct sotto_encoder *e, const struct sotto_dataset *data,
                                      const int64_t *rows, size_t n, const struct sotto_view_options *v)
{
    sotto_status status = SOTTO_OK;
    TRY(encoder_check_size(e, data));
    TRY(encoder_check_rows(data, rows, n));
    REQUIRE(v->views >= 1 && v->views <= VIEWS_MAX, "views: %zu views of each image; expected 1 to %d",
            v->views, VIEWS_MAX);
done:
    return status;
}

sotto_status sotto_embed_views(float *out, const struct sotto_encoder *e, const struct sotto_dataset *data,
                               const int64_t *rows, size_t n, const struct sotto_view_options *options,
                               const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, e, data);
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    struct nn_plan *plan = NULL;
    struct augmenter *augmenter = NULL;
    const struct nn_backend *backend;
    size_t width = sotto_encoder_width(e);
    int threads = par_threads(ctx);
    struct sotto_view_options full, *v = &full;
    TRY(embed_views_resolve(v, options, e));
    TRY(embed_views_check(e, data, rows, n, v));
    TRY(nn_backend_find(&backend, "auto"));
    par_set_threads(threads);
    struct nn_plan_config config = {
        .batch = v->views, .dtype = NN_F32, .backend = backend, .embedding_only = 1, .ctx = ctx};
    struct augment_config augment = {.strength = {.min_area = v->min_area,
                                                  .brightness = v->brightness,
                                                  .jitter = v->jitter,
                                                  .flip = 1,
                                                  .vertical_flip = v->vertical_flip,
                                                  .grey = v->grey,
                                                  .blur = v->blur},
                                     .channels = data->channels,
                                     .height = data->height,
                                     .width = data->width,
                                     .views = v->views,
                                     .threads = threads,
                                     .ctx = ctx};
    TRY(augment_recipe_find(&augment.strength.recipe, v->augmentation));
    TRY(augmenter_create(&augmenter, &augment));
    TRY(nn_plan_create(&plan, e->model, &config));
    for (size_t i = 0; i < n; i++) {
        const int64_t row = rows ? rows[i] : (int64_t)i;
        TRY(augmenter_run(augmenter, nn_plan_input(plan), data->images,
                          &(struct augment_part){.rows = &row, .n = 1, .room = 1}, v->seed, (uint64_t)row));
        TRY(nn_plan_forward(plan, 0, 0, 0));
        memcpy(out + i * v->views * width, nn_plan_output(plan), v->views * width * sizeof *out);
        if (i % 64 == 0 || i + 1 == n)
            context_progress(ctx, "embed views", i + 1, n, "images");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "embed: stopped after %zu of %zu images", i + 1, n);
    }
done:
    par_set_threads(pool);
    augmenter_free(augmenter);
    nn_plan_free(plan);
    return status;
}
