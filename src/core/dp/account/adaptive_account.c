/* The public side of boxes. Outside a Gaussian is named by its shift mu, in here by mu^2: both ways are rounded up. */
#include "dp/account/adaptive_account.h"
#include "dp/account/adaptive_part.h"

#include <math.h>

struct adaptive adaptive_from(const struct sotto_adaptive *t)
{
    return (struct adaptive){t->pure, t->mu == 0 ? 0 : iv_square(iv(t->mu)).hi, t->failure};
}

struct sotto_adaptive adaptive_shown(const struct adaptive *box)
{
    return (struct sotto_adaptive){box->pure, box->square == 0 ? 0 : iv_sqrt(iv(box->square)).hi,
                                   box->failure};
}

static const char *member_out_of_range(const struct sotto_adaptive *t)
{
    return !(t->pure >= 0)                      ? "pure"
           : !(t->mu >= 0)                      ? "mu"
           : t->failure >= 0 && t->failure <= 1 ? NULL
                                                : "failure";
}

static sotto_status require_triple(const struct sotto_adaptive *t, const char *name)
{
    sotto_status status = SOTTO_OK;
    const char *member = member_out_of_range(t);
    if (member)
        FAIL(SOTTO_EINVAL,
             "%s: '%s' is out of range; expected pure and mu of at least 0, and a failure in [0, 1]", name,
             member);
done:
    return status;
}

sotto_status account_adaptive(struct sotto_adaptive out[SOTTO_MAX_OFFERS], size_t *count,
                              const struct sotto_event *event, const struct sotto_adaptive *left)
{
    REQUIRE_GIVEN(out, count, event, left);
    sotto_status status = SOTTO_OK;
    struct adaptive box[ADAPTIVE_OFFERS], room;
    struct part part;
    size_t n;
    TRY(require_triple(left, "left"));
    TRY(part_make(&part, event, 0, SOTTO_REPLACE_ONE));
    room = adaptive_from(left);
    TRY(adaptive_offers(box, &n, &part, &room, NULL));
    for (size_t i = 0; i < n; i++)
        out[i] = adaptive_shown(&box[i]);
    *count = n;
done:
    return status;
}

sotto_status adaptive_total_add(struct sotto_adaptive *total, const struct sotto_adaptive *entry)
{
    REQUIRE_GIVEN(total, entry);
    sotto_status status = SOTTO_OK;
    TRY(require_triple(total, "total"));
    TRY(require_triple(entry, "entry"));
    const struct adaptive sum = adaptive_add(adaptive_from(total), adaptive_from(entry));
    *total = adaptive_shown(&sum);
done:
    return status;
}

struct sotto_interval adaptive_interval(const struct sotto_adaptive *box, double delta)
{
    if (!box || member_out_of_range(box) || !(delta >= 0 && delta < 1))
        return (struct sotto_interval){NAN, NAN};
    const struct adaptive b = adaptive_from(box);
    if (b.pure == INFINITY || b.square == INFINITY)
        return (struct sotto_interval){0, INFINITY};
    return (struct sotto_interval){adaptive_epsilon_below(&b, delta), adaptive_epsilon(&b, delta)};
}
