/* Columns: which releases a budget still holds. */
#include "dp/account/adaptive_columns.h"
#include "sotto/lab/compose.h"

#include <math.h>

sotto_status adaptive_columns_open(struct adaptive_columns *out, double epsilon, double delta,
                                   const struct sotto_ledger_column *requests, size_t n)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_ledger_column usual = {0, delta / 10, 1};
    struct adaptive_columns c = {.column[0] = {.box.pure = epsilon, .level = epsilon}, .count = 1};
    struct decimal shares = {0, 0};
    if (n == 0 && delta > 0) {
        requests = &usual;
        n = 1;
    }
    REQUIRE(n < ADAPTIVE_COLUMNS, "column: %zu are given; expected at most %d", n, ADAPTIVE_COLUMNS - 1);
    REQUIRE(n == 0 || delta > 0,
            "column: a budget of delta 0 has room for pure releases alone; give a delta above 0");
    for (size_t i = 0; i < n; i++) {
        const struct sotto_ledger_column *r = &requests[i];
        REQUIRE(r->pure >= 0 && r->pure < INFINITY && r->failure >= 0 && r->failure < 1 && r->share > 0 &&
                    r->share <= 1,
                "column %g:%g:%g: expected E:D:SHARE with E >= 0, D in [0, 1) and SHARE in (0, 1]", r->pure,
                r->failure, r->share);
        shares = decimal_add(shares, decimal_of(r->share));
        REQUIRE(decimal_up(shares) <= 1, "column: the shares of delta add up to %.6g; expected at most 1",
                decimal_up(shares));
        const double square = adaptive_column(epsilon, next_down(r->share * delta), r->pure, r->failure);
        if (square < 0)
            FAIL(SOTTO_EDOMAIN,
                 "column %g:%g:%g does not fit into epsilon %g at its share of delta, %g; give a smaller E "
                 "or D, or a larger "
                 "share",
                 r->pure, r->failure, r->share, epsilon, r->share * delta);
        c.column[c.count++] =
            (struct adaptive_column){.box = {r->pure, square, r->failure}, .level = epsilon};
    }
    *out = c;
done:
    return status;
}

struct adaptive_columns adaptive_columns_stated(double epsilon, double delta)
{
    return (struct adaptive_columns){.column[0] = {.box = {epsilon, 0, delta}, .level = epsilon}, .count = 1};
}

struct adaptive_columns adaptive_columns_ladder(double delta)
{
    struct adaptive_columns c = {.count = 0};
    const double share = delta / ADAPTIVE_LEVELS;
    for (int i = 0; i < ADAPTIVE_LEVELS; i++) {
        const double level = ldexp(0.25, i);
        c.column[c.count++] = (struct adaptive_column){.box.pure = level, .level = level};
        if (share > 0)
            c.column[c.count++] = (struct adaptive_column){
                .box = {0, adaptive_column(level, next_down(share), 0, share / 10), share / 10},
                .level = level};
    }
    return c;
}

double adaptive_columns_level(const struct adaptive_columns *c)
{
    double level = INFINITY;
    for (size_t j = 0; j < c->count; j++)
        if (!c->column[j].dead)
            level = fmin(level, c->column[j].level);
    return level;
}

struct spent {
    struct decimal pure, square, failure;
};

/* Numbers that people write down stand for decimals; squares are computed and stand for themselves. */
static struct spent spent_of(const struct adaptive *a)
{
    return (struct spent){decimal_of(a->pure), {a->square, 0}, decimal_of(a->failure)};
}

/* decimal_up(spent) <= box; it adds less than 2^-48 of the number. */
static bool is_within(struct decimal spent, double box)
{
    return spent.high <= box && (spent.high * (1 + 0x1p-40) <= box || decimal_up(spent) <= box);
}

static struct spent spent_with(const struct adaptive_column *c, const struct adaptive *more,
                               const struct spent *of_more)
{
    struct spent s = {decimal_add(c->pure, of_more->pure), decimal_add(c->square, of_more->square),
                      decimal_add(c->failure, of_more->failure)};
    const double failure = more->failure > 0 ? decimal_up(c->failure) : 0;
    if (failure > 0) { /* both coins at once are counted once, if that is seen in a double */
        const struct adaptive both = adaptive_add((struct adaptive){.failure = failure}, *more);
        if (!is_within(s.failure, both.failure))
            s.failure = (struct decimal){both.failure, 0};
    }
    return s;
}

static bool adaptive_columns_holds(const struct adaptive *box, const struct spent *s)
{
    return is_within(s->pure, box->pure) && is_within(s->square, box->square) &&
           is_within(s->failure, box->failure);
}

/* The largest part of a member of the box that is spent; above 1: it does not fit. */
static double part_spent(const struct adaptive *box, const struct spent *s)
{
    const double members[][2] = {{decimal_up(s->pure), box->pure},
                                 {decimal_up(s->square), box->square},
                                 {decimal_up(s->failure), box->failure}};
    double most = 0;
    for (int i = 0; i < 3; i++)
        if (members[i][0] > members[i][1])
            return INFINITY;
        else if (members[i][1] > 0)
            most = fmax(most, members[i][0] / members[i][1]);
    return most;
}

struct adaptive adaptive_column_spent(const struct adaptive_column *c)
{
    return (struct adaptive){decimal_up(c->pure), decimal_up(c->square), decimal_up(c->failure)};
}

void adaptive_column_start(struct adaptive_column *c, const struct adaptive *spent)
{
    c->pure = decimal_of(spent->pure);
    c->square = (struct decimal){spent->square, 0};
    c->failure = decimal_of(spent->failure);
}

struct adaptive adaptive_column_left(const struct adaptive_column *c)
{
    const double pure = decimal_up(c->pure), square = decimal_up(c->square), failure = decimal_up(c->failure);
    /* (1 - D) = (1 - spent)(1 - left), so what may still fail is a little more than the difference */
    return (struct adaptive){pure == 0 ? c->box.pure : fmax(iv_sub(iv(c->box.pure), iv(pure)).lo, 0),
                             square == 0 ? c->box.square : fmax(iv_sub(iv(c->box.square), iv(square)).lo, 0),
                             failure == 0 ? c->box.failure
                                          : fmax(iv_sub(iv(c->box.failure), iv(failure)).lo, 0)};
}

static bool decimals_equal(struct decimal a, struct decimal b)
{
    return a.high == b.high && a.low == b.low;
}

static bool spent_alike(const struct adaptive_column *a, const struct adaptive_column *b)
{
    return decimals_equal(a->pure, b->pure) && decimals_equal(a->square, b->square) &&
           decimals_equal(a->failure, b->failure);
}

bool adaptive_columns_take(struct adaptive_columns *columns, const struct adaptive *offers, size_t n,
                           const unsigned char took[ADAPTIVE_COLUMNS])
{
    struct spent of_offer[SOTTO_MAX_OFFERS], next[ADAPTIVE_COLUMNS];
    size_t last[SOTTO_MAX_OFFERS]; /* the column before that took this offer */
    if (n > SOTTO_MAX_OFFERS)
        return false;
    for (size_t i = 0; i < n; i++) {
        of_offer[i] = spent_of(&offers[i]);
        last[i] = columns->count;
    }
    for (size_t j = 0; j < columns->count; j++) {
        const struct adaptive_column *c = &columns->column[j];
        const size_t offer = took[j];
        if (offer == n)
            continue;
        if (c->dead || offer > n)
            return false;
        const bool as_last = last[offer] < j && spent_alike(&columns->column[last[offer]], c);
        next[j] = as_last ? next[last[offer]] : spent_with(c, &offers[offer], &of_offer[offer]);
        last[offer] = j;
        if (!adaptive_columns_holds(&c->box, &next[j]))
            return false;
    }
    for (size_t j = 0; j < columns->count; j++) {
        struct adaptive_column *c = &columns->column[j];
        if (took[j] == n) {
            c->dead = true;
            continue;
        }
        c->pure = next[j].pure;
        c->square = next[j].square;
        c->failure = next[j].failure;
    }
    return true;
}

/* The offer that fits and leaves a column most; n: none fits. What is pure is taken from the pure part where it fits there, which is
 * kept for it: nothing else can use it, and others need the rest. */
static size_t best_offer(const struct adaptive_column *c, const struct adaptive *offers, size_t n)
{
    double least = INFINITY;
    size_t best = n;
    for (size_t i = 0; i < n && !c->dead; i++) {
        const struct spent of_offer = spent_of(&offers[i]), s = spent_with(c, &offers[i], &of_offer);
        const bool is_pure = offers[i].square == 0 && offers[i].failure == 0;
        const double part = part_spent(&c->box, &s) - is_pure;
        if (part < least) {
            least = part;
            best = i;
        }
    }
    return best;
}

bool adaptive_columns_charge(struct adaptive_columns *columns, const struct adaptive *offers, size_t n,
                             unsigned char took[ADAPTIVE_COLUMNS])
{
    bool one_lives = false;
    for (size_t j = 0; j < columns->count; j++) {
        took[j] = best_offer(&columns->column[j], offers, n);
        one_lives = one_lives || took[j] < n;
    }
    return one_lives && adaptive_columns_take(columns, offers, n, took);
}
