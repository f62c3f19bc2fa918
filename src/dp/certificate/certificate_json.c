/* JSON of accounts and certificates. Infinite and missing values are null. */
#include "dp/certificate/certificate_json.h"
#include "dp/dpsgd/dpsgd_json.h"
#include "io/json/json.h"

#include <stdio.h>

static sotto_status dump(char **text, struct json *object, int style)
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

static struct json *interval(const struct sotto_interval *epsilon)
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
    account_put(&object, a);
    return dump(json, object, JSON_PRETTY);
}
