/* Infinite and missing values are null. */
#include "dp/ledger/ledger_json.h"
#include "dp/account/account_pld.h"
#include "io/json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_status dump(char **text, struct json *object, int style)
{
    sotto_status status = json_dump(text, object, style);
    json_free(object);
    return status;
}

/* ---- accounts and certificates ---- */

struct json *certificate_sensitivity(const struct sotto_sensitivity *s)
{
    struct json *object = json_make_object();
    json_put_real(&object, "l1", s->l1);
    json_put_real(&object, "l2", s->l2);
    json_put_text(&object, "source", sensitivity_source_name(s->source));
    json_put_text(&object, "statement", sensitivity_statement(s->source));
    json_put(&object, "evidence", s->evidence[0] ? json_make_text(s->evidence) : json_make_null());
    return object;
}

static struct json *interval(const struct sotto_interval *epsilon)
{
    struct json *object = json_make_object();
    json_put_real(&object, "lower", epsilon->lower);
    json_put_real(&object, "upper", epsilon->upper);
    return object;
}

static void put_account(struct json **object, const struct sotto_account *a)
{
    struct json *bounds = json_make_object();
    for (size_t i = 0; i < a->bound_count; i++)
        json_put_real(&bounds, a->bounds[i].name, a->bounds[i].epsilon);
    json_put(object, "epsilon", interval(&a->epsilon));
    json_put_real(object, "delta", a->delta);
    json_put_text(object, "accountant", a->accountant);
    json_put_real(object, "pure_epsilon", a->pure_epsilon);
    json_put_real(object, "zcdp_rho", a->zcdp_rho);
    json_put_text(object, "adjacency", a->adjacency);
    if (a->other_adjacency[0]) {
        struct json *other = json_make_object();
        json_put_text(&other, "adjacency", a->other_adjacency);
        json_put(&other, "epsilon", interval(&a->other_epsilon));
        json_put(object, "other", other);
    }
    json_put(object, "bounds", bounds);
    if (a->note[0])
        json_put_text(object, "note", a->note);
}

struct json *certificate_guarantee(const struct sotto_certificate *c)
{
    struct json *object = json_make_object(), *account = json_make_object();
    bool proved = sotto_certificate_is_proved(c);
    put_account(&account, &c->account);
    if (!proved)
        json_put_text(&account, "condition", c->wording.rests_on);
    json_put(&object, "proved", proved ? json_clone(account) : json_make_text("none"));
    json_put(&object, "conditional", proved || c->seeded ? json_make_null() : json_clone(account));
    json_put_text(&object, "statement", c->wording.statement);
    json_free(account);
    return object;
}

/* ---- runs ---- */

void dpsgd_facts_put(struct json **object, const struct dpsgd_facts *f)
{
    json_put_text(object, "mechanism", f->mechanism);
    json_put_real(object, "scale", f->scale);
    json_put_real(object, "noise_multiplier", run_multiplier(f));
    json_put_real(object, "max_grad_norm", f->max_grad_norm);
    json_put_text(object, "clipping", norm_name(f->clipping));
    json_put_text(object, "sampling", sotto_sampling_name(f->sampling));
    json_put_real(object, "sample_rate", f->sample_rate);
    json_put_integer(object, "dimension", (int64_t)f->dimension);
    json_put_integer(object, "lattice_exponent", f->lattice_exponent);
    if (f->on_lattice)
        json_put_boolean(object, "on_lattice", true);
    if (f->condition)
        json_put_text(object, "condition", f->condition);
    if (f->inputs_only)
        json_put_text(object, "protects", "inputs");
    if (f->label_scale > 0) {
        struct json *labels = json_make_object();
        json_put_text(&labels, "mechanism", RUN_LABEL_MECHANISM);
        json_put_real(&labels, "scale", f->label_scale);
        json_put_text(&labels, "entry", f->label_entry);
        json_put(object, "labels", labels);
    }
}

/* Early versions had two noise modes and one lattice, and named the former only. */
static sotto_status get_lattice(struct dpsgd_facts *f, const struct json *object, const char *name)
{
    sotto_status status = SOTTO_OK;
    const char *mode = json_text(json_find(object, "noise_mode"));
    int64_t exponent = f->scale > 0 ? run_early_lattice(f->scale) : 0;
    f->fast = mode && strcmp(mode, "fast") == 0;
    if (mode && !f->fast && strcmp(mode, "exact") != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'noise_mode' is neither exact nor fast", name);
    if (json_member(object, "lattice_exponent"))
        TRY(json_get_integer(&exponent, object, name, "lattice_exponent"));
    if (exponent < -1074 || exponent > 1023)
        FAIL(SOTTO_EFORMAT, "%s: 'lattice_exponent' is %lld; expected -1074 to 1023", name,
             (long long)exponent);
    f->lattice_exponent = (int)exponent;
    f->on_lattice = false;
    if (json_member(object, "on_lattice"))
        TRY(json_get_boolean(&f->on_lattice, object, name, "on_lattice"));
done:
    return status;
}

static sotto_status get_labels(struct dpsgd_facts *f, const struct json *object, const char *name)
{
    sotto_status status = SOTTO_OK;
    f->label_scale = 0;
    f->label_entry = NULL;
    if (!json_member(object, "labels"))
        goto done;
    TRY(json_get_real(&f->label_scale, object, name, "labels.scale"));
    TRY(json_get_text(&f->label_entry, object, name, "labels.entry"));
    if (!f->inputs_only || !(f->label_scale > 0))
        FAIL(SOTTO_EFORMAT, "%s: 'labels' has no scale above 0, or is in a run that does not protect inputs",
             name);
done:
    return status;
}

sotto_status dpsgd_facts_get(struct dpsgd_facts *out, const struct json *object, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_facts f;
    const char *clipping, *protects = json_text(json_find(object, "protects")),
                          *sampling = json_text(json_find(object, "sampling"));
    TRY(json_get_text(&f.mechanism, object, name, "mechanism"));
    TRY(json_get_real(&f.scale, object, name, "scale"));
    TRY(json_get_real(&f.max_grad_norm, object, name, "max_grad_norm"));
    TRY(json_get_text(&clipping, object, name, "clipping"));
    TRY(json_get_real(&f.sample_rate, object, name, "sample_rate"));
    TRY(json_get_size(&f.dimension, object, name, "dimension"));
    if (strcmp(clipping, "l1") != 0 && strcmp(clipping, "l2") != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'clipping' is neither l1 nor l2", name);
    f.clipping = strcmp(clipping, "l1") == 0 ? SOTTO_NORM_L1 : SOTTO_NORM_L2;
    TRY(get_lattice(&f, object, name));
    f.condition = json_text(json_find(object, "condition"));
    f.inputs_only = protects != NULL;
    if (protects && strcmp(protects, "inputs") != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'protects' is not inputs", name);
    if (sotto_sampling_find(&f.sampling, sampling ? sampling : "poisson") != SOTTO_OK)
        FAIL(SOTTO_EFORMAT, "%s: 'sampling' is neither poisson nor fixed", name);
    TRY(get_labels(&f, object, name));
    *out = f;
done:
    return status;
}

struct json *dpsgd_reservations_json(const struct dpsgd_reservations *run)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < run->count; i++) {
        struct json *one = json_make_object();
        json_put_integer(&one, "index", (int64_t)run->items[i].entry);
        json_put_text(&one, "hash", run->items[i].hash);
        json_put_integer(&one, "first_step", (int64_t)run->items[i].first_step);
        json_put_integer(&one, "steps", (int64_t)run->items[i].steps);
        json_push(&list, one);
    }
    return list;
}

static struct json *run_json(const struct certificate_run *r)
{
    struct json *run = json_make_object(), *steps = json_make_object();
    json_put_text(&run, "id", r->reservations.id);
    dpsgd_facts_put(&run, &r->facts);
    json_put_integer(&steps, "charged", (int64_t)r->reservations.charged);
    json_put_integer(&steps, "used", (int64_t)r->used);
    json_put(&run, "steps", steps);
    json_put(&run, "reservations", dpsgd_reservations_json(&r->reservations));
    return run;
}

/* Where it was recorded, and what came in. */
static void put_origin(struct json **object, const struct sotto_certificate *c)
{
    struct json *where = json_make_object();
    json_put_integer(&where, "index", (int64_t)c->entry);
    json_put_text(&where, "hash", c->hash);
    if (c->run)
        json_put(object, "run", run_json(c->run));
    json_put(object, "ledger", where);
    json_put_text(object, "purpose", c->purpose);
    if (!c->run)
        json_put_text(object, "input_commitment", c->input_commitment);
    if (c->classes) {
        struct json *classes = json_make_object();
        json_put_integer(&classes, "count", (int64_t)c->classes);
        json_put_text(&classes, "given_by", c->classes_by);
        json_put(object, "classes", classes);
    }
}

static struct json *document(const struct sotto_certificate *c, const char *output_sha256)
{
    struct json *object = json_make_object();
    char scale[64];
    snprintf(scale, sizeof scale, "%a", c->account.scale);
    json_put_text(&object, "schema", CERTIFICATE_SCHEMA);
    json_put_text(&object, "version", sotto_version());
    json_put_text(&object, "time", c->time);
    json_put_text(&object, "mechanism", c->account.mechanism);
    json_put_real(&object, "scale", c->account.scale);
    json_put_text(&object, "scale_exact", scale);
    json_put_real(&object, "standard_deviation", c->account.standard_deviation);
    json_put_integer(&object, "lattice_exponent", c->lattice_exponent);
    json_put_integer(&object, "dimension", (int64_t)c->dimension);
    json_put(&object, "records", c->records ? json_make_integer((int64_t)c->records) : json_make_null());
    json_put_text(&object, "condition", c->condition[0] ? c->condition : NULL);
    json_put(&object, "sensitivity", certificate_sensitivity(&c->sensitivity));
    json_put(&object, "guarantee", certificate_guarantee(c));
    json_put_text(&object, "randomness",
                  c->seeded ? "noise was seeded: no privacy guarantee"
                            : "operating system (getrandom, ChaCha20)");
    json_put_text(&object, "sampler", c->sampler);
    put_origin(&object, c);
    if (output_sha256[0])
        json_put_text(&object, "output_sha256", output_sha256);
    return object;
}

sotto_status sotto_certificate_encode(char **json, const struct sotto_certificate *c)
{
    return dump(json, document(c, c->output_sha256), JSON_PRETTY);
}

sotto_status sotto_certificate_save(const char *path, const struct sotto_certificate *c,
                                    const char *output_sha256)
{
    struct json *object = document(c, output_sha256);
    sotto_status status = json_write_file(path, object, JSON_PRETTY);
    json_free(object);
    return status;
}

sotto_status sotto_account_json(char **json, const struct sotto_account *a)
{
    struct json *object = json_make_object();
    json_put_text(&object, "schema", "sotto.account/1");
    json_put_text(&object, "mechanism", a->mechanism);
    bool sampled = a->sample_rate < 1 || a->clipping[0];
    json_put_real(&object, sampled ? "noise_multiplier" : "scale", a->scale);
    json_put_real(&object, "standard_deviation", a->standard_deviation);
    if (sampled)
        json_put_real(&object, "sample_rate", a->sample_rate);
    if (a->sampling[0])
        json_put_text(&object, "sampling", a->sampling);
    if (a->clipping[0])
        json_put_text(&object, "clipping", a->clipping);
    json_put_integer(&object, sampled ? "steps" : "compose", (int64_t)a->compose);
    put_account(&object, a);
    return dump(json, object, JSON_PRETTY);
}

/* ---- lines to write ---- */

static const char line_schema[] = "sotto.ledger/1";
static const char *const event_names[] = {
    [LEDGER_RELEASE] = "release", [LEDGER_RESERVE] = "reserve", [LEDGER_IMPORT] = "import",
    [LEDGER_BUDGET] = "budget",   [LEDGER_TORN] = "torn",       [LEDGER_RECORDS] = "records",
    [LEDGER_MOVED] = "moved"};
enum { EVENTS = sizeof event_names / sizeof *event_names };

const char *ledger_event_name(enum ledger_event event)
{
    return event_names[event];
}

bool ledger_event_charges(enum ledger_event event)
{
    return event == LEDGER_RELEASE || event == LEDGER_RESERVE || event == LEDGER_IMPORT;
}

static struct json *line_of(enum ledger_event event)
{
    struct json *line = json_make_object();
    json_put_text(&line, "schema", line_schema);
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
    json_put_text(line, "mechanism", e->account->mechanism);
    json_put_real(line, "scale", e->account->scale);
    json_put_integer(line, "dimension", (int64_t)e->dimension);
    json_put(line, "sensitivity", certificate_sensitivity(e->sensitivity));
    if (e->sensitivity->value_step > 0)
        json_put_real(line, "value_step", e->sensitivity->value_step);
    put_account(line, e->account);
    json_put_text(line, "sampler", e->sampler);
    json_put_text(line, "randomness", e->randomness);
    json_put_text(line, "input_sha256", e->input_sha256);
    json_put_text(line, "input_nonce", e->input_nonce);
    put_source(line, e->source);
}

static void put_reservation(struct json **line, const struct charge_entry *e)
{
    json_put_text(line, "run", e->run);
    put_subject(line, e);
    dpsgd_facts_put(line, e->facts);
    json_put_integer(line, "steps", (int64_t)e->steps);
    json_put_integer(line, "first_step", (int64_t)e->first_step);
    json_put(line, "sensitivity", certificate_sensitivity(e->sensitivity));
    put_account(line, e->account);
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
    put_account(line, e->account);
}

sotto_status charge_entry_encode(char **text, const struct charge_entry *e)
{
    static void (*const put[])(struct json **, const struct charge_entry *) = {
        [LEDGER_RELEASE] = put_release, [LEDGER_RESERVE] = put_reservation, [LEDGER_IMPORT] = put_import};
    struct json *line = line_of(e->event);
    put[e->event](&line, e);
    return dump(text, line, JSON_LINE);
}

sotto_status ledger_hashes_encode(char **text, const struct ledger_hashes *h)
{
    struct json *line = line_of(LEDGER_RECORDS);
    json_put_text(&line, "dataset_id", h->dataset_id);
    json_put_text(&line, "key", h->key);
    json_put_integer(&line, "count", (int64_t)h->count);
    json_put_text(&line, "hashes", h->hashes);
    return dump(text, line, JSON_LINE);
}

sotto_status ledger_budget_encode(char **text, struct sotto_dp budget, const char *set_by,
                                  const char *contact)
{
    struct json *line = line_of(LEDGER_BUDGET);
    json_put_real(&line, "epsilon", budget.epsilon);
    json_put_real(&line, "delta", budget.delta);
    if (set_by)
        json_put_text(&line, "set_by", set_by);
    if (contact)
        json_put_text(&line, "contact", contact);
    return dump(text, line, JSON_LINE);
}

sotto_status ledger_torn_encode(char **text, size_t bytes, const char *sha256)
{
    struct json *line = json_make_object(); /* without a schema, as ever */
    json_put_text(&line, "event", event_names[LEDGER_TORN]);
    json_put_integer(&line, "bytes", (int64_t)bytes);
    json_put_text(&line, "sha256", sha256);
    return dump(text, line, JSON_LINE);
}

sotto_status ledger_move_encode(char **text, const char *to)
{
    struct json *line = line_of(LEDGER_MOVED);
    json_put_text(&line, "to", to);
    return dump(text, line, JSON_LINE);
}

/* ---- lines that are read ---- */

sotto_status ledger_line_parse(struct ledger_line *out, const char *text, size_t size, const char *name)
{
    struct json *document;
    sotto_status status = json_parse(&document, text, size, name);
    if (status == SOTTO_OK)
        *out = (struct ledger_line){.document = document,
                                    .hash = json_text(json_find(document, "hash")),
                                    .run = json_text(json_find(document, "run")),
                                    .mechanism = json_text(json_find(document, "mechanism")),
                                    .time = json_text(json_find(document, "time"))};
    return status;
}

void ledger_line_free(struct ledger_line *line)
{
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

static bool says(const struct json *entry, const char *key, const char *value)
{
    const char *text = json_text(json_find(entry, key));
    return text && strcmp(text, value) == 0;
}

struct ledger_charge ledger_line_charge(const struct ledger_line *line)
{
    const struct json *d = line->document;
    return (struct ledger_charge){.mechanism = line->mechanism,
                                  .sampler = json_text(json_find(d, "sampler")),
                                  .adjacency = json_text(json_find(d, "adjacency")),
                                  .source = json_text(json_find(d, "sensitivity.source")),
                                  .purpose = json_text(json_find(d, "purpose")),
                                  .clipping = says(d, "clipping", "l1") ? SOTTO_NORM_L1 : SOTTO_NORM_L2,
                                  .sampling = says(d, "sampling", "fixed") ? SOTTO_SAMPLING_FIXED
                                                                           : SOTTO_SAMPLING_POISSON,
                                  .l1 = number_or(d, "sensitivity.l1", NAN),
                                  .l2 = number_or(d, "sensitivity.l2", NAN),
                                  .scale = number_or(d, "scale", 0),
                                  .value_step = number_or(d, "value_step", 0),
                                  .noise_multiplier = number_or(d, "noise_multiplier", 0),
                                  .sample_rate = number_or(d, "sample_rate", 0),
                                  .dimension = size_or(d, "dimension", 0),
                                  .steps = size_or(d, "steps", 1),
                                  .pure = number_or(d, "pure_epsilon", NAN),
                                  .rho = number_or(d, "zcdp_rho", NAN),
                                  .epsilon = number_or(d, "epsilon.upper", NAN),
                                  .delta = number_or(d, "delta", 0),
                                  .conditional = json_find(d, "condition") != NULL,
                                  .inputs_only = json_find(d, "protects") && !json_find(d, "labels")};
}

static sotto_status get_charge(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct ledger_charge *c = &line->charge;
    const struct json *d = line->document;
    const char *randomness = "os";
    *c = ledger_line_charge(line);
    TRY(json_get_text(&c->source, d, name, "sensitivity.source"));
    if (line->event != LEDGER_IMPORT)
        TRY(json_get_text(&randomness, d, name, "randomness"));
    TRY(json_get_real_or_null(&c->pure, d, name, "pure_epsilon"));
    TRY(json_get_real_or_null(&c->rho, d, name, "zcdp_rho"));
    TRY(json_get_real_or_null(&c->epsilon, d, name, "epsilon.upper"));
    TRY(json_get_real(&c->delta, d, name, "delta"));
    if (c->pure < 0 || c->rho < 0 || c->epsilon < 0 || c->delta < 0)
        FAIL(SOTTO_EFORMAT, "%s: the privacy loss is below 0; expected at least 0", name);
    c->seeded = strcmp(randomness, "os") != 0;
done:
    return status;
}

static sotto_status get_budget(struct ledger_line *line, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_real(&line->budget.epsilon, line->document, name, "epsilon"));
    TRY(json_get_real(&line->budget.delta, line->document, name, "delta"));
    if (!(line->budget.epsilon >= 0 && line->budget.delta >= 0))
        FAIL(SOTTO_EFORMAT, "%s: the budget is below 0; expected at least 0", name);
    line->by_officer = says(line->document, "set_by", "officer");
    line->contact = json_text(json_find(line->document, "contact"));
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
        [LEDGER_RELEASE] = get_charge, [LEDGER_RESERVE] = get_charge, [LEDGER_IMPORT] = get_charge,
        [LEDGER_BUDGET] = get_budget,  [LEDGER_TORN] = get_nothing,   [LEDGER_RECORDS] = get_hashes,
        [LEDGER_MOVED] = get_move};
    sotto_status status = SOTTO_OK;
    const struct json *d = line->document;
    const char *event, *schema = json_text(json_find(d, "schema")); /* "torn" has none */
    size_t i = 0;
    if (json_find(d, "schema") && (!schema || strcmp(schema, line_schema) != 0))
        FAIL(SOTTO_EFORMAT,
             "%s: schema is '%.40s'; expected sotto.ledger/1 (written by a newer sotto? use that version)",
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

/* ---- what is shown of a ledger ---- */

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

static struct json *budget_json(struct sotto_dp budget)
{
    if (isnan(budget.epsilon))
        return json_make_null();
    struct json *object = json_make_object();
    json_put_real(&object, "epsilon", budget.epsilon);
    json_put_real(&object, "delta", budget.delta);
    return object;
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
    bool none = t->conditional.releases > 0 || t->seeded > 0;
    json_put(&object, "proved", none ? json_make_text("none") : column_json(&t->proved));
    json_put(&object, "proved_releases_only", column_json(&t->proved));
    json_put(&object, "conditional", column_json(&t->conditional));
    json_put_integer(&object, "imported", (int64_t)t->imported);
    json_put_integer(&object, "seeded_releases", (int64_t)t->seeded);
    if (t->inputs_only > 0) {
        json_put_integer(&object, "inputs_only_releases", (int64_t)t->inputs_only);
        json_put_text(&object, "labels",
                      "not protected by every release: some assume public labels, and the sums hold for "
                      "records with a replaced input and an unchanged label");
    }
    json_put(&object, "budget", budget_json(t->budget));
    return dump(json, object, JSON_PRETTY);
}

static void copy_member(struct json **to, const struct json *from, const char *path, const char *as)
{
    const struct json *found = json_find(from, path);
    json_put(to, as, found ? json_clone(found) : json_make_null());
}

sotto_status ledger_rows_add(struct json **rows, const struct ledger_line *line, double total)
{
    static const char *const plain[] = {"index",     "time",  "event",       "purpose", "mechanism",
                                        "adjacency", "delta", "same_people", "contact", "to"};
    const struct json *d = line->document;
    struct json *one = json_make_object();
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (json_find(d, plain[i]))
            copy_member(&one, d, plain[i], plain[i]);
    if (line->event == LEDGER_RECORDS)
        copy_member(&one, d, "count", "records");
    if (line->event == LEDGER_BUDGET)
        copy_member(&one, d, "epsilon", "epsilon");
    if (ledger_event_charges(line->event)) {
        copy_member(&one, d, "epsilon.upper", "epsilon");
        copy_member(&one, d, "sensitivity.source", "sensitivity");
        json_put_real(&one, "total", total);
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
    json_put(&doc, "entries", *rows ? *rows : json_make_array());
    *rows = NULL;
    return dump(json, doc, JSON_PRETTY);
}

/* ---- where a ledger lies ---- */

static const char place_schema[] = "sotto.ledger-place/1";

sotto_status ledger_place_load(char **dataset_id, char **ledger, const char *place)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    const char *schema, *id, *path;
    char *own = NULL;
    TRY(json_read_file(&doc, place));
    TRY(json_get_text(&schema, doc, place, "schema"));
    if (strcmp(schema, place_schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'schema' is '%.40s'; expected %s", place, schema, place_schema);
    TRY(json_get_text(&id, doc, place, "dataset_id"));
    TRY(json_get_text(&path, doc, place, "ledger"));
    if (!(own = base_strdup(id)) || !(*ledger = base_strdup(path)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", place);
    *dataset_id = own;
    own = NULL;
done:
    base_free(own);
    json_free(doc);
    return status;
}

sotto_status ledger_place_save(const char *place, const char *dataset_id, const char *ledger)
{
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", place_schema);
    json_put_text(&doc, "dataset_id", dataset_id);
    json_put_text(&doc, "ledger", ledger);
    sotto_status status = json_write_file(place, doc, JSON_LINE);
    json_free(doc);
    return status;
}
