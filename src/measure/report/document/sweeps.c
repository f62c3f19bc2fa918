#include "report/document/sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CURVES = 512, MAX_POINTS = 256, PATH = 160 };
static const char document[] = "report";

static sotto_status sweeps_bad(const char *path, const char *what)
{
    return status_fail(SOTTO_EFORMAT, "%s: '%s' %s", document, path, what);
}

/* {"mean", "lower", "upper"}; absent or null leaves NAN. */
static sotto_status read_mean(struct mean *out, const struct json *owner, const char *member,
                              const char *path)
{
    const struct json *j = owner ? json_member(owner, member) : NULL;
    char at[PATH + 64];
    *out = (struct mean){NAN, NAN, NAN};
    if (!j || json_kind(j) == JSON_KIND_NULL)
        return SOTTO_OK;
    snprintf(at, sizeof at, "%s.%s", path, member);
    struct mean m = {json_number(json_member(j, "mean")), json_number(json_member(j, "lower")),
                     json_number(json_member(j, "upper"))};
    if (!(isfinite(m.value) && m.lower <= m.value && m.value <= m.upper))
        return sweeps_bad(at, "needs numbers lower <= mean <= upper");
    *out = m;
    return SOTTO_OK;
}

static sotto_status read_real(double *out, const struct json *owner, const char *member, const char *path)
{
    char at[PATH + 64];
    const struct json *j = json_member(owner, member);
    *out = json_number(j);
    if (!isnan(*out))
        return SOTTO_OK;
    snprintf(at, sizeof at, "%s.%s", path, member);
    return sweeps_bad(at, "is not a number");
}

/* The slot of an attack; new names take the next free one. SWEEP_ATTACKS: none left. */
static size_t slot_of(struct sweeps *s, const char *name)
{
    size_t i = 0;
    while (i < s->attack_count && strcmp(s->attacks[i], name) != 0)
        i++;
    if (i == s->attack_count && i < SWEEP_ATTACKS)
        s->attacks[s->attack_count++] = name;
    return i;
}

static sotto_status read_attacks(struct sweeps *s, struct sweep_point *p, const struct json *j,
                                 const char *path)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < SWEEP_ATTACKS; i++)
        p->attacks[i] = (struct sweep_attack){{NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}};
    for (const char *name = json_first_key(j); name; name = json_next_key(j, name)) {
        const struct json *attack = json_member(j, name), *rates = json_member(attack, "tpr_at_fpr");
        const char *rate = rates ? json_first_key(rates) : NULL;
        char at[PATH + 64];
        size_t slot = slot_of(s, name);
        snprintf(at, sizeof at, "%s.attacks.%.40s", path, name);
        if (slot == SWEEP_ATTACKS)
            return sweeps_bad(at, "is one attack too many");
        TRY(read_mean(&p->attacks[slot].auc, attack, "auc", at));
        TRY(read_mean(&p->attacks[slot].balanced, attack, "balanced_accuracy", at));
        if (rate) {
            s->rate = strtod(rate, NULL);
            TRY(read_mean(&p->attacks[slot].low_rate, rates, rate, at));
        }
    }
done:
    return status;
}

static sotto_status read_point(struct sweeps *s, struct sweep_point *p, const struct json *j,
                               const char *path)
{
    sotto_status status = SOTTO_OK;
    if (json_kind(j) != JSON_KIND_OBJECT)
        return sweeps_bad(path, "is not an object");
    p->epsilon = json_number(json_member(j, "epsilon"));
    p->implied = json_number(json_member(j, "implied_epsilon"));
    p->ceiling = json_number(json_member(j, "ceiling"));
    p->tpr_ceiling = NAN;
    const struct json *ceilings = json_member(j, "tpr_ceiling");
    if (ceilings && json_kind(ceilings) == JSON_KIND_OBJECT && json_first_key(ceilings))
        p->tpr_ceiling = json_number(json_member(ceilings, json_first_key(ceilings)));
    TRY(read_real(&p->scale, j, "scale", path));
    TRY(read_real(&p->deviation, j, "standard_deviation", path));
    p->holds = false;
    if (json_member(j, "holds"))
        TRY(json_get_boolean(&p->holds, j, path, "holds"));
    TRY(read_mean(&p->accuracy, j, "accuracy", path));
    TRY(read_mean(&p->loss, j, "utility_loss", path));
    TRY(read_attacks(s, p, json_member(j, "attacks"), path));
done:
    return status;
}

static sotto_status read_curve(struct sweeps *s, struct sweep_curve *c, const struct json *j,
                               const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct json *points = json_member(j, "points");
    double draws;
    if (json_kind(j) != JSON_KIND_OBJECT)
        return sweeps_bad(path, "is not an object");
    c->name = json_text(json_member(j, "case"));
    c->title = json_text(json_member(j, "title"));
    c->mechanism = json_text(json_member(j, "mechanism"));
    c->norms = json_text(json_member(j, "norms"));
    if (!c->name || !c->mechanism || !c->norms)
        return sweeps_bad(path, "needs the texts 'case', 'mechanism' and 'norms'");
    TRY(read_real(&draws, j, "draws", path));
    if (!(draws >= 1 && draws <= 1e9) || !points || json_kind(points) != JSON_KIND_ARRAY ||
        json_count(points) > MAX_POINTS)
        return sweeps_bad(path, "needs 'draws' >= 1 and at most 256 'points'");
    c->draws = (size_t)draws;
    NEW(c->points, json_count(points) + 1);
    for (; c->count < json_count(points); c->count++) {
        char at[PATH];
        snprintf(at, sizeof at, "%s.points[%zu]", path, c->count);
        TRY(read_point(s, &c->points[c->count], json_at(points, c->count), at));
    }
done:
    return status;
}

sotto_status sweeps_read(struct sweeps *out, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct sweeps s = {.rate = NAN};
    const struct json *list = json_member(doc, "sweeps");
    *out = s;
    if (!list || json_kind(list) == JSON_KIND_NULL)
        return SOTTO_OK;
    if (json_kind(list) != JSON_KIND_ARRAY || json_count(list) > MAX_CURVES)
        return sweeps_bad("sweeps", "is not a list of at most 512 curves");
    NEW(s.curves, json_count(list) + 1);
    while (s.count < json_count(list)) {
        char path[32];
        size_t i = s.count++;
        snprintf(path, sizeof path, "sweeps[%zu]", i);
        TRY(read_curve(&s, &s.curves[i], json_at(list, i), path));
    }
    *out = s;
done:
    if (status != SOTTO_OK)
        sweeps_clear(&s);
    return status;
}

void sweeps_clear(struct sweeps *s)
{
    for (size_t i = 0; s->curves && i < s->count; i++)
        base_free(s->curves[i].points);
    base_free(s->curves);
    *s = (struct sweeps){0};
}

double sweep_epsilon(const struct sweep_point *p)
{
    return isnan(p->epsilon) ? p->implied : p->epsilon;
}
