/* A certificate for the person who answers for the data: one page, in the order of the questions of NIST SP 800-226 (what is
 * protected, how strongly, by which noise, what it rests on, what is not covered). Every number is the certificate's, which is
 * verified first. */
#include "dp/certificate/condition_words.h"
#include "io/array/safetensors.h"
#include "io/text/number.h"
#include "report/certificate/certificate_facts.h"
#include "report/certificate/sheet.h"
#include "report/document/document.h"
#include "sotto/lab/certificate.h"
#include "sotto/ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of what does not verify nothing is said but what failed: the rest of it is no better than its worst part. */
static void put_failure(struct sheet *s, const struct sotto_verification *v)
{
    static const char advice[] = "Do not rely on this certificate, and do not sign it.";
    sheet_section(s, v->failed ? "What failed" : "What was not decided");
    sheet_line(s, "Verification", "%s. %s", v->failed ? "FAILED" : "NOT DECIDED", advice);
    if (!v->failed)
        sheet_line(s, "NOT DECIDED", "%s", v->undecided);
    for (size_t i = 0; i < v->check_count; i++)
        if (v->checks[i].outcome == SOTTO_VERIFY_FAILED)
            sheet_line(s, "FAILED", "%s: %s", v->checks[i].name, v->checks[i].text);
}

/* Each condition is a row, and a sentence that must be true. */
static void put_conditions(struct sheet *s, const char *conditions)
{
    char sentence[CONDITION_SENTENCE];
    for (size_t i = 0; condition_next(sentence, &conditions); i++)
        sheet_line(s, i ? "" : "Conditions", "%s", sentence);
}

static void put_result(struct sheet *s, const struct facts *f)
{
    const struct sotto_verification *v = &f->v;
    sheet_section(s, "Result");
    sheet_line(s, "Verification",
               "the certificate is consistent with itself and with what is listed under Checks");
    sheet_line(s, "Signature",
               v->signed_by ? "valid, by key %s; it is worth as much as you know of that key"
                            : "none%s: file, certificate and ledger could have been changed together",
               v->signed_by ? v->signed_by : "");
    sheet_line(s, "Guarantee", "%s",
               v->guarantee == SOTTO_GUARANTEE_PROVED ? "proved"
               : v->guarantee == SOTTO_GUARANTEE_CONDITIONAL
                   ? "CONDITIONAL, which is no proof: it holds only if all of this is true:"
                   : "NONE: the noise was seeded, so it can be computed and taken away");
    if (v->guarantee == SOTTO_GUARANTEE_CONDITIONAL)
        put_conditions(s, v->condition);
}

static const char *meaning_of(const char *adjacency, bool persons)
{
    if (strcmp(adjacency, "replace-one") == 0)
        return persons ? "the rows of one person replaced by as many rows of another person"
                       : "one record replaced by any other record";
    if (strcmp(adjacency, "zero-out") == 0)
        return persons
                   ? "the rows of one person without effect (as if they were not there, the number of rows "
                     "being public)"
                   : "one record without effect (as if it were not there, the number of records being "
                     "public)";
    if (strcmp(adjacency, "add-remove") == 0)
        return "one record more or less";
    return strcmp(adjacency, "replace-input") == 0
               ? "the input of one record replaced; labels count as public"
               : "as named";
}

static void put_guarantee(struct sheet *s, const struct facts *f)
{
    const struct sotto_verification *v = &f->v;
    const double epsilon = v->epsilon.upper, records = (double)v->records;
    const bool persons = is_of_persons(f);
    char most[NUMBER_TEXT], times[NUMBER_TEXT];
    if (v->guarantee == SOTTO_GUARANTEE_NONE)
        return;
    sheet_section(s, "How strong");
    if (isinf(epsilon))
        sheet_line(s, "Epsilon", "none that is finite");
    else
        sheet_line(s, "Epsilon",
                   "%s (the upper end of what was computed): no outcome becomes more than %s times as "
                   "probable, up to delta",
                   number_text_up(most, epsilon, 6), number_text_up(times, exp(epsilon), 4));
    if (v->records)
        sheet_line(s, "Delta", "%.6g, %s 1/n = %.4g%s", v->delta,
                   v->delta < 1 / records ? "below" : "NOT below", 1 / records,
                   v->delta < 1 / records ? "" : ": a release of single records could pass");
    else
        sheet_line(s, "Delta", "%.6g; the number of records is not stated", v->delta);
    if (!persons)
        sheet_line(s, "Unit of privacy",
                   "one record. A person with k records is protected about k times less; no account of "
                   "persons is made");
    else
        sheet_line(s, "Unit of privacy", "%s. How many rows a person has, up to that, is public", v->unit);
    sheet_line(s, "Neighbouring data", "%s: %s", v->adjacency, meaning_of(v->adjacency, persons));
    const char *other = text_of(f->certificate, "guarantee.proved.other.adjacency");
    if (other[0])
        sheet_line(s, "Also", "epsilon %s under %s adjacency: %s",
                   number_text_up(most, number_of(f->certificate, "guarantee.proved.other.epsilon.upper"), 6),
                   other, meaning_of(other, persons));
    if (isfinite(f->strength.found[1]))
        sheet_line(s, "Against any attack",
                   "at most %s %% of members are found at 1 %% false alarms (guessing: 1 %%)",
                   number_text_up(most, 100 * f->strength.found[1], 3));
}

/* How a row rests on the certificate's guarantee. */
static const char *certificate_page_standing(const struct facts *f)
{
    return f->v.guarantee == SOTTO_GUARANTEE_PROVED ? "proved for this release alone"
                                                    : "under the same condition, for this release alone";
}

static void put_strength(struct sheet *s, const struct facts *f)
{
    const struct strength *known = &f->strength;
    char most[3][NUMBER_TEXT], error[64] = "";
    if (known->failure > 0)
        snprintf(error, sizeof error, ", off by at most %s in delta",
                 number_text_up(most[0], known->failure, 3));
    if (known->mu < INFINITY)
        sheet_line(s, "mu (Gaussian DP)", "%s%s; %s", number_text_up(most[0], known->mu, 6), error,
                   certificate_page_standing(f));
    for (int i = 0; i < 3; i++)
        number_text_up(most[i], 100 * known->found[i], 3);
    if (isfinite(known->found[1]))
        sheet_line(
            s, "Curve",
            "true-positive rate at most %s %% at 0.1 %%, %s %% at 1 %%, %s %% at 10 %% false positives; %s",
            most[0], most[1], most[2], certificate_page_standing(f));
    if (isfinite(known->reconstruction))
        sheet_line(s, "Reconstruction",
                   "%s, all others known, is guessed from this release with probability at most %s if it is "
                   "guessed with probability %.4g without; %s",
                   strcmp(f->v.adjacency, "replace-input") == 0 ? "the input of one record" : f->v.unit,
                   number_text_up(most[0], known->reconstruction, 4), f->prior, certificate_page_standing(f));
}

static void put_noise(struct sheet *s, const struct facts *f)
{
    const struct json *c = f->certificate;
    const bool run = json_find(c, "run.steps") != NULL;
    sheet_section(s, "By which noise");
    sheet_line(s, "Mechanism", "%s noise of scale %.6g (standard deviation %.6g) on %.0f values",
               f->v.mechanism, f->v.scale, number_of(c, "standard_deviation"), number_of(c, "dimension"));
    if (run)
        sheet_line(s, "Where it is added",
                   "to the sum of clipped gradients in each of %.0f steps; a step sees %s of the "
                   "records, a share of %.4g",
                   number_of(c, "run.steps.charged"),
                   strcmp(text_of(c, "run.sampling"), "fixed") == 0 ? "a fixed number" : "a Poisson sample",
                   number_of(c, "run.sample_rate"));
    else
        sheet_line(s, "Where it is added", "once, to the released values");
    const double l1 = number_of(c, "sensitivity.l1"), l2 = number_of(c, "sensitivity.l2");
    char norms[64] = "";
    if (l1 >= 0)
        snprintf(norms, sizeof norms, ", L1 %.4g", l1);
    if (l2 >= 0)
        snprintf(norms + strlen(norms), sizeof norms - strlen(norms), ", L2 %.4g", l2);
    sheet_line(s, "Sensitivity", "%s%s", text_of(c, "sensitivity.statement"), norms);
    sheet_line(s, "Randomness", "%s", text_of(c, "randomness"));
    sheet_line(s, "Sampler", "%s", text_of(c, "sampler"));
}

/* Of all lines those that cost privacy: how many others there are follows the history of records. */
static size_t count_charges(const struct json *entries)
{
    size_t count = 0;
    for (size_t i = 0; i < json_count(entries); i++)
        count += json_member(json_at(entries, i), "total") != NULL;
    return count;
}

/* The budget's numbers, or those of a level: never what was spent. */
static void put_any_order(struct sheet *s, const struct json *ledger)
{
    const char *row = "Any order of choices";
    char from[80] = "";
    if (json_kind(json_find(ledger, "any_order")) != JSON_KIND_OBJECT) {
        sheet_line(s, row, "not known: the ledger is of before it had columns");
        return;
    }
    const double epsilon = number_of(ledger, "any_order.epsilon"),
                 first = number_of(ledger, "any_order.from_charge");
    if (!(epsilon < INFINITY)) {
        sheet_line(s, row, "no finite epsilon holds: the ledger's charges fit into none of its columns");
        return;
    }
    if (first > 0)
        snprintf(from, sizeof from, "; from charge %.0f on, those before count as chosen beforehand", first);
    sheet_line(s, row, "epsilon %.6g at delta %.4g holds, however each release was chosen by those before%s",
               epsilon, number_of(ledger, "any_order.delta"), from);
}

static void put_account(struct sheet *s, const struct facts *f)
{
    const struct json *c = f->certificate, *l = f->ledger;
    char total[NUMBER_TEXT];
    sheet_section(s, "How it was counted");
    if (f->v.guarantee != SOTTO_GUARANTEE_NONE)
        sheet_line(s, "Accounting method", "%s",
                   text_of(c, json_find(c, "guarantee.proved.accountant")
                                  ? "guarantee.proved.accountant"
                                  : "guarantee.conditional.accountant"));
    if (json_find(c, "plan.id"))
        sheet_line(s, "Plan",
                   "slot %.0f of plan %.16s: charged before it was made, with all of the plan as one entry",
                   number_of(c, "plan.slot"), text_of(c, "plan.id"));
    if (!l) {
        sheet_line(s, "Budget",
                   "not known: no ledger was given, so other releases from the same records are not counted");
        return;
    }
    sheet_line(
        s, "Spent in all",
        "epsilon %s at delta %.4g in the ledger (entries: %zu), proved and conditional together; it is "
        "what holds if all had been chosen beforehand",
        number_text_up(total, number_of(l, "total"), 6), number_of(l, "delta"),
        count_charges(json_member(l, "entries")));
    if (json_find(l, "budget.epsilon"))
        sheet_line(s, "Budget", "epsilon %.6g, delta %.4g", number_of(l, "budget.epsilon"),
                   number_of(l, "budget.delta"));
    else
        sheet_line(s, "Budget", "none is set");
    put_any_order(s, l);
}

/* {"batch":64,"hidden":[8,4]} as "batch 64, hidden [8,4]". The constant of an optimizer must not be taken for epsilon. */
static const char *plain_recipe(char *out, size_t capacity, const char *json)
{
    static const char key[] = "\"epsilon\"", plain[] = "optimizer's constant";
    size_t used = 0, depth = 0;
    for (; *json && used + sizeof plain < capacity; json++) {
        if (strncmp(json, key, sizeof key - 1) == 0) {
            used += (size_t)snprintf(out + used, capacity - used, "%s", plain);
            json += sizeof key - 2;
            continue;
        }
        depth += *json == '[';
        depth -= *json == ']' && depth > 0;
        if (strchr("{}\"", *json))
            continue;
        out[used++] = *json == ':' ? ' ' : *json;
        if (*json == ',' && depth == 0)
            out[used++] = ' ';
    }
    out[used] = '\0';
    return out;
}

/* How records became numbers: the encoding of a table travels in the model. */
static void put_preprocessing(struct sheet *s, const struct facts *f)
{
    const char *text = tensors_metadata(&f->released, "encoding");
    struct json *encoding = NULL;
    if (text && json_parse(&encoding, text, strlen(text), "encoding") == SOTTO_OK)
        sheet_line(s, "Preprocessing", "columns of a table as numbers; the encoding is %s, by %s",
                   text_of(encoding, "encoding"), text_of(encoding, "by"));
    else
        sheet_line(
            s, "Preprocessing",
            "none is recorded; steps before this program that look at several records are not covered");
    json_free(encoding);
}

static void put_public(struct sheet *s, const struct facts *f)
{
    const struct json *c = f->certificate;
    const char *recipe = tensors_metadata(&f->released, "recipe");
    sheet_section(s, "Taken as public");
    if (f->v.records)
        sheet_line(s, "Number of records", "%zu", f->v.records);
    if (json_find(c, "classes.count"))
        sheet_line(s, "Classes", "%.0f, as given by %s", number_of(c, "classes.count"),
                   text_of(c, "classes.given_by"));
    if (json_find(c, "fine_tuning.encoder"))
        sheet_line(s, "Encoder", "%s; weights that were trained: %.0f, frozen: %.0f",
                   text_of(c, "fine_tuning.encoder"), number_of(c, "fine_tuning.trained"),
                   number_of(c, "fine_tuning.frozen"));
    if (json_find(c, "fine_tuning.standardise"))
        sheet_line(s, "Standardising rows", "%s", text_of(c, "fine_tuning.standardise"));
    put_preprocessing(s, f);
    char settings[2048];
    sheet_line(s, "Settings", "%s",
               recipe ? plain_recipe(settings, sizeof settings, recipe)
                      : "the recipe is not in the released file, or the file is not at hand");
    sheet_line(s, "How they were chosen",
               "not recorded: settings that were chosen by looking at these records are not "
               "covered by epsilon");
}

static void put_model(struct sheet *s, const struct sotto_tensors *t)
{
    const char *network = tensors_metadata(t, "model"), *format = tensors_metadata(t, "format");
    size_t numbers = 0;
    for (size_t i = 0; i < t->count; i++)
        numbers += t->items[i].array.count;
    if (network)
        sheet_line(s, "Model", "whole network %s: %zu numbers, tensors: %zu", network, numbers, t->count);
    else if (format && strncmp(format, "sotto.head/", 11) == 0)
        sheet_line(s, "Model", "classifier on features (softmax head): %zu numbers, tensors: %zu", numbers,
                   t->count);
    else
        sheet_line(s, "Model", "none: values as they were released, or the file is not at hand");
}

static void put_release(struct sheet *s, const struct facts *f)
{
    const struct json *c = f->certificate;
    const char *purpose = text_of(c, "purpose"), *contact = officer_said(f->ledger, "contact"),
               *id = f->ledger ? text_of(f->ledger, "dataset_id") : "";
    sheet_section(s, "What was released");
    put_model(s, &f->released);
    sheet_line(s, "File", "SHA-256 %s", text_of(c, "output_sha256"));
    sheet_line(s, "Time, purpose", "%s%s%s", text_of(c, "time"), purpose[0] ? ", " : "", purpose);
    sheet_line(s, "Data set", "%s", id[0] ? id : "not named here; the ledger names it");
    sheet_line(s, "Responsible", "%s",
               contact[0]  ? contact
               : f->ledger ? "no contact is recorded"
                           : "not known: no ledger was given");
    sheet_line(s, "Ledger entry", "%.0f, %s",
               number_of(c, json_find(c, "ledger.charge") ? "ledger.charge" : "ledger.index"),
               text_of(c, "ledger.hash"));
    sheet_line(s, "Software", "sotto %s", text_of(c, "version"));
}

enum { MOST_CLASSES = 12 };

/* As many as the annex has room for. */
static void put_classes(struct sheet *s, const struct json *classes)
{
    const size_t count = json_count(classes);
    char text[1024] = "";
    for (size_t i = 0; i < count && i < MOST_CLASSES; i++) {
        const struct json *c = json_at(classes, i);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sclass %.0f: %.3g %% (%.3g to %.3g %%)",
                 i ? "; " : "", number_of(c, "class"), 100 * number_of(c, "estimate"),
                 100 * number_of(c, "lower"), 100 * number_of(c, "upper"));
    }
    sheet_line(s, "Accuracy by class", "%s%s; their mean: %.3g %%; always the most frequent class: %.3g %%",
               text, count > MOST_CLASSES ? "; the other classes are in the card" : "",
               100 * part_balanced(classes), 100 * part_majority(classes));
}

/* The rows of SP 800-226 and of registries that no number of the certificate answers. */
static void put_deployment(struct sheet *s, const struct facts *f)
{
    static const struct {
        const char *member, *row;
    } said[] = {{"curator", "Curator"},
                {"use", "Use"},
                {"region", "Region"},
                {"sector", "Sector"},
                {"rationale", "Why this epsilon"}};
    sheet_section(s, "Deployment");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *text = officer_said(f->ledger, said[i].member);
        if (text[0])
            sheet_line(s, said[i].row, "%s", text);
    }
    if (f->classes)
        put_classes(s, f->classes);
    sheet_line(s, "Model of trust", "%s", CARD_TRUST);
    sheet_line(s, "Renewal of the budget", "%s", CARD_RENEWAL);
    sheet_line(s, "SP 800-226", "%s", CARD_ANSWERS);
    sheet_line(s, "", "%s", CARD_OPEN);
}

static void put_checks(struct sheet *s, const struct sotto_verification *v)
{
    sheet_section(s, "Checks");
    for (size_t i = 0; i < v->checked_count; i++)
        sheet_line(s, "made", "%s", v->checked[i]);
    for (size_t i = 0; i < v->check_count; i++)
        if (v->checks[i].outcome != SOTTO_VERIFY_PASSED)
            sheet_line(s, v->checks[i].outcome == SOTTO_VERIFY_FAILED ? "FAILED" : "not made", "%s",
                       v->checks[i].text);
}

static void put_limits(struct sheet *s)
{
    static const char *const limits[] = {
        "the running time of the training, which may depend on the records",
        "unprotected copies: the records, embeddings, checkpoints and heads without noise stay as secret as "
        "they were",
        "attributes that can be learnt about people without their records, as from any correct statistic",
        "errors in this program, the compiler or the machine",
        "other releases from the same records, unless they are in the same ledger",
    };
    sheet_section(s, "Not covered");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sheet_line(s, "", "%s", limits[i]);
}

/* The page has result and checks on the sheet in front. */
static void put_all(struct sheet *s, const struct facts *f)
{
    if (!is_verified(&f->v)) {
        put_failure(s, &f->v);
        return;
    }
    if (!s->html)
        put_result(s, f);
    put_guarantee(s, f);
    put_strength(s, f);
    put_noise(s, f);
    put_account(s, f);
    put_public(s, f);
    put_release(s, f);
    put_deployment(s, f);
    if (!s->html)
        put_checks(s, &f->v);
    put_limits(s);
}

sotto_status sotto_certificate_page_audited(char **page, const char *file, const char *ledger,
                                            const char *audit, int html, double prior,
                                            const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(page, file);
    sotto_status status = SOTTO_OK, verified;
    struct facts f = {.prior = prior};
    struct sheet s = {.html = html != 0};
    char *made = NULL, verdict[VERDICT_TEXT];
    verified = facts_open(&f, file, ledger, ctx);
    if (verified != SOTTO_OK && verified != SOTTO_EGATE && verified != SOTTO_EUNDECIDED)
        return verified; /* nothing was opened */
    if (verified == SOTTO_OK)
        TRY(facts_add_audit(&f, audit));
    if (html == 1 && is_verified(&f.v) && is_meaningless(&f.v)) {
        (void)status_fail(SOTTO_EINVAL, "%s: %s; expected an epsilon of at most %g for a page to sign",
                          f.v.certificate, verdict_of(verdict, &f.v), MEANINGLESS_EPSILON);
        status_hint("'force' makes a page that says so");
        status = SOTTO_EINVAL;
        goto done;
    }
    sheet_begin(&s, html != 0, verdict_of(verdict, &f.v));
    if (html && is_verified(&f.v))
        front_put(&s.page, &f);
    sheet_annex(&s, is_verified(&f.v) ? NULL : verdict);
    put_all(&s, &f);
    TRY(sheet_end(&made, &s));
    *page = made;
    if (verified == SOTTO_EGATE)
        FAIL(SOTTO_EGATE, "%s: does not verify: %s", f.v.certificate, f.v.failed);
    if (verified == SOTTO_EUNDECIDED)
        FAIL(SOTTO_EUNDECIDED, "%s: is not decided: %s", f.v.certificate, f.v.undecided);
done:
    base_free(s.page.text);
    facts_close(&f);
    return status;
}

sotto_status sotto_certificate_page(char **page, const char *file, const char *ledger, int html, double prior,
                                    const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(page, file);
    return sotto_certificate_page_audited(page, file, ledger, NULL, html, prior, ctx);
}
