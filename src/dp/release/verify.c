/* A certificate re-derived from its own facts: the account of (mechanism, scale, sensitivity, dimension,
 * delta), or of all steps of a run, and the wording that source and condition allow. */
#include "dp/release/verification.h"
#include "dp/account/accountant.h"
#include "dp/ledger/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the certificate claims must not be smaller than what can be derived. */
static void check_number(struct verification *v, const char *name, double claimed, double derived)
{
    bool ok =
        isnan(derived) ? isnan(claimed) : claimed >= derived * (1 - 1e-12) && claimed <= derived * (1 + 1e-9);
    verify_check(v, name, ok, "certificate says %.12g, re-derived %.12g", claimed, derived);
}

static void check_text(struct verification *v, const char *name, const char *claimed, const char *derived)
{
    verify_check(v, name, claimed && strcmp(claimed, derived) == 0, "%.300s", claimed ? claimed : "(none)");
}

static sotto_status derive(struct sotto_account *a, const struct certificate_claims *f, double delta,
                           const char *adjacency, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    if (!f->run)
        return account_within(a, f->mechanism, f->scale, &f->sensitivity, delta, f->distance, ctx);
    TRY(require_positive(f->scale, "scale"));
    TRY(require_positive(f->dpsgd_facts.max_grad_norm, "max_grad_norm"));
    const struct sotto_sampled all = {
        .mechanism = f->mechanism,
        .noise_multiplier = run_multiplier(&f->dpsgd_facts),
        .sample_rate = f->dpsgd_facts.sample_rate,
        .steps = f->charged,
        .delta = delta,
        .clipping = f->dpsgd_facts.clipping,
        .adjacency = f->dpsgd_facts.inputs_only || strcmp(adjacency, "replace-one") == 0 ? SOTTO_REPLACE_ONE
                                                                                         : SOTTO_ADD_REMOVE,
        .sampling = f->dpsgd_facts.sampling};
    bool early = strcmp(adjacency, "add-remove") == 0 || !json_member(f->claim, "other");
    TRY(early ? sotto_account_sampled(a, &all, ctx) : sotto_account_sampled_both(a, &all, ctx));
    if (strcmp(adjacency, "add-remove") != 0) /* an early certificate's name of zero-out */
        TRY(run_complete_account(a, &f->dpsgd_facts));
    run_put_note(a, &f->dpsgd_facts);
done:
    return status;
}

/* How the line about the sampler begins. */
static const char *sampler_of(const struct certificate_claims *f)
{
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (f->run)
        return f->dpsgd_facts.noise_mode == SOTTO_NOISE_FAST ? RUN_FAST_SAMPLER
                                                             : run_sampler(&f->dpsgd_facts);
    return m && m->kind == RELEASE_VECTOR ? "NOT exact" : f->distance > 0 ? FIXED_SAMPLER : "exact";
}

/* The lines for people say what the numbers say. */
static void check_lines(struct verification *v, const struct sotto_account *a, bool seeded)
{
    const struct certificate_claims *f = &v->claims;
    struct sotto_sensitivity s = f->sensitivity;
    struct certificate_wording wording;
    const char *origin = json_text(json_find(v->certificate, "sensitivity.statement")),
               *sampler = json_text(json_find(v->certificate, "sampler")), *wanted = sampler_of(f);
    if (!sensitivity_source_of(&s.source, f->source)) {
        verify_check(v, "statement", false, "the sensitivity is '%.40s'", f->source);
        return;
    }
    certificate_word(&wording,
                     &(struct certificate_facts){
                         .account = a, .sensitivity = &s, .seeded = seeded, .condition = f->condition});
    check_text(v, "statement", f->statement, wording.statement);
    if (!seeded && wording.rests_on[0])
        check_text(v, "condition", json_text(json_find(v->certificate, "guarantee.conditional.condition")),
                   wording.rests_on);
    check_text(v, "sensitivity", origin, sensitivity_statement(s.source));
    verify_check(v, "sampler", sampler && strncmp(sampler, wanted, strlen(wanted)) == 0, "%.300s",
                 sampler ? sampler : "(none)");
}

static sotto_status check_account(struct verification *v)
{
    sotto_status status = SOTTO_OK;
    const struct certificate_claims *f = &v->claims;
    struct sotto_account a;
    double delta, upper, lower, pure, rho;
    const char *adjacency, *accountant;
    TRY(json_get_real(&delta, f->claim, v->path, "delta"));
    TRY(json_get_real_or_null(&upper, f->claim, v->path, "epsilon.upper"));
    TRY(json_get_real_or_null(&lower, f->claim, v->path, "epsilon.lower"));
    TRY(json_get_real_or_null(&pure, f->claim, v->path, "pure_epsilon"));
    TRY(json_get_real_or_null(&rho, f->claim, v->path, "zcdp_rho"));
    TRY(json_get_text(&adjacency, f->claim, v->path, "adjacency"));
    TRY(json_get_text(&accountant, f->claim, v->path, "accountant"));
    status = derive(&a, f, delta, adjacency, v->ctx);
    if (status == SOTTO_ESTOPPED)
        goto done;
    if (status != SOTTO_OK) {
        verify_check(v, "account", false, "%s", sotto_error_text());
        status = SOTTO_OK;
        goto done;
    }
    check_number(v, "epsilon", upper, isinf(a.epsilon.upper) ? NAN : a.epsilon.upper);
    check_number(v, "pure epsilon", pure, a.pure_epsilon);
    check_number(v, "zcdp rho", rho, a.zcdp_rho);
    verify_check(v, "lower end", isnan(lower) || lower <= a.epsilon.upper,
                 "certificate says %.12g, re-derived %.12g", lower, a.epsilon.lower);
    verify_check(v, "accountant", strcmp(accountant, a.accountant) == 0,
                 "certificate says '%s', re-derived '%s'", accountant, a.accountant);
    verify_check(v, "adjacency", strcmp(adjacency, a.adjacency) == 0, "%s", adjacency);
    if (a.other_adjacency[0]) {
        check_text(v, "other adjacency", json_text(json_find(f->claim, "other.adjacency")),
                   a.other_adjacency);
        check_number(v, "epsilon under the other adjacency",
                     json_number(json_find(f->claim, "other.epsilon.upper")), a.other_epsilon.upper);
    }
    check_lines(v, &a, false);
done:
    return status;
}

/* The step that the noise was drawn in: a fixed share of the scale, or the step of the values themselves,
 * which the account was re-derived with. */
static bool lattice_fits(const struct certificate_claims *f)
{
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (m && m->kind == RELEASE_INTEGER)
        return f->sensitivity.value_step > 0;
    if (m && m->kind == RELEASE_LABELS)
        return f->exponent == 0;
    return f->scale > 1e-100 && f->scale < 1e100 && lattice_make(f->scale).exponent == f->exponent;
}

/* "proved" needs a proved sensitivity, noise from the system, and nothing else that epsilon rests on. */
static void check_wording(struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    bool seeded = strncmp(f->randomness, "operating system", 16) != 0;
    bool may = (strcmp(f->source, "proved") == 0 || strcmp(f->source, "clipped") == 0) && !f->condition;
    bool says = f->proved == NULL;
    verify_check(v, "wording", seeded ? !f->claim : f->claim && says == may,
                 "sensitivity is %s, %s%s, noise is %s, the proved part reads %s", f->source,
                 f->condition ? "condition: " : "no condition", f->condition ? f->condition : "",
                 seeded ? "seeded" : "from the operating system", says ? "an account" : f->proved);
    verify_check(v, "scale", strtod(f->exact, NULL) == f->scale, "%.17g and %s", f->scale, f->exact);
    verify_check(v, "lattice", lattice_fits(f), "step 2^%d for scale %g", (int)f->exponent, f->scale);
    if (f->version == 1)
        verify_check(v, "version",
                     !json_member(v->certificate, "records") && !json_member(v->certificate, "condition"),
                     "version 1 has neither records nor a condition");
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A run agrees with itself: its facts with the certificate's, its steps with its reservations. */
static void check_run(struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    const struct dpsgd_facts *r = &f->dpsgd_facts;
    const struct json *list = json_member(f->run, "reservations"),
                      *last = json_at(list, json_count(list) - 1);
    const char *hash = json_text(json_member(last, "hash"));
    double reserved = 0, used = json_number(json_find(f->run, "steps.used"));
    double norm = r->clipping == SOTTO_NORM_L1 ? f->sensitivity.l1 : f->sensitivity.l2;
    bool agrees = strcmp(r->mechanism, f->mechanism) == 0 && r->scale == f->scale &&
                  r->dimension == f->dimension && norm == r->max_grad_norm &&
                  same_text(r->condition, f->condition) && strcmp(f->source, "clipped") == 0;
    verify_check(v, "run", agrees, "%s noise of scale %g on %zu values, clipped to %g (%s)", r->mechanism,
                 r->scale, r->dimension, r->max_grad_norm, f->source);
    for (size_t i = 0; i < json_count(list); i++)
        reserved += json_number(json_member(json_at(list, i), "steps"));
    verify_check(v, "steps", reserved == (double)f->charged && used <= reserved,
                 "%zu charged, %.0f reserved in %zu entries, %.0f used", f->charged, reserved,
                 json_count(list), used);
    verify_check(v, "last entry",
                 hash && strcmp(hash, f->hash) == 0 && json_whole(json_member(last, "index")) == f->index,
                 "reservation %.16s..., entry %.16s...", hash ? hash : "(none)", f->hash);
}

sotto_status verify_certificate(struct verification *v)
{
    sotto_status status = SOTTO_OK;
    check_wording(v);
    if (v->claims.run)
        check_run(v);
    if (v->claims.claim)
        TRY(check_account(v));
    else
        check_lines(v, &(struct sotto_account){0}, true);
    verify_done(v, v->claims.claim ? "arithmetic re-derived" : "the stamp of seeded noise");
done:
    return status;
}

sotto_status sotto_certificate_verify(char **report, const char *certificate, const char *output,
                                      const char *ledger, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct verification v = {.ctx = ctx};
    TRY(context_check(ctx, "verify: stopped"));
    TRY(verification_open(&v, certificate));
    TRY(verify_certificate(&v));
    TRY(verify_output(&v, output));
    TRY(verify_ledger(&v, ledger));
    TRY(verification_report(report, &v));
done:
    verification_close(&v);
    return status;
}
