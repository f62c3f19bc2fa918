/* A record in lines for people: the budget, what was paid, and what the attackers still saw. */
#include "defend/defence.h"

#include "io/json/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct lines {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct lines *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = out->size - out->used;
    int wanted = vsnprintf(out->text + out->used, room, format, arguments);
    va_end(arguments);
    out->used += wanted < 0 ? 0 : (size_t)wanted < room ? (size_t)wanted : room - 1;
}

static void add_interval(struct lines *out, const char *what, const struct json *j)
{
    if (json_kind(j) == JSON_KIND_OBJECT)
        add(out, "%s %.4f [%.4f, %.4f]", what, json_number(json_find(j, "estimate")),
            json_number(json_find(j, "lower")), json_number(json_find(j, "upper")));
}

static void add_utility(struct lines *out, const struct json *utility)
{
    if (json_kind(utility) != JSON_KIND_OBJECT)
        return;
    add(out, "labels kept: %.4f", json_number(json_find(utility, "labels_kept")));
    add_interval(out, "; accuracy before", json_find(utility, "accuracy_before"));
    add_interval(out, ", after", json_find(utility, "accuracy_after"));
    add(out, "\n");
}

static void add_attack(struct lines *out, const struct json *attack, const char *key, const char *title)
{
    const struct json *view = json_find(attack, key);
    const struct json *tries = json_find(view, "attackers");
    for (size_t i = 0; i < json_count(tries); i++) {
        const struct json *one = json_at(tries, i);
        const char *name = json_text(json_member(one, "name"));
        add(out, "  %-11s %-20.20s", title, name ? name : "");
        add_interval(out, "accuracy", json_find(one, "accuracy"));
        add_interval(out, "  AUC", json_find(one, "auc"));
        add_interval(out, "  balanced", json_find(one, "balanced_accuracy"));
        add(out, "\n");
    }
}

sotto_status sotto_defence_summary(char **text, const char *json)
{
    enum { ROOM = 8192 };
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    const char *name, *unit, *claim;
    double budget;
    struct lines out = {.size = ROOM};
    TRY(json_parse(&doc, json, strlen(json), "record"));
    TRY(json_get_text(&name, doc, "record", "defence"));
    TRY(json_get_text(&unit, doc, "record", "budget_unit"));
    TRY(json_get_text(&claim, doc, "record", "statement"));
    TRY(json_get_real(&budget, doc, "record", "budget"));
    out.text = base_alloc(ROOM, 1);
    if (!out.text)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for a summary");
    add(&out, "%.40s, budget %g (%.200s)\n", name, budget, unit);
    add(&out,
        "cost: %.4f expected, at most %.4f for a row; mean L1 distance %.4f, mean L2 distance %.4f; share of "
        "rows changed: %.4f\n",
        json_number(json_find(doc, "distortion.expected")),
        json_number(json_find(doc, "distortion.largest_expected")),
        json_number(json_find(doc, "distortion.mean_l1")), json_number(json_find(doc, "distortion.mean_l2")),
        json_number(json_find(doc, "distortion.changed_rows")));
    add_utility(&out, json_find(doc, "utility"));
    if (json_kind(json_find(doc, "attack")) == JSON_KIND_OBJECT) {
        const struct json *attack = json_find(doc, "attack");
        add_attack(&out, attack, "before", "undefended");
        add_attack(&out, attack, "after", "defended");
        add_attack(&out, attack, "adaptive", "adaptive");
        add_attack(&out, attack, "baselines", "baseline");
    }
    add(&out, "%.300s\n", claim);
    *text = out.text;
done:
    json_free(doc);
    return status;
}
