/* A run whose noise changes with every step has thousands of pairs that hardly differ. At any epsilon the curve of a pair is a
 * convex function of u(t), the total variation of the pair (twice the shift for a replaced record): a chord between two
 * shifts bounds it, and the chord is the curve of a mixture with weights that do not depend on epsilon. So the distributions of
 * a few shifts are made, and each level costs one product of spectra. Where a cell's shifts differ by a share r, the loss is
 * at most about r^2 / 8 of the squared shift. Below stands the smallest shift of the cell. docs/derivations/pld.md, section 6. */
#include "dp/account/event_levels.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"

#include <stdlib.h>
#include <string.h>

static const double cell = 0.008; /* ln of two nodes' quotient */
enum { NODES_LEAST = 16, NODES_MOST = 320 };

void level_nodes_free(struct level_nodes *nodes)
{
    base_free(nodes->parts);
    base_free(nodes->pairs);
    base_free(nodes->blends);
    *nodes = (struct level_nodes){0};
}

static int compare_kinds(const struct level *a, const struct level *b)
{
    const struct pair_sampled *x = a->upper, *y = b->upper;
    const int names = strcmp(x->mechanism->name, y->mechanism->name);
    if (names)
        return names;
    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    return (x->rate > y->rate) - (x->rate < y->rate);
}

static int event_levels_compare(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    const int kinds = compare_kinds(x, y);
    return kinds ? kinds : (x->upper->shift > y->upper->shift) - (x->upper->shift < y->upper->shift);
}

static struct interval event_levels_variation(const struct pair_sampled *p, double shift)
{
    const bool twice = p->direction >= PLD_REPLACE;
    return p->mechanism->tails(twice ? 2 * shift : shift, 0).delta;
}

double level_weight(const struct pair_sampled *p, double smaller, double larger)
{
    const struct interval low = event_levels_variation(p, smaller), high = event_levels_variation(p, larger),
                          at = event_levels_variation(p, p->shift);
    return fmin(1, fmax(0, iv_div(iv_sub(at, low), iv_sub(high, low)).hi));
}

static void no_points(struct pair_point *out, const void *arg, const double *epsilon, size_t n)
{
    (void)arg, (void)epsilon;
    for (size_t i = 0; i < n; i++)
        out[i] = (struct pair_point){iv(0), iv(0)};
}

/* Room that is left of what is filled so far. */
struct room {
    struct level_nodes *nodes;
    size_t pairs, blends;
};

/* A node at `shift` over the levels of the cell below it, which are `n`; `former`: the node below. */
static void add_node(struct room *r, double shift, const struct level *levels, size_t n, double former)
{
    const struct pair_sampled *kind = levels->upper;
    struct pair_sampled *upper = &r->nodes->pairs[r->pairs++], *lower = &r->nodes->pairs[r->pairs++];
    struct pld_part *part = &r->nodes->parts[r->nodes->count++];
    struct pld_blend *blends = &r->nodes->blends[r->blends];
    *upper = *kind;
    upper->shift = shift;
    *lower = *levels->lower;
    *part = (struct pld_part){
        .upper = pair_of_sampled(upper), .lower = {no_points, NULL}, .blends = blends, .blend_count = n};
    account_mark_end(part, upper);
    for (size_t i = 0; i < n; i++)
        blends[i] = (struct pld_blend){level_weight(levels[i].upper, former, shift), levels[i].part->count};
    r->blends += n;
}

/* What stands below the levels of a cell: the smallest shift of theirs. */
static void set_lower(struct pld_part *node, struct pair_sampled *lower, const struct level *levels, size_t n)
{
    *lower = *levels->lower;
    for (size_t i = 1; i < n; i++)
        lower->shift = fmin(lower->shift, levels[i].lower->shift);
    node->lower = pair_of_sampled(lower);
}

static double cells_of(const struct level *levels, size_t n)
{
    const double length = log(levels[n - 1].upper->shift / levels[0].upper->shift);
    return fmin(fmax(ceil(length / cell), NODES_LEAST), NODES_MOST);
}

/* One kind, its levels ascending. Cells without a level have no node of their own. */
static void place_nodes(struct room *r, const struct level *levels, size_t n)
{
    const double first = levels[0].upper->shift, last = levels[n - 1].upper->shift,
                 cells = cells_of(levels, n);
    double former = first, node = 0;
    for (size_t i = 0, k = 1; i < n; k++) {
        const double shift =
            (double)k < cells ? fmin(first * pow(last / first, (double)k / cells), last) : last;
        size_t inside = 0;
        while (i + inside < n && levels[i + inside].upper->shift <= shift)
            inside++;
        if (inside > 0) {
            if (node != former)
                add_node(r, former, levels + i, 0, former);
            set_lower(&r->nodes->parts[r->nodes->count - 1], &r->nodes->pairs[r->pairs - 1], levels + i,
                      inside);
            add_node(r, shift, levels + i, inside, former);
            node = shift;
        }
        former = shift;
        i += inside;
    }
}

static size_t kind_length(const struct level *levels, size_t n)
{
    size_t m = 1;
    while (m < n && compare_kinds(&levels[0], &levels[m]) == 0)
        m++;
    return m;
}

sotto_status levels_between_nodes(struct level_nodes *out, struct level *levels, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct level_nodes nodes = {0};
    struct room room = {.nodes = &nodes};
    NEW(nodes.parts, 2 * n + 2);
    NEW(nodes.pairs, 4 * n + 4);
    NEW(nodes.blends, n + 1);
    qsort(levels, n, sizeof *levels, event_levels_compare);
    for (size_t i = 0, m; i < n; i += m) {
        m = kind_length(levels + i, n - i);
        if (m > LEVELS_MANY && (double)m > 1.5 * cells_of(levels + i, m))
            place_nodes(&room, levels + i, m);
        else
            for (size_t k = 0; k < m; k++)
                nodes.parts[nodes.count++] = *levels[i + k].part;
    }
    *out = nodes;
    nodes = (struct level_nodes){0};
done:
    level_nodes_free(&nodes);
    return status;
}
