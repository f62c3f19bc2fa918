/* JSON of what is shown of a ledger. Infinite and missing values are null. */
#include "dp/ledger_view/ledger_show_json.h"
#include "dp/account/account_pld.h"
#include "dp/certificate/certificate_json.h"
#include "dp/ledger/ledger_plan.h"
#include "io/json/json.h"
#include "sotto/lab/account.h"

#include <math.h>

static sotto_status ledger_show_json_dump(char **text, struct json *object, int style)
{
    sotto_status status = json_dump(text, object, style);
    json_free(object);
    return status;
}

static struct json *column_json(const struct ledger_column *c)
{
    struct json *object = json_make_object(), *bounds = json_make_object();
    json_put_integer(&object, "releases", (int64_t)c->releases);
    json_put_real(&object, "epsilon", c->account.epsilon.upper);
    json_put_real(&object, "epsilon_lower", c->account.epsilon.lower);
    json_put_text(&object, "accountant", c->account.accountant);
    json_put_real(&object, "pure_epsilon", c->pure);
    json_put_real(&object, "zcdp_rho", c->rho);
    json_put_integer(&object, "add_remove_releases", (int64_t)c->add_remove);
    for (size_t i = 0; i < c->account.bound_count; i++)
        json_put_real(&bounds, c->account.bounds[i].name, c->account.bounds[i].epsilon);
    json_put(&object, "bounds", bounds);
    return object;
}

static struct json *interval_json(struct sotto_interval x)
{
    struct json *object = json_make_object();
    json_put_real(&object, "epsilon", x.upper);
    json_put_real(&object, "epsilon_lower", x.lower);
    return object;
}

static struct json *budget_json(struct sotto_dp budget)
{
    if (isnan(budget.epsilon))
        return json_make_null();
    struct json *object = json_make_object();
    json_put_real(&object, "epsilon", budget.epsilon);
    json_put_real(&object, "delta", budget.delta);
    return object;
}

static struct json *numbers_of(const struct adaptive *a)
{
    struct json *j = json_make_object();
    json_put_real(&j, "pure", a->pure);
    json_put_real(&j, "mu", sqrt(a->square));
    json_put_real(&j, "failure", a->failure);
    return j;
}

/* Of each column what the charge took; null: none of its boxes fitted. */
static struct json *taken_json(const struct any_order *a)
{
    struct json *list = json_make_array();
    for (size_t j = 0; j < a->columns; j++)
        json_push(&list, a->took[j] < a->offers ? numbers_of(&a->offer[a->took[j]]) : json_make_null());
    return list;
}

static struct json *columns_json(const struct adaptive_columns *columns)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < columns->count; i++) {
        const struct adaptive_column *c = &columns->column[i];
        const struct adaptive spent = adaptive_column_spent(c), left = adaptive_column_left(c);
        struct json *one = json_make_object();
        json_put_real(&one, "level", c->level);
        json_put(&one, "box", numbers_of(&c->box));
        json_put(&one, "spent", numbers_of(&spent));
        json_put(&one, "left", c->dead ? json_make_null() : numbers_of(&left));
        json_push(&list, one);
    }
    return list;
}

/* summary: with its columns; NULL: without. */
static struct json *any_order_json(const struct sotto_dp *a, size_t from,
                                   const struct ledger_summary *summary)
{
    struct json *j = json_make_object();
    if (isnan(a->epsilon)) {
        json_free(j);
        return json_make_null();
    }
    json_put_real(&j, "epsilon", a->epsilon);
    json_put_real(&j, "delta", a->delta);
    json_put_integer(&j, "from_charge", (int64_t)from);
    if (summary) {
        json_put_boolean(&j, "of_budget", summary->of_budget);
        json_put(&j, "columns", columns_json(summary->columns));
    }
    return j;
}

sotto_status ledger_totals_encode(char **json, const struct ledger_totals *t)
{
    struct json *object = json_make_object();
    json_put_text(&object, "schema", "sotto.ledger_account/1");
    json_put_integer(&object, "entries", (int64_t)t->entries);
    json_put_real(&object, "delta", t->delta);
    json_put_text(&object, "adjacency", "replace-one");
    if (t->proved.add_remove + t->conditional.add_remove > 0)
        json_put_text(&object, "converted",
                      "add-remove entries count as a group of two (a replacement removes one record and "
                      "adds one), sampled steps by the pair of a replaced record where it is known");
    if (isfinite(t->together.epsilon.upper))
        json_put(&object, "together", interval_json(t->together.epsilon));
    else
        json_put_text(&object, "together", "none");
    json_put(&object, "any_order", any_order_json(&t->any_order, t->any_order_from, NULL));
    bool none = t->conditional.releases > 0 || t->seeded > 0;
    json_put(&object, "proved", none ? json_make_text("none") : column_json(&t->proved));
    json_put(&object, "proved_releases_only", column_json(&t->proved));
    json_put(&object, "conditional", column_json(&t->conditional));
    json_put_integer(&object, "imported", (int64_t)t->imported);
    json_put_integer(&object, "seeded_releases", (int64_t)t->seeded);
    json_put_integer(&object, "not_checked", (int64_t)t->as_recorded);
    if (t->inputs_only > 0) {
        json_put_integer(&object, "inputs_only_releases", (int64_t)t->inputs_only);
        json_put_text(&object, "labels",
                      "not protected by every release: some assume public labels, and the sums hold for "
                      "records with a replaced input and an unchanged label");
    }
    json_put(&object, "budget", budget_json(t->budget));
    return ledger_show_json_dump(json, object, JSON_PRETTY);
}

static void copy_member(struct json **to, const struct json *from, const char *path, const char *as)
{
    const struct json *found = json_find(from, path);
    json_put(to, as, found ? json_clone(found) : json_make_null());
}

static int64_t slots_of(const struct event_list *plan)
{
    int64_t slots = 0;
    for (size_t i = 0; i < plan->count; i++)
        slots += (int64_t)plan_event_slots(&plan->events[i]);
    return slots;
}

sotto_status ledger_rows_add(struct json **rows, const struct ledger_line *line, double total)
{
    static const char *const plain[] = {"index",       LEDGER_CHARGE_NUMBER,
                                        "time",        "event",
                                        "purpose",     "mechanism",
                                        "adjacency",   "delta",
                                        "same_people", "contact",
                                        "to",          "unit_of_privacy",
                                        "plan",        "curator",
                                        "use",         "region",
                                        "sector",      "rationale"};
    const struct json *d = line->document;
    struct json *one = json_make_object();
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (json_find(d, plain[i]))
            copy_member(&one, d, plain[i], plain[i]);
    if (line->event == LEDGER_RECORDS)
        copy_member(&one, d, "count", "records");
    if (line->event == LEDGER_BUDGET)
        copy_member(&one, d, "epsilon", "epsilon");
    if (line->event == LEDGER_PLANNED) { /* by itself, and counted with its plan */
        copy_member(&one, d, "epsilon.upper", "epsilon");
        copy_member(&one, d, "sensitivity.source", "sensitivity");
    }
    if (line->event == LEDGER_PLAN) {
        json_put_text(&one, "id", line->hash);
        json_put_integer(&one, "slots", slots_of(&line->plan));
    }
    if (line->event == LEDGER_SETTLED) {
        copy_member(&one, d, "steps", "steps");
        copy_member(&one, d, "epsilon.upper", "epsilon");
    }
    if (ledger_event_charges(line->event)) {
        copy_member(&one, d, "epsilon.upper", "epsilon");
        if (line->event != LEDGER_PLAN)
            copy_member(&one, d, "sensitivity.source", "sensitivity");
        json_put_real(&one, "total", total);
        if (line->admission.any_order.columns > 0)
            json_put(&one, "takes", taken_json(&line->admission.any_order));
        if (line->charge.seeded)
            json_put_text(&one, "noise", "seeded: no guarantee");
    }
    if (!*rows)
        *rows = json_make_array();
    json_push(rows, one);
    return *rows ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "ledger: out of memory");
}

void ledger_rows_free(struct json *rows)
{
    json_free(rows);
}

sotto_status ledger_summary_encode(char **json, const struct ledger_summary *s, struct json **rows)
{
    struct json *doc = json_make_object(), *budget = budget_json(s->budget);
    json_put_text(&doc, "schema", "sotto.ledger_show/1");
    json_put_text(&doc, "ledger", s->ledger);
    json_put_text(&doc, "dataset_id", s->dataset_id);
    json_put_integer(&doc, "records", (int64_t)s->records);
    if (!isnan(s->budget.epsilon))
        json_put_text(&budget, "set_by", s->by_officer ? "officer" : "a release");
    json_put(&doc, "budget", budget);
    json_put_text(&doc, "moved_to", s->moved);
    json_put_real(&doc, "delta", s->delta);
    json_put_real(&doc, "total", s->total);
    json_put(&doc, "any_order", any_order_json(&s->any_order, s->any_order_from, s));
    json_put_integer(&doc, "seeded_releases", (int64_t)s->seeded);
    json_put_integer(&doc, "not_checked", (int64_t)s->as_recorded);
    json_put_text(&doc, "unit_of_privacy", s->unit);
    json_put(&doc, "entries", *rows ? *rows : json_make_array());
    *rows = NULL;
    return ledger_show_json_dump(json, doc, JSON_PRETTY);
}

static void put_norm(struct json **slot, const char *name, double norm)
{
    json_put(slot, name, isnan(norm) ? json_make_null() : json_make_real(norm));
}

static void put_noise_asked(struct json **slot, const struct sotto_event *e)
{
    json_put_real(slot, "scale", e->scale);
    put_norm(slot, "l1", e->l1);
    put_norm(slot, "l2", e->l2);
    json_put_integer(slot, "dimension", (int64_t)e->dimension);
    if (e->value_step > 0)
        json_put_real(slot, "value_step", e->value_step);
}

static void put_run_asked(struct json **slot, const struct sotto_event *e)
{
    json_put_real(slot, "noise_multiplier", e->noise_multiplier);
    json_put_real(slot, "sample_rate", e->sample_rate);
    json_put_integer(slot, "steps", (int64_t)e->count);
    json_put_text(slot, "clipping", norm_name(e->clipping));
    json_put_text(slot, "sampling", sotto_sampling_name(e->sampling));
}

sotto_status charged_plan_encode(char **json, const struct charged_plan *p)
{
    struct json *doc = json_make_object(), *slots = json_make_array();
    size_t from = 1;
    for (size_t i = 0; i < p->events->count; from += plan_event_slots(&p->events->events[i++])) {
        const struct sotto_event *e = &p->events->events[i];
        struct json *slot = json_make_object();
        json_put_integer(&slot, "slot", (int64_t)from);
        json_put_integer(&slot, "count", (int64_t)plan_event_slots(e));
        json_put_text(&slot, "mechanism", e->mechanism);
        if (event_is_run(e))
            put_run_asked(&slot, e);
        else
            put_noise_asked(&slot, e);
        json_push(&slots, slot);
    }
    json_put_text(&doc, "schema", "sotto.plan/1");
    json_put_text(&doc, "plan", p->id);
    json_put_text(&doc, "ledger", p->ledger);
    json_put_integer(&doc, LEDGER_CHARGE_NUMBER, (int64_t)p->charge);
    account_put(&doc, p->account);
    json_put(&doc, "slots", slots);
    return ledger_show_json_dump(json, doc, JSON_PRETTY);
}
