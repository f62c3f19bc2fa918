/* A worker keeps a stack of whole nodes: two that are siblings become one at once, in the memory of the left one. So
 * worker 0 ends with its sum in the place of the total, and joining adds everything else to that.
 *
 * A rank of a team ends with the largest whole nodes of its leaves: one where ranks and leaves are powers of two, else at
 * most two for each level. The vector is cut into segments, one for each rank, which gets that part of all nodes, joins them,
 * and hands the sums to all. With one node each a rank receives what a reduction in any order would need, 2 (R - 1) / R
 * vectors. */
#include "par/tree.h"

#include "par/par.h"
#include "par/tree_add.h"

#include <string.h>

enum { CHUNK = 16384, NODES = 2 * 64 /* of a run of leaves, and one more for each level */ };

double tree_sum(double *x, size_t leaves)
{
    for (size_t width = 1; width < leaves; width *= 2)
        for (size_t i = 0; i + width < leaves; i += 2 * width)
            x[i] += x[i + width];
    return x[0];
}

void tree_merge(double *x, size_t leaves, size_t width, tree_merge_rows *merge)
{
    for (size_t step = 1; step < leaves; step *= 2)
        for (size_t i = 0; i + step < leaves; i += 2 * step)
            merge(x + i * width, x + (i + step) * width, width);
}

void tree_merge_sums(double *to, const double *from, size_t width)
{
    for (size_t i = 0; i < width; i++)
        to[i] += from[i];
}

bool tree_siblings(size_t first, size_t middle, size_t end, size_t leaves)
{
    const size_t width = middle - first, both = first + 2 * width;
    return (width & (width - 1)) == 0 && first % (2 * width) == 0 && end == (both < leaves ? both : leaves);
}

size_t tree_first(size_t worker, size_t workers, size_t leaves)
{
    return leaves * worker / workers;
}

struct node {
    size_t first, end; /* leaves */
    float *sum;
};
struct stack {
    struct node node[NODES];
    size_t count;
};
struct worker {
    struct stack stack;
    float *sums[NODES]; /* of the stack's places */
    size_t places, next;
};
/* to += from, when all workers are done. */
struct join {
    float *to;
    const float *from;
};
struct tree_sums {
    size_t width, leaves, worker_count, join_count;
    size_t first, end; /* this rank's leaves */
    struct worker *workers;
    struct join *joins;
    struct stack rest; /* whole nodes, of this rank, that are left then; the first lies in the total */
    struct arena memory;
    tree_adder *add_up;
    /* among ranks */
    const struct sotto_team *team; /* NULL: alone */
    float *total;
    size_t *nodes,
        *segments; /* (ranks + 1) rank r has nodes nodes[r] .. of all; elements segments[r] .. of the vector */
    float *received, *packed; /* this rank's segment of all nodes; another one's of this rank's nodes */
    struct join *across;      /* of the own segment */
    size_t across_count;
    const float *sum_of_segment;
};

ISA_TABLE(tree_adder, tree_add, tree_add_best);

/* Are the last two on it one node? */
static bool joins(const struct stack *s, size_t leaves)
{
    const struct node *last = &s->node[s->count - 1];
    return s->count > 1 && tree_siblings(last[-1].first, last->first, last->end, leaves);
}

static void join(struct stack *s)
{
    s->count--;
    s->node[s->count - 1].end = s->node[s->count].end;
}

static void push(struct stack *s, size_t first, size_t end, float *sum)
{
    s->node[s->count++] = (struct node){first, end, sum};
}

/* How many places a worker needs, and which nodes it ends with. */
static void rehearse(struct worker *w, size_t first, size_t end, size_t leaves)
{
    w->stack.count = 0;
    w->places = 1;
    for (size_t i = first; i < end; i++) {
        push(&w->stack, i, i + 1, w->sums[w->stack.count]);
        w->places = w->stack.count > w->places ? w->stack.count : w->places;
        while (joins(&w->stack, leaves))
            join(&w->stack);
    }
}

static size_t worker_first(const struct tree_sums *s, size_t worker)
{
    return s->first + tree_first(worker, s->worker_count, s->end - s->first);
}

static void rehearse_all(struct tree_sums *s)
{
    for (size_t k = 0; k < s->worker_count; k++)
        rehearse(&s->workers[k], worker_first(s, k), worker_first(s, k + 1), s->leaves);
}

/* Puts a node behind those on the stack and lists what is then to be added. */
static void push_and_join(struct stack *all, struct join *joins_of, size_t *count, const struct node *n,
                          size_t leaves)
{
    push(all, n->first, n->end, n->sum);
    for (; joins(all, leaves); join(all))
        joins_of[(*count)++] = (struct join){all->node[all->count - 2].sum, all->node[all->count - 1].sum};
}

/* What is left to add, in the order in which the nodes lie. */
static void list_joins(struct tree_sums *s)
{
    for (size_t k = 0; k < s->worker_count; k++)
        for (size_t i = 0; i < s->workers[k].stack.count; i++)
            push_and_join(&s->rest, s->joins, &s->join_count, &s->workers[k].stack.node[i], s->leaves);
}

/* ---- among ranks ---- */

/* The largest whole nodes of a rank's leaves. */
static void nodes_of(struct worker *out, const struct tree_sums *s, size_t rank)
{
    const size_t ranks = sotto_team_size(s->team);
    *out = (struct worker){.places = 0};
    rehearse(out, tree_first(rank, ranks, s->leaves), tree_first(rank + 1, ranks, s->leaves), s->leaves);
}

static size_t segment_width(const struct tree_sums *s, size_t rank)
{
    return s->segments[rank + 1] - s->segments[rank];
}

static sotto_status cut_among_ranks(struct tree_sums *s)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(s->team), chunks = (s->width + CHUNK - 1) / CHUNK;
    struct worker *w = NULL;
    NEW(w, 1);
    NEW(s->nodes, ranks + 1);
    NEW(s->segments, ranks + 1);
    for (size_t r = 0; r < ranks; r++) {
        nodes_of(w, s, r);
        s->nodes[r + 1] = s->nodes[r] + w->stack.count;
        s->segments[r + 1] = tree_first(r + 1, ranks, chunks) * CHUNK;
    }
    s->segments[ranks] = s->width;
    NEW(s->across, s->nodes[ranks]);
done:
    base_free(w);
    return status;
}

static void place_received(struct tree_sums *s)
{
    const size_t ranks = sotto_team_size(s->team), rank = sotto_team_rank(s->team);
    size_t widest = 0;
    for (size_t r = 0; r < ranks; r++)
        widest = segment_width(s, r) > widest ? segment_width(s, r) : widest;
    s->received = arena_take(&s->memory, s->nodes[ranks] * segment_width(s, rank), sizeof(float));
    s->packed = arena_take(&s->memory, (s->nodes[rank + 1] - s->nodes[rank]) * widest, sizeof(float));
}

static void place(struct tree_sums *s, float *total)
{
    for (size_t k = 0; k < s->worker_count; k++)
        for (size_t i = 0; i < s->workers[k].places; i++)
            s->workers[k].sums[i] =
                k == 0 && i == 0 ? total : arena_take(&s->memory, s->width, sizeof(float));
    if (s->team)
        place_received(s);
}

/* As list_joins(), of the own segment: where other ranks' nodes will have come to, and the own ones as they lie. */
static sotto_status list_across(struct tree_sums *s)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(s->team), rank = sotto_team_rank(s->team),
                 width = segment_width(s, rank);
    struct worker *w = NULL;
    struct stack *all = NULL;
    NEW(w, 1);
    NEW(all, 1);
    for (size_t r = 0; r < ranks; r++) {
        nodes_of(w, s, r);
        for (size_t i = 0; i < w->stack.count; i++) {
            struct node n = w->stack.node[i];
            n.sum =
                r == rank ? s->rest.node[i].sum + s->segments[rank] : s->received + (s->nodes[r] + i) * width;
            push_and_join(all, s->across, &s->across_count, &n, s->leaves);
        }
    }
    s->sum_of_segment = all->node[0].sum;
done:
    base_free(w);
    base_free(all);
    return status;
}

/* The own segment of all nodes, and others' segments of the own nodes to them: a message each way with each rank. */
static sotto_status exchange_nodes(struct tree_sums *s)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(s->team), rank = sotto_team_rank(s->team),
                 own = segment_width(s, rank);
    for (size_t d = 1; d < ranks; d++) {
        const size_t to = (rank + d) % ranks, from = (rank + ranks - d) % ranks, width = segment_width(s, to);
        for (size_t i = 0; i < s->rest.count; i++)
            memcpy(s->packed + i * width, s->rest.node[i].sum + s->segments[to], width * sizeof(float));
        TRY(team_exchange(s->team, s->packed, s->rest.count * width * sizeof(float), to,
                          s->received + s->nodes[from] * own,
                          (s->nodes[from + 1] - s->nodes[from]) * own * sizeof(float), from));
    }
done:
    return status;
}

static sotto_status across_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct tree_sums *s = arg;
    const size_t first = chunk * CHUNK, left = segment_width(s, sotto_team_rank(s->team)) - first,
                 width = left < CHUNK ? left : CHUNK;
    for (size_t i = 0; i < s->across_count; i++)
        s->add_up(s->across[i].to + first, s->across[i].from + first, width);
    return SOTTO_OK;
}

static sotto_status join_ranks(struct tree_sums *s, int threads)
{
    sotto_status status = SOTTO_OK;
    const size_t rank = sotto_team_rank(s->team), width = segment_width(s, rank);
    float *place = s->total + s->segments[rank];
    TRY(exchange_nodes(s));
    if (s->across_count && width)
        (void)par_shares((width + CHUNK - 1) / CHUNK, threads, NULL, across_chunk, s); /* cannot fail */
    if (s->sum_of_segment != place && width)
        memcpy(place, s->sum_of_segment, width * sizeof *place);
    TRY(team_gather(s->team, s->total, sizeof *s->total, s->segments));
done:
    return status;
}

/* ---- making ---- */

sotto_status tree_sums_create(struct tree_sums **out, float *total, size_t width, size_t leaves,
                              size_t workers, const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    struct tree_sums *s = NULL;
    NEW(s, 1);
    s->width = width;
    s->add_up = tree_add_best();
    s->leaves = leaves;
    s->worker_count = workers;
    s->total = total;
    s->team = sotto_team_size(team) > 1 ? team : NULL;
    s->first = tree_first(sotto_team_rank(s->team), sotto_team_size(s->team), leaves);
    s->end = tree_first(sotto_team_rank(s->team) + 1, sotto_team_size(s->team), leaves);
    NEW(s->workers, workers);
    NEW(s->joins, leaves);
    if (s->team)
        TRY(cut_among_ranks(s));
    rehearse_all(s);
    place(s, total);
    TRY(arena_reserve(&s->memory, "gradients of leaves"));
    place(s, total);
    rehearse_all(s); /* with addresses */
    list_joins(s);
    if (s->team)
        TRY(list_across(s));
    *out = s;
    s = NULL;
done:
    tree_sums_free(s);
    return status;
}

void tree_sums_free(struct tree_sums *s)
{
    if (!s)
        return;
    arena_clear(&s->memory);
    base_free(s->workers);
    base_free(s->joins);
    base_free(s->nodes);
    base_free(s->segments);
    base_free(s->across);
    base_free(s);
}

size_t tree_sums_bytes(const struct tree_sums *s)
{
    return s->memory.capacity;
}

void tree_sums_begin(struct tree_sums *s, size_t worker)
{
    struct worker *w = &s->workers[worker];
    w->stack.count = 0;
    w->next = worker_first(s, worker);
}

float *tree_sums_next(struct tree_sums *s, size_t worker)
{
    struct worker *w = &s->workers[worker];
    return w->sums[w->stack.count];
}

void tree_sums_add(struct tree_sums *s, size_t worker)
{
    struct worker *w = &s->workers[worker];
    push(&w->stack, w->next, w->next + 1, w->sums[w->stack.count]);
    for (w->next++; joins(&w->stack, s->leaves); join(&w->stack))
        s->add_up(w->stack.node[w->stack.count - 2].sum, w->stack.node[w->stack.count - 1].sum, s->width);
}

static sotto_status join_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct tree_sums *s = arg;
    const size_t first = chunk * CHUNK, left = s->width - first;
    for (size_t i = 0; i < s->join_count; i++)
        s->add_up(s->joins[i].to + first, s->joins[i].from + first, left < CHUNK ? left : CHUNK);
    return SOTTO_OK;
}

sotto_status tree_sums_join(struct tree_sums *s, int threads)
{
    if (s->join_count) /* cannot fail */
        (void)par_shares((s->width + CHUNK - 1) / CHUNK, threads, NULL, join_chunk, s);
    return s->team ? join_ranks(s, threads) : SOTTO_OK;
}
