/* A worker keeps a stack of whole nodes: two that are siblings become one at once, in the memory of the left one. So
 * worker 0 ends with its sum in the place of the total, and joining adds everything else to that. A rank of a team ends with
 * the largest whole nodes of its leaves: one where ranks and leaves are powers of two, else at most two for each level. */
#include "par/tree_private.h"

#include "par/par.h"
#include "par/tree_add.h"

enum { CHUNK = 16384 };

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

/* ---- stacks of nodes ---- */

/* Are the last two on it the sides of one node? */
static bool tree_joins(const struct tree_stack *s, size_t leaves)
{
    const struct tree_node *last = &s->node[s->count - 1];
    return s->count > 1 && tree_siblings(last[-1].first, last->first, last->end, leaves);
}

void tree_stack_push(struct tree_stack *s, const struct tree_node *n, size_t leaves, struct tree_join *list,
                     size_t *list_count)
{
    s->node[s->count++] = *n;
    for (; tree_joins(s, leaves); s->count--) {
        struct tree_node *left = &s->node[s->count - 2], *right = left + 1;
        left->end = right->end;
        if (list)
            list[(*list_count)++] = (struct tree_join){left->place, right->place};
    }
}

size_t tree_stack_run(struct tree_stack *s, size_t first, size_t end, size_t leaves)
{
    size_t places = 1;
    s->count = 0;
    for (size_t i = first; i < end; i++) {
        places = s->count + 1 > places ? s->count + 1 : places;
        tree_stack_push(s, &(struct tree_node){i, i + 1, s->count}, leaves, NULL, NULL);
    }
    return places;
}

/* ---- sums ---- */

struct worker {
    struct tree_stack stack;
    size_t first_place, next; /* next: its next leaf */
};
struct place {
    bool lasts; /* until the ranks' sums are joined */
    size_t at;  /* floats, in the sums' own memory or in the room */
};
struct tree_sums {
    size_t width, leaves, worker_count, join_count;
    size_t first, end; /* this rank's leaves */
    struct worker *workers;
    float *total;
    struct place *places; /* where sums lie; place 0 is the total */
    struct arena *room;
    struct tree_join *joins;
    struct tree_stack rest; /* whole nodes that are left then */
    struct arena own;
    tree_adder *add_up;
};

ISA_TABLE(tree_adder, tree_add, tree_add_best);

static size_t worker_first(const struct tree_sums *s, size_t worker)
{
    return s->first + tree_first(worker, s->worker_count, s->end - s->first);
}

/* Which places each worker needs, and what is left to add when all are done, in the order in which the nodes lie. Returns how
 * many places there are. */
static size_t tree_rehearse(struct tree_sums *s)
{
    size_t places = 0;
    for (size_t k = 0; k < s->worker_count; k++) {
        struct worker *w = &s->workers[k];
        w->first_place = places;
        places += tree_stack_run(&w->stack, worker_first(s, k), worker_first(s, k + 1), s->leaves);
        for (size_t i = 0; i < w->stack.count; i++) {
            w->stack.node[i].place += w->first_place;
            tree_stack_push(&s->rest, &w->stack.node[i], s->leaves, s->joins, &s->join_count);
        }
    }
    return places;
}

static float *sum_at(const struct tree_sums *s, size_t place)
{
    const struct place *p = &s->places[place];
    return place == 0 ? s->total : (float *)(p->lasts ? &s->own : s->room)->base + p->at;
}

static sotto_status tree_need(struct arena *room, size_t floats)
{
    sotto_status status = SOTTO_OK;
    if (floats == 0 || floats * sizeof(float) <= room->capacity)
        goto done;
    arena_clear(room);
    (void)arena_take(room, floats, sizeof(float));
    TRY(arena_reserve(room, "gradients of leaves"));
done:
    return status;
}

/* What is left on a rank of a team lasts; all else is in the room. */
static sotto_status make_places(struct tree_sums *s, size_t places)
{
    enum { LINE = 16 };
    sotto_status status = SOTTO_OK;
    const size_t stride = (s->width + LINE - 1) / LINE * LINE;
    size_t own = 0, room = 0;
    NEW(s->places, places);
    for (size_t i = 0; i < s->rest.count; i++)
        s->places[s->rest.node[i].place].lasts = true;
    for (size_t i = 1; i < places; i++) {
        size_t *end = s->places[i].lasts || s->room == &s->own ? &own : &room;
        s->places[i].at = *end;
        *end += stride;
    }
    TRY(tree_need(&s->own, own));
    TRY(tree_need(s->room, room));
done:
    return status;
}

sotto_status tree_sums_create(struct tree_sums **out, float *total, size_t width, size_t leaves,
                              size_t workers, const struct sotto_team *team, struct arena *room)
{
    sotto_status status = SOTTO_OK;
    struct tree_sums *s = NULL;
    const size_t rank = sotto_team_rank(team), ranks = sotto_team_size(team);
    NEW(s, 1);
    s->total = total;
    s->width = width;
    s->room = room ? room : &s->own;
    s->add_up = tree_add_best();
    s->leaves = leaves;
    s->worker_count = workers;
    s->first = tree_first(rank, ranks, leaves);
    s->end = tree_first(rank + 1, ranks, leaves);
    NEW(s->workers, workers);
    NEW(s->joins, leaves);
    TRY(make_places(s, tree_rehearse(s)));
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
    arena_clear(&s->own);
    base_free(s->workers);
    base_free(s->joins);
    base_free(s->places);
    base_free(s);
}

size_t tree_sums_bytes(const struct tree_sums *s)
{
    return s->own.capacity;
}

size_t tree_sums_width(const struct tree_sums *s)
{
    return s->width;
}

void tree_sums_begin(struct tree_sums *s, size_t worker)
{
    struct worker *w = &s->workers[worker];
    w->stack.count = 0;
    w->next = worker_first(s, worker);
}

static size_t next_place(const struct worker *w)
{
    return w->first_place + w->stack.count;
}

float *tree_sums_next(struct tree_sums *s, size_t worker)
{
    return sum_at(s, next_place(&s->workers[worker]));
}

void tree_sums_add(struct tree_sums *s, size_t worker)
{
    struct worker *w = &s->workers[worker];
    struct tree_join todo[64]; /* one for each level */
    size_t count = 0;
    const struct tree_node leaf = {w->next, w->next + 1, next_place(w)};
    w->next++;
    tree_stack_push(&w->stack, &leaf, s->leaves, todo, &count);
    for (size_t i = 0; i < count; i++)
        s->add_up(sum_at(s, todo[i].to), sum_at(s, todo[i].from), s->width);
}

static sotto_status join_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct tree_sums *s = arg;
    const size_t first = chunk * CHUNK, left = s->width - first;
    for (size_t i = 0; i < s->join_count; i++)
        s->add_up(sum_at(s, s->joins[i].to) + first, sum_at(s, s->joins[i].from) + first,
                  left < CHUNK ? left : CHUNK);
    return SOTTO_OK;
}

void tree_sums_join(struct tree_sums *s, int threads)
{
    if (s->join_count) /* cannot fail */
        (void)par_shares((s->width + CHUNK - 1) / CHUNK, threads, NULL, join_chunk, s);
}

const float *tree_sums_node(const struct tree_sums *s, size_t i)
{
    return sum_at(s, s->rest.node[i].place);
}
