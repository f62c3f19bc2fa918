/* Pre-training on the public part, embeddings of the private and held-out parts, and how good the encoder
 * is. */
#include "options/option_tables.h"
#include "run/stages/run_stages.h"

#include "base/cpu.h"
#include "io/array/npy.h"
#include "options/option_values.h"
#include "par/par.h"
#include "sotto/lab/head.h"
#include "sotto/lab/provenance.h"
#include "sotto/private/io.h"
#include "ssl/pretrain.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct json *run_key(const struct run *r)
{
    struct json *key = json_make_object();
    json_put_text(&key, "isa", cpu_isa_name(cpu_best_isa()));
    json_put_integer(&key, "threads", par_threads(r->ctx));
    json_put_integer(&key, "seed", (int64_t)r->config.seed);
    json_put_text(&key, "split", run_stage_hash(&r->folder, "split"));
    return key;
}

/* Names instead of "auto", before they go into the key of any stage. A stage of its own, so that a folder
 * that is continued keeps what was chosen, whatever has become of the cache of times. */
static sotto_status resolve_auto(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct run_config *c = &r->config;
    struct run_stage stage;
    struct pretrain_setup setup;
    const struct nn_backend *machine;
    if (strcmp(c->dtype, "auto") != 0 && strcmp(c->backend, "auto") != 0)
        goto done;
    TRY(nn_backend_find(&machine, "auto"));
    struct json *key = run_key(r);
    json_put_text(&key, "asked_backend", c->backend);
    json_put_text(&key, "asked_dtype", c->dtype);
    json_put_text(&key, "machine", nn_backend_title(machine));
    json_put_text(&key, "method", c->pretrain.method);
    json_put_text(&key, "encoder", c->pretrain.encoder);
    json_put_integer(&key, "batch", (int64_t)c->pretrain.batch);
    json_put_integer(&key, "epochs", (int64_t)c->pretrain.epochs);
    TRY(run_stage_share(&stage, &r->folder, "autotune", key, true));
    if (stage.busy)
        goto done;
    if (!stage.reused) {
        struct sotto_pretrain_options stated = c->pretrain;
        options_state(&stated, options_pretrain);
        TRY(pretrain_resolve(&setup, r->public_data, r->split.rows[SPLIT_PUBLIC], r->split.n[SPLIT_PUBLIC],
                             &stated, NULL, r->ctx));
        struct json *result = json_make_object();
        json_put_text(&result, "backend", setup.choice.backend);
        json_put_text(&result, "dtype", setup.choice.dtype);
        json_put_text(&result, "how", setup.choice.how);
        TRY(run_stage_end(&stage, &r->folder, NULL, result));
    }
    TRY(json_get_text_into(c->backend, sizeof c->backend, stage.result, "run.json", "backend"));
    TRY(json_get_text_into(c->dtype, sizeof c->dtype, stage.result, "run.json", "dtype"));
done:
    return status;
}

static struct json *pretrain_key(const struct run *r)
{
    const struct sotto_pretrain_options *o = &r->config.pretrain;
    struct json *key = run_key(r);
    json_put_text(&key, "method", o->method);
    json_put_text(&key, "encoder", o->encoder);
    json_put_text(&key, "backend", o->backend);
    json_put_text(&key, "dtype", o->dtype);
    json_put_text(&key, "loss", o->loss);
    json_put_text(&key, "schedule", o->schedule);
    json_put_integer(&key, "epochs", (int64_t)o->epochs);
    json_put_integer(&key, "batch", (int64_t)o->batch);
    json_put_real(&key, "lr", o->lr);
    json_put_real(&key, "temperature", o->temperature);
    json_put_real(&key, "min_area", o->min_area);
    json_put_real(&key, "brightness", o->brightness);
    json_put_real(&key, "jitter", o->jitter);
    if (strcmp(o->augmentation, "keras") != 0) {
        json_put_text(&key, "augmentation", o->augmentation);
        json_put_integer(&key, "vertical_flip", o->vertical_flip);
        json_put_real(&key, "grey", o->grey);
        json_put_real(&key, "blur", o->blur);
    }
    return key;
}

sotto_status run_encoder_shape(struct sotto_provenance *p, const struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_encoder *e = NULL;
    char path[RUN_PATH];
    TRY(run_folder_path(path, &r->folder, "models/encoder.safetensors"));
    TRY(sotto_encoder_load(&e, path));
    TRY(sotto_encoder_shape(p, e, path));
done:
    sotto_encoder_free(e);
    return status;
}

sotto_status run_stage_pretrain(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct sotto_encoder *encoder = NULL;
    struct sotto_pretrain_result done_so_far = {0};
    struct sotto_provenance whose = {0};
    char path[RUN_PATH], checkpoint[RUN_PATH], metrics[RUN_PATH], name[64];
    static const char *const outputs[] = {"models/encoder.safetensors", NULL};
    TRY(resolve_auto(r));
    TRY(run_stage_share(&stage, &r->folder, "pretrain", pretrain_key(r), true));
    if (stage.reused || stage.busy)
        goto done;
    /* The checkpoint carries the stage's hash in its name, so another recipe never meets this one's. */
    snprintf(name, sizeof name, "checkpoints/pretrain-%.16s.safetensors", stage.hash);
    TRY(run_folder_path(checkpoint, &r->folder, name));
    TRY(run_folder_path(metrics, &r->folder, "metrics.jsonl"));
    TRY(run_folder_path(path, &r->folder, outputs[0]));
    if (!file_exists(checkpoint))
        (void)unlink(metrics); /* another recipe's curve */
    struct sotto_pretrain_options options = r->config.pretrain;
    options_state(&options, options_pretrain);
    options.checkpoint = checkpoint;
    options.metrics = metrics;
    TRY(sotto_pretrain(&encoder, &done_so_far, r->public_data, r->split.rows[SPLIT_PUBLIC],
                       r->split.n[SPLIT_PUBLIC], &options, r->ctx));
    TRY(sotto_encoder_save(path, encoder));
    TRY(sotto_provenance_of_rows(&whose, r->public_data, r->split.rows[SPLIT_PUBLIC],
                                 r->split.n[SPLIT_PUBLIC]));
    TRY(sotto_provenance_save(path, &whose));
    struct json *result = json_make_object();
    json_put_integer(&result, "steps", (int64_t)done_so_far.steps);
    json_put_real(&result, "loss", done_so_far.loss);
    json_put_real(&result, "accuracy", done_so_far.accuracy);
    json_put_real(&result, "seconds", done_so_far.seconds);
    json_put_real(&result, "images_per_second", done_so_far.images_per_second);
    json_put_integer(&result, "planned_bytes", (int64_t)done_so_far.planned_bytes);
    json_put_text(&result, "dtype", done_so_far.dtype);
    json_put_text(&result, "backend", done_so_far.backend);
    TRY(run_stage_end(&stage, &r->folder, outputs, result));
done:
    sotto_provenance_clear(&whose);
    sotto_encoder_free(encoder);
    return status;
}

sotto_status run_check_encoder(const struct run *r)
{
    sotto_status status = SOTTO_OK;
    static const char name[] = "models/encoder.safetensors";
    char path[RUN_PATH], now[SHA256_HEX];
    const struct json *stage = json_member(json_member(r->folder.document, "stages"), "pretrain");
    const char *then = json_text(json_member(json_member(stage, "outputs"), name));
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sha256_file_asking(now, path, r->ctx));
    if (!then || strcmp(now, then) != 0)
        FAIL(SOTTO_EINVAL,
             "%s: was changed during the experiment; expected the encoder of the heads and embeddings", path);
done:
    return status;
}

/* Embeddings and labels of one part, to two files. */
static sotto_status embed_part(const struct run *r, const struct sotto_encoder *encoder, enum split_part part,
                               const char *x_name, const char *y_name)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array x = {0}, y = {0};
    char path[RUN_PATH];
    size_t n = r->split.n[part], shape[2] = {n, sotto_encoder_width(encoder)};
    TRY(sotto_array_make(&x, SOTTO_F4, 2, shape));
    TRY(sotto_array_make(&y, SOTTO_I8, 1, shape));
    TRY(sotto_embed(x.data, encoder, r->data, r->split.rows[part], n, r->ctx));
    for (size_t i = 0; i < n; i++)
        ((int64_t *)y.data)[i] = r->data->labels[r->split.rows[part][i]];
    TRY(run_folder_path(path, &r->folder, x_name));
    TRY(npy_save_asking(path, &x, r->ctx));
    TRY(run_folder_path(path, &r->folder, y_name));
    TRY(npy_save_asking(path, &y, r->ctx));
done:
    sotto_array_clear(&x);
    sotto_array_clear(&y);
    return status;
}

static sotto_status stage_encoder_load(struct sotto_array *out, const struct run *r, const char *name)
{
    sotto_status status = SOTTO_OK;
    char path[RUN_PATH];
    TRY(run_folder_path(path, &r->folder, name));
    TRY(npy_load_asking(out, path, r->ctx));
done:
    return status;
}

sotto_status run_stage_embed(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct sotto_encoder *encoder = NULL;
    static const char *const outputs[] = {"embeddings/private.npy",
                                          "embeddings/private-labels.npy",
                                          "embeddings/heldout.npy",
                                          "embeddings/heldout-labels.npy",
                                          "embeddings/shadow.npy",
                                          "embeddings/shadow-labels.npy",
                                          NULL};
    bool shadow = r->split.n[SPLIT_SHADOW] > 0;
    const char *made[7] = {NULL};
    memcpy(made, outputs, (shadow ? 6 : 4) * sizeof *made);
    struct json *key = run_key(r);
    json_put_text(&key, "encoder", run_stage_hash(&r->folder, "pretrain"));
    TRY(run_stage_share(&stage, &r->folder, "embed", key, true));
    if (stage.busy)
        goto done;
    if (!stage.reused) {
        char path[RUN_PATH];
        TRY(run_folder_path(path, &r->folder, "models/encoder.safetensors"));
        TRY(sotto_encoder_load(&encoder, path));
        TRY(embed_part(r, encoder, SPLIT_PRIVATE, outputs[0], outputs[1]));
        TRY(embed_part(r, encoder, SPLIT_HELDOUT, outputs[2], outputs[3]));
        if (shadow)
            TRY(embed_part(r, encoder, SPLIT_SHADOW, outputs[4], outputs[5]));
        TRY(run_stage_end(&stage, &r->folder, made, NULL));
    }
    TRY(stage_encoder_load(&r->private_x, r, outputs[0]));
    TRY(stage_encoder_load(&r->private_y, r, outputs[1]));
    TRY(stage_encoder_load(&r->heldout_x, r, outputs[2]));
    TRY(stage_encoder_load(&r->heldout_y, r, outputs[3]));
    if (shadow) {
        TRY(stage_encoder_load(&r->shadow_x, r, outputs[4]));
        TRY(stage_encoder_load(&r->shadow_y, r, outputs[5]));
    }
    r->width = r->private_x.shape[1];
done:
    sotto_encoder_free(encoder);
    return status;
}

sotto_status run_stage_encoder(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct sotto_head *probe = NULL;
    struct json *key = run_key(r);
    json_put_text(&key, "embed", run_stage_hash(&r->folder, "embed"));
    TRY(run_stage_share(&stage, &r->folder, "encoder", key, false));
    if (stage.reused || stage.busy)
        goto done;
    enum { NEIGHBOURS = 20 };
    size_t n = r->private_x.shape[0], held = r->heldout_x.shape[0];
    double knn, linear;
    TRY(sotto_knn_accuracy(&knn, r->private_x.data, r->private_y.data, n, r->heldout_x.data,
                           r->heldout_y.data, held, r->width, n < NEIGHBOURS ? n : NEIGHBOURS, r->ctx));
    struct sotto_head_recipe recipe;
    sotto_head_defaults(&recipe);
    recipe.seed = sotto_given_seed(r->config.seed);
    TRY(sotto_head_train(&probe, r->private_x.data, r->private_y.data, n, r->width, r->classes, &recipe,
                         r->ctx));
    TRY(sotto_head_accuracy(&linear, probe, r->heldout_x.data, r->heldout_y.data, held, r->width, r->ctx));
    struct json *result = json_make_object();
    json_put_real(&result, "knn_accuracy", knn);
    json_put_real(&result, "linear_accuracy", linear);
    json_put_integer(&result, "records", (int64_t)n);
    TRY(run_stage_end(&stage, &r->folder, NULL, result));
done:
    sotto_head_free(probe);
    return status;
}
