#include "ask/ask_quantile.h"

#include <math.h>

enum { STEPS = 1024, LEAST_STEPS = 64 };

struct ask_tree ask_edges_of(const struct encoding_column *c, size_t steps)
{
    const double width = c->high - c->low, most = (double)steps;
    struct ask_tree t = {c->low + width / most, width / most, steps, 1};
    if (c->low == floor(c->low) && c->high == floor(c->high) && width <= most) {
        t = (struct ask_tree){c->low, 1, 0, 1};
        while (width / t.step < LEAST_STEPS)
            t.step /= 2;
        t.edges = (size_t)(width / t.step) + 1;
    }
    while ((size_t)1 << t.levels < t.edges)
        t.levels++;
    return t;
}

struct ask_tree ask_tree_of(const struct encoding_column *c)
{
    return ask_edges_of(c, STEPS);
}

size_t ask_tree_nodes(const struct ask_tree *t)
{
    return ((size_t)2 << t->levels) - 2;
}

/* Where level `level`, from 1, begins. */
static size_t level_at(size_t level)
{
    return ((size_t)1 << level) - 2;
}

size_t ask_tree_leaf(const struct ask_tree *t, double x)
{
    const double steps = ceil((x - t->low) / t->step), last = (double)(t->edges - 1);
    return (size_t)fmin(last, fmax(0, steps));
}

void ask_tree_add(int64_t *nodes, const struct ask_tree *t, double x, int64_t mass)
{
    const size_t leaf = ask_tree_leaf(t, x);
    for (size_t level = 1; level <= t->levels; level++)
        nodes[level_at(level) + (leaf >> (t->levels - level))] += mass;
}

/* Up: each node's own count and the sum of its children, by precision. Down: what parents know more, in even shares (Hay et al. 2010). */
void ask_tree_solve(double *leaves, double *nodes, const struct ask_tree *t, double total)
{
    for (size_t level = t->levels; level-- > 1;) {
        const double below = ldexp(1, (int)(t->levels - level)), all = 2 * below;
        double *own = nodes + level_at(level), *children = nodes + level_at(level + 1);
        for (size_t i = 0; i < (size_t)1 << level; i++)
            own[i] = (below * own[i] + (below - 1) * (children[2 * i] + children[2 * i + 1])) / (all - 1);
    }
    double known = isnan(total) ? nodes[0] + nodes[1] : total;
    for (size_t level = 1; level <= t->levels; level++) {
        double *children = nodes + level_at(level),
               *parents = level > 1 ? nodes + level_at(level - 1) : &known;
        for (size_t i = 0; i < (size_t)1 << (level - 1); i++) {
            const double more = (parents[i] - children[2 * i] - children[2 * i + 1]) / 2;
            children[2 * i] += more;
            children[2 * i + 1] += more;
        }
    }
    for (size_t i = 0; i < (size_t)1 << t->levels; i++)
        leaves[i] = nodes[level_at(t->levels) + i];
}

double ask_tree_quantile(const double *leaves, const struct ask_tree *t, double share)
{
    double total = 0, sum = 0;
    size_t i = 0;
    for (size_t k = 0; k < (size_t)1 << t->levels; k++)
        total += leaves[k];
    const double rank = share * total * (1 - 1e-12); /* sums are rounded */
    for (sum = leaves[0]; sum < rank && i + 1 < t->edges; sum += leaves[i])
        i++;
    return t->low + (double)i * t->step;
}

/* The variance, for noise of variance 1 on each node, of all leaves up to this one, less that share of all: from the leaf up, `part` is
 * what the error of a node counts. Half the difference of two children is independent of what is known above them. */
static double variance_up_to(size_t leaf, const struct ask_tree *t, double share, bool known)
{
    double part = 1, variance = 0, precision = 1;
    for (size_t level = t->levels; level > 0; level--) {
        const bool right = leaf >> (t->levels - level) & 1;
        const double half = (right ? 1 - part : part) / 2;
        variance += half * half * 2 / precision;
        part = (right + part) / 2;
        if (level == 1 && !known)
            variance += (part - share) * (part - share) * 2 / precision;
        precision = 1 + precision / 2;
    }
    return variance;
}

void ask_tree_interval(double ends[2], const double *leaves, const struct ask_tree *t, double share,
                       double total, double noise, double sampling)
{
    double all = 0, sum = 0;
    size_t first = t->edges - 1, last = 0;
    for (size_t k = 0; k < (size_t)1 << t->levels; k++)
        all += leaves[k];
    for (size_t i = 0; i < t->edges; i++) {
        sum += leaves[i];
        const double above = sum - share * all,
                     half = hypot(noise * sqrt(variance_up_to(i, t, share, !isnan(total))), sampling);
        if (above + half >= 0 && i < first)
            first = i;
        if (above - half < 0 && i + 1 < t->edges)
            last = i + 1;
    }
    ends[0] = t->low + (double)first * t->step;
    ends[1] = t->low + (double)last * t->step;
}
