/* A case with an encoder that is trained on the private records too. Its embeddings are its own, so they lie
 * beside those of the frozen encoder, and queries to the case's head use them (run_answers.c). */
#include "run/stages/run_stages.h"
#include "sotto/lab/head.h"

#include "io/array/npy.h"
#include "io/provenance/statement.h"
#include "train/plain/fine_tune.h"
#include "ssl/encoder.h"

#include <stdio.h>

struct tuned_files {
    char head[RUN_PATH], encoder[RUN_PATH], member[RUN_PATH], nonmember[RUN_PATH];
};

static void file_names(struct tuned_files *out, const struct run *r, size_t index)
{
    const char *name = r->config.cases[index].name;
    snprintf(out->head, RUN_PATH, "models/%s.safetensors", name);
    snprintf(out->encoder, RUN_PATH, "models/%s.encoder.safetensors", name);
    snprintf(out->member, RUN_PATH, "embeddings/%s.private.npy", name);
    snprintf(out->nonmember, RUN_PATH, "embeddings/%s.heldout.npy", name);
}

static struct json *fine_tune_key(const struct run *r, size_t index)
{
    const struct run_case *c = &r->config.cases[index];
    struct json *key = run_key(r);
    json_put_text(&key, "encoder", run_stage_hash(&r->folder, "pretrain"));
    json_put_boolean(&key, "fine_tune", true);
    json_put_text(&key, "backend", r->config.backend);
    json_put_integer(&key, "first", (int64_t)run_case_first(r, index));
    json_put_integer(&key, "records", (int64_t)c->records);
    json_put(&key, "hidden", json_make_counts(c->recipe.hidden, c->recipe.hidden_count));
    json_put_integer(&key, "epochs", (int64_t)c->recipe.epochs);
    json_put_integer(&key, "batch", (int64_t)c->recipe.batch);
    json_put_real(&key, "lr", c->recipe.lr);
    return key;
}

static sotto_status stage_fine_tune_head(struct sotto_encoder **encoder, struct sotto_head **head,
                                         double *loss, const struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct sotto_encoder *from = NULL;
    struct fine_tune_options o;
    char path[RUN_PATH];
    fine_tune_defaults(&o);
    o.backend = r->config.backend;
    o.seed = sotto_given_seed(r->config.seed);
    o.epochs = c->recipe.epochs;
    o.batch = c->recipe.batch;
    o.lr = c->recipe.lr;
    o.hidden_count = c->recipe.hidden_count; /* at most FINE_TUNE_HIDDEN: run_config.c */
    for (size_t i = 0; i < o.hidden_count; i++)
        o.hidden[i] = c->recipe.hidden[i];
    TRY(run_folder_path(path, &r->folder, "models/encoder.safetensors"));
    TRY(sotto_encoder_load(&from, path));
    TRY(fine_tune_encoder(encoder, head, loss, from, r->data,
                          r->split.rows[SPLIT_PRIVATE] + run_case_first(r, index), c->records, &o, r->ctx));
done:
    sotto_encoder_free(from);
    return status;
}

static sotto_status stage_fine_tune_embed(const char *name, const struct run *r,
                                          const struct sotto_encoder *encoder, const int64_t *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array x = {0};
    char path[RUN_PATH];
    TRY(sotto_array_make(&x, SOTTO_F4, 2, (const size_t[]){n, sotto_encoder_width(encoder)}));
    TRY(sotto_embed(x.data, encoder, r->data, rows, n, r->ctx));
    TRY(run_folder_path(path, &r->folder, name));
    TRY(npy_save_asking(path, &x, r->ctx));
done:
    sotto_array_clear(&x);
    return status;
}

sotto_status run_stage_fine_tune(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct run_stage stage;
    struct sotto_encoder *encoder = NULL;
    struct sotto_head *head = NULL;
    struct tuned_files files;
    char path[RUN_PATH], stage_name[RUN_NAME + 16];
    double loss;
    size_t parameters;
    file_names(&files, r, index);
    snprintf(stage_name, sizeof stage_name, "head/%s", c->name);
    TRY(run_stage_share(&stage, &r->folder, stage_name, fine_tune_key(r, index), false));
    if (stage.reused || stage.busy)
        goto done;
    TRY(stage_fine_tune_head(&encoder, &head, &loss, r, index));
    TRY(run_folder_path(path, &r->folder, files.encoder));
    TRY(sotto_encoder_save(path, encoder));
    TRY(sotto_head_set_encoder_file(head, path));
    TRY(run_folder_path(path, &r->folder, files.head));
    TRY(sotto_head_save(path, head));
    TRY(stage_fine_tune_embed(files.member, r, encoder,
                              r->split.rows[SPLIT_PRIVATE] + run_case_first(r, index), c->records));
    TRY(stage_fine_tune_embed(files.nonmember, r, encoder, r->split.rows[SPLIT_HELDOUT],
                              r->split.n[SPLIT_HELDOUT]));
    (void)sotto_head_parameters(head, &parameters);
    struct json *result = json_make_object();
    json_put_real(&result, "loss", loss);
    json_put_integer(&result, "parameters",
                     (int64_t)(parameters + nn_model_parameter_count(encoder->model, 0)));
    json_put_text(&result, STATEMENT_KEY, STATEMENT_NONE);
    TRY(run_stage_end(&stage, &r->folder,
                      (const char *const[]){files.head, files.encoder, files.member, files.nonmember, NULL},
                      result));
done:
    sotto_encoder_free(encoder);
    sotto_head_free(head);
    return status;
}

sotto_status run_load_tuned(struct sotto_array *member, struct sotto_array *nonmember, const struct run *r,
                            size_t index)
{
    sotto_status status = SOTTO_OK;
    struct tuned_files files;
    char path[RUN_PATH];
    file_names(&files, r, index);
    TRY(run_folder_path(path, &r->folder, files.member));
    TRY(npy_load_asking(member, path, r->ctx));
    TRY(run_folder_path(path, &r->folder, files.nonmember));
    TRY(npy_load_asking(nonmember, path, r->ctx));
done:
    return status;
}
