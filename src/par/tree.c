/* A worker keeps a stack of whole nodes: two that are siblings become one at once, in the memory of the left one. So
 * worker 0 ends with its sum in the place of the total, and joining adds everything else to that. */
#include "par/tree.h"

#include "par/par.h"
#include "par/tree_add.h"

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
    struct worker *workers;
    struct join *joins;
    struct arena memory;
    tree_adder *add_up;
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

static void place(struct tree_sums *s, float *total)
{
    for (size_t k = 0; k < s->worker_count; k++)
        for (size_t i = 0; i < s->workers[k].places; i++)
            s->workers[k].sums[i] =
                k == 0 && i == 0 ? total : arena_take(&s->memory, s->width, sizeof(float));
}

static void rehearse_all(struct tree_sums *s)
{
    for (size_t k = 0; k < s->worker_count; k++)
        rehearse(&s->workers[k], tree_first(k, s->worker_count, s->leaves),
                 tree_first(k + 1, s->worker_count, s->leaves), s->leaves);
}

/* What is left to add, in the order in which the nodes lie. */
static void list_joins(struct tree_sums *s)
{
    struct stack all = {.count = 0};
    for (size_t k = 0; k < s->worker_count; k++)
        for (size_t i = 0; i < s->workers[k].stack.count; i++) {
            const struct node *n = &s->workers[k].stack.node[i];
            push(&all, n->first, n->end, n->sum);
            for (; joins(&all, s->leaves); join(&all))
                s->joins[s->join_count++] =
                    (struct join){all.node[all.count - 2].sum, all.node[all.count - 1].sum};
        }
}

sotto_status tree_sums_create(struct tree_sums **out, float *total, size_t width, size_t leaves,
                              size_t workers)
{
    sotto_status status = SOTTO_OK;
    struct tree_sums *s = NULL;
    NEW(s, 1);
    s->width = width;
    s->add_up = tree_add_best();
    s->leaves = leaves;
    s->worker_count = workers;
    NEW(s->workers, workers);
    NEW(s->joins, leaves);
    rehearse_all(s);
    place(s, total);
    TRY(arena_reserve(&s->memory, "gradients of leaves"));
    place(s, total);
    rehearse_all(s); /* with addresses */
    list_joins(s);
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
    w->next = tree_first(worker, s->worker_count, s->leaves);
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

void tree_sums_join(struct tree_sums *s, int threads)
{
    if (s->join_count) /* cannot fail */
        (void)par_shares((s->width + CHUNK - 1) / CHUNK, threads, NULL, join_chunk, s);
}
