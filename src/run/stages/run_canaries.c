#include "run/stages/run_canaries.h"
#include "sotto/account.h"

#include "canary/canaries.h"

#include <stdio.h>
#include <string.h>

enum { PUBLIC_ROWS = 2000 /* of which clipbkd takes directions */ };

static const struct run_protection *protection_of(const struct run *r, const struct run_model *m)
{
    return &r->config.cases[m->index].protections[m->protection];
}

/* In either each canary has a place, whatever its coin. */
static enum sotto_canary_relation relation_of(const struct run_protection *p)
{
    return p->adjacency == SOTTO_REPLACE_ONE ? SOTTO_CANARY_ONE_OF_TWO : SOTTO_CANARY_OR_NOTHING;
}

bool run_has_canaries(const struct run *r, const struct run_model *m)
{
    return m->protection >= 0 && protection_of(r, m)->canaries.options.count > 0;
}

size_t run_canaries_records(const struct run *r, const struct run_model *m)
{
    const struct run_protection *p = protection_of(r, m);
    const struct sotto_canary_options *o = &p->canaries.options;
    const size_t displaced = o->count * canary_displaces(o->kind, relation_of(p));
    return r->config.cases[m->index].records + o->count - displaced;
}

void run_canaries_file(char out[RUN_PATH], const struct run_model *m)
{
    run_model_file(out, m);
    strncat(out, CANARY_RECORDS, RUN_PATH - strlen(out) - 1);
}

void run_canaries_key(struct json **key, const struct run_canary_audit *a)
{
    json_put_integer(key, "canaries", (int64_t)a->options.count);
    json_put_text(key, "canary_kind", canary_kind_name(a->options.kind));
}

/* Images of the case, or its embeddings for a head. */
static struct sotto_dataset records_of(const struct run *r, const struct run_model *m)
{
    if (run_network_of(r, m))
        return *r->data;
    const size_t n = r->config.cases[m->index].records;
    return (struct sotto_dataset){.name = "embeddings",
                                  .n = n,
                                  .n_train = n,
                                  .columns = r->width,
                                  .features = run_case_x(r, m->index),
                                  .classes = r->classes,
                                  .labels = (int64_t *)(uintptr_t)run_case_y(r, m->index)};
}

/* The same choice for the training and for what displaced whom. */
static struct sotto_canary_request request_of(const struct run *r, const struct run_model *m,
                                              const struct sotto_dataset *data)
{
    const struct run_protection *p = protection_of(r, m);
    struct sotto_canary_request request = {
        .data = data,
        .rows = run_network_of(r, m) ? r->split.rows[SPLIT_PRIVATE] + run_case_first(r, m->index) : NULL,
        .n = r->config.cases[m->index].records,
        .classes = r->classes,
        .options = p->canaries.options,
        .relation = relation_of(p),
        .insecure = r->options->insecure,
        .insecure_seed = r->options->insecure_seed};
    request.options.seed = sotto_given_seed(r->config.seed);
    return request;
}

/* Rows of the public part as the model reads them. */
static sotto_status public_rows(float **out, size_t *n, const struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_dataset *d = r->public_data;
    const int64_t *rows = r->split.rows[SPLIT_PUBLIC];
    const size_t count = r->split.n[SPLIT_PUBLIC] < PUBLIC_ROWS ? r->split.n[SPLIT_PUBLIC] : PUBLIC_ROWS,
                 pixels = d->channels * d->height * d->width;
    struct sotto_encoder *encoder = NULL;
    float *x = NULL;
    char path[RUN_PATH];
    NEW_ROWS(x, count, run_network_of(r, m) ? pixels : r->width);
    if (run_network_of(r, m)) {
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < pixels; j++)
                x[i * pixels + j] = (float)d->images[(size_t)rows[i] * pixels + j] / 255;
    } else {
        TRY(run_folder_path(path, &r->folder, "models/encoder.safetensors"));
        TRY(sotto_encoder_load(&encoder, path));
        TRY(sotto_embed(x, encoder, d, rows, count, r->ctx));
    }
    *out = x;
    *n = count;
    x = NULL;
done:
    sotto_encoder_free(encoder);
    base_free(x);
    return status;
}

/* Coins belong to the checkpoint of their training. Without one, or where the training came to its end and the stage did
 * not, new ones are tossed for a training from the beginning. */
static sotto_status forget_unfinished(const char *output, const char *checkpoint)
{
    sotto_status status = SOTTO_OK;
    char finished[CANARY_PATH];
    TRY(canary_path(finished, output, CANARY_RECORDS));
    if (checkpoint[0] && file_exists(checkpoint) && !file_exists(finished))
        goto done;
    if (checkpoint[0])
        sotto_train_forget(checkpoint);
    sotto_canaries_forget(output);
done:
    return status;
}

sotto_status run_canaries_ask(struct run_canary_request *out, const struct run *r, const struct run_model *m,
                              const char *output, const char *checkpoint)
{
    sotto_status status = SOTTO_OK;
    if (!run_has_canaries(r, m))
        return SOTTO_OK;
    out->options = request_of(r, m, NULL).options;
    if (out->options.kind == SOTTO_CANARY_CLIPBKD)
        TRY(public_rows(&out->rows, &out->n, r, m));
    TRY(forget_unfinished(output, checkpoint));
done:
    return status;
}

sotto_status run_canaries_displaced(bool *out, const struct run *r, const struct run_model *m)
{
    const struct sotto_dataset data = records_of(r, m);
    const struct sotto_canary_request request = request_of(r, m, &data);
    return canary_displaced(out, &request);
}
