/* A certificate re-derived from its own facts: the account of (mechanism, scale, sensitivity, dimension,
 * delta), the wording that the source of the sensitivity allows, the hash of the released file, and its entry
 * in the ledger. */
#include "base/file.h"
#include "base/sha256.h"
#include "dp/accountant.h"
#include "dp/certificate.h"
#include "dp/lattice_fixed.h"
#include "dp/ledger.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checks {
    struct json *list;
    char first[512]; /* the first failure, or "" */
};

static void note(struct checks *c, const char *name, bool ok, const char *format, ...)
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
    json_push(&c->list, object);
    if (!ok && !c->first[0])
        snprintf(c->first, sizeof c->first, "%s: %s", name, text);
}

struct facts {
    const char *path, *mechanism, *source, *randomness, *exact, *proved, *hash, *output;
    double scale;
    size_t dimension;
    int64_t exponent;
    struct sotto_sensitivity sensitivity;
    double distance;          /* of the sampler from its law */
    const struct json *claim; /* "proved" or "conditional", NULL: neither */
};

static sotto_status read_facts(struct facts *f, const struct json *c)
{
    sotto_status status = SOTTO_OK;
    const char *schema;
    TRY(json_get_text(&schema, c, f->path, "schema"));
    if (strcmp(schema, "sotto.certificate/1") != 0)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%s'; expected sotto.certificate/1", f->path, schema);
    TRY(json_get_text(&f->mechanism, c, f->path, "mechanism"));
    TRY(json_get_real(&f->scale, c, f->path, "scale"));
    TRY(json_get_text(&f->exact, c, f->path, "scale_exact"));
    TRY(json_get_integer(&f->exponent, c, f->path, "lattice_exponent"));
    TRY(json_get_size(&f->dimension, c, f->path, "dimension"));
    TRY(json_get_real_or_null(&f->sensitivity.l1, c, f->path, "sensitivity.l1"));
    TRY(json_get_real_or_null(&f->sensitivity.l2, c, f->path, "sensitivity.l2"));
    TRY(json_get_text(&f->source, c, f->path, "sensitivity.source"));
    TRY(json_get_text(&f->randomness, c, f->path, "randomness"));
    TRY(json_get_text(&f->hash, c, f->path, "ledger.hash"));
    TRY(json_get_text(&f->output, c, f->path, "output_sha256"));
    f->sensitivity.dimension = f->dimension;
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (m && m->kind == RELEASE_INTEGER && f->exponent > -400 && f->exponent < 400)
        f->sensitivity.value_step = ldexp(1, (int)f->exponent);
    const char *sampler = json_text(json_find(c, "sampler"));
    if (sampler && strncmp(sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) == 0)
        f->distance = (double)f->dimension * FIXED_DISTANCE;
    const struct json *proved = json_find(c, "guarantee.proved"),
                      *conditional = json_find(c, "guarantee.conditional");
    if (!proved || !conditional)
        FAIL(SOTTO_EFORMAT, "%s: 'guarantee' lacks 'proved' or 'conditional'", f->path);
    f->proved = json_text(proved);
    f->claim = json_kind(proved) == JSON_KIND_OBJECT        ? proved
               : json_kind(conditional) == JSON_KIND_OBJECT ? conditional
                                                            : NULL;
done:
    return status;
}

/* What the certificate claims must not be smaller than what can be derived. */
static void check_number(struct checks *c, const char *name, double claimed, double derived)
{
    bool ok =
        isnan(derived) ? isnan(claimed) : claimed >= derived * (1 - 1e-12) && claimed <= derived * (1 + 1e-9);
    note(c, name, ok, "certificate says %.12g, re-derived %.12g", claimed, derived);
}

static sotto_status check_account(struct checks *c, const struct facts *f)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account a;
    double delta, upper, lower, pure, rho;
    const char *adjacency, *accountant;
    TRY(json_get_real(&delta, f->claim, f->path, "delta"));
    TRY(json_get_real_or_null(&upper, f->claim, f->path, "epsilon.upper"));
    TRY(json_get_real_or_null(&lower, f->claim, f->path, "epsilon.lower"));
    TRY(json_get_real_or_null(&pure, f->claim, f->path, "pure_epsilon"));
    TRY(json_get_real_or_null(&rho, f->claim, f->path, "zcdp_rho"));
    TRY(json_get_text(&adjacency, f->claim, f->path, "adjacency"));
    TRY(json_get_text(&accountant, f->claim, f->path, "accountant"));
    status = account_within(&a, f->mechanism, f->scale, &f->sensitivity, delta, f->distance);
    if (status != SOTTO_OK) {
        note(c, "account", false, "%s", sotto_error_text());
        status = SOTTO_OK;
        goto done;
    }
    check_number(c, "epsilon", upper, isinf(a.epsilon.upper) ? NAN : a.epsilon.upper);
    check_number(c, "pure epsilon", pure, a.pure_epsilon);
    check_number(c, "zcdp rho", rho, a.zcdp_rho);
    note(c, "lower end", isnan(lower) || lower <= a.epsilon.upper, "certificate says %.12g, re-derived %.12g",
         lower, a.epsilon.lower);
    note(c, "accountant", strcmp(accountant, a.accountant) == 0, "certificate says '%s', re-derived '%s'",
         accountant, a.accountant);
    note(c, "adjacency", strcmp(adjacency, a.adjacency) == 0, "%s", adjacency);
done:
    return status;
}

/* The step that the noise was drawn in: a fixed share of the scale, or the step of the values themselves,
 * which the account was re-derived with. */
static bool lattice_fits(const struct facts *f)
{
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (m && m->kind == RELEASE_INTEGER)
        return f->sensitivity.value_step > 0;
    if (m && m->kind == RELEASE_LABELS)
        return f->exponent == 0;
    return f->scale > 1e-100 && f->scale < 1e100 && lattice_make(f->scale).exponent == f->exponent;
}

static void check_wording(struct checks *c, const struct facts *f)
{
    bool seeded = strncmp(f->randomness, "operating system", 16) != 0;
    bool may = strcmp(f->source, "proved") == 0 || strcmp(f->source, "clipped") == 0;
    bool says = f->proved == NULL;
    note(c, "wording", seeded ? !f->claim : f->claim && says == may,
         "sensitivity is %s, noise is %s, the proved part reads %s", f->source,
         seeded ? "seeded" : "from the operating system", says ? "an account" : f->proved);
    note(c, "scale", strtod(f->exact, NULL) == f->scale, "%.17g and %s", f->scale, f->exact);
    note(c, "lattice", lattice_fits(f), "step 2^%d for scale %g", (int)f->exponent, f->scale);
}

/* The ledger's own line with that hash, and the commitment to the input. */
static sotto_status check_ledger(struct checks *c, const struct json *certificate, const struct facts *f,
                                 const char *path)
{
    sotto_status status = SOTTO_OK;
    struct ledger l = {.fd = -1};
    struct json *entry = NULL;
    unsigned char *data = NULL;
    size_t size;
    status = ledger_read(&l, path);
    note(c, "ledger chain", status == SOTTO_OK, "%s", status == SOTTO_OK ? path : sotto_error_text());
    if (status != SOTTO_OK) {
        status = status == SOTTO_ENOMEM ? status : SOTTO_OK;
        goto done;
    }
    TRY(file_read(&data, &size, path, 1 << 28));
    char wanted[96];
    snprintf(wanted, sizeof wanted, "\"hash\":\"%.64s\"}\n", f->hash);
    char *end = strstr((char *)data, wanted), *start = end;
    note(c, "ledger entry", end != NULL, "entry %.16s...", f->hash);
    if (!end)
        goto done;
    while (start > (char *)data && start[-1] != '\n')
        start--;
    TRY(json_parse(&entry, start, (size_t)(strchr(end, '\n') - start), path));
    const char *nonce = json_text(json_find(entry, "input_nonce")),
               *input = json_text(json_find(entry, "input_sha256"));
    const char *claimed = json_text(json_find(certificate, "input_commitment"));
    char commitment[SHA256_HEX];
    struct sha256 sum;
    sha256_init(&sum);
    sha256_update(&sum, nonce ? nonce : "", nonce ? strlen(nonce) : 0);
    sha256_update(&sum, input ? input : "", input ? strlen(input) : 0);
    sha256_hex(&sum, commitment);
    note(c, "input commitment", claimed && strcmp(claimed, commitment) == 0, "input %.16s...",
         input ? input : "(none)");
done:
    base_free(data);
    json_free(entry);
    ledger_close(&l);
    return status;
}

sotto_status sotto_certificate_verify(char **report, const char *certificate, const char *output,
                                      const char *ledger)
{
    sotto_status status = SOTTO_OK;
    struct json *c = NULL, *object = NULL;
    struct checks checks = {json_make_array(), ""};
    struct facts facts = {.path = certificate};
    TRY(json_read_file(&c, certificate));
    TRY(read_facts(&facts, c));
    check_wording(&checks, &facts);
    if (facts.claim)
        TRY(check_account(&checks, &facts));
    if (output) {
        char hash[SHA256_HEX];
        TRY(sha256_file(hash, output));
        note(&checks, "released file", strcmp(hash, facts.output) == 0,
             "%s has SHA-256 %.16s..., the certificate says %.16s...", output, hash, facts.output);
    }
    if (ledger)
        TRY(check_ledger(&checks, c, &facts, ledger));
    object = json_make_object();
    json_put_text(&object, "schema", "sotto.verify/1");
    json_put_boolean(&object, "valid", !checks.first[0]);
    json_put(&object, "checks", checks.list);
    checks.list = NULL;
    TRY(json_dump(report, object, JSON_PRETTY));
    if (checks.first[0])
        FAIL(SOTTO_EGATE, "%s: does not verify: %s", certificate, checks.first);
done:
    json_free(checks.list);
    json_free(object);
    json_free(c);
    return status;
}
