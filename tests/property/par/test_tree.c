/* The tree over leaves: any cut of the leaves among workers, and any number of threads, gives the bits of the tree as it is
 * defined; a sum in the order of the leaves does not, so the check can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "par/tree.h"
#include "rng/rng.h"

#include <math.h>
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

static void any_cut_gives_the_bits_of_the_tree(void **state)
{
    (void)state;
    float x[MOST][WIDTH], total[WIDTH];
    size_t in_order_differs = 0;
    for (size_t leaves = 1; leaves <= MOST; leaves++) {
        draw(x, leaves);
        for (size_t workers = 1; workers <= leaves + 2; workers += 1 + workers / 8) {
            struct tree_sums *s = NULL;
            assert_int_equal(tree_sums_create(&s, total, WIDTH, leaves, workers), SOTTO_OK);
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
}

static void sums_of_numbers_go_by_the_same_tree(void **state)
{
    (void)state;
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
static void memory_grows_with_the_levels(void **state)
{
    (void)state;
    enum { WIDE = 1 << 12, LEAVES = 256 };
    static float total[WIDE];
    for (size_t workers = 1; workers <= 3; workers++) {
        struct tree_sums *s = NULL;
        assert_int_equal(tree_sums_create(&s, total, WIDE, LEAVES, workers), SOTTO_OK);
        assert_true(tree_sums_bytes(s) <= workers * 2 * 9 * sizeof total);
        tree_sums_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_bits_of_the_tree),
        cmocka_unit_test(sums_of_numbers_go_by_the_same_tree),
        cmocka_unit_test(memory_grows_with_the_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
