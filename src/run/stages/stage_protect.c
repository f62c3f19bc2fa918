/* One private release per protection setting: the noisy head, its certificate, its ledger entry. An
 * interrupted release is drawn again and charged again; a finished one is reused. */
#include "run/stages/run_stages.h"

#include "dp/certificate/certificate_json.h"
#include "sotto/io.h"

#include <stdio.h>
#include <string.h>

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

/* What the report needs, taken from the certificate so that page and certificate cannot disagree. */
static struct json *release_facts(const struct sotto_certificate *c)
{
    const struct sotto_account *a = sotto_certificate_account(c);
    struct json *facts = json_make_object();
    json_put_real(&facts, "scale", a->scale);
    json_put_real(&facts, "standard_deviation", a->standard_deviation);
    json_put(&facts, "sensitivity", certificate_sensitivity(sotto_certificate_sensitivity(c)));
    json_put(&facts, "guarantee", certificate_guarantee(c));
    return facts;
}

static struct json *protect_key(const struct run *r, const struct run_model *m)
{
    const struct run_case *c = &r->config.cases[m->index];
    const struct run_protection *p = &c->protections[m->protection];
    char stage[RUN_NAME + 16];
    struct json *key = json_make_object();
    snprintf(stage, sizeof stage, "head/%s", c->name);
    json_put_text(&key, "head", run_stage_hash(&r->folder, stage));
    snprintf(stage, sizeof stage, "sensitivity/%s", c->name);
    json_put_text(&key, "sensitivity", run_stage_hash(&r->folder, stage));
    json_put_text(&key, "mechanism", p->mechanism);
    json_put_real(&key, "scale", p->release.scale);
    json_put_real(&key, "epsilon", p->release.target.epsilon);
    json_put_real(&key, "delta", p->release.target.delta);
    json_put_real(&key, "l1", p->release.sensitivity.l1);
    json_put_real(&key, "l2", p->release.sensitivity.l2);
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

sotto_status run_stage_protect(struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[m->index];
    const struct run_protection *p = &c->protections[m->protection];
    struct run_stage stage;
    struct run_model plain;
    struct sotto_sensitivity_sample sample;
    struct run_source source = {.digests = NULL};
    struct sotto_certificate *certificate = NULL;
    char name[RUN_PATH], certificate_name[RUN_PATH + 32], input[RUN_PATH], output[RUN_PATH],
        measured[RUN_PATH], purpose[RUN_NAME * 2 + 32], stage_name[RUN_NAME + 32];
    snprintf(stage_name, sizeof stage_name, "protect/%s", m->name);
    TRY(run_stage_begin(&stage, &r->folder, stage_name, protect_key(r, m)));
    if (stage.reused)
        goto done;

    run_model_name(&plain, r, m->index, -1);
    run_model_file(name, &plain);
    TRY(run_folder_path(input, &r->folder, name));
    snprintf(name, sizeof name, "models/%s.sensitivity.json", c->name);
    TRY(run_folder_path(measured, &r->folder, name));
    run_model_file(name, m);
    TRY(run_folder_path(output, &r->folder, name));
    snprintf(certificate_name, sizeof certificate_name, "%s.certificate.json", name);
    snprintf(purpose, sizeof purpose, "run %s, %s", r->config.name, m->name);
    TRY(run_source_make(&source, r, m->index));
    struct sotto_protect protect = {.input = input, .output = output, .release = p->release};
    protect.release.spend = (struct sotto_spend){.dataset_id = r->data->dataset_id,
                                                 .ledger = source.ledger[0] ? source.ledger : NULL,
                                                 .source = &source.records,
                                                 .purpose = purpose,
                                                 .read_from_data = p->release.spend.read_from_data,
                                                 .insecure = r->options->insecure,
                                                 .insecure_seed = r->options->insecure_seed};
    protect.release.records = c->records;
    TRY(find_sensitivity(&protect, &sample, measured, p));
    TRY(sotto_protect_file(&certificate, &protect, r->ctx));
    TRY(run_stage_end(&stage, &r->folder, (const char *const[]){name, certificate_name, NULL},
                      release_facts(certificate)));
done:
    run_source_clear(&source);
    sotto_certificate_free(certificate);
    return status;
}
