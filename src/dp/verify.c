/* A certificate re-derived from its own facts: the account of (mechanism, scale, sensitivity, dimension,
 * delta), or of all steps of a run, the wording that the source of the sensitivity allows, the hash of the
 * released file, and its entries in the ledger. */
#include "base/file.h"
#include "base/sha256.h"
#include "dp/accountant.h"
#include "dp/certificate.h"
#include "dp/lattice_fixed.h"
#include "dp/ledger.h"
#include "dp/run_record.h"

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
    const struct json *run;   /* NULL: one release */
    struct run_facts run_facts;
    int64_t index; /* of the entry */
    size_t charged;
};

/* What only the certificate of a run has. */
static sotto_status read_run(struct facts *f, const struct json *certificate)
{
    sotto_status status = SOTTO_OK;
    const struct json *ignored;
    const char *id;
    f->run = json_member(certificate, "run");
    if (!f->run)
        goto done;
    TRY(json_get_object(&f->run, certificate, f->path, "run"));
    TRY(run_get_facts(&f->run_facts, f->run, f->path));
    TRY(json_get_text(&id, f->run, f->path, "id"));
    TRY(json_get_array(&ignored, f->run, f->path, "reservations"));
    TRY(json_get_size(&f->charged, f->run, f->path, "steps.charged"));
    TRY(json_get_integer(&f->index, certificate, f->path, "ledger.index"));
    if (strlen(id) != RUN_ID)
        FAIL(SOTTO_EFORMAT, "%s: 'run.id' is not the name of a run", f->path);
done:
    return status;
}

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
    TRY(read_run(f, c));
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

static sotto_status derive(struct sotto_account *a, const struct facts *f, double delta,
                           const char *adjacency)
{
    sotto_status status = SOTTO_OK;
    if (!f->run)
        return account_within(a, f->mechanism, f->scale, &f->sensitivity, delta, f->distance);
    TRY(require_positive(f->scale, "scale"));
    TRY(require_positive(f->run_facts.max_grad_norm, "max_grad_norm"));
    const struct sotto_sampled all = {.mechanism = f->mechanism,
                                      .noise_multiplier = run_multiplier(&f->run_facts),
                                      .sample_rate = f->run_facts.sample_rate,
                                      .steps = f->charged,
                                      .delta = delta,
                                      .clipping = f->run_facts.clipping,
                                      .replace_one =
                                          f->run_facts.inputs_only || strcmp(adjacency, "replace-one") == 0,
                                      .sampling = f->run_facts.sampling};
    bool early = strcmp(adjacency, "add-remove") == 0 || !json_member(f->claim, "other");
    TRY(early ? sotto_account_sampled(a, &all) : sotto_account_sampled_both(a, &all));
    if (strcmp(adjacency, "add-remove") != 0) /* an early certificate's name of zero-out */
        TRY(run_complete_account(a, &f->run_facts));
    run_put_note(a, &f->run_facts);
done:
    return status;
}

/* The lines for people say what the numbers say. */
static sotto_status check_lines(struct checks *c, const struct facts *f, const struct json *certificate,
                                const struct sotto_account *a, bool seeded)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity s = f->sensitivity;
    struct json *guarantee = NULL, *sensitivity = NULL;
    const struct mechanism *m = mechanism_find(f->mechanism);
    const char *statement = json_text(json_find(certificate, "guarantee.statement")),
               *origin = json_text(json_find(certificate, "sensitivity.statement")),
               *sampler = json_text(json_find(certificate, "sampler"));
    if (!sensitivity_source_of(&s.source, f->source)) {
        note(c, "statement", false, "the sensitivity is '%.40s'", f->source);
        goto done;
    }
    guarantee =
        certificate_guarantee(&(struct certificate_facts){.account = a, .sensitivity = &s, .seeded = seeded});
    sensitivity = certificate_sensitivity(&s);
    if (!guarantee || !sensitivity)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", f->path);
    note(c, "statement", statement && strcmp(statement, json_text(json_member(guarantee, "statement"))) == 0,
         "%.300s", statement ? statement : "(none)");
    note(c, "sensitivity", origin && strcmp(origin, json_text(json_member(sensitivity, "statement"))) == 0,
         "%.300s", origin ? origin : "(none)");
    bool fast = f->run && f->run_facts.noise_mode == SOTTO_NOISE_FAST;
    const char *wanted = fast                             ? RUN_FAST_SAMPLER
                         : f->run                         ? run_sampler(&f->run_facts)
                         : m && m->kind == RELEASE_VECTOR ? "NOT exact"
                         : f->distance > 0                ? FIXED_SAMPLER
                                                          : "exact";
    note(c, "sampler", sampler && strncmp(sampler, wanted, strlen(wanted)) == 0, "%.300s",
         sampler ? sampler : "(none)");
done:
    json_free(guarantee);
    json_free(sensitivity);
    return status;
}

static sotto_status check_account(struct checks *c, const struct facts *f, const struct json *certificate)
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
    status = derive(&a, f, delta, adjacency);
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
    if (a.other_adjacency[0])
        check_number(c, "other adjacency", json_number(json_find(f->claim, "other.epsilon.upper")),
                     a.other_epsilon.upper);
    TRY(check_lines(c, f, certificate, &a, false));
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

/* A run agrees with itself: its facts with the certificate's, its steps with its reservations. */
static void check_run(struct checks *c, const struct facts *f, const struct json *certificate)
{
    const struct run_facts *r = &f->run_facts;
    const struct json *list = json_member(f->run, "reservations"),
                      *last = json_at(list, json_count(list) - 1);
    const char *hash = json_text(json_member(last, "hash"));
    double reserved = 0, used = json_number(json_find(f->run, "steps.used"));
    double norm = r->clipping == SOTTO_NORM_L1 ? f->sensitivity.l1 : f->sensitivity.l2;
    bool agrees = strcmp(r->mechanism, f->mechanism) == 0 && r->scale == f->scale &&
                  r->dimension == f->dimension && norm == r->max_grad_norm &&
                  strcmp(f->source, "clipped") == 0;
    note(c, "run", agrees, "%s noise of scale %g on %zu values, clipped to %g (%s)", r->mechanism, r->scale,
         r->dimension, r->max_grad_norm, f->source);
    for (size_t i = 0; i < json_count(list); i++)
        reserved += json_number(json_member(json_at(list, i), "steps"));
    note(c, "steps", reserved == (double)f->charged && used <= reserved,
         "%zu charged, %.0f reserved in %zu entries, %.0f used", f->charged, reserved, json_count(list),
         used);
    note(c, "last entry",
         hash && strcmp(hash, f->hash) == 0 &&
             json_whole(json_member(last, "index")) == json_whole(json_find(certificate, "ledger.index")),
         "reservation %.16s..., entry %.16s...", hash ? hash : "(none)", f->hash);
}

/* The labels that the run counts on were released as the certificate says. */
static sotto_status check_labels(struct checks *c, const struct facts *f, const char *path)
{
    struct run_labels labels = {0};
    if (!(f->run_facts.label_scale > 0))
        return SOTTO_OK;
    sotto_status status = run_labels_read(&labels, path, f->run_facts.label_entry);
    bool told = status == SOTTO_OK || status == SOTTO_EINVAL; /* else memory or a file failed */
    if (told)
        note(c, "labels", labels.scale == f->run_facts.label_scale && !(labels.seeded && f->claim),
             "released at scale %g, the certificate says %g", labels.scale, f->run_facts.label_scale);
    return told ? SOTTO_OK : status;
}

/* The ledger knows exactly the reservations that the certificate lists, up to its own. */
static sotto_status check_reservations(struct checks *c, const struct facts *f, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct run_record run = {.reservations = NULL};
    char *mine = NULL, *theirs = NULL;
    status = run_record_read(&run, path, json_text(json_member(f->run, "id")), f->index, &f->run_facts);
    if (status == SOTTO_EINVAL || status == SOTTO_EFORMAT) {
        note(c, "reservations", false, "%s", sotto_error_text());
        status = SOTTO_OK;
        goto done;
    }
    TRY(status);
    TRY(json_dump(&mine, json_member(f->run, "reservations"), JSON_SORTED));
    TRY(json_dump(&theirs, run.reservations, JSON_SORTED));
    note(c, "reservations", strcmp(mine, theirs) == 0 && !(run.seeded && f->claim),
         "the ledger holds %zu of this run, %zu steps, noise %s", json_count(run.reservations), run.charged,
         run.seeded ? "seeded" : "from the operating system");
done:
    base_free(mine);
    base_free(theirs);
    run_record_free(&run);
    return status;
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

/* Before the noise was drawn, the same was written down. */
static sotto_status check_entry(struct checks *c, const struct facts *f, const struct json *certificate,
                                const struct json *entry)
{
    static const char *const facts[] = {"mechanism", "scale",   "dimension", "sensitivity",
                                        "sampler",   "purpose", NULL},
                             *const claim[] = {"epsilon",  "delta",     "accountant", "pure_epsilon",
                                               "zcdp_rho", "adjacency", "bounds",     NULL};
    sotto_status status = SOTTO_OK;
    char *texts[4] = {NULL, NULL, NULL, NULL};
    const char *randomness = json_text(json_find(entry, "randomness"));
    TRY(members_of(&texts[0], entry, facts));
    TRY(members_of(&texts[1], certificate, facts));
    note(c, "recorded facts", strcmp(texts[0], texts[1]) == 0, "%.300s", texts[0]);
    if (f->claim) {
        TRY(members_of(&texts[2], entry, claim));
        TRY(members_of(&texts[3], f->claim, claim));
        note(c, "recorded account", strcmp(texts[2], texts[3]) == 0, "%.300s", texts[2]);
    }
    note(c, "recorded randomness", randomness && (strcmp(randomness, "os") == 0) == (f->claim != NULL),
         "%.100s", randomness ? randomness : "(none)");
done:
    for (int i = 0; i < 4; i++)
        base_free(texts[i]);
    return status;
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
    TRY(file_read(&data, &size, path, LEDGER_LIMIT));
    char wanted[96];
    snprintf(wanted, sizeof wanted, "\"hash\":\"%.64s\"}\n", f->hash);
    char *end = strstr((char *)data, wanted), *start = end;
    note(c, "ledger entry", end != NULL, "entry %.16s...", f->hash);
    if (!end)
        goto done;
    if (f->run) {
        TRY(check_reservations(c, f, path));
        TRY(check_labels(c, f, path));
        goto done;
    }
    while (start > (char *)data && start[-1] != '\n')
        start--;
    TRY(json_parse(&entry, start, (size_t)(strchr(end, '\n') - start), path));
    TRY(check_entry(c, f, certificate, entry));
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
    if (facts.run)
        check_run(&checks, &facts, c);
    if (facts.claim)
        TRY(check_account(&checks, &facts, c));
    else
        TRY(check_lines(&checks, &facts, c, &(struct sotto_account){0}, true));
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
