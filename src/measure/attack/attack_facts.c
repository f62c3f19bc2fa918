#include "attack/attack_facts.h"

#include "base/memory.h"
#include "io/json/json.h"

#include <string.h>

enum fact_kind { FACT_COUNT, FACT_REAL, FACT_FLAG, FACT_TEXT, FACT_GROUP, FACT_LIST };
struct fact {
    struct fact *next;
    const char *name;
    enum fact_kind kind;
    union {
        uint64_t count;
        double real;
        bool flag;
        struct facts inner;
    } value;
    char text[];
};

/* NULL: nowhere to add it, or no memory. */
static struct fact *attack_facts_add(struct facts *f, const char *name, enum fact_kind kind, const char *text)
{
    const size_t length = strlen(text) + 1;
    struct fact *one = f ? base_alloc(1, sizeof *one + length) : NULL;
    if (!f)
        return NULL;
    if (!one) {
        f->out_of_memory = true;
        return NULL;
    }
    one->name = name;
    one->kind = kind;
    memcpy(one->text, text, length);
    if (f->last)
        f->last->next = one;
    else
        f->first = one;
    return f->last = one;
}

void fact_count(struct facts *f, const char *name, uint64_t x)
{
    struct fact *one = attack_facts_add(f, name, FACT_COUNT, "");
    if (one)
        one->value.count = x;
}

void fact_real(struct facts *f, const char *name, double x)
{
    struct fact *one = attack_facts_add(f, name, FACT_REAL, "");
    if (one)
        one->value.real = x;
}

void fact_flag(struct facts *f, const char *name, bool x)
{
    struct fact *one = attack_facts_add(f, name, FACT_FLAG, "");
    if (one)
        one->value.flag = x;
}

void fact_text(struct facts *f, const char *name, const char *text)
{
    attack_facts_add(f, name, FACT_TEXT, text);
}

static struct facts *add_inner(struct facts *f, const char *name, enum fact_kind kind)
{
    struct fact *one = attack_facts_add(f, name, kind, "");
    return one ? &one->value.inner : NULL;
}

struct facts *fact_group(struct facts *f, const char *name)
{
    return add_inner(f, name, FACT_GROUP);
}

struct facts *fact_list(struct facts *f, const char *name)
{
    return add_inner(f, name, FACT_LIST);
}

void facts_clear(struct facts *f)
{
    for (struct fact *one = f->first, *next; one; one = next) {
        next = one->next;
        if (one->kind == FACT_GROUP || one->kind == FACT_LIST)
            facts_clear(&one->value.inner);
        base_free(one);
    }
    *f = (struct facts){0};
}

static struct json *encode_one(const struct fact *one);

static struct json *encode_list(const struct facts *f)
{
    struct json *list = f->out_of_memory ? NULL : json_make_array();
    for (const struct fact *one = f->first; one; one = one->next)
        json_push(&list, encode_one(one));
    return list;
}

struct json *facts_encode(const struct facts *f)
{
    struct json *object = f->out_of_memory ? NULL : json_make_object();
    for (const struct fact *one = f->first; one; one = one->next)
        json_put(&object, one->name, encode_one(one));
    return object;
}

static struct json *encode_one(const struct fact *one)
{
    switch (one->kind) {
    case FACT_COUNT:
        return json_make_integer((int64_t)one->value.count);
    case FACT_REAL:
        return json_make_real(one->value.real);
    case FACT_FLAG:
        return json_make_boolean(one->value.flag);
    case FACT_TEXT:
        return json_make_text(one->text);
    case FACT_GROUP:
        return facts_encode(&one->value.inner);
    default:
        return encode_list(&one->value.inner);
    }
}
