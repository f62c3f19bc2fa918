/* Files written beside the page: the model card as Markdown, and the table of attacks as CSV. */
#include "base/file.h"
#include "report/page/page.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report_files_asked(struct page *p, const struct report *r, const char *label, const char *path)
{
    const char *text = part_text(r->doc, path);
    page_format(p, "- **%s:** ", label);
    if (text && text[0])
        page_markdown(p, text);
    else
        page_html(p, "(to be filled in)");
    page_html(p, "\n");
}

static void plain_estimate(struct page *p, const struct estimate *e, double factor)
{
    if (!e->given || isnan(e->value))
        page_html(p, "-");
    else
        page_format(p, "%.3g [%.3g, %.3g]", factor * e->value, factor * e->lower, factor * e->upper);
}

static void card_row(struct page *p, const struct report_row *row)
{
    page_html(p, "\n## ");
    page_markdown(p, row->title);
    page_format(p, "\n\n- **Private records:** %zu\n- **Verdict:** %s. ", row->records,
                sotto_verdict_name(row->verdict));
    page_markdown(p, row->verdict_text);
    page_html(p, "\n- **Proved:** ");
    if (row->proof_counts) {
        page_html(p, "epsilon at most ");
        page_rounded_up(p, row->proved.upper);
        page_format(p, ", delta %.3g", row->proved.delta);
    } else
        page_html(p, "nothing");
    page_html(p, "\n- **Accuracy on held-out records:** ");
    plain_estimate(p, &row->accuracy, 1);
    page_html(p, "\n");
    if (!row->attack_count)
        return;
    page_html(p, "\n| attack | AUC | balanced accuracy | epsilon is at least |\n|---|---|---|---|\n");
    for (size_t i = 0; i < row->attack_count; i++) {
        const struct attack_result *a = &row->attacks[i];
        page_html(p, "| ");
        page_markdown(p, a->name);
        page_html(p, " | ");
        plain_estimate(p, &a->auc, 1);
        page_html(p, " | ");
        plain_estimate(p, &a->balanced, 1);
        isnan(a->epsilon) ? page_html(p, " | - |\n") : page_format(p, " | %.3g |\n", a->epsilon);
    }
}

static void write_card(struct page *p, const struct report *r)
{
    page_html(p, "# Model card: ");
    page_markdown(p, r->title);
    page_html(p, "\n\nMade by sotto from report.json. It documents tests and proofs; it is not a "
                 "certification.\nBrackets hold intervals; an AUC of 0.5 is guessing.\n\n");
    report_files_asked(p, r, "Intended use", "card.intended_use");
    report_files_asked(p, r, "Not intended for", "card.not_intended_for");
    report_files_asked(p, r, "Licence", "card.licence");
    report_files_asked(p, r, "Contact", "card.contact");
    report_files_asked(p, r, "Reviewed by, date", "card.reviewed_by");
    page_html(p, "- **Limits:** tested only against the attacks listed here, on the records of one trained "
                 "model; attacks ask about single records, and a guarantee names its own unit of privacy.\n");
    for (size_t i = 0; i < r->row_count; i++)
        card_row(p, &r->rows[i]);
}

/* Quoted; a spreadsheet takes a cell that starts with one of =+-@ for a formula. */
static void csv_text(struct page *p, const char *text)
{
    page_html(p, "\"");
    if (text && *text && strchr("=+-@\t\r", *text))
        page_html(p, "'");
    for (; text && *text; text++) {
        size_t skip = page_hidden_mark(text);
        if (*text == '"')
            page_html(p, "\"");
        if (skip)
            text += skip - 1;
        else if ((unsigned char)*text < ' ')
            page_html(p, " ");
        else
            page_bytes(p, text, 1);
    }
    page_html(p, "\"");
}

static void csv_number(struct page *p, double x)
{
    isnan(x) ? page_html(p, ",") : page_format(p, ",%.9g", x);
}

static void csv_estimate(struct page *p, const struct estimate *e)
{
    csv_number(p, e->given ? e->value : NAN);
    csv_number(p, e->given ? e->lower : NAN);
    csv_number(p, e->given ? e->upper : NAN);
}

/* One line for each attack and rate, so that every table has the same columns. */
static void write_table(struct page *p, const struct report *r)
{
    page_html(
        p,
        "setting,attack,members,nonmembers,auc,auc_lower,auc_upper,balanced_accuracy,balanced_accuracy_lower,"
        "balanced_accuracy_upper,advantage,epsilon_lower_bound,fpr,tpr,tpr_lower,tpr_upper\n");
    for (size_t i = 0; i < r->row_count; i++)
        for (size_t k = 0; k < r->rows[i].attack_count; k++) {
            const struct attack_result *a = &r->rows[i].attacks[k];
            const char *key = json_first_key(a->rates);
            do {
                const struct json *rate = key ? json_member(a->rates, key) : NULL;
                csv_text(p, r->rows[i].name);
                page_html(p, ",");
                csv_text(p, a->name);
                page_format(p, ",%zu,%zu", a->n_member, a->n_nonmember);
                csv_estimate(p, &a->auc);
                csv_estimate(p, &a->balanced);
                csv_number(p, a->advantage);
                csv_number(p, a->epsilon);
                csv_number(p, key ? strtod(key, NULL) : NAN);
                csv_number(p, part_number(rate, "estimate"));
                csv_number(p, part_number(rate, "lower"));
                csv_number(p, part_number(rate, "upper"));
                page_html(p, "\n");
                key = key ? json_next_key(a->rates, key) : NULL;
            } while (key);
        }
}

static sotto_status write_file(const char *folder, const char *name, const struct page *p)
{
    sotto_status status = SOTTO_OK;
    char path[4096];
    if (p->failed)
        FAIL(SOTTO_ENOMEM, "report: out of memory for %s", name);
    TRY(path_join(path, sizeof path, folder, name));
    TRY(file_write(path, p->text, p->used));
done:
    return status;
}

sotto_status report_write_files(const char *folder, const struct report *r)
{
    sotto_status status = SOTTO_OK;
    struct page card = {0}, table = {0};
    write_card(&card, r);
    write_table(&table, r);
    TRY(write_file(folder, "MODEL_CARD.md", &card));
    TRY(write_file(folder, "attacks.csv", &table));
done:
    base_free(card.text);
    base_free(table.text);
    return status;
}
