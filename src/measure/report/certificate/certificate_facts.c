/* What several parts of a certificate's page say in the same words. */
#include "report/certificate/certificate_facts.h"
#include "io/text/number.h"

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

bool is_of_persons(const struct facts *f)
{
    return strcmp(f->v.unit, "one record") != 0;
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
