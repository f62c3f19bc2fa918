#include "audit/fit/random_forest.h"

#include "audit/measure/sorted.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

/* A record goes left if its value is at most `edge`. A leaf (left 0) holds `count` shares from `first` on. */
struct node {
    uint32_t column, left, right, first, count;
    float edge;
};
struct share {
    uint32_t class;
    float part;
};
struct tree {
    struct node *node;
    struct share *share;
    size_t nodes, shares, node_room, share_room;
};
struct random_forest {
    size_t d, classes, trees;
    struct tree *tree;
};

/* What the trees learn from: the records' bins. */
struct table {
    const struct forest_data *data;
    uint8_t *bin;   /* (n, d): how many edges lie below the value */
    float *edge;    /* (d, FOREST_BINS - 1), rising */
    uint8_t *edges; /* (d) */
};

/* ---- bins ---- */

/* Edges between neighbouring values, at most FOREST_BINS - 1, about equally many records apart. */
static size_t cut_column(float *edge, double *sorted, size_t n)
{
    size_t count = 0;
    for (size_t b = 1; b < FOREST_BINS; b++) {
        size_t at = b * n / FOREST_BINS;
        if (at == 0)
            continue;
        double below = sorted[at - 1];
        size_t next = count_upto(sorted, n, below);
        if (next == n)
            break;
        float middle = (float)(below + (sorted[next] - below) / 2);
        if ((double)middle >= sorted[next]) /* neighbours in single precision */
            middle = (float)below;
        if (count == 0 || middle > edge[count - 1])
            edge[count++] = middle;
    }
    /* Few low values before one that fills every bin: they still have their edge. */
    if (count == 0 && sorted[0] < sorted[n - 1]) {
        size_t next = count_upto(sorted, n, sorted[0]);
        edge[count++] = (float)(sorted[0] + (sorted[next] - sorted[0]) / 2);
    }
    return count;
}

static uint8_t bin_of(float x, const float *edge, size_t edges)
{
    uint8_t bin = 0;
    while (bin < edges && x > edge[bin])
        bin++;
    return bin;
}

static sotto_status table_make(struct table *t, const struct forest_data *data)
{
    sotto_status status = SOTTO_OK;
    size_t n = data->n, d = data->d;
    double *sorted = NULL;
    *t = (struct table){.data = data};
    NEW_ROWS(sorted, n, 2);
    NEW_ROWS(t->bin, n, d);
    NEW_ROWS(t->edge, d, FOREST_BINS - 1);
    NEW(t->edges, d);
    for (size_t j = 0; j < d; j++) {
        float *edge = t->edge + j * (FOREST_BINS - 1);
        for (size_t i = 0; i < n; i++)
            sorted[i] = (double)data->x[i * d + j];
        sort_rising(sorted, n, sorted + n);
        t->edges[j] = (uint8_t)cut_column(edge, sorted, n);
        for (size_t i = 0; i < n; i++)
            t->bin[i * d + j] = bin_of(data->x[i * d + j], edge, t->edges[j]);
    }
done:
    base_free(sorted);
    return status;
}

static void table_clear(struct table *t)
{
    base_free(t->bin);
    base_free(t->edge);
    base_free(t->edges);
}

/* ---- one tree ---- */

struct split {
    double gain;
    size_t column;
    uint8_t bin; /* left: at most this */
};
struct grower {
    const struct table *table;
    struct tree *tree;
    struct rng draw;
    size_t *row;          /* (n): the bootstrap sample, each node a run of it */
    uint32_t *columns;    /* (d): a permutation, drawn anew from its front */
    uint32_t *count;      /* (FOREST_BINS, classes) */
    uint32_t *left, *all; /* (classes) */
};

/* How well a column parts rows first .. last, by the sum of squared class counts over sizes (Gini). */
static bool try_column(struct split *best, struct grower *g, size_t first, size_t last, size_t column)
{
    const struct table *t = g->table;
    size_t classes = t->data->classes, d = t->data->d, bins = (size_t)t->edges[column] + 1, n = last - first;
    bool parts = false;
    if (bins == 1)
        return false;
    memset(g->count, 0, bins * classes * sizeof *g->count);
    for (size_t i = first; i < last; i++)
        g->count[t->bin[g->row[i] * d + column] * classes + (size_t)t->data->y[g->row[i]]]++;
    memset(g->left, 0, classes * sizeof *g->left);
    size_t on_left = 0;
    for (size_t b = 0; b + 1 < bins; b++) {
        double left = 0, right = 0;
        size_t before = on_left;
        for (size_t k = 0; k < classes; k++) {
            g->left[k] += g->count[b * classes + k];
            on_left += g->count[b * classes + k];
            double l = g->left[k], r = g->all[k] - g->left[k];
            left += l * l;
            right += r * r;
        }
        if (on_left == before || on_left == n)
            continue;
        double gain = left / (double)on_left + right / (double)(n - on_left);
        parts = true;
        if (gain > best->gain)
            *best = (struct split){gain, column, (uint8_t)b};
    }
    return parts;
}

/* The best of sqrt(d) columns that part the rows at all; false if none does. */
static bool find_split(struct split *best, struct grower *g, size_t first, size_t last)
{
    size_t d = g->table->data->d, wanted = (size_t)ceil(sqrt((double)d)), tried = 0;
    *best = (struct split){-1, 0, 0};
    for (size_t j = 0; j < d && tried < wanted; j++) {
        size_t other = j + (size_t)rng_below(&g->draw, d - j);
        uint32_t column = g->columns[other];
        g->columns[other] = g->columns[j];
        g->columns[j] = column;
        tried += try_column(best, g, first, last, column);
    }
    return tried > 0;
}

static sotto_status add_node(size_t *at, struct tree *t)
{
    sotto_status status = SOTTO_OK;
    if (t->nodes == t->node_room) {
        size_t room = t->node_room ? 2 * t->node_room : 64;
        REGROW(t->node, t->nodes, room);
        t->node_room = room;
    }
    t->node[t->nodes] = (struct node){0};
    *at = t->nodes++;
done:
    return status;
}

static sotto_status make_leaf(struct grower *g, size_t at, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct tree *t = g->tree;
    size_t classes = g->table->data->classes;
    t->node[at].first = (uint32_t)t->shares;
    for (size_t k = 0; k < classes; k++) {
        if (g->all[k] == 0)
            continue;
        if (t->shares == t->share_room) {
            size_t room = t->share_room ? 2 * t->share_room : 64;
            REGROW(t->share, t->shares, room);
            t->share_room = room;
        }
        t->share[t->shares++] = (struct share){(uint32_t)k, (float)g->all[k] / (float)n};
        t->node[at].count++;
    }
done:
    return status;
}

/* Rows that go left first; how many do. */
static size_t random_forest_divide(struct grower *g, size_t first, size_t last, const struct split *s)
{
    const struct table *t = g->table;
    size_t d = t->data->d, at = first;
    for (size_t i = first; i < last; i++)
        if (t->bin[g->row[i] * d + s->column] <= s->bin) {
            size_t row = g->row[i];
            g->row[i] = g->row[at];
            g->row[at++] = row;
        }
    return at;
}

/* A run of rows that waits to become a node. */
struct waiting {
    size_t node, first, last;
};

static sotto_status grow_node(struct grower *g, const struct waiting *w, struct waiting next[2], size_t *more)
{
    sotto_status status = SOTTO_OK;
    const struct forest_data *data = g->table->data;
    struct split s;
    size_t present = 0, left, right;
    *more = 0;
    memset(g->all, 0, data->classes * sizeof *g->all);
    for (size_t i = w->first; i < w->last; i++)
        present += g->all[data->y[g->row[i]]]++ == 0;
    if (present < 2 || !find_split(&s, g, w->first, w->last)) {
        TRY(make_leaf(g, w->node, w->last - w->first));
        goto done;
    }
    size_t middle = random_forest_divide(g, w->first, w->last, &s);
    TRY(add_node(&left, g->tree));
    TRY(add_node(&right, g->tree));
    struct node *node = &g->tree->node[w->node];
    node->column = (uint32_t)s.column;
    node->edge = g->table->edge[s.column * (FOREST_BINS - 1) + s.bin];
    node->left = (uint32_t)left;
    node->right = (uint32_t)right;
    next[0] = (struct waiting){left, w->first, middle};
    next[1] = (struct waiting){right, middle, w->last};
    *more = 2;
done:
    return status;
}

static sotto_status random_forest_grow(struct grower *g, struct waiting *stack)
{
    sotto_status status = SOTTO_OK;
    size_t depth = 1, more;
    TRY(add_node(&stack[0].node, g->tree));
    stack[0].first = 0;
    stack[0].last = g->table->data->n;
    while (depth > 0) {
        struct waiting w = stack[--depth];
        TRY(grow_node(g, &w, stack + depth, &more));
        depth += more;
    }
done:
    return status;
}

struct planting {
    const struct table *table;
    struct random_forest *forest;
    uint64_t seed;
    const struct sotto_context *ctx;
};

static sotto_status random_forest_plant(void *arg, size_t number, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    const struct planting *p = arg;
    const struct forest_data *data = p->table->data;
    size_t n = data->n, classes = data->classes;
    struct grower g = {.table = p->table,
                       .tree = &p->forest->tree[number],
                       .draw = rng_stream(p->seed, RNG_SYNTHETIC, 5, number)};
    struct waiting *stack = NULL;
    NEW(g.row, n);
    NEW(g.columns, data->d);
    NEW_ROWS(g.count, classes, FOREST_BINS);
    NEW(g.left, classes);
    NEW(g.all, classes);
    NEW(stack, n + 1);
    if (context_stopped(p->ctx))
        FAIL(SOTTO_ESTOPPED, "forest: stopped");
    for (size_t i = 0; i < n; i++)
        g.row[i] = (size_t)rng_below(&g.draw, n);
    for (size_t j = 0; j < data->d; j++)
        g.columns[j] = (uint32_t)j;
    TRY(random_forest_grow(&g, stack));
done:
    base_free(g.row);
    base_free(g.columns);
    base_free(g.count);
    base_free(g.left);
    base_free(g.all);
    base_free(stack);
    return status;
}

sotto_status random_forest_fit(struct random_forest **out, const struct forest_data *data, size_t trees,
                               uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct table table = {0};
    struct random_forest *f = NULL;
    NEW(f, 1);
    NEW(f->tree, trees);
    REQUIRE(data->n > 0 && data->n < UINT32_MAX / 2 && trees > 0,
            "forest: %zu records and %zu trees; expected at least one of each", data->n, trees);
    f->d = data->d, f->classes = data->classes, f->trees = trees;
    TRY(table_make(&table, data));
    struct planting p = {&table, f, seed, ctx};
    TRY(par_chunks(trees, par_threads(ctx), random_forest_plant, &p));
    *out = f;
    f = NULL;
done:
    table_clear(&table);
    random_forest_free(f);
    return status;
}

void random_forest_predict(float *posteriors, const struct random_forest *f, const float *x, size_t n)
{
    memset(posteriors, 0, n * f->classes * sizeof *posteriors);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < f->trees; t++) {
            const struct tree *tree = &f->tree[t];
            const struct node *at = tree->node;
            while (at->left)
                at = tree->node + (x[i * f->d + at->column] <= at->edge ? at->left : at->right);
            for (size_t s = at->first; s < at->first + (size_t)at->count; s++)
                posteriors[i * f->classes + tree->share[s].class] += tree->share[s].part / (float)f->trees;
        }
}

void random_forest_free(struct random_forest *f)
{
    if (!f)
        return;
    for (size_t t = 0; f->tree && t < f->trees; t++) {
        base_free(f->tree[t].node);
        base_free(f->tree[t].share);
    }
    base_free(f->tree);
    base_free(f);
}
