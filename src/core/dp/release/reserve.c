/* Noise for many steps under one ledger entry. Order as in release.c: check, account, entry on disk, and only
 * then noise. What is accounted is a noise multiplier that the rounding of sums has made a little smaller
 * (run_multiplier()). A run that goes on after an interruption reserves anew; its certificate charges every
 * reservation that the ledger holds under the run's name. */
#include "dp/release/dpsgd_session.h"
#include "sotto/lab/account.h"
#include "sotto/lab/release.h"

#include "base/memory.h"
#include "dp/account/accountant.h"
#include "dp/certificate/certificate.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_runs.h"
#include "dp/ledger/spend.h"
#include "par/par.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dpsgd_ranks_free(struct dpsgd_ranks *r)
{
    if (!r)
        return;
    base_free(r->borders);
    base_free(r->ones);
    base_free(r->claims);
    base_free(r->received);
    base_free(r);
}

void sotto_dpsgd_session_close(struct sotto_dpsgd_session *s)
{
    if (!s)
        return;
    noise_close(s->samples);
    noise_close(s->keys);
    fixed_sample_free(&s->fixed);
    dpsgd_ranks_free(s->ranks);
    dpsgd_reservations_free(&s->run);
    for (size_t i = 0; s->places && i < s->place_count; i++)
        base_free(s->places[i].ledger);
    base_free(s->places);
    base_free(s->purpose);
    base_free(s->condition);
    base_free(s->shaped);
    base_free(s->ledger);
    base_free(s);
}

size_t sotto_dpsgd_session_used(const struct sotto_dpsgd_session *s)
{
    GIVEN_OR(0, s);
    return s->used;
}

double sotto_dpsgd_session_lattice(const struct sotto_dpsgd_session *s)
{
    GIVEN_OR(NAN, s);
    return ldexp(1, s->lattice_exponent);
}

const char *dpsgd_session_entry(const struct sotto_dpsgd_session *s)
{
    GIVEN_OR(NULL, s);
    return s->entry;
}

const char *sotto_dpsgd_session_run(const struct sotto_dpsgd_session *s)
{
    GIVEN_OR(NULL, s);
    return s->run.id;
}

static sotto_status reserve_check(const struct sotto_dpsgd_request *r)
{
    sotto_status status = SOTTO_OK;
    TRY(require_positive(r->max_grad_norm, "max_grad_norm"));
    TRY(require_positive(r->sampled.noise_multiplier, "noise_multiplier"));
    TRY(require_positive(r->sampled.noise_multiplier * r->max_grad_norm, "noise_multiplier * max_grad_norm"));
    REQUIRE(r->dimension > 0, "reserve: the dimension is 0; expected at least 1");
    REQUIRE(!r->run || (strlen(r->run) == RUN_ID && strspn(r->run, "0123456789abcdef") == RUN_ID),
            "reserve: '%.40s' is not the name of a run; expected 32 hexadecimal digits or none", r->run);
    REQUIRE(r->first_step <= (size_t)1 << 52, "reserve: first_step must be at most 2^52 (got %zu)",
            r->first_step);
    REQUIRE(r->sampled.adjacency == SOTTO_REPLACE_ONE || r->sampled.adjacency == SOTTO_ZERO_OUT ||
                r->sampled.adjacency == SOTTO_REPLACE_INPUT,
            "reserve: adjacency %s; expected replace-one, zero-out or replace-input, as the number of "
            "records is public in a run",
            sotto_adjacency_name(r->sampled.adjacency));
    REQUIRE(r->sampled.sampling == SOTTO_SAMPLING_POISSON || r->sampled.adjacency != SOTTO_ZERO_OUT,
            "reserve: fixed sampling needs replace-one adjacency; give replace-one, or poisson sampling");
    REQUIRE(r->sampled.sampling == SOTTO_SAMPLING_POISSON || r->records > 0,
            "reserve: fixed sampling needs the number of records");
    REQUIRE(r->persons <= r->records,
            "reserve: %zu persons of %zu records; expected a record of each at least", r->persons,
            r->records);
    REQUIRE(!r->spend.planned || r->sampled.adjacency != SOTTO_REPLACE_INPUT,
            "planned: a run that protects inputs is in no plan; omit it, and the run is charged by itself");
    if (r->spend.planned && r->run)
        FAIL(SOTTO_EBUDGET,
             "planned: run %s goes on from step %zu; its slot is spent, and no slot pays for steps that are "
             "drawn anew; omit planned, and the steps that are left are charged by themselves",
             r->run, r->first_step);
    REQUIRE(!r->labels || (r->sampled.adjacency == SOTTO_REPLACE_INPUT && strlen(r->labels) == 64),
            "reserve: labels need inputs_only and the hash of the ledger entry of their release");
done:
    return status;
}

/* What steps sample. */
static size_t reserve_units(const struct sotto_dpsgd_request *r)
{
    return r->persons ? r->persons : r->records;
}

static struct sotto_sensitivity reserve_clipped(const struct dpsgd_facts *f)
{
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = NAN, .source = SOTTO_SENSITIVITY_CLIPPED};
    *(f->clipping == SOTTO_NORM_L1 ? &s.l1 : &s.l2) = f->max_grad_norm;
    return s;
}

/* The ledger keeps the account of this reservation alone, for a replaced record whatever the certificate will
* speak of; it composes by the facts. */
static struct charge_entry entry_of(const struct sotto_dpsgd_session *s, const struct sotto_dpsgd_request *r,
                                    const struct dpsgd_facts *facts,
                                    const struct sotto_sensitivity *sensitivity,
                                    const struct sotto_account *account)
{
    return (struct charge_entry){.event = LEDGER_RESERVE,
                                 .dataset_id = s->dataset_id,
                                 .purpose = r->spend.purpose,
                                 .records = r->records,
                                 .unit = &facts->unit,
                                 .sensitivity = sensitivity,
                                 .account = account,
                                 .sampler = LATTICE_SAMPLER,
                                 .randomness = spend_randomness(&r->spend),
                                 .run = s->run.id,
                                 .facts = facts,
                                 .steps = r->sampled.steps,
                                 .first_step = r->first_step};
}

/* Charged by itself, in all ledgers; or a slot of a plan, in its own. *number: its number among the charges. */
static sotto_status reserve_enter(struct sotto_dpsgd_session *s, size_t *number, struct charge *charge,
                                  const struct charge_entry *entry, const struct sotto_spend *spend,
                                  const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct plan_slot slot;
    if (spend->planned) {
        TRY(charge_spend_slot(&slot, charge, entry, spend->planned));
        snprintf(s->plan, sizeof s->plan, "%s", slot.plan);
        s->slot = slot.slot;
        *number = slot.charge;
    } else {
        TRY(charge_enter(charge, entry, ctx));
        *number = charge->ledgers[0].charges - 1;
    }
done:
    return status;
}

/* Never from a seed: two seeded runs are two runs. */
static sotto_status name_run(char id[RUN_ID + 1])
{
    struct noise *os;
    sotto_status status = noise_open(&os);
    if (status != SOTTO_OK)
        return status;
    snprintf(id, RUN_ID + 1, "%016llx%016llx", (unsigned long long)noise_u64(os),
             (unsigned long long)noise_u64(os));
    noise_close(os);
    return SOTTO_OK;
}

/* Labels that are charged with the reservation. */
struct with_labels {
    struct label_release *release; /* NULL: none */
    struct sotto_certificate *certificate;
    struct noise *stream;
};

static sotto_status enter_labels(struct sotto_dpsgd_session *s, struct with_labels *w, struct charge *charge,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct release_plan *plan;
    if (!w->release)
        goto done;
    plan = &w->release->plan;
    charge_hold(charge);
    TRY(spend_noise(&w->stream, &plan->release->spend));
    TRY(release_enter(&w->certificate, charge, plan, w->stream, 1, ctx));
    snprintf(s->label_entry, sizeof s->label_entry, "%s", w->certificate->hash);
    s->facts.label_scale = plan->account.scale;
    s->facts.label_entry = s->label_entry;
    s->run.seeded = plan->release->spend.insecure != 0;
done:
    return status;
}

/* The labels of this run, which the same ledger was charged for. */
static sotto_status find_labels(struct sotto_dpsgd_session *s, const struct sotto_dpsgd_request *r,
                                const char *ledger)
{
    sotto_status status = SOTTO_OK;
    struct run_labels labels;
    if (!r->labels)
        goto done;
    TRY(run_labels_read(&labels, ledger, r->labels));
    REQUIRE(labels.count == r->records,
            "reserve: %zu labels were released for %zu records; expected one label per record", labels.count,
            r->records);
    memcpy(s->label_entry, r->labels, sizeof s->label_entry);
    s->facts.label_scale = labels.scale;
    s->facts.label_entry = s->label_entry;
    s->run.seeded = labels.seeded;
done:
    return status;
}

/* What the run has charged before, and what it costs with this reservation. */
static sotto_status find_run(struct sotto_dpsgd_session *s, const struct sotto_dpsgd_request *r,
                             const char *ledger, const struct sotto_sampled *sampled,
                             const struct sotto_account *account, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sampled all = *sampled;
    TRY(find_labels(s, r, ledger));
    bool seeded = s->run.seeded || r->spend.insecure;
    if (r->run) {
        TRY(dpsgd_reservations_read(&s->run, ledger, r->run, INT64_MAX, false, &s->facts));
        REQUIRE(
            s->run.charged > 0,
            "run %s has no reservation in %s, so it cannot continue; use the ledger in which it was recorded",
            r->run, ledger);
        REQUIRE(r->first_step <= s->run.charged,
                "the checkpoint of run %s is at step %zu but ledger %s records only %zu; use the ledger in "
                "which it was recorded",
                r->run, r->first_step, ledger, s->run.charged);
    } else {
        TRY(name_run(s->run.id));
    }
    dpsgd_facts_add_lattice(&s->facts, &s->run);
    all.noise_multiplier = run_multiplier(&s->facts);
    all.steps += s->run.charged;
    all.adjacency = s->facts.inputs_only ? SOTTO_REPLACE_ONE : r->sampled.adjacency;
    TRY(dpsgd_reservations_make_room(&s->run));
    if (s->run.charged == 0 && all.adjacency == sampled->adjacency &&
        all.noise_multiplier == sampled->noise_multiplier) { /* a new run: that of its entry */
        s->account = *account;
        TRY(account_sampled_other(&s->account, &all, ctx));
    } else {
        TRY(sotto_account_sampled_both(&s->account, &all, ctx));
    }
    TRY(run_complete_account(&s->account, &s->facts));
    TRY(account_require_finite(&s->account));
    s->run.seeded = s->run.seeded || seeded;
done:
    return status;
}

static sotto_status make_places(struct sotto_dpsgd_session *s, const struct charge *c)
{
    sotto_status status = SOTTO_OK;
    NEW(s->places, c->count);
    s->place_count = c->count;
    for (size_t i = 0; i < c->count; i++)
        NEW_TEXT(s->places[i].ledger, c->ledgers[i].path);
done:
    return status;
}

static sotto_status reserve_record(struct sotto_dpsgd_session *s, const struct sotto_dpsgd_request *r,
                                   const struct sotto_sampled *sampled, const struct sotto_account *account,
                                   struct with_labels *labels, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct charge charge = {.lock = {.fd = -1}};
    const struct sotto_sensitivity sensitivity = reserve_clipped(&s->facts);
    struct dpsgd_facts own; /* without what earlier reservations of the run have */
    struct charge_entry entry;
    size_t number;
    TRY(charge_open(&charge, s->dataset_id, r->spend.ledger, r->spend.source, ctx));
    struct ledger *ledger = &charge.ledgers[0];
    TRY(enter_labels(s, labels, &charge, ctx));
    TRY(find_run(s, r, ledger->path, sampled, account, ctx));
    TRY(ledger_name_budget(ledger, spend_budget(&r->spend), r->sampled.delta));
    own = s->facts;
    own.lattice_exponent = s->lattice_exponent;
    own.on_lattice = s->on_lattice;
    entry = entry_of(s, r, &own, &sensitivity, account);
    ledger_warn_about_delta(reserve_units(r), account->delta, ctx);
    NEW_TEXT(s->ledger, ledger->path);
    TRY(make_places(s, &charge));
    TRY(reserve_enter(s, &number, &charge, &entry, &r->spend, ctx));
    if (labels->release)
        TRY(charge_write_held(&charge, ctx));
    memcpy(s->entry, ledger->last, sizeof s->entry);
    for (size_t i = 0; i < s->place_count; i++)
        memcpy(s->places[i].entry, charge.ledgers[i].last, sizeof s->places[i].entry);
    struct dpsgd_reservation one = {.entry = number, .first_step = r->first_step, .steps = sampled->steps};
    memcpy(one.hash, s->entry, sizeof one.hash);
    dpsgd_reservations_add(&s->run, &one);
done:
    charge_close(&charge);
    return status;
}

/* ---- settling ---- */

static struct sotto_sampled steps_of(const struct sotto_dpsgd_session *s, size_t steps)
{
    return (struct sotto_sampled){.mechanism = s->facts.mechanism,
                                  .noise_multiplier = run_multiplier(&s->facts),
                                  .sample_rate = s->facts.sample_rate,
                                  .steps = steps,
                                  .delta = s->delta,
                                  .clipping = s->facts.clipping,
                                  .sampling = s->facts.sampling,
                                  .adjacency = SOTTO_REPLACE_ONE,
                                  .rows_per_person = unit_rows(&s->facts.unit)};
}

static sotto_status settle_at(const struct dpsgd_place *place, const struct ledger_settlement *settlement,
                              const struct sotto_account *account, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger ledger = {.lock = {.fd = -1}};
    struct ledger_line parsed = {0};
    struct ledger_charge numbers;
    struct ledger_item settled;
    struct admission admission;
    char *line = NULL;
    TRY(ledger_settlement_encode(&line, settlement, account, NULL));
    TRY(ledger_open(&ledger, place->ledger, ctx));
    const struct ledger_item *reserved = ledger_last_of_run(&ledger, settlement->run);
    if (reserved && reserved->any_order.columns > 0) {
        TRY(ledger_line_parse(&parsed, line, strlen(line), "ledger entry"));
        numbers = ledger_line_charge(&parsed);
        settled = *reserved;
        ledger_item_settle(&settled, &numbers);
        TRY(ledger_admit_settled(&admission, reserved, &settled, ctx));
        base_free(line);
        line = NULL;
        TRY(ledger_settlement_encode(&line, settlement, account, &admission));
    }
    TRY(ledger_append(&ledger, line));
done:
    ledger_line_free(&parsed);
    base_free(line);
    ledger_close(&ledger);
    return status;
}

/* The others first, as at the charge: where the own ledger has the line, all have it. */
static sotto_status reserve_settle(struct sotto_dpsgd_session *s, size_t spare,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger_settlement settlement = {.run = s->run.id,
                                           .steps = s->run.items[s->run.count - 1].steps - spare};
    const struct sotto_sampled of_entry = steps_of(s, settlement.steps);
    struct sotto_sampled of_run = steps_of(s, s->run.charged - spare);
    struct sotto_account entry, run;
    TRY(sotto_account_sampled(&entry, &of_entry, ctx));
    of_run.adjacency = s->adjacency;
    TRY(sotto_account_sampled_both(&run, &of_run, ctx));
    TRY(run_complete_account(&run, &s->facts));
    for (size_t i = s->place_count; i-- > 0;) {
        settlement.entry = s->places[i].entry;
        TRY(settle_at(&s->places[i], &settlement, &entry, ctx));
    }
    dpsgd_reservations_settle(&s->run, s->entry, settlement.steps);
    s->account = run;
done:
    return status;
}

void dpsgd_session_settle(struct sotto_dpsgd_session *s, const struct sotto_context *ctx)
{
    struct status_record stopped;
    if (!s || s->run.count == 0 || !ctx || !ctx->stop || *ctx->stop != SOTTO_STOP_BY_TIME)
        return;
    const size_t taken = s->used > 0 ? s->used : 1, spare = s->reserved > taken ? s->reserved - taken : 0;
    struct sotto_context running = *ctx;
    running.stop = NULL;
    s->reserved = s->sampled = s->used; /* whatever becomes of it, this session draws no more */
    status_get(&stopped);
    if (s->slot > 0 && spare > 0) /* what a plan costs was settled before its first release */
        context_log(
            ctx, SOTTO_LOG_WARNING,
            "slot %zu of plan %.16s is spent whole: nothing comes back for the %zu steps that were not "
            "taken",
            s->slot, s->plan, spare);
    else if (dpsgd_session_check_process(s) == SOTTO_OK /* else the parent may go on */ && spare > 0 &&
             reserve_settle(s, spare, &running) != SOTTO_OK)
        context_log(ctx, SOTTO_LOG_WARNING,
                    "the steps that were not taken stay charged, as the ledger could not be told: %s",
                    sotto_error_text());
    status_set(&stopped);
}

/* Seeded, the second is a function of the first one's beginning. */
static sotto_status open_streams(struct sotto_dpsgd_session *s, const struct sotto_spend *spend)
{
    sotto_status status = SOTTO_OK;
    struct sotto_spend apart = *spend;
    TRY(spend_noise(&s->samples, spend));
    apart.insecure_seed = s->key_seed = noise_u64(s->samples);
    if (!spend->insecure)
        s->key_seed = 0;
    TRY(spend_noise(&s->keys, &apart));
done:
    return status;
}

static sotto_status check_spend(const char **dataset_id, char condition[CONDITION_TEXT],
                                struct privacy_unit *unit, const struct sotto_dpsgd_request *request)
{
    sotto_status status = SOTTO_OK;
    struct sotto_spend by_itself = request->spend;
    by_itself.planned = NULL; /* which reserve_record() sees to */
    if (request->spend.planned)
        TRY(spend_require_slot_alone(&request->spend));
    TRY(spend_check(dataset_id, condition, request->sampled.adjacency == SOTTO_REPLACE_INPUT ? NULL : unit,
                    &by_itself));
done:
    return status;
}

static struct dpsgd_facts facts_of(const struct sotto_dpsgd_request *request, struct privacy_unit unit)
{
    struct dpsgd_facts facts = {.mechanism = request->sampled.mechanism,
                                .scale = request->sampled.noise_multiplier * request->max_grad_norm,
                                .max_grad_norm = request->max_grad_norm,
                                .sample_rate = request->sampled.sample_rate,
                                .dimension = request->dimension,
                                .clipping = request->sampled.clipping,
                                .on_lattice = request->on_lattice != 0,
                                .inputs_only = request->sampled.adjacency == SOTTO_REPLACE_INPUT,
                                .unit = unit,
                                .sampling = request->sampled.sampling};
    facts.lattice_exponent = run_lattice(&facts, request->records);
    return facts;
}

/* What a request asks of a ledger, before any is opened. */
struct reserve_asked {
    const char *dataset_id;
    char condition[CONDITION_TEXT];
    struct dpsgd_facts facts;
    struct sotto_sampled sampled; /* as it is accounted, of a replaced record */
    struct sotto_account account;
};

static sotto_status reserve_ask(struct reserve_asked *out, const struct sotto_dpsgd_request *request,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct privacy_unit unit = {.persons = request->persons};
    TRY(reserve_check(request));
    TRY(check_spend(&out->dataset_id, out->condition, &unit, request));
    REQUIRE(unit.rows > 0 || request->persons == 0,
            "reserve: %zu persons, but the unit of privacy of these records is one record; give "
            "{rows_per_person}",
            request->persons);
    out->facts = facts_of(request, unit);
    out->sampled = request->sampled;
    out->sampled.noise_multiplier = run_multiplier(&out->facts);
    out->sampled.adjacency = SOTTO_REPLACE_ONE;
    out->sampled.rows_per_person = unit_rows(&unit);
    TRY(sotto_account_sampled(&out->account, &out->sampled, ctx));
    TRY(account_require_finite(&out->account));
done:
    return status;
}

sotto_status dpsgd_as_event(struct planned_event *out, const struct sotto_dpsgd_request *request,
                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct reserve_asked a;
    TRY(reserve_ask(&a, request, ctx));
    *out = (struct planned_event){.event = {.mechanism = mechanism_find(a.sampled.mechanism)->name,
                                            .count = a.sampled.steps,
                                            .l1 = NAN,
                                            .l2 = NAN,
                                            .noise_multiplier = a.sampled.noise_multiplier,
                                            .sample_rate = a.sampled.sample_rate,
                                            .clipping = a.sampled.clipping,
                                            .sampling = a.sampled.sampling,
                                            .adjacency = SOTTO_REPLACE_ONE},
                                  .epsilon = a.account.epsilon.upper,
                                  .delta = a.account.delta};
    TRY(planned_event_prepare(out, &a.facts.unit));
    if (a.facts.inputs_only)
        snprintf(out->why, sizeof out->why, "no plan can hold it (it protects inputs only)");
done:
    return status;
}

static sotto_status reserve_session(struct sotto_dpsgd_session **out,
                                    const struct sotto_dpsgd_request *request, struct with_labels *labels,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char shaped[SHAPED_TEXT];
    struct reserve_asked a;
    struct sotto_dpsgd_session *s = NULL;
    TRY(reserve_ask(&a, request, ctx));
    const struct dpsgd_facts facts = a.facts;
    const struct sotto_sampled sampled = a.sampled;
    NEW(s, 1);
    s->mechanism = mechanism_find(sampled.mechanism);
    s->facts = facts;
    s->facts.mechanism = s->mechanism->name;
    s->lattice_exponent = facts.lattice_exponent;
    s->on_lattice = facts.on_lattice;
    s->threads = par_threads(ctx);
    s->dimension = request->dimension;
    s->reserved = sampled.steps;
    s->everyone = sampled.sample_rate == 1;
    s->rate = s->everyone ? 0 : (uint64_t)ldexp(sampled.sample_rate, 64);
    s->first_step = request->first_step;
    s->delta = sampled.delta;
    s->adjacency = facts.inputs_only ? SOTTO_REPLACE_ONE : request->sampled.adjacency;
    s->dataset_id = a.dataset_id;
    s->records = request->records;
    NEW_TEXT(s->purpose, request->spend.purpose ? request->spend.purpose : "");
    NEW_TEXT(s->condition, a.condition);
    s->facts.condition = s->condition[0] ? s->condition : NULL;
    spend_state_shapings(shaped, a.dataset_id, &request->spend);
    NEW_TEXT(s->shaped, shaped);
    if (sampled.sampling == SOTTO_SAMPLING_FIXED)
        TRY(fixed_sample_make(&s->fixed, sampled.sample_rate, reserve_units(request)));
    TRY(open_streams(s, &request->spend));
    TRY(reserve_record(s, request, &sampled, &a.account, labels, ctx));
    base_trim(); /* what accounting took, some 30 MiB */
    *out = s;
    s = NULL;
done:
    sotto_dpsgd_session_close(s);
    return status;
}

sotto_status sotto_dp_reserve(struct sotto_dpsgd_session **out, const struct sotto_dpsgd_request *request,
                              const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, request);
    return reserve_session(out, request, &(struct with_labels){.release = NULL}, ctx);
}

sotto_status dpsgd_reserve_with_labels(struct sotto_dpsgd_session **out,
                                       struct sotto_certificate **certificate,
                                       const struct sotto_dpsgd_request *request,
                                       struct label_release *labels, const struct sotto_context *ctx)
{
    struct with_labels w = {.release = labels};
    sotto_status status = reserve_session(out, request, &w, ctx);
    if (status == SOTTO_OK) {
        label_release_draw(labels, w.stream);
        *certificate = w.certificate;
        w.certificate = NULL;
    }
    noise_close(w.stream);
    sotto_certificate_free(w.certificate);
    return status;
}

/* The account is that of all charged steps, whatever became of them. */
sotto_status sotto_dpsgd_session_certificate(struct sotto_certificate **certificate,
                                             const struct sotto_dpsgd_session *steps)
{
    REQUIRE_GIVEN(certificate, steps);
    sotto_status status = SOTTO_OK;
    const struct sotto_sensitivity sensitivity = reserve_clipped(&steps->facts);
    struct sotto_certificate *c = NULL;
    TRY(dpsgd_session_check_process(steps));
    REQUIRE(steps->run.count > 0,
            "certificate: this rank did not charge the ledger; rank 0 has the certificate");
    struct sotto_account account = steps->account;
    account.scale = steps->facts.scale;
    account.standard_deviation = steps->mechanism->standard_deviation * steps->facts.scale;
    const struct certificate_facts facts = {.account = &account,
                                            .sensitivity = &sensitivity,
                                            .dimension = steps->dimension,
                                            .seeded = steps->run.seeded,
                                            .sampler = LATTICE_SAMPLER,
                                            .lattice_exponent = steps->facts.lattice_exponent,
                                            .records = steps->records,
                                            .unit = &steps->facts.unit,
                                            .condition = steps->facts.condition,
                                            .shaped_by = steps->shaped,
                                            .purpose = steps->purpose[0] ? steps->purpose : NULL};
    TRY(certificate_new(&c, &facts));
    TRY(certificate_name_ledger(c, steps->ledger));
    TRY(certificate_add_run(c, &steps->run, &steps->facts, steps->first_step + steps->used));
    c->run->ranks = steps->ranks ? steps->ranks->ranks : 1;
    certificate_enter(c, steps->run.items[steps->run.count - 1].entry, steps->entry);
    if (steps->slot > 0)
        certificate_add_plan(c, steps->plan, steps->slot);
    *certificate = c;
    c = NULL;
done:
    sotto_certificate_free(c);
    return status;
}
