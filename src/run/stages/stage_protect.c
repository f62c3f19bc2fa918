/* One private release per protection setting: a noisy head, or a head or network that was trained privately; its
 * certificate, its ledger entry. What an interrupted release still had to draw is drawn and charged again, by DP-SGD from
 * its checkpoint on; a finished one is reused. */
#include "run/stages/run_canaries.h"
#include "run/stages/run_protect.h"

#include "dp/certificate/certificate_json.h"
#include "dp/release/charge_hint.h"
#include "sotto/lab/head.h"
#include "sotto/lab/train.h"

#include <stdio.h>
#include <string.h>

/* What the report needs, taken from the certificate so that page and certificate cannot disagree. */
static struct json *release_facts(const struct sotto_certificate *c, size_t parameters)
{
    const struct sotto_account *a = sotto_certificate_account(c);
    struct json *facts = json_make_object();
    json_put_real(&facts, "scale", a->scale);
    json_put_real(&facts, "standard_deviation", a->standard_deviation);
    json_put(&facts, "sensitivity", certificate_sensitivity(sotto_certificate_sensitivity(c)));
    json_put(&facts, "guarantee", certificate_guarantee(c));
    if (parameters)
        json_put_integer(&facts, "parameters", (int64_t)parameters);
    return facts;
}

/* The files of a protected model, and the spending that its noise is charged as. */
struct protection {
    const struct run_protection *settings;
    struct run_source source;
    char name[RUN_PATH], certificate_name[RUN_PATH + 32], output[RUN_PATH], purpose[RUN_NAME * 2 + 32];
    struct sotto_provenance whose; /* unit of privacy of the imported set */
    struct sotto_spend spend;
    size_t parameters;         /* of a head or network of its own */
    char checkpoint[RUN_PATH]; /* of DP-SGD; "": none */
};

static sotto_status stage_protect_describe(struct protection *out, struct run *r, const struct run_model *m,
                                           const struct run_stage *stage)
{
    sotto_status status = SOTTO_OK;
    out->settings = &r->config.cases[m->index].protections[m->protection];
    run_model_file(out->name, m);
    TRY(run_folder_path(out->output, &r->folder, out->name));
    snprintf(out->certificate_name, sizeof out->certificate_name, "%s.certificate.json", out->name);
    snprintf(out->purpose, sizeof out->purpose, "run %s, %s", r->config.name, m->name);
    TRY(run_checkpoint_path(out->checkpoint, r, m, stage->hash));
    TRY(run_source_make(&out->source, r, m->index));
    TRY(run_spend_of(&out->spend, &out->whose, r, m));
    out->spend.ledger = out->source.ledger[0] ? out->source.ledger : NULL;
    out->spend.source = &out->source.records;
    out->spend.purpose = out->purpose;
done:
    return status;
}

/* Noise on the case's trained head. */
static sotto_status add_noise(struct sotto_certificate **out, struct run *r, const struct run_model *m,
                              const struct protection *p)
{
    sotto_status status = SOTTO_OK;
    struct run_noise noise;
    TRY(run_noise_ask(&noise, r, m));
    const char *condition = noise.protect.release.spend.condition; /* of an early head */
    noise.protect.output = p->output;
    noise.protect.release.spend = p->spend;
    noise.protect.release.spend.condition = condition;
    TRY(sotto_protect_file(out, &noise.protect, r->ctx));
done:
    return status;
}

/* A stage that has not ended is made anew, or goes on from its checkpoint. */
static const char *stage_protect_again(const struct protection *p)
{
    return p->checkpoint[0]
               ? "the stage did not end; the same command continues it, and is charged for what it draws anew"
               : "the stage did not end; the same command releases anew and is charged again";
}

/* A head of its own, with noise in its training. The checkpoint goes when the stage has ended. */
static sotto_status train_head(struct sotto_certificate **out, struct run *r, const struct run_model *m,
                               struct protection *p)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_release_result made = {0};
    struct run_canary_request canaries = {0};
    char encoder[RUN_PATH];
    struct sotto_head_release_request request = {.x = run_case_x(r, m->index),
                                                 .y = run_case_y(r, m->index),
                                                 .n = r->config.cases[m->index].records,
                                                 .d = r->width,
                                                 .classes = r->classes,
                                                 .recipe = &p->settings->recipe,
                                                 .files = {.encoder = encoder},
                                                 .keep_checkpoint = 1};
    request.privacy = run_head_privacy(r, m, &p->spend);
    request.privacy.output = p->output;
    request.privacy.checkpoint = p->checkpoint[0] ? p->checkpoint : NULL;
    TRY(run_folder_path(encoder, &r->folder, "models/encoder.safetensors"));
    TRY(run_canaries_ask(&canaries, r, m, p->output, p->checkpoint));
    request.canaries = canaries.options;
    request.public_rows = canaries.rows;
    request.public_n = canaries.n;
    status = sotto_head_release(&made, &request, r->ctx);
    *out = made.certificate; /* of a failure too: it is charged */
    if (made.head)
        (void)sotto_head_parameters(made.head, &p->parameters);
done:
    base_free(canaries.rows);
    sotto_head_free(made.head);
    return status;
}

static sotto_status train_network(struct sotto_certificate **out, struct run *r, const struct run_model *m,
                                  struct protection *p)
{
    sotto_status status = SOTTO_OK;
    struct run_canary_request canaries = {0};
    TRY(run_canaries_ask(&canaries, r, m, p->output, p->checkpoint));
    status = run_network_train(out, &p->parameters, r, m, &p->spend, p->output, p->checkpoint, &canaries);
done:
    base_free(canaries.rows);
    return status;
}

static sotto_status make_release(struct sotto_certificate **out, struct run *r, const struct run_model *m,
                                 struct protection *p)
{
    if (p->settings->network)
        return train_network(out, r, m, p);
    return p->settings->trained ? train_head(out, r, m, p) : add_noise(out, r, m, p);
}

sotto_status run_stage_protect(struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct protection p = {.settings = NULL};
    struct sotto_certificate *certificate = NULL;
    char stage_name[RUN_NAME + 32], scores[RUN_PATH];
    snprintf(stage_name, sizeof stage_name, "protect/%s", m->name);
    TRY(run_stage_begin(&stage, &r->folder, stage_name, run_protect_key(r, m)));
    if (stage.reused)
        goto done;
    TRY(stage_protect_describe(&p, r, m, &stage));
    p.spend.planned = run_slot_of(r, stage.hash);
    TRY(make_release(&certificate, r, m, &p));
    run_canaries_file(scores, m);
    TRY(run_stage_end(
        &stage, &r->folder,
        (const char *const[]){p.name, p.certificate_name, run_has_canaries(r, m) ? scores : NULL, NULL},
        release_facts(certificate, p.parameters)));
    if (p.checkpoint[0])
        sotto_train_forget(p.checkpoint);
done:
    if (status == SOTTO_EBUDGET && p.spend.planned)
        status_hint("another run spent it, of a copy of this folder; the same command charges the row anew");
    if (status != SOTTO_OK && certificate)
        charge_name_certificate(certificate, stage_protect_again(&p));
    run_source_clear(&p.source);
    sotto_provenance_clear(&p.whose);
    sotto_certificate_free(certificate);
    return status;
}
