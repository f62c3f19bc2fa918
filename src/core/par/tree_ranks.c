/* Where ranks and leaves are powers of two, each rank has one node, and pairs of neighbours have the two sides of one: so they
 * halve (distance 1, 2, 4, ...), each sending the other's half of what both still hold, and add exactly the nodes of the tree in
 * log2 R messages. Else a rank gets its segment of all ranks' nodes, and joins them. Both ways a rank receives P (R - 1) / R
 * elements where each has one node. */
#include "par/tree_ranks.h"

#include "par/par.h"
#include "par/tree_add.h"
#include "par/tree_private.h"

#include <string.h>

enum { CHUNK = 16384 };

/* A run of the vector that goes through a message. */
struct piece {
    size_t first, width; /* in the vector */
    size_t at;           /* in the message */
};
struct rank_sums {
    const struct sotto_team *team;
    size_t rank, ranks, leaves;
    float *vector;
    struct tree_part *parts;
    size_t part_count;
    size_t *borders, *nodes;   /* (ranks + 1) segments; rank r has nodes nodes[r] .. of all */
    struct tree_join *joins;   /* of all ranks' nodes */
    size_t join_count, widest; /* widest: of a segment */
    bool halves;
    struct piece *pieces; /* (ranks) */
    size_t piece_count;
    float *received, *packed;
    size_t own; /* of the running sum: elements of the own segment */
    struct arena memory;
    tree_adder *add_up;
};

void tree_segments(size_t *borders, size_t width, size_t ranks)
{
    const size_t chunks = (width + CHUNK - 1) / CHUNK;
    for (size_t r = 0; r < ranks; r++)
        borders[r] = tree_first(r, ranks, chunks) * CHUNK;
    borders[ranks] = width;
}

/* ---- making ---- */

/* Nodes of all ranks, as they lie, and what is to be added then. */
static sotto_status list_joins(struct rank_sums *s)
{
    sotto_status status = SOTTO_OK;
    struct tree_stack *of_rank = NULL, *all = NULL;
    NEW(of_rank, 1);
    NEW(all, 1);
    NEW(s->joins, s->leaves);
    for (size_t r = 0; r < s->ranks; r++) {
        (void)tree_stack_run(of_rank, tree_first(r, s->ranks, s->leaves),
                             tree_first(r + 1, s->ranks, s->leaves), s->leaves);
        s->nodes[r + 1] = s->nodes[r] + of_rank->count;
        for (size_t i = 0; i < of_rank->count; i++) {
            struct tree_node n = of_rank->node[i];
            n.place = s->nodes[r] + i;
            tree_stack_push(all, &n, s->leaves, s->joins, &s->join_count);
        }
    }
done:
    base_free(of_rank);
    base_free(all);
    return status;
}

static bool is_power_of_two(size_t n)
{
    return (n & (n - 1)) == 0;
}

/* Segments of the ranks that are equal to `like` in the bits of the mask, without what lies before `from`. Returns their width. */
static size_t list_pieces(struct rank_sums *s, size_t like, size_t mask, size_t from)
{
    size_t at = 0;
    s->piece_count = 0;
    for (size_t r = like & mask; r < s->ranks; r += mask + 1) {
        const size_t first = s->borders[r] > from ? s->borders[r] : from, end = s->borders[r + 1];
        if (first >= end)
            continue;
        s->pieces[s->piece_count++] = (struct piece){first, end - first, at};
        at += end - first;
    }
    return at;
}

/* Of those that halve no message is larger than what they still hold after the first, or send in it. */
static void tree_ranks_place(struct rank_sums *s)
{
    const size_t own = s->borders[s->rank + 1] - s->borders[s->rank],
                 mine = s->nodes[s->rank + 1] - s->nodes[s->rank];
    size_t received = s->nodes[s->ranks] * own, packed = mine * s->widest;
    if (s->halves) {
        const size_t sent = list_pieces(s, s->rank ^ 1, 1, 0);
        received = list_pieces(s, s->rank, 1, 0);
        packed = sent > received ? sent : received;
    }
    s->received = arena_take(&s->memory, received, sizeof(float));
    s->packed = arena_take(&s->memory, packed, sizeof(float));
}

static sotto_status tree_ranks_make(struct rank_sums *s, size_t first, size_t width,
                                    const struct tree_part *parts)
{
    sotto_status status = SOTTO_OK;
    NEW(s->parts, s->part_count);
    memcpy(s->parts, parts, s->part_count * sizeof *parts);
    NEW(s->borders, s->ranks + 1);
    NEW(s->nodes, s->ranks + 1);
    NEW(s->pieces, s->ranks);
    tree_segments(s->borders, width, s->ranks);
    for (size_t r = 0; r <= s->ranks; r++)
        s->borders[r] += first;
    for (size_t r = 0; r < s->ranks; r++)
        s->widest =
            s->borders[r + 1] - s->borders[r] > s->widest ? s->borders[r + 1] - s->borders[r] : s->widest;
    TRY(list_joins(s));
    tree_ranks_place(s);
    TRY(arena_reserve(&s->memory, "sums over ranks"));
    tree_ranks_place(s);
done:
    return status;
}

sotto_status rank_sums_create(struct rank_sums **out, float *vector, size_t first, size_t width,
                              const struct tree_part *parts, size_t part_count, size_t leaves,
                              const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    struct rank_sums *s = NULL;
    NEW(s, 1);
    *s = (struct rank_sums){.team = team,
                            .rank = sotto_team_rank(team),
                            .ranks = sotto_team_size(team),
                            .leaves = leaves,
                            .vector = vector,
                            .part_count = part_count,
                            .add_up = tree_add_best()};
    s->halves = is_power_of_two(s->ranks) && is_power_of_two(leaves);
    TRY(tree_ranks_make(s, first, width, parts));
    *out = s;
    s = NULL;
done:
    rank_sums_free(s);
    return status;
}

void rank_sums_free(struct rank_sums *s)
{
    if (!s)
        return;
    arena_clear(&s->memory);
    base_free(s->parts);
    base_free(s->borders);
    base_free(s->nodes);
    base_free(s->joins);
    base_free(s->pieces);
    base_free(s);
}

size_t rank_sums_bytes(const struct rank_sums *s)
{
    return s->memory.capacity;
}

/* ---- halving ---- */

/* Adds what was received, chunk by chunk of the message. */
static sotto_status add_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct rank_sums *s = arg;
    const size_t first = chunk * CHUNK, end = first + CHUNK;
    for (size_t i = 0; i < s->piece_count; i++) {
        const struct piece *p = &s->pieces[i];
        const size_t low = p->at > first ? p->at : first,
                     high = p->at + p->width < end ? p->at + p->width : end;
        if (low < high)
            s->add_up(s->vector + p->first + (low - p->at), s->received + low, high - low);
    }
    return SOTTO_OK;
}

static sotto_status tree_ranks_halve(struct rank_sums *s, size_t from, int threads)
{
    sotto_status status = SOTTO_OK;
    for (size_t distance = 1; distance < s->ranks; distance *= 2) {
        const size_t other = s->rank ^ distance, mask = 2 * distance - 1;
        const size_t away = list_pieces(s, other, mask, from);
        for (size_t i = 0; i < s->piece_count; i++)
            memcpy(s->packed + s->pieces[i].at, s->vector + s->pieces[i].first,
                   s->pieces[i].width * sizeof *s->packed);
        const size_t kept = list_pieces(s, s->rank, mask, from);
        TRY(team_exchange(s->team, s->packed, away * sizeof *s->packed, other, s->received,
                          kept * sizeof *s->received, other));
        if (kept) /* cannot fail */
            (void)par_shares((kept + CHUNK - 1) / CHUNK, threads, NULL, add_chunk, s);
    }
done:
    return status;
}

/* ---- segments of all nodes ---- */

/* Elements first .. end - 1 of the own node i, which lies in pieces. */
static void copy_node(float *to, const struct rank_sums *s, size_t i, size_t first, size_t end)
{
    for (size_t p = 0; p < s->part_count; p++) {
        const struct tree_part *part = &s->parts[p];
        const size_t behind = part->first + tree_sums_width(part->sums),
                     low = part->first > first ? part->first : first, high = behind < end ? behind : end;
        if (low < high)
            memcpy(to + (low - first), tree_sums_node(part->sums, i) + (low - part->first),
                   (high - low) * sizeof *to);
    }
}

static sotto_status join_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct rank_sums *s = arg;
    const size_t first = chunk * CHUNK, left = s->own - first, width = left < CHUNK ? left : CHUNK;
    for (size_t i = 0; i < s->join_count; i++)
        s->add_up(s->received + s->joins[i].to * s->own + first,
                  s->received + s->joins[i].from * s->own + first, width);
    return SOTTO_OK;
}

static size_t segment_from(const struct rank_sums *s, size_t rank, size_t from)
{
    const size_t first = s->borders[rank] > from ? s->borders[rank] : from;
    return first < s->borders[rank + 1] ? first : s->borders[rank + 1];
}

/* A message each way with each rank. */
static sotto_status exchange_nodes(struct rank_sums *s, size_t from)
{
    sotto_status status = SOTTO_OK;
    const size_t mine = s->nodes[s->rank + 1] - s->nodes[s->rank], first = segment_from(s, s->rank, from);
    for (size_t i = 0; i < mine; i++)
        copy_node(s->received + (s->nodes[s->rank] + i) * s->own, s, i, first, first + s->own);
    for (size_t d = 1; d < s->ranks; d++) {
        const size_t to = (s->rank + d) % s->ranks, of = (s->rank + s->ranks - d) % s->ranks,
                     begin = segment_from(s, to, from), width = s->borders[to + 1] - begin;
        for (size_t i = 0; i < mine; i++)
            copy_node(s->packed + i * width, s, i, begin, begin + width);
        TRY(team_exchange(s->team, s->packed, mine * width * sizeof *s->packed, to,
                          s->received + s->nodes[of] * s->own,
                          (s->nodes[of + 1] - s->nodes[of]) * s->own * sizeof *s->received, of));
    }
done:
    return status;
}

static sotto_status join_segments(struct rank_sums *s, size_t from, int threads)
{
    sotto_status status = SOTTO_OK;
    const size_t first = segment_from(s, s->rank, from);
    s->own = s->borders[s->rank + 1] - first;
    TRY(exchange_nodes(s, from));
    if (s->own) /* cannot fail */
        (void)par_shares((s->own + CHUNK - 1) / CHUNK, threads, NULL, join_chunk, s);
    memcpy(s->vector + first, s->received, s->own * sizeof *s->vector);
done:
    return status;
}

sotto_status rank_sums_join(struct rank_sums *s, size_t from, int threads)
{
    if (!s)
        return SOTTO_OK;
    return s->halves ? tree_ranks_halve(s, from, threads) : join_segments(s, from, threads);
}
