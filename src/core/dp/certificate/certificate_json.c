/* JSON of accounts and certificates. Infinite and missing values are null. */
#include "dp/certificate/certificate_json.h"

#include "dp/account/account_pld.h"
#include "dp/certificate/certificate_claims.h"
#include "dp/dpsgd/dpsgd_json.h"
#include "dp/mechanism/mechanism.h"
#include "io/json/json.h"
#include "sotto/lab/account.h"
#include "sotto/lab/compose.h"
#include "sotto/private/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_status certificate_json_dump(char **text, struct json *object, int style)
{
    sotto_status status = json_dump(text, object, style);
    json_free(object);
    return status;
}

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

void plan_slot_put(struct json **object, const char *plan, size_t slot)
{
    struct json *member = json_make_object();
    json_put_text(&member, "id", plan);
    json_put_integer(&member, "slot", (int64_t)slot);
    json_put(object, "plan", member);
}

sotto_status plan_slot_get(const char **plan, size_t *slot, const struct json *object, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_text(plan, object, name, "plan.id"));
    TRY(json_get_size(slot, object, name, "plan.slot"));
    if (strlen(*plan) != 64 || strspn(*plan, "0123456789abcdef") != 64 || *slot < 1)
        FAIL(SOTTO_EFORMAT, "%s: 'plan' is wrong; expected the hash of a plan, and a slot from 1", name);
done:
    return status;
}

static struct json *certificate_json_interval(const struct sotto_interval *epsilon)
{
    struct json *object = json_make_object();
    json_put_real(&object, "lower", epsilon->lower);
    json_put_real(&object, "upper", epsilon->upper);
    return object;
}

void account_put(struct json **object, const struct sotto_account *a)
{
    struct json *bounds = json_make_object();
    for (size_t i = 0; i < a->bound_count; i++)
        json_put_real(&bounds, a->bounds[i].name, a->bounds[i].epsilon);
    json_put(object, "epsilon", certificate_json_interval(&a->epsilon));
    json_put_real(object, "delta", a->delta);
    json_put_text(object, "accountant", a->accountant);
    json_put_real(object, "pure_epsilon", a->pure_epsilon);
    json_put_real(object, "zcdp_rho", a->zcdp_rho);
    json_put_text(object, "adjacency", sotto_adjacency_name(a->adjacency));
    if (a->has_other) {
        struct json *other = json_make_object();
        json_put_text(&other, "adjacency", sotto_adjacency_name(a->other_adjacency));
        json_put(&other, "epsilon", certificate_json_interval(&a->other_epsilon));
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
    account_put(&account, &c->account);
    if (!proved)
        json_put_text(&account, "condition", c->wording.rests_on);
    json_put(&object, "proved", proved ? json_clone(account) : json_make_text("none"));
    json_put(&object, "conditional", proved || c->seeded ? json_make_null() : json_clone(account));
    json_put_text(&object, "statement", c->wording.statement);
    json_free(account);
    return object;
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
    if (r->ranks > 1) {
        json_put_integer(&run, "ranks", (int64_t)r->ranks);
        json_put_text(&run, "sampling_by", CERTIFICATE_SAMPLING_BY);
    }
    return run;
}

static struct json *queries_json(const struct sotto_certificate *c)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < c->query_count; i++) {
        struct json *one = json_make_object();
        json_put_text(&one, "query", c->queries[i].text);
        json_put_integer(&one, "cells", (int64_t)c->queries[i].cells);
        json_put_integer(&one, "mass", c->queries[i].mass);
        if (c->queries[i].choice_scale > 0)
            json_put_real(&one, "choice_scale", c->queries[i].choice_scale);
        if (c->queries[i].block_scale > 0)
            json_put_integer(&one, "block_scale", (int64_t)c->queries[i].block_scale);
        json_push(&list, one);
    }
    return list;
}

/* Where it was recorded, and what came in. */
static void put_origin(struct json **object, const struct sotto_certificate *c)
{
    struct json *where = json_make_object();
    entry_number_put(&where, c->entry, c->by_line);
    json_put_text(&where, "hash", c->hash);
    if (c->run)
        json_put(object, "run", run_json(c->run));
    json_put(object, "ledger", where);
    if (c->slot > 0)
        plan_slot_put(object, c->plan, c->slot);
    json_put_text(object, "purpose", c->purpose);
    if (!c->run)
        json_put_text(object, "input_commitment", c->input_commitment);
    if (c->shaped_by[0])
        json_put_text(object, "shaped_by", c->shaped_by);
    if (c->classes) {
        struct json *classes = json_make_object();
        json_put_integer(&classes, "count", (int64_t)c->classes);
        json_put_text(&classes, "given_by", c->classes_by);
        json_put(object, "classes", classes);
    }
    if (c->statistic[0]) {
        struct json *statistic = json_make_object(), *range = json_make_array();
        json_put_text(&statistic, "name", c->statistic);
        json_push(&range, json_make_real(c->low));
        json_push(&range, json_make_real(c->high));
        if (c->low < c->high)
            json_put(&statistic, "range", range);
        else
            json_free(range);
        if (c->query_count)
            json_put(&statistic, "queries", queries_json(c));
        json_put(object, "statistic", statistic);
    }
    if (c->tuning) {
        struct json *tuning = json_make_object();
        json_put_integer(&tuning, "trained", (int64_t)c->tuning->trained);
        json_put_integer(&tuning, "frozen", (int64_t)c->tuning->frozen);
        json_put_text(&tuning, "tensors", c->tuning->tensors);
        json_put_text(&tuning, "encoder", c->tuning->encoder);
        json_put_text(&tuning, "encoder_sha256", c->tuning->encoder_sha256);
        if (c->tuning->standardise[0]) {
            json_put_text(&tuning, "standardise", c->tuning->standardise);
            json_put_text(&tuning, "standardise_sha256", c->tuning->standardise_sha256);
        }
        json_put(object, "fine_tuning", tuning);
    }
}

static struct json *certificate_json_document(const struct sotto_certificate *c, const char *output_sha256)
{
    struct json *object = json_make_object();
    char scale[64];
    snprintf(scale, sizeof scale, "%a", c->account.scale);
    json_put_text(&object, "schema", c->unit.rows ? CERTIFICATE_PERSON_SCHEMA : CERTIFICATE_SCHEMA);
    json_put_text(&object, "version", c->version);
    json_put_text(&object, "time", c->time);
    json_put_text(&object, "mechanism", c->account.mechanism);
    json_put_real(&object, "scale", c->account.scale);
    json_put_text(&object, "scale_exact", scale);
    json_put_real(&object, "standard_deviation", c->account.standard_deviation);
    json_put_integer(&object, "lattice_exponent", c->lattice_exponent);
    json_put_integer(&object, "dimension", (int64_t)c->dimension);
    json_put(&object, "records", c->records ? json_make_integer((int64_t)c->records) : json_make_null());
    json_put_text(&object, "condition", c->condition[0] ? c->condition : NULL);
    unit_put(&object, &c->unit);
    json_put(&object, "sensitivity", certificate_sensitivity(&c->sensitivity));
    json_put(&object, "guarantee", certificate_guarantee(c));
    json_put_text(&object, "randomness", c->seeded ? CERTIFICATE_SEEDED : CERTIFICATE_SYSTEM);
    json_put_text(&object, "sampler", c->sampler);
    put_origin(&object, c);
    if (output_sha256[0])
        json_put_text(&object, "output_sha256", output_sha256);
    if (c->labels_sha256[0])
        json_put_text(&object, "labels_sha256", c->labels_sha256);
    return object;
}

sotto_status sotto_certificate_encode(char **json, const struct sotto_certificate *certificate)
{
    REQUIRE_GIVEN(json, certificate);
    return certificate_document(json, certificate, certificate->output_sha256);
}

sotto_status certificate_document(char **text, const struct sotto_certificate *c, const char *output_sha256)
{
    return certificate_json_dump(text, certificate_json_document(c, output_sha256), JSON_PRETTY);
}

static struct json *account_object(const struct sotto_account *account)
{
    struct json *object = json_make_object();
    json_put_text(&object, "schema", "sotto.account/1");
    json_put_text(&object, "mechanism", account->mechanism);
    json_put_real(&object, account->sampled ? "noise_multiplier" : "scale", account->scale);
    json_put_real(&object, "standard_deviation", account->standard_deviation);
    if (account->sampled) {
        json_put_real(&object, "sample_rate", account->sample_rate);
        json_put_text(&object, "sampling", sotto_sampling_name(account->sampling));
        json_put_text(&object, "clipping", norm_name(account->clipping));
    }
    json_put_integer(&object, account->sampled ? "steps" : "compose", (int64_t)account->compose);
    account_put(&object, account);
    return object;
}

sotto_status sotto_account_json(char **json, const struct sotto_account *account)
{
    REQUIRE_GIVEN(json, account);
    return certificate_json_dump(json, account_object(account), JSON_PRETTY);
}

sotto_status sotto_any_order_json(char **json, const struct sotto_any_order *any)
{
    REQUIRE_GIVEN(json, any);
    struct json *object = json_make_object(), *box = json_make_object();
    json_put_real(&box, "pure", any->box.pure);
    json_put_real(&box, "mu", any->box.mu);
    json_put_real(&box, "failure", any->box.failure);
    json_put_text(&object, "schema", "sotto.any_order/1");
    json_put(&object, "epsilon", certificate_json_interval(&any->epsilon));
    json_put_real(&object, "delta", any->beforehand.delta);
    json_put(&object, "box", box);
    json_put(&object, "reason", any->reason[0] ? json_make_text(any->reason) : json_make_null());
    json_put(&object, "beforehand", account_object(&any->beforehand));
    return certificate_json_dump(json, object, JSON_PRETTY);
}

/* ---- certificates that are read ---- */

static bool knows_members(const struct json *query)
{
    static const char *const known[] = {"query", "cells", "mass", "choice_scale", "block_scale"};
    bool all = true;
    for (const char *k = json_first_key(query); k; k = json_next_key(query, k)) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strcmp(known[i], k) != 0)
            i++;
        all = all && i < sizeof known / sizeof *known;
    }
    return all;
}

sotto_status certificate_queries_read(struct certificate_query **out, size_t *count,
                                      const struct json *queries, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct certificate_query *read = NULL;
    *count = json_count(queries);
    NEW(read, *count);
    for (size_t i = 0; i < *count; i++) {
        const struct json *one = json_at(queries, i);
        const double cells = json_number(json_member(one, "cells")),
                     mass = json_number(json_member(one, "mass"));
        const struct json *choice = json_member(one, "choice_scale"),
                          *block = json_member(one, "block_scale");
        const double scale = choice ? json_number(choice) : 0, radius = block ? json_number(block) : 0;
        const char *text = json_text(json_member(one, "query"));
        if (!text || !knows_members(one) || !(cells >= 1 && cells <= 0x1p32 && cells == floor(cells)) ||
            !(mass >= 1 && mass <= 0x1p53 && mass == floor(mass)) ||
            (choice && !(scale > 0 && isfinite(scale))) ||
            (block && !(radius >= 1 && radius <= 0x1p53 && radius == floor(radius) && cells == 1)))
            FAIL(SOTTO_EFORMAT,
                 "%s: 'statistic.queries' is wrong; expected a query, its cells and its mass in each", name);
        read[i] = (struct certificate_query){(char *)text, (size_t)cells, (int64_t)mass, scale, radius};
    }
    *out = read;
    read = NULL;
done:
    base_free(read);
    return status;
}

/* The reservations that a run lists. */
static sotto_status read_reservations(struct run_claims *r, const struct json *list, bool by_line,
                                      const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *last;
    size_t number;
    int64_t entry;
    const char *hash;
    r->reservations = json_count(list);
    last = json_at(list, r->reservations - 1);
    r->last_hash = json_text(json_member(last, "hash"));
    r->last_entry = entry_number_of(last);
    for (size_t i = 0; i < r->reservations; i++) {
        const struct json *one = json_at(list, i);
        TRY(json_get_text(&hash, one, path, "hash"));
        TRY(json_get_integer(&entry, one, path, by_line ? "index" : "charge"));
        TRY(json_get_size(&number, one, path, "first_step"));
        TRY(json_get_size(&number, one, path, "steps"));
        r->reserved += (double)number;
    }
done:
    return status;
}

static sotto_status read_ranks(struct run_claims *r, const struct json *run, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *by;
    TRY(json_get_size(&r->ranks, run, path, "ranks"));
    TRY(json_get_text(&by, run, path, "sampling_by"));
    if (r->ranks < 2 || strcmp(by, CERTIFICATE_SAMPLING_BY) != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: 'run' has %zu ranks and sampling by '%.40s'; expected at least 2 ranks, and sampling by %s",
             path, r->ranks, by, CERTIFICATE_SAMPLING_BY);
done:
    return status;
}

static sotto_status read_run(struct certificate_claims *f, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *run, *list;
    TRY(entry_number_get(&f->entry, &f->by_line, &f->has_entry, json_member(c, "ledger"), path));
    TRY(json_get_integer(&f->entry, c, path, f->by_line ? "ledger.index" : "ledger.charge"));
    if (!json_member(c, "run"))
        goto done;
    TRY(json_get_object(&run, c, path, "run"));
    TRY(dpsgd_facts_get(&f->run_claims.facts, run, path));
    TRY(json_get_text(&f->run, run, path, "id"));
    TRY(json_get_array(&list, run, path, "reservations"));
    TRY(json_get_size(&f->run_claims.charged, run, path, "steps.charged"));
    f->run_claims.used = json_number(json_find(run, "steps.used"));
    if (json_member(run, "ranks"))
        TRY(read_ranks(&f->run_claims, run, path));
    f->run_claims.multiplier = json_number(json_find(run, "noise_multiplier"));
    TRY(read_reservations(&f->run_claims, list, f->by_line, path));
    if (strlen(f->run) != RUN_ID)
        FAIL(SOTTO_EFORMAT, "%s: 'run.id' is not the name of a run", path);
done:
    return status;
}

static sotto_status read_version(struct certificate_claims *f, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *schema;
    TRY(json_get_text(&schema, c, path, "schema"));
    f->version = strcmp(schema, "sotto.certificate/1") == 0       ? 1
                 : strcmp(schema, CERTIFICATE_SCHEMA) == 0        ? 2
                 : strcmp(schema, CERTIFICATE_PERSON_SCHEMA) == 0 ? 3
                                                                  : 0;
    f->has_later_members = json_member(c, "records") || json_member(c, "condition");
    if (!f->version)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%.64s'; expected %s or an earlier version", path, schema,
             CERTIFICATE_PERSON_SCHEMA);
    TRY(unit_get(&f->unit, c, path));
    if (json_member(c, "unit_of_privacy"))
        TRY(json_get_text(&f->unit_words, c, path, "unit_of_privacy"));
    if ((f->version == 3) != (f->unit.rows > 0))
        FAIL(SOTTO_EFORMAT, "%s: schema is '%.64s' %s 'person'; only %s has it", path, schema,
             f->unit.rows ? "with" : "without", CERTIFICATE_PERSON_SCHEMA);
    if (f->version == 1)
        goto done;
    if (!json_member(c, "records") || !json_member(c, "condition"))
        FAIL(SOTTO_EFORMAT, "%s: 'records' or 'condition' is missing; version 2 has both", path);
    if (json_kind(json_member(c, "records")) != JSON_KIND_NULL)
        TRY(json_get_size(&f->records, c, path, "records"));
    if (json_kind(json_member(c, "condition")) != JSON_KIND_NULL)
        TRY(json_get_text(&f->condition, c, path, "condition"));
done:
    return status;
}

const struct json *claimed_account(const struct certificate_claims *f)
{
    const struct json *proved = json_find(f->document, "guarantee.proved"),
                      *conditional = json_find(f->document, "guarantee.conditional");
    return json_kind(proved) == JSON_KIND_OBJECT        ? proved
           : json_kind(conditional) == JSON_KIND_OBJECT ? conditional
                                                        : NULL;
}

static sotto_status read_account(struct account_claims *a, const struct json *claim, const char *path)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_real(&a->delta, claim, path, "delta"));
    TRY(json_get_real_or_null(&a->upper, claim, path, "epsilon.upper"));
    TRY(json_get_real_or_null(&a->lower, claim, path, "epsilon.lower"));
    TRY(json_get_real_or_null(&a->pure, claim, path, "pure_epsilon"));
    TRY(json_get_real_or_null(&a->rho, claim, path, "zcdp_rho"));
    TRY(json_get_text(&a->adjacency, claim, path, "adjacency"));
    TRY(json_get_text(&a->accountant, claim, path, "accountant"));
    a->conditional = json_member(claim, "condition") != NULL;
    a->condition = json_text(json_member(claim, "condition"));
    a->other = json_member(claim, "other") != NULL;
    a->note = json_text(json_member(claim, "note"));
    if (!a->other || json_kind(json_member(claim, "other")) == JSON_KIND_NULL)
        goto done;
    TRY(json_get_text(&a->other_adjacency, claim, path, "other.adjacency"));
    TRY(json_get_real_or_null(&a->other_lower, claim, path, "other.epsilon.lower"));
    TRY(json_get_real_or_null(&a->other_upper, claim, path, "other.epsilon.upper"));
done:
    return status;
}

static sotto_status read_guarantee(struct certificate_claims *f, const struct json *c, const char *path)
{
    const struct json *proved = json_find(c, "guarantee.proved"), *claim = claimed_account(f);
    if (!proved || !json_find(c, "guarantee.conditional"))
        return status_fail(SOTTO_EFORMAT, "%s: 'guarantee' has neither 'proved' nor 'conditional'", path);
    const enum json_kind kind = json_kind(json_find(c, "guarantee.conditional"));
    if (kind != JSON_KIND_OBJECT && kind != JSON_KIND_NULL)
        return status_fail(SOTTO_EFORMAT, "%s: 'guarantee.conditional' is neither an account nor null", path);
    f->proved = json_text(proved);
    f->statement = json_text(json_find(c, "guarantee.statement"));
    f->claimed = claim != NULL;
    return claim ? read_account(&f->claim, claim, path) : SOTTO_OK;
}

static sotto_status read_tuning(struct tuning_claims *t, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *tuning;
    if (!json_member(c, "fine_tuning"))
        goto done;
    TRY(json_get_object(&tuning, c, path, "fine_tuning"));
    TRY(json_get_size(&t->trained, tuning, path, "trained"));
    TRY(json_get_size(&t->frozen, tuning, path, "frozen"));
    TRY(json_get_text(&t->tensors, tuning, path, "tensors"));
    TRY(json_get_text(&t->encoder, tuning, path, "encoder"));
    TRY(json_get_text(&t->encoder_sha256, tuning, path, "encoder_sha256"));
    t->standardise = t->standardise_sha256 = "";
    if (json_member(tuning, "standardise")) {
        TRY(json_get_text(&t->standardise, tuning, path, "standardise"));
        TRY(json_get_text(&t->standardise_sha256, tuning, path, "standardise_sha256"));
    }
    t->claimed = true;
done:
    return status;
}

static sotto_status read_statistic(struct certificate_claims *f, const struct json *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *statistic, *range;
    if (!json_member(c, "statistic"))
        goto done;
    TRY(json_get_object(&statistic, c, path, "statistic"));
    TRY(json_get_text(&f->statistic, statistic, path, "name"));
    f->queries = json_member(statistic, "queries");
    range = json_member(statistic, "range");
    if (!range)
        goto done;
    f->low = json_number(json_at(range, 0));
    f->high = json_number(json_at(range, 1));
    if (json_count(range) != 2 || !(f->low < f->high) || !isfinite(f->high - f->low))
        FAIL(SOTTO_EFORMAT, "%s: 'statistic.range' is no pair of numbers; expected the lower end first",
             path);
done:
    return status;
}

/* What is for the record only. */
static void read_remarks(struct certificate_claims *f, const struct json *c)
{
    double classes = json_number(json_find(c, "classes.count"));
    f->maker = json_text(json_member(c, "version"));
    f->time = json_text(json_member(c, "time"));
    f->purpose = json_text(json_member(c, "purpose"));
    f->shaped_by = json_text(json_member(c, "shaped_by"));
    f->standard_deviation = json_number(json_member(c, "standard_deviation"));
    f->classes = classes > 0 && classes <= 0x1p52 ? (size_t)classes : 0;
    f->classes_by = json_text(json_find(c, "classes.given_by"));
}

static sotto_status read_claims(struct certificate_claims *f, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *c = f->document;
    TRY(read_version(f, c, path));
    TRY(json_get_text(&f->mechanism, c, path, "mechanism"));
    TRY(json_get_real(&f->scale, c, path, "scale"));
    TRY(json_get_text(&f->exact, c, path, "scale_exact"));
    TRY(json_get_integer(&f->exponent, c, path, "lattice_exponent"));
    TRY(json_get_size(&f->dimension, c, path, "dimension"));
    TRY(json_get_real_or_null(&f->sensitivity.l1, c, path, "sensitivity.l1"));
    TRY(json_get_real_or_null(&f->sensitivity.l2, c, path, "sensitivity.l2"));
    TRY(json_get_text(&f->source, c, path, "sensitivity.source"));
    TRY(json_get_text(&f->randomness, c, path, "randomness"));
    TRY(json_get_text(&f->hash, c, path, "ledger.hash"));
    TRY(read_run(f, c, path));
    if (json_member(c, "output_sha256"))
        TRY(json_get_text(&f->output, c, path, "output_sha256"));
    if (json_member(c, "labels_sha256"))
        TRY(json_get_text(&f->labels, c, path, "labels_sha256"));
    read_remarks(f, c);
    if (json_member(c, "plan"))
        TRY(plan_slot_get(&f->plan, &f->slot, c, path));
    TRY(read_statistic(f, c, path));
    TRY(read_tuning(&f->tuning, c, path));
    f->evidence = json_text(json_find(c, "sensitivity.evidence"));
    f->origin = json_text(json_find(c, "sensitivity.statement"));
    f->sampler = json_text(json_find(c, "sampler"));
    f->commitment = json_text(json_find(c, "input_commitment"));
    f->sensitivity.dimension = f->dimension;
    const struct mechanism *m = mechanism_find(f->mechanism);
    if (m && m->kind == RELEASE_INTEGER && f->exponent > -400 && f->exponent < 400)
        f->sensitivity.value_step = ldexp(1, (int)f->exponent);
    if (f->sampler && strncmp(f->sampler, FIXED_SAMPLER, strlen(FIXED_SAMPLER)) == 0)
        f->distance = (double)f->dimension * FIXED_DISTANCE;
    TRY(read_guarantee(f, c, path));
done:
    return status;
}

sotto_status certificate_claims_parse(struct certificate_claims *f, const char *text, const char *name)
{
    sotto_status status = json_parse(&f->document, text, strlen(text), name);
    return status == SOTTO_OK ? read_claims(f, name) : status;
}

sotto_status certificate_claims_load(struct certificate_claims *f, const char *path)
{
    sotto_status status = json_read_file(&f->document, path);
    return status == SOTTO_OK ? read_claims(f, path) : status;
}

void certificate_claims_free(struct certificate_claims *f)
{
    json_free(f->document);
    *f = (struct certificate_claims){0};
}

bool certificate_has(const struct certificate_claims *f, const char *member)
{
    return json_member(f->document, member) != NULL;
}

sotto_status certificate_claims_bounds(struct sotto_account *a, const struct certificate_claims *f,
                                       const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *bounds;
    TRY(json_get_object(&bounds, claimed_account(f), name, "bounds"));
    for (const char *key = json_first_key(bounds); key; key = json_next_key(bounds, key)) {
        struct sotto_bound *b = &a->bounds[a->bound_count];
        if (a->bound_count == SOTTO_MAX_BOUNDS || strlen(key) >= sizeof b->name)
            FAIL(SOTTO_EFORMAT, "%s: 'bounds' has the member '%.40s'; expected at most %d of %zu characters",
                 name, key, SOTTO_MAX_BOUNDS, sizeof b->name - 1);
        strcpy(b->name, key);
        double epsilon = json_number(json_member(bounds, key));
        b->epsilon = isnan(epsilon) ? INFINITY : epsilon; /* no finite one */
        a->bound_count++;
    }
done:
    return status;
}

sotto_status certificate_claims_reservations(struct dpsgd_reservations *out,
                                             const struct certificate_claims *f, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct json *list = json_find(f->document, "run.reservations");
    out->by_line = f->by_line;
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_at(list, i);
        struct dpsgd_reservation r;
        TRY(json_get_size(&r.entry, one, name, entry_number_name(f->by_line)));
        TRY(json_get_text_into(r.hash, sizeof r.hash, one, name, "hash"));
        TRY(json_get_size(&r.first_step, one, name, "first_step"));
        TRY(json_get_size(&r.steps, one, name, "steps"));
        if (r.steps > SIZE_MAX - out->charged)
            FAIL(SOTTO_EFORMAT, "%s: 'run.reservations' has too many steps", name);
        TRY(dpsgd_reservations_make_room(out));
        dpsgd_reservations_add(out, &r);
    }
done:
    return status;
}

sotto_status certificate_says(bool *same, const struct sotto_certificate *c,
                              const struct certificate_claims *f)
{
    sotto_status status = SOTTO_OK;
    struct json *guarantee = certificate_guarantee(c);
    char *mine = NULL, *theirs = NULL;
    TRY(json_dump(&mine, guarantee, JSON_SORTED));
    TRY(json_dump(&theirs, json_find(f->document, "guarantee"), JSON_SORTED));
    *same = strcmp(mine, theirs) == 0;
done:
    json_free(guarantee);
    base_free(mine);
    base_free(theirs);
    return status;
}
