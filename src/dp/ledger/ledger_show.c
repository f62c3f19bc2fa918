/* What an officer does with a ledger: open it with a budget, and read it. */
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sotto_status sotto_ledger_find(char **path, const char *dataset_id)
{
    sotto_status status = SOTTO_OK;
    char *found = NULL;
    TRY(registry_find(&found, dataset_id));
    if (!found)
        TRY(ledger_default_path(&found, dataset_id));
    *path = found;
done:
    return status;
}

sotto_status sotto_ledger_init(char **path, const char *dataset_id, const char *ledger,
                               struct sotto_dp budget, const char *contact,
                               const struct sotto_source_records *source, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct charge charge = {.lock = -1};
    char *copy = NULL;
    if (budget.delta == SOTTO_DELTA_PURE)
        budget.delta = 0;
    REQUIRE(budget.epsilon > 0, "budget epsilon must be > 0 (got %g)", budget.epsilon);
    TRY(ledger_require_budget(budget));
    TRY(charge_identity(&dataset_id, dataset_id, NULL));
    TRY(charge_open(&charge, dataset_id, ledger, source, ctx));
    if (!(copy = base_strdup(charge.ledgers[0].path)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", dataset_id);
    TRY(ledger_set_budget(&charge.ledgers[0], budget, contact));
    *path = copy;
    copy = NULL;
done:
    base_free(copy);
    charge_close(&charge);
    return status;
}

/* ---- reading ---- */

struct shown {
    struct json *entries;
    double delta; /* that totals are at: the budget's, else the largest of the entries */
    bool budget;
    const char *contact; /* borrowed while an entry is read */
    const struct sotto_context *ctx;
};

static bool is_charge(const char *event)
{
    return strcmp(event, "release") == 0 || strcmp(event, "reserve") == 0 || strcmp(event, "import") == 0;
}

static sotto_status find_delta(void *state, const struct ledger *l, const struct json *entry)
{
    struct shown *s = state;
    const char *event = json_text(json_find(entry, "event"));
    s->budget = !isnan(l->budget.epsilon);
    if (s->budget)
        s->delta = l->budget.delta;
    else if (is_charge(event))
        s->delta = fmax(s->delta, json_number(json_find(entry, "delta")));
    return SOTTO_OK;
}

static void copy_member(struct json **to, const struct json *from, const char *key, const char *as)
{
    const struct json *found = json_find(from, key);
    json_put(to, as, found ? json_clone(found) : json_make_null());
}

static sotto_status show_entry(void *state, const struct ledger *l, const struct json *entry)
{
    static const char *const plain[] = {"index",     "time",  "event",       "purpose", "mechanism",
                                        "adjacency", "delta", "same_people", "contact", "to"};
    sotto_status status = SOTTO_OK;
    struct shown *s = state;
    struct sotto_account total;
    const char *event = json_text(json_find(entry, "event"));
    struct json *one = json_make_object();
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (json_find(entry, plain[i]))
            copy_member(&one, entry, plain[i], plain[i]);
    if (strcmp(event, "records") == 0)
        copy_member(&one, entry, "count", "records");
    if (strcmp(event, "budget") == 0)
        copy_member(&one, entry, "epsilon", "epsilon");
    if (is_charge(event)) {
        TRY(ledger_total_account(&total, l, s->delta, s->ctx));
        copy_member(&one, entry, "epsilon.upper", "epsilon");
        copy_member(&one, entry, "sensitivity.source", "sensitivity");
        json_put_real(&one, "total", total.epsilon.upper);
    }
    json_push(&s->entries, one);
    one = NULL;
done:
    json_free(one);
    return status;
}

static sotto_status read_ledger(struct json **out, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger l = {.fd = -1};
    struct shown s = {.entries = json_make_array(), .ctx = ctx};
    struct json *doc = NULL, *budget = NULL;
    struct sotto_account total;
    TRY(ledger_walk(&l, path, find_delta, &s));
    ledger_close(&l);
    TRY(ledger_walk(&l, path, show_entry, &s));
    TRY(ledger_total_account(&total, &l, s.delta, ctx));
    doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.ledger_show/1");
    json_put_text(&doc, "ledger", path);
    json_put_text(&doc, "dataset_id", l.records.dataset_id[0] ? l.records.dataset_id : NULL);
    json_put_integer(&doc, "records", (int64_t)l.records.count);
    if (s.budget) {
        budget = json_make_object();
        json_put_real(&budget, "epsilon", l.budget.epsilon);
        json_put_real(&budget, "delta", l.budget.delta);
        json_put_text(&budget, "set_by", l.officer ? "officer" : "a release");
    }
    json_put(&doc, "budget", budget ? budget : json_make_null());
    json_put_text(&doc, "moved_to", l.moved);
    json_put_real(&doc, "delta", s.delta);
    json_put_real(&doc, "total", total.epsilon.upper);
    json_put(&doc, "entries", s.entries);
    s.entries = NULL;
    *out = doc;
done:
    json_free(s.entries);
    ledger_close(&l);
    return status;
}

sotto_status sotto_ledger_show(char **json, const char *ledger, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(read_ledger(&doc, ledger, ctx));
    TRY(json_dump(json, doc, JSON_PRETTY));
done:
    json_free(doc);
    return status;
}

/* ---- a table ---- */

static void write_number(char out[16], const struct json *entry, const char *key)
{
    const struct json *found = json_member(entry, key);
    enum json_kind kind = json_kind(found);
    if (kind == JSON_KIND_REAL || kind == JSON_KIND_INTEGER)
        snprintf(out, 16, "%.6g", json_number(found));
    else
        snprintf(out, 16, "%s", found ? "none" : "");
}

static const char *text_or(const struct json *entry, const char *key, const char *missing)
{
    const char *text = json_text(json_member(entry, key));
    return text ? text : missing;
}

static void write_row(FILE *out, const struct json *entry)
{
    const char *event = text_or(entry, "event", "");
    char epsilon[16], total[16], what[64];
    write_number(epsilon, entry, "epsilon");
    write_number(total, entry, "total");
    const char *adjacency = text_or(entry, "adjacency", "replace-one");
    if (is_charge(event))
        snprintf(what, sizeof what, "%.40s%s%.15s", text_or(entry, "mechanism", event),
                 strcmp(adjacency, "replace-one") == 0 ? "" : ", ",
                 strcmp(adjacency, "replace-one") == 0 ? "" : adjacency);
    else if (strcmp(event, "records") == 0)
        snprintf(what, sizeof what, "(%lld records)", (long long)json_whole(json_member(entry, "records")));
    else
        snprintf(what, sizeof what, "(%.40s)", event);
    fprintf(out, "%-20s  %-32.32s  %-22s  %10s  %10s\n", text_or(entry, "time", ""),
            is_charge(event) ? text_or(entry, "purpose", "")
                             : text_or(entry, "contact", text_or(entry, "to", "")),
            what, epsilon, total);
}

static void write_end(FILE *out, const struct json *doc)
{
    char total[16], epsilon[16], delta[16];
    const struct json *budget = json_member(doc, "budget");
    write_number(total, doc, "total");
    write_number(delta, doc, "delta");
    fprintf(out, "total: epsilon %s at delta %s (replace-one), proved and conditional together", total,
            delta);
    if (json_kind(budget) == JSON_KIND_OBJECT) {
        write_number(epsilon, budget, "epsilon");
        fprintf(out, "; budget %s, set by %s", epsilon, text_or(budget, "set_by", ""));
    }
    fputc('\n', out);
    if (text_or(doc, "moved_to", NULL))
        fprintf(out, "moved to %s, where it goes on\n", text_or(doc, "moved_to", ""));
}

sotto_status sotto_ledger_table(char **text, const char *ledger, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    char *made = NULL, *copy = NULL;
    size_t size;
    FILE *out = NULL;
    TRY(read_ledger(&doc, ledger, ctx));
    out = open_memstream(&made, &size);
    if (!out)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", ledger);
    fprintf(out, "%-20s  %-32s  %-22s  %10s  %10s\n", "time", "purpose", "mechanism", "epsilon", "total");
    const struct json *entries = json_member(doc, "entries");
    for (size_t i = 0; i < json_count(entries); i++)
        write_row(out, json_at(entries, i));
    write_end(out, doc);
    bool whole = fclose(out) == 0;
    out = NULL;
    if (!whole || !(copy = base_strdup(made)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", ledger);
    *text = copy;
done:
    if (out)
        fclose(out);
    free(made);
    json_free(doc);
    return status;
}
