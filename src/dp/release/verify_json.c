/* All JSON of a verification: the certificate's claims that it starts from, the entry of the ledger, and the
 * report that it ends in. */
#include "base/memory.h"
#include "dp/certificate/certificate.h"
#include "dp/dpsgd/dpsgd_json.h"
#include "dp/noise/lattice_fixed.h"
#include "dp/mechanism/mechanism.h"
#include "dp/release/verification.h"
#include "io/json/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void verify_check(struct verification *v, const char *name, bool ok, const char *format, ...)
{
    char text[384];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct json *object = json_make_object();
    json_put_text(&object, "check", name);
    json_put_boolean(&object, "ok", ok);
    json_put_text(&object, "detail", text);
    json_push(&v->checks, object);
    if (!ok && !v->first[0])
        snprintf(v->first, sizeof v->first, "%s: %s", name, text);
}

static void push_line(struct json **list, const char *format, va_list args)
{
    char text[768];
    vsnprintf(text, sizeof text, format, args);
    json_push(list, json_make_text(text));
}

void verify_done(struct verification *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    push_line(&v->done, format, args);
    va_end(args);
}

void verify_leave(struct verification *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    push_line(&v->open, format, args);
    va_end(args);
}

/* ---- the claims ---- */

/* The reservations that a run lists. */
static void read_reservations(struct run_claims *r, const struct json *list)
{
    const struct json *last;
    r->reservations = json_count(list);
    last = json_at(list, r->reservations - 1);
    r->last_hash = json_text(json_member(last, "hash"));
    r->last_index = json_whole(json_member(last, "index"));
    for (size_t i = 0; i < r->reservations; i++)
        r->reserved += json_number(json_member(json_at(list, i), "steps"));
}

static sotto_status read_run(struct certificate_claims *f, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *run, *list;
    f->index = json_whole(json_find(c, "ledger.index"));
    if (!json_member(c, "run"))
        goto done;
    TRY(json_get_object(&run, c, path, "run"));
    TRY(dpsgd_facts_get(&f->run_claims.facts, run, path));
    TRY(json_get_text(&f->run, run, path, "id"));
    TRY(json_get_array(&list, run, path, "reservations"));
    TRY(json_get_size(&f->run_claims.charged, run, path, "steps.charged"));
    TRY(json_get_integer(&f->index, c, path, "ledger.index"));
    f->run_claims.used = json_number(json_find(run, "steps.used"));
    read_reservations(&f->run_claims, list);
    if (strlen(f->run) != RUN_ID)
        FAIL(SOTTO_EFORMAT, "%s: 'run.id' is not the name of a run", path);
done:
    return status;
}

static sotto_status read_version(struct certificate_claims *f, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *schema;
    TRY(json_get_text(&schema, c, path, "schema"));
    f->version = strcmp(schema, "sotto.certificate/1") == 0 ? 1
                 : strcmp(schema, CERTIFICATE_SCHEMA) == 0  ? 2
                                                            : 0;
    f->has_later_members = json_member(c, "records") || json_member(c, "condition");
    if (!f->version)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%.64s'; expected %s or an earlier version", path, schema,
             CERTIFICATE_SCHEMA);
    if (f->version == 1)
        goto done;
    if (!json_member(c, "records") || !json_member(c, "condition"))
        FAIL(SOTTO_EFORMAT, "%s: 'records' or 'condition' is missing; version 2 has both", path);
    if (json_kind(json_member(c, "records")) != JSON_KIND_NULL)
        TRY(json_get_size(&f->records, c, path, "records"));
    if (json_kind(json_member(c, "condition")) != JSON_KIND_NULL)
        TRY(json_get_text(&f->condition, c, path, "condition"));
done:
    return status;
}

static const struct json *claim_of(const struct json *certificate)
{
    const struct json *proved = json_find(certificate, "guarantee.proved"),
                      *conditional = json_find(certificate, "guarantee.conditional");
    return json_kind(proved) == JSON_KIND_OBJECT        ? proved
           : json_kind(conditional) == JSON_KIND_OBJECT ? conditional
                                                        : NULL;
}

static sotto_status read_account(struct account_claims *a, const struct json *claim, const char *path)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_real(&a->delta, claim, path, "delta"));
    TRY(json_get_real_or_null(&a->upper, claim, path, "epsilon.upper"));
    TRY(json_get_real_or_null(&a->lower, claim, path, "epsilon.lower"));
    TRY(json_get_real_or_null(&a->pure, claim, path, "pure_epsilon"));
    TRY(json_get_real_or_null(&a->rho, claim, path, "zcdp_rho"));
    TRY(json_get_text(&a->adjacency, claim, path, "adjacency"));
    TRY(json_get_text(&a->accountant, claim, path, "accountant"));
    a->conditional = json_member(claim, "condition") != NULL;
    a->condition = json_text(json_member(claim, "condition"));
    a->other = json_member(claim, "other") != NULL;
    a->other_adjacency = json_text(json_find(claim, "other.adjacency"));
    a->other_upper = json_number(json_find(claim, "other.epsilon.upper"));
done:
    return status;
}

static sotto_status read_guarantee(struct certificate_claims *f, const struct json *c, const char *path)
{
    const struct json *proved = json_find(c, "guarantee.proved"), *claim = claim_of(c);
    if (!proved || !json_find(c, "guarantee.conditional"))
        return status_fail(SOTTO_EFORMAT, "%s: 'guarantee' has neither 'proved' nor 'conditional'", path);
    f->proved = json_text(proved);
    f->statement = json_text(json_find(c, "guarantee.statement"));
    f->claimed = claim != NULL;
    return claim ? read_account(&f->claim, claim, path) : SOTTO_OK;
}

static sotto_status read_claims(struct certificate_claims *f, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    TRY(read_version(f, c, path));
    TRY(json_get_text(&f->mechanism, c, path, "mechanism"));
    TRY(json_get_real(&f->scale, c, path, "scale"));
    TRY(json_get_text(&f->exact, c, path, "scale_exact"));
    TRY(json_get_integer(&f->exponent, c, path, "lattice_exponent"));
    TRY(json_get_size(&f->dimension, c, path, "dimension"));
    TRY(json_get_real_or_null(&f->sensitivity.l1, c, path, "sensitivity.l1"));
    TRY(json_get_real_or_null(&f->sensitivity.l2, c, path, "sensitivity.l2"));
    TRY(json_get_text(&f->source, c, path, "sensitivity.source"));
    TRY(json_get_text(&f->randomness, c, path, "randomness"));
    TRY(json_get_text(&f->hash, c, path, "ledger.hash"));
    TRY(json_get_text(&f->output, c, path, "output_sha256"));
    TRY(read_run(f, c, path));
    f->evidence = json_text(json_find(c, "sensitivity.evidence"));
    f->origin = json_text(json_find(c, "sensitivity.statement"));
    f->sampler = json_text(json_find(c, "sampler"));
    f->commitment = json_text(json_find(c, "input_commitment"));
    f->sensitivity.dimension = f->dimension;
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (m && m->kind == RELEASE_INTEGER && f->exponent > -400 && f->exponent < 400)
        f->sensitivity.value_step = ldexp(1, (int)f->exponent);
    if (f->sampler && strncmp(f->sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) == 0)
        f->distance = (double)f->dimension * FIXED_DISTANCE;
    TRY(read_guarantee(f, c, path));
done:
    return status;
}

sotto_status verification_open(struct verification *v, const char *certificate)
{
    sotto_status status = SOTTO_OK;
    v->path = certificate;
    v->checks = json_make_array();
    v->done = json_make_array();
    v->open = json_make_array();
    TRY(json_read_file(&v->certificate, certificate));
    TRY(read_claims(&v->claims, v->certificate, certificate));
done:
    return status;
}

void verification_close(struct verification *v)
{
    json_free(v->certificate);
    json_free(v->checks);
    json_free(v->done);
    json_free(v->open);
    *v = (struct verification){0};
}

/* ---- the ledger's entry ---- */

void entry_claims_get(struct entry_claims *out, const struct json *entry)
{
    *out = (struct entry_claims){.event = json_text(json_find(entry, "event")),
                                 .randomness = json_text(json_find(entry, "randomness")),
                                 .nonce = json_text(json_find(entry, "input_nonce")),
                                 .input = json_text(json_find(entry, "input_sha256")),
                                 .index = json_whole(json_find(entry, "index"))};
}

/* Some members as one text; what is missing is null. */
static sotto_status members_of(char **text, const struct json *from, const char *const *keys)
{
    struct json *some = json_make_object();
    for (; *keys; keys++) {
        const struct json *member = json_member(from, *keys);
        json_put(&some, *keys, member ? json_clone(member) : json_make_null());
    }
    sotto_status status = json_dump(text, some, JSON_SORTED);
    json_free(some);
    return status;
}

sotto_status verify_members(struct verification *v, const char *name, const struct json *entry,
                            bool of_account, const char *const *keys)
{
    sotto_status status = SOTTO_OK;
    char *theirs = NULL, *mine = NULL;
    TRY(members_of(&theirs, entry, keys));
    TRY(members_of(&mine, of_account ? claim_of(v->certificate) : v->certificate, keys));
    verify_check(v, name, strcmp(theirs, mine) == 0, "%.300s", theirs);
done:
    base_free(theirs);
    base_free(mine);
    return status;
}

sotto_status verify_reservations(bool *same, const struct verification *v,
                                 const struct dpsgd_reservations *run)
{
    sotto_status status = SOTTO_OK;
    struct json *listed = dpsgd_reservations_json(run);
    char *mine = NULL, *theirs = NULL;
    TRY(json_dump(&mine, json_find(v->certificate, "run.reservations"), JSON_SORTED));
    TRY(json_dump(&theirs, listed, JSON_SORTED));
    *same = strcmp(mine, theirs) == 0;
done:
    json_free(listed);
    base_free(mine);
    base_free(theirs);
    return status;
}

/* ---- the report ---- */

static void put_copy(struct json **object, const char *key, const struct json *from, const char *path)
{
    const struct json *found = from ? json_find(from, path) : NULL;
    json_put(object, key, found ? json_clone(found) : json_make_null());
}

/* What is claimed, in the order of trust: proved, conditional, none. */
static void put_claim(struct json **object, const struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    const struct json *claim = claim_of(v->certificate);
    json_put_text(object, "guarantee",
                  !f->claimed                           ? "none"
                  : f->claim.conditional || v->rests_on ? "conditional"
                                                        : "proved");
    put_copy(object, "epsilon", claim, "epsilon");
    put_copy(object, "delta", claim, "delta");
    put_copy(object, "adjacency", claim, "adjacency");
    json_put_text(object, "mechanism", f->mechanism);
    json_put_real(object, "scale", f->scale);
    put_copy(object, "records", v->certificate, "records");
    json_put_text(object, "condition", f->claim.conditional ? f->claim.condition : v->rests_on);
    json_put_text(object, "measured",
                  strcmp(f->source, "sampled") == 0 ? "the sensitivity, over sampled pairs" : NULL);
}

static void leave_what_nothing_checks(struct verification *v)
{
    static const char *const unknown[] = {"signature", "signatures", "key", "public_key"};
    const struct certificate_claims *f = &v->claims;
    if (f->version == 1)
        verify_leave(v, "number of records, condition and identity of the data set, which a certificate of "
                        "version 1 does not contain");
    if (strcmp(f->source, "given") == 0)
        verify_leave(v, "the sensitivity, which was stated by the caller");
    else if (strcmp(f->source, "sampled") == 0)
        verify_leave(v, "the sensitivity, which was measured: evidence, not a bound");
    else
        verify_leave(v, "that the program that made the file followed its recipe");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (json_member(v->certificate, unknown[i]))
            verify_leave(v, "the member '%s', as this version does not support signatures", unknown[i]);
}

sotto_status verification_report(char **report, struct verification *v)
{
    sotto_status status = SOTTO_OK;
    struct json *object = json_make_object();
    leave_what_nothing_checks(v);
    json_put_text(&object, "schema", "sotto.verify/1");
    json_put_text(&object, "certificate", v->path);
    json_put_boolean(&object, "valid", !v->first[0]);
    json_put_text(&object, "failed", v->first[0] ? v->first : NULL);
    put_claim(&object, v);
    json_put_boolean(&object, "signed", false);
    json_put(&object, "checked", v->done);
    json_put(&object, "not_checked", v->open);
    json_put(&object, "checks", v->checks);
    v->done = v->open = v->checks = NULL;
    TRY(json_dump(report, object, JSON_PRETTY));
    if (v->first[0])
        FAIL(SOTTO_EGATE, "%s: does not verify: %s", v->path, v->first);
done:
    json_free(object);
    return status;
}

static sotto_status read_list(const char ***out, size_t *count, const struct json *list)
{
    sotto_status status = SOTTO_OK;
    const char **lines = NULL;
    size_t n = json_count(list);
    NEW(lines, n ? n : 1);
    for (size_t i = 0; i < n; i++)
        lines[i] = json_text(json_at(list, i));
    *out = lines;
    *count = n;
done:
    return status;
}

sotto_status verify_report_decode(struct verify_report *out, const char *report)
{
    sotto_status status = SOTTO_OK;
    struct verify_report r = {.valid = false};
    const char *schema;
    TRY(json_parse(&r.document, report, strlen(report), "report"));
    const struct json *d = r.document;
    TRY(json_get_text(&schema, d, "report", "schema"));
    if (strcmp(schema, "sotto.verify/1") != 0)
        FAIL(SOTTO_EFORMAT, "report: schema is '%.40s'; expected sotto.verify/1", schema);
    TRY(json_get_boolean(&r.valid, d, "report", "valid"));
    r.certificate = json_text(json_find(d, "certificate"));
    r.failed = json_text(json_find(d, "failed"));
    r.guarantee = json_text(json_find(d, "guarantee"));
    r.condition = json_text(json_find(d, "condition"));
    r.measured = json_text(json_find(d, "measured"));
    r.adjacency = json_text(json_find(d, "adjacency"));
    r.mechanism = json_text(json_find(d, "mechanism"));
    r.upper = json_number(json_find(d, "epsilon.upper"));
    r.delta = json_number(json_find(d, "delta"));
    r.scale = json_number(json_find(d, "scale"));
    TRY(read_list(&r.checked, &r.checked_count, json_find(d, "checked")));
    TRY(read_list(&r.open, &r.open_count, json_find(d, "not_checked")));
    *out = r;
    r = (struct verify_report){.valid = false};
done:
    verify_report_free(&r);
    return status;
}

void verify_report_free(struct verify_report *r)
{
    base_free(r->checked);
    base_free(r->open);
    json_free(r->document);
}
