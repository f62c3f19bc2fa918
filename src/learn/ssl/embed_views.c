/* Embeddings of random views. The views of an image are drawn with its row as the step, so they depend on
 * seed and row alone, whatever else is embedded beside it. */
#include "base/memory.h"
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

/* As in embed.c: a thread has a plan of its own, and so many images at a time. */
enum { VIEWS_PIECE = 16 };
struct views_worker {
    struct nn_plan *plan;
    struct augmenter *augmenter;
};
struct views_run {
    const struct sotto_dataset *data;
    const int64_t *rows;
    const struct sotto_view_options *options;
    float *out;
    size_t n, width, done; /* width: of the views of an image; done: pieces before this round */
    struct views_worker *workers;
};

static sotto_status embed_views_piece(void *user, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    const struct views_run *run = user;
    const struct views_worker *w = &run->workers[thread];
    const size_t first = (run->done + chunk) * VIEWS_PIECE,
                 end = run->n - first < VIEWS_PIECE ? run->n : first + VIEWS_PIECE;
    for (size_t i = first; i < end; i++) {
        const int64_t row = run->rows ? run->rows[i] : (int64_t)i;
        TRY(augmenter_run(w->augmenter, nn_plan_input(w->plan), run->data->images,
                          &(struct augment_part){.rows = &row, .n = 1, .room = 1}, run->options->seed,
                          (uint64_t)row));
        TRY(nn_plan_forward(w->plan, 0, 0, 0));
        memcpy(run->out + i * run->width, nn_plan_output(w->plan), run->width * sizeof *run->out);
    }
done:
    return status;
}

static sotto_status views_worker_make(struct views_worker *w, const struct sotto_encoder *e,
                                      const struct views_run *run, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_view_options *v = run->options;
    const struct nn_backend *backend;
    struct augment_config augment = {.strength = {.min_area = v->min_area,
                                                  .brightness = v->brightness,
                                                  .jitter = v->jitter,
                                                  .flip = 1,
                                                  .vertical_flip = v->vertical_flip,
                                                  .grey = v->grey,
                                                  .blur = v->blur},
                                     .channels = run->data->channels,
                                     .height = run->data->height,
                                     .width = run->data->width,
                                     .views = v->views,
                                     .threads = 1,
                                     .ctx = ctx};
    TRY(nn_backend_find(&backend, "auto"));
    const struct nn_plan_config config = {
        .batch = v->views, .dtype = NN_F32, .backend = backend, .embedding_only = 1, .ctx = ctx};
    TRY(augment_recipe_find(&augment.strength.recipe, v->augmentation));
    TRY(augmenter_create(&w->augmenter, &augment));
    TRY(nn_plan_create(&w->plan, e->model, &config));
done:
    return status;
}

sotto_status sotto_embed_views(float *out, const struct sotto_encoder *e, const struct sotto_dataset *data,
                               const int64_t *rows, size_t n, const struct sotto_view_options *options,
                               const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, e, data);
    sotto_status status = SOTTO_OK;
    const int pool = par_pool_threads();
    const size_t pieces = (n + VIEWS_PIECE - 1) / VIEWS_PIECE, threads = (size_t)par_threads(ctx),
                 count = pieces < threads ? pieces : threads;
    struct sotto_view_options v;
    struct views_run run = {data, rows, &v, out, n, 0, 0, NULL};
    TRY(embed_views_resolve(&v, options, e));
    TRY(embed_views_check(e, data, rows, n, &v));
    run.width = v.views * sotto_encoder_width(e);
    par_set_threads(1);
    NEW(run.workers, count + !count);
    for (size_t i = 0; i < count; i++)
        TRY(views_worker_make(&run.workers[i], e, &run, ctx));
    for (; run.done < pieces; run.done += count) {
        const size_t round = pieces - run.done < count ? pieces - run.done : count,
                     made = (run.done + round) * VIEWS_PIECE;
        TRY(par_chunks(round, (int)count, embed_views_piece, &run));
        context_progress(ctx, "embed views", made < n ? made : n, n, "images");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "embed: stopped after %zu of %zu images", made < n ? made : n, n);
    }
done:
    par_set_threads(pool);
    for (size_t i = 0; run.workers && i < count; i++) {
        augmenter_free(run.workers[i].augmenter);
        nn_plan_free(run.workers[i].plan);
    }
    base_free(run.workers);
    return status;
}
