/* decision_walker.h - runs a function on every path of its decision tree and adds up what it returns, weighed
 * by the probability of the path. */
#ifndef TESTS_DECISION_WALKER_H
#define TESTS_DECISION_WALKER_H

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH = 4000, OUTCOMES = 512 };
static struct {
    int choice[DEPTH], options[DEPTH], at, known;
    long double probability;
    int restarts;
    jmp_buf out;
} tree;

enum leaving { NORMAL, CUT, AGAIN };

/* One node: branch i has probability weight(i). */
static inline int branch(int options, long double (*weight)(int i, const void *arg), const void *arg)
{
    if (tree.at == DEPTH)
        longjmp(tree.out, CUT);
    if (tree.at == tree.known) {
        tree.choice[tree.known] = 0;
        tree.options[tree.known++] = options;
    }
    int i = tree.choice[tree.at++];
    tree.probability *= weight(i, arg);
    if (tree.probability < 1e-18L)
        longjmp(tree.out, CUT);
    return i;
}

/* The first question of a loop. */
static inline void start_of_loop(void)
{
    if (tree.restarts++ > 0)
        longjmp(tree.out, AGAIN);
}

static inline long double even_weight(int i, const void *arg)
{
    (void)i;
    return 1.0L / *(const int *)arg;
}
static inline int even(int options)
{
    return branch(options, even_weight, &options);
}
static inline long double coin_weight(int i, const void *arg)
{
    long double p = *(const long double *)arg;
    return i ? p : 1 - p;
}
static inline bool coin(long double p)
{
    return branch(2, coin_weight, &p);
}

struct law {
    long double mass[OUTCOMES], again, cut;
    long paths;
};

/* Outcomes are shifted by OUTCOMES / 2; those beyond go to the ends. */
static inline void walk(struct law *law, long (*run)(const void *arg), const void *arg)
{
    memset(law, 0, sizeof *law);
    memset(&tree, 0, sizeof tree);
    do {
        tree.at = 0;
        tree.restarts = 0;
        tree.probability = 1;
        switch (setjmp(tree.out)) {
        case NORMAL: {
            long k = run(arg) + OUTCOMES / 2;
            law->mass[k < 0 ? 0 : k >= OUTCOMES ? OUTCOMES - 1 : k] += tree.probability;
            break;
        }
        case AGAIN:
            law->again += tree.probability;
            break;
        default:
            law->cut += tree.probability;
        }
        law->paths++;
        tree.known = tree.at;
        while (tree.known > 0 && tree.choice[tree.known - 1] + 1 == tree.options[tree.known - 1])
            tree.known--;
        if (tree.known > 0)
            tree.choice[tree.known - 1]++;
    } while (tree.known > 0);
    for (int i = 0; i < OUTCOMES; i++)
        law->mass[i] /= 1 - law->again;
}

static inline long double mass(const struct law *law, long k)
{
    return law->mass[k + OUTCOMES / 2];
}

/* Largest difference to a law p(k) on low..high, and what the walk did not cover. */
static inline double distance(const struct law *law, long low, long high,
                              long double (*p)(long k, double scale), double scale)
{
    long double most = law->cut / (1 - law->again);
    for (long k = low; k <= high; k++)
        most = fmaxl(most, fabsl(mass(law, k) - p(k, scale)));
    return (double)most;
}

#endif
