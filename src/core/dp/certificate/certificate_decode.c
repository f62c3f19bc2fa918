/* A certificate out of its document. What comes out is made as a release makes it, from the facts; a document with
 * facts out of range, or with a guarantee that its facts do not give, is refused. That the facts themselves hold is
 * for verification to find. */
#include "base/memory.h"
#include "dp/certificate/certificate_claims.h"
#include "dp/certificate/certificate_json.h"
#include "dp/dpsgd/dpsgd_json.h"
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/require.h"
#include "io/text/utf8.h"
#include "sotto/lab/account.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a reader complains of is the document, whatever the check was made for. */
static sotto_status as_format(sotto_status status, const char *name)
{
    return status == SOTTO_EINVAL ? status_fail(SOTTO_EFORMAT, "%s: %s", name, sotto_error_text()) : status;
}

static sotto_status copy_text(char *out, size_t capacity, const char *text, const char *what,
                              const char *name)
{
    if (text && strlen(text) >= capacity)
        return status_fail(SOTTO_EFORMAT, "%s: '%s' has %zu bytes; expected at most %zu", name, what,
                           strlen(text), capacity - 1);
    snprintf(out, capacity, "%s", text ? text : "");
    return SOTTO_OK;
}

static sotto_status copy_hash(char out[65], const char *text, const char *what, const char *name)
{
    if (!text || strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64)
        return status_fail(SOTTO_EFORMAT, "%s: '%s' is no SHA-256; expected 64 hexadecimal digits", name,
                           what);
    memcpy(out, text, 65);
    return SOTTO_OK;
}

/* NAN: not said. */
static sotto_status require_bound(double x, const char *what, const char *name)
{
    return !(x < 0) ? SOTTO_OK
                    : status_fail(SOTTO_EFORMAT, "%s: '%s' is %g; expected at least 0", name, what, x);
}

static sotto_status check_claim(const struct account_claims *c, const char *name)
{
    sotto_status status = SOTTO_OK;
    enum sotto_adjacency known;
    TRY(require_delta(c->delta));
    TRY(require_bound(c->upper, "epsilon.upper", name));
    TRY(require_bound(c->lower, "epsilon.lower", name));
    TRY(require_bound(c->pure, "pure_epsilon", name));
    TRY(require_bound(c->rho, "zcdp_rho", name));
    TRY(require_bound(c->other_upper, "other.epsilon.upper", name));
    TRY(sotto_adjacency_find(&known, c->adjacency));
    if (c->other_adjacency)
        TRY(sotto_adjacency_find(&known, c->other_adjacency));
    if (c->lower > c->upper)
        FAIL(SOTTO_EFORMAT, "%s: 'epsilon' has the lower end %g above the upper end %g", name, c->lower,
             c->upper);
done:
    return as_format(status, name);
}

/* null stands for a bound that is not finite. */
static double or_infinity(double x)
{
    return isnan(x) ? INFINITY : x;
}

/* The account that is claimed, or none of a finite epsilon. */
static sotto_status get_claim(struct sotto_account *a, const struct certificate_claims *f, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct account_claims *c = &f->claim;
    a->epsilon = (struct sotto_interval){NAN, INFINITY};
    a->pure_epsilon = a->zcdp_rho = NAN;
    a->adjacency = SOTTO_SAME_ADJACENCY;
    if (!f->claimed)
        return copy_text(a->accountant, sizeof a->accountant, "none", "accountant", name);
    TRY(check_claim(c, name));
    a->epsilon = (struct sotto_interval){c->lower, or_infinity(c->upper)};
    a->delta = c->delta;
    a->pure_epsilon = c->pure;
    a->zcdp_rho = c->rho;
    TRY(copy_text(a->accountant, sizeof a->accountant, c->accountant, "accountant", name));
    TRY(sotto_adjacency_find(&a->adjacency, c->adjacency));
    TRY(copy_text(a->note, sizeof a->note, c->note, "note", name));
    a->has_other = c->other_adjacency != NULL;
    if (a->has_other) {
        TRY(sotto_adjacency_find(&a->other_adjacency, c->other_adjacency));
        a->other_epsilon = (struct sotto_interval){c->other_lower, or_infinity(c->other_upper)};
    }
    TRY(certificate_claims_bounds(a, f, name));
done:
    return status;
}

static sotto_status get_account(struct sotto_account *a, const struct certificate_claims *f, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct mechanism *m = mechanism_find(f->mechanism);
    const struct dpsgd_facts *r = &f->run_claims.facts;
    if (!m && (f->run || strcmp(f->mechanism, TEST_MECHANISM) != 0))
        FAIL(SOTTO_EFORMAT, "%s: mechanism '%.40s' is unknown (written by a newer sotto? use that version)",
             name, f->mechanism);
    TRY(as_format(require_positive(f->scale, "scale"), name));
    if (strtod(f->exact, NULL) != f->scale)
        FAIL(SOTTO_EFORMAT, "%s: 'scale_exact' is '%.40s'; expected %a, which is 'scale'", name, f->exact,
             f->scale);
    *a = (struct sotto_account){.scale = f->scale,
                                .standard_deviation = f->standard_deviation,
                                .compose = f->run ? f->run_claims.charged : 1,
                                .sample_rate = f->run ? r->sample_rate : 1,
                                .sampled = f->run != NULL};
    snprintf(a->mechanism, sizeof a->mechanism, "%s", f->mechanism);
    if (f->run) {
        a->sampling = r->sampling;
        a->clipping = r->clipping;
    }
    TRY(get_claim(a, f, name));
done:
    return status;
}

static sotto_status get_sensitivity(struct sotto_sensitivity *s, const struct certificate_claims *f,
                                    const char *name)
{
    sotto_status status = SOTTO_OK;
    *s = f->sensitivity;
    TRY(require_bound(s->l1, "sensitivity.l1", name));
    TRY(require_bound(s->l2, "sensitivity.l2", name));
    TRY(copy_text(s->evidence, sizeof s->evidence, f->evidence, "sensitivity.evidence", name));
    if (!sensitivity_source_of(&s->source, f->source))
        FAIL(SOTTO_EFORMAT, "%s: 'sensitivity.source' is '%.40s'; expected given, sampled, clipped or proved",
             name, f->source);
    if (!f->origin || strcmp(f->origin, sensitivity_statement(s->source)) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'sensitivity.statement' is not the one of the source '%s'", name, f->source);
done:
    return status;
}

/* A run and the certificate around it say the same. */
static bool run_agrees(const struct certificate_claims *f, const struct dpsgd_reservations *run)
{
    const struct run_claims *r = &f->run_claims;
    const struct dpsgd_reservation *last = run->count ? &run->items[run->count - 1] : NULL;
    const char *condition = f->condition ? f->condition : "";
    return strcmp(r->facts.mechanism, f->mechanism) == 0 && r->facts.scale == f->scale &&
           r->facts.dimension == f->dimension && run->charged == r->charged && last &&
           (int64_t)last->entry == f->entry && strcmp(last->hash, f->hash) == 0 && r->used >= 0 &&
           r->used <= (double)r->charged && r->facts.unit.rows == f->unit.rows &&
           r->facts.unit.persons == f->unit.persons && strcmp(r->facts.unit.person, f->unit.person) == 0 &&
           strcmp(r->facts.condition ? r->facts.condition : "", condition) == 0;
}

static sotto_status add_run(struct sotto_certificate *c, const struct certificate_claims *f, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_reservations run = {.seeded = c->seeded};
    struct dpsgd_facts facts = f->run_claims.facts;
    char label[65];
    snprintf(run.id, sizeof run.id, "%s", f->run);
    TRY(certificate_claims_reservations(&run, f, name));
    if (!run_agrees(f, &run))
        FAIL(SOTTO_EFORMAT,
             "%s: 'run' has another mechanism, scale, dimension, condition, number of steps or "
             "last entry than the certificate; expected the same",
             name);
    TRY(as_format(require_positive(facts.max_grad_norm, "max_grad_norm"), name));
    if (!(facts.sample_rate > 0 && facts.sample_rate <= 1))
        FAIL(SOTTO_EFORMAT, "%s: 'run.sample_rate' is %g; expected above 0 and at most 1", name,
             facts.sample_rate);
    if (facts.label_entry)
        TRY(copy_hash(label, facts.label_entry, "run.labels.entry", name));
    facts.mechanism = mechanism_find(facts.mechanism)->name;
    TRY(certificate_add_run(c, &run, &facts, (size_t)f->run_claims.used));
    c->run->ranks = f->run_claims.ranks;
done:
    dpsgd_reservations_free(&run);
    return status;
}

/* What a release knows only once its entry is written, or its output. */
static sotto_status add_queries(struct sotto_certificate *c, const struct json *queries, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct certificate_query *read = NULL;
    size_t count;
    TRY(certificate_queries_read(&read, &count, queries, name));
    TRY(count ? certificate_add_queries(c, read, count) : SOTTO_OK);
done:
    base_free(read);
    return status;
}

static sotto_status get_origin(struct sotto_certificate *c, const struct certificate_claims *f,
                               const char *name)
{
    sotto_status status = SOTTO_OK;
    char hash[65];
    if (!f->has_entry || f->entry < 0)
        FAIL(SOTTO_EFORMAT, "%s: 'ledger.%s' is no number of an entry; expected a whole number >= 0", name,
             entry_number_name(f->by_line));
    TRY(copy_hash(hash, f->hash, "ledger.hash", name));
    certificate_enter(c, (size_t)f->entry, hash);
    c->by_line = f->by_line;
    if (f->plan)
        certificate_add_plan(c, f->plan, f->slot);
    if (!f->run)
        TRY(copy_hash(c->input_commitment, f->commitment, "input_commitment", name));
    if (f->output)
        TRY(copy_hash(c->output_sha256, f->output, "output_sha256", name));
    if (f->labels)
        TRY(copy_hash(c->labels_sha256, f->labels, "labels_sha256", name));
    TRY(copy_text(c->time, sizeof c->time, f->time, "time", name));
    TRY(copy_text(c->version, sizeof c->version, f->maker, "version", name));
    TRY(copy_text(c->shaped_by, sizeof c->shaped_by, f->shaped_by, "shaped_by", name));
    TRY(copy_text(c->classes_by, sizeof c->classes_by, f->classes_by, "classes.given_by", name));
    c->classes = f->classes;
    TRY(copy_text(c->statistic, sizeof c->statistic, f->statistic, "statistic.name", name));
    c->low = f->low;
    c->high = f->high;
    TRY(add_queries(c, f->queries, name));
    if (f->tuning.claimed) {
        char sha256[65];
        const struct tuning_claims *t = &f->tuning;
        struct certificate_tuning tuning = {
            .trained = t->trained, .frozen = t->frozen, .tensors = (char *)t->tensors};
        TRY(copy_hash(sha256, t->encoder_sha256, "fine_tuning.encoder_sha256", name));
        if (t->standardise[0])
            TRY(copy_hash(tuning.standardise_sha256, t->standardise_sha256, "fine_tuning.standardise_sha256",
                          name));
        TRY(copy_text(tuning.standardise, sizeof tuning.standardise, t->standardise,
                      "fine_tuning.standardise", name));
        TRY(as_format(certificate_add_tuning(c, &tuning, sha256, t->encoder), name));
    }
    if (f->run)
        TRY(add_run(c, f, name));
done:
    return status;
}

static bool is_seeded(const struct certificate_claims *f)
{
    return strcmp(f->randomness, CERTIFICATE_SYSTEM) != 0;
}

static sotto_status require_texts(const struct certificate_claims *f, const char *name)
{
    sotto_status status = SOTTO_OK;
    char sampler[SAMPLER_TEXT], condition[CONDITION_TEXT];
    TRY(copy_text(sampler, sizeof sampler, f->sampler, "sampler", name));
    TRY(copy_text(condition, sizeof condition, f->condition, "condition", name));
    if (is_seeded(f) && strcmp(f->randomness, CERTIFICATE_SEEDED) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'randomness' is '%.60s'; expected '%s' or '%s'", name, f->randomness,
             CERTIFICATE_SYSTEM, CERTIFICATE_SEEDED);
    if (f->version == 1 && f->has_later_members)
        FAIL(SOTTO_EFORMAT, "%s: contains 'records' or 'condition'; version 1 has neither", name);
    if (f->exponent < INT_MIN || f->exponent > INT_MAX)
        FAIL(SOTTO_EFORMAT, "%s: 'lattice_exponent' is out of range; expected a whole number of 32 bits",
             name);
done:
    return status;
}

static sotto_status certificate_of(struct sotto_certificate **out, const struct certificate_claims *f,
                                   const char *name)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account account;
    struct sotto_sensitivity sensitivity;
    struct sotto_certificate *c = NULL;
    bool same;
    TRY(get_account(&account, f, name));
    TRY(get_sensitivity(&sensitivity, f, name));
    TRY(require_texts(f, name));
    const struct certificate_facts facts = {.account = &account,
                                            .sensitivity = &sensitivity,
                                            .dimension = f->dimension,
                                            .seeded = is_seeded(f),
                                            .sampler = f->sampler ? f->sampler : "",
                                            .lattice_exponent = (int)f->exponent,
                                            .records = f->records,
                                            .unit = &f->unit,
                                            .condition = f->condition,
                                            .purpose = f->purpose};
    TRY(certificate_new(&c, &facts));
    certificate_word(&c->wording, &facts, f->statement);
    TRY(get_origin(c, f, name));
    TRY(certificate_says(&same, c, f));
    if (f->unit_words && strcmp(f->unit_words, c->unit_words) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'unit_of_privacy' is '%.120s'; expected '%s'", name, f->unit_words,
             c->unit_words);
    if (!same)
        FAIL(SOTTO_EFORMAT, "%s: 'guarantee' does not follow from the other members", name);
    *out = c;
    c = NULL;
done:
    sotto_certificate_free(c);
    return status;
}

/* A refusal quotes the document, which may hold line breaks and what steers a terminal. */
static sotto_status in_one_line(sotto_status status)
{
    char text[1024];
    const char *said = sotto_error_text();
    if (status != SOTTO_EFORMAT)
        return status;
    return status_fail(status, "%s", utf8_printable(text, sizeof text, said, strlen(said)));
}

sotto_status sotto_certificate_decode(struct sotto_certificate **certificate, const char *json)
{
    REQUIRE_GIVEN(certificate, json);
    struct certificate_claims f = {0};
    sotto_status status = certificate_claims_parse(&f, json, "certificate");
    if (status == SOTTO_OK)
        status = certificate_of(certificate, &f, "certificate");
    certificate_claims_free(&f);
    return in_one_line(status);
}

sotto_status sotto_certificate_load(struct sotto_certificate **certificate, const char *path)
{
    REQUIRE_GIVEN(certificate, path);
    struct certificate_claims f = {0};
    sotto_status status = certificate_claims_load(&f, path);
    if (status == SOTTO_OK)
        status = certificate_of(certificate, &f, path);
    certificate_claims_free(&f);
    return in_one_line(status);
}
