/* A certificate for registries of deployments (tiers of registry.opendp.org: who and why, which guarantee, which details) and for
 * model hubs. What nobody said is null, never guessed. */
#include "dp/certificate/condition_words.h"
#include "io/text/number.h"
#include "report/certificate/certificate_facts.h"
#include "report/document/document.h"
#include "sotto/lab/certificate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- YAML: texts in double quotes, as JSON writes them ---- */

static void put_quoted(struct page *p, const char *text)
{
    page_html(p, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            page_html(p, "\\");
        page_bytes(p, c < ' ' || c == 0x7f ? " " : text, 1);
    }
    page_html(p, "\"");
}

static void put_text(struct page *p, const char *key, const char *text)
{
    page_format(p, "  %s: ", key);
    if (text && text[0])
        put_quoted(p, text);
    else
        page_html(p, "null");
    page_html(p, "\n");
}

/* Never below x: what a certificate bounds. */
static void put_bound(struct page *p, const char *key, double x)
{
    char most[NUMBER_TEXT];
    page_format(p, "  %s: %s\n", key, isfinite(x) ? number_text_up(most, x, 6) : "null");
}

static void put_exact(struct page *p, const char *key, double x)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.17g", x);
    page_format(p, "  %s: %s\n", key, isfinite(x) ? digits : "null");
}

static void put_conditions(struct page *p, const char *conditions)
{
    char sentence[CONDITION_SENTENCE];
    page_html(p, conditions ? "  conditions:\n" : "  conditions: []\n");
    while (condition_next(sentence, &conditions)) {
        page_html(p, "    - ");
        put_quoted(p, sentence);
        page_html(p, "\n");
    }
}

static void put_classes(struct page *p, const struct json *classes)
{
    if (classes)
        page_format(p, "balanced_accuracy: %.4g\nmost_frequent_class_share: %.4g\n", part_balanced(classes),
                    part_majority(classes));
    page_html(p, classes ? "accuracy_by_class:\n" : "accuracy_by_class: null\n");
    for (size_t i = 0; classes && i < json_count(classes); i++)
        page_format(p, "  - {class: %.0f, estimate: %.4g, lower: %.4g, upper: %.4g, records: %.0f}\n",
                    number_of(json_at(classes, i), "class"), number_of(json_at(classes, i), "estimate"),
                    number_of(json_at(classes, i), "lower"), number_of(json_at(classes, i), "upper"),
                    number_of(json_at(classes, i), "n"));
}

static void put_registry(struct page *p, const struct facts *f)
{
    static const char *const said[] = {"curator", "contact", "use", "region", "sector"};
    const struct sotto_verification *v = &f->v;
    char what[128], software[64];
    page_html(p, "# Card for a registry of deployments, by 'sotto certificate --card' from a certificate "
                 "that verifies. null: not said.\n"
                 "deployment:\n");
    put_text(p, "description", release_words(what, f));
    put_text(p, "purpose", text_of(f->certificate, "purpose"));
    put_text(p, "date", text_of(f->certificate, "time"));
    put_text(p, "data_set", text_of(f->ledger, "dataset_id"));
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        put_text(p, said[i], officer_said(f->ledger, said[i]));
    page_html(p, "guarantee:\n");
    put_text(p, "standing", sotto_guarantee_name(v->guarantee));
    put_conditions(p, v->guarantee == SOTTO_GUARANTEE_CONDITIONAL ? v->condition : NULL);
    put_text(p, "flavour",
             v->guarantee == SOTTO_GUARANTEE_NONE ? NULL
             : v->delta > 0                       ? "approximate differential privacy"
                                                  : "pure differential privacy");
    put_bound(p, "epsilon", v->epsilon.upper);
    put_exact(p, "delta", v->delta);
    put_bound(p, "mu", f->strength.mu);
    put_bound(p, "true_positive_rate_at_1_percent", f->strength.found[1]);
    put_text(p, "encoder_counted_apart", certified_encoder(f));
    put_text(p, "privacy_unit", v->unit);
    put_text(p, "neighbouring_data", v->adjacency);
    put_text(p, "deployment_model", "central, a release charged to a ledger");
    put_text(p, "trust_model", CARD_TRUST);
    page_html(p, "details:\n");
    put_text(p, "mechanism", v->mechanism);
    put_exact(p, "scale", v->scale);
    put_text(p, "accountant",
             text_of(f->certificate, v->guarantee == SOTTO_GUARANTEE_PROVED ||
                                             json_find(f->certificate, "guarantee.proved.accountant")
                                         ? "guarantee.proved.accountant"
                                         : "guarantee.conditional.accountant"));
    put_exact(p, "records", v->records ? (double)v->records : NAN);
    put_text(p, "unprotected_quantities",
             "number of records, classes, settings; the annex of the certificate's page lists them");
    put_text(p, "post_processing", "whatever is computed from the release is covered");
    put_exact(p, "budget_epsilon", number_of(f->ledger, "budget.epsilon"));
    put_exact(p, "budget_delta", number_of(f->ledger, "budget.delta"));
    put_bound(p, "spent_epsilon", number_of(f->ledger, "total"));
    put_text(p, "renewal", CARD_RENEWAL);
    put_text(p, "rationale", officer_said(f->ledger, "rationale"));
    put_text(
        p, "security",
        "noise of the operating system, exact on a lattice; the running time of training is not covered");
    snprintf(software, sizeof software, "sotto %.40s", text_of(f->certificate, "version"));
    put_text(p, "software", software);
    put_text(p, "file_sha256", text_of(f->certificate, "output_sha256"));
    put_text(p, "signed_by", v->signed_by);
    put_text(p, "sp_800_226", CARD_ANSWERS);
    put_text(p, "sp_800_226_open", CARD_OPEN);
    put_classes(p, f->classes);
}

/* ---- Markdown ---- */

static void put_point(struct page *p, const char *label, const char *text)
{
    if (!text || !text[0])
        return;
    page_format(p, "- **%s:** ", label);
    page_markdown(p, text);
    page_html(p, "\n");
}

static void put_block(struct page *p, const struct facts *f)
{
    const struct json *classes = f->classes;
    char words[VERDICT_TEXT], sentence[CONDITION_SENTENCE];
    const char *conditions = f->v.guarantee == SOTTO_GUARANTEE_CONDITIONAL ? f->v.condition : NULL;
    page_html(p, "## Privacy\n\n");
    page_markdown(p, verdict_of(words, &f->v));
    page_html(p, "\n");
    page_markdown(p, meaning_for_people(words, f));
    page_html(p, "\n\n");
    while (condition_next(sentence, &conditions))
        put_point(p, "Holds only if", sentence);
    put_point(p, "That counts this training alone. The encoder is", certified_encoder(f));
    put_point(p, "Unit of privacy", f->v.unit);
    put_point(p, "Curator", officer_said(f->ledger, "curator"));
    put_point(p, "Contact", officer_said(f->ledger, "contact"));
    put_point(p, "Use", officer_said(f->ledger, "use"));
    put_point(p, "Why this epsilon", officer_said(f->ledger, "rationale"));
    put_point(p, "File (SHA-256)", text_of(f->certificate, "output_sha256"));
    page_html(p, "- **Check it:** `sotto verify FILE`, or `verify.html` in a browser, with the certificate "
                 "beside the file\n");
    if (!classes)
        return;
    page_html(p, "\n| class | accuracy | interval | records |\n|---|---|---|---|\n");
    for (size_t i = 0; i < json_count(classes); i++)
        page_format(p, "| %.0f | %.4g | %.4g to %.4g | %.0f |\n", number_of(json_at(classes, i), "class"),
                    number_of(json_at(classes, i), "estimate"), number_of(json_at(classes, i), "lower"),
                    number_of(json_at(classes, i), "upper"), number_of(json_at(classes, i), "n"));
}

sotto_status sotto_certificate_card(char **text, const char *file, const char *ledger, const char *audit,
                                    int markdown, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(text, file);
    sotto_status status = SOTTO_OK;
    struct facts f = {.prior = 0};
    struct page p = {NULL, 0, 0, 0, false};
    char *made = NULL;
    const sotto_status verified = facts_open(&f, file, ledger, ctx);
    if (verified != SOTTO_OK) {
        if (verified == SOTTO_EGATE || verified == SOTTO_EUNDECIDED)
            facts_close(&f);
        return verified;
    }
    TRY(facts_add_audit(&f, audit));
    (markdown ? put_block : put_registry)(&p, &f);
    TRY(page_done(&made, &p, "card"));
    *text = made;
done:
    facts_close(&f);
    return status;
}
