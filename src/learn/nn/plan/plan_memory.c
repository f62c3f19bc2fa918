/* Memory of a plan. Tensors that are never alive together share a slot: without training a result lives until
 * its last reader has run; with training all results live until backward, and gradients share slots instead.
 *
 * plan_memory_place() is the one layout function: it runs on empty arenas to measure, then again to hand out
 * pointers. */
#include "nn/plan/plan.h"

#include "nn/layer/residual_noise.h"

enum { SLOTS_MAX = 64 };
/* What is alive within one pass only; a plan that works in several memories has it once, but for a network with rows that
 * cross leaves: their passes wait for each other half-way. */
struct slots {
    size_t bytes[SLOTS_MAX];
    int users[SLOTS_MAX];
    size_t count;
};

/* The free slot that needs to grow least, or a new one. Sharing is only a saving: when all are busy the
 * answer is -1 and the caller gives the tensor memory of its own. */
static int slot_take(struct slots *s, size_t bytes)
{
    int best = -1;
    for (size_t i = 0; i < s->count; i++)
        if (!s->users[i] && (best < 0 || s->bytes[i] > s->bytes[best]))
            best = (int)i;
    if (best < 0 && s->count < SLOTS_MAX)
        best = (int)s->count++;
    if (best >= 0) {
        s->users[best] = 1;
        s->bytes[best] = bytes > s->bytes[best] ? bytes : s->bytes[best];
    }
    return best;
}

static void slot_release(struct slots *s, int slot)
{
    if (slot >= 0)
        s->users[slot]--;
}

struct assignment {
    struct slots slots;
    int of[MODEL_ROWS_MAX];   /* slot of a row's result or gradient; -1: its own memory */
    int like[MODEL_ROWS_MAX]; /* gradient of a row: the same memory as this later row's, or -1 */
    size_t spare;             /* bytes */
};

static size_t activation_bytes(const struct activation *t)
{
    return t->count * dtype_size(t->dtype); /* checked in plan.c */
}

/* Without training: a result's slot is free again after its last reader. Rows read from outside keep their
 * own memory. */
static void assign_results(struct assignment *a, struct nn_plan *p)
{
    int last_reader[MODEL_ROWS_MAX];
    for (int i = 0; i < (int)p->row_count; i++) {
        const struct layer_spec *spec = &p->model->rows[i];
        last_reader[i] = i;
        if (spec->src >= 0)
            last_reader[spec->src] = i;
        if (spec->residual >= 0)
            last_reader[spec->residual] = i;
        if (p->runs[i].norm_before) /* it reads the source of that norm */
            last_reader[p->model->rows[spec->src].src] = i;
    }
    for (int i = 0; i < (int)p->row_count; i++) {
        const bool own = plan_ends(p, i) || p->runs[i].shared.result; /* or nowhere */
        a->of[i] = own ? -1 : slot_take(&a->slots, activation_bytes(plan_activation(p, i)));
        for (int j = 0; j <= i; j++)
            if (last_reader[j] == i)
                slot_release(&a->slots, a->of[j]);
    }
}

/* Is row i the last one that reads this gradient? */
static int is_last_user(const struct assignment *a, int i)
{
    return a->of[i] >= 0 && a->slots.users[a->of[i]] == 1;
}

/* The first gradient of row j comes from row i: in memory of its own, or that of row i. */
static void first_gradient(struct assignment *a, struct nn_plan *p, int j, int i, int shares)
{
    if (!shares)
        a->of[j] = slot_take(&a->slots, activation_bytes(plan_activation(p, j)));
    else {
        a->like[j] = i;
        a->of[j] = a->of[i];
        if (a->of[i] >= 0)
            a->slots.users[a->of[i]]++;
    }
}

/* With training, in backward order: the first writer of a gradient overwrites it, later ones add; the slot is
 * free again once the row itself has run. A residual source shares the gradient of the sum; a layer that can
 * work in place shares it with its source. Fills p->flow on the way. */
static void assign_gradients(struct assignment *a, struct nn_plan *p)
{
    int last = (int)p->row_count - 1, writers[MODEL_ROWS_MAX + 1] = {0}, *written = writers + 1;
    for (int i = 0; i <= last; i++) {
        a->like[i] = -1;
        if (!plan_ends(p, i))
            continue;
        a->of[i] = -1;
        written[i] = 1;
        p->flow[i].mask = 1; /* the loss applies no mask */
    }
    const int frozen = (int)p->model->frozen_rows;
    for (int i = last; i >= frozen; i--) {
        const struct layer_spec *spec = &p->model->rows[i];
        const int sources[2] = {spec->residual, spec->src}; /* in the order of nn_plan_backward */
        for (int k = 0; k < 2; k++) {
            int j = sources[k];
            if (j == SOURCE_NONE || (j == SOURCE_INPUT && !p->config.input_gradient) ||
                (j >= 0 && j < frozen) || (k == 1 && !p->runs[i].need_diff_src))
                continue;
            if (!written[j]) {
                int kept = p->runs[i].keep_diff || j == SOURCE_INPUT;
                if (j != SOURCE_INPUT) /* the input's gradient has memory of its own */
                    first_gradient(a, p, j, i,
                                   !kept && (k == 0 || (spec->layer->in_place && is_last_user(a, i))));
                if (k == 0)
                    p->flow[i].copy_residual = kept;
            } else if (k == 0)
                p->flow[i].add_residual = 1;
            else if (p->runs[i].can_add)
                p->runs[i].add_diff_src = 1;
            else {
                p->flow[i].add_src = 1;
                if (activation_bytes(plan_activation(p, j)) > a->spare)
                    a->spare = activation_bytes(plan_activation(p, j));
            }
            written[j] = 1;
            if (j >= 0 && (k == 0 || !spec->layer->fuses_mask))
                p->flow[j].mask = 1;
        }
        if (!p->runs[i].keep_diff) /* else the slot stays taken */
            slot_release(&a->slots, a->of[i]);
    }
}

static void place_norms(struct nn_plan *p)
{
    size_t examples = plan_examples(p);
    p->square = arena_take(&p->keep, p->row_count * examples, sizeof *p->square);
    p->excess = arena_take(&p->keep, p->row_count * examples, sizeof *p->excess);
    p->factor = arena_take(&p->keep, p->row_count * examples, sizeof *p->factor);
    p->norm = arena_take(&p->keep, examples, sizeof *p->norm);
}

static bool leaves_wait(const struct nn_plan *p, size_t row)
{
    return plan_crosses(p, row) || plan_noise_crosses(p, row);
}

static bool plan_memory_crosses(const struct nn_plan *p)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (leaves_wait(p, i))
            return true;
    return false;
}

/* What layers make of weights lasts while all leaves pass them (pass.weights): where leaves wait for each other, all that comes
 * behind has the same memory. */
static void place_lasting(struct nn_plan *p)
{
    const size_t first = arena_mark(&p->scratch);
    size_t end = first;
    for (size_t i = 0; p->config.leaves && i < p->row_count; i++) {
        if (p->runs[i].spec->layer->lasting)
            p->runs[i].spec->layer->lasting(&p->runs[i], &p->scratch);
        end = arena_mark(&p->scratch) > end ? arena_mark(&p->scratch) : end;
        if (leaves_wait(p, i))
            arena_rewind(&p->scratch, first);
    }
    (void)arena_take(&p->scratch, end - arena_mark(&p->scratch), 1);
}

static void plan_memory_place(struct nn_plan *p)
{
    const struct assignment *a = p->assignment;
    struct arena *alive = plan_memory_crosses(p) ? &p->keep : &p->scratch;
    void *slots[SLOTS_MAX];
    int last = (int)p->row_count - 1;
    struct activation *in = plan_activation(p, SOURCE_INPUT), *out = plan_output(p);
    for (size_t s = 0; s < a->slots.count; s++)
        slots[s] = arena_take(alive, a->slots.bytes[s], 1);
    p->spare = arena_take(&p->scratch, a->spare, 1);
    in->data = arena_take(&p->keep, activation_bytes(in), 1);
    p->input = in->dtype == NN_F32 ? in->data : arena_take(&p->keep, in->count, sizeof(float));
    if (p->config.input_gradient) {
        in->diff = arena_take(&p->keep, activation_bytes(in), 1);
        p->diff_input = in->dtype == NN_F32 ? in->diff : arena_take(&p->keep, in->count, sizeof(float));
    }
    for (int i = last; i >= 0; i--) { /* backwards: a gradient may lie in that of a later row */
        struct activation *t = plan_activation(p, i);
        int shares = !p->config.training && a->of[i] >= 0;
        if (p->runs[i].shared.result)
            t->data = NULL;
        else
            t->data = shares ? slots[a->of[i]] : arena_take(&p->keep, activation_bytes(t), 1);
        if (!p->config.training || i < (int)p->model->frozen_rows)
            continue;
        if (a->of[i] >= 0)
            t->diff = slots[a->of[i]];
        else
            t->diff = a->like[i] >= 0 ? plan_activation(p, a->like[i])->diff
                                      : arena_take(&p->keep, activation_bytes(t), 1);
    }
    p->output = out->dtype == NN_F32 ? out->data : arena_take(&p->keep, out->count, sizeof(float));
    if (p->config.training)
        p->diff_output = out->dtype == NN_F32 ? out->diff : arena_take(&p->keep, out->count, sizeof(float));
    if (p->config.views)
        place_norms(p);
    place_lasting(p);
    for (int i = 0; i <= last; i++) {
        size_t mark = arena_mark(&p->scratch);
        if (p->runs[i].spec->noise.relative)
            p->runs[i].noise_parts =
                arena_take(&p->keep, residual_noise_parts(p->runs[i].dst->count), sizeof(double));
        if (p->runs[i].spec->layer->layout)
            p->runs[i].spec->layer->layout(&p->runs[i], &p->keep, &p->scratch);
        arena_rewind(&p->scratch, mark);
    }
}

sotto_status plan_memory(struct nn_plan *p)
{
    sotto_status status = SOTTO_OK;
    NEW(p->assignment, 1);
    if (p->config.training)
        assign_gradients(p->assignment, p);
    else
        assign_results(p->assignment, p);
    plan_memory_place(p);
    TRY(arena_reserve_asking(&p->keep, "training plan", p->config.ctx));
    TRY(arena_reserve_asking(&p->scratch, "training plan, scratch", p->config.ctx));
    plan_memory_place(p);
done:
    return status;
}

void plan_place_again(struct nn_plan *p)
{
    arena_rewind(&p->keep, 0);
    arena_rewind(&p->scratch, 0);
    plan_memory_place(p);
}
