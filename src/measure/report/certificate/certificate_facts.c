/* What several parts of a certificate's page say in the same words. */
#include "report/certificate/certificate_facts.h"
#include "dp/certificate/certificate.h"
#include "io/array/safetensors.h"
#include "io/text/number.h"
#include "sotto/ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NARROW "\xc2\xa0" /* a space that no line breaks at */

const char *text_of(const struct json *j, const char *path)
{
    const struct json *found = j ? json_find(j, path) : NULL;
    const char *text = found ? json_text(found) : NULL;
    return text ? text : "";
}

double number_of(const struct json *j, const char *path)
{
    const struct json *found = j ? json_find(j, path) : NULL;
    return found ? json_number(found) : NAN;
}

const char *officer_said(const struct json *ledger, const char *member)
{
    const struct json *entries = ledger ? json_find(ledger, "entries") : NULL;
    const char *said = "";
    for (size_t i = 0; entries && i < json_count(entries); i++) {
        const char *here = text_of(json_at(entries, i), member);
        said = here[0] ? here : said;
    }
    return said;
}

const char *certified_encoder(const struct facts *f)
{
    const char *encoder = text_of(f->certificate, "fine_tuning.encoder");
    return strncmp(encoder, "certified", 9) == 0 ? encoder : "";
}

bool is_of_persons(const struct facts *f)
{
    return strcmp(f->v.unit, "one record") != 0;
}

bool is_verified(const struct sotto_verification *v)
{
    return !v->failed && !v->undecided;
}

bool is_meaningless(const struct sotto_verification *v)
{
    return v->guarantee == SOTTO_GUARANTEE_NONE || !(v->epsilon.upper <= MEANINGLESS_EPSILON);
}

const char *release_words(char out[128], const struct facts *f)
{
    const char *network = tensors_metadata(&f->released, "model"),
               *format = tensors_metadata(&f->released, "format"),
               *statistic = text_of(f->certificate, "statistic.name");
    if (network)
        snprintf(out, 128, "Neural network (%.80s)", network);
    else if (format && strncmp(format, "sotto.head/", 11) == 0)
        snprintf(out, 128, "Classifier on features");
    else if (statistic[0])
        snprintf(out, 128, "Statistic of a table: %.80s", statistic);
    else
        snprintf(out, 128, "Released values: %.0f numbers", number_of(f->certificate, "dimension"));
    return out;
}

const char *verdict_of(char out[VERDICT_TEXT], const struct sotto_verification *v)
{
    const double epsilon = v->epsilon.upper;
    const bool proved = v->guarantee == SOTTO_GUARANTEE_PROVED;
    char most[NUMBER_TEXT];
    if (v->failed)
        snprintf(out, VERDICT_TEXT, "This certificate does not verify: %.600s.", v->failed);
    else if (v->undecided)
        snprintf(out, VERDICT_TEXT, "This certificate is not decided: %.600s.", v->undecided);
    else if (v->guarantee == SOTTO_GUARANTEE_NONE)
        snprintf(out, VERDICT_TEXT, "No guarantee: the noise was seeded.");
    else if (isinf(epsilon))
        snprintf(out, VERDICT_TEXT, "No guarantee: epsilon is not finite.");
    else if (is_meaningless(v))
        snprintf(out, VERDICT_TEXT,
                 "No meaningful guarantee: epsilon is %s, and beyond %g it protects nobody.",
                 number_text_up(most, epsilon, 6), MEANINGLESS_EPSILON);
    else
        snprintf(out, VERDICT_TEXT, "%s: epsilon at most %s at delta %.6g for %.*s%s(%.40s)%s.",
                 proved ? "Proved" : "Conditional", number_text_up(most, epsilon, 6), v->delta,
                 (int)strcspn(v->unit, "("), v->unit, strchr(v->unit, '(') ? "" : " ", v->adjacency,
                 proved ? "" : ", if what you confirm by signing is true");
    return out;
}

const char *meaning_for_people(char out[VERDICT_TEXT], const struct facts *f)
{
    const bool model = tensors_metadata(&f->released, "format") || tensors_metadata(&f->released, "model");
    const char *whom = is_of_persons(f) ? "participants" : "records";
    char most[NUMBER_TEXT];
    if (f->v.guarantee == SOTTO_GUARANTEE_NONE)
        snprintf(out, VERDICT_TEXT, "Whoever has the seed computes the noise and takes it away.");
    else
        snprintf(out, VERDICT_TEXT,
                 "Anyone who studies %s, by any method and with any other knowledge, finds at most %s" NARROW
                 "%% of "
                 "the %s at 1" NARROW "%% false alarms. Guessing finds 1" NARROW "%%.",
                 model ? "this model" : "what was released",
                 isfinite(f->strength.found[1]) ? number_text_up(most, 100 * f->strength.found[1], 3) : "100",
                 whom);
    return out;
}

/* The released file beside the certificate, if it is one of ours: its metadata. */
static void read_released(struct facts *f)
{
    static const char end[] = ".certificate.json";
    const char *path = f->v.certificate;
    const size_t length = strlen(path), tail = sizeof end - 1;
    char *file = length > tail && strcmp(path + length - tail, end) == 0 ? base_alloc(length, 1) : NULL;
    if (!file)
        return;
    memcpy(file, path, length - tail);
    const size_t kept = length - tail;
    if (kept > 12 && strcmp(file + kept - 12, ".safetensors") == 0 &&
        safetensors_load(&f->released, file) != SOTTO_OK)
        f->released = (struct sotto_tensors){0};
    base_free(file);
}

static sotto_status read_facts(struct facts *f, const char *ledger, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char *shown = NULL;
    TRY(json_read_file(&f->certificate, f->v.certificate));
    read_released(f);
    if (ledger) {
        TRY(sotto_ledger_show(&shown, ledger, ctx));
        TRY(json_parse(&f->ledger, shown, strlen(shown), ledger));
    }
done:
    sotto_text_free(shown);
    return status;
}

/* At false positives of a rate, a test finds at most what a guess of that prior becomes. */
static sotto_status find_strength(struct facts *f, const struct sotto_context *ctx)
{
    static const double rates[3] = {.001, .01, .1};
    sotto_status status = SOTTO_OK;
    struct strength *s = &f->strength;
    struct sotto_certificate *c = NULL;
    struct sotto_privacy_profile profile = {0};
    struct sotto_adaptive box;
    *s = (struct strength){.mu = INFINITY, .found = {NAN, NAN, NAN}, .reconstruction = NAN};
    if (!is_verified(&f->v) || f->v.guarantee == SOTTO_GUARANTEE_NONE)
        goto done;
    TRY(sotto_certificate_load(&c, f->v.certificate));
    TRY(sotto_certificate_profile(&profile, c, ctx));
    if (f->prior > 0)
        TRY(sotto_reconstruction_bound(&s->reconstruction, &profile, f->prior));
    if (isinf(f->v.epsilon.upper))
        goto done;
    TRY(certificate_adaptive(&box, c, &profile));
    s->mu = box.mu;
    s->failure = box.failure;
    for (int i = 0; i < 3; i++)
        TRY(sotto_reconstruction_bound(&s->found[i], &profile, rates[i]));
    for (int i = 0; i < CURVE_POINTS; i++) {
        const double rate = (i + 1.) / CURVE_POINTS;
        s->curve[i] = 1;
        if (rate < 1)
            TRY(sotto_reconstruction_bound(&s->curve[i], &profile, rate * rate));
    }
done:
    sotto_certificate_free(c);
    sotto_privacy_profile_clear(&profile);
    return status;
}

sotto_status facts_open(struct facts *f, const char *file, const char *ledger,
                        const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const sotto_status verified = sotto_verify(&f->v, file, NULL, ledger, ctx);
    if (verified != SOTTO_OK && verified != SOTTO_EGATE && verified != SOTTO_EUNDECIDED)
        return verified;
    TRY(read_facts(f, ledger, ctx));
    TRY(find_strength(f, ctx));
    status = verified;
done:
    if (status != verified)
        facts_close(f);
    return status;
}

sotto_status facts_add_audit(struct facts *f, const char *audit)
{
    sotto_status status = SOTTO_OK;
    if (!audit)
        goto done;
    TRY(json_read_file(&f->audit, audit));
    f->classes = json_find(f->audit, "accuracy.by_class");
    REQUIRE(f->classes && json_count(f->classes) > 0,
            "%s: has no accuracy by class; expected a sotto.audit/1 of an audit with labels", audit);
done:
    return status;
}

void facts_close(struct facts *f)
{
    json_free(f->audit);
    json_free(f->certificate);
    json_free(f->ledger);
    sotto_tensors_clear(&f->released);
    sotto_verification_clear(&f->v);
}
