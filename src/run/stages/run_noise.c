/* What a row of `protect` is made of, and what its noise asks. */
#include "run/stages/run_canaries.h"
#include "run/stages/run_network.h"
#include "run/stages/run_protect.h"

#include <stdio.h>

/* The sensitivity that noise is scaled to: what the user states, otherwise what was sampled for this very
 * head (the release checks that it was). */
static sotto_status find_sensitivity(struct sotto_protect *out, struct sotto_sensitivity_sample *sample,
                                     const char *path, const struct run_protection *p)
{
    sotto_status status = SOTTO_OK;
    if (!run_states_sensitivity(p)) {
        TRY(sotto_sensitivity_load(sample, path));
        sotto_sensitivity_of(&out->release.sensitivity, sample);
        out->sensitivity_file = path;
        out->sensitivity_data = sample->data_sha256;
        if (sample->proved)
            TRY(sotto_sensitivity_of_head(out, sample));
    }
done:
    return status;
}

sotto_status run_noise_ask(struct run_noise *out, const struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[m->index];
    const struct run_protection *p = &c->protections[m->protection];
    struct run_model plain;
    char name[RUN_PATH];
    out->protect = (struct sotto_protect){.release = p->release};
    run_model_name(&plain, r, m->index, -1);
    run_model_file(name, &plain);
    TRY(run_folder_path(out->input, &r->folder, name));
    snprintf(name, sizeof name, "models/%s.sensitivity.json", c->name);
    TRY(run_folder_path(out->sensitivity, &r->folder, name));
    out->protect.input = out->input;
    out->protect.release.records = c->records;
    TRY(find_sensitivity(&out->protect, &out->measured, out->sensitivity, p));
done:
    return status;
}

/* A member that is not given counts as 0. */
static void put_recipe(struct json **key, const struct sotto_head_recipe *r)
{
    json_put(key, "hidden", json_make_counts(r->hidden, r->hidden_count));
    json_put_integer(key, "epochs", (int64_t)r->epochs);
    json_put_integer(key, "batch", (int64_t)r->batch);
    json_put_integer(key, "seed", (int64_t)r->seed);
    json_put_text(key, "noise", r->noise ? r->noise : "");
    json_put(key, "reals",
             json_make_reals(
                 (double[]){r->lr, r->clip, r->bias, r->lambda, r->cross, r->max_grad_norm, r->momentum}, 7));
}

/* What a release is made of: of a private training the records alone, so that another recipe of the head beside it does
 * not train and charge anew what is finished. */
static void put_inputs(struct json **key, const struct run *r, const struct run_model *m)
{
    const struct run_case *c = &r->config.cases[m->index];
    const struct run_network *network = run_network_of(r, m);
    char stage[RUN_NAME + 16];
    if (run_is_trained(r, m)) {
        json_put_text(key, "records_of", run_stage_hash(&r->folder, network ? "split" : "embed"));
        json_put_integer(key, "first", (int64_t)run_case_first(r, m->index));
        json_put_integer(key, "records", (int64_t)c->records);
        return;
    }
    snprintf(stage, sizeof stage, "head/%s", c->name);
    json_put_text(key, "head", run_stage_hash(&r->folder, stage));
    snprintf(stage, sizeof stage, "sensitivity/%s", c->name);
    json_put_text(key, "sensitivity", run_stage_hash(&r->folder, stage));
}

struct json *run_protect_key(const struct run *r, const struct run_model *m)
{
    const struct run_protection *p = &r->config.cases[m->index].protections[m->protection];
    struct json *key = json_make_object();
    put_inputs(&key, r, m);
    json_put_text(&key, "mechanism", p->mechanism);
    json_put_real(&key, "scale", p->release.scale);
    if (p->adjacency != SOTTO_REPLACE_ONE)
        json_put_integer(&key, "adjacency", p->adjacency);
    if (run_has_canaries(r, m))
        run_canaries_key(&key, &p->canaries);
    json_put_real(&key, "epsilon", p->release.target.epsilon);
    json_put_real(&key, "delta", p->release.target.delta);
    json_put_real(&key, "l1", p->release.sensitivity.l1);
    json_put_real(&key, "l2", p->release.sensitivity.l2);
    if (p->network)
        run_network_key(&key, r, p->network);
    else if (p->trained)
        put_recipe(&key, &p->recipe);
    if (p->read_from_data[0]) {
        struct json *names = json_make_array();
        for (size_t i = 0; p->read_from_data[i]; i++)
            json_push(&names, json_make_text(p->read_from_data[i]));
        json_put(&key, "read_from_data", names);
    }
    json_put_integer(&key, "insecure", r->options->insecure);
    json_put_integer(&key, "insecure_seed", r->options->insecure ? (int64_t)r->options->insecure_seed : 0);
    return key;
}
