/* A record as its "sotto.defend/1" object. */
#include "io/json/json.h"
#include "sotto/lab/defend.h"

#include <math.h>

static struct json *estimate_json(const struct sotto_estimate *e)
{
    struct json *j = json_make_object();
    json_put_real(&j, "estimate", e->estimate);
    json_put_real(&j, "lower", e->lower);
    json_put_real(&j, "upper", e->upper);
    return j;
}

static void put_estimate(struct json **object, const char *key, const struct sotto_estimate *e)
{
    if (!isnan(e->estimate))
        json_put(object, key, estimate_json(e));
}

static struct json *settings_json(const struct sotto_defence_record *r)
{
    struct json *j = json_make_object();
    for (size_t i = 0; i < r->setting_count; i++)
        json_put_real(&j, r->settings[i].name, r->settings[i].value);
    return j;
}

static struct json *inputs_json(const struct sotto_defence_record *r)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < r->input_count; i++) {
        struct json *file = json_make_object();
        json_put_text(&file, "role", r->inputs[i].role);
        json_put_text(&file, "sha256", r->inputs[i].sha256);
        json_push(&list, file);
    }
    return list;
}

static struct json *distortion_json(const struct sotto_defence_distortion *d)
{
    struct json *j = json_make_object();
    json_put_real(&j, "expected", d->expected);
    json_put_real(&j, "largest_expected", d->largest_expected);
    json_put_real(&j, "mean_l1", d->mean_l1);
    json_put_real(&j, "largest_l1", d->largest_l1);
    json_put_real(&j, "mean_l2", d->mean_l2);
    json_put_real(&j, "largest_l2", d->largest_l2);
    json_put_real(&j, "largest_linf", d->largest_linf);
    json_put_real(&j, "changed_rows", d->changed_rows);
    return j;
}

static struct json *accuracy_json(const struct sotto_estimate *e)
{
    return isnan(e->estimate) ? json_make_null() : estimate_json(e);
}

static struct json *utility_json(const struct sotto_defence_utility *u)
{
    if (isnan(u->labels_kept))
        return json_make_null();
    struct json *j = json_make_object();
    json_put_real(&j, "labels_kept", u->labels_kept);
    json_put(&j, "accuracy_before", accuracy_json(&u->accuracy_before));
    json_put(&j, "accuracy_after", accuracy_json(&u->accuracy_after));
    return j;
}

static struct json *leakage_json(const struct sotto_defence_leakage *leakage)
{
    struct json *j = json_make_object(), *list = json_make_array();
    for (size_t i = 0; i < leakage->count; i++) {
        const struct sotto_defence_attacker *a = &leakage->attackers[i];
        struct json *one = json_make_object();
        json_put_text(&one, "name", a->name);
        put_estimate(&one, "accuracy", &a->accuracy);
        put_estimate(&one, "auc", &a->auc);
        put_estimate(&one, "balanced_accuracy", &a->balanced_accuracy);
        put_estimate(&one, "macro_f1", &a->macro_f1);
        json_push(&list, one);
    }
    json_put(&j, "attackers", list);
    return j;
}

static struct json *attack_json(const struct sotto_defence_result *r)
{
    if (!r)
        return json_make_null();
    struct json *j = json_make_object();
    json_put_text(&j, "secret", r->protected_label);
    json_put_integer(&j, "attacker_rows", (int64_t)r->attacker_rows);
    json_put(&j, "before", leakage_json(&r->before));
    json_put(&j, "after", leakage_json(&r->after));
    if (r->adaptive.count)
        json_put(&j, "adaptive", leakage_json(&r->adaptive));
    json_put(&j, "baselines", leakage_json(&r->baselines));
    return j;
}

static struct json *record_json(const struct sotto_defence_record *r)
{
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.defend/1");
    json_put_text(&doc, "defence", r->defence);
    json_put_text(&doc, "title", r->title);
    json_put_text(&doc, "source", r->source);
    json_put_text(&doc, "statement", r->statement);
    json_put_real(&doc, "budget", r->budget);
    json_put_text(&doc, "budget_unit", r->budget_unit);
    json_put(&doc, "settings", settings_json(r));
    json_put_integer(&doc, "seed", (int64_t)r->seed);
    json_put_integer(&doc, "known", (int64_t)r->known);
    json_put_integer(&doc, "rows", (int64_t)r->rows);
    json_put_integer(&doc, "columns", (int64_t)r->columns);
    json_put(&doc, "inputs", inputs_json(r));
    json_put(&doc, "distortion", distortion_json(&r->distortion));
    json_put(&doc, "utility", utility_json(&r->utility));
    json_put(&doc, "attack", attack_json(r->attack));
    return doc;
}

sotto_status sotto_defence_encode(char **json, const struct sotto_defence_record *r)
{
    REQUIRE_GIVEN(json, r);
    struct json *doc = record_json(r);
    const sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}

sotto_status sotto_defence_save_record(const char *path, const struct sotto_defence_record *r)
{
    REQUIRE_GIVEN(path, r);
    struct json *doc = record_json(r);
    const sotto_status status = json_write_file(path, doc, JSON_PRETTY);
    json_free(doc);
    return status;
}
