/* What an officer does with a ledger: open it with a budget, and read it. */
#include "dp/ledger/charge.h"
#include "dp/ledger_view/ledger_show_json.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/ledger_registry.h"
#include "io/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sotto_status sotto_ledger_find(char **path, const char *dataset_id)
{
    REQUIRE_GIVEN(path, dataset_id);
    sotto_status status = SOTTO_OK;
    char *found = NULL;
    TRY(registry_find(&found, dataset_id));
    if (!found)
        TRY(ledger_default_path(&found, dataset_id));
    *path = found;
done:
    return status;
}

enum { CARD_TEXT = 300 };

static sotto_status check_card(const struct sotto_ledger_card *c)
{
    sotto_status status = SOTTO_OK;
    const char *const said[] = {c->curator, c->use, c->region, c->sector, c->rationale};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        REQUIRE(!said[i] || strlen(said[i]) <= CARD_TEXT,
                "'%.20s...' has %zu bytes; expected at most %d, so that it fits on a certificate", said[i],
                strlen(said[i]), CARD_TEXT);
done:
    return status;
}

sotto_status sotto_ledger_init_card(char **path, const char *dataset_id, const char *ledger,
                                    struct sotto_dp budget, const struct sotto_ledger_column *columns,
                                    size_t n, const struct sotto_ledger_card *card,
                                    const struct sotto_source_records *source,
                                    const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(path, dataset_id, card);
    sotto_status status = SOTTO_OK;
    struct charge charge = {.lock = {.fd = -1}};
    struct adaptive_columns checked;
    char *copy = NULL;
    if (budget.delta == SOTTO_DELTA_PURE)
        budget.delta = 0;
    REQUIRE(budget.epsilon > 0, "budget epsilon must be > 0 (got %g)", budget.epsilon);
    TRY(ledger_require_budget(budget));
    TRY(check_card(card));
    if (n > 0) /* before there is a file */
        TRY(adaptive_columns_open(&checked, budget.epsilon, budget.delta, columns, n));
    TRY(charge_identity(&dataset_id, dataset_id, NULL));
    TRY(charge_open(&charge, dataset_id, ledger, source, ctx));
    NEW_TEXT(copy, charge.ledgers[0].path);
    TRY(ledger_set_budget(&charge.ledgers[0], budget, card, columns, n, ctx));
    *path = copy;
    copy = NULL;
done:
    base_free(copy);
    charge_close(&charge);
    return status;
}

sotto_status sotto_ledger_init(char **path, const char *dataset_id, const char *ledger,
                               struct sotto_dp budget, const char *contact,
                               const struct sotto_source_records *source, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(path, dataset_id);
    const struct sotto_ledger_card card = {.contact = contact};
    return sotto_ledger_init_card(path, dataset_id, ledger, budget, NULL, 0, &card, source, ctx);
}

sotto_status sotto_ledger_init_columns(char **path, const char *dataset_id, const char *ledger,
                                       struct sotto_dp budget, const struct sotto_ledger_column *columns,
                                       size_t n, const char *contact,
                                       const struct sotto_source_records *source,
                                       const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(path, dataset_id, columns);
    const struct sotto_ledger_card card = {.contact = contact};
    return n > 0 ? sotto_ledger_init_card(path, dataset_id, ledger, budget, columns, n, &card, source, ctx)
                 : status_fail(SOTTO_EINVAL, "ledger: 0 columns are given; expected 1 to %d",
                               ADAPTIVE_COLUMNS - 1);
}

/* ---- reading ---- */

/* Goes to one of two places. */
struct shown {
    struct json *rows;
    FILE *table;  /* NULL: rows */
    double delta; /* that totals are at: the budget's, else the largest of the entries */
    const struct sotto_context *ctx;
    char unit[UNIT_TEXT];
    char dataset_id
        [SOTTO_DATASET_ID]; /* that the entries are charged to: a public set's ledger holds no records */
};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

enum { PURPOSE = 32 /* characters */ };

static const char *ledger_show_number(char out[16], double x)
{
    snprintf(out, 16, isfinite(x) ? "%.6g" : "none", x);
    return out;
}

/* The boxes that columns took of a charge, each once: pure epsilon, mu, failure. */
static void write_taken(FILE *out, const struct any_order *a)
{
    char numbers[3][16];
    bool written[ADAPTIVE_OFFERS] = {false};
    const char *before = "  ";
    for (size_t j = 0; j < a->columns; j++) {
        const size_t i = a->took[j];
        if (i >= a->offers || written[i])
            continue;
        written[i] = true;
        fprintf(out, "%s(%s, %s, %s)", before, ledger_show_number(numbers[0], a->offer[i].pure),
                ledger_show_number(numbers[1], sqrt(a->offer[i].square)),
                ledger_show_number(numbers[2], a->offer[i].failure));
        before = " or ";
    }
}

static void write_charge(FILE *out, const struct ledger_line *line, double total)
{
    const struct ledger_charge *c = &line->charge;
    const char *name = c->mechanism ? c->mechanism : ledger_event_name(line->event);
    bool usual = !c->adjacency || strcmp(c->adjacency, "replace-one") == 0;
    char what[64], epsilon[16], sum[16], purpose[4 * PURPOSE + 1];
    if (line->event == LEDGER_PLAN) /* by which its releases name it */
        snprintf(what, sizeof what, "plan %.16s", or_empty(line->hash));
    else
        snprintf(what, sizeof what, "%s%.40s%s%.15s", c->seeded ? "SEEDED " : "", name, usual ? "" : ", ",
                 usual ? "" : c->adjacency);
    fprintf(out, "%-20s  %s  %-22s  %10s  %10s", or_empty(line->time),
            utf8_column(purpose, or_empty(c->purpose), PURPOSE), what,
            ledger_show_number(epsilon, c->epsilon), ledger_show_number(sum, total));
    write_taken(out, &line->admission.any_order);
    fputc('\n', out);
}

static void write_row(FILE *out, const struct ledger_line *line)
{
    char what[64], epsilon[16] = "", purpose[4 * PURPOSE + 1];
    if (line->event == LEDGER_RECORDS)
        snprintf(what, sizeof what, "(%zu records)", line->hashes.count);
    else if (line->event == LEDGER_PLANNED)
        snprintf(what, sizeof what, "(slot %zu of %.8s)", line->slot.slot, line->slot.plan);
    else if (line->event == LEDGER_SETTLED)
        snprintf(what, sizeof what, "(settled: %zu steps)", line->settlement.steps);
    else
        snprintf(what, sizeof what, "(%s)", ledger_event_name(line->event));
    const char *whose = line->event == LEDGER_PLANNED ? line->charge.purpose : line->contact;
    if (line->event == LEDGER_SETTLED)
        ledger_show_number(epsilon, line->charge.epsilon);
    if (line->event == LEDGER_BUDGET)
        ledger_show_number(epsilon, line->budget.epsilon);
    fprintf(out, "%-20s  %s  %-22s  %10s  %10s\n", or_empty(line->time),
            utf8_column(purpose, or_empty(whose ? whose : line->to), PURPOSE), what, epsilon, "");
}

static sotto_status show_line(void *state, const struct ledger *l, const struct ledger_line *line)
{
    sotto_status status = SOTTO_OK;
    struct shown *s = state;
    struct sotto_account total = {.epsilon = {NAN, NAN}};
    bool charge = ledger_event_charges(line->event);
    if (charge)
        TRY(ledger_total_account(&total, l, s->delta, s->ctx));
    if (charge && line->charge.dataset_id)
        snprintf(s->dataset_id, sizeof s->dataset_id, "%s", line->charge.dataset_id);
    if (!s->table)
        TRY(ledger_rows_add(&s->rows, line, total.epsilon.upper));
    else if (charge)
        write_charge(s->table, line, total.epsilon.upper);
    else
        write_row(s->table, line);
done:
    return status;
}

/* *l stays open, as the summary borrows its texts. */
static sotto_status ledger_show_summary(struct ledger_summary *out, struct ledger *l, struct shown *s,
                                        const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_account total;
    TRY(ledger_read(l, path));
    s->delta = isnan(l->budget.epsilon) ? l->delta : l->budget.delta;
    ledger_close(l);
    TRY(ledger_walk(l, path, show_line, s));
    ledger_warn_of_cut(l, s->ctx);
    TRY(ledger_total_account(&total, l, s->delta, s->ctx));
    unit_word(s->unit, &l->unit);
    *out = (struct ledger_summary){.ledger = path,
                                   .unit = s->unit,
                                   .dataset_id = l->records.dataset_id[0] ? l->records.dataset_id
                                                 : s->dataset_id[0]       ? s->dataset_id
                                                                          : NULL,
                                   .moved = l->moved,
                                   .records = l->records.count,
                                   .budget = l->budget,
                                   .by_officer = l->officer,
                                   .delta = s->delta,
                                   .total = total.epsilon.upper,
                                   .columns = &l->columns,
                                   .any_order = ledger_any_order(l),
                                   .any_order_from = l->columns_from,
                                   .of_budget = ledger_columns_are_of_budget(l),
                                   .seeded = l->seeded,
                                   .as_recorded = ledger_as_recorded(l)};
done:
    return status;
}

sotto_status sotto_ledger_show(char **json, const char *ledger, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(json, ledger);
    sotto_status status = SOTTO_OK;
    struct ledger l = {.lock = {.fd = -1}};
    struct ledger_summary summary;
    struct shown s = {.ctx = ctx};
    TRY(ledger_show_summary(&summary, &l, &s, ledger));
    TRY(ledger_summary_encode(json, &summary, &s.rows));
done:
    ledger_rows_free(s.rows);
    ledger_close(&l);
    return status;
}

/* ---- a table ---- */

/* The total counts all parameters as fixed beforehand; columns were. */
static void write_any_order(FILE *out, const struct ledger_summary *s)
{
    char epsilon[16], delta[16], numbers[6][16];
    if (isnan(s->any_order.epsilon))
        return;
    fprintf(out, "any order of choices: epsilon %s at delta %s, %s",
            ledger_show_number(epsilon, s->any_order.epsilon), ledger_show_number(delta, s->any_order.delta),
            !s->of_budget                               ? "the first level that holds"
            : s->any_order.epsilon == s->budget.epsilon ? "the budget"
                                                        : "the budget that its columns were fixed for");
    if (s->any_order_from > 0)
        fprintf(out, "; from charge %zu on: what was before counts as chosen beforehand", s->any_order_from);
    if (!s->of_budget && !isnan(s->budget.epsilon))
        fputs("; the budget's columns are fixed with the next charge", out);
    fputs("; the total is what holds if all parameters had been fixed beforehand\n", out);
    for (size_t i = 0; i < s->columns->count; i++) {
        const struct adaptive_column *c = &s->columns->column[i];
        const struct adaptive left = adaptive_column_left(c);
        if (!s->of_budget)
            continue;
        fprintf(out, "  column (pure %s, mu %s, failure %s) ", ledger_show_number(numbers[0], c->box.pure),
                ledger_show_number(numbers[1], sqrt(c->box.square)),
                ledger_show_number(numbers[2], c->box.failure));
        if (c->dead)
            fputs("is dead: a charge did not fit into it\n", out);
        else
            fprintf(out, "has left pure %s, mu %s, failure %s\n", ledger_show_number(numbers[3], left.pure),
                    ledger_show_number(numbers[4], sqrt(left.square)),
                    ledger_show_number(numbers[5], left.failure));
    }
}

static void write_end(FILE *out, const struct ledger_summary *s)
{
    char total[16], epsilon[16], delta[16];
    fprintf(out, "total: epsilon %s at delta %s (replace-one), proved and conditional together",
            ledger_show_number(total, s->total), ledger_show_number(delta, s->delta));
    fprintf(out, "; unit of privacy: %s", s->unit);
    if (!isnan(s->budget.epsilon))
        fprintf(out, "; budget %s, set by %s", ledger_show_number(epsilon, s->budget.epsilon),
                s->by_officer ? "officer" : "a release");
    fputc('\n', out);
    write_any_order(out, s);
    if (s->as_recorded)
        fprintf(out,
                "NOT checked: the epsilon that %zu of its charges recorded, beside their own facts (curves, "
                "as of "
                "sampled steps; plans; what was stated)\n",
                s->as_recorded);
    if (s->seeded)
        fprintf(out, "%zu of its releases used seeded noise, which gives no guarantee\n", s->seeded);
    if (s->moved)
        fprintf(out, "moved to %s, where it goes on\n", s->moved);
}

static void write_plans(FILE *out, const struct ledger *l)
{
    for (size_t i = 0; i < l->charges; i++) {
        const struct ledger_plan *p = l->items[i].plan;
        if (p)
            fprintf(out, "plan %.16s: %zu of %zu slots spent\n", l->items[i].hash, ledger_plan_spent(p),
                    p->slots);
    }
}

sotto_status sotto_ledger_table(char **text, const char *ledger, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(text, ledger);
    sotto_status status = SOTTO_OK;
    struct ledger l = {.lock = {.fd = -1}};
    struct ledger_summary summary;
    struct shown s = {.ctx = ctx};
    char *made = NULL, *copy = NULL;
    size_t size;
    s.table = open_memstream(&made, &size);
    if (!s.table)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", ledger);
    fprintf(s.table, "%-20s  %-32s  %-22s  %10s  %10s  %s\n", "time", "purpose", "mechanism", "epsilon",
            "total", "takes (pure, mu, failure)");
    TRY(ledger_show_summary(&summary, &l, &s, ledger));
    write_end(s.table, &summary);
    write_plans(s.table, &l);
    bool whole = fclose(s.table) == 0;
    s.table = NULL;
    if (!whole || !(copy = base_strdup(made)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", ledger);
    *text = copy;
done:
    if (s.table)
        fclose(s.table);
    free(made);
    ledger_close(&l);
    return status;
}
