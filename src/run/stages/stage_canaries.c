/* The audit by a model's canaries: their coins are opened once, for scores and a number of guesses that were fixed before
 * the training. */
#include "io/array/tensors.h"
#include "run/stages/run_canaries.h"

#include "audit/audit_document.h"
#include "canary/canaries.h"
#include "sotto/audit.h"
#include "sotto/certificate.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <string.h>

static const struct run_protection *protection_of(const struct run *r, const struct run_model *m)
{
    return &r->config.cases[m->index].protections[m->protection];
}

/* Seeded noise guarantees nothing that could be tested: the coins stay sealed. */
static bool is_audited(const struct run *r, const struct run_model *m)
{
    return run_has_canaries(r, m) && !r->options->insecure;
}

static struct json *canaries_key(const struct run *r, const struct run_model *m)
{
    const struct run_canary_audit *a = &protection_of(r, m)->canaries;
    struct json *key = json_make_object();
    char stage[RUN_NAME + 32];
    snprintf(stage, sizeof stage, "protect/%s", m->name);
    json_put_text(&key, "model", run_stage_hash(&r->folder, stage));
    run_canaries_key(&key, a);
    json_put_integer(&key, "guesses", (int64_t)a->guesses);
    json_put_boolean(&key, "white_box", a->white_box);
    json_put_real(&key, "confidence", r->config.confidence);
    return key;
}

/* Scores of heads, then those of tails. */
static sotto_status stage_canaries_divide(double *out, size_t *members, const double *score,
                                          const int64_t *heads, size_t n)
{
    size_t placed[2] = {0, 0};
    *members = 0;
    for (size_t i = 0; i < n; i++)
        *members += heads[i] != 0;
    if (*members == 0 || *members == n)
        return status_fail(SOTTO_EINVAL, "canaries: all %zu coins fell on one side; give more canaries", n);
    placed[0] = *members;
    for (size_t i = 0; i < n; i++)
        out[placed[heads[i] != 0]++] = score[i];
    return SOTTO_OK;
}

/* The audit of scores (n) whose coins are known. */
static sotto_status stage_canaries_audit(struct sotto_audit_result *out, const double *scores, size_t members,
                                         size_t n, const struct run *r, const struct run_model *m,
                                         const struct sotto_certificate *certificate)
{
    sotto_status status = SOTTO_OK;
    const struct run_protection *p = protection_of(r, m);
    struct sotto_privacy_profile profile = {0};
    struct sotto_context quiet =
        context_quiet(r->ctx, 0); /* few canaries say little at small rates, which nobody asks */
    const struct sotto_audit_input in = {.member_scores = scores,
                                         .nonmember_scores = scores + members,
                                         .n_member = members,
                                         .n_nonmember = n - members};
    const struct sotto_audit_options options = {.confidence = r->config.confidence,
                                                .delta = sotto_certificate_account(certificate)->delta,
                                                .one_run_guesses = p->canaries.guesses,
                                                .seed = sotto_given_seed(r->config.seed),
                                                .most_vulnerable = SOTTO_NONE};
    TRY(sotto_certificate_profile(&profile, certificate, r->ctx));
    TRY(sotto_audit(out, &in, &options, &quiet));
    TRY(sotto_audit_test_curve(
        out, &profile, p->adjacency == SOTTO_REPLACE_ONE ? SOTTO_COINS_REPLACEMENT : SOTTO_COINS_INCLUSION));
done:
    sotto_privacy_profile_clear(&profile);
    return status;
}

static sotto_status open_coins(double *out, size_t *members, const double *scores, size_t n,
                               const char *model, size_t guesses)
{
    sotto_status status = SOTTO_OK;
    char coins[RUN_PATH + 32];
    int64_t *heads = NULL;
    snprintf(coins, sizeof coins, "%s%s", model, CANARY_COINS);
    const struct sotto_coins_request request = {
        .coins = coins, .certificate = model, .scores = scores, .n = n, .guesses = guesses};
    NEW(heads, n);
    TRY(sotto_coins_open(heads, NULL, &request));
    TRY(stage_canaries_divide(out, members, scores, heads, n));
done:
    base_free(heads);
    return status;
}

sotto_status run_stage_canaries(struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct sotto_tensors t = {0};
    struct sotto_audit_result found = {0};
    struct sotto_certificate *certificate = NULL;
    struct json *result = NULL;
    double *scores = NULL;
    size_t members = 0;
    char stage_name[RUN_NAME + 64], name[RUN_NAME + 64], path[RUN_PATH], file[RUN_PATH], model[RUN_PATH];
    const struct run_canary_audit *a = m->protection < 0 ? NULL : &protection_of(r, m)->canaries;
    if (!is_audited(r, m))
        return SOTTO_OK;
    snprintf(stage_name, sizeof stage_name, "canaries/%s", m->name);
    TRY(run_stage_begin(&stage, &r->folder, stage_name, canaries_key(r, m)));
    if (stage.reused)
        goto done;
    run_model_file(file, m);
    TRY(run_folder_path(model, &r->folder, file));
    run_canaries_file(file, m);
    TRY(run_folder_path(path, &r->folder, file));
    TRY(sotto_npz_load(&t, path));
    const struct sotto_array *seen = tensors_find(&t, a->white_box ? "white_box" : "black_box");
    if (!seen || seen->dtype != SOTTO_F8 || seen->count != a->options.count)
        FAIL(SOTTO_EFORMAT, "%s: holds no scores of %zu canaries", path, a->options.count);
    NEW(scores, seen->count);
    TRY(open_coins(scores, &members, seen->data, seen->count, model, a->guesses));
    snprintf(path, sizeof path, "%.900s.certificate.json", model);
    TRY(sotto_certificate_load(&certificate, path));
    TRY(stage_canaries_audit(&found, scores, members, seen->count, r, m, certificate));
    if (found.curve->contradicted)
        context_log(r->ctx, SOTTO_LOG_WARNING,
                    "%s: the audit by canaries contradicts the curve of its certificate (p = %.3g)", m->name,
                    found.curve->p_value);
    result = audit_encode(&found);
    if (!result)
        FAIL(SOTTO_ENOMEM, "canaries: out of memory for the result");
    snprintf(name, sizeof name, "attacks/%s.canaries.json", m->name);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(json_write_file(path, result, JSON_PRETTY));
    TRY(run_stage_end(&stage, &r->folder, (const char *const[]){name, NULL}, NULL));
done:
    json_free(result);
    base_free(scores);
    sotto_certificate_free(certificate);
    sotto_audit_result_free(&found);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status run_canaries_facts(struct json **out, const struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct run_canary_audit *a = m->protection < 0 ? NULL : &protection_of(r, m)->canaries;
    struct json *measured = NULL, *facts;
    char name[RUN_NAME + 64], path[RUN_PATH];
    if (!is_audited(r, m))
        return SOTTO_OK;
    snprintf(name, sizeof name, "attacks/%s.canaries.json", m->name);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(json_read_file(&measured, path));
    facts = json_make_object();
    json_put_integer(&facts, "count", (int64_t)a->options.count);
    json_put_text(&facts, "kind", canary_kind_name(a->options.kind));
    json_put_text(&facts, "access", a->white_box ? "white-box" : "black-box");
    json_put(&facts, "audit", measured);
    *out = facts;
done:
    return status;
}
