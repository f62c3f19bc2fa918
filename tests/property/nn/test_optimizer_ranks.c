/* An optimizer in segments, one for each rank: the bits of one process alone, by the gradient of each rank's segment alone; each
 * rank's share of state and bytes; checkpoints of one process's bytes, which any number of ranks continues. f32, the best
 * instruction set, one thread a rank; ranks are threads here. */
#include "support/test.h"
#include "support/simulated_ranks.h"
#include "nn/optimizer/optimizer.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 16384, TENSORS = 5, STEPS = 4, MOST_RANKS = 7 };

/* Between tensors are gaps, as of values that are frozen: of 0, some and many elements. 5 chunks, or less than one. */
struct layout {
    size_t start[TENSORS], count[TENSORS], width;
};
static const struct layout layouts[] = {
    {{0, 20000, 50016, 50064, 50080}, {20000, 30001, 33, 3, 25000}, 75080},
    {{0, 16, 48, 208, 320}, {5, 30, 150, 1, 180}, 500},
};
static const struct nn_optimizer_config kinds[] = {
    {.name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7, .weight_decay = 0.01},
    {.name = "sgd", .momentum = 0.9, .nesterov = 1, .weight_decay = 0.01},
};
static const size_t states[] = {2, 1};

struct world {
    const struct layout *layout;
    float *values, *grad;
    struct tensor tensors[TENSORS];
    struct tensor_list list;
};

static void open_world(struct world *w, const struct layout *l)
{
    static const char *const names[TENSORS] = {"a", "b", "c", "d", "e"};
    *w = (struct world){.layout = l, .list = {w->tensors, TENSORS}};
    w->values = calloc(l->width, sizeof(float));
    w->grad = calloc(l->width, sizeof(float));
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (size_t i = 0; i < l->width; i++)
        w->values[i] = (float)rng_normal(&r);
    for (size_t t = 0; t < TENSORS; t++)
        w->tensors[t] =
            (struct tensor){names[t], w->values + l->start[t], w->grad + l->start[t], l->count[t]};
}

static void close_world(struct world *w)
{
    free(w->values);
    free(w->grad);
}

/* Elements first .. end - 1 have a gradient; the others' would spoil everything. */
static void step(struct world *w, struct nn_optimizer *o, int number, size_t first, size_t end)
{
    struct rng r = rng_stream(4, RNG_TEST, (uint64_t)number, 0);
    for (size_t i = 0; i < w->layout->width; i++) {
        const float g = (float)ldexp(rng_normal(&r), (int)(i % 9) - 4);
        w->grad[i] = i >= first && i < end ? g : NAN;
    }
    optimizer_step(o, &w->list, 0.01 / (1 + number));
}

/* What a run of so many steps alone ends with. */
struct expected {
    float *values;
    struct sotto_tensors state;
};

static void run_alone(struct expected *out, const struct layout *l, const struct nn_optimizer_config *kind,
                      int steps)
{
    struct world w;
    struct nn_optimizer *o = NULL;
    open_world(&w, l);
    assert_int_equal(optimizer_create(&o, &w.list, kind), SOTTO_OK);
    for (int s = 0; s < steps; s++)
        step(&w, o, s, 0, l->width);
    *out = (struct expected){.values = w.values};
    assert_int_equal(nn_optimizer_export(&out->state, o, "optimizer."), SOTTO_OK);
    nn_optimizer_free(o);
    free(w.grad);
}

static void clear_expected(struct expected *e)
{
    free(e->values);
    sotto_tensors_clear(&e->state);
}

static bool same_tensors(const struct sotto_tensors *a, const struct sotto_tensors *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        const struct sotto_array *x = &a->items[i].array, *y = &b->items[i].array;
        same = strcmp(a->items[i].name, b->items[i].name) == 0 && x->dtype == y->dtype &&
               x->count == y->count && memcmp(x->data, y->data, x->count * sotto_dtype_size(x->dtype)) == 0;
    }
    return same;
}

/* A run on ranks from step `from`, continued from a state and values alone had then. */
struct plan {
    size_t layout, kind;
    int from;
    const struct expected *start; /* NULL: from the beginning */
    const struct expected *end;
    size_t bytes[MOST_RANKS]; /* out: of each rank's state */
    bool wrong_segment;       /* the gradient is that of another rank's segment */
};

static size_t border(size_t rank, size_t ranks, size_t width)
{
    const size_t chunks = (width + CHUNK - 1) / CHUNK;
    return rank == ranks ? width : chunks * rank / ranks * CHUNK;
}

static const char *take_steps(struct world *w, struct nn_optimizer *o, const struct sotto_team *team,
                              const struct plan *p)
{
    const size_t ranks = sotto_team_size(team), rank = (sotto_team_rank(team) + p->wrong_segment) % ranks,
                 width = w->layout->width, first = border(rank, ranks, width),
                 end = border(rank + 1, ranks, width);
    for (int s = p->from; s < STEPS; s++) {
        const uint64_t before = team_traffic(team).bytes;
        step(w, o, s, first, end);
        if (!p->wrong_segment && ranks > 1 &&
            team_traffic(team).bytes - before != 4 * (width - (end - first)))
            return "another number of bytes in a step";
    }
    return NULL;
}

static const char *check_state(struct nn_optimizer *o, const struct sotto_team *team, const struct plan *p)
{
    struct sotto_tensors found = {0};
    const char *wrong = NULL;
    if (nn_optimizer_gather(o) != SOTTO_OK)
        return "no state of all ranks";
    if (sotto_team_rank(team) == 0) {
        if (nn_optimizer_export(&found, o, "optimizer.") != SOTTO_OK)
            wrong = sotto_error_text();
        else if (!same_tensors(&found, &p->end->state))
            wrong = "another state";
    }
    sotto_tensors_clear(&found);
    nn_optimizer_drop(o);
    return wrong;
}

/* Before the first step there is nothing to gather; after it a segment is not a state. */
static const char *export_alone(const struct nn_optimizer *o, bool began)
{
    struct sotto_tensors found = {0};
    const char *wrong = NULL;
    const sotto_status status = nn_optimizer_export(&found, o, "optimizer.");
    if (status != (began ? SOTTO_EINTERNAL : SOTTO_OK))
        wrong = "exporting alone gave another status";
    for (size_t i = 0; !wrong && !began && i < found.count; i++)
        for (size_t k = 0; k < found.items[i].array.count * sizeof(float); k++)
            if (((const char *)found.items[i].array.data)[k])
                wrong = "a state before the first step";
    if (!began && found.count != 1 + TENSORS * states[0] && found.count != 1 + TENSORS * states[1])
        wrong = "another number of tensors";
    sotto_tensors_clear(&found);
    return wrong;
}

static const char *run_on_rank(const struct sotto_team *team, void *state)
{
    struct plan *p = state;
    const struct layout *l = &layouts[p->layout];
    struct nn_optimizer_config kind = kinds[p->kind];
    struct nn_optimizer *o = NULL;
    struct world w;
    const char *wrong = NULL;
    sotto_status status;
    kind.team = team;
    open_world(&w, l);
    status = optimizer_create(&o, &w.list, &kind);
    if (status == SOTTO_OK && p->start) {
        memcpy(w.values, p->start->values, l->width * sizeof *w.values);
        if (sotto_team_rank(team) == 0)
            status = nn_optimizer_import(o, &p->start->state, "optimizer.");
        if (team_agree(team, status) == SOTTO_OK)
            status = nn_optimizer_share(o, team);
    }
    if (status != SOTTO_OK)
        wrong = sotto_error_text();
    else {
        p->bytes[sotto_team_rank(team)] = nn_optimizer_bytes(o);
        wrong = p->start ? NULL : export_alone(o, false);
        if (!wrong)
            wrong = take_steps(&w, o, team, p);
        if (!wrong && sotto_team_size(team) > 1)
            wrong = export_alone(o, true);
    }
    if (!wrong && memcmp(w.values, p->end->values, l->width * sizeof *w.values) != 0)
        wrong = "other values";
    if (!wrong)
        wrong = check_state(o, team, p);
    nn_optimizer_free(o);
    close_world(&w);
    return p->wrong_segment && wrong && strcmp(wrong, "other values") == 0 ? NULL : wrong;
}

TEST(ranks_change_no_bit)
{
    for (size_t i = 0; i < 4; i++) {
        struct expected end;
        struct plan p = {.layout = i / 2, .kind = i % 2, .end = &end};
        const size_t width = layouts[p.layout].width, chunks = (width + CHUNK - 1) / CHUNK;
        run_alone(&end, &layouts[p.layout], &kinds[p.kind], STEPS);
        for (size_t ranks = 1; ranks <= MOST_RANKS; ranks++) {
            size_t all = 0;
            simulated_ranks(ranks, 0, run_on_rank, &p);
            for (size_t r = 0; r < ranks; r++) {
                assert_true(p.bytes[r] <= 4 * states[p.kind] * CHUNK * ((chunks + ranks - 1) / ranks));
                all += p.bytes[r];
            }
            if (ranks > 1) /* each element is on one rank; alone there are no gaps */
                assert_int_equal(all, 4 * states[p.kind] * width);
        }
        clear_expected(&end);
    }
}

/* Control. */
TEST(the_gradient_of_another_segment_does_not_do)
{
    struct expected end;
    struct plan p = {.end = &end, .wrong_segment = true};
    run_alone(&end, &layouts[0], &kinds[0], STEPS);
    for (size_t ranks = 2; ranks <= 5; ranks++)
        simulated_ranks(ranks, 0, run_on_rank, &p);
    clear_expected(&end);
}

/* From a state of one process, as its checkpoint has it, on any number of ranks. */
TEST(any_number_of_ranks_goes_on)
{
    for (size_t i = 0; i < 4; i++) {
        struct expected start, end;
        struct plan p = {.layout = i / 2, .kind = i % 2, .from = 2, .start = &start, .end = &end};
        run_alone(&start, &layouts[p.layout], &kinds[p.kind], 2);
        run_alone(&end, &layouts[p.layout], &kinds[p.kind], STEPS);
        for (size_t ranks = 1; ranks <= MOST_RANKS; ranks += 1 + ranks / 3)
            simulated_ranks(ranks, 0, run_on_rank, &p);
        clear_expected(&start);
        clear_expected(&end);
    }
}

static const char *lack_memory(const struct sotto_team *team, void *state)
{
    (void)state;
    struct nn_optimizer_config kind = kinds[0];
    struct nn_optimizer *o = NULL;
    struct world w;
    kind.team = team;
    open_world(&w, &layouts[0]);
    if (optimizer_create(&o, &w.list, &kind) != SOTTO_OK || team_agree(team, SOTTO_OK) != SOTTO_OK)
        return "no optimizer";
    if (sotto_team_rank(team) == 0)
        base_alloc_fail_after(0);
    const sotto_status status = nn_optimizer_gather(o);
    if (sotto_team_rank(team) == 0)
        base_alloc_fail_after(-1);
    nn_optimizer_free(o);
    close_world(&w);
    return status == SOTTO_ENOMEM ? NULL : "no failure of all";
}

TEST(memory_for_a_checkpoint_that_rank_0_lacks_is_an_error_of_all)
{
    simulated_ranks(3, 0, lack_memory, NULL);
}

TEST_GROUP(.tags = "matrix")
