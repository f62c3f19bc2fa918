/* JSON of the lines of a ledger: an encoder and a decoder for each event. Infinite and missing values are null. */
#include "dp/ledger_line/ledger_line.h"
#include "dp/certificate/certificate_json.h"
#include "dp/dpsgd/dpsgd_json.h"
#include "dp/dpsgd/dpsgd_reservations.h"
#include "io/json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Inline, so that the length of a key is known before the program runs. NULL: there is no entry. */
static inline const struct json *part_of(const struct json *entry, const char *key)
{
    return entry ? json_member(entry, key) : NULL;
}

static inline const char *text_of(const struct json *entry, const char *key)
{
    return json_text(part_of(entry, key));
}

static sotto_status ledger_line_dump(char **text, struct json *object, int style)
{
    sotto_status status = json_dump(text, object, style);
    json_free(object);
    return status;
}

/* ---- lines to write ---- */

static const char line_schema[] = "sotto.ledger/1", person_schema[] = "sotto.ledger/2",
                  columns_schema[] = "sotto.ledger/3";
static const char *const event_names[] = {
    [LEDGER_RELEASE] = "release", [LEDGER_RESERVE] = "reserve",   [LEDGER_IMPORT] = "import",
    [LEDGER_BUDGET] = "budget",   [LEDGER_TORN] = "torn",         [LEDGER_RECORDS] = "records",
    [LEDGER_MOVED] = "moved",     [LEDGER_RELEASED] = "released", [LEDGER_SETTLED] = "settled",
    [LEDGER_PLAN] = "plan",       [LEDGER_PLANNED] = "planned"};
enum { EVENTS = sizeof event_names / sizeof *event_names };

const char *ledger_event_name(enum ledger_event event)
{
    return event_names[event];
}

bool ledger_event_charges(enum ledger_event event)
{
    return event == LEDGER_RELEASE || event == LEDGER_RESERVE || event == LEDGER_IMPORT ||
           event == LEDGER_PLAN;
}

bool ledger_line_is(const struct ledger_line *line, enum ledger_event event)
{
    const char *name = text_of(line->document, "event");
    return name && strcmp(name, event_names[event]) == 0;
}

bool ledger_line_charges(const struct ledger_line *line)
{
    bool charges = false;
    for (int i = 0; i < EVENTS; i++)
        charges = charges ||
                  (ledger_event_charges((enum ledger_event)i) && ledger_line_is(line, (enum ledger_event)i));
    return charges;
}

static struct json *line_of(enum ledger_event event, const char *schema)
{
    struct json *line = json_make_object();
    json_put_text(&line, "schema", schema);
    json_put_text(&line, "event", event_names[event]);
    return line;
}

/* Whose records were hashed, and who else is charged. */
static void put_source(struct json **line, const struct sotto_source_records *s)
{
    struct json *others = json_make_array();
    const char *const *id = s ? s->same_people : NULL;
    bool public_set = s && s->public_set;
    if (s && s->digests && !public_set)
        json_put_integer(line, "source_records", (int64_t)s->n);
    else
        json_put_text(line, "source_records", public_set ? "public" : "unknown");
    for (; id && *id; id++)
        json_push(&others, json_make_text(*id));
    if (json_count(others) > 0)
        json_put(line, "same_people", others);
    else
        json_free(others);
}

static void put_subject(struct json **line, const struct charge_entry *e)
{
    json_put_text(line, "fingerprint", e->dataset_id);
    json_put_text(line, "purpose", e->purpose);
    if (e->records)
        json_put_integer(line, "records", (int64_t)e->records);
}

static void put_release(struct json **line, const struct charge_entry *e)
{
    put_subject(line, e);
    if (e->condition)
        json_put_text(line, "condition", e->condition);
    unit_put(line, e->unit);
    json_put_text(line, "mechanism", e->account->mechanism);
    json_put_real(line, "scale", e->account->scale);
    json_put_integer(line, "dimension", (int64_t)e->dimension);
    json_put(line, "sensitivity", certificate_sensitivity(e->sensitivity));
    if (e->sensitivity->value_step > 0)
        json_put_real(line, "value_step", e->sensitivity->value_step);
    account_put(line, e->account);
    json_put_text(line, "sampler", e->sampler);
    json_put_text(line, "randomness", e->randomness);
    json_put_text(line, "input_sha256", e->input_sha256);
    json_put_text(line, "input_nonce", e->input_nonce);
    if (e->followed_by)
        json_put_integer(line, "followed_by", (int64_t)e->followed_by);
    put_source(line, e->source);
}

static void put_reservation(struct json **line, const struct charge_entry *e)
{
    json_put_text(line, "run", e->run);
    put_subject(line, e);
    dpsgd_facts_put(line, e->facts);
    unit_put(line, e->unit);
    json_put_integer(line, "steps", (int64_t)e->steps);
    json_put_integer(line, "first_step", (int64_t)e->first_step);
    json_put(line, "sensitivity", certificate_sensitivity(e->sensitivity));
    account_put(line, e->account);
    json_put_text(line, "sampler", e->sampler);
    json_put_text(line, "randomness", e->randomness);
    put_source(line, e->source);
}

static void put_import(struct json **line, const struct charge_entry *e)
{
    json_put_text(line, "origin", "Opacus accountant history, as stated by the caller");
    json_put_text(line, "file_sha256", e->file_sha256);
    json_put_text(line, "mechanism", e->imported->mechanism);
    json_put_real(line, "noise_multiplier", e->imported->noise_multiplier);
    json_put_real(line, "sample_rate", e->imported->sample_rate);
    json_put_integer(line, "steps", (int64_t)e->imported->count);
    json_put(line, "sensitivity", certificate_sensitivity(e->sensitivity));
    account_put(line, e->account);
}

static void put_plan(struct json **line, const struct charge_entry *e)
{
    put_subject(line, e);
    if (e->condition)
        json_put_text(line, "condition", e->condition);
    unit_put(line, e->unit);
    events_put(line, e->plan);
    account_put(line, e->account);
    put_source(line, e->source);
}

static void put_planned(struct json **line, const struct charge_entry *e)
{
    if (e->run)
        put_reservation(line, e);
    else
        put_release(line, e);
    plan_slot_put(line, e->slot->plan, e->slot->slot);
    json_put_integer(line, LEDGER_CHARGE_NUMBER, (int64_t)e->slot->charge);
}

sotto_status charge_entry_encode(char **text, const struct charge_entry *e)
{
    static void (*const put[])(struct json **,
                               const struct charge_entry *) = {[LEDGER_RELEASE] = put_release,
                                                               [LEDGER_RESERVE] = put_reservation,
                                                               [LEDGER_IMPORT] = put_import,
                                                               [LEDGER_PLAN] = put_plan,
                                                               [LEDGER_PLANNED] = put_planned};
    struct json *line = line_of(e->event, e->admission || e->slot    ? columns_schema
                                          : e->unit && e->unit->rows ? person_schema
                                                                     : line_schema);
    put[e->event](&line, e);
    if (e->admission)
        admission_put(&line, e->admission);
    return ledger_line_dump(text, line, JSON_LINE);
}

sotto_status ledger_hashes_encode(char **text, const struct ledger_hashes *h)
{
    struct json *line = line_of(LEDGER_RECORDS, line_schema);
    json_put_text(&line, "dataset_id", h->dataset_id);
    json_put_text(&line, "key", h->key);
    json_put_integer(&line, "count", (int64_t)h->count);
    json_put_text(&line, "hashes", h->hashes);
    return ledger_line_dump(text, line, JSON_LINE);
}

static void put_card(struct json **line, const struct sotto_ledger_card *card)
{
    const struct sotto_ledger_card none = {0}, *c = card ? card : &none;
    const char *const said[][2] = {{"contact", c->contact}, {"curator", c->curator},
                                   {"use", c->use},         {"region", c->region},
                                   {"sector", c->sector},   {"rationale", c->rationale}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i][1])
            json_put_text(line, said[i][0], said[i][1]);
}

sotto_status ledger_budget_encode(char **text, const struct budget_entry *e)
{
    struct json *line = line_of(LEDGER_BUDGET, e->columns ? columns_schema : line_schema);
    json_put_real(&line, "epsilon", e->budget.epsilon);
    json_put_real(&line, "delta", e->budget.delta);
    if (e->set_by)
        json_put_text(&line, "set_by", e->set_by);
    put_card(&line, e->card);
    if (e->columns)
        columns_put(&line, e->columns);
    if (e->followed_by)
        json_put_integer(&line, "followed_by", (int64_t)e->followed_by);
    return ledger_line_dump(text, line, JSON_LINE);
}

sotto_status ledger_torn_encode(char **text, size_t bytes, const char *sha256)
{
    struct json *line = json_make_object(); /* without a schema, as ever */
    json_put_text(&line, "event", event_names[LEDGER_TORN]);
    json_put_integer(&line, "bytes", (int64_t)bytes);
    json_put_text(&line, "sha256", sha256);
    return ledger_line_dump(text, line, JSON_LINE);
}

sotto_status ledger_move_encode(char **text, const char *to)
{
    struct json *line = line_of(LEDGER_MOVED, line_schema);
    json_put_text(&line, "to", to);
    return ledger_line_dump(text, line, JSON_LINE);
}

sotto_status ledger_output_encode(char **text, const struct ledger_output *o)
{
    struct json *line = line_of(LEDGER_RELEASED, line_schema);
    json_put_integer(&line, LEDGER_CHARGE_NUMBER, (int64_t)o->charge);
    json_put_text(&line, "salt", o->salt);
    json_put_text(&line, "output", o->output);
    json_put_text(&line, "certificate", o->certificate);
    return ledger_line_dump(text, line, JSON_LINE);
}

sotto_status ledger_settlement_encode(char **text, const struct ledger_settlement *s,
                                      const struct sotto_account *account, const struct admission *admission)
{
    struct json *line = line_of(LEDGER_SETTLED, admission ? columns_schema : line_schema);
    json_put_text(&line, "run", s->run);
    json_put_text(&line, "entry", s->entry);
    json_put_integer(&line, "steps", (int64_t)s->steps);
    json_put_text(&line, "reason", "a limit of time, set beforehand");
    account_put(&line, account);
    if (admission)
        admission_put(&line, admission);
    return ledger_line_dump(text, line, JSON_LINE);
}

/* ---- lines that are read ---- */

sotto_status ledger_line_parse(struct ledger_line *out, const char *text, size_t size, const char *name)
{
    struct ledger_line line = {0};
    const sotto_status status = ledger_line_parse_again(&line, text, size, name);
    if (status == SOTTO_OK)
        *out = line;
    return status;
}

sotto_status ledger_line_parse_again(struct ledger_line *line, const char *text, size_t size,
                                     const char *name)
{
    struct json *document = line->document;
    const struct ledger_line kept = {.plan.events = line->plan.events, .plan_room = line->plan_room};
    *line = kept;
    const sotto_status status = json_parse_line(&document, text, size, name);
    if (status != SOTTO_OK) {
        ledger_line_free(line);
        return status;
    }
    line->document = document;
    line->hash = text_of(document, "hash");
    line->run = text_of(document, "run");
    line->mechanism = text_of(document, "mechanism");
    line->time = text_of(document, "time");
    return status;
}

void ledger_line_free(struct ledger_line *line)
{
    events_free(&line->plan);
    json_free(line->document);
    *line = (struct ledger_line){0};
}

sotto_status ledger_line_place(const char **prev, int64_t *index, const struct ledger_line *line,
                               const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_text(prev, line->document, name, "prev"));
    TRY(json_get_integer(index, line->document, name, "index"));
done:
    return status;
}

sotto_status ledger_line_index(size_t *index, const struct ledger_line *line, const char *name)
{
    return json_get_size(index, line->document, name, "index");
}

sotto_status ledger_line_plan_number(size_t *charge, const struct ledger_line *line, const char *name)
{
    return json_get_size(charge, line->document, name, LEDGER_CHARGE_NUMBER);
}

static inline double number_or(const struct json *entry, const char *key, double missing)
{
    const double found = json_number(part_of(entry, key));
    return isnan(found) ? missing : found;
}

static inline size_t size_or(const struct json *entry, const char *key, size_t missing)
{
    double x = number_or(entry, key, (double)missing);
    return x >= 0 && x <= 0x1p52 ? (size_t)x : missing;
}

static bool ledger_line_says(const struct json *entry, const char *key, const char *value)
{
    const char *text = text_of(entry, key);
    return text && strcmp(text, value) == 0;
}

static struct privacy_unit unit_of(const struct json *person)
{
    struct privacy_unit u = {.rows = size_or(person, "rows", 0), .persons = size_or(person, "persons", 0)};
    const char *column = text_of(person, "column");
    if (column)
        snprintf(u.person, sizeof u.person, "%s", column);
    return u;
}

struct ledger_charge ledger_line_charge(const struct ledger_line *line)
{
    const struct json *d = line->document, *norms = part_of(d, "sensitivity"),
                      *epsilon = part_of(d, "epsilon"), *protects = part_of(d, "protects");
    const char *randomness = text_of(d, "randomness");
    return (struct ledger_charge){
        .plan = line->plan.count > 0 ? &line->plan : NULL,
        .unit = unit_of(part_of(d, "person")),
        .mechanism = line->mechanism,
        .sampler = text_of(d, "sampler"),
        .adjacency = text_of(d, "adjacency"),
        .source = text_of(norms, "source"),
        .purpose = text_of(d, "purpose"),
        .dataset_id = text_of(d, "fingerprint"),
        .clipping = ledger_line_says(d, "clipping", "l1") ? SOTTO_NORM_L1 : SOTTO_NORM_L2,
        .sampling = ledger_line_says(d, "sampling", "fixed") ? SOTTO_SAMPLING_FIXED : SOTTO_SAMPLING_POISSON,
        .l1 = number_or(norms, "l1", NAN),
        .l2 = number_or(norms, "l2", NAN),
        .scale = number_or(d, "scale", 0),
        .value_step = number_or(d, "value_step", 0),
        .noise_multiplier = number_or(d, "noise_multiplier", 0),
        .sample_rate = number_or(d, "sample_rate", 0),
        .dimension = size_or(d, "dimension", 0),
        .steps = size_or(d, "steps", 1),
        .pure = number_or(d, "pure_epsilon", NAN),
        .rho = number_or(d, "zcdp_rho", NAN),
        .epsilon = number_or(epsilon, "upper", NAN),
        .lower = number_or(epsilon, "lower", 0),
        .delta = number_or(d, "delta", 0),
        .conditional = part_of(d, "condition") != NULL,
        .inputs_only = protects && !part_of(d, "labels"),
        .is_run = line->run != NULL,
        .of_inputs = protects != NULL,
        .seeded = randomness ? strcmp(randomness, "os") != 0 : part_of(d, "randomness") != NULL};
}

/* What ledger_line_charge() found is not looked for again: these tell why nothing was found. */
static sotto_status require_text(const char **found, const struct json *d, const char *name, const char *path)
{
    return *found ? SOTTO_OK : json_get_text(found, d, name, path);
}

static sotto_status require_real(double *found, const struct json *d, const char *name, const char *path)
{
    return *found > 0 ? SOTTO_OK : json_get_real(found, d, name, path);
}

static sotto_status require_real_or_null(double *found, const struct json *d, const char *name,
                                         const char *path)
{
    return !isnan(*found) ? SOTTO_OK : json_get_real_or_null(found, d, name, path);
}

static sotto_status get_numbers(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct ledger_charge *c = &line->charge;
    const struct json *d = line->document;
    *c = ledger_line_charge(line);
    double lower = c->lower > 0 ? c->lower : NAN;
    TRY(require_real_or_null(&c->pure, d, name, "pure_epsilon"));
    TRY(require_real_or_null(&c->rho, d, name, "zcdp_rho"));
    TRY(require_real_or_null(&c->epsilon, d, name, "epsilon.upper"));
    TRY(require_real(&c->delta, d, name, "delta"));
    c->numbered = json_member(d, LEDGER_CHARGE_NUMBER) != NULL;
    if (c->numbered)
        TRY(json_get_size(&c->number, d, name, LEDGER_CHARGE_NUMBER));
    if (isnan(lower) && json_member(json_member(d, "epsilon"), "lower"))
        TRY(json_get_real_or_null(&lower, d, name, "epsilon.lower"));
    if (c->pure < 0 || c->rho < 0 || c->epsilon < 0 || c->delta < 0 || c->delta >= 1)
        FAIL(SOTTO_EFORMAT, "%s: the privacy loss is below 0, or its delta not below 1", name);
    if (lower < 0 || lower > c->epsilon)
        FAIL(SOTTO_EFORMAT, "%s: epsilon has the lower end %g and the upper end %g", name, lower, c->epsilon);
    TRY(admission_get(&line->admission, d, name));
done:
    return status;
}

static sotto_status get_followed_by(struct ledger_line *line, const char *name)
{
    if (!json_member(line->document, "followed_by"))
        return SOTTO_OK;
    return json_get_size(&line->followed_by, line->document, name, "followed_by");
}

static bool in_range(double x)
{
    return x > 0 && x <= 1e100;
}

static sotto_status require_facts(bool good, const char *name)
{
    return good ? SOTTO_OK
                : status_fail(
                      SOTTO_EFORMAT,
                      "%s: a scale, noise multiplier, rate, number of steps or sensitivity is out of range",
                      name);
}

/* Of a release: what its account follows from. */
static sotto_status get_release(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    struct ledger_charge *c = &line->charge;
    size_t dimension;
    TRY(require_text(&c->mechanism, d, name, "mechanism"));
    TRY(require_text(&c->sampler, d, name, "sampler"));
    TRY(require_real(&c->scale, d, name, "scale"));
    TRY(json_get_size(&dimension, d, name, "dimension"));
    TRY(require_facts(in_range(c->scale), name));
done:
    return status;
}

/* Of steps. */
static sotto_status get_steps(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    struct ledger_charge *c = &line->charge;
    size_t steps;
    TRY(require_text(&c->mechanism, d, name, "mechanism"));
    TRY(require_real(&c->noise_multiplier, d, name, "noise_multiplier"));
    TRY(require_real(&c->sample_rate, d, name, "sample_rate"));
    TRY(json_get_size(&steps, d, name, "steps"));
    TRY(require_facts(in_range(c->noise_multiplier) && c->sample_rate > 0 && c->sample_rate <= 1 && steps > 0,
                      name));
done:
    return status;
}

static sotto_status get_reservation(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    struct dpsgd_facts facts;
    size_t first;
    TRY(require_text(&line->run, d, name, "run"));
    TRY(require_text(&line->charge.sampler, d, name, "sampler"));
    TRY(json_get_size(&first, d, name, "first_step"));
    TRY(dpsgd_facts_get(&facts, d, name));
    TRY(require_facts(in_range(facts.scale) && in_range(facts.max_grad_norm), name));
    TRY(get_steps(line, name));
    const double most =
        json_member(d, "lattice_exponent") ? run_multiplier(&facts) : facts.scale / facts.max_grad_norm;
    if (line->charge.noise_multiplier > most * (1 + 0x1p-40))
        FAIL(SOTTO_EFORMAT, "%s: its noise multiplier, %.12g, is larger than its noise over its norm, %.12g",
             name, line->charge.noise_multiplier, most);
done:
    return status;
}

static sotto_status get_norms(struct ledger_charge *c, const struct json *d, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(require_text(&c->source, d, name, "sensitivity.source"));
    TRY(require_real_or_null(&c->l1, d, name, "sensitivity.l1"));
    TRY(require_real_or_null(&c->l2, d, name, "sensitivity.l2"));
    TRY(require_facts(!(c->l1 < 0 || c->l1 > 1e100 || c->l2 < 0 || c->l2 > 1e100), name));
done:
    return status;
}

static sotto_status get_charge(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    const char *randomness;
    TRY(get_numbers(line, name));
    TRY(unit_get(&line->charge.unit, d, name));
    TRY(get_norms(&line->charge, d, name));
    TRY(get_followed_by(line, name));
    if (line->event != LEDGER_IMPORT)
        TRY(json_get_text(&randomness, d, name, "randomness"));
    const bool run = line->event == LEDGER_RESERVE || (line->event == LEDGER_PLANNED && line->charge.is_run);
    TRY(line->event == LEDGER_IMPORT ? get_steps(line, name)
        : run                        ? get_reservation(line, name)
                                     : get_release(line, name));
done:
    return status;
}

sotto_status ledger_line_plan(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *events;
    TRY(json_get_array(&events, line->document, name, "events"));
    TRY(events_from_json(&line->plan, &line->plan_room, events, name));
done:
    return status;
}

static sotto_status get_plan(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(get_numbers(line, name));
    TRY(unit_get(&line->charge.unit, line->document, name));
    TRY(ledger_line_plan(line, name));
    line->charge.plan = &line->plan;
done:
    return status;
}

static sotto_status get_planned(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(get_charge(line, name));
    TRY(plan_slot_get(&line->slot.plan, &line->slot.slot, line->document, name));
    TRY(json_get_size(&line->slot.charge, line->document, name, LEDGER_CHARGE_NUMBER));
done:
    return status;
}

static sotto_status get_budget(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_real(&line->budget.epsilon, line->document, name, "epsilon"));
    TRY(json_get_real(&line->budget.delta, line->document, name, "delta"));
    if (!(line->budget.epsilon >= 0 && line->budget.delta >= 0 && line->budget.delta < 1))
        FAIL(SOTTO_EFORMAT, "%s: the budget is below 0, or its delta not below 1", name);
    line->by_officer = ledger_line_says(line->document, "set_by", "officer");
    line->contact = text_of(line->document, "contact");
    TRY(get_followed_by(line, name));
    line->admission.opens = json_member(line->document, "columns");
    if (line->admission.opens)
        TRY(columns_get(&line->admission.opened, line->document, name));
done:
    return status;
}

sotto_status ledger_line_hashes(struct ledger_hashes *out, const struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    char id[SOTTO_DATASET_ID];
    TRY(json_get_text_into(id, sizeof id, line->document, name, "dataset_id")); /* of a length that fits */
    TRY(json_get_text(&out->dataset_id, line->document, name, "dataset_id"));
    TRY(json_get_text(&out->key, line->document, name, "key"));
    TRY(json_get_size(&out->count, line->document, name, "count"));
    TRY(json_get_text(&out->hashes, line->document, name, "hashes"));
done:
    return status;
}

static sotto_status get_hashes(struct ledger_line *line, const char *name)
{
    return ledger_line_hashes(&line->hashes, line, name);
}

static sotto_status get_move(struct ledger_line *line, const char *name)
{
    return json_get_text(&line->to, line->document, name, "to");
}

sotto_status ledger_line_output(struct ledger_output *out, const struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_size(&out->charge, line->document, name, LEDGER_CHARGE_NUMBER));
    TRY(json_get_text(&out->salt, line->document, name, "salt"));
    TRY(json_get_text(&out->output, line->document, name, "output"));
    TRY(json_get_text(&out->certificate, line->document, name, "certificate"));
done:
    return status;
}

sotto_status ledger_line_settlement(bool *found, struct ledger_settlement *out,
                                    const struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    *found = ledger_line_says(d, "event", event_names[LEDGER_SETTLED]);
    if (!*found)
        goto done;
    TRY(json_get_text(&out->run, d, name, "run"));
    TRY(json_get_text(&out->entry, d, name, "entry"));
    TRY(json_get_size(&out->steps, d, name, "steps"));
done:
    return status;
}

static sotto_status get_output(struct ledger_line *line, const char *name)
{
    return ledger_line_output(&line->output, line, name);
}

static sotto_status get_settlement(struct ledger_line *line, const char *name)
{
    bool found;
    const sotto_status status = get_numbers(line, name);
    return status == SOTTO_OK ? ledger_line_settlement(&found, &line->settlement, line, name) : status;
}

static sotto_status get_nothing(struct ledger_line *line, const char *name)
{
    (void)line;
    (void)name;
    return SOTTO_OK;
}

/* A line that cannot be read may be a release that must be counted. */
sotto_status ledger_line_decode(struct ledger_line *line, const char *name)
{
    static sotto_status (*const get[EVENTS])(struct ledger_line *, const char *) = {
        [LEDGER_RELEASE] = get_charge, [LEDGER_RESERVE] = get_charge,  [LEDGER_IMPORT] = get_charge,
        [LEDGER_BUDGET] = get_budget,  [LEDGER_TORN] = get_nothing,    [LEDGER_RECORDS] = get_hashes,
        [LEDGER_MOVED] = get_move,     [LEDGER_RELEASED] = get_output, [LEDGER_SETTLED] = get_settlement,
        [LEDGER_PLAN] = get_plan,      [LEDGER_PLANNED] = get_planned};
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    const char *event, *schema = text_of(d, "schema");
    size_t i = 0;
    const bool columns = json_member(d, "any_order") || json_member(d, "columns") || json_member(d, "plan");
    const char *wanted = columns ? columns_schema : json_member(d, "person") ? person_schema : line_schema;
    const bool unnamed = !json_member(d, "schema") && ledger_line_says(d, "event", event_names[LEDGER_TORN]);
    if (!unnamed && (!schema || strcmp(schema, wanted) != 0))
        FAIL(SOTTO_EFORMAT,
             "%s: schema is '%.40s'; expected sotto.ledger/1, /2 of a person, or /3 of columns and plans "
             "(written by a "
             "newer sotto? "
             "use "
             "that version)",
             name, schema ? schema : "no text");
    TRY(json_get_text(&event, d, name, "event"));
    while (i < EVENTS && strcmp(event, event_names[i]) != 0)
        i++;
    if (i == EVENTS)
        FAIL(SOTTO_EFORMAT,
             "%s: event '%.40s' is unknown and may cost privacy (written by a newer sotto? use that version)",
             name, event);
    line->event = (enum ledger_event)i;
    TRY(get[i](line, name));
done:
    return status;
}

sotto_status ledger_line_reservation(struct dpsgd_reservation *out, struct dpsgd_facts *facts, bool *seeded,
                                     const struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    const char *randomness;
    TRY(dpsgd_facts_get(facts, d, name));
    TRY(json_get_text_into(out->hash, sizeof out->hash, d, name, "hash"));
    TRY(json_get_text(&randomness, d, name, "randomness"));
    TRY(json_get_size(&out->first_step, d, name, "first_step"));
    TRY(json_get_size(&out->steps, d, name, "steps"));
    *seeded = strcmp(randomness, "os") != 0;
done:
    return status;
}

sotto_status ledger_line_labels(struct run_labels *out, const struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct run_labels found;
    const char *randomness;
    TRY(json_get_real(&found.scale, line->document, name, "scale"));
    TRY(json_get_size(&found.count, line->document, name, "dimension"));
    TRY(json_get_text(&randomness, line->document, name, "randomness"));
    found.seeded = strcmp(randomness, "os") != 0;
    *out = found;
done:
    return status;
}
