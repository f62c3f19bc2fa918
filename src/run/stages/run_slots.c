/* The plan of an experiment. What is written before a plan is charged names it by a purpose of its own, by which the ledger finds it again:
 * so whatever a killed process left, no slot is charged twice. That none is used twice is the ledger's affair. */
#include "base/memory.h"
#include "dp/account/events.h"
#include "dp/ledger/plan_standing.h"
#include "dp/release/release.h"
#include "run/stages/run_protect.h"
#include "sotto/lab/head.h"
#include "sotto/lab/ledger.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char plans_name[] = "plans.json", events_name[] = "plan.events.json";
enum { SLOT = 96 };

/* A row that is not finished, and that a plan may hold. */
struct run_slot {
    char stage[RUN_NAME + 32], hash[SHA256_HEX], slot[SLOT]; /* slot "": none */
    struct planned_event release;
    bool spent; /* a slot of it, by a release that did not end */
};

const char *run_slot_of(const struct run *r, const char *hash)
{
    for (size_t i = 0; i < r->slot_count; i++)
        if (r->slots[i].slot[0] && strcmp(r->slots[i].hash, hash) == 0)
            return r->slots[i].slot;
    return NULL;
}

void run_slots_clear(struct run *r)
{
    base_free(r->slots);
    r->slots = NULL;
    r->slot_count = 0;
}

/* ---- which rows ---- */

static sotto_status parameters_of(size_t *n, const char *head)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    TRY(sotto_head_load(&h, head));
    (void)sotto_head_parameters(h, n);
done:
    sotto_head_free(h);
    return status;
}

/* Noise on the case's head, as its release will find it. */
static sotto_status run_slots_ask_noise(struct planned_event *out, const struct run *r,
                                        const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance whose = {0};
    struct run_noise noise;
    size_t n;
    TRY(run_noise_ask(&noise, r, m));
    if (noise.protect.release.sensitivity.source == SOTTO_SENSITIVITY_SAMPLED) {
        snprintf(out->why, sizeof out->why, "its sensitivity was sampled");
        goto done;
    }
    TRY(parameters_of(&n, noise.input));
    TRY(sotto_provenance_load(&whose, noise.input));
    noise.protect.release.spend.provenance = &whose;
    noise.protect.release.spend.dataset_id = r->data->dataset_id;
    noise.protect.release.records = r->config.cases[m->index].records;
    TRY(release_as_event(out, &noise.protect.release, n, RELEASE_OF_FLOATS, r->ctx));
done:
    sotto_provenance_clear(&whose);
    return status;
}

/* A run that was interrupted goes on from its checkpoint. */
static sotto_status run_slots_ask_training(struct planned_event *out, const struct run *r,
                                           const struct run_model *m, const char *hash)
{
    sotto_status status = SOTTO_OK;
    char checkpoint[RUN_PATH];
    TRY(run_checkpoint_path(checkpoint, r, m, hash));
    if (checkpoint[0] && file_exists(checkpoint))
        snprintf(out->why, sizeof out->why,
                 "it has a checkpoint, and no slot pays for steps that are drawn anew");
    else
        TRY(run_training_event(out, r, m));
done:
    return status;
}

/* out->why: "", or why it is charged by itself. */
static sotto_status run_slots_ask(struct run_slot *out, const struct run *r, const struct run_model *m)
{
    const struct run_protection *p = &r->config.cases[m->index].protections[m->protection];
    out->release = (struct planned_event){.why = ""};
    if (p->read_from_data[0]) {
        snprintf(out->release.why, sizeof out->release.why, "%s was read from the private data",
                 p->read_from_data[0]);
        return SOTTO_OK;
    }
    return p->trained ? run_slots_ask_training(&out->release, r, m, out->hash)
                      : run_slots_ask_noise(&out->release, r, m);
}

static sotto_status find_rows(struct run *r)
{
    sotto_status status = SOTTO_OK;
    size_t all = 0;
    for (size_t i = 0; i < r->config.case_count; i++)
        all += r->config.cases[i].protection_count;
    run_slots_clear(r);
    NEW(r->slots, all ? all : 1);
    for (size_t i = 0; i < r->config.case_count; i++)
        for (size_t p = 0; p < r->config.cases[i].protection_count; p++) {
            struct run_slot *row = &r->slots[r->slot_count];
            struct run_model m;
            struct run_stage stage;
            run_model_name(&m, r, i, (long)p);
            snprintf(row->stage, sizeof row->stage, "protect/%s", m.name);
            TRY(run_stage_find(&stage, &r->folder, row->stage, run_protect_key(r, &m)));
            if (stage.reused)
                continue;
            snprintf(row->hash, sizeof row->hash, "%s", stage.hash);
            TRY(run_slots_ask(row, r, &m));
            if (row->release.why[0] && all > 1)
                context_log(r->ctx, SOTTO_LOG_INFO, "%s is charged by itself: %s", row->stage,
                            row->release.why);
            r->slot_count += !row->release.why[0];
        }
done:
    return status;
}

/* ---- plans of before ---- */

static sotto_status ledger_of(char out[RUN_PATH], const struct run *r, const struct run_source *source)
{
    sotto_status status = SOTTO_OK;
    char *found = NULL;
    if (source->ledger[0])
        snprintf(out, RUN_PATH, "%s", source->ledger);
    else {
        TRY(sotto_ledger_find(&found, r->data->dataset_id));
        snprintf(out, RUN_PATH, "%s", found);
    }
done:
    sotto_text_free(found);
    return status;
}

/* What a slot asks is for the ledger to say, not for the folder. */
static void take_slots(struct run *r, const struct json *rows, const struct plan_standing *plan)
{
    for (size_t i = 0; i < json_count(rows) && i < plan->slots; i++) {
        const char *hash = json_text(json_member(json_at(rows, i), "hash"));
        for (size_t k = 0; hash && k < r->slot_count; k++) {
            struct run_slot *row = &r->slots[k];
            if (strcmp(row->hash, hash) != 0 || row->slot[0] ||
                !plan_standing_asks(plan, i, &row->release.charged))
                continue;
            row->spent = row->spent || plan->spent[i];
            if (!plan->spent[i])
                snprintf(row->slot, sizeof row->slot, "%s:%zu", plan->id, i + 1);
        }
    }
}

/* A plan that the ledger does not know was never charged. */
static sotto_status take_plan(struct run *r, const struct json *one, const char *ledger)
{
    sotto_status status = SOTTO_OK;
    const char *purpose = json_text(json_member(one, "purpose"));
    struct plan_standing plan = {.slots = 0};
    if (purpose && file_exists(ledger))
        TRY(ledger_plan_look(&plan, ledger, purpose));
    if (plan.slots > 0)
        take_slots(r, json_member(one, "rows"), &plan);
done:
    plan_standing_free(&plan);
    return status;
}

static sotto_status take_plans(struct run *r, const struct json *plans, const char *ledger)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < json_count(plans); i++)
        TRY(take_plan(r, json_at(plans, i), ledger));
    for (size_t k = 0; k < r->slot_count; k++)
        if (r->slots[k].spent && !r->slots[k].slot[0])
            context_log(
                r->ctx, SOTTO_LOG_INFO,
                "%s: its slot in a plan was spent by a release that did not end, so it is charged again",
                r->slots[k].stage);
done:
    return status;
}

/* ---- a new one ---- */

/* Of this folder, and of this moment; as long as the falsifier asks of a name that differs from run to run. */
static void name_plan(char out[RUN_NAME + 64], const struct run *r)
{
    char text[RUN_PATH + 64], hash[SHA256_HEX];
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const int n = snprintf(text, sizeof text, "%s %lld %ld %ld", r->folder.path, (long long)t.tv_sec,
                           t.tv_nsec, (long)getpid());
    sha256_of(hash, text, (size_t)n);
    snprintf(out, RUN_NAME + 64, "run %s, plan %.32s", r->config.name, hash);
}

static sotto_status write_json(const struct run *r, const char *name, const struct json *document)
{
    sotto_status status = SOTTO_OK;
    char path[RUN_PATH], *text = NULL;
    TRY(run_folder_path(path, &r->folder, name));
    TRY(json_dump(&text, document, JSON_PRETTY));
    TRY(file_write(path, text, strlen(text)));
done:
    base_free(text);
    return status;
}

static void put_row(struct json **rows, struct run_slot *row)
{
    struct json *one = json_make_object();
    json_put_text(&one, "stage", row->stage);
    json_put_text(&one, "hash", row->hash);
    events_put(&one, &(struct event_list){&row->release.event, 1});
    json_push(rows, one);
}

static sotto_status run_slots_keep(const struct run *r, const struct json *plans, const struct json *one)
{
    struct json *kept = json_make_object(), *all = json_clone(plans);
    json_push(&all, json_clone(one));
    json_put_text(&kept, "schema", "sotto.run-plans/1");
    json_put(&kept, "plans", all);
    const sotto_status status = write_json(r, plans_name, kept);
    json_free(kept);
    return status;
}

/* A new plan of the rows that have no slot. */
struct fresh {
    size_t count;
    double delta, sum; /* the largest; of what they cost by themselves */
    char purpose[RUN_NAME + 64];
    struct json *rows;
};

/* Its file of events. */
static sotto_status write_events(struct fresh *out, const struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct json *file = json_make_object();
    struct event_list list = {NULL, 0};
    NEW(list.events, r->slot_count);
    for (size_t i = 0; i < r->slot_count; i++)
        if (!r->slots[i].slot[0]) {
            list.events[list.count++] = r->slots[i].release.event;
            put_row(&out->rows, &r->slots[i]);
            out->sum += r->slots[i].release.epsilon;
            out->delta = fmax(out->delta, r->slots[i].release.delta);
        }
    out->count = list.count;
    json_put_text(&file, "schema", "sotto.events/1");
    events_put(&file, &list);
    TRY(write_json(r, events_name, file));
done:
    events_free(&list);
    json_free(file);
    return status;
}

/* At one delta; one by one each has its own, so next to nothing may cost less that way. */
static sotto_status costs_less(bool *less, const struct fresh *f, const struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_event *events = NULL;
    struct sotto_account a;
    size_t n = 0;
    NEW(events, r->slot_count);
    for (size_t i = 0; i < r->slot_count; i++)
        if (!r->slots[i].slot[0])
            events[n++] = r->slots[i].release.charged;
    TRY(sotto_account_events(&a, events, n, f->delta, SOTTO_REPLACE_ONE, r->ctx));
    *less = a.epsilon.upper <= f->sum * (1 + 1e-9); /* pure ones add up to the sum */
    if (!*less)
        context_log(
            r->ctx, SOTTO_LOG_INFO,
            "protect: %zu releases are charged one by one: as one plan they would cost epsilon %.6g at "
            "delta %g, and one by one they add up to %.6g",
            f->count, a.epsilon.upper, f->delta, f->sum);
done:
    base_free(events);
    return status;
}

/* *plan: what the ledger says of it. */
static sotto_status run_slots_charge(struct json **plan, const struct run *r, const struct run_source *source,
                                     const struct fresh *f)
{
    sotto_status status = SOTTO_OK;
    char path[RUN_PATH], *json = NULL;
    struct sotto_provenance whose = {0};
    struct sotto_spend spend = {.dataset_id = r->data->dataset_id,
                                .provenance = &whose,
                                .ledger = source->ledger[0] ? source->ledger : NULL,
                                .source = &source->records,
                                .purpose = f->purpose};
    TRY(sotto_provenance_of_rows(&whose, r->data, r->split.rows[SPLIT_PRIVATE], r->config.cases[0].records));
    TRY(run_folder_path(path, &r->folder, events_name));
    TRY(sotto_ledger_plan(&json, NULL, path, f->delta > 0 ? f->delta : SOTTO_DELTA_PURE, &spend, r->ctx));
    TRY(json_parse(plan, json, strlen(json), "plan"));
done:
    sotto_provenance_clear(&whose);
    sotto_text_free(json);
    return status;
}

/* Named in the folder first, charged, and named by its id. */
static sotto_status plan_anew(struct run *r, const struct json *plans, const char *ledger,
                              const struct run_source *source)
{
    sotto_status status = SOTTO_OK;
    struct fresh f = {.rows = json_make_array()};
    struct json *one = json_make_object(), *charged = NULL;
    double epsilon;
    name_plan(f.purpose, r);
    TRY(write_events(&f, r));
    bool less = false;
    if (f.count >= 2)
        TRY(costs_less(&less, &f, r));
    if (!less)
        goto done;
    json_put_text(&one, "purpose", f.purpose);
    json_put(&one, "rows", json_clone(f.rows));
    TRY(run_slots_keep(r, plans, one));
    status = run_slots_charge(&charged, r, source, &f);
    if (status == SOTTO_EBUDGET) {
        context_log(
            r->ctx, SOTTO_LOG_WARNING,
            "protect: %zu rows do not fit into the budget as one plan, so they are charged one by one: %s",
            f.count, sotto_error_text());
        status = SOTTO_OK;
        goto done;
    }
    TRY(status);
    TRY(json_get_real(&epsilon, charged, "plan", "epsilon.upper"));
    context_log(
        r->ctx, SOTTO_LOG_INFO,
        "protect: %zu releases are charged as one plan: epsilon %.6g at delta %g; one by one they add up "
        "to %.6g",
        f.count, epsilon, f.delta, f.sum);
    TRY(take_plan(r, one, ledger));
    json_put_text(&one, "plan", json_text(json_member(charged, "plan")));
    TRY(run_slots_keep(r, plans, one));
done:
    json_free(f.rows);
    json_free(one);
    json_free(charged);
    return status;
}

sotto_status run_plan_releases(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct run_source source = {.digests = NULL};
    struct json *document = NULL, *plans = NULL;
    char path[RUN_PATH], ledger[RUN_PATH];
    if (r->options->insecure) /* seeded noise has no guarantee, and no plan */
        goto done;
    TRY(find_rows(r));
    if (r->slot_count == 0)
        goto done;
    source.records.public_set = sotto_dataset_is_public(r->data->dataset_id);
    if (source.records.public_set)
        TRY(run_folder_path(source.ledger, &r->folder, "ledger.jsonl"));
    TRY(ledger_of(ledger, r, &source));
    TRY(run_folder_path(path, &r->folder, plans_name));
    plans = json_make_array();
    if (file_exists(path)) {
        const struct json *before;
        TRY(json_read_file(&document, path));
        TRY(json_get_array(&before, document, path, "plans"));
        TRY(take_plans(r, before, ledger));
        json_free(plans);
        plans = json_clone(before);
    }
    TRY(plan_anew(r, plans, ledger, &source));
done:
    json_free(document);
    json_free(plans);
    return status;
}
