/* Certificates: what is proved, under which condition, by which accountant, with which randomness. */
#include "dp/certificate/certificate.h"
#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "dp/certificate/condition_words.h"
#include "io/provenance/statement.h"
#include "io/text/number.h"
#include "sotto/lab/certificate.h"

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

static const char *const guarantee_names[] = {"none", "conditional", "proved"};
const char *sotto_guarantee_name(enum sotto_guarantee guarantee)
{
    return (unsigned)guarantee <= SOTTO_GUARANTEE_PROVED ? guarantee_names[guarantee] : "unknown";
}

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

const char *sensitivity_statement(enum sotto_sensitivity_source source)
{
    return source_statements[source];
}

sotto_status certificate_condition(char out[CONDITION_TEXT], const char *given,
                                   const struct sotto_provenance *p)
{
    const char *own = provenance_condition(p), *asked = given ? given : "";
    int length =
        snprintf(out, CONDITION_TEXT, "%s%s%s", asked, asked[0] && own ? ", and on " : "", own ? own : "");
    if (length < 0 || length >= CONDITION_TEXT)
        return status_fail(SOTTO_EINVAL, "condition: %d characters; expected at most %d", length,
                           CONDITION_TEXT - 1);
    return SOTTO_OK;
}

static void join_conditions(char out[CONDITION_TEXT + 64], const struct certificate_facts *f)
{
    const enum sotto_sensitivity_source source = f->sensitivity->source;
    const char *own = sensitivity_is_proved(source) ? "" : conditions[source],
               *given = f->condition ? f->condition : "";
    snprintf(out, CONDITION_TEXT + 64, "%s%s%s", own, own[0] && given[0] ? ", and on " : "", given);
}

/* "replace-one adjacency", and what the same noise gives under the other relation. */
static void name_adjacency(char out[96], const struct sotto_account *a,
                           const char *(*epsilon_text)(char out[NUMBER_TEXT], double x))
{
    char other[NUMBER_TEXT];
    int length = snprintf(out, 96, "%s adjacency", sotto_adjacency_name(a->adjacency));
    if (a->has_other)
        snprintf(out + length, 96 - (size_t)length, " (epsilon %s under %s)",
                 epsilon_text(other, a->other_epsilon.upper), sotto_adjacency_name(a->other_adjacency));
}

static const char *epsilon_up(char out[NUMBER_TEXT], double x)
{
    return number_text_up(out, x, 6);
}

static const char *epsilon_near(char out[NUMBER_TEXT], double x)
{
    snprintf(out, NUMBER_TEXT, "%.6g", x);
    return out;
}

/* "; only if this is true: ..." */
static void put_sentences(char *text, size_t room, const char *rests_on)
{
    char sentence[CONDITION_SENTENCE];
    size_t length = (size_t)snprintf(text, room, "; only if this is true:");
    while (condition_next(sentence, &rests_on) && length < room)
        length += (size_t)snprintf(text + length, room - length, " %s", sentence);
}

/* nouns: conditions are named as in the members of the certificate. */
static void certificate_fill_wording(struct certificate_wording *out, const struct certificate_facts *f,
                                     const char *(*epsilon_text)(char out[NUMBER_TEXT], double x), bool nouns)
{
    const struct sotto_account *a = f->account;
    char adjacency[96], epsilon[NUMBER_TEXT], *text = out->statement;
    join_conditions(out->rests_on, f);
    if (f->seeded) {
        snprintf(text, STATEMENT_TEXT, "noise was seeded: no privacy guarantee");
        return;
    }
    name_adjacency(adjacency, a, epsilon_text);
    epsilon_text(epsilon, a->epsilon.upper);
    if (!out->rests_on[0])
        snprintf(text, STATEMENT_TEXT, "(%s, %g)-differentially private under %s, accountant: %s", epsilon,
                 a->delta, adjacency, a->accountant);
    else
        snprintf(text, STATEMENT_TEXT,
                 "proved: none; conditional%s%s: epsilon %s at delta %g under %s, accountant: %s",
                 nouns ? " on " : "", nouns ? out->rests_on : "", epsilon, a->delta, adjacency,
                 a->accountant);
    if (f->unit && f->unit->rows) {
        char unit[UNIT_TEXT];
        unit_word(unit, f->unit);
        snprintf(text + strlen(text), STATEMENT_TEXT - strlen(text), "; unit of privacy: %s", unit);
    }
    if (a->note[0])
        snprintf(text + strlen(text), STATEMENT_TEXT - strlen(text), "; note: %s", a->note);
    if (out->rests_on[0] && !nouns)
        put_sentences(text + strlen(text), STATEMENT_TEXT - strlen(text), out->rests_on);
}

void certificate_word(struct certificate_wording *out, const struct certificate_facts *facts, const char *was)
{
    struct certificate_wording early;
    certificate_fill_wording(out, facts, epsilon_up, false);
    for (int nearest = 0; was && nearest < 2; nearest++) {
        certificate_fill_wording(&early, facts, nearest ? epsilon_near : epsilon_up, true);
        if (strcmp(was, early.statement) == 0)
            *out = early;
    }
}

sotto_status certificate_new(struct sotto_certificate **out, const struct certificate_facts *f)
{
    sotto_status status = SOTTO_OK;
    struct sotto_certificate *c = NULL;
    time_t now = time(NULL);
    struct tm utc;
    NEW(c, 1);
    c->account = *f->account;
    c->sensitivity = *f->sensitivity;
    c->dimension = f->dimension;
    c->records = f->records;
    if (f->unit)
        c->unit = *f->unit;
    unit_word(c->unit_words, &c->unit);
    c->seeded = f->seeded;
    c->lattice_exponent = f->lattice_exponent;
    gmtime_r(&now, &utc);
    strftime(c->time, sizeof c->time, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(c->version, sizeof c->version, "%s", sotto_version());
    snprintf(c->sampler, sizeof c->sampler, "%s", f->sampler);
    snprintf(c->condition, sizeof c->condition, "%s", f->condition ? f->condition : "");
    snprintf(c->shaped_by, sizeof c->shaped_by, "%s", f->shaped_by ? f->shaped_by : "");
    certificate_word(&c->wording, f, NULL);
    if (f->purpose)
        NEW_TEXT(c->purpose, f->purpose);
    *out = c;
    c = NULL;
done:
    sotto_certificate_free(c);
    return status;
}

void certificate_enter(struct sotto_certificate *c, size_t entry, const char *hash)
{
    c->entry = entry;
    snprintf(c->hash, sizeof c->hash, "%s", hash);
}

void certificate_add_plan(struct sotto_certificate *c, const char *plan, size_t slot)
{
    snprintf(c->plan, sizeof c->plan, "%s", plan);
    c->slot = slot;
}

sotto_status certificate_name_ledger(struct sotto_certificate *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    NEW_TEXT(c->ledger, path);
done:
    return status;
}

sotto_status certificate_add_run(struct sotto_certificate *c, const struct dpsgd_reservations *run,
                                 const struct dpsgd_facts *facts, size_t used)
{
    sotto_status status = SOTTO_OK;
    NEW(c->run, 1);
    TRY(dpsgd_reservations_copy(&c->run->reservations, run));
    c->run->facts = *facts;
    c->run->used = used;
    snprintf(c->run->label_entry, sizeof c->run->label_entry, "%s",
             facts->label_entry ? facts->label_entry : "");
    c->run->facts.label_entry = c->run->label_entry;
    c->run->facts.condition = facts->condition ? c->condition : NULL;
done:
    return status;
}

void certificate_add_classes(struct sotto_certificate *c, size_t count, const char *given_by)
{
    c->classes = count;
    snprintf(c->classes_by, sizeof c->classes_by, "%s", given_by && given_by[0] ? given_by : "the caller");
}

sotto_status certificate_add_queries(struct sotto_certificate *c, const struct certificate_query *queries,
                                     size_t count)
{
    sotto_status status = SOTTO_OK;
    certificate_add_statistic(c, CERTIFICATE_QUERIES, 0, 0);
    NEW(c->queries, count);
    for (size_t i = 0; i < count; i++) {
        c->queries[i] = queries[i];
        c->query_count++;
        NEW_TEXT(c->queries[i].text, queries[i].text);
    }
done:
    return status;
}

void certificate_add_statistic(struct sotto_certificate *c, const char *name, double low, double high)
{
    snprintf(c->statistic, sizeof c->statistic, "%s", name);
    c->low = low;
    c->high = high;
}

sotto_status certificate_add_tuning(struct sotto_certificate *c, const struct certificate_tuning *tuning,
                                    const char *encoder_sha256, const char *encoder)
{
    sotto_status status = SOTTO_OK;
    struct certificate_tuning *t;
    NEW(c->tuning, 1);
    t = c->tuning;
    *t = *tuning;
    t->tensors = NULL;
    REQUIRE(strlen(encoder_sha256) < sizeof t->encoder_sha256 && strlen(encoder) < sizeof t->encoder,
            "certificate: what it says of the encoder is too long; expected at most %zu characters",
            sizeof t->encoder - 1);
    strcpy(t->encoder_sha256, encoder_sha256);
    strcpy(t->encoder, encoder);
    NEW_TEXT(t->tensors, tuning->tensors);
done:
    return status;
}

void sotto_certificate_free(struct sotto_certificate *c)
{
    if (!c)
        return;
    if (c->tuning)
        base_free(c->tuning->tensors);
    base_free(c->tuning);
    for (size_t i = 0; i < c->query_count; i++)
        base_free(c->queries[i].text);
    base_free(c->queries);
    if (c->run)
        dpsgd_reservations_free(&c->run->reservations);
    base_free(c->run);
    base_free(c->purpose);
    base_free(c->ledger);
    base_free(c);
}

const struct sotto_account *sotto_certificate_account(const struct sotto_certificate *c)
{
    GIVEN_OR(NULL, c);
    return &c->account;
}

const struct sotto_sensitivity *sotto_certificate_sensitivity(const struct sotto_certificate *c)
{
    GIVEN_OR(NULL, c);
    return &c->sensitivity;
}

enum sotto_guarantee sotto_certificate_guarantee(const struct sotto_certificate *c)
{
    GIVEN_OR(SOTTO_GUARANTEE_NONE, c);
    return c->seeded                ? SOTTO_GUARANTEE_NONE
           : c->wording.rests_on[0] ? SOTTO_GUARANTEE_CONDITIONAL
                                    : SOTTO_GUARANTEE_PROVED;
}

int sotto_certificate_is_proved(const struct sotto_certificate *c)
{
    GIVEN_OR(0, c);
    return sotto_certificate_guarantee(c) == SOTTO_GUARANTEE_PROVED;
}

const char *sotto_certificate_condition(const struct sotto_certificate *c)
{
    GIVEN_OR(NULL, c);
    return c->seeded ? "" : c->wording.rests_on;
}

const char *sotto_certificate_statement(const struct sotto_certificate *c)
{
    GIVEN_OR(NULL, c);
    return c->wording.statement;
}

const char *sotto_certificate_unit(const struct sotto_certificate *c)
{
    GIVEN_OR(NULL, c);
    return c->unit_words;
}

size_t sotto_certificate_entry(const struct sotto_certificate *c)
{
    GIVEN_OR(0, c);
    return c->entry;
}

const char *sotto_certificate_hash(const struct sotto_certificate *c)
{
    GIVEN_OR(NULL, c);
    return c->hash;
}

sotto_status sotto_certificate_summary(char **line, const struct sotto_certificate *certificate)
{
    REQUIRE_GIVEN(line, certificate);
    char text[STATEMENT_TEXT + 896];
    const struct mechanism *m = mechanism_find(certificate->account.mechanism);
    const char *noise = m && m->kind > RELEASE_VECTOR ? "of scale" : "noise of scale";
    int length = snprintf(text, sizeof text, "%s %s %.6g; %s", certificate->account.mechanism, noise,
                          certificate->account.scale, certificate->wording.statement);
    if (certificate->tuning && length > 0)
        snprintf(text + length, sizeof text - (size_t)length,
                 "; trained: %zu of %zu weights; encoder: %s%s%s", certificate->tuning->trained,
                 certificate->tuning->trained + certificate->tuning->frozen, certificate->tuning->encoder,
                 certificate->tuning->standardise[0] ? "; standardised by rows: " : "",
                 certificate->tuning->standardise);
    char *made = base_strdup(text);
    if (!made)
        return status_fail(SOTTO_ENOMEM, "certificate: out of memory");
    *line = made;
    return SOTTO_OK;
}
