/* The tree over leaves: any cut of the leaves among ranks and workers, and any number of threads, gives the bits of the tree as
 * it is defined; a sum in the order of the leaves, or of the ranks, does not, so the check can fail. */
#include "support/test.h"
#include "support/simulated_ranks.h"
#include "par/tree_ranks.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70, WIDTH = 5 };

/* By definition: node (level, i). */
static float node(float (*x)[WIDTH], size_t column, size_t level, size_t i, size_t leaves)
{
    const size_t half = level ? (size_t)1 << (level - 1) : 0, right = (2 * i + 1) * half;
    if (level == 0)
        return x[i][column];
    const float left = node(x, column, level - 1, 2 * i, leaves);
    return right < leaves ? left + node(x, column, level - 1, 2 * i + 1, leaves) : left;
}

static size_t levels(size_t leaves)
{
    size_t level = 0;
    while ((size_t)1 << level < leaves)
        level++;
    return level;
}

static void draw(float (*x)[WIDTH], size_t leaves)
{
    struct rng r = rng_stream(1, RNG_TEST, leaves, 0);
    for (size_t i = 0; i < leaves; i++)
        for (size_t k = 0; k < WIDTH; k++)
            x[i][k] = (float)ldexp(rng_normal(&r), (int)rng_below(&r, 20));
}

static void work(struct tree_sums *s, float (*x)[WIDTH], size_t worker, size_t workers, size_t leaves)
{
    tree_sums_begin(s, worker);
    for (size_t i = tree_first(worker, workers, leaves); i < tree_first(worker + 1, workers, leaves); i++) {
        memcpy(tree_sums_next(s, worker), x[i], sizeof x[i]);
        tree_sums_add(s, worker);
    }
}

TEST(any_cut_gives_the_bits_of_the_tree)
{
    float x[MOST][WIDTH], total[WIDTH];
    struct arena room = {0}; /* never cleared: each finds what others left there */
    size_t in_order_differs = 0;
    for (size_t leaves = 1; leaves <= MOST; leaves++) {
        draw(x, leaves);
        for (size_t workers = 1; workers <= leaves + 2; workers += 1 + workers / 8) {
            struct tree_sums *s = NULL;
            assert_int_equal(tree_sums_create(&s, total, WIDTH, leaves, workers, NULL, &room), SOTTO_OK);
            for (int again = 0; again < 2; again++) { /* a step leaves nothing to the next */
                for (size_t w = workers; w-- > 0;)
                    work(s, x, w, workers, leaves);
                tree_sums_join(s, 1 + (int)(workers % 3));
                for (size_t k = 0; k < WIDTH; k++)
                    assert_true(total[k] == node(x, k, levels(leaves), 0, leaves));
            }
            tree_sums_free(s);
        }
        float in_order = 0;
        for (size_t i = 0; i < leaves; i++)
            in_order += x[i][0];
        in_order_differs += in_order != total[0];
    }
    assert_true(in_order_differs > MOST / 2);
    arena_clear(&room);
}

TEST(sums_of_numbers_go_by_the_same_tree)
{
    float x[MOST][WIDTH];
    for (size_t leaves = 1; leaves <= MOST; leaves++) {
        double numbers[MOST] = {0};
        draw(x, leaves);
        for (size_t i = 0; i < leaves; i++)
            numbers[i] = (double)x[i][0]; /* sums of these are exact in double: only which are added counts */
        double all = 0;
        for (size_t i = 0; i < leaves; i++)
            all += numbers[i];
        assert_true(fabs(tree_sum(numbers, leaves) - all) <= 1e-9 * (1 + fabs(all)));
        if (leaves > 1)
            assert_true(tree_siblings(0, (size_t)1 << (levels(leaves) - 1), leaves, leaves));
    }
    double far[5] = {1e16, 1, -1e16, 1, 3}; /* ((1e16 + 1) + (-1e16 + 1)) + 3: only in this order */
    assert_true(tree_sum(far, 5) == (1e16 + 1) + (-1e16 + 1) + 3);
}

/* Workers need a few places each, not one for each leaf. */
TEST(memory_grows_with_the_levels)
{
    enum { WIDE = 1 << 12, LEAVES = 256 };
    static float total[WIDE];
    for (size_t workers = 1; workers <= 3; workers++) {
        struct tree_sums *s = NULL;
        assert_int_equal(tree_sums_create(&s, total, WIDE, LEAVES, workers, NULL, NULL), SOTTO_OK);
        assert_true(tree_sums_bytes(s) <= workers * 2 * 9 * sizeof total);
        tree_sums_free(s);
    }
    struct arena room = {0};
    struct tree_sums *s[2] = {NULL};
    for (size_t i = 0; i < 2; i++) /* the second one needs a part of what is there */
        assert_int_equal(tree_sums_create(&s[i], total, WIDE >> i, LEAVES, 2, NULL, &room), SOTTO_OK);
    assert_true(room.capacity >= 8 * sizeof total && room.capacity <= 2 * 2 * 9 * sizeof total);
    assert_true(tree_sums_bytes(s[0]) == 0 && tree_sums_bytes(s[1]) == 0);
    tree_sums_free(s[0]);
    tree_sums_free(s[1]);
    arena_clear(&room);
}

/* ---- ranks ---- */

enum { LONG = 5 * 16384 + 77 }; /* six segments at most */
struct across {
    size_t leaves, width, workers;
    size_t first, cut,
        from; /* elements before `first` are not summed; a second part begins at `cut`; sums begin at `from` */
    const float *x;        /* (leaves, width) */
    const float *expected; /* (width) */
};

/* Whole nodes of leaves first .. end - 1: greedy, from the definition. */
static size_t node_count(size_t first, size_t end, size_t leaves)
{
    size_t count = 0;
    while (first < end) {
        size_t width = 1;
        while (first % (2 * width) == 0 && (first + 2 * width <= end || end == leaves) && width < leaves)
            width *= 2;
        first += width;
        count++;
    }
    return count;
}

/* Where segments of elements first .. width - 1 begin, from the definition. */
static size_t border(size_t rank, size_t ranks, const struct across *a)
{
    const size_t width = a->width - a->first, chunks = (width + 16383) / 16384,
                 end = chunks * rank / ranks * 16384;
    return a->first + (rank == ranks || end > width ? width : end);
}

/* Of the rank's segment, what is summed. */
static size_t own_width(size_t rank, size_t ranks, const struct across *a)
{
    const size_t first = border(rank, ranks, a), end = border(rank + 1, ranks, a);
    return end < a->from ? 0 : end - (first > a->from ? first : a->from);
}

/* What the rank must have received: of its segment the others' nodes, or in halves what the others' sums of it are; then the
 * others' segments. */
static const char *check_traffic(const struct sotto_team *team, const struct across *a)
{
    const size_t ranks = sotto_team_size(team), rank = sotto_team_rank(team), own = own_width(rank, ranks, a),
                 gathered = a->width - a->first - (border(rank + 1, ranks, a) - border(rank, ranks, a));
    size_t nodes = 0, most = 0, kept = 0;
    for (size_t r = 0; r < ranks; r++) {
        const size_t count =
            node_count(tree_first(r, ranks, a->leaves), tree_first(r + 1, ranks, a->leaves), a->leaves);
        nodes += r == rank ? 0 : count;
        most = count > most ? count : most;
    }
    const struct team_traffic found = team_traffic(team);
    const bool even = (ranks & (ranks - 1)) == 0 && (a->leaves & (a->leaves - 1)) == 0;
    for (size_t mask = 1; even && mask < ranks; mask = 2 * mask + 1)
        for (size_t r = rank & mask; r < ranks; r += mask + 1)
            kept += own_width(r, ranks, a);
    if (found.messages != ranks - 1 + (even ? levels(ranks) : ranks - 1))
        return "another number of messages";
    if (found.bytes != 4 * ((even ? kept : nodes * own) + gathered))
        return "another number of bytes";
    return most <= 2 * levels(a->leaves) + 1 ? NULL : "more nodes than two a level";
}

static const char *check_sums(const struct sotto_team *team, float *total, const struct across *a,
                              struct rank_sums *of_ranks)
{
    const size_t ranks = sotto_team_size(team), rank = sotto_team_rank(team);
    size_t borders[SIMULATED_MOST + 1], other[SIMULATED_MOST + 1];
    if (rank_sums_join(of_ranks, a->from, 1 + (int)(rank % 2)) != SOTTO_OK)
        return "joining failed";
    tree_segments(borders, a->width - a->first, ranks);
    for (size_t r = 0; r <= ranks; r++)
        if (a->first + borders[r] != border(r, ranks, a))
            return "another segment";
    float *moved =
        malloc(a->width * sizeof *moved); /* control: segments that end elsewhere do not have the sum */
    memcpy(moved, total, a->width * sizeof *total);
    const char *wrong = team_gather(team, total + a->first, sizeof *total, borders) != SOTTO_OK
                            ? "gathering failed"
                            : check_traffic(team, a);
    if (!wrong && memcmp(total + a->from, a->expected + a->from, (a->width - a->from) * sizeof *total) != 0)
        wrong = "another sum";
    memcpy(other, borders, sizeof other);
    const bool moves = ranks == 2 && borders[1] > a->from + 16 && a->leaves > 1;
    if (moves)
        other[1] -= 16;
    if (!wrong && moves && team_gather(team, moved + a->first, sizeof *moved, other) == SOTTO_OK &&
        memcmp(moved, total, a->width * sizeof *total) == 0)
        wrong = "a wrong border changes nothing";
    free(moved);
    return wrong;
}

static const char *sum_on_rank(const struct sotto_team *team, void *state)
{
    static _Thread_local float total[LONG];
    const struct across *a = state;
    const size_t rank = sotto_team_rank(team), ranks = sotto_team_size(team),
                 first = tree_first(rank, ranks, a->leaves),
                 own = tree_first(rank + 1, ranks, a->leaves) - first,
                 workers = own < a->workers ? own : a->workers;
    const size_t cuts[] = {0, a->cut, a->width};
    struct tree_sums *s[2] = {NULL};
    struct tree_part parts[2];
    struct rank_sums *of_ranks = NULL;
    struct arena room = {0}; /* what ranks need of the first sums outlasts the second ones */
    for (size_t p = 0; p < 2; p++) {
        if (tree_sums_create(&s[p], total + cuts[p], cuts[p + 1] - cuts[p], a->leaves, workers, team,
                             &room) != SOTTO_OK)
            return "no sums";
        parts[p] = (struct tree_part){cuts[p], s[p]};
        for (size_t w = workers; w-- > 0;) {
            tree_sums_begin(s[p], w);
            for (size_t i = tree_first(w, workers, own); i < tree_first(w + 1, workers, own); i++) {
                memcpy(tree_sums_next(s[p], w), a->x + (first + i) * a->width + cuts[p],
                       (cuts[p + 1] - cuts[p]) * sizeof *a->x);
                tree_sums_add(s[p], w);
            }
        }
        tree_sums_join(s[p], 1);
    }
    const char *wrong = NULL;
    if (ranks > 1 && rank_sums_create(&of_ranks, total, a->first, a->width - a->first, parts, 2, a->leaves,
                                      team) != SOTTO_OK)
        wrong = "no sums of ranks";
    if (room.base)
        memset(room.base, 0xff, room.capacity);
    if (!wrong)
        wrong = check_sums(team, total, a, of_ranks);
    rank_sums_free(of_ranks);
    tree_sums_free(s[0]);
    tree_sums_free(s[1]);
    arena_clear(&room);
    return wrong;
}

/* A rank's leaves in order, then ranks in order: what a reduction by another library may do. */
static float in_order_of_ranks(const float *x, size_t leaves, size_t width, size_t ranks)
{
    float all = 0;
    for (size_t r = 0; r < ranks; r++) {
        float sum = 0;
        for (size_t i = tree_first(r, ranks, leaves); i < tree_first(r + 1, ranks, leaves); i++)
            sum += x[i * width];
        all += sum;
    }
    return all;
}

TEST(any_cut_among_ranks_gives_the_bits_of_the_tree)
{
    enum { CASES = 60, LEAVES = 64 };
    static float x[LEAVES * LONG], expected[LONG];
    struct rng r = rng_stream(2, RNG_TEST, 0, 0);
    size_t others = 0, several = 0;
    for (size_t k = 0; k < CASES; k++) {
        size_t leaves = 1 + rng_below(&r, LEAVES), ranks = 1 + rng_below(&r, leaves);
        const size_t width = k % 4 == 0 ? LONG : WIDTH;
        if (k % 3 == 0) { /* powers of two: one node for each rank */
            leaves = (size_t)1 << rng_below(&r, 7);
            ranks = (size_t)1 << rng_below(&r, levels(leaves) + 1);
        }
        for (size_t i = 0; i < leaves * width; i++)
            x[i] = (float)ldexp(rng_unit(&r) - 0.5, (int)(i % 23));
        struct tree_sums *s = NULL;
        assert_int_equal(tree_sums_create(&s, expected, width, leaves, 1, NULL, NULL), SOTTO_OK);
        tree_sums_begin(s, 0);
        for (size_t i = 0; i < leaves; i++) {
            memcpy(tree_sums_next(s, 0), x + i * width, width * sizeof *x);
            tree_sums_add(s, 0);
        }
        tree_sums_join(s, 1);
        tree_sums_free(s);
        struct across a = {leaves, width, 1 + k % 3, 0, width / 3, 0, x, expected};
        if (k % 8 == 0) /* some of it alone, as of a network with frozen rows and a step of its last row */
            a.first = 16, a.from = 2 * 16384 + 32;
        simulated_ranks(ranks, 0, sum_on_rank, &a);
        several += leaves > 4;
        bool other = false;
        for (size_t column = 0; column < WIDTH; column++)
            other |= in_order_of_ranks(x + column, leaves, width, ranks) != expected[column];
        others += leaves > 4 && other;
    }
    assert_true(several > CASES / 2 && others > several / 2);
}

TEST_GROUP(.tags = "matrix")
