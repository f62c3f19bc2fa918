/* Certificates: what is proved, under which condition, by which accountant, with which randomness. */
#include "dp/ledger/certificate.h"
#include "base/file.h"
#include "dp/mechanism/mechanism.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const source_names[] = {"given", "sampled", "clipped", "proved"};
static const char *const source_statements[] = {
    "as stated by the caller, not checked",
    "largest change observed over sampled pairs: empirical evidence, not a bound",
    "enforced by clipping",
    "proved for the training procedure",
};
static const char *const conditions[] = {"the sensitivity stated by the caller", "the sampled sensitivity"};

const char *sensitivity_source_name(enum sotto_sensitivity_source source)
{
    return (unsigned)source <= SOTTO_SENSITIVITY_PROVED ? source_names[source] : "unknown";
}

bool sensitivity_source_of(enum sotto_sensitivity_source *out, const char *name)
{
    for (int i = SOTTO_SENSITIVITY_GIVEN; i <= SOTTO_SENSITIVITY_PROVED; i++)
        if (strcmp(name, source_names[i]) == 0) {
            *out = (enum sotto_sensitivity_source)i;
            return true;
        }
    return false;
}

bool sensitivity_is_proved(enum sotto_sensitivity_source source)
{
    return source == SOTTO_SENSITIVITY_CLIPPED || source == SOTTO_SENSITIVITY_PROVED;
}

struct json *certificate_sensitivity(const struct sotto_sensitivity *s)
{
    struct json *object = json_make_object();
    json_put_real(&object, "l1", s->l1);
    json_put_real(&object, "l2", s->l2);
    json_put_text(&object, "source", sensitivity_source_name(s->source));
    json_put_text(&object, "statement", source_statements[s->source]);
    json_put(&object, "evidence", s->evidence[0] ? json_make_text(s->evidence) : json_make_null());
    return object;
}

void certificate_put_account(struct json **object, const struct sotto_account *a)
{
    struct json *epsilon = json_make_object(), *bounds = json_make_object();
    json_put_real(&epsilon, "lower", a->epsilon.lower);
    json_put_real(&epsilon, "upper", a->epsilon.upper);
    for (size_t i = 0; i < a->bound_count; i++)
        json_put_real(&bounds, a->bounds[i].name, a->bounds[i].epsilon);
    json_put(object, "epsilon", epsilon);
    json_put_real(object, "delta", a->delta);
    json_put_text(object, "accountant", a->accountant);
    json_put_real(object, "pure_epsilon", a->pure_epsilon);
    json_put_real(object, "zcdp_rho", a->zcdp_rho);
    json_put_text(object, "adjacency", a->adjacency);
    if (a->other_adjacency[0]) {
        struct json *other = json_make_object(), *interval = json_make_object();
        json_put_real(&interval, "lower", a->other_epsilon.lower);
        json_put_real(&interval, "upper", a->other_epsilon.upper);
        json_put_text(&other, "adjacency", a->other_adjacency);
        json_put(&other, "epsilon", interval);
        json_put(object, "other", other);
    }
    json_put(object, "bounds", bounds);
    if (a->note[0])
        json_put_text(object, "note", a->note);
}

/* "replace-one adjacency", and what the same noise gives under the other relation. */
static void name_adjacency(char out[96], const struct sotto_account *a)
{
    int length = snprintf(out, 96, "%s adjacency", a->adjacency);
    if (a->other_adjacency[0])
        snprintf(out + length, 96 - (size_t)length, " (epsilon %.6g under %s)", a->other_epsilon.upper,
                 a->other_adjacency);
}

sotto_status certificate_condition(char out[CONDITION_TEXT], const char *given,
                                   const struct sotto_provenance *p)
{
    const char *own = sotto_provenance_condition(p), *asked = given ? given : "";
    int length =
        snprintf(out, CONDITION_TEXT, "%s%s%s", asked, asked[0] && own ? ", and on " : "", own ? own : "");
    if (length < 0 || length >= CONDITION_TEXT)
        return status_fail(SOTTO_EINVAL, "condition: %d characters; expected at most %d", length,
                           CONDITION_TEXT - 1);
    return SOTTO_OK;
}

/* All that epsilon rests on without proof; "" where it rests on nothing. */
static void join_conditions(char out[CONDITION_TEXT + 64], const struct certificate_facts *f)
{
    const enum sotto_sensitivity_source source = f->sensitivity->source;
    const char *own = sensitivity_is_proved(source) ? "" : conditions[source],
               *given = f->condition ? f->condition : "";
    snprintf(out, CONDITION_TEXT + 64, "%s%s%s", own, own[0] && given[0] ? ", and on " : "", given);
}

struct json *certificate_guarantee(const struct certificate_facts *f)
{
    struct json *object = json_make_object();
    if (f->seeded) {
        json_put_text(&object, "proved", "none");
        json_put(&object, "conditional", json_make_null());
        json_put_text(&object, "statement", "noise was seeded: no privacy guarantee");
        return object;
    }
    struct json *account = json_make_object();
    certificate_put_account(&account, f->account);
    char text[CONDITION_TEXT + 768], condition[CONDITION_TEXT + 64], adjacency[96];
    const struct sotto_account *a = f->account;
    join_conditions(condition, f);
    name_adjacency(adjacency, a);
    if (!condition[0]) {
        json_put(&object, "proved", account);
        json_put(&object, "conditional", json_make_null());
        snprintf(text, sizeof text, "(%.6g, %g)-differentially private under %s, accountant: %s",
                 a->epsilon.upper, a->delta, adjacency, a->accountant);
    } else {
        json_put_text(&account, "condition", condition);
        json_put_text(&object, "proved", "none");
        json_put(&object, "conditional", account);
        snprintf(text, sizeof text,
                 "proved: none; conditional on %s: epsilon %.6g at delta %g under %s, accountant: %s",
                 condition, a->epsilon.upper, a->delta, adjacency, a->accountant);
    }
    if (a->note[0])
        snprintf(text + strlen(text), sizeof text - strlen(text), "; note: %s", a->note);
    json_put_text(&object, "statement", text);
    return object;
}

struct json *certificate_make(const struct certificate_facts *f)
{
    struct json *object = json_make_object();
    char text[64];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_put_text(&object, "schema", CERTIFICATE_SCHEMA);
    json_put_text(&object, "version", sotto_version());
    json_put_text(&object, "time", text);
    json_put_text(&object, "mechanism", f->account->mechanism);
    json_put_real(&object, "scale", f->account->scale);
    snprintf(text, sizeof text, "%a", f->account->scale);
    json_put_text(&object, "scale_exact", text);
    json_put_real(&object, "standard_deviation", f->account->standard_deviation);
    json_put_integer(&object, "lattice_exponent", f->lattice_exponent);
    json_put_integer(&object, "dimension", (int64_t)f->dimension);
    json_put(&object, "records", f->records ? json_make_integer((int64_t)f->records) : json_make_null());
    json_put_text(&object, "condition", f->condition && f->condition[0] ? f->condition : NULL);
    json_put(&object, "sensitivity", certificate_sensitivity(f->sensitivity));
    json_put(&object, "guarantee", certificate_guarantee(f));
    json_put_text(&object, "randomness",
                  f->seeded ? "noise was seeded: no privacy guarantee"
                            : "operating system (getrandom, ChaCha20)");
    json_put_text(&object, "sampler", f->sampler);
    return object;
}

sotto_status certificate_add_classes(char **certificate, size_t count, const char *given_by)
{
    sotto_status status = SOTTO_OK;
    struct json *object = NULL, *classes = json_make_object();
    char *text = NULL;
    json_put_integer(&classes, "count", (int64_t)count);
    json_put_text(&classes, "given_by", given_by && given_by[0] ? given_by : "the caller");
    status = json_parse(&object, *certificate, strlen(*certificate), "certificate");
    json_put(&object, "classes", classes);
    if (status == SOTTO_OK)
        status = json_dump(&text, object, JSON_PRETTY);
    if (status == SOTTO_OK) {
        base_free(*certificate);
        *certificate = text;
    }
    json_free(object);
    return status;
}

sotto_status sotto_certificate_summary(char **line, const char *certificate)
{
    sotto_status status = SOTTO_OK;
    struct json *object = NULL;
    char text[CONDITION_TEXT + 1024];
    const char *mechanism, *statement;
    double scale;
    TRY(json_parse(&object, certificate, strlen(certificate), "certificate"));
    TRY(json_get_text(&mechanism, object, "certificate", "mechanism"));
    TRY(json_get_real(&scale, object, "certificate", "scale"));
    TRY(json_get_text(&statement, object, "certificate", "guarantee.statement"));
    const struct mechanism *m = mechanism_find(mechanism);
    const char *noise = m && m->kind > RELEASE_VECTOR ? "of scale" : "noise of scale";
    snprintf(text, sizeof text, "%s %s %.6g; %s", mechanism, noise, scale, statement);
    *line = base_strdup(text);
    if (!*line)
        FAIL(SOTTO_ENOMEM, "certificate: out of memory");
done:
    json_free(object);
    return status;
}

sotto_status sotto_certificate_save(const char *path, const char *certificate, const char *output_sha256)
{
    sotto_status status = SOTTO_OK;
    struct json *object = NULL;
    TRY(json_parse(&object, certificate, strlen(certificate), path));
    json_put_text(&object, "output_sha256", output_sha256);
    TRY(json_write_file(path, object, JSON_PRETTY));
done:
    json_free(object);
    return status;
}
