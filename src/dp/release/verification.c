/* What a verification starts from, the certificate's claims, and what it ends in, the report. */
#include "base/memory.h"
#include "dp/ledger/certificate.h"
#include "dp/noise/lattice_fixed.h"
#include "dp/mechanism/mechanism.h"
#include "dp/release/verification.h"

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

/* What only the certificate of a run has. */
static sotto_status read_run(struct certificate_claims *f, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *ignored;
    const char *id;
    f->run = json_member(c, "run");
    if (!f->run)
        goto done;
    TRY(json_get_object(&f->run, c, path, "run"));
    TRY(dpsgd_facts_get(&f->dpsgd_facts, f->run, path));
    TRY(json_get_text(&id, f->run, path, "id"));
    TRY(json_get_array(&ignored, f->run, path, "reservations"));
    TRY(json_get_size(&f->charged, f->run, path, "steps.charged"));
    TRY(json_get_integer(&f->index, c, path, "ledger.index"));
    if (strlen(id) != RUN_ID)
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

static sotto_status read_guarantee(struct certificate_claims *f, const struct json *c, const char *path)
{
    const struct json *proved = json_find(c, "guarantee.proved"),
                      *conditional = json_find(c, "guarantee.conditional");
    if (!proved || !conditional)
        return status_fail(SOTTO_EFORMAT, "%s: 'guarantee' has neither 'proved' nor 'conditional'", path);
    f->proved = json_text(proved);
    f->statement = json_text(json_find(c, "guarantee.statement"));
    f->claim = json_kind(proved) == JSON_KIND_OBJECT        ? proved
               : json_kind(conditional) == JSON_KIND_OBJECT ? conditional
                                                            : NULL;
    return SOTTO_OK;
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
    f->sensitivity.dimension = f->dimension;
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (m && m->kind == RELEASE_INTEGER && f->exponent > -400 && f->exponent < 400)
        f->sensitivity.value_step = ldexp(1, (int)f->exponent);
    const char *sampler = json_text(json_find(c, "sampler"));
    if (sampler && strncmp(sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) == 0)
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
    const struct json *condition = f->claim ? json_find(f->claim, "condition") : NULL;
    json_put_text(object, "guarantee",
                  !f->claim                  ? "none"
                  : condition || v->rests_on ? "conditional"
                                             : "proved");
    put_copy(object, "epsilon", f->claim, "epsilon");
    put_copy(object, "delta", f->claim, "delta");
    put_copy(object, "adjacency", f->claim, "adjacency");
    json_put_text(object, "mechanism", f->mechanism);
    json_put_real(object, "scale", f->scale);
    put_copy(object, "records", v->certificate, "records");
    json_put_text(object, "condition", condition ? json_text(condition) : v->rests_on);
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
