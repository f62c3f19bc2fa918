/* sotto certificate: a certificate as one page for people. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Files"),
    {"ledger", OPTION_TEXT, "FILE", NULL, "ledger that was charged: checks it, and shows budget and total"},
    {"output", OPTION_TEXT, "FILE", NULL, "file for the page (default: standard output)", "o"},
    OPTION_GROUP("Form"),
    {"html", OPTION_FLAG, NULL, NULL, "page of HTML which prints on paper, instead of text"},
    OPTION_END};

static sotto_status write_page(const char *path, const char *page)
{
    if (!path) {
        fputs(page, stdout);
        return SOTTO_OK;
    }
    FILE *f = fopen(path, "w");
    if (!f)
        return cli_fail(SOTTO_ECREATE, "%s: cannot be created", path);
    const int failed = fputs(page, f) < 0;
    return fclose(f) != 0 || failed ? cli_fail(SOTTO_EIO, "%s: cannot be written", path) : SOTTO_OK;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    char *page = NULL;
    if (json)
        return cli_fail(SOTTO_EUSAGE, "certificate: the page has no JSON form; use 'sotto verify --json'");
    sotto_status status = sotto_certificate_page(&page, option_argument(o, 0), option_text(o, "ledger"),
                                                 option_flag(o, "html"), ctx);
    if (status != SOTTO_OK && status != SOTTO_EGATE)
        return status;
    sotto_status written = write_page(option_text(o, "output"), page);
    sotto_text_free(page);
    return written == SOTTO_OK ? status : written;
}

const struct verb verb_certificate = {
    .name = "certificate",
    .summary = "show a certificate as one page for a privacy officer: text, or HTML to print",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  sotto certificate private.safetensors --ledger ledger.jsonl\n"
                "  sotto certificate private.safetensors.certificate.json --html -o certificate.html",
    .options = rows,
    .run = run};
