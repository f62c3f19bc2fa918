#include "run/stages/run_canaries.h"

#include "sotto/lab/train.h"
#include "sotto/ledger.h"
#include "train/network/network.h"
#include "train/private/dp_sgd.h"

#include <string.h>

const struct run_network *run_network_of(const struct run *r, const struct run_model *m)
{
    return m->protection < 0 ? NULL : r->config.cases[m->index].protections[m->protection].network;
}

const char *run_network_title(const struct run_network *n)
{
    return n->training.from ? "fine-tuned encoder" : n->training.model ? n->training.model : "network";
}

static sotto_status check_network(const struct run *r, const struct run_network *n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options o;
    struct sotto_dataset data = *r->data;
    data.classes = r->classes;
    TRY(train_options_resolve(&o, &n->training));
    TRY(train_options_check(&o));
    TRY(dp_sgd_check_model(&o, o.from ? r->config.pretrain.encoder : NULL, &data));
done:
    return status;
}

sotto_status run_check_networks(const struct run *r)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < r->config.case_count; i++)
        for (size_t p = 0; p < r->config.cases[i].protection_count; p++) {
            const struct run_network *n = r->config.cases[i].protections[p].network;
            if (n && check_network(r, n) != SOTTO_OK) {
                char why[256];
                snprintf(why, sizeof why, "%s", sotto_error_text());
                FAIL(SOTTO_ECONFIG, "%s, protect[%zu]: %s", r->config.cases[i].name, p, why);
            }
        }
done:
    return status;
}

static void put_text(struct json **key, const char *name, const char *text)
{
    json_put_text(key, name, text ? text : "");
}

void run_network_key(struct json **key, const struct run *r, const struct run_network *n)
{
    const struct sotto_train_options *o = &n->training;
    const struct sotto_train_privacy *p = &n->privacy;
    put_text(key, "model", o->model);
    put_text(key, "from", o->from ? run_stage_hash(&r->folder, "pretrain") : NULL);
    put_text(key, "freeze", o->freeze);
    put_text(key, "optimizer", o->optimizer);
    put_text(key, "schedule", o->schedule);
    put_text(key, "noise", p->noise);
    put_text(key, "clipping", p->clipping);
    json_put(key, "hidden", json_make_counts(o->hidden, o->hidden_count));
    json_put(key, "counts",
             json_make_counts((const size_t[]){o->epochs, o->batch, o->warm_up, (size_t)o->flip, o->crop,
                                               p->views, (size_t)p->sampling},
                              7));
    json_put(key, "reals",
             json_make_reals((const double[]){o->lr, o->momentum, o->weight_decay, p->max_grad_norm,
                                              p->quantile, p->average},
                             6));
    json_put_integer(key, "seed", (int64_t)r->config.seed);
}

/* As a training is asked; *encoder stands behind it. */
static sotto_status run_network_describe(struct sotto_train_options *training,
                                         struct sotto_train_privacy *privacy, char encoder[RUN_PATH],
                                         const struct run *r, const struct run_model *m,
                                         const struct sotto_spend *spend)
{
    sotto_status status = SOTTO_OK;
    const struct run_protection *p = &r->config.cases[m->index].protections[m->protection];
    *training = p->network->training;
    *privacy = p->network->privacy;
    TRY(run_folder_path(encoder, &r->folder, "models/encoder.safetensors"));
    if (training->from)
        training->from = encoder;
    training->backend = r->config.backend; /* by name: chosen for the pre-training */
    privacy->target = p->release.target;
    privacy->spend = *spend;
    privacy->classes = r->classes;
    privacy->classes_by = run_classes_by(r);
    privacy->encoder_by = training->from ? "the experiment, which pre-trained it on its public part" : NULL;
    privacy->adjacency = p->adjacency;
done:
    return status;
}

sotto_status run_network_event(struct planned_event *out, const struct run *r, const struct run_model *m,
                               size_t n, const struct sotto_spend *spend)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options training;
    struct sotto_train_privacy privacy;
    char encoder[RUN_PATH];
    TRY(run_network_describe(&training, &privacy, encoder, r, m, spend));
    TRY(dp_sgd_event(out, n, &training, &privacy, r->ctx));
done:
    return status;
}

sotto_status run_network_train(struct sotto_certificate **out, size_t *parameters, const struct run *r,
                               const struct run_model *m, const struct sotto_spend *spend, const char *output,
                               const char *checkpoint, const struct run_canary_request *canaries)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[m->index];
    struct sotto_train_options training;
    struct sotto_train_release_result made = {0};
    char encoder[RUN_PATH];
    struct sotto_train_release_request request = {.data = r->data,
                                                  .rows = r->split.rows[SPLIT_PRIVATE] +
                                                          run_case_first(r, m->index),
                                                  .n = c->records,
                                                  .options = &training,
                                                  .keep_checkpoint = 1};
    TRY(run_network_describe(&training, &request.privacy, encoder, r, m, spend));
    training.checkpoint = checkpoint;
    request.privacy.output = output;
    request.canaries = canaries->options;
    request.public_rows = canaries->rows;
    request.public_n = canaries->n;
    status = sotto_train_release(&made, &request, r->ctx);
    *out = made.certificate;
    if (made.network)
        *parameters = sotto_network_parameters(made.network);
done:
    sotto_network_free(made.network);
    return status;
}
