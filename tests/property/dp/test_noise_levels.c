/* src/core/dp/account/event_levels.c, mixtures in src/core/dp/pld/pld_compose.c: thousands of noise levels between few distributions. */
#include "support/test.h"
#include "support/effort.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/event_levels.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"gaussian", "logistic", "laplace"};
static const enum pld_direction ways[] = {PLD_REMOVE, PLD_ADD, PLD_REPLACE, PLD_FIXED};

static double value(const struct pair_sampled *s, double shift, double epsilon, bool upper)
{
    struct pair_sampled moved = *s;
    moved.shift = shift;
    const struct pair pair = pair_of_sampled(&moved);
    struct pair_point p;
    pair.points(&p, pair.arg, &epsilon, 1);
    return upper ? p.value.hi : p.value.lo;
}

/* How often the mixture with these weights lies below a pair between its two. */
static size_t below(size_t draws, bool straight)
{
    struct rng r = rng_stream(31, RNG_EVALUATE, 0, 0);
    size_t found = 0;
    for (size_t i = 0; i < draws; i++) {
        const double smaller = exp(4 * rng_unit(&r) - 3), larger = smaller * (1 + rng_unit(&r));
        const double share = rng_unit(&r);
        const struct pair_sampled s = {mechanism_find(names[i % 3]), smaller + share * (larger - smaller),
                                       i % 5 ? pow(10, -3 * rng_unit(&r)) : 1, ways[i / 3 % 4]};
        const double weight = straight ? share : level_weight(&s, smaller, larger);
        const double epsilon = larger * (3 * rng_unit(&r) - 1.5) * (s.rate < 1 ? s.rate : 1);
        const double chord =
            weight * value(&s, larger, epsilon, true) + (1 - weight) * value(&s, smaller, epsilon, true);
        found += !(value(&s, s.shift, epsilon, false) <= chord * (1 + 1e-14) + 1e-300);
    }
    return found;
}

/* Exact: no sampling error. The control takes the shifts' own distances as weights, which is not enough near epsilon 0. */
TEST(a_mixture_of_two_shifts_lies_above_what_is_between)
{
    const size_t draws = (size_t)by_effort(20000, 100000, 1000000);
    assert_int_equal(below(draws, false), 0);
    assert_true(below(draws, true) > draws / 50);
}

enum { LEVELS = 120 };
struct world {
    struct pair_sampled upper[LEVELS], lower[LEVELS];
    struct pld_part parts[LEVELS];
    struct level levels[LEVELS];
};

static void make(struct world *w, const char *mechanism, enum pld_direction way)
{
    for (int i = 0; i < LEVELS; i++) {
        const double shift = exp(-0.3 * i / LEVELS);
        w->upper[i] = (struct pair_sampled){mechanism_find(mechanism), shift, 0.02, way};
        w->lower[i] = w->upper[i];
        w->lower[i].shift = shift * (1 - 1e-15);
        w->parts[i] = (struct pld_part){pair_of_sampled(&w->upper[i]), pair_of_sampled(&w->lower[i]),
                                        .count = 1 + i % 3};
        account_mark_end(&w->parts[i], &w->upper[i]);
        w->levels[(i * 7) % LEVELS] =
            (struct level){&w->upper[i], &w->lower[i], &w->parts[i]}; /* in any order */
    }
}

static struct interval through_nodes(struct world *w, double share_of_weight)
{
    struct level_nodes nodes;
    struct interval e;
    assert_int_equal(levels_between_nodes(&nodes, w->levels, LEVELS), SOTTO_OK);
    assert_true(nodes.count < LEVELS / 2);
    for (size_t b = 0; b < LEVELS; b++)
        nodes.blends[b].weight *= share_of_weight;
    assert_int_equal(pld_epsilon(&e, nodes.parts, nodes.count, 1e-5, 1, NULL), SOTTO_OK);
    level_nodes_free(&nodes);
    return e;
}

TEST(levels_between_nodes_agree_with_each_for_itself)
{
    struct world *w = base_alloc(1, sizeof *w);
    for (int k = 0; k < 2; k++) {
        struct interval each, nodes, control;
        make(w, k ? "laplace" : "gaussian", k ? PLD_REPLACE : PLD_REMOVE);
        assert_int_equal(pld_epsilon(&each, w->parts, LEVELS, 1e-5, 1, NULL), SOTTO_OK);
        nodes = through_nodes(w, 1);
        if (!(nodes.hi >= each.lo && nodes.hi <= each.hi * (1 + 5e-4) && nodes.lo <= each.hi &&
              nodes.lo >= each.lo * 0.98))
            fail_msg("[%.9g, %.9g], each for itself [%.9g, %.9g]", nodes.lo, nodes.hi, each.lo, each.hi);
        control = through_nodes(w, 0.2); /* weights that are too small claim too little */
        if (!(control.hi < each.lo))
            fail_msg("control: %.9g, each for itself at least %.9g", control.hi, each.lo);
    }
    base_free(w);
}

/* The account of events takes this way, and the smallest of its bounds: kinds that are no levels among them. */
TEST(an_account_of_many_levels)
{
    enum { N = 240 };
    struct sotto_event *events = base_alloc(N + 2, sizeof *events);
    struct sotto_account a;
    for (int i = 0; i < N; i++)
        events[i] = (struct sotto_event){.mechanism = "gaussian",
                                         .noise_multiplier = 2 + 0.5 * i / N,
                                         .sample_rate = 0.01,
                                         .count = 2,
                                         .adjacency = SOTTO_ADD_REMOVE};
    events[N] = (struct sotto_event){
        .mechanism = "stated", .count = 1, .stated = {0.1, 1e-7}, .adjacency = SOTTO_ADD_REMOVE};
    events[N + 1] = (struct sotto_event){
        .mechanism = "laplace", .count = 1, .scale = 10, .l1 = 1, .l2 = NAN, .adjacency = SOTTO_ADD_REMOVE};
    assert_int_equal(sotto_account_events(&a, events, N + 2, 1e-5, SOTTO_ADD_REMOVE, NULL), SOTTO_OK);
    assert_string_equal(a.accountant, "privacy-loss distribution");
    double renyi = INFINITY;
    for (size_t i = 0; i < a.bound_count; i++)
        if (strcmp(a.bounds[i].name, "renyi") == 0)
            renyi = a.bounds[i].epsilon;
    if (!(a.epsilon.upper <= renyi &&
          a.epsilon.lower > 0.1 * a.epsilon.upper)) /* nothing is known below a statement */
        fail_msg("[%g, %g], renyi %g", a.epsilon.lower, a.epsilon.upper, renyi);
    /* all at the smallest noise, and at the largest: two kinds */
    struct sotto_account worst, best;
    events[0].count = 2 * N;
    events[1] = events[N];
    events[2] = events[N + 1];
    assert_int_equal(sotto_account_events(&worst, events, 3, 1e-5, SOTTO_ADD_REMOVE, NULL), SOTTO_OK);
    events[0].noise_multiplier = 2.5;
    assert_int_equal(sotto_account_events(&best, events, 3, 1e-5, SOTTO_ADD_REMOVE, NULL), SOTTO_OK);
    assert_true(a.epsilon.upper < worst.epsilon.upper && a.epsilon.upper > best.epsilon.lower);
    base_free(events);
}

TEST_GROUP(.tags = "long long-sums")
