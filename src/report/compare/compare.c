/* The joint view: utility, membership (of the head, of the encoder) and attribute of several models, from
 * their audits. A defence that improves one axis may worsen another (Olympus hides the attribute and raises
 * membership), so no axis is judged alone.
 *
 * Better: the whole interval lies beyond the original's interval. Worse: the estimate lies beyond the
 * original's interval, on the worse side; that needs less evidence, so doubtful cases count against a
 * defence. It wins with something better and nothing worse. The front holds each row that no other beats or
 * equals on every axis that all have, with one better; by estimates, so neighbours on it may differ by
 * chance. The choice for an axis is the winner that improves it most: how a strength (Talos's lambda, a
 * budget) is picked among several. */
#include "report/compare/compare.h"

#include "audit/audit_document.h"
#include "io/json/json.h"
#include "sotto/sotto.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static bool is_finite(const struct sotto_estimate *e)
{
    return isfinite(e->estimate) && isfinite(e->lower) && isfinite(e->upper);
}

static sotto_status take(struct sotto_compare_result *c, struct sotto_compare_row *row, int axis,
                         const struct sotto_estimate *e, const char *by)
{
    row->axis[axis] = *e;
    row->by[axis] = audit_keep_text(&c->memory, by);
    return by && !row->by[axis] ? status_fail(SOTTO_ENOMEM, "compare: out of memory for '%s'", by) : SOTTO_OK;
}

/* The attack with the largest area; ties go to the first. */
static sotto_status take_membership(struct sotto_compare_result *c, struct sotto_compare_row *row,
                                    const struct sotto_audit_result *audit)
{
    sotto_status status = SOTTO_OK;
    const int axis = audit->encoder ? SOTTO_AXIS_ENCODER : SOTTO_AXIS_MEMBERSHIP;
    for (size_t i = 0; i < audit->attack_count; i++) {
        const struct sotto_estimate *e = &audit->attacks[i].auc.area;
        if (is_finite(e) && !(e->estimate <= row->axis[axis].estimate)) /* or not measured yet */
            TRY(take(c, row, axis, e, audit->attacks[i].name));
    }
done:
    return status;
}

/* The first file that measured it. */
static sotto_status take_once(struct sotto_compare_result *c, struct sotto_compare_row *row, int axis,
                              const struct sotto_estimate *e, const char *by)
{
    if (!is_finite(e) || compare_measured(&row->axis[axis]))
        return SOTTO_OK;
    return take(c, row, axis, e, by);
}

static sotto_status take_audit(struct sotto_compare_result *c, struct sotto_compare_row *row,
                               const char *path)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct sotto_audit_result audit = {0};
    TRY(json_read_file(&doc, path));
    const char *schema = json_text(json_member(doc, "schema"));
    if (!schema || strcmp(schema, "sotto.audit/1") != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: schema is '%.40s'; expected sotto.audit/1 (result.json of an audit or attack)", path,
             schema ? schema : "");
    status = audit_decode(&audit, doc);
    if (status == SOTTO_EFORMAT)
        status_prefix(path);
    TRY(status);
    if (audit.accuracy)
        TRY(take_once(c, row, SOTTO_AXIS_UTILITY, &audit.accuracy->nonmember.rate, NULL));
    TRY(take_membership(c, row, &audit));
    if (audit.attribute)
        TRY(take_once(c, row, SOTTO_AXIS_ATTRIBUTE, &audit.attribute->attack.balanced_accuracy,
                      audit.attribute->attack.name));
done:
    sotto_audit_result_free(&audit);
    json_free(doc);
    return status;
}

/* ---- judging ---- */

static bool beats(const struct sotto_compare_row *a, const struct sotto_compare_row *b,
                  const int shared[SOTTO_AXES])
{
    bool better = false;
    for (int k = 0; k < SOTTO_AXES; k++) {
        double gain =
            (a->axis[k].estimate - b->axis[k].estimate) * (compare_axes[k].higher_is_better ? 1 : -1);
        if (shared[k] && gain < 0)
            return false;
        better |= shared[k] && gain > 0;
    }
    return better;
}

static enum sotto_compare_change change_of(const struct sotto_estimate *from, const struct sotto_estimate *to,
                                           bool higher)
{
    if (!compare_measured(from) || !compare_measured(to))
        return SOTTO_CHANGE_UNKNOWN;
    if (higher ? to->lower > from->upper : to->upper < from->lower)
        return SOTTO_CHANGE_BETTER;
    return (higher ? to->estimate < from->lower : to->estimate > from->upper) ? SOTTO_CHANGE_WORSE
                                                                              : SOTTO_CHANGE_NONE;
}

/* By estimates; the first of equals. */
static size_t choose(const struct sotto_compare_result *c, int k)
{
    size_t best = 0;
    double sign = compare_axes[k].higher_is_better ? 1 : -1;
    for (size_t i = 1; i < c->row_count; i++) {
        const struct sotto_compare_row *row = &c->rows[i];
        if (!row->worse && row->change[k] == SOTTO_CHANGE_BETTER &&
            (!best || sign * row->axis[k].estimate > sign * c->rows[best].axis[k].estimate))
            best = i;
    }
    return best;
}

void compare_judge(struct sotto_compare_result *c)
{
    for (int k = 0; k < SOTTO_AXES; k++) {
        c->shared[k] = true;
        for (size_t i = 0; i < c->row_count; i++)
            c->shared[k] = c->shared[k] && compare_measured(&c->rows[i].axis[k]);
    }
    for (size_t i = 0; i < c->row_count; i++) {
        struct sotto_compare_row *row = &c->rows[i];
        bool better = false;
        row->front = true, row->worse = false;
        for (size_t j = 0; j < c->row_count; j++)
            row->front = row->front && !beats(&c->rows[j], row, c->shared);
        for (int k = 0; k < SOTTO_AXES; k++) {
            row->change[k] =
                i ? change_of(&c->rows[0].axis[k], &row->axis[k], compare_axes[k].higher_is_better)
                  : SOTTO_CHANGE_UNKNOWN;
            /* an axis that only one of the two was measured on may hide the damage */
            row->worse |= row->change[k] == SOTTO_CHANGE_WORSE ||
                          (i && compare_measured(&c->rows[0].axis[k]) != compare_measured(&row->axis[k]));
            better |= row->change[k] == SOTTO_CHANGE_BETTER;
        }
        row->wins = better && !row->worse;
    }
    for (int k = 0; k < SOTTO_AXES; k++)
        c->choice[k] = choose(c, k);
}

static sotto_status check_rows(const struct sotto_compared *rows, size_t count)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(count >= 2 && count <= 1000, "compare: %zu models; expected 2 to 1000", count);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(rows[i].name && rows[i].name[0],
                "compare: model %zu has no name; expected one for each model", i + 1);
        for (size_t j = 0; j < i; j++)
            REQUIRE(strcmp(rows[i].name, rows[j].name) != 0,
                    "compare: two models are called '%s'; expected different names", rows[i].name);
    }
done:
    return status;
}

static sotto_status read_rows(struct sotto_compare_result *c, const struct sotto_compared *rows, size_t count)
{
    sotto_status status = SOTTO_OK;
    TAKE(&c->memory, c->rows, count);
    c->row_count = count;
    for (size_t i = 0; i < count; i++) {
        struct sotto_compare_row *row = &c->rows[i];
        row->name = audit_keep_text(&c->memory, rows[i].name);
        if (!row->name)
            FAIL(SOTTO_ENOMEM, "compare: out of memory for %zu models", count);
        for (int k = 0; k < SOTTO_AXES; k++)
            row->axis[k] = (struct sotto_estimate){NAN, NAN, NAN};
        for (size_t k = 0; k < rows[i].file_count; k++)
            TRY(take_audit(c, row, rows[i].files[k]));
    }
done:
    return status;
}

sotto_status sotto_compare(struct sotto_compare_result *out, const struct sotto_compared *rows, size_t count,
                           const char *title)
{
    sotto_status status = SOTTO_OK;
    struct sotto_compare_result c = {.version = sotto_version()};
    TRY(check_rows(rows, count));
    c.title = audit_keep_text(&c.memory, title ? title : "Comparison");
    if (!c.title)
        FAIL(SOTTO_ENOMEM, "compare: out of memory for %zu models", count);
    TRY(read_rows(&c, rows, count));
    compare_judge(&c);
    *out = c;
done:
    if (status != SOTTO_OK)
        sotto_compare_result_free(&c);
    return status;
}

void sotto_compare_result_free(struct sotto_compare_result *r)
{
    if (!r)
        return;
    audit_memory_free(&r->memory);
    *r = (struct sotto_compare_result){0};
}
