/* What models are compared by: their audits and certificates become axes. Leakage is over the attacks, and the rates, that all
 * models with attacks on their answers have: a model that was attacked less would win otherwise. */
#include "audit/audit_document.h"
#include "io/json/json.h"
#include "report/compare/compare.h"
#include "sotto/verify.h"

#include <stdio.h>
#include <string.h>

/* One model's audits. */
struct audits {
    struct sotto_audit_result *list;
    size_t count;
};

static bool is_finite(const struct sotto_estimate *e)
{
    return isfinite(e->estimate) && isfinite(e->lower) && isfinite(e->upper);
}

/* ---- the common attacks ---- */

/* Attack i of the model's answers, counted over its audits; NULL: there are no more. */
static const struct sotto_audit_attack *attack_at(const struct audits *a, size_t i)
{
    for (size_t k = 0; k < a->count; k++) {
        if (a->list[k].encoder)
            continue;
        if (i < a->list[k].attack_count)
            return &a->list[k].attacks[i];
        i -= a->list[k].attack_count;
    }
    return NULL;
}

static const struct sotto_audit_attack *attack_named(const struct audits *a, const char *name)
{
    const struct sotto_audit_attack *attack;
    for (size_t i = 0; (attack = attack_at(a, i)); i++)
        if (strcmp(attack->name, name) == 0)
            return attack;
    return NULL;
}

/* Models without any attack on their answers are compared by other axes. */
static bool all_have(const struct audits *models, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (attack_at(&models[i], 0) && !attack_named(&models[i], name))
            return false;
    return true;
}

static sotto_status keep_name(const char **list, size_t *count, struct sotto_audit_memory **memory,
                              const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(list[i], name) == 0)
            return SOTTO_OK;
    list[*count] = audit_keep_text(memory, name);
    return list[(*count)++] ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "compare: out of memory for '%s'", name);
}

/* Of one row: what is common joins the result's names, what is not those of the row. */
static sotto_status sort_attacks(struct sotto_compare_result *c, struct sotto_compare_row *row,
                                 const struct audits *models, size_t at)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_audit_attack *attack;
    size_t count = 0;
    while (attack_at(&models[at], count))
        count++;
    TAKE(&c->memory, row->left_out, count + 1);
    if (!c->attacks)
        TAKE(&c->memory, c->attacks, count + 1);
    for (size_t i = 0; (attack = attack_at(&models[at], i)); i++) {
        if (!all_have(models, c->row_count, attack->name))
            TRY(keep_name(row->left_out, &row->left_out_count, &c->memory, attack->name));
        else
            TRY(keep_name(c->attacks, &c->attack_count, &c->memory, attack->name));
    }
done:
    return status;
}

static sotto_status find_common(struct sotto_compare_result *c, const struct audits *models)
{
    sotto_status status = SOTTO_OK;
    size_t attacked = 0;
    for (size_t i = 0; i < c->row_count; i++) {
        if (!attack_at(&models[i], 0))
            continue;
        attacked++;
        TRY(sort_attacks(c, &c->rows[i], models, i));
    }
    REQUIRE(!attacked || c->attack_count,
            "compare: the models have no attack in common; expected audits with one attack that all share "
            "({attack})");
done:
    return status;
}

static const struct sotto_audit_rate *rate_at(const struct sotto_audit_attack *a, double fpr)
{
    for (size_t i = 0; i < a->rate_count; i++)
        if (a->rates[i].fpr == fpr && !a->rates[i].refused && is_finite(&a->rates[i].tpr.rate))
            return &a->rates[i];
    return NULL;
}

/* Every model measured the rate for every common attack. */
static bool all_measured(const struct sotto_compare_result *c, const struct audits *models, double fpr)
{
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t k = 0; attack_at(&models[i], 0) && k < c->attack_count; k++)
            if (!rate_at(attack_named(&models[i], c->attacks[k]), fpr))
                return false;
    return true;
}

/* ---- the axes ---- */

static sotto_status compare_read_take(struct sotto_compare_result *c, struct sotto_compare_row *row, int axis,
                                      const struct sotto_estimate *e, const char *by)
{
    row->axis[axis] = *e;
    row->by[axis] = audit_keep_text(&c->memory, by);
    return by && !row->by[axis] ? status_fail(SOTTO_ENOMEM, "compare: out of memory for '%s'", by) : SOTTO_OK;
}

/* The largest; ties go to the first. */
static sotto_status take_larger(struct sotto_compare_result *c, struct sotto_compare_row *row, int axis,
                                const struct sotto_estimate *e, const char *by)
{
    if (!is_finite(e) || e->estimate <= row->axis[axis].estimate) /* NAN: not measured yet */
        return SOTTO_OK;
    return compare_read_take(c, row, axis, e, by);
}

/* The first file that measured it. */
static sotto_status take_once(struct sotto_compare_result *c, struct sotto_compare_row *row, int axis,
                              const struct sotto_estimate *e, const char *by)
{
    if (!is_finite(e) || compare_measured(&row->axis[axis]))
        return SOTTO_OK;
    return compare_read_take(c, row, axis, e, by);
}

/* An AUC below one half is that of the opposite guess. */
static struct sotto_estimate better_guess(const struct sotto_estimate *e)
{
    return e->estimate < 0.5 ? (struct sotto_estimate){1 - e->estimate, 1 - e->upper, 1 - e->lower} : *e;
}

/* How far an interval of a better guess, or of a rate, lies above guessing. */
static struct sotto_estimate compare_read_above(const struct sotto_estimate *e, double guessing)
{
    return (struct sotto_estimate){fmax(0, e->estimate - guessing), fmax(0, e->lower - guessing),
                                   fmax(0, e->upper - guessing)};
}

static sotto_status take_attack(struct sotto_compare_result *c, struct sotto_compare_row *row,
                                const struct audits *models, const struct sotto_audit_attack *a)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_estimate area = better_guess(&a->auc.area), beyond = compare_read_above(&area, 0.5);
    TRY(take_larger(c, row, SOTTO_AXIS_MEMBERSHIP, &area, a->name));
    TRY(take_larger(c, row, SOTTO_AXIS_LEAKAGE, &beyond, a->name));
    for (size_t i = 0; i < a->rate_count; i++) {
        const double fpr = a->rates[i].fpr;
        if (!all_measured(c, models, fpr))
            continue;
        const struct sotto_estimate *rate = &rate_at(a, fpr)->tpr.rate,
                                    excess = compare_read_above(rate, fpr);
        TRY(take_larger(c, row, SOTTO_AXIS_LEAKAGE, &excess, a->name));
        if (fpr == c->fpr)
            TRY(take_larger(c, row, SOTTO_AXIS_TPR, rate, a->name));
    }
done:
    return status;
}

/* The lowest rate that all models measured. */
static void choose_rate(struct sotto_compare_result *c, const struct audits *models)
{
    c->fpr = NAN;
    for (size_t i = 0; i < c->row_count && c->attack_count; i++) {
        const struct sotto_audit_attack *a = attack_named(&models[i], c->attacks[0]);
        for (size_t k = 0; a && k < a->rate_count; k++)
            if (!(a->rates[k].fpr >= c->fpr) && all_measured(c, models, a->rates[k].fpr))
                c->fpr = a->rates[k].fpr;
    }
}

static sotto_status take_rest(struct sotto_compare_result *c, struct sotto_compare_row *row,
                              const struct sotto_audit_result *audit)
{
    sotto_status status = SOTTO_OK;
    if (audit->accuracy)
        TRY(take_once(c, row, SOTTO_AXIS_UTILITY, &audit->accuracy->nonmember.rate, NULL));
    for (size_t i = 0; audit->encoder && i < audit->attack_count; i++) {
        const struct sotto_estimate area = better_guess(&audit->attacks[i].auc.area);
        TRY(take_larger(c, row, SOTTO_AXIS_ENCODER, &area, audit->attacks[i].name));
    }
    if (audit->attribute)
        TRY(take_once(c, row, SOTTO_AXIS_ATTRIBUTE, &audit->attribute->attack.balanced_accuracy,
                      audit->attribute->attack.name));
done:
    return status;
}

/* Only what is proved; a condition proves nothing. */
static sotto_status take_certificate(struct sotto_compare_row *row, const struct sotto_compared *model)
{
    sotto_status status = SOTTO_OK;
    struct sotto_verification v = {0};
    if (!model->certificate)
        return SOTTO_OK;
    TRY(sotto_verify(&v, model->certificate, NULL, model->ledger, NULL));
    if (v.guarantee == SOTTO_GUARANTEE_NONE)
        FAIL(SOTTO_EGATE, "%s: guarantees nothing, as its noise was seeded", v.certificate);
    if (v.guarantee == SOTTO_GUARANTEE_PROVED) {
        row->axis[SOTTO_AXIS_EPSILON] =
            (struct sotto_estimate){v.epsilon.upper, v.epsilon.upper, v.epsilon.upper};
        row->delta = v.delta;
    }
done:
    sotto_verification_clear(&v);
    return status;
}

/* ---- files ---- */

static sotto_status read_audit(struct sotto_audit_result *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_read_file(&doc, path));
    const char *schema = json_text(json_member(doc, "schema"));
    if (!schema || strcmp(schema, "sotto.audit/1") != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: schema is '%.40s'; expected sotto.audit/1 (result.json of an audit or attack)", path,
             schema ? schema : "");
    status = audit_decode(out, doc);
    if (status == SOTTO_EFORMAT)
        status_prefix(path);
done:
    json_free(doc);
    return status;
}

static sotto_status read_model(struct audits *out, const struct sotto_compared *model)
{
    sotto_status status = SOTTO_OK;
    NEW(out->list, model->file_count + 1);
    for (; out->count < model->file_count; out->count++)
        TRY(read_audit(&out->list[out->count], model->files[out->count]));
done:
    return status;
}

static void audits_clear(struct audits *a)
{
    for (size_t i = 0; i < a->count; i++)
        sotto_audit_result_free(&a->list[i]);
    base_free(a->list);
}

/* The audit's own verdict; the worst of several. */
static sotto_status take_verdict(struct sotto_compare_result *c, struct sotto_compare_row *row,
                                 const struct sotto_audit_result *audit)
{
    struct sotto_audit_verdict v;
    sotto_audit_judge(&v, audit);
    if (v.kind < row->verdict)
        row->verdict = v.kind;
    if (v.swapped && !row->swapped && !(row->swapped = audit_keep_text(&c->memory, v.text)))
        return status_fail(SOTTO_ENOMEM, "compare: out of memory for a verdict");
    return SOTTO_OK;
}

static sotto_status take_row(struct sotto_compare_result *c, struct sotto_compare_row *row,
                             const struct audits *models, size_t at)
{
    sotto_status status = SOTTO_OK;
    row->verdict = SOTTO_VERDICT_NOT_ATTACKED;
    for (size_t i = 0; i < models[at].count; i++) {
        TRY(take_rest(c, row, &models[at].list[i]));
        TRY(take_verdict(c, row, &models[at].list[i]));
    }
    for (size_t i = 0; i < c->attack_count; i++) {
        const struct sotto_audit_attack *a = attack_named(&models[at], c->attacks[i]);
        if (a)
            TRY(take_attack(c, row, models, a));
    }
done:
    return status;
}

sotto_status compare_read(struct sotto_compare_result *c, const struct sotto_compared *rows)
{
    sotto_status status = SOTTO_OK;
    struct audits *models = NULL;
    NEW(models, c->row_count);
    for (size_t i = 0; i < c->row_count; i++) {
        struct sotto_compare_row *row = &c->rows[i];
        row->name = audit_keep_text(&c->memory, rows[i].name);
        row->delta = NAN;
        if (!row->name)
            FAIL(SOTTO_ENOMEM, "compare: out of memory for %zu models", c->row_count);
        for (int k = 0; k < SOTTO_AXES; k++)
            row->axis[k] = (struct sotto_estimate){NAN, NAN, NAN};
        TRY(read_model(&models[i], &rows[i]));
    }
    TRY(find_common(c, models));
    choose_rate(c, models);
    for (size_t i = 0; i < c->row_count; i++) {
        TRY(take_row(c, &c->rows[i], models, i));
        TRY(take_certificate(&c->rows[i], &rows[i]));
    }
done:
    for (size_t i = 0; models && i < c->row_count; i++)
        audits_clear(&models[i]);
    base_free(models);
    return status;
}
