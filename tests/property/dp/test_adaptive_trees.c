/* Random policies of three releases against ledgers of five rules (docs/derivations/adaptive.md). Before each release three
 * kinds are on offer, of sizes that the ledger admits after what came before; the last one takes all that is left.
 * The analyst takes the best of the three at each loss. Columns never give more than the budget, neither those of the
 * library nor those written here. The
 * controls decide by the path: its exact account, the box of its totals, or the best of its boxes in hindsight. More
 * than half of their trees give more; 169, 199 and 199 of 200 do. */
#include "support/test.h"
#include "support/effort.h"
#include "support/loss_game.h"

#include "dp/account/adaptive_columns.h"
#include "rng/rng.h"

#include <stdbool.h>

enum rule { COLUMNS, COLUMNS_OF_THE_LIBRARY, EXACT_PATH, BOX_OF_PATH, HINDSIGHT };
enum { STAGES = 3, BRANCHES = 3, KINDS = 4, BOXES = 3 };

static const double epsilon = 1;
/* Curves fall like e^(-20 x) where it counts, and two stages stand between points: chords add 2e-3 of a value. */
static const double step = 0.004, grid_error = 2e-3;

struct ledger {
    enum rule rule;
    double delta;
    struct box column[BOXES];
};
struct past {
    struct release done[STAGES];
    int n;
    struct box spent[BOXES];
    bool dead[BOXES];
    struct adaptive_columns library;
    struct curve path; /* of EXACT_PATH: what the releases so far have together; no values before the first */
};

/* Any pure release is a function of a Gaussian's output: Phi(mu / 2) = e^E / (1 + e^E). */
static double square_of_pure(double size)
{
    double low = 0, high = 20;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(normal_below(middle / 2) <= 1 / (1 + exp(-size)) ? &low : &high) = middle;
    }
    return high * high;
}

static bool is_pure(struct release r)
{
    return r.kind == RESPONSE || r.kind == LAPLACE;
}

static int triples_of(struct box *t, struct release r)
{
    t[0] = (struct box){is_pure(r) ? r.size : 0, r.kind == GAUSSIAN ? r.size * r.size : 0,
                        r.kind == COIN ? r.size : 0};
    if (!is_pure(r))
        return 1;
    t[1] = (struct box){0, square_of_pure(r.size), 0};
    return 2;
}

static struct box sum_of(struct box a, struct box b)
{
    return (struct box){a.pure + b.pure, a.square + b.square, 1 - (1 - a.failure) * (1 - b.failure)};
}

static bool fits(struct box a, struct box b)
{
    return a.pure <= b.pure && a.square <= b.square && a.failure <= b.failure;
}

/* The largest share of a member of the column that is used. */
static double use(struct box a, struct box b)
{
    return fmax(a.pure / fmax(b.pure, 1e-300),
                fmax(a.square / fmax(b.square, 1e-300), a.failure / fmax(b.failure, 1e-300)));
}

/* The column's total with the triple that fits and leaves most. */
static bool column_takes(struct box *total, struct box spent, struct box column, struct release r)
{
    struct box t[2];
    bool found = false;
    for (int i = triples_of(t, r) - 1; i >= 0; i--) {
        const struct box sum = sum_of(spent, t[i]);
        if (fits(sum, column) && (!found || use(sum, column) < use(*total, column))) {
            *total = sum;
            found = true;
        }
    }
    return found;
}

/* What the path and r add up to, with each pure release counted in the first way or, by a bit of `ways`, the second. */
static struct box box_of_path(const struct past *p, struct release r, int ways)
{
    struct box sum = {0};
    for (int i = 0; i <= p->n; i++) {
        struct box t[2];
        const int n = triples_of(t, i < p->n ? p->done[i] : r);
        sum = sum_of(sum, t[n == 2 && (ways >> i & 1)]);
    }
    return sum;
}

/* The least that the path's box can have at epsilon, if each release may be counted anew in either way. */
static double best_in_hindsight(const struct past *p, struct release r)
{
    double least = INFINITY;
    for (int ways = 0; ways < 1 << (p->n + 1); ways++)
        least = fmin(least, box_curve(box_of_path(p, r, ways), epsilon));
    return least;
}

static bool library_takes(struct adaptive_columns *c, struct release r)
{
    struct box t[2];
    struct adaptive offers[2];
    unsigned char took[ADAPTIVE_COLUMNS];
    const int n = triples_of(t, r);
    for (int i = 0; i < n; i++)
        offers[i] = (struct adaptive){t[i].pure, t[i].square, t[i].failure};
    return adaptive_columns_charge(c, offers, (size_t)n, took);
}

static bool admits(const struct ledger *l, const struct past *p, struct release r)
{
    if (l->rule == EXACT_PATH)
        return (p->n ? play_at(epsilon, r, &p->path) : release_curve(r, epsilon)) <= l->delta;
    if (l->rule == COLUMNS_OF_THE_LIBRARY) {
        struct adaptive_columns columns = p->library;
        return library_takes(&columns, r);
    }
    if (l->rule == BOX_OF_PATH)
        return box_curve(box_of_path(p, r, 0), epsilon) <= l->delta;
    if (l->rule == HINDSIGHT)
        return best_in_hindsight(p, r) <= l->delta;
    for (int j = 0; j < BOXES; j++) {
        struct box total;
        if (!p->dead[j] && column_takes(&total, p->spent[j], l->column[j], r))
            return true;
    }
    return false;
}

static struct past charge(const struct ledger *l, const struct past *before, struct release r)
{
    struct past p = *before;
    library_takes(&p.library, r);
    for (int j = 0; j < BOXES; j++)
        p.dead[j] = p.dead[j] || !column_takes(&p.spent[j], before->spent[j], l->column[j], r);
    p.path = curve_new(grid_between(-2, 3, 4 * step));
    if (l->rule == EXACT_PATH && p.n)
        play(&p.path, r, &before->path);
    else
        play_last(&p.path, r);
    p.done[p.n++] = r;
    return p;
}

/* A loss that a pure release may have is a point of the grid, so that its corners are exact. */
static double on_grid(double size)
{
    return floor(size / step + 1e-8) * step;
}

/* One of the kinds, a share of the largest that the ledger admits. */
static struct release offer(const struct ledger *l, const struct past *p, enum release_kind kind,
                            double share)
{
    double low = 0, high = kind == COIN ? l->delta : kind == GAUSSIAN ? 2 : 1.5 * epsilon;
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        *(admits(l, p, (struct release){kind, middle}) ? &low : &high) = middle;
    }
    struct release r = {kind, share * low};
    if (is_pure(r)) {
        r.size = on_grid(r.size);
        if (!admits(l, p, r))
            r.size = fmax(0, on_grid(r.size - step));
    }
    return r;
}

static void offers(struct release *r, struct rng *random, const struct ledger *l, const struct past *p)
{
    const unsigned left_out = (unsigned)rng_below(random, KINDS);
    for (unsigned i = 0; i < BRANCHES; i++) {
        const double share = rng_below(random, 2) ? 1 : 0.2 + 0.6 * rng_unit(random);
        r[i] = offer(l, p, (left_out + 1 + i) % KINDS, p->n == STAGES - 1 ? 1 : share);
    }
}

/* The best that is left, at each x. */
static struct curve best_behind(struct rng *random, const struct ledger *l, const struct past *p)
{
    struct curve best = curve_new(grid_between(-2, 3, step));
    struct release r[BRANCHES];
    offers(r, random, l, p);
    play_stop(&best, 0);
    for (int i = 0; i < BRANCHES; i++)
        if (p->n == STAGES - 1)
            play_last(&best, r[i]);
        else {
            struct past next = charge(l, p, r[i]);
            const struct curve behind = best_behind(random, l, &next);
            play(&best, r[i], &behind);
            free(behind.v);
            free(next.path.v);
        }
    return best;
}

/* delta at epsilon of the best policy of a tree, as a multiple of the budget's. */
static double tree(uint64_t number, enum rule rule)
{
    struct rng random = rng_stream(44, RNG_TEST, number, 0);
    struct ledger l = {rule, pow(10, -3 - 3 * rng_unit(&random)), {{epsilon, 0, 0}}};
    const double parts[] = {0, (1 + (double)rng_below(&random, 63)) / 64, 1}, part = parts[number % 3];
    l.column[1].failure = 0.1 * part * l.delta; /* two columns share delta; the pure one needs none */
    box_fill(&l.column[1], &l.column[1].square, 4, epsilon, part * l.delta);
    l.column[2] = (struct box){on_grid(0.6 * rng_unit(&random)), 0, 0.3 * (1 - part) * l.delta};
    box_fill(&l.column[2], &l.column[2].square, 4, epsilon, (1 - part) * l.delta);

    struct past nothing = {.n = 0};
    struct sotto_ledger_column requests[2];
    size_t n = 0;
    for (int j = 1; j < BOXES; j++)
        if ((j == 1 ? part : 1 - part) > 0)
            requests[n++] =
                (struct sotto_ledger_column){l.column[j].pure, l.column[j].failure, j == 1 ? part : 1 - part};
    assert_int_equal(adaptive_columns_open(&nothing.library, epsilon, l.delta, requests, n), SOTTO_OK);
    struct release r[BRANCHES];
    double best = 0;
    offers(r, &random, &l, &nothing);
    for (int i = 0; i < BRANCHES; i++) {
        struct past next = charge(&l, &nothing, r[i]);
        const struct curve behind = best_behind(&random, &l, &next);
        best = fmax(best, play_at(epsilon, r[i], &behind));
        free(behind.v);
        free(next.path.v);
    }
    return best / l.delta;
}

/* How many trees have more than the budget, beyond what the grid may add. */
static long above(enum rule rule, long trees)
{
    long found = 0;
    for (long i = 0; i < trees; i++)
        found += tree((uint64_t)i, rule) > 1 + grid_error;
    return found;
}

static long trees(void)
{
    return by_effort(20, 50, 200);
}

TEST(columns_never_give_more_than_the_budget)
{
    assert_int_equal(above(COLUMNS, trees()), 0);
    assert_int_equal(above(COLUMNS_OF_THE_LIBRARY, trees()), 0);
}

TEST(the_exact_account_of_a_path_gives_more)
{
    assert_true(above(EXACT_PATH, trees()) > trees() / 2);
}

TEST(the_box_of_a_path_gives_more)
{
    assert_true(above(BOX_OF_PATH, trees()) > trees() / 2);
}

TEST(the_best_box_in_hindsight_gives_more)
{
    assert_true(above(HINDSIGHT, trees()) > trees() / 2);
}
