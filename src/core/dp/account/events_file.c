/* Lists of events from JSON or YAML: sotto.events/1 and the state of an Opacus accountant. Strict: an unknown
 * member, or one that does not belong to its kind of event, is an error. */
#include "dp/account/adaptive_account.h"
#include "base/choice.h"
#include "dp/account/events.h"
#include "base/file.h"
#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "io/json/json.h"
#include "io/text/utf8.h"
#include "io/yaml/yaml_json.h"
#include "options/option_tables.h"
#include "sotto/lab/account.h"
#include "sotto/private/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_EVENTS = 100000 };

/* What a file's name says it is. */
static sotto_status parse_document(struct json **out, const char *text, size_t size, const char *name)
{
    const char *dot = strrchr(name, '.');
    bool yaml = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    return yaml ? json_from_yaml(out, text, size, name) : json_parse(out, text, size, name);
}

/* Which kinds of event a member belongs to. */
enum { NOISE = 1, SAMPLED = 2, STATED = 4, ALL = 7 };
enum member {
    MECHANISM,
    COUNT,
    GROUP,
    ADJACENCY,
    SCALE,
    L1,
    L2,
    DIMENSION,
    VALUE_STEP,
    STEPS,
    NOISE_MULTIPLIER,
    SAMPLE_RATE,
    CLIPPING,
    SAMPLING,
    EPSILON,
    DELTA,
    MEMBERS
};
static const struct {
    const char *name;
    int kinds;
} members[MEMBERS] = {[MECHANISM] = {"mechanism", ALL},
                      [COUNT] = {"count", ALL},
                      [GROUP] = {"group", ALL},
                      [ADJACENCY] = {"adjacency", ALL},
                      [SCALE] = {"scale", NOISE},
                      [L1] = {"l1", NOISE},
                      [L2] = {"l2", NOISE},
                      [DIMENSION] = {"dimension", NOISE},
                      [VALUE_STEP] = {"value_step", NOISE},
                      [STEPS] = {"steps", SAMPLED},
                      [NOISE_MULTIPLIER] = {"noise_multiplier", SAMPLED},
                      [SAMPLE_RATE] = {"sample_rate", SAMPLED},
                      [CLIPPING] = {"clipping", SAMPLED},
                      [SAMPLING] = {"sampling", SAMPLED},
                      [EPSILON] = {"epsilon", STATED},
                      [DELTA] = {"delta", STATED}};
static const char *const kind_names[] = {"", "noise of a scale", "sampled steps", "", "a stated guarantee"};

void events_free(struct event_list *list)
{
    base_free(list->events);
    *list = (struct event_list){NULL, 0};
}

/* An object and its members. */
struct event_object {
    const struct json *object, *member[MEMBERS];
    const char *where;
};

static sotto_status refuse_member(const char *where, const char *key)
{
    size_t best = 0;
    char shown[64];
    for (size_t i = 1; i < MEMBERS; i++)
        if (name_distance(key, members[i].name) < name_distance(key, members[best].name))
            best = i;
    bool close = name_distance(key, members[best].name) <= 2;
    return status_fail(SOTTO_EFORMAT, "%s: unknown member '%s'%s%s%s", where,
                       utf8_printable(shown, sizeof shown, key, strlen(key)), close ? "; did you mean '" : "",
                       close ? members[best].name : "", close ? "'?" : "");
}

static bool is_member(const char *key)
{
    size_t i = 0;
    while (i < MEMBERS && strcmp(members[i].name, key) != 0)
        i++;
    return i < MEMBERS;
}

static bool has_member(const struct event_object *o, enum member m)
{
    return o->member[m] != NULL;
}

static sotto_status find_members(struct event_object *o)
{
    size_t found = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        o->member[i] = json_member(o->object, members[i].name);
        found += has_member(o, i);
    }
    if (found == json_count(o->object))
        return SOTTO_OK;
    const char *key = json_first_key(o->object);
    while (is_member(key))
        key = json_next_key(o->object, key);
    return refuse_member(o->where, key);
}

static sotto_status check_members(const struct event_object *o, int kind)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (has_member(o, i) && !(members[i].kinds & kind))
            return status_fail(SOTTO_EFORMAT, "%s: '%s' cannot be combined with %s", o->where,
                               members[i].name, kind_names[kind]);
    return SOTTO_OK;
}

static sotto_status real_member(double *out, const struct event_object *o, enum member m)
{
    if (!has_member(o, m))
        return SOTTO_OK;
    *out = json_number(o->member[m]);
    return isnan(*out) ? json_get_real(out, o->object, o->where, members[m].name) : SOTTO_OK;
}

static sotto_status size_member(size_t *out, const struct event_object *o, enum member m)
{
    return has_member(o, m) ? json_get_size(out, o->object, o->where, members[m].name) : SOTTO_OK;
}

static sotto_status read_adjacency(enum sotto_adjacency *out, const struct json *object, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    char shown[40];
    if (!json_member(object, "adjacency"))
        goto done;
    TRY(json_get_text(&text, object, where, "adjacency"));
    if (strcmp(text, "replace-one") == 0)
        *out = SOTTO_REPLACE_ONE;
    else if (strcmp(text, "add-remove") == 0)
        *out = SOTTO_ADD_REMOVE;
    else
        FAIL(SOTTO_EFORMAT, "%s: adjacency is '%s'; expected replace-one or add-remove", where,
             utf8_printable(shown, sizeof shown, text, strlen(text)));
done:
    return status;
}

static sotto_status read_clipping(enum sotto_norm *out, const struct json *object, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    char shown[40];
    if (!json_member(object, "clipping"))
        goto done;
    TRY(json_get_text(&text, object, where, "clipping"));
    if (strcmp(text, "l1") != 0 && strcmp(text, "l2") != 0)
        FAIL(SOTTO_EFORMAT, "%s: clipping is '%s'; expected l1 or l2", where,
             utf8_printable(shown, sizeof shown, text, strlen(text)));
    *out = strcmp(text, "l1") == 0 ? SOTTO_NORM_L1 : SOTTO_NORM_L2;
done:
    return status;
}

static sotto_status read_sampling(enum sotto_sampling *out, const struct json *object, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    char shown[40];
    if (!json_member(object, "sampling"))
        goto done;
    TRY(json_get_text(&text, object, where, "sampling"));
    if (sotto_sampling_find(out, text) != SOTTO_OK)
        FAIL(SOTTO_EFORMAT, "%s: sampling is '%s'; expected poisson or fixed", where,
             utf8_printable(shown, sizeof shown, text, strlen(text)));
done:
    return status;
}

/* A name that outlives the document. */
static sotto_status read_mechanism(const char **out, const struct json *object, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *text;
    const struct mechanism *m;
    TRY(json_get_text(&text, object, where, "mechanism"));
    if (strcmp(text, "stated") == 0) {
        *out = "stated";
    } else {
        char shown[64];
        if (!(m = mechanism_find(text)))
            status = mechanism_require(&m, utf8_printable(shown, sizeof shown, text, strlen(text)));
        if (status != SOTTO_OK) {
            status_prefix(where);
            goto done;
        }
        *out = m->name;
    }
done:
    return status;
}

static sotto_status read_event(struct sotto_event *e, const struct json *object, const char *where,
                               enum sotto_adjacency adjacency)
{
    sotto_status status = SOTTO_OK;
    struct event_object o = {.object = object, .where = where};
    if (json_kind(object) != JSON_KIND_OBJECT)
        FAIL(SOTTO_EFORMAT, "%s: expected an object", where);
    *e = (struct sotto_event){.count = 1, .l1 = NAN, .l2 = NAN, .adjacency = adjacency};
    TRY(read_mechanism(&e->mechanism, object, where));
    TRY(find_members(&o));
    const bool sampled = has_member(&o, NOISE_MULTIPLIER) || has_member(&o, SAMPLE_RATE);
    const int kind = strcmp(e->mechanism, "stated") == 0 ? STATED : sampled ? SAMPLED : NOISE;
    TRY(check_members(&o, kind));
    TRY(size_member(&e->count, &o, COUNT));
    TRY(size_member(&e->group, &o, GROUP));
    if (has_member(&o, ADJACENCY))
        TRY(read_adjacency(&e->adjacency, object, where));
    if (kind == STATED) {
        TRY(json_get_real(&e->stated.epsilon, object, where, "epsilon"));
        TRY(real_member(&e->stated.delta, &o, DELTA));
    } else if (kind == SAMPLED) {
        if (has_member(&o, COUNT) && has_member(&o, STEPS))
            FAIL(SOTTO_EFORMAT, "%s: 'count' and 'steps' mean the same; give only one of them", where);
        TRY(json_get_real(&e->noise_multiplier, object, where, "noise_multiplier"));
        TRY(json_get_real(&e->sample_rate, object, where, "sample_rate"));
        TRY(size_member(&e->count, &o, STEPS));
        TRY(read_clipping(&e->clipping, object, where));
        TRY(read_sampling(&e->sampling, object, where));
        if (e->adjacency == SOTTO_SAME_ADJACENCY)
            e->adjacency = e->sampling == SOTTO_SAMPLING_FIXED ? SOTTO_REPLACE_ONE : SOTTO_ADD_REMOVE;
    } else {
        TRY(json_get_real(&e->scale, object, where, "scale"));
        TRY(real_member(&e->l1, &o, L1));
        TRY(real_member(&e->l2, &o, L2));
        TRY(size_member(&e->dimension, &o, DIMENSION));
        TRY(real_member(&e->value_step, &o, VALUE_STEP));
    }
    if (e->adjacency == SOTTO_SAME_ADJACENCY)
        FAIL(SOTTO_EFORMAT,
             "%s: 'adjacency' is missing; expected replace-one or add-remove, in the event or for all events",
             where);
done:
    return status;
}

/* In the memory of an earlier list, of *room events. */
static sotto_status make_list(struct event_list *list, size_t *room, const struct json *array,
                              const char *name)
{
    sotto_status status = SOTTO_OK;
    size_t n = json_count(array);
    list->count = 0;
    if (n == 0 || n > MOST_EVENTS)
        FAIL(SOTTO_EFORMAT, "%s: contains %zu events; expected 1 to %d", name, n, MOST_EVENTS);
    if (n > *room) {
        *room = 0;
        events_free(list);
        NEW(list->events, n);
        *room = n;
    }
    list->count = n;
done:
    return status;
}

static sotto_status read_events(struct event_list *list, size_t *room, const struct json *array,
                                enum sotto_adjacency adjacency, const char *name)
{
    sotto_status status = SOTTO_OK;
    char where[320];
    TRY(make_list(list, room, array, name));
    for (size_t i = 0; i < list->count; i++) {
        const struct json *event = json_at(array, i);
        if (read_event(&list->events[i], event, name, adjacency) == SOTTO_OK)
            continue;
        snprintf(where, sizeof where, "%.250s: events[%zu]", name, i); /* only an error names its place */
        TRY(read_event(&list->events[i], event, where, adjacency));
    }
done:
    if (status != SOTTO_OK)
        list->count = 0;
    return status;
}

sotto_status events_from_json(struct event_list *list, size_t *room, const struct json *array,
                              const char *name)
{
    return read_events(list, room, array, SOTTO_SAME_ADJACENCY, name);
}

static void put_noise(struct json **one, const struct sotto_event *e)
{
    json_put_real(one, "scale", e->scale);
    if (!isnan(e->l1))
        json_put_real(one, "l1", e->l1);
    if (!isnan(e->l2))
        json_put_real(one, "l2", e->l2);
    json_put_integer(one, "dimension", (int64_t)e->dimension);
    if (e->value_step > 0)
        json_put_real(one, "value_step", e->value_step);
}

static void put_steps(struct json **one, const struct sotto_event *e)
{
    json_put_real(one, "noise_multiplier", e->noise_multiplier);
    json_put_real(one, "sample_rate", e->sample_rate);
    json_put_text(one, "clipping", norm_name(e->clipping));
    json_put_text(one, "sampling", sotto_sampling_name(e->sampling));
}

void events_put(struct json **object, const struct event_list *list)
{
    struct json *array = json_make_array();
    for (size_t i = 0; i < list->count; i++) {
        const struct sotto_event *e = &list->events[i];
        struct json *one = json_make_object();
        json_put_text(&one, "mechanism", e->mechanism);
        json_put_integer(&one, event_is_run(e) ? "steps" : "count", (int64_t)e->count);
        json_put_text(&one, "adjacency", sotto_adjacency_name(e->adjacency));
        if (event_is_run(e))
            put_steps(&one, e);
        else
            put_noise(&one, e);
        json_push(&array, one);
    }
    json_put(object, "events", array);
}

sotto_status events_parse(struct event_list *out, const char *text, size_t size, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct json *document = NULL;
    enum sotto_adjacency adjacency = SOTTO_SAME_ADJACENCY; /* none given */
    struct event_list list = {NULL, 0};
    const struct json *array;
    const char *schema;
    TRY(parse_document(&document, text, size, name));
    array = document;
    if (json_kind(document) == JSON_KIND_OBJECT) {
        TRY(json_get_text(&schema, document, name, "schema"));
        if (strcmp(schema, "sotto.events/1") != 0)
            FAIL(SOTTO_EFORMAT, "%s: 'schema' is not sotto.events/1; expected sotto.events/1", name);
        TRY(json_get_array(&array, document, name, "events"));
        TRY(read_adjacency(&adjacency, document, name));
    }
    TRY(read_events(&list, &(size_t){0}, array, adjacency, name));
    *out = list;
    list = (struct event_list){NULL, 0};
done:
    events_free(&list);
    json_free(document);
    return status;
}

static sotto_status read_triple(struct sotto_event *e, const struct json *triple, const char *where)
{
    sotto_status status = SOTTO_OK;
    bool good = json_count(triple) == 3 && json_kind(triple) == JSON_KIND_ARRAY;
    for (size_t i = 0; good && i < 3; i++) {
        enum json_kind kind = json_kind(json_at(triple, i));
        good = kind == JSON_KIND_INTEGER || (kind == JSON_KIND_REAL && i < 2);
    }
    if (!good)
        FAIL(SOTTO_EFORMAT,
             "%s: expected [noise_multiplier, sample_rate, num_steps], two numbers and a whole number",
             where);
    double sigma = json_number(json_at(triple, 0)), rate = json_number(json_at(triple, 1));
    int64_t steps = json_whole(json_at(triple, 2));
    if (!(sigma > 0))
        FAIL(SOTTO_EINVAL,
             "%s: noise_multiplier is %g; expected more than 0, as steps without noise have no guarantee",
             where, sigma);
    status = sotto_option_check_number(sotto_option_find(options_sampled, "sample_rate"), rate);
    if (status != SOTTO_OK) {
        status_prefix(where);
        goto done;
    }
    if (steps < 1)
        FAIL(SOTTO_EINVAL, "%s: num_steps must be at least 1 (got %lld)", where, (long long)steps);
    *e = (struct sotto_event){.mechanism = "gaussian",
                              .count = (size_t)steps,
                              .l1 = NAN,
                              .l2 = NAN,
                              .noise_multiplier = sigma,
                              .sample_rate = rate,
                              .adjacency = SOTTO_ADD_REMOVE};
done:
    return status;
}

sotto_status events_parse_opacus(struct event_list *out, const char *text, size_t size, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct json *document = NULL;
    struct event_list list = {NULL, 0};
    const struct json *array;
    const char *mechanism;
    char where[320], shown[40];
    TRY(parse_document(&document, text, size, name));
    array = document;
    if (json_kind(document) == JSON_KIND_OBJECT) {
        TRY(json_get_array(&array, document, name, "history"));
        if (json_member(document, "mechanism")) {
            TRY(json_get_text(&mechanism, document, name, "mechanism"));
            if (strcmp(mechanism, "rdp") != 0 && strcmp(mechanism, "prv") != 0 &&
                strcmp(mechanism, "gdp") != 0)
                FAIL(SOTTO_EFORMAT, "%s: mechanism is '%s'; expected rdp, prv or gdp", name,
                     utf8_printable(shown, sizeof shown, mechanism, strlen(mechanism)));
        }
    }
    TRY(make_list(&list, &(size_t){0}, array, name));
    for (size_t i = 0; i < list.count; i++) {
        snprintf(where, sizeof where, "%.250s: history[%zu]", name, i);
        TRY(read_triple(&list.events[i], json_at(array, i), where));
    }
    *out = list;
    list = (struct event_list){NULL, 0};
done:
    events_free(&list);
    json_free(document);
    return status;
}

static sotto_status read_list(struct event_list *out, const char *path,
                              sotto_status (*parse)(struct event_list *, const char *, size_t, const char *))
{
    sotto_status status = SOTTO_OK;
    unsigned char *data = NULL;
    size_t size;
    TRY(file_read(&data, &size, path, EVENTS_FILE_LIMIT));
    TRY(parse(out, (const char *)data, size, path));
done:
    base_free(data);
    return status;
}

sotto_status events_load(struct event_list *out, const char *path)
{
    return read_list(out, path, events_parse);
}

static sotto_status
account_file(struct sotto_account *out, const char *path, double delta, enum sotto_adjacency target,
             sotto_status (*parse)(struct event_list *, const char *, size_t, const char *),
             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct event_list list = {NULL, 0};
    TRY(read_list(&list, path, parse));
    status = sotto_account_events(out, list.events, list.count, delta, target, ctx);
    if (status != SOTTO_OK)
        status_prefix(path);
done:
    events_free(&list);
    return status;
}

sotto_status sotto_account_events_file(struct sotto_account *out, const char *path, double delta,
                                       enum sotto_adjacency target, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, path);
    return account_file(out, path, delta, target, events_parse, ctx);
}

sotto_status sotto_account_opacus_file(struct sotto_account *out, const char *path, double delta,
                                       enum sotto_adjacency target, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, path);
    return account_file(out, path, delta, target, events_parse_opacus, ctx);
}

sotto_status sotto_account_any_order_file(struct sotto_any_order *out, const char *path, double delta,
                                          enum sotto_adjacency target, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, path);
    sotto_status status = SOTTO_OK;
    struct event_list list = {NULL, 0};
    TRY(read_list(&list, path, events_parse));
    status = account_any_order(out, list.events, list.count, delta, target, ctx);
    if (status != SOTTO_OK)
        status_prefix(path);
done:
    events_free(&list);
    return status;
}
