/* Offers beside the facts of their line. What is compared with is the lower end of what the facts need, so rounding accuses nobody. */
#include "dp/ledger/ledger_offers.h"
#include "dp/account/adaptive_part.h"
#include "dp/mechanism/mechanism.h"
#include "num/special.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 48 };
static const double hair = 1e-9; /* a recorded epsilon is the decimal that was asked for */

struct need {
    const struct ledger_item *item;
    const struct sotto_event *event;
    double lower, delta; /* what the line itself says: epsilon at delta is not below */
    struct part part;
    double pure;   /* of all releases together; INFINITY: none */
    double square; /* of Gaussian noise, else INFINITY */
    double coin;
};

/* Does a Gaussian of this shift tell at least as much as each of the pure releases, of which equal ones add up? */
static bool covers_pure(double square, const struct need *n)
{
    const double count = n->part.count;
    const struct interval each = iv_div(iv(n->pure), iv(count)),
                          told = iv_div(iv(1), iv_add(iv(1), iv_exp(iv_neg(each)))),
                          tells = normal_cdf(iv_scale(iv_sqrt(iv_div(iv(square), iv(count))), .5));
    return tells.hi >= told.lo;
}

/* What no account of one release can go below; false: that is not known here. */
static bool has_curve(const struct need *n)
{
    const struct part *p = &n->part;
    return p->kind == PART_NOISE && (n->square < INFINITY || (p->count == 1 && !p->m->integer &&
                                                              !p->m->dominated && n->event->dimension == 1));
}

static double curve_below(const struct need *n, double x)
{
    return n->square < INFINITY ? n->part.m->delta(iv(sqrt(n->square)), x).lo
                                : account_delta(n->part.m, &n->part.shifts, 1, x).lo;
}

static bool nowhere_below(const struct adaptive *box, const struct need *n)
{
    const double mu = sqrt(n->square), end = fmin(n->square < INFINITY ? mu * (mu / 2 + 9) : n->pure, 600);
    bool above = adaptive_delta(box, box->pure).hi * (1 + hair) >= curve_below(n, box->pure);
    for (int i = 0; i < POINTS && above; i++) {
        const double x = end * i / POINTS;
        above = adaptive_delta(box, x).hi * (1 + hair) >= curve_below(n, x);
    }
    return above;
}

/* All that is asked of a curve that is not computed here. */
static bool above_recorded(const struct adaptive *box, const struct need *n)
{
    return !(n->lower > 0 && n->delta > 0) || adaptive_reaches(box, n->lower, n->delta / (1 + hair));
}

static bool is_enough(const struct adaptive *box, const struct need *n)
{
    const struct ledger_item *item = n->item;
    const bool recorded = box->pure >= item->epsilon && box->failure >= item->delta;
    if (box->square >= n->square)
        return true;
    if (n->square < INFINITY) /* the loss of a wider Gaussian is above that of the box in the end */
        return box->failure > 0 && nowhere_below(box, n);
    if (n->pure == INFINITY) /* a run's curve, or no bound */
        return above_recorded(box, n);
    if (box->failure >= n->coin && (box->pure >= n->pure || covers_pure(box->square, n)))
        return true;
    if (n->part.kind == PART_STATED && !item->charged.plan)
        return recorded && item->delta > 0;
    if (box->failure <= n->coin && (box->pure == 0 || box->square == 0))
        return false; /* a charge writes one of the two above */
    if (has_curve(n))
        return nowhere_below(box, n);
    return box->square > 0 ? box->failure > n->coin && above_recorded(box, n) : recorded && item->delta > 0;
}

/* What one event needs by itself. */
static sotto_status need_of(struct need *out, struct part_memory *known, const struct ledger_item *item,
                            const struct sotto_event *e, const struct ledger_charge *recorded)
{
    sotto_status status = SOTTO_OK;
    struct need n = {
        .item = item, .event = e, .lower = recorded->lower, .delta = recorded->delta, .square = INFINITY};
    const struct part *p;
    TRY(part_recall(&p, known, e, 0));
    n.part = *p;
    n.pure = part_pure_below(p) * (1 - hair);
    n.coin = p->kind == PART_STATED ? p->failure.lo : 0;
    if (p->kind == PART_NOISE && p->m->by_l2 && !p->m->integer)
        n.square = iv_scale(iv_square(p->shifts.l2), p->count).lo * (1 - hair);
    *out = n;
done:
    return status;
}

/* What the events of a plan need together, where nothing may fail: pure and Gaussian parts, or Gaussians for all. */
struct sums {
    double pure, square, gaussian;
};

static void add_need(struct sums *s, const struct need *n)
{
    const double count = n->part.count;
    if (n->square < INFINITY) {
        s->square += n->square;
        s->gaussian += n->square;
    } else {
        s->pure += n->pure;
        s->gaussian += count * adaptive_square_of_pure_below(n->pure / count) * (1 - hair);
    }
}

static sotto_status ledger_offers_refuse(const char *where)
{
    return status_fail(
        SOTTO_EFORMAT,
        "%s: offers less in 'any_order' than its mechanism, noise and sensitivity need, so the "
        "ledger was changed",
        where);
}

sotto_status ledger_require_offers(struct part_memory *known, const struct ledger_item *item,
                                   const struct ledger_charge *recorded, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct any_order *a = &item->any_order;
    const struct event_list *plan = item->charged.plan;
    const struct sotto_event *events = plan ? plan->events : &item->charged.event;
    const size_t count = plan ? plan->count : 1;
    struct sums sums = {0, 0, 0};
    if (a->offers == 0)
        goto done;
    if (events->count == 0) /* nothing is known to cover it */
        TRY(ledger_offers_refuse(where));
    for (size_t k = 0; k < count; k++) { /* what covers all covers each */
        struct need n;
        TRY(need_of(&n, known, item, &events[k], recorded));
        if (count > 1)
            add_need(&sums, &n);
        for (size_t i = 0; i < a->offers; i++)
            if (!is_enough(&a->offer[i], &n))
                TRY(ledger_offers_refuse(where));
    }
    for (size_t i = 0; i < a->offers && count > 1; i++) {
        const struct adaptive *box = &a->offer[i];
        const bool enough =
            (box->pure >= sums.pure * (1 - hair) && box->square >= sums.square * (1 - hair)) ||
            box->square >= sums.gaussian * (1 - hair);
        if (box->failure == 0 && !enough)
            TRY(ledger_offers_refuse(where));
    }
done:
    return status;
}

/* ---- what was spent before columns were opened ---- */

/* What a release takes of a column: its pure part, or the square of a Gaussian; INFINITY: not that. */
struct price {
    double pure, square;
};

static double ledger_offers_rate(const struct price *p)
{
    return p->pure > 0 ? p->square / p->pure : INFINITY;
}

static int by_rate(const void *a, const void *b)
{
    const double x = ledger_offers_rate(a), y = ledger_offers_rate(b);
    return (x > y) - (x < y);
}

/* false: a curve, of which nothing is added up here. */
static bool price_of(struct price *out, const struct need *n, double failure)
{
    const struct ledger_item *item = n->item;
    const double count = n->part.count;
    struct price p = {n->pure, n->square};
    if (n->coin > 0)
        return false;
    if (!item->charged.plan)
        p.pure = fmin(p.pure, item->pure * (1 - hair)); /* NAN: none */
    if (n->pure < INFINITY && n->square == INFINITY)
        p.square = count * adaptive_square_of_pure_below(n->pure / count) * (1 - hair);
    if (failure > 0 && (n->square < INFINITY || n->pure == INFINITY))
        return false; /* a Gaussian above a curve, which may fail */
    if (failure > 0 && failure >= item->delta && item->delta > 0 && !item->charged.plan)
        p.pure = fmin(p.pure, item->epsilon * (1 - hair));
    *out = p;
    return true;
}

/* The least of any choice between the two, parts of releases included: Gaussians where they cost least. */
static bool holds_prices(const struct adaptive *spent, struct price *prices, size_t n)
{
    double pure = 0, square = spent->square * (1 + hair);
    qsort(prices, n, sizeof *prices, by_rate);
    for (size_t i = 0; i < n; i++)
        if (prices[i].pure == INFINITY) {
            square -= prices[i].square;
            prices[i] = (struct price){0, 0};
        }
    if (square < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        const double part = prices[i].square > square ? square / prices[i].square : 1;
        pure += (1 - part) * prices[i].pure;
        square -= part * prices[i].square;
    }
    return pure <= spent->pure * (1 + hair) + hair * hair;
}

struct spent_before {
    struct need *needs;
    struct price *prices;
    size_t n;
    bool uncovered; /* a release that nothing covers */
};

static sotto_status find_needs(struct spent_before *out, const struct ledger *l)
{
    sotto_status status = SOTTO_OK;
    struct part_memory known = {.made = 0};
    size_t room = 0;
    for (size_t i = 0; i < l->charges; i++)
        room += l->items[i].plan ? l->items[i].plan->events.count : 1;
    NEW(out->needs, room);
    NEW(out->prices, room);
    for (size_t i = 0; i < l->charges; i++) {
        const struct ledger_item *item = &l->items[i];
        const struct sotto_event *events = item->plan ? item->plan->events.events : &item->charged.event;
        const struct ledger_charge recorded = {.delta = item->delta};
        out->uncovered = out->uncovered || item->seeded || events->count == 0;
        for (size_t k = 0; !out->uncovered && k < (item->plan ? item->plan->events.count : 1); k++)
            TRY(need_of(&out->needs[out->n++], &known, item, &events[k], &recorded));
    }
done:
    return status;
}

/* Each by itself; the Gaussians together; and, without curves, all. */
static bool holds_all(const struct adaptive *spent, struct spent_before *b)
{
    struct need gaussian = {.square = 0};
    size_t prices = 0;
    bool holds = !b->uncovered;
    for (size_t i = 0; i < b->n && holds; i++) {
        const struct need *n = &b->needs[i];
        holds = is_enough(spent, n);
        if (n->square < INFINITY && n->part.kind == PART_NOISE) {
            const double sum = gaussian.square + n->square;
            gaussian = *n;
            gaussian.square = sum;
        }
        prices += price_of(&b->prices[prices], n, spent->failure);
    }
    if (holds && gaussian.square > 0 && spent->square < gaussian.square)
        holds = spent->failure > 0 && nowhere_below(spent, &gaussian);
    return holds && holds_prices(spent, b->prices, prices);
}

sotto_status ledger_require_spent(const struct ledger *l, const struct adaptive_columns *columns,
                                  const char *where)
{
    sotto_status status = SOTTO_OK;
    struct spent_before before = {.n = 0};
    if (l->charges == 0)
        goto done;
    TRY(find_needs(&before, l));
    for (size_t j = 0; j < columns->count; j++) {
        const struct adaptive_column *c = &columns->column[j];
        const struct adaptive spent = adaptive_column_spent(c);
        if (!c->dead && !holds_all(&spent, &before))
            FAIL(
                SOTTO_EFORMAT,
                "%s: opens columns of which less is spent than the charges before it need, so the ledger was "
                "changed",
                where);
    }
done:
    base_free(before.needs);
    base_free(before.prices);
    return status;
}
