/* docs/derivations/adaptive.md: what an analyst gains who looks before he chooses, computed without the library.
 * The controls are ledgers that decide by totals of the path: they must be caught. Columns never give more than
 * the budget. All sums are upper ends (support/loss_game.h); each test states what its grid adds. */
#include "support/test.h"
#include "support/loss_game.h"

#include <stdbool.h>

static const double epsilon = 1, delta = 1e-6;
/* Curves of a budget of (1, 1e-6) fall like e^(-20 x) where it counts: two stages add at most 2e-4 of a value. */
static struct grid fine(void)
{
    return grid_between(-1.5, 2.5, 0.001);
}
static const double grid_error = 2e-4;

static void assert_near(double value, double wanted, double share)
{
    if (!(fabs(value - wanted) <= share * wanted))
        fail_msg("%.6g where %.6g is expected, to %g of it", value, wanted, share);
}

/* A first release, then the best of `count` last ones at each loss. */
static double best_ending(struct release first, const struct release *last, int count)
{
    struct curve c = curve_new(fine());
    for (int i = 0; i < count; i++)
        play_last(&c, last[i]);
    const double value = play_at(epsilon, first, &c);
    free(c.v);
    return value;
}

static double largest_shift(double delta_of_it, double at)
{
    struct box b = {0};
    box_fill(&b, &b.square, 400, at, delta_of_it);
    return sqrt(b.square);
}

/* The largest pure release by D + G(mu, x - E), formula (1) without p_E. */
static double looser_pure(double shift)
{
    double low = 0, high = epsilon;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(gaussian_curve(shift, epsilon - middle) <= delta ? &low : &high) = middle;
    }
    return low;
}

/* A Gaussian first; then the last releases that a ledger admits if the box of the path's totals keeps the budget: by formula (1), or
 * by the looser one. Their sizes, and what is made of them. */
static void region_row(double first_shift, bool sharp, const double sizes[2], const double wanted[4])
{
    const double square = first_shift * first_shift, whole = largest_shift(delta, epsilon);
    struct box pure = {0, square, 0}, coin = {0, square, 0};
    box_fill(&pure, &pure.pure, epsilon, epsilon, delta);
    box_fill(&coin, &coin.failure, delta, epsilon, delta);
    if (!sharp)
        pure.pure = looser_pure(first_shift);
    assert_near(sqrt(whole * whole - square), sizes[0], 3e-4);
    assert_near(pure.pure, sizes[1], 2e-4);
    const struct release first = {GAUSSIAN, first_shift}, gaussian = {GAUSSIAN, sqrt(whole * whole - square)},
                         response = {RESPONSE, pure.pure}, laplace = {LAPLACE, pure.pure},
                         tells = {COIN, coin.failure};
    const struct release alone[] = {gaussian, response, laplace, tells};
    for (int i = 0; i < 4; i++) /* fixed beforehand, each keeps the budget */
        assert_true(best_ending(first, &alone[i], 1) <= delta * (1 + grid_error));
    assert_near(best_ending(first, (struct release[]){gaussian, response}, 2), wanted[0], 5e-4);
    assert_near(best_ending(first, (struct release[]){gaussian, laplace}, 2), wanted[1], 5e-4);
    assert_near(best_ending(first, (struct release[]){gaussian, tells}, 2), wanted[2], 5e-4);
    assert_near(best_ending(first, (struct release[]){gaussian, response, tells}, 3), wanted[3], 5e-4);
}

/* To the four digits that are stated, and 2e-4 of the grid. */
TEST(a_budget_on_the_totals_of_a_path_is_exceeded)
{
    region_row(0.0947, true, (double[]){.2169, .6350}, (double[]){1.985e-6, 1.758e-6, 1.653e-6, 2.638e-6});
    region_row(0.16, true, (double[]){.1744, .3628}, (double[]){1.869e-6, 1.732e-6, 1.919e-6, 2.788e-6});
    region_row(0.0947, false, (double[]){.2169, .6256}, (double[]){1.640e-6, 1.494e-6, 1.653e-6, 2.293e-6});
}

/* A Gaussian; then a Gaussian or Laplace noise, each of which fills the exact account of its path. */
TEST(exact_totals_of_a_path_are_exceeded)
{
    const double shift = 0.0947, whole = largest_shift(delta, epsilon);
    const struct release first = {GAUSSIAN, shift};
    struct release last[2] = {{GAUSSIAN, sqrt(whole * whole - shift * shift)}, {LAPLACE, 0}};
    double low = 0, high = epsilon;
    for (int i = 0; i < 25; i++) {
        last[1].size = (low + high) / 2;
        *(best_ending(first, &last[1], 1) <= delta ? &low : &high) = last[1].size;
    }
    assert_near(last[1].size, 0.6407, 1e-4);
    assert_near(best_ending(first, &last[0], 1), delta, grid_error);
    assert_near(best_ending(first, &last[1], 1), delta, grid_error);
    assert_near(best_ending(first, last, 2), 1.982e-6, 5e-4);
    /* no column of the budget holds both: the box of Laplace noise and the first release has more than delta */
    assert_true(box_curve((struct box){last[1].size, shift * shift, 0}, epsilon) > 1.2 * delta);
}

static double printed_by_path(double shift)
{
    double low = 0, high = 50;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(gaussian_curve(shift, middle) > delta ? &low : &high) = middle;
    }
    return high;
}

/* The first of the levels 1/4, 1/2, ..., 32, of delta/8 each, that holds; it is fixed beforehand which are there. */
static double printed_by_ladder(double shift)
{
    for (double level = 0.25; level <= 32; level *= 2)
        if (shift <= largest_shift(delta / 8, level))
            return level;
    return INFINITY;
}

/* Gaussian releases bring the shift from .05 to 1 in n geometric steps; he stops when he likes. How often, above
 * the printed epsilon, the loss is larger: E (1 - e^(printed - loss))_+. */
static double stops_when_he_likes(int n, double (*printed)(double))
{
    struct curve c = curve_new(grid_between(-12, 4, 0.002));
    double shift = 1;
    for (int k = n - 1;; k--) {
        const double before = k ? 0.05 * pow(20, (k - 1) / (n - 1.0)) : 0;
        struct curve choice = curve_new(c.at);
        const struct release step = {GAUSSIAN, sqrt(shift * shift - before * before)};
        play_stop(&c, printed(shift));
        if (k == 0) {
            const double value = play_at(0, step, &c);
            free(c.v);
            free(choice.v);
            return value;
        }
        play(&choice, step, &c);
        free(c.v);
        c = choice;
        shift = before;
    }
}

/* Curves fall like e^(-100 x) at the smallest shifts: the grid adds at most 1 %. */
TEST(an_epsilon_that_is_read_off_the_path_does_not_hold)
{
    const int n[] = {2, 5, 10, 20};
    const double wanted[] = {2.004e-6, 4.92e-6, 8.71e-6, 1.287e-5};
    for (int i = 0; i < 4; i++)
        assert_near(stops_when_he_likes(n[i], printed_by_path), wanted[i], 0.01);
}

TEST(a_ladder_of_levels_holds_however_he_stops)
{
    const int n[] = {2, 5, 10, 20};
    const double wanted[] = {3.03e-9, 3.3e-8, 2.46e-8, 1.65e-7};
    for (int i = 0; i < 4; i++) {
        const double value = stops_when_he_likes(n[i], printed_by_ladder);
        assert_true(value <= delta);
        assert_near(value, wanted[i], 0.02);
    }
}

/* The largest pure epsilon that is a post-processing of a Gaussian of this shift. */
static double shift_as_pure(double shift)
{
    return log(normal_below(shift / 2) / normal_below(-shift / 2));
}

struct move {
    struct release release;
    struct box left;
};

/* {half, all} of what is left of each kind; a pure release is paid from E, or from m. */
static int moves_of(struct move *moves, struct box left, double (*exchange)(double shift))
{
    int n = 0;
    for (int all = 0; all < 2; all++) {
        const double keep = all ? 0 : 0.5, shift = sqrt((1 - keep) * left.square),
                     fails = all ? left.failure : 1 - sqrt(1 - left.failure);
        struct box after = left;
        after.square = keep * left.square;
        if (shift > 0) {
            moves[n++] = (struct move){{GAUSSIAN, shift}, after};
            moves[n++] = (struct move){{RESPONSE, exchange(shift)}, after};
        }
        after = left;
        after.pure = keep * left.pure;
        if (left.pure > 0)
            moves[n++] = (struct move){{RESPONSE, left.pure - after.pure}, after};
        after = left;
        after.failure = 1 - (1 - left.failure) / (1 - fails);
        if (fails > 0)
            moves[n++] = (struct move){{COIN, fails}, after};
    }
    return n;
}

enum { MOVES = 8 };

static struct curve best_of_box(struct box left, int stages, double (*exchange)(double))
{
    struct curve best = curve_new(fine());
    struct move moves[MOVES];
    const int n = moves_of(moves, left, exchange);
    play_stop(&best, 0);
    for (int i = 0; i < n; i++)
        if (stages == 1)
            play_last(&best, moves[i].release);
        else {
            const struct curve behind = best_of_box(moves[i].left, stages - 1, exchange);
            play(&best, moves[i].release, &behind);
            free(behind.v);
        }
    return best;
}

static double best_in_column(struct box column, double (*exchange)(double))
{
    struct move moves[MOVES];
    const int n = moves_of(moves, column, exchange);
    double best = 0;
    for (int i = 0; i < n; i++) {
        const struct curve behind = best_of_box(moves[i].left, 2, exchange);
        best = fmax(best, play_at(epsilon, moves[i].release, &behind));
        free(behind.v);
    }
    return best;
}

/* The boxes are filled to delta, so three releases fixed beforehand attain it: between 1 - 2e-4 and 1 + 2e-4. */
TEST(three_releases_in_a_column_reach_the_budget_and_no_more)
{
    const struct box columns[] = {
        {0, 0.0560, 0}, {0, 0.0555, 1e-7}, {0.3, 0.0302, 1e-7}, {0.6, 0.0102, 3e-7}};
    for (int i = 0; i < 4; i++) {
        struct box b = columns[i];
        box_fill(&b, &b.square, 1, epsilon, delta);
        assert_near(b.square, columns[i].square, 0.005); /* the digits that are stated */
        const double value = best_in_column(b, shift_as_pure);
        assert_near(value, delta, grid_error);
    }
    /* the control: an equal epsilon at one delta is no exchange */
    assert_true(best_in_column((struct box){0, 0.0560, 0}, printed_by_path) > 1.5 * delta);
}
