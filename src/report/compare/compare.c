/* The joint view: utility, membership (of the head, of the encoder) and attribute of several models, from
 * their audits. A defence that mends one axis may break another (Olympus hides the attribute and raises
 * membership), so no axis is judged alone.
 *
 * Better: the whole interval lies beyond the original's interval. Worse: the estimate lies beyond the
 * original's interval, on the bad side; less is asked for that, so that doubt speaks against a defence. It
 * wins with something better and nothing worse. The front holds whoever no other beats or equals on every
 * axis that all have, with one better; by estimates, so neighbours on it may differ by chance. The choice for
 * an axis is the winner that mends it most: how a strength (Talos's lambda, a budget) is picked among
 * several.
 */
#include "report/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "sotto/sotto.h"

/* ---- reading ---- */

static struct estimate read_estimate(const struct json *j)
{
    struct estimate e = {.given = json_kind(j) == JSON_KIND_OBJECT,
                         .value = json_number(json_member(j, "estimate")),
                         .lower = json_number(json_member(j, "lower")),
                         .upper = json_number(json_member(j, "upper"))};
    e.given = e.given && isfinite(e.value) && isfinite(e.lower) && isfinite(e.upper);
    return e;
}

/* The attack with the largest area; ties go to the first. */
static void take_membership(struct compare_row *row, enum compare_axis axis, const struct json *attacks)
{
    for (size_t i = 0; i < json_count(attacks); i++) {
        struct estimate e = read_estimate(json_member(json_at(attacks, i), "auc"));
        if (e.given && (!row->axis[axis].given || e.value > row->axis[axis].value)) {
            row->axis[axis] = e;
            row->by[axis] = json_text(json_member(json_at(attacks, i), "name"));
        }
    }
}

static void take_once(struct compare_row *row, enum compare_axis axis, const struct json *estimate,
                      const char *by)
{
    struct estimate e = read_estimate(estimate);
    if (e.given && !row->axis[axis].given) {
        row->axis[axis] = e;
        row->by[axis] = by;
    }
}

static sotto_status take_audit(struct compare_row *row, const struct json *doc, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *schema = json_text(json_member(doc, "schema"));
    if (!schema || strcmp(schema, "sotto.audit/1") != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: holds schema '%.40s'; expected sotto.audit/1 (result.json of an audit or attack)", where,
             schema ? schema : "");
    take_once(row, AXIS_UTILITY, json_find(doc, "accuracy.nonmember"), NULL);
    take_membership(row, json_member(doc, "encoder_attack") ? AXIS_ENCODER : AXIS_MEMBERSHIP,
                    json_member(doc, "attacks"));
    take_once(row, AXIS_ATTRIBUTE, json_find(doc, "attribute.attack.balanced_accuracy"),
              json_text(json_find(doc, "attribute.attack.name")));
done:
    return status;
}

/* ---- judging ---- */

static bool beats(const struct compare_row *a, const struct compare_row *b, const bool shared[AXES])
{
    bool better = false;
    for (int k = 0; k < AXES; k++) {
        double gain = (a->axis[k].value - b->axis[k].value) * (compare_axes[k].higher_is_better ? 1 : -1);
        if (shared[k] && gain < 0)
            return false;
        better |= shared[k] && gain > 0;
    }
    return better;
}

static enum compare_change change_of(const struct estimate *from, const struct estimate *to, bool higher)
{
    if (!from->given || !to->given)
        return CHANGE_UNKNOWN;
    if (higher ? to->lower > from->upper : to->upper < from->lower)
        return CHANGE_BETTER;
    return (higher ? to->value < from->lower : to->value > from->upper) ? CHANGE_WORSE : CHANGE_NONE;
}

/* By estimates; the first of equals. */
static size_t choose(const struct compare *c, int k)
{
    size_t best = 0;
    double sign = compare_axes[k].higher_is_better ? 1 : -1;
    for (size_t i = 1; i < c->count; i++) {
        const struct compare_row *row = &c->rows[i];
        if (!row->worse && row->change[k] == CHANGE_BETTER &&
            (!best || sign * row->axis[k].value > sign * c->rows[best].axis[k].value))
            best = i;
    }
    return best;
}

void compare_judge(struct compare *c)
{
    for (int k = 0; k < AXES; k++) {
        c->shared[k] = true;
        for (size_t i = 0; i < c->count; i++)
            c->shared[k] = c->shared[k] && c->rows[i].axis[k].given;
    }
    for (size_t i = 0; i < c->count; i++) {
        struct compare_row *row = &c->rows[i];
        bool better = false;
        row->front = true, row->worse = false;
        for (size_t j = 0; j < c->count; j++)
            row->front = row->front && !beats(&c->rows[j], row, c->shared);
        for (int k = 0; k < AXES; k++) {
            row->change[k] =
                i ? change_of(&c->rows[0].axis[k], &row->axis[k], compare_axes[k].higher_is_better)
                  : CHANGE_UNKNOWN;
            /* an axis that only one of the two was measured on may hide the damage */
            row->worse |=
                row->change[k] == CHANGE_WORSE || (i && c->rows[0].axis[k].given != row->axis[k].given);
            better |= row->change[k] == CHANGE_BETTER;
        }
        row->wins = better && !row->worse;
    }
    for (int k = 0; k < AXES; k++)
        c->choice[k] = choose(c, k);
}

/* ---- writing ---- */

static struct json *row_json(const struct compare_row *row)
{
    struct json *j = json_make_object();
    json_put_text(&j, "name", row->name);
    for (int k = 0; k < AXES; k++) {
        const struct estimate *e = &row->axis[k];
        struct json *axis = e->given ? json_make_object() : json_make_null();
        if (e->given) {
            json_put_real(&axis, "estimate", e->value);
            json_put_real(&axis, "lower", e->lower);
            json_put_real(&axis, "upper", e->upper);
            json_put_text(&axis, "by", row->by[k]);
            json_put_text(&axis, "change", compare_change_names[row->change[k]]);
        }
        json_put(&j, compare_axes[k].name, axis);
    }
    json_put_boolean(&j, "front", row->front);
    json_put_boolean(&j, "wins", row->wins);
    return j;
}

static sotto_status dump(char **out, const struct compare *c, const char *title)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = json_make_object(), *rows = json_make_array(), *over = json_make_array(),
                *choice = json_make_object();
    json_put_text(&doc, "schema", "sotto.compare/1");
    json_put_text(&doc, "version", sotto_version());
    json_put_text(&doc, "title", title);
    for (int k = 0; k < AXES; k++)
        if (c->shared[k])
            json_push(&over, json_make_text(compare_axes[k].name));
    json_put(&doc, "front_over", over);
    for (int k = 0; k < AXES; k++)
        json_put_text(&choice, compare_axes[k].name, c->rows[c->choice[k]].name);
    json_put(&doc, "choice", choice);
    for (size_t i = 0; i < c->count; i++)
        json_push(&rows, row_json(&c->rows[i]));
    json_put(&doc, "rows", rows);
    TRY(json_dump(out, doc, JSON_LINE));
done:
    json_free(doc);
    return status;
}

static sotto_status check_rows(const struct sotto_compared *rows, size_t count)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(count >= 2 && count <= 1000, "compare: %zu models; expected 2 to 1000", count);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(rows[i].name && rows[i].name[0], "compare: model %zu has no name", i + 1);
        for (size_t j = 0; j < i; j++)
            REQUIRE(strcmp(rows[i].name, rows[j].name) != 0, "compare: two models are called '%s'",
                    rows[i].name);
    }
done:
    return status;
}

static sotto_status read_rows(struct compare *c, struct json ***docs, size_t *doc_count,
                              const struct sotto_compared *rows, size_t count)
{
    sotto_status status = SOTTO_OK;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += rows[i].file_count;
    *docs = base_alloc(total + 1, sizeof **docs);
    c->rows = base_alloc(count, sizeof *c->rows);
    c->count = count;
    if (!*docs || !c->rows)
        FAIL(SOTTO_ENOMEM, "compare: out of memory for %zu models", count);
    for (size_t i = 0; i < count; i++) {
        c->rows[i].name = rows[i].name;
        for (size_t k = 0; k < rows[i].file_count; k++) {
            struct json **doc = &(*docs)[*doc_count];
            TRY(json_read_file(doc, rows[i].files[k]));
            (*doc_count)++;
            TRY(take_audit(&c->rows[i], *doc, rows[i].files[k]));
        }
    }
done:
    return status;
}

sotto_status sotto_compare(char **json, char **html, const struct sotto_compared *rows, size_t count,
                           const char *title)
{
    sotto_status status = SOTTO_OK;
    struct compare c = {0};
    struct json **docs = NULL;
    size_t doc_count = 0;
    char *text = NULL, *page = NULL;
    title = title ? title : "Comparison";
    TRY(check_rows(rows, count));
    TRY(read_rows(&c, &docs, &doc_count, rows, count));
    compare_judge(&c);
    TRY(dump(&text, &c, title));
    if (html)
        TRY(compare_page(&page, &c, title));
    *json = text;
    if (html)
        *html = page;
    text = page = NULL;
done:
    for (size_t i = 0; i < doc_count; i++)
        json_free(docs[i]);
    base_free(docs);
    base_free(c.rows);
    sotto_text_free(text);
    sotto_text_free(page);
    return status;
}
