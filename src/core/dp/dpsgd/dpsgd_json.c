/* JSON of runs, as entries of ledgers and certificates both hold it. */
#include "dp/dpsgd/dpsgd_json.h"
#include "dp/account/account_pld.h"
#include "io/json/json.h"
#include "sotto/lab/account.h"

#include <string.h>

static void put_person(struct json **object, const struct privacy_unit *u)
{
    struct json *person = json_make_object();
    json_put_text(&person, "column", u->person[0] ? u->person : NULL);
    json_put_integer(&person, "rows", (int64_t)u->rows);
    if (u->persons)
        json_put_integer(&person, "persons", (int64_t)u->persons);
    json_put(object, "person", person);
}

void unit_put(struct json **object, const struct privacy_unit *u)
{
    char words[UNIT_TEXT];
    unit_word(words, u);
    json_put_text(object, "unit_of_privacy", words);
    if (u->rows && !json_member(*object, "person"))
        put_person(object, u);
}

sotto_status unit_get(struct privacy_unit *out, const struct json *object, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct privacy_unit u = {0};
    if (!json_member(object, "person"))
        goto done;
    TRY(json_get_size(&u.rows, object, name, "person.rows"));
    if (u.rows == 0 || u.rows > UNIT_ROWS)
        FAIL(SOTTO_EFORMAT, "%s: 'person.rows' is %zu; expected 1 to %d", name, u.rows, UNIT_ROWS);
    if (json_find(object, "person.persons")) {
        TRY(json_get_size(&u.persons, object, name, "person.persons"));
        if (u.persons == 0)
            FAIL(SOTTO_EFORMAT, "%s: 'person.persons' is 0; expected 1 or more", name);
    }
    if (json_kind(json_find(object, "person.column")) != JSON_KIND_NULL)
        TRY(json_get_text_into(u.person, sizeof u.person, object, name, "person.column"));
done:
    *out = u;
    return status;
}

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
    if (f->unit.rows)
        put_person(object, &f->unit);
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
    const char *mode = NULL;
    int64_t exponent = f->scale > 0 ? run_early_lattice(f->scale) : 0;
    if (json_member(object, "noise_mode"))
        TRY(json_get_text(&mode, object, name, "noise_mode"));
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
    const char *clipping, *protects = NULL, *sampling = NULL;
    if (json_member(object, "protects"))
        TRY(json_get_text(&protects, object, name, "protects"));
    if (json_member(object, "sampling"))
        TRY(json_get_text(&sampling, object, name, "sampling"));
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
    TRY(unit_get(&f.unit, object, name));
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

const char *entry_number_name(bool by_line)
{
    return by_line ? "index" : "charge";
}

void entry_number_put(struct json **object, size_t entry, bool by_line)
{
    json_put_integer(object, entry_number_name(by_line), (int64_t)entry);
}

int64_t entry_number_of(const struct json *object)
{
    const struct json *charge = json_member(object, entry_number_name(false));
    return json_whole(charge ? charge : json_member(object, entry_number_name(true)));
}

sotto_status entry_number_get(int64_t *entry, bool *by_line, bool *there, const struct json *object,
                              const char *name)
{
    const bool by_charge = json_member(object, entry_number_name(false)) != NULL;
    if (by_charge && json_member(object, entry_number_name(true)))
        return status_fail(SOTTO_EFORMAT, "%s: 'ledger' has 'charge' and 'index'; expected one of them",
                           name);
    *by_line = !by_charge;
    *entry = entry_number_of(object);
    *there = json_kind(json_member(object, entry_number_name(*by_line))) == JSON_KIND_INTEGER;
    return SOTTO_OK;
}

struct json *dpsgd_reservations_json(const struct dpsgd_reservations *run)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < run->count; i++) {
        struct json *one = json_make_object();
        entry_number_put(&one, run->items[i].entry, run->by_line);
        json_put_text(&one, "hash", run->items[i].hash);
        json_put_integer(&one, "first_step", (int64_t)run->items[i].first_step);
        json_put_integer(&one, "steps", (int64_t)run->items[i].steps);
        json_push(&list, one);
    }
    return list;
}
