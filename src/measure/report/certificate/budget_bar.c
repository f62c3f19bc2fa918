/* The bar of a budget: what is spent of it, and what is left. */
#include "report/certificate/budget_bar.h"
#include "io/text/number.h"
#include "report/certificate/certificate_facts.h"

#include <math.h>

static void put_spent(struct page *p, const char *releases, double total)
{
    char spent[NUMBER_TEXT];
    if (isfinite(total))
        page_format(p, "%s: epsilon %s.</p>\n", releases, number_text_up(spent, total, 4));
    else
        page_format(p, "%s: no finite epsilon.</p>\n", releases);
}

void budget_bar_put(struct page *p, const struct json *ledger, const char *releases, const char *elsewhere)
{
    const double total = number_of(ledger, "total"), budget = number_of(ledger, "budget.epsilon");
    char spent[NUMBER_TEXT];
    if (!(budget > 0)) {
        page_html(p, "<p class=\"note\">No budget is set. ");
        put_spent(p, "All releases of the ledger together", total);
        return;
    }
    const double share = total < budget ? total / budget : 1;
    page_format(p,
                "<div class=\"bar\" role=\"img\" aria-label=\"%.0f %% of the budget is spent\"><i "
                "style=\"width:%.1f%%\"></i></div>\n<p class=\"note\">",
                100 * share, 100 * share);
    if (!isfinite(total)) {
        put_spent(p, "Spent by all releases of the ledger", total);
        return;
    }
    page_format(p,
                "Spent: epsilon %s of %.6g at delta %.4g, by %s. Left by this count: %.4g. It counts all "
                "releases as chosen beforehand; %s.</p>\n",
                number_text_up(spent, total, 4), budget, number_of(ledger, "budget.delta"), releases,
                total < budget ? floor((budget - total) * 1e4) / 1e4 : 0,
                number_of(ledger, "any_order.epsilon") <= budget
                    ? "the budget itself holds for any order of choices"
                    : elsewhere);
}
