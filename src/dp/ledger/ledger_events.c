/* An entry is taken again from its own facts (mechanism, scale, sensitivity), which tells more than the
 * epsilon that it recorded. Where that is not possible (a sampler that is not exact, a mechanism of a later
 * version) what it recorded is taken as a stated guarantee. */
#include "dp/ledger/ledger_events.h"
#include "base/memory.h"
#include "dp/ledger/certificate.h"
#include "dp/mechanism/mechanism.h"

#include <stdio.h>
#include <string.h>

static double number_or(const struct json *entry, const char *path, double missing)
{
    const struct json *found = json_find(entry, path);
    enum json_kind kind = found ? json_kind(found) : JSON_KIND_NULL;
    return kind == JSON_KIND_REAL || kind == JSON_KIND_INTEGER ? json_number(found) : missing;
}

static size_t size_or(const struct json *entry, const char *path, size_t missing)
{
    double x = number_or(entry, path, (double)missing);
    return x >= 0 && x <= 0x1p52 ? (size_t)x : missing;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool equal_kind(const struct sotto_event *a, const struct sotto_event *b)
{
    return strcmp(a->mechanism, b->mechanism) == 0 && a->adjacency == b->adjacency &&
           same(a->scale, b->scale) && same(a->l1, b->l1) && same(a->l2, b->l2) &&
           a->dimension == b->dimension && a->value_step == b->value_step &&
           a->noise_multiplier == b->noise_multiplier && a->sample_rate == b->sample_rate &&
           a->clipping == b->clipping && a->sampling == b->sampling &&
           same(a->stated.epsilon, b->stated.epsilon) && a->stated.delta == b->stated.delta;
}

static bool repeats_last(const struct ledger_events *list, const struct sotto_event *e)
{
    return list->count > 0 && equal_kind(&list->items[list->count - 1], e);
}

/* Would the account take it? Asked at delta 0, where nothing takes long. ENOMEM. */
static sotto_status accountable(bool *yes, const struct ledger_events *list, const struct sotto_event *e)
{
    struct status_record before;
    struct sotto_account a;
    *yes = repeats_last(list, e);
    if (*yes)
        return SOTTO_OK;
    status_get(&before);
    sotto_status status = sotto_account_events(&a, e, 1, 0, SOTTO_REPLACE_ONE, NULL);
    if (status == SOTTO_ENOMEM)
        return status;
    status_set(&before);
    *yes = status == SOTTO_OK;
    return SOTTO_OK;
}

static sotto_status event_of_facts(bool *found, struct sotto_event *e, const struct ledger_events *list,
                                   const struct json *entry)
{
    const char *name = json_text(json_find(entry, "mechanism")),
               *sampler = json_text(json_find(entry, "sampler")),
               *clipping = json_text(json_find(entry, "clipping")),
               *sampling = json_text(json_find(entry, "sampling"));
    const struct mechanism *m = name ? mechanism_find(name) : NULL;
    *found = false;
    if (!m || (sampler && strncmp(sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) == 0))
        return SOTTO_OK;
    e->mechanism = m->name;
    e->l1 = number_or(entry, "sensitivity.l1", NAN);
    e->l2 = number_or(entry, "sensitivity.l2", NAN);
    e->scale = number_or(entry, "scale", 0);
    e->dimension = size_or(entry, "dimension", 0);
    e->value_step = number_or(entry, "value_step", 0);
    e->noise_multiplier = number_or(entry, "noise_multiplier", 0);
    e->sample_rate = number_or(entry, "sample_rate", 0);
    e->clipping = clipping && strcmp(clipping, "l1") == 0 ? SOTTO_NORM_L1 : SOTTO_NORM_L2;
    e->sampling = sampling && strcmp(sampling, "fixed") == 0 ? SOTTO_SAMPLING_FIXED : SOTTO_SAMPLING_POISSON;
    e->count = size_or(entry, "steps", 1);
    if (e->sample_rate > 0 && e->sampling == SOTTO_SAMPLING_POISSON)
        e->adjacency = SOTTO_ADD_REMOVE; /* of the facts, from which the account of a replacement is made */
    if (m->kind == RELEASE_INTEGER && e->value_step == 0)
        return SOTTO_OK;
    return accountable(found, list, e);
}

static sotto_status event_of_numbers(bool *found, struct sotto_event *e, enum sotto_adjacency adjacency,
                                     const struct ledger_events *list, const struct json *entry)
{
    double pure = number_or(entry, "pure_epsilon", NAN), epsilon = number_or(entry, "epsilon.upper", NAN);
    *e = (struct sotto_event){.mechanism = "stated", .count = 1, .adjacency = adjacency};
    e->stated =
        isnan(pure) ? (struct sotto_dp){epsilon, number_or(entry, "delta", 0)} : (struct sotto_dp){pure, 0};
    return accountable(found, list, e);
}

static sotto_status append(struct ledger_events *list, const struct sotto_event *e)
{
    if (repeats_last(list, e)) {
        list->items[list->count - 1].count += e->count;
        return SOTTO_OK;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        void *grown = base_regrow(list->items, list->capacity, capacity, sizeof *list->items);
        if (!grown)
            return status_fail(SOTTO_ENOMEM, "ledger: out of memory");
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = *e;
    return SOTTO_OK;
}

sotto_status ledger_events_add(struct ledger_events *list, const struct json *entry)
{
    sotto_status status = SOTTO_OK;
    const char *adjacency = json_text(json_find(entry, "adjacency"));
    struct sotto_event e = {.count = 1, .adjacency = SOTTO_REPLACE_ONE};
    bool found, add_remove = adjacency && strcmp(adjacency, "add-remove") == 0; /* early entries, imports */
    enum sotto_adjacency recorded = add_remove ? SOTTO_ADD_REMOVE : SOTTO_REPLACE_ONE;
    e.adjacency = recorded;
    TRY(event_of_facts(&found, &e, list, entry));
    if (!found)
        TRY(event_of_numbers(&found, &e, recorded, list, entry));
    if (found)
        TRY(append(list, &e));
    list->unknown = list->unknown || !found;
    list->add_remove += add_remove;
done:
    return status;
}

sotto_status ledger_events_join(struct ledger_events *list, const struct ledger_events *more)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < more->count; i++)
        TRY(append(list, &more->items[i]));
    list->add_remove += more->add_remove;
    list->unknown = list->unknown || more->unknown;
done:
    return status;
}

void ledger_events_free(struct ledger_events *list)
{
    base_free(list->items);
    *list = (struct ledger_events){0};
}

sotto_status ledger_events_account(struct sotto_account *out, const struct ledger_events *list, double delta,
                                   const struct sotto_context *ctx)
{
    if (!list->unknown && list->count > 0)
        return sotto_account_events(out, list->items, list->count, delta, SOTTO_REPLACE_ONE, ctx);
    double upper = list->unknown ? INFINITY : 0;
    *out = (struct sotto_account){.scale = NAN,
                                  .delta = delta,
                                  .sample_rate = 1,
                                  .epsilon = {0, upper},
                                  .pure_epsilon = upper,
                                  .zcdp_rho = upper,
                                  .standard_deviation = NAN};
    snprintf(out->accountant, sizeof out->accountant, "%s", list->unknown ? "no bound" : "nothing released");
    snprintf(out->adjacency, sizeof out->adjacency, "replace-one");
    return SOTTO_OK;
}
