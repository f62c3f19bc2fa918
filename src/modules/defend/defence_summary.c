/* A record in lines for the terminal. */
#include "base/memory.h"
#include "sotto/lab/defend.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { ROOM = 8192 };

struct lines {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void defence_summary_add(struct lines *out, const char *format,
                                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = out->size - out->used;
    int wanted = vsnprintf(out->text + out->used, room, format, arguments);
    va_end(arguments);
    out->used += wanted < 0 ? 0 : (size_t)wanted < room ? (size_t)wanted : room - 1;
}

static void add_interval(struct lines *out, const char *what, const struct sotto_estimate *e)
{
    if (!isnan(e->estimate))
        defence_summary_add(out, "%s %.4f [%.4f, %.4f]", what, e->estimate, e->lower, e->upper);
}

static void add_utility(struct lines *out, const struct sotto_defence_utility *utility)
{
    if (isnan(utility->labels_kept))
        return;
    defence_summary_add(out, "labels kept: %.4f", utility->labels_kept);
    add_interval(out, "; accuracy before", &utility->accuracy_before);
    add_interval(out, ", after", &utility->accuracy_after);
    defence_summary_add(out, "\n");
}

static void add_leakage(struct lines *out, const struct sotto_defence_leakage *leakage, const char *title)
{
    for (size_t i = 0; i < leakage->count; i++) {
        const struct sotto_defence_attacker *one = &leakage->attackers[i];
        defence_summary_add(out, "  %-11s %-20.20s", title, one->name);
        add_interval(out, "accuracy", &one->accuracy);
        add_interval(out, "  AUC", &one->auc);
        add_interval(out, "  balanced", &one->balanced_accuracy);
        defence_summary_add(out, "\n");
    }
}

sotto_status sotto_defence_summary(char **text, const struct sotto_defence_record *r)
{
    REQUIRE_GIVEN(text, r);
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_distortion *d = &r->distortion;
    struct lines out = {.size = ROOM};
    NEW(out.text, ROOM);
    defence_summary_add(&out, "%.40s, budget %g (%.200s)\n", r->defence, r->budget, r->budget_unit);
    defence_summary_add(
        &out,
        "cost: %.4f expected, at most %.4f for a row; mean L1 distance %.4f, mean L2 distance %.4f; share of "
        "rows changed: %.4f\n",
        d->expected, d->largest_expected, d->mean_l1, d->mean_l2, d->changed_rows);
    add_utility(&out, &r->utility);
    if (r->attack) {
        add_leakage(&out, &r->attack->before, "undefended");
        add_leakage(&out, &r->attack->after, "defended");
        add_leakage(&out, &r->attack->adaptive, "adaptive");
        add_leakage(&out, &r->attack->baselines, "baseline");
    }
    defence_summary_add(&out, "%.300s\n", r->statement);
    *text = out.text;
done:
    return status;
}
