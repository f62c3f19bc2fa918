/* A plan is charged: all its releases as one entry, before the first of them is made. */
#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/spend.h"
#include "dp/ledger_view/ledger_show_json.h"
#include "sotto/lab/account.h"

#include <stdio.h>
#include <stdlib.h>

/* Accounted together, by whatever composes best: nothing of it is chosen later. */
static sotto_status account_together(struct sotto_account *out, const struct event_list *events, double delta,
                                     const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_account_events(out, events->events, events->count, delta, SOTTO_REPLACE_ONE, ctx));
    TRY(account_require_finite(out));
done:
    return status;
}

/* Nothing where it is not asked. */
static void write_number(FILE *out, const char *name, double x)
{
    if (x > 0)
        fprintf(out, ", %s %.17g", name, x);
}

static void write_noise(FILE *out, const struct sotto_event *e)
{
    write_number(out, "scale", e->scale);
    write_number(out, "l1", e->l1);
    write_number(out, "l2", e->l2);
    fprintf(out, ", dimension %zu", e->dimension);
    write_number(out, "value_step", e->value_step);
}

static void write_run(FILE *out, const struct sotto_event *e)
{
    write_number(out, "noise_multiplier", e->noise_multiplier);
    write_number(out, "sample_rate", e->sample_rate);
    fprintf(out, ", steps %zu, clipping %s, sampling %s", e->count, norm_name(e->clipping),
            sotto_sampling_name(e->sampling));
}

static void write_slots(FILE *out, const struct charged_plan *p)
{
    bool runs = false, releases = false;
    size_t slot = 1;
    fprintf(out, "plan %s: epsilon %.6g at delta %g (replace-one), charged to %s\n", p->id,
            p->account->epsilon.upper, p->account->delta, p->ledger);
    for (size_t i = 0; i < p->events->count; slot += plan_event_slots(&p->events->events[i++])) {
        const struct sotto_event *e = &p->events->events[i];
        const size_t count = plan_event_slots(e);
        const bool run = event_is_run(e);
        char slots[64];
        snprintf(slots, sizeof slots, count > 1 ? "%zu to %zu" : "%zu", slot, slot + count - 1);
        fprintf(out, "  slot %s: %s", slots, e->mechanism);
        (run ? write_run : write_noise)(out, e);
        runs = runs || run;
        releases = releases || !run;
        fputc('\n', out);
    }
    fprintf(out, "each costs nothing more, once: sotto %s --planned %.16s:K\n",
            !runs      ? "protect"
            : releases ? "protect, head or train"
                       : "head or train",
            p->id);
}

static sotto_status table_of(char **table, const struct charged_plan *p)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL, *copy = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    if (out)
        write_slots(out, p);
    if (!out || fclose(out) != 0 || !(copy = base_strdup(made)))
        FAIL(SOTTO_ENOMEM, "plan: out of memory");
    *table = copy;
done:
    free(made);
    return status;
}

static sotto_status plan_charge_show(char **json, char **table, const struct charged_plan *p)
{
    sotto_status status = SOTTO_OK;
    char *document = NULL;
    if (json)
        TRY(charged_plan_encode(&document, p));
    if (table)
        TRY(table_of(table, p));
    if (json)
        *json = document;
    document = NULL;
done:
    base_free(document);
    return status;
}

sotto_status sotto_ledger_plan(char **json, char **table, const char *events, double delta,
                               const struct sotto_spend *spend, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(events, spend);
    sotto_status status = SOTTO_OK;
    char condition[CONDITION_TEXT];
    struct charge charge = {.lock = {.fd = -1}};
    struct event_list list = {NULL, 0};
    struct sotto_account account;
    struct privacy_unit unit = {0};
    struct charge_entry entry = {
        .event = LEDGER_PLAN, .purpose = spend->purpose, .unit = &unit, .account = &account, .plan = &list};
    delta = spend_delta(delta, 0);
    REQUIRE(!spend->insecure, "plan: draws no noise; omit the seed");
    TRY(spend_check(&entry.dataset_id, condition, &unit, spend));
    entry.condition = condition[0] ? condition : NULL;
    TRY(events_load(&list, events));
    TRY(plan_prepare(&list, &unit));
    TRY(account_together(&account, &list, delta, ctx));
    TRY(charge_open(&charge, entry.dataset_id, spend->ledger, spend->source, ctx));
    struct ledger *own = &charge.ledgers[0];
    TRY(ledger_name_budget(own, spend_budget(spend), delta));
    TRY(charge_enter(&charge, &entry, ctx));
    TRY(plan_charge_show(json, table,
                         &(struct charged_plan){.id = own->last,
                                                .ledger = own->path,
                                                .charge = own->charges - 1,
                                                .events = &list,
                                                .account = &account}));
done:
    events_free(&list);
    charge_close(&charge);
    return status;
}
