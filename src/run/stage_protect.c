/* One private release per protection setting: the noisy head, its certificate, its ledger entry. An
 * interrupted release is drawn again and charged again; a finished one is reused. */
#include "run/run_stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sotto/io.h"

/* The sensitivity that noise is scaled to: what the user states, otherwise what was sampled for this very
 * head. */
static sotto_status find_sensitivity(struct sotto_sensitivity *out, const struct run *r,
                                     const struct run_model *m, const struct sotto_head *head)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[m->index];
    const struct run_protection *p = &c->protections[m->protection];
    *out = (struct sotto_sensitivity){.l1 = p->l1, .l2 = p->l2, .source = SOTTO_SENSITIVITY_GIVEN};
    if (isnan(p->l1) && isnan(p->l2)) {
        struct sotto_sensitivity_sample sample;
        char name[RUN_PATH], path[RUN_PATH];
        snprintf(name, sizeof name, "models/%s.sensitivity.json", c->name);
        TRY(run_folder_path(path, &r->folder, name));
        TRY(sotto_sensitivity_load(&sample, path));
        if (strcmp(sample.recipe_hash, sotto_head_recipe_hash(head)) != 0)
            FAIL(SOTTO_EINVAL,
                 "protect: %s was measured for another head (recipe hash differs); noise scaled to it would "
                 "mean nothing",
                 path);
        out->l1 = sample.l1;
        out->l2 = sample.l2;
        out->source = SOTTO_SENSITIVITY_SAMPLED;
        snprintf(out->evidence, sizeof out->evidence, "%s", sample.recipe_hash);
    }
done:
    return status;
}

/* What the report needs, taken from the certificate so that page and certificate cannot disagree. */
static sotto_status release_facts(struct json **out, const char *certificate)
{
    sotto_status status = SOTTO_OK;
    struct json *document = NULL, *facts = json_make_object();
    TRY(json_parse(&document, certificate, strlen(certificate), "certificate"));
    static const char *const members[] = {"scale", "standard_deviation", "sensitivity", "guarantee"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_put(&facts, members[i], json_clone(json_member(document, members[i])));
    *out = facts;
    facts = NULL;
done:
    json_free(document);
    json_free(facts);
    return status;
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
    json_put_real(&key, "scale", p->scale);
    json_put_real(&key, "epsilon", p->epsilon);
    json_put_real(&key, "delta", p->delta);
    json_put_real(&key, "l1", p->l1);
    json_put_real(&key, "l2", p->l2);
    json_put_integer(&key, "insecure", r->options->insecure);
    json_put_integer(&key, "insecure_seed", r->options->insecure ? (int64_t)r->options->insecure_seed : 0);
    return key;
}

sotto_status run_stage_protect(struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct run_protection *p = &r->config.cases[m->index].protections[m->protection];
    struct run_stage stage;
    struct sotto_head *head = NULL;
    char *certificate = NULL;
    struct run_model plain;
    char name[RUN_PATH], certificate_name[RUN_PATH + 32], path[RUN_PATH], hash[SHA256_HEX],
        purpose[RUN_NAME * 2 + 32], stage_name[RUN_NAME + 32];
    snprintf(stage_name, sizeof stage_name, "protect/%s", m->name);
    TRY(run_stage_begin(&stage, &r->folder, stage_name, protect_key(r, m)));
    if (stage.reused)
        goto done;

    run_model_name(&plain, r, m->index, -1);
    run_model_file(name, &plain);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_head_load(&head, path));
    TRY(sha256_file(hash, path));
    size_t count;
    float *parameters = sotto_head_parameters(head, &count);
    struct sotto_sensitivity sensitivity;
    TRY(find_sensitivity(&sensitivity, r, m, head));
    sensitivity.dimension = count;
    snprintf(purpose, sizeof purpose, "run %s, %s", r->config.name, m->name);
    struct sotto_release release = {.mechanism = p->mechanism,
                                    .scale = p->scale,
                                    .target = {p->epsilon, p->delta},
                                    .sensitivity = sensitivity,
                                    .fingerprint = sotto_head_fingerprint(head),
                                    .input_sha256 = hash,
                                    .purpose = purpose,
                                    .insecure = r->options->insecure,
                                    .insecure_seed = r->options->insecure_seed};
    TRY(sotto_dp_release(&certificate, parameters, count, &release, r->ctx));

    run_model_file(name, m);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_head_save(path, head));
    TRY(sha256_file(hash, path));
    snprintf(certificate_name, sizeof certificate_name, "%s.certificate.json", name);
    TRY(run_folder_path(path, &r->folder, certificate_name));
    TRY(sotto_certificate_save(path, certificate, hash));
    struct json *facts;
    TRY(release_facts(&facts, certificate));
    TRY(run_stage_end(&stage, &r->folder, (const char *const[]){name, certificate_name, NULL}, facts));
done:
    sotto_text_free(certificate);
    sotto_head_free(head);
    return status;
}
