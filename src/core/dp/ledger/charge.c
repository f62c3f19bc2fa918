#include "dp/ledger/charge.h"
#include "base/file.h"
#include "dp/account/account_pld.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/ledger_registry.h"
#include "io/provenance/dataset_id.h"
#include "sotto/lab/account.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LEDGERS = 33 };

sotto_status charge_identity(const char **dataset_id, const char *given, const struct sotto_provenance *p)
{
    sotto_status status = SOTTO_OK;
    const char *carried = p ? p->dataset_id : "";
    bool named = given && given[0];
    REQUIRE(named || carried[0], "the private data set has no identity; give {dataset_id||dataset}, or "
                                 "import it with 'sotto data import'");
    REQUIRE(!named || !carried[0] || strcmp(given, carried) == 0,
            "the records belong to data set '%.80s', not to '%.80s'; omit {dataset_id||dataset}", carried,
            given);
    TRY(dataset_id_check(named ? given : carried));
    *dataset_id = named ? given : carried;
done:
    return status;
}

void charge_close(struct charge *c)
{
    for (size_t i = 0; i < c->count; i++)
        ledger_close(&c->ledgers[i]);
    base_free(c->ledgers);
    ledger_lock_close(&c->lock);
    *c = (struct charge){.lock = {.fd = -1}};
}

static bool is_public(const struct charge *c)
{
    return c->source && c->source->public_set;
}

/* Its ledger may lie anywhere. */
static sotto_status open_public(struct charge *c, const char *ledger, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char *path = NULL;
    if (!ledger)
        TRY(ledger_default_path(&path, c->dataset_id));
    TRY(ledger_open(&c->ledgers[0], ledger ? ledger : path, ctx));
    c->count = 1;
    c->opened = c->ledgers[0].entries == 0;
done:
    base_free(path);
    return status;
}

static sotto_status open_known(struct charge *c, const char *known, const char *ledger,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger *own = &c->ledgers[0];
    TRY(registry_open(own, c->dataset_id, known, ctx));
    c->count = 1;
    c->opened = own->entries == 0; /* it was opened, and then nothing was charged */
    if (!ledger || registry_same_file(own->path, ledger))
        goto done;
    if (!c->source || !c->source->move_ledger)
        FAIL(SOTTO_EUSAGE,
             "the ledger of data set '%.80s' is %s, not %s; omit {ledger}, or move the ledger with "
             "{move_ledger|ledger-move}",
             c->dataset_id, own->path, ledger);
    TRY(registry_move(own, c->dataset_id, ledger, ctx));
done:
    return status;
}

static sotto_status open_same_people(struct charge *c, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const char *const *id = c->source ? c->source->same_people : NULL;
    char *path = NULL;
    for (; id && *id; id++) {
        REQUIRE(c->count < MOST_LEDGERS, "too many data sets with the same people; expected at most %d",
                MOST_LEDGERS - 1);
        base_free(path);
        path = NULL;
        TRY(registry_find(&path, *id));
        if (!path)
            FAIL(SOTTO_EUSAGE,
                 "no ledger is known for data set '%.80s'; give a data set with a charged ledger by "
                 "{same_people|same-people-as}",
                 *id);
        for (size_t i = 0; i < c->count; i++)
            if (c->ledgers[i].path && registry_same_file(path, c->ledgers[i].path))
                FAIL(SOTTO_EUSAGE,
                     "data set '%.80s' has the ledger %s, which is charged already; omit this data set", *id,
                     path);
        TRY(registry_open(&c->ledgers[c->count], *id, path, ctx));
        c->count++;
    }
done:
    base_free(path);
    return status;
}

/* ---- all of it ---- */

/* A data set without a ledger: everything is checked before a file is made, and the file is registered while it
 * is empty. */
static sotto_status open_first(struct charge *c, const char *path, const char *standard,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    c->opened = true;
    TRY(ledger_open(&c->ledgers[0], path, ctx));
    if (!registry_same_file(path, standard))
        TRY(registry_put(c->dataset_id, path));
done:
    return status;
}

static sotto_status open_private(struct charge *c, const char *ledger, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char *known = NULL, *standard = NULL;
    const char *path;
    TRY(registry_lock(&c->lock));
    TRY(registry_find(&known, c->dataset_id));
    TRY(ledger_default_path(&standard, c->dataset_id));
    if (known)
        TRY(open_known(c, known, ledger, ctx));
    path = known ? c->ledgers[0].path : ledger ? ledger : standard;
    c->count = 1; /* the first place is the own one's, opened or not */
    TRY(open_same_people(c, ctx));
    if (!known)
        TRY(open_first(c, path, standard, ctx));
done:
    base_free(known);
    base_free(standard);
    return status;
}

sotto_status charge_open(struct charge *c, const char *dataset_id, const char *ledger,
                         const struct sotto_source_records *source, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct charge opened = {.dataset_id = dataset_id, .source = source, .lock = {.fd = -1}};
    NEW(opened.ledgers, MOST_LEDGERS);
    for (size_t i = 0; i < MOST_LEDGERS; i++)
        opened.ledgers[i].lock.fd = -1;
    TRY(is_public(&opened) ? open_public(&opened, ledger, ctx) : open_private(&opened, ledger, ctx));
    *c = opened;
    opened = (struct charge){.lock = {.fd = -1}};
done:
    charge_close(&opened);
    return status;
}

/* NULL: no record is new. */
static sotto_status new_records(char **line, struct ledger *l, const struct charge *c)
{
    return is_public(c) ? SOTTO_OK : ledger_records_entry(line, &l->records, c->dataset_id, c->source);
}

/* A budget that came with it, hashes of new records, and the entry, in one piece. */
static sotto_status charge_write_entry(struct ledger *l, const struct charge *c,
                                       const struct charge_entry *entry)
{
    sotto_status status = SOTTO_OK;
    const bool alone = !l->holds;
    char *records = NULL, *line = NULL;
    TRY(new_records(&records, l, c));
    TRY(charge_entry_encode(&line, entry));
    if (alone)
        ledger_hold(l);
    TRY(ledger_write_budget(l, 1 + (records != NULL)));
    if (records)
        TRY(ledger_append(l, records));
    TRY(entry->event == LEDGER_PLANNED ? ledger_append(l, line) : ledger_append_charge(l, line));
    if (alone)
        TRY(ledger_write_held(l));
done:
    base_free(records);
    base_free(line);
    return status;
}

static void charge_announce(const struct charge *c, const struct sotto_context *ctx)
{
    if (c->opened)
        context_log(ctx, SOTTO_LOG_INFO,
                    "opened a new ledger for data set '%s': %s; it counts what this account charges on this "
                    "machine, so charges made elsewhere are not in it",
                    c->dataset_id, c->ledgers[0].path);
}

sotto_status charge_enter(struct charge *c, const struct charge_entry *entry, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct charge_entry complete = *entry;
    struct ledger_line parsed = {0};
    struct ledger_charge charge;
    struct admission *admissions = NULL;
    char *line = NULL;
    NEW(admissions, c->count);
    complete.source = c->source;
    TRY(charge_entry_encode(&line, &complete));
    TRY(ledger_line_parse(&parsed, line, strlen(line), "ledger entry"));
    if (complete.plan)
        TRY(ledger_line_plan(&parsed, "ledger entry"));
    charge = ledger_line_charge(&parsed); /* as it will be read */
    for (size_t i = 0; i < c->count; i++)
        TRY(ledger_require_unit(&c->ledgers[i], &charge.unit));
    for (size_t i = 0; i < c->count; i++)
        TRY(ledger_check_budget(&admissions[i], &c->ledgers[i], entry->account, &charge));
    for (size_t i = c->count; i-- > 0;) { /* the own one last: where it has the entry, all have it */
        complete.admission = &admissions[i];
        TRY(charge_write_entry(&c->ledgers[i], c, &complete));
    }
    if (!c->ledgers[0].holds)
        charge_announce(c, ctx);
done:
    ledger_line_free(&parsed);
    base_free(admissions);
    base_free(line);
    return status;
}

static sotto_status require_as_planned(const struct ledger *l, const struct plan_slot *slot,
                                       const struct ledger_charge *charge)
{
    char differs[160];
    const struct ledger_plan *plan = ledger_plan_of(l, slot)->plan;
    ledger_plan_compare(differs, ledger_plan_event(plan, slot->slot), charge);
    if (!differs[0])
        return ledger_require_unit(l, &charge->unit);
    return status_fail(SOTTO_EINVAL,
                       "slot %zu of plan %.16s: %s; give what was planned, or a slot that has this, or make "
                       "another plan",
                       slot->slot, slot->plan, differs);
}

/* What nothing was charged for, in the words of a plan's file: a norm that is proved has digits that no one would guess. */
static void hint_at_event(const struct ledger_charge *c)
{
    char text[320];
    if (c->unit.rows > 0) /* norms are those of a person, which a plan makes of those of a record */
        return;
    if (c->is_run) {
        status_hint("as an event of a plan this run is {mechanism: %.40s, noise_multiplier: %.17g, "
                    "sample_rate: %.17g, steps: %zu, clipping: %s, sampling: %s}",
                    c->mechanism, c->noise_multiplier, c->sample_rate, c->steps, norm_name(c->clipping),
                    sotto_sampling_name(c->sampling));
        return;
    }
    int n =
        snprintf(text, sizeof text, "as an event of a plan this release is {mechanism: %.40s, scale: %.17g",
                 c->mechanism, c->scale);
    if (c->l1 > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", l1: %.17g", c->l1);
    if (c->l2 > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", l2: %.17g", c->l2);
    n += snprintf(text + n, sizeof text - (size_t)n, ", dimension: %zu", c->dimension);
    if (c->value_step > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", value_step: %.17g", c->value_step);
    status_hint("%s}", text);
}

sotto_status charge_spend_slot(struct plan_slot *slot, struct charge *c, const struct charge_entry *entry,
                               const char *asked)
{
    sotto_status status = SOTTO_OK;
    struct charge_entry planned = *entry;
    struct plan_slot found;
    struct ledger *own = &c->ledgers[0];
    struct ledger_line parsed = {0};
    struct ledger_charge charge;
    char *line = NULL;
    planned.source = c->source;
    TRY(charge_entry_encode(&line, &planned));
    TRY(ledger_line_parse(&parsed, line, strlen(line), "ledger entry"));
    charge = ledger_line_charge(&parsed); /* as it will be read */
    status = ledger_plan_find(&found, own, asked, c->dataset_id);
    if (status == SOTTO_OK)
        status = require_as_planned(own, &found, &charge);
    if (status == SOTTO_EINVAL)
        hint_at_event(&charge);
    TRY(status);
    planned.event = LEDGER_PLANNED;
    planned.slot = &found;
    TRY(charge_write_entry(own, c, &planned));
    *slot = found;
done:
    ledger_line_free(&parsed);
    base_free(line);
    return status;
}

void charge_hold(struct charge *c)
{
    for (size_t i = 0; i < c->count; i++)
        ledger_hold(&c->ledgers[i]);
}

sotto_status charge_write_held(struct charge *c, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = c->count; i-- > 0;)
        TRY(ledger_write_held(&c->ledgers[i]));
    charge_announce(c, ctx);
done:
    return status;
}
