/* What a verification finds: checks, lines, and the claims they are about. Want of memory is noted and told at the
 * end, so that checks need no way to fail. */
#include "dp/release/verification.h"
#include "base/memory.h"
#include "io/text/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Texts, newest first. */
struct sotto_verification_memory {
    struct sotto_verification_memory *next;
    char text[];
};

const char *verification_keep(struct verification *v, const char *text)
{
    if (!text)
        return NULL;
    size_t length = strlen(text);
    struct sotto_verification_memory *block = base_alloc(sizeof *block + 3 * length + 1, 1);
    if (!block) {
        v->no_memory = true;
        return NULL;
    }
    utf8_repair(block->text, text, length);
    block->next = v->found.memory;
    v->found.memory = block;
    return block->text;
}

/* The place of one more element; NULL: out of memory. */
static void *one_more(struct verification *v, void **items, size_t *count, size_t size)
{
    if ((*count & (*count - 1)) == 0) { /* full: capacities are powers of two */
        void *more = base_regrow(*items, *count, *count ? 2 * *count : 1, size);
        if (!more) {
            v->no_memory = true;
            return NULL;
        }
        *items = more;
    }
    return (char *)*items + size * (*count)++;
}

static void verification_note(struct verification *v, const char *name, enum sotto_verify_outcome outcome,
                              const char *text)
{
    void *items = v->found.checks;
    struct sotto_verify_check *c = one_more(v, &items, &v->found.check_count, sizeof *c);
    v->found.checks = items;
    if (c)
        *c = (struct sotto_verify_check){name, outcome, verification_keep(v, text)};
}

void verify_check(struct verification *v, const char *name, bool ok, const char *format, ...)
{
    char text[384], failed[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    verification_note(v, name, ok ? SOTTO_VERIFY_PASSED : SOTTO_VERIFY_FAILED, text);
    if (ok || v->found.failed)
        return;
    snprintf(failed, sizeof failed, "%s: %s", name, text);
    v->found.failed = verification_keep(v, failed);
}

void verify_leave(struct verification *v, const char *name, const char *format, ...)
{
    char text[768];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    verification_note(v, name, SOTTO_VERIFY_NOT_MADE, text);
}

void verify_derived(struct verification *v, const char *from)
{
    if (v->found.failed)
        return;
    v->sensitivity_derived = true;
    verify_check(v, VERIFY_DERIVED, true, "%s", from);
}

void verify_done(struct verification *v, const char *format, ...)
{
    char text[768];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    void *items = v->found.checked;
    const char **line = one_more(v, &items, &v->found.checked_count, sizeof *line);
    v->found.checked = items;
    if (line)
        *line = verification_keep(v, text);
}

static void leave_what_nothing_checks(struct verification *v)
{
    static const char *const unknown[] = {"signature", "signatures", "key", "public_key"};
    const struct certificate_claims *f = &v->claims;
    if (f->version == 1)
        verify_leave(v, "data set",
                     "number of records, condition and identity of the data set, which a certificate of "
                     "version 1 does not contain");
    if (strcmp(f->source, "given") == 0)
        verify_leave(v, "size of the sensitivity", "the sensitivity, which was stated by the caller");
    else if (strcmp(f->source, "sampled") == 0)
        verify_leave(v, "size of the sensitivity",
                     "the sensitivity, which was measured: evidence, not a bound");
    else if (!v->sensitivity_derived)
        verify_leave(
            v, "size of the sensitivity",
            "the sensitivity, which is taken from the certificate; and that training followed its recipe");
    else
        verify_leave(v, "training", "that the program that made the file followed its recipe");
    if (!v->bound)
        verify_leave(v, "remarks", "time, version and purpose%s, which are taken from the certificate",
                     v->sensitivity_derived ? "" : ", and the number of records");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (certificate_has(f, unknown[i]))
            verify_leave(v, "signature",
                         "the member '%s': a signature lies beside a certificate, not within it", unknown[i]);
}

/* What is claimed, as far as it was checked, in the order of trust: proved, conditional, none. */
static void take_claim(struct sotto_verification *r, struct verification *v)
{
    const struct certificate_claims *f = &v->claims;
    char unit[UNIT_TEXT];
    const char *rests_on = f->claim.conditional ? f->claim.condition : v->rests_on;
    if (f->claimed && !rests_on && !f->claim.conditional && !v->sensitivity_derived)
        rests_on = VERIFY_NOT_DERIVED; /* proved, says the certificate alone */
    r->guarantee = !f->claimed                        ? SOTTO_GUARANTEE_NONE
                   : f->claim.conditional || rests_on ? SOTTO_GUARANTEE_CONDITIONAL
                                                      : SOTTO_GUARANTEE_PROVED;
    r->epsilon = (struct sotto_interval){NAN, NAN};
    r->delta = NAN;
    r->mechanism = verification_keep(v, f->mechanism);
    r->scale = f->scale;
    r->records = f->records;
    unit_word(unit, &f->unit);
    r->unit = verification_keep(v, unit);
    r->condition = verification_keep(v, rests_on);
    if (strcmp(f->source, "sampled") == 0)
        r->measured = "the sensitivity, over sampled pairs";
    if (!f->claimed)
        return;
    r->epsilon = (struct sotto_interval){f->claim.lower, isnan(f->claim.upper) ? INFINITY : f->claim.upper};
    r->delta = f->claim.delta;
    r->adjacency = verification_keep(v, f->claim.adjacency);
}

sotto_status verification_open(struct verification *v, const char *certificate)
{
    sotto_status status = SOTTO_OK;
    v->path = certificate;
    TRY(certificate_claims_load(&v->claims, certificate));
    if (!v->claims.output)
        FAIL(SOTTO_EFORMAT, "%s: 'output_sha256' is missing; expected a text", certificate);
done:
    return status;
}

sotto_status verification_result(struct sotto_verification *out, struct verification *v)
{
    sotto_status status = SOTTO_OK;
    leave_what_nothing_checks(v);
    v->found.certificate = verification_keep(v, v->path);
    take_claim(&v->found, v);
    if (v->no_memory)
        FAIL(SOTTO_ENOMEM, "%s: out of memory for the checks", v->path);
    *out = v->found;
    v->found = (struct sotto_verification){0};
    if (out->failed)
        FAIL(SOTTO_EGATE, "%s: does not verify: %s", v->path, out->failed);
    if (out->undecided)
        FAIL(SOTTO_EUNDECIDED, "%s: is not decided: %s", v->path, out->undecided);
done:
    return status;
}

void verification_close(struct verification *v)
{
    certificate_claims_free(&v->claims);
    sotto_verification_clear(&v->found);
}

void sotto_verification_clear(struct sotto_verification *v)
{
    GIVEN_OR(, v);
    for (struct sotto_verification_memory *m = v->memory, *next; m; m = next) {
        next = m->next;
        base_free(m);
    }
    base_free(v->checks);
    base_free(v->checked);
    *v = (struct sotto_verification){0};
}
