/* The bar of a budget: what is spent of it, and what is left. */
#include "report/certificate/budget_bar.h"
#include "io/text/number.h"
#include "report/certificate/certificate_facts.h"
#include "sotto/private/print.h"

#include <math.h>

static void put_spent(struct page *p, const char *releases, double total)
{
    char spent[NUMBER_TEXT];
    if (isfinite(total))
        page_format(p, "%s: epsilon %s.</p>\n", releases, number_text_up(spent, total, 4));
    else
        page_format(p, "%s: no finite epsilon.</p>\n", releases);
}

/* What a column that is alive can still take. */
struct room {
    double epsilon; /* of a release with pure noise: mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)) */
    double used;    /* share of its box: pure epsilons add up, of mu the squares */
};

static struct room room_of_column(const struct json *column)
{
    const struct json *left = json_find(column, "left"), *box = json_find(column, "box");
    const double mu = number_of(left, "mu"), pure = number_of(left, "pure"), whole_mu = number_of(box, "mu"),
                 whole_pure = number_of(box, "pure");
    if (json_kind(left) != JSON_KIND_OBJECT)
        return (struct room){0, 1};
    const double beyond = erfc(mu / 2 / M_SQRT2) / 2, by_mu = whole_mu > 0 ? log1p(-beyond) - log(beyond) : 0;
    return (struct room){fmax(pure, by_mu), fmax(whole_mu > 0 ? 1 - mu * mu / (whole_mu * whole_mu) : 0,
                                                 whole_pure > 0 ? 1 - pure / whole_pure : 0)};
}

/* The column that has most. */
static struct room room_of_budget(const struct json *ledger)
{
    const struct json *columns = json_find(ledger, "any_order.columns");
    struct room most = {0, 1};
    for (size_t i = 0; i < json_count(columns); i++) {
        const struct room one = room_of_column(json_at(columns, i));
        most = one.epsilon > most.epsilon ? one : most;
    }
    return most;
}

static void put_room(struct page *p, const struct room *room)
{
    char least[SOTTO_NUMBER_TEXT];
    if (room->epsilon < 1e-4)
        page_html(p, "No other release fits. ");
    else
        page_format(p, "Another release fits if its noise is pure and its epsilon at most %s. ",
                    sotto_number_text(least, room->epsilon, 3, 0));
}

void budget_bar_put(struct page *p, const struct json *ledger, const char *releases, const char *elsewhere)
{
    const double total = number_of(ledger, "total"), budget = number_of(ledger, "budget.epsilon");
    const bool columns = json_says_true(json_find(ledger, "any_order.of_budget"));
    char spent[NUMBER_TEXT];
    if (!(budget > 0)) {
        page_html(p, "<p class=\"note\">No budget is set. ");
        put_spent(p, "All releases of the ledger together", total);
        return;
    }
    const struct room room =
        columns ? room_of_budget(ledger) : (struct room){0, total < budget ? total / budget : 1};
    page_format(p,
                "<div class=\"bar\" role=\"img\" aria-label=\"%.0f %% of the budget is used\"><i "
                "style=\"width:%.1f%%\"></i></div>\n<p class=\"note\">",
                100 * room.used, 100 * room.used);
    if (columns)
        page_format(p, "Used: %.3g %%. ", ceil(1000 * room.used) / 10);
    if (columns)
        put_room(p, &room);
    if (!isfinite(total)) {
        put_spent(p, "Spent by all releases of the ledger", total);
        return;
    }
    page_format(p,
                "Spent by %s, as if chosen beforehand, which leaves no more room: epsilon %s of %.6g at "
                "delta %.4g; %s.</p>\n",
                releases, number_text_up(spent, total, 4), budget, number_of(ledger, "budget.delta"),
                number_of(ledger, "any_order.epsilon") <= budget
                    ? "the budget itself holds for any order of choices"
                    : elsewhere);
}
