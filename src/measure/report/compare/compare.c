/* The joint view: utility, membership (of the head, of the encoder) and attribute of several models, from
 * their audits (compare_read.c). A defence that improves one axis may worsen another (Olympus hides the attribute and raises
 * membership), so no axis is judged alone.
 *
 * Better: the whole interval lies beyond the original's interval. Worse: the estimate lies beyond the
 * original's interval, on the worse side; that needs less evidence, so doubtful cases count against a
 * defence. It wins with something better and nothing worse; what is proved stands beside it and decides nothing. The front holds
 * each row that no other beats or equals on every axis that all have, with one better; by estimates, so neighbours on it may
 * differ by chance. The choice for an axis is the winner that improves it most: how a strength (Talos's lambda, a
 * budget) is picked among several. Of several that win, leakage and then utility decide. */
#include "report/compare/compare.h"

#include "audit/audit_memory.h"

#include <math.h>
#include <string.h>

static bool compare_beats(const struct sotto_compare_row *a, const struct sotto_compare_row *b,
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
static size_t compare_choose(const struct sotto_compare_result *c, int k)
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

/* Leaks no more than the least leaking one, as far as the intervals tell; then the most useful, then the least leaking. */
static size_t choose_winner(const struct sotto_compare_result *c)
{
    size_t least = 0, best = 0;
    for (size_t i = 1; i < c->row_count; i++) {
        const double here = c->rows[i].axis[SOTTO_AXIS_LEAKAGE].estimate;
        if (c->rows[i].wins && (!least || here < c->rows[least].axis[SOTTO_AXIS_LEAKAGE].estimate))
            least = i;
    }
    for (size_t i = 1; i < c->row_count; i++) {
        const struct sotto_compare_row *row = &c->rows[i];
        if (!row->wins || row->axis[SOTTO_AXIS_LEAKAGE].lower > c->rows[least].axis[SOTTO_AXIS_LEAKAGE].upper)
            continue;
        const double gain =
            best ? row->axis[SOTTO_AXIS_UTILITY].estimate - c->rows[best].axis[SOTTO_AXIS_UTILITY].estimate
                 : 1;
        if (gain > 0 || (!(gain < 0) && i == least))
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
            row->front = row->front && !compare_beats(&c->rows[j], row, c->shared);
        for (int k = 0; k < SOTTO_AXES; k++) {
            row->change[k] =
                i ? change_of(&c->rows[0].axis[k], &row->axis[k], compare_axes[k].higher_is_better)
                  : SOTTO_CHANGE_UNKNOWN;
            /* an axis that only one of the two was measured on may hide the damage */
            row->worse |= compare_axes[k].decides &&
                          (row->change[k] == SOTTO_CHANGE_WORSE ||
                           (i && compare_measured(&c->rows[0].axis[k]) != compare_measured(&row->axis[k])));
            better |= compare_axes[k].decides && row->change[k] == SOTTO_CHANGE_BETTER;
        }
        row->wins = better && !row->worse;
    }
    for (int k = 0; k < SOTTO_AXES; k++)
        c->choice[k] = compare_choose(c, k);
    c->winner = choose_winner(c);
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

sotto_status sotto_compare(struct sotto_compare_result *out, const struct sotto_compared *rows, size_t count,
                           const char *title)
{
    REQUIRE_GIVEN(out, !count || rows);
    sotto_status status = SOTTO_OK;
    struct sotto_compare_result c = {.version = sotto_version()};
    TRY(check_rows(rows, count));
    c.title = audit_keep_text(&c.memory, title ? title : "Comparison");
    if (!c.title)
        FAIL(SOTTO_ENOMEM, "compare: out of memory for %zu models", count);
    TAKE(&c.memory, c.rows, count);
    c.row_count = count;
    TRY(compare_read(&c, rows));
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
