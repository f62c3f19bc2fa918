/* The record beside a defended file: what was done with which numbers, what it cost, and that it promises
 * nothing; and the same in lines for the terminal. */
#include "defend/defence.h"

#include "base/sha256.h"
#include "io/json/json.h"
#include "num/beta.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char statement[] = "no differential privacy and no certificate: the effect of this defence was "
                                "measured against the attackers named here only";

static struct json *settings_of(const struct sotto_defence *d)
{
    struct json *out = json_make_object();
    for (size_t i = 0; d->kind->params && d->kind->params[i].name; i++)
        json_put_real(&out, d->kind->params[i].name, d->args[i]);
    return out;
}

static sotto_status files_of(struct json **out, const struct sotto_defence_file *files, size_t count)
{
    sotto_status status = SOTTO_OK;
    struct json *list = json_make_array();
    char hash[SHA256_HEX];
    for (size_t i = 0; i < count; i++) {
        TRY(sha256_file(hash, files[i].path));
        struct json *file = json_make_object();
        json_put_text(&file, "role", files[i].role);
        json_put_text(&file, "sha256", hash);
        json_push(&list, file);
    }
    *out = list;
    list = NULL;
done:
    json_free(list);
    return status;
}

/* Distances of the rows as they came out, and what the budget limits, expected over the coins. */
static struct json *distortion_of(const struct sotto_defence_outcome *o)
{
    double l1 = 0, l2 = 0, most_l1 = 0, most_l2 = 0, most = 0, expected = 0, most_expected = 0;
    size_t changed = 0;
    for (size_t i = 0; i < o->n; i++) {
        double row1 = 0, row2 = 0;
        for (size_t k = 0; k < o->columns; k++) {
            double r = fabs((double)o->after[i * o->columns + k] - (double)o->before[i * o->columns + k]);
            row1 += r, row2 += r * r, most = fmax(most, r);
        }
        changed += row1 > 0;
        l1 += row1, l2 += sqrt(row2), most_l1 = fmax(most_l1, row1), most_l2 = fmax(most_l2, sqrt(row2));
        expected += o->cost[i], most_expected = fmax(most_expected, o->cost[i]);
    }
    double n = (double)o->n;
    struct json *out = json_make_object();
    json_put_real(&out, "expected", expected / n);
    json_put_real(&out, "largest_expected", most_expected);
    json_put_real(&out, "mean_l1", l1 / n);
    json_put_real(&out, "largest_l1", most_l1);
    json_put_real(&out, "mean_l2", l2 / n);
    json_put_real(&out, "largest_l2", most_l2);
    json_put_real(&out, "largest_linf", most);
    json_put_real(&out, "changed_rows", (double)changed / n);
    return out;
}

static struct json *share_of(size_t k, size_t n)
{
    struct json *out = json_make_object();
    double lower, upper;
    clopper_pearson(&lower, &upper, (double)k, (double)n, 0.95);
    json_put_real(&out, "estimate", (double)k / (double)n);
    json_put_real(&out, "lower", lower);
    json_put_real(&out, "upper", upper);
    return out;
}

static struct json *utility_of(const struct sotto_defence_outcome *o, const float *before, const float *after,
                               size_t classes)
{
    size_t kept = 0, right_before = 0, right_after = 0;
    for (size_t i = 0; i < o->n; i++) {
        size_t then = defence_top(before + i * classes, classes),
               now = defence_top(after + i * classes, classes);
        kept += then == now;
        right_before += o->label && (int64_t)then == o->label[i];
        right_after += o->label && (int64_t)now == o->label[i];
    }
    struct json *out = json_make_object();
    json_put_real(&out, "labels_kept", (double)kept / (double)o->n);
    json_put(&out, "accuracy_before", o->label ? share_of(right_before, o->n) : json_make_null());
    json_put(&out, "accuracy_after", o->label ? share_of(right_after, o->n) : json_make_null());
    return out;
}

static struct json *describe(const struct sotto_defence *d)
{
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.defend/1");
    json_put_text(&doc, "defence", d->kind->name);
    json_put_text(&doc, "title", d->kind->title);
    json_put_text(&doc, "source", d->kind->source);
    json_put_text(&doc, "statement", statement);
    json_put_real(&doc, "budget", d->budget);
    json_put_text(&doc, "budget_unit", d->kind->unit);
    json_put(&doc, "settings", settings_of(d));
    json_put_integer(&doc, "seed", (int64_t)d->seed);
    json_put_integer(&doc, "known", (int64_t)d->known);
    return doc;
}

sotto_status sotto_defence_record(char **json, const struct sotto_defence *d,
                                  const struct sotto_defence_outcome *outcome,
                                  const struct sotto_defence_file *files, size_t file_count)
{
    sotto_status status = SOTTO_OK;
    bool posteriors = d->kind->needs & DEFENCE_POSTERIORS;
    const struct sotto_defence_outcome *o = outcome;
    struct json *doc = NULL, *inputs = NULL, *measured = NULL;
    REQUIRE(o->n > 0, "defend: there are no rows; expected at least one");
    TRY(files_of(&inputs, files, file_count));
    doc = describe(d);
    json_put_integer(&doc, "rows", (int64_t)o->n);
    json_put_integer(&doc, "columns", (int64_t)o->columns);
    json_put(&doc, "inputs", inputs);
    inputs = NULL;
    json_put(&doc, "distortion", distortion_of(o));
    json_put(&doc, "utility",
             o->answers_before ? utility_of(o, o->answers_before, o->answers_after, o->classes)
             : posteriors      ? utility_of(o, o->before, o->after, o->columns)
                               : json_make_null());
    if (o->measured)
        TRY(json_parse(&measured, o->measured, strlen(o->measured), "measured"));
    json_put(&doc, "attack", measured ? measured : json_make_null());
    measured = NULL;
    TRY(json_dump(json, doc, JSON_LINE));
done:
    json_free(doc);
    json_free(inputs);
    json_free(measured);
    return status;
}

sotto_status sotto_defence_save_record(const char *path, const char *json)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_parse(&doc, json, strlen(json), "record"));
    TRY(json_write_file(path, doc, JSON_PRETTY));
done:
    json_free(doc);
    return status;
}

/* ---- lines ---- */

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
