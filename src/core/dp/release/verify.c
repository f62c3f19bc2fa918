/* A certificate re-derived from its own facts: the account of (mechanism, scale, sensitivity, dimension,
 * delta), or of all steps of a run, and the wording that source and condition allow. */
#include "dp/release/verification.h"
#include "base/memory.h"
#include "dp/account/accountant.h"
#include "dp/account/person.h"
#include "dp/certificate/certificate.h"
#include "dp/certificate/certificate_json.h"
#include "dp/release/statistic.h"
#include "dp/sign/signature.h"
#include "sotto/lab/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static sotto_status verify_derive(struct sotto_account *a, const struct certificate_claims *f, double delta,
                                  const char *adjacency, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    if (!f->run && f->distance > 0)
        return account_within(a, f->mechanism, f->scale, &f->sensitivity, delta, f->distance, ctx);
    if (!f->run)
        return account_on(a, f->mechanism, f->scale, &f->sensitivity, delta, certificate_lattice(f->sampler),
                          ctx);
    TRY(require_positive(f->scale, "scale"));
    TRY(require_positive(f->run_claims.facts.max_grad_norm, "max_grad_norm"));
    const struct sotto_sampled all = {.mechanism = f->mechanism,
                                      .noise_multiplier = run_multiplier(&f->run_claims.facts),
                                      .sample_rate = f->run_claims.facts.sample_rate,
                                      .steps = f->run_claims.charged,
                                      .delta = delta,
                                      .clipping = f->run_claims.facts.clipping,
                                      .adjacency = f->run_claims.facts.inputs_only ||
                                                           strcmp(adjacency, "replace-one") == 0
                                                       ? SOTTO_REPLACE_ONE
                                                       : SOTTO_ADD_REMOVE,
                                      .rows_per_person = unit_rows(&f->unit),
                                      .sampling = f->run_claims.facts.sampling};
    bool early = strcmp(adjacency, "add-remove") == 0 || !f->claim.other;
    TRY(early ? sotto_account_sampled(a, &all, ctx) : sotto_account_sampled_both(a, &all, ctx));
    if (strcmp(adjacency, "add-remove") != 0) /* an early certificate's name of zero-out */
        TRY(run_complete_account(a, &f->run_claims.facts));
    run_put_note(a, &f->run_claims.facts);
done:
    return status;
}

/* How the line about the sampler begins. */
static const char *sampler_of(const struct certificate_claims *f)
{
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (f->run)
        return f->run_claims.facts.fast ? RUN_FAST_SAMPLER : EXACT_SAMPLER;
    return m && m->kind == RELEASE_VECTOR ? "NOT exact" : f->distance > 0 ? FIXED_SAMPLER : "exact";
}

/* The lines for people say what the numbers say. */
static void check_lines(struct verification *v, const struct sotto_account *a, bool seeded)
{
    const struct certificate_claims *f = &v->claims;
    struct sotto_sensitivity s = f->sensitivity;
    struct certificate_wording wording;
    const char *wanted = sampler_of(f);
    char unit[UNIT_TEXT];
    if (!sensitivity_source_of(&s.source, f->source)) {
        verify_check(v, "statement", false, "the sensitivity is '%.40s'", f->source);
        return;
    }
    const struct certificate_facts facts = {
        .account = a, .sensitivity = &s, .unit = &f->unit, .seeded = seeded, .condition = f->condition};
    certificate_word(&wording, &facts, f->statement);
    check_text(v, "statement", f->statement, wording.statement);
    if (!seeded && wording.rests_on[0])
        check_text(v, "condition", f->claim.condition, wording.rests_on);
    unit_word(unit, &f->unit);
    if (f->unit.rows && !f->unit.person[0])
        verify_check(v, "unit of privacy",
                     f->condition && strstr(f->condition, f->unit.persons ? UNIT_STATED_WHOLE : UNIT_STATED),
                     "the rows of a person are stated, and epsilon is not conditional on that");
    if (f->unit_words)
        check_text(v, "unit of privacy", f->unit_words, unit);
    else
        verify_check(v, "unit of privacy", f->unit.rows == 0, "(none), of %s", unit);
    check_text(v, "sensitivity", f->origin, sensitivity_statement(s.source));
    verify_check(v, "sampler", f->sampler && strncmp(f->sampler, wanted, strlen(wanted)) == 0, "%.300s",
                 f->sampler ? f->sampler : "(none)");
}

/* Numbers that stand beside epsilon: a bound that both name, and the size of the noise. */
static void check_beside(struct verification *v, const struct sotto_account *a)
{
    const struct certificate_claims *f = &v->claims;
    struct sotto_account says = {0};
    const double expected =
        f->run ? mechanism_find(f->mechanism)->standard_deviation * f->scale : a->standard_deviation;
    double named = INFINITY, least = INFINITY;
    sotto_status status = certificate_claims_bounds(&says, f, v->path);
    if (status != SOTTO_OK) {
        verify_check(v, "bounds", false, "%s", sotto_error_text());
        return;
    }
    for (size_t i = 0; i < says.bound_count; i++)
        for (size_t j = 0; j < a->bound_count; j++)
            if (strcmp(says.bounds[i].name, a->bounds[j].name) == 0 && isfinite(a->bounds[j].epsilon))
                check_number(v, "bounds", says.bounds[i].epsilon, a->bounds[j].epsilon);
    for (size_t i = 0; i < says.bound_count; i++) {
        least = fmin(least, says.bounds[i].epsilon);
        if (strcmp(says.bounds[i].name, f->claim.accountant) == 0)
            named = says.bounds[i].epsilon;
    }
    const double upper = isnan(f->claim.upper) ? INFINITY : f->claim.upper;
    verify_check(v, "bounds", named == upper && least == upper,
                 "epsilon %.12g is not the smallest bound, or not that of its accountant, '%s'",
                 f->claim.upper, f->claim.accountant);
    if (!isnan(expected))
        verify_check(v, "standard deviation", fabs(f->standard_deviation - expected) <= 1e-9 * expected,
                     "certificate says %.12g, re-derived %.12g", f->standard_deviation, expected);
}

static sotto_status check_account(struct verification *v)
{
    sotto_status status = SOTTO_OK;
    const struct certificate_claims *f = &v->claims;
    struct sotto_account a;
    const struct account_claims *c = &f->claim;
    status = verify_derive(&a, f, c->delta, c->adjacency, v->ctx);
    if (status == SOTTO_ESTOPPED)
        goto done;
    if (status == SOTTO_ENOTSUP) { /* neither right nor wrong: there is nothing to hold it against */
        v->found.undecided = verification_keep(v, sotto_error_text());
        verify_leave(v, "account", "the account, which was NOT re-derived: %.300s", sotto_error_text());
        status = SOTTO_OK;
        goto done;
    }
    if (status != SOTTO_OK) {
        verify_check(v, "account", false, "%s", sotto_error_text());
        status = SOTTO_OK;
        goto done;
    }
    check_number(v, "epsilon", c->upper, isinf(a.epsilon.upper) ? NAN : a.epsilon.upper);
    check_number(v, "pure epsilon", c->pure, a.pure_epsilon);
    check_number(v, "zcdp rho", c->rho, a.zcdp_rho);
    verify_check(v, "lower end", isnan(c->lower) || c->lower <= a.epsilon.upper,
                 "certificate says %.12g, re-derived %.12g", c->lower, a.epsilon.lower);
    verify_check(v, "accountant", strcmp(c->accountant, a.accountant) == 0,
                 "certificate says '%s', re-derived '%s'", c->accountant, a.accountant);
    verify_check(v, "adjacency", strcmp(c->adjacency, sotto_adjacency_name(a.adjacency)) == 0, "%s",
                 c->adjacency);
    if (a.has_other) {
        check_text(v, "other adjacency", c->other_adjacency, sotto_adjacency_name(a.other_adjacency));
        check_number(v, "epsilon under the other adjacency", c->other_upper, a.other_epsilon.upper);
        verify_check(v, "lower end", !(c->other_lower > c->other_upper), "certificate says %.12g, under %s",
                     c->other_lower, sotto_adjacency_name(a.other_adjacency));
    }
    check_beside(v, &a);
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
    if (m && (m->kind == RELEASE_MEDIAN || m->kind == RELEASE_MINIMUM))
        return true; /* it follows what the certificate does not state: the range of values, the shape of a head */
    if (strcmp(f->mechanism, TEST_MECHANISM) == 0)
        return f->exponent == 0;
    if (f->run)
        return f->exponent == f->run_claims.facts.lattice_exponent;
    return f->scale > 1e-100 && f->scale < 1e100 &&
           lattice_exponent(f->scale, certificate_lattice(f->sampler)) == f->exponent;
}

/* "proved" needs a proved sensitivity, noise from the system, and nothing else that epsilon rests on. */
static void check_wording(struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    bool seeded = strncmp(f->randomness, "operating system", 16) != 0;
    bool may = (strcmp(f->source, "proved") == 0 || strcmp(f->source, "clipped") == 0) && !f->condition;
    bool says = f->proved == NULL, fits = says || strcmp(f->proved, "none") == 0;
    char *end;
    verify_check(v, "wording", fits && (seeded ? !f->claimed : f->claimed && says == may),
                 "sensitivity is %s, %s%s, noise is %s, the proved part reads %s", f->source,
                 f->condition ? "condition: " : "no condition", f->condition ? f->condition : "",
                 seeded ? "seeded" : "from the operating system", says ? "an account" : f->proved);
    verify_check(v, "scale", strtod(f->exact, &end) == f->scale && *end == '\0', "%.17g and %s", f->scale,
                 f->exact);
    verify_check(v, "lattice", lattice_fits(f), "step 2^%lld for scale %g", (long long)f->exponent, f->scale);
    if (f->version == 1)
        verify_check(v, "version", !f->has_later_members, "version 1 has neither records nor a condition");
}

/* "1.2.3", perhaps with more behind it. */
static bool read_version(unsigned out[3], const char *text)
{
    return text && sscanf(text, "%4u.%4u.%4u", &out[0], &out[1], &out[2]) == 3;
}

static bool is_later(const unsigned a[3], const unsigned b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] > b[i];
    return false;
}

/* A second of the calendar that is not in the future, as the clock of another machine may be wrong by a day. */
static bool is_time(const char *text)
{
    struct tm t = {0}, same;
    char again[24];
    if (!text || strlen(text) != 20 ||
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min,
               &t.tm_sec) != 6)
        return false;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    const time_t seconds = timegm(&t), day = 24 * 60 * 60;
    gmtime_r(&seconds, &same);
    strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%SZ", &same);
    return strcmp(again, text) == 0 && seconds > 0 && seconds <= time(NULL) + day;
}

/* What wrote it, and when: nothing can tell, but that it cannot have been so. */
static void check_maker(struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    unsigned maker[3], own[3] = {0};
    (void)read_version(own, sotto_version());
    const bool known = read_version(maker, f->maker) && !is_later(maker, own);
    verify_check(
        v, "version of sotto", known,
        "'%.40s' wrote the certificate, and this is sotto %s; verify it with the version that wrote it",
        f->maker ? f->maker : "(none)", sotto_version());
    verify_check(v, "time", is_time(f->time), "'%.40s' is no time in the past", f->time ? f->time : "(none)");
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A run agrees with itself: its facts with the certificate's, its steps with its reservations. */
static void check_run(struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    const struct run_claims *run = &f->run_claims;
    const struct dpsgd_facts *r = &run->facts;
    double norm = r->clipping == SOTTO_NORM_L1 ? f->sensitivity.l1 : f->sensitivity.l2;
    bool agrees = strcmp(r->mechanism, f->mechanism) == 0 && r->scale == f->scale &&
                  r->dimension == f->dimension && norm == r->max_grad_norm && r->unit.rows == f->unit.rows &&
                  r->unit.persons == f->unit.persons && strcmp(r->unit.person, f->unit.person) == 0 &&
                  same_text(r->condition, f->condition) && strcmp(f->source, "clipped") == 0;
    verify_check(v, "run", agrees, "%s noise of scale %g on %zu values, clipped to %g (%s)", r->mechanism,
                 r->scale, r->dimension, r->max_grad_norm, f->source);
    const double multiplier = run_multiplier(r);
    verify_check(v, "noise multiplier",
                 isnan(run->multiplier) || fabs(run->multiplier - multiplier) <= 1e-9 * multiplier,
                 "certificate says %.12g, re-derived %.12g", run->multiplier, multiplier);
    verify_check(v, "steps", run->reserved == (double)run->charged && run->used <= run->reserved,
                 "%zu charged, %.0f reserved in %zu entries, %.0f used", run->charged, run->reserved,
                 run->reservations, run->used);
    verify_check(v, "last entry",
                 run->last_hash && strcmp(run->last_hash, f->hash) == 0 && run->last_entry == f->entry,
                 "reservation %.16s..., entry %.16s...", run->last_hash ? run->last_hash : "(none)", f->hash);
}

static bool same_norm(double a, double b)
{
    return (!(a > 0) && !(b > 0)) || fabs(a - b) <= 1e-12 * b;
}

static bool is_queries(const struct certificate_claims *f)
{
    return f->statistic && strcmp(f->statistic, CERTIFICATE_QUERIES) == 0 && f->queries && !f->run;
}

/* So do queries with their cells and masses. */
static sotto_status check_queries(struct verification *v)
{
    sotto_status status = SOTTO_OK;
    const struct certificate_claims *f = &v->claims;
    struct sotto_sensitivity s;
    struct certificate_query *queries = NULL;
    size_t count;
    TRY(certificate_queries_read(&queries, &count, f->queries, v->path));
    for (size_t i = 0; i < count; i++)
        verify_check(v, "scales", statistic_query_fits(&queries[i], queries, count),
                     "'%.60s' has other scales than such a query needs", queries[i].text);
    const bool some = statistic_of_queries(&s, queries, count, f->unit.rows);
    unit_widen(&s, f->unit.rows);
    verify_check(v, "statistic",
                 some && same_norm(f->sensitivity.l1, s.l1) && same_norm(f->sensitivity.l2, s.l2) &&
                     s.dimension == f->dimension && strcmp(f->source, sensitivity_source_name(s.source)) == 0,
                 "queries of %zu cells have l1 %.9g and l2 %.9g (%s), the certificate says %zu, %.9g and "
                 "%.9g (%s)",
                 s.dimension, s.l1, s.l2, sensitivity_source_name(s.source), f->dimension, f->sensitivity.l1,
                 f->sensitivity.l2, f->source);
    for (size_t i = 0; i < count; i++) {
        const double least = statistic_choice_scale(f->mechanism, f->scale, queries[i].mass);
        verify_check(v, "choice", !(queries[i].choice_scale > 0) || queries[i].choice_scale >= least,
                     "'%.60s' is chosen at scale %.9g, and %s noise of scale %.9g covers %.9g or more",
                     queries[i].text, queries[i].choice_scale, f->mechanism, f->scale, least);
    }
    verify_check(v, "block", statistic_block_fits(queries, count, f->mechanism, f->scale),
                 "%s noise of scale %.9g covers no such block of cells", f->mechanism, f->scale);
    verify_done(v, "sensitivity derived again from the cells and masses of the queries");
    verify_derived(v, VERIFY_BY_QUERIES);
done:
    base_free(queries);
    return status;
}

/* Records, range and columns give the sensitivity of a statistic. */
static void check_statistic(struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    const struct mechanism *m = mechanism_find(f->mechanism);
    const bool scores = m && m->kind == RELEASE_CHOICE;
    struct sotto_sensitivity s;
    if (m && m->kind == RELEASE_LABELS && strcmp(f->source, "proved") == 0) {
        verify_check(v, "statistic", f->sensitivity.l1 == 1,
                     "a label changes by l1 1, the certificate says %.9g", f->sensitivity.l1);
        verify_derived(v, VERIFY_BY_LABELS);
    }
    if (!f->statistic || f->run || is_queries(f))
        return;
    if (!statistic_sensitivity(&s, f->statistic, f->low, f->high, f->records, f->dimension, scores)) {
        verify_leave(v, "statistic",
                     "the sensitivity of the statistic '%.40s', of which nothing here derives it",
                     f->statistic);
        return;
    }
    unit_widen(&s, f->unit.rows);
    verify_check(
        v, "statistic",
        same_norm(f->sensitivity.l1, s.l1) && same_norm(f->sensitivity.l2, s.l2) &&
            strcmp(f->source, sensitivity_source_name(s.source)) == 0,
        "the %.40s of %zu records has l1 %.9g and l2 %.9g (%s), the certificate says %.9g and %.9g (%s)",
        f->statistic, f->records, s.l1, s.l2, sensitivity_source_name(s.source), f->sensitivity.l1,
        f->sensitivity.l2, f->source);
    verify_done(v, "sensitivity derived again from the statistic, its range and %zu records", f->records);
    verify_derived(v, VERIFY_BY_STATISTIC);
}

sotto_status verify_certificate(struct verification *v)
{
    sotto_status status = SOTTO_OK;
    check_wording(v);
    check_maker(v);
    check_statistic(v);
    TRY(is_queries(&v->claims) ? check_queries(v) : SOTTO_OK);
    if (v->claims.run)
        check_run(v);
    if (v->claims.claimed)
        TRY(check_account(v));
    else
        check_lines(v, &(struct sotto_account){0}, true);
    if (!v->found.undecided)
        verify_done(v, v->claims.claimed ? "arithmetic re-derived" : "the stamp of seeded noise");
done:
    return status;
}

sotto_status verify_signature(struct verification *v)
{
    sotto_status status = SOTTO_OK;
    char key[SOTTO_KEY_TEXT];
    bool found, valid;
    TRY(signature_check(&found, &valid, key, v->path));
    if (!found)
        goto done;
    verify_check(v, "signature", valid, "%s.signature.json is no signature of this certificate%s%s", v->path,
                 key[0] ? " by key " : "", key);
    if (valid)
        v->found.signed_by = verification_keep(v, key);
done:
    return status;
}
