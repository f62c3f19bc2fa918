/* sotto certificate: a certificate as one page for people. */
#include "options/options.h"
#include "verbs/page_file.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Files"),
    {"ledger", OPTION_TEXT, "FILE", NULL, "ledger that was charged: checks it, and shows budget and total"},
    {"output", OPTION_TEXT, "FILE", NULL, "file for the page (default: standard output)", "o"},
    OPTION_GROUP("Form"),
    {"prior", OPTION_TEXT, "P", NULL,
     "probability of guessing a record without the release; the page then shows the largest probability with "
     "it (reconstruction)"},
    {"html", OPTION_FLAG, NULL, NULL, "two pages of HTML to print on paper and sign, instead of text"},
    {"force", OPTION_FLAG, NULL, NULL,
     "a page also where epsilon is above 20 or the noise was seeded; it says that nothing meaningful is "
     "guaranteed"},
    OPTION_GROUP("Cards"),
    {"card", OPTION_TEXT, "FILE", NULL, "also writes what registries of deployments ask for, as YAML"},
    {"model-card", OPTION_TEXT, "FILE", NULL, "also writes a block of Markdown for a model hub"},
    {"audit", OPTION_TEXT, "FILE", NULL,
     "result.json of an audit; page and cards then have its accuracy by class"},
    OPTION_END};

/* NULL: no prior, 0. */
static sotto_status read_prior(double *out, const char *text)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(*out > 0 && *out < 1)))
        return cli_fail(SOTTO_EUSAGE,
                        "--prior: '%s' is not a probability; expected a number in (0, 1), such as 0.001",
                        text);
    return SOTTO_OK;
}

static sotto_status write_card(const struct options *o, const char *name, const struct sotto_context *ctx)
{
    char *card = NULL;
    if (!option_given(o, name))
        return SOTTO_OK;
    sotto_status status = sotto_certificate_card(&card, option_argument(o, 0), option_text(o, "ledger"),
                                                 option_text(o, "audit"), strcmp(name, "card") != 0, ctx);
    if (status == SOTTO_OK)
        status = page_file_write(option_text(o, name), card);
    sotto_text_free(card);
    return status;
}

static sotto_status verb_certificate_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    char *page = NULL;
    double prior = 0;
    if (json)
        return cli_fail(SOTTO_EUSAGE, "certificate: the page has no JSON form; use 'sotto verify --json'");
    sotto_status status = read_prior(&prior, option_text(o, "prior"));
    if (status == SOTTO_OK)
        status = sotto_certificate_page_audited(
            &page, option_argument(o, 0), option_text(o, "ledger"), option_text(o, "audit"),
            option_flag(o, "html") ? 1 + option_flag(o, "force") : 0, prior, ctx);
    if (status != SOTTO_OK && status != SOTTO_EGATE && status != SOTTO_EUNDECIDED)
        return status;
    sotto_status written = page_file_write(option_text(o, "output"), page);
    sotto_text_free(page);
    if (written == SOTTO_OK && status == SOTTO_OK)
        written = write_card(o, "card", ctx);
    if (written == SOTTO_OK && status == SOTTO_OK)
        written = write_card(o, "model-card", ctx);
    return written == SOTTO_OK ? status : written;
}

const struct verb verb_certificate = {
    .name = "certificate",
    .summary = "show a certificate as one page for a privacy officer, in text or HTML",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  sotto certificate private.safetensors --ledger ledger.jsonl --prior 0.001\n"
                "  sotto certificate private.safetensors.certificate.json --html -o certificate.html",
    .floor = FLOOR_CORE,
    .ranks = RANK_0,
    .own = "ledger|html|prior|force|card|model-card|audit",
    .options = rows,
    .most_used = "ledger|prior|html|output|json",
    .run = verb_certificate_run};
