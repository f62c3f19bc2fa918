/* Each worker has one plan, with scratch for one leaf at a time; a leaf has only what its way back needs. A rank of a team has
 * its own leaves and all outputs; after each phase the ranks agree that all got so far, and gather what crosses leaves. */
#include "nn/plan/leaves_private.h"

#include "par/tree_ranks.h"
#include "base/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS = 32, LEAVES = 8, FEWEST = 2, LEAVES_WORTH = 4 };
/* Multiplications of a forward pass over a leaf, for each weight: each leaf packs weights and adds up their gradients, which
 * costs some 3 % of a step then (notes/speed.md). */
static const double WORK_WORTH = 600;

/* ---- the order ---- */

/* So many records that a leaf has work for a core, and so few that some cores have a leaf; by the recipe alone. All leaves of
 * about the same size: the last one is filled up. */
static size_t choose_leaf(size_t records, size_t least)
{
    size_t most = records / LEAVES;
    most = most < FEWEST ? FEWEST : most > RECORDS ? RECORDS : most;
    most = most < least ? least : most;
    const size_t leaves = records < most ? 1 : records / most;
    return (records + leaves - 1) / leaves;
}

sotto_status leaf_order_resolve(struct leaf_order *out, const char *asked, size_t leaf,
                                const struct nn_model_config *model, size_t records, size_t views)
{
    sotto_status status = SOTTO_OK;
    struct nn_crossing crossing;
    size_t values;
    double work;
    const bool is_auto = !asked || strcmp(asked, "auto") == 0,
               exact = !is_auto && strcmp(asked, "exact") == 0;
    if (!is_auto && !exact && strcmp(asked, "fast") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "order", asked, "auto, exact or fast"));
    REQUIRE(leaf <= records, "leaf: %zu records are more than the %zu of a batch", leaf, records);
    *out = (struct leaf_order){.leaf = records};
    if (!is_auto && !exact)
        goto done;
    TRY(nn_model_crosses(&crossing, model));
    if (is_auto && crossing.waits)
        goto done;
    REQUIRE(!crossing.norms || leaf * views != 1,
            "leaf: batch normalisation needs leaves of at least 2 records (got 1)");
    TRY(nn_model_size(&values, &work, model));
    const size_t least = (size_t)ceil(WORK_WORTH * (double)values / (work * (double)views));
    *out = (struct leaf_order){.exact = true, .leaf = choose_leaf(records, exact ? FEWEST : least)};
    if (nn_threads_worth(work * (double)records, 2) == 1)
        out->leaf = records; /* one thread does it all, as ever */
    else if (leaf)
        out->leaf = leaf;
    else if (is_auto && (records + out->leaf - 1) / out->leaf < LEAVES_WORTH)
        *out = (struct leaf_order){.leaf = records};
done:
    if (status == SOTTO_OK && leaf && !out->exact)
        status = status_fail(SOTTO_EINVAL, "leaf cannot be given with order fast; give order exact");
    return status;
}

sotto_status leaf_order_on_ranks(struct leaf_order *out, const struct sotto_team *team, const char *asked,
                                 size_t leaf, const struct nn_model_config *model, size_t records,
                                 size_t views)
{
    const bool is_auto = !asked || strcmp(asked, "auto") == 0;
    sotto_status status = leaf_order_resolve(out, asked, leaf, model, records, views);
    if (team && is_auto && !(status == SOTTO_OK && out->exact))
        status = leaf_order_resolve(out, "exact", leaf, model, records, views);
    return status;
}

void leaf_order_text(char out[LEAF_ORDER_TEXT], const struct leaf_order *o)
{
    out[0] = '\0';
    if (o->exact)
        snprintf(out, LEAF_ORDER_TEXT, "order=exact\nleaf=%zu\n%s", o->leaf,
                 o->leaf_norms ? "norm_scope=leaf\n" : "");
}

/* ---- making ---- */

static size_t worker_first(const struct leaves *l, size_t worker)
{
    return l->first + tree_first(worker, l->workers, l->end - l->first);
}

static sotto_status make_plans(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    const struct leaves_config *c = &l->config;
    const struct nn_plan_config plan = {.batch = l->rows,
                                        .dtype = c->dtype,
                                        .backend = c->backend,
                                        .training = 1,
                                        .leaves = !leaves_fast(l),
                                        .leaf_norms = c->order.leaf_norms,
                                        .ctx = c->ctx};
    NEW(l->plans, l->workers);
    for (size_t w = 0; w < l->workers; w++)
        TRY(nn_plan_create(&l->plans[w], l->model, &plan));
    if (c->order.leaf_norms)
        TRY(leaves_make_moments(l));
done:
    return status;
}

static void add_crossing(struct leaves *l, size_t row, const struct layer_cross *cross)
{
    const size_t width = cross->width(&l->plans[0]->runs[row]);
    l->widest = width > l->widest ? width : l->widest;
    l->crossing[l->crossings++] = (struct crossing){row, cross};
}

static sotto_status find_crossings(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    const struct nn_plan *p = l->plans[0];
    NEW(l->crossing, 2 * p->row_count);
    for (size_t i = 0; i < p->row_count; i++) {
        if (plan_crosses(p, i))
            add_crossing(l, i, p->model->rows[i].layer->cross);
        if (plan_noise_crosses(p, i))
            add_crossing(l, i, &residual_noise_cross);
    }
    NEW_ROWS(l->gathered, l->count, l->widest);
    NEW(l->crossed, l->widest);
done:
    return status;
}

/* A worker's first leaf has the memory that its plan was made with. */
static sotto_status make_memory(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    NEW(l->memory, l->end - l->first);
    for (size_t w = 0; w < l->workers; w++)
        *leaf_memory(l, worker_first(l, w)) = l->plans[w]->keep;
    for (size_t i = l->first; i < l->end; i++) {
        if (leaf_memory(l, i)->base)
            continue;
        leaf_memory(l, i)->peak = l->plans[0]->keep.capacity;
        TRY(arena_reserve_asking(leaf_memory(l, i), "leaf of a training step", l->config.ctx));
    }
    TRY(find_crossings(l));
    TRY(leaves_make_sums(l));
    NEW_ROWS(l->output, l->config.views * l->config.records, l->width);
    NEW_ROWS(l->diff_output, l->config.views * l->config.records, l->width);
done:
    return status;
}

sotto_status leaves_create(struct leaves **out, struct nn_model *m, const struct leaves_config *config)
{
    sotto_status status = SOTTO_OK;
    struct leaves *l = NULL;
    const int pool = par_pool_threads();
    const size_t leaf = config->order.leaf, threads = config->threads > 1 ? (size_t)config->threads : 1;
    NEW(l, 1);
    l->config = *config;
    l->model = m;
    l->count = (config->records + leaf - 1) / leaf;
    l->rows = leaf * config->views;
    l->width = nn_model_output_width(m);
    l->inputs = m->input.channels * m->input.height * m->input.width;
    TRY(leaves_deal(l));
    l->workers = leaves_fast(l) || l->end - l->first < threads ? l->end - l->first : threads;
    par_set_threads(leaves_fast(l) ? config->threads : 1);
    TRY(make_plans(l));
    if (!leaves_fast(l))
        TRY(make_memory(l));
    NEW(l->values, l->count);
    *out = l;
    l = NULL;
done:
    par_set_threads(pool);
    leaves_free(l);
    return status;
}

void leaves_free(struct leaves *l)
{
    if (!l)
        return;
    for (size_t w = 0; l->plans && w < l->workers; w++) {
        if (l->memory && l->plans[w])
            l->plans[w]->keep = (struct arena){0}; /* it is one of those below */
        nn_plan_free(l->plans[w]);
    }
    for (size_t i = l->first; l->memory && i < l->end; i++)
        arena_clear(leaf_memory(l, i));
    leaves_free_sums(l);
    base_free(l->moments);
    base_free(l->leaf_borders);
    base_free(l->record_borders);
    base_free(l->crossing);
    base_free(l->gathered);
    base_free(l->crossed);
    base_free(l->plans);
    base_free(l->memory);
    base_free(l->output);
    base_free(l->diff_output);
    base_free(l->values);
    base_free(l);
}

size_t leaves_count(const struct leaves *l)
{
    return l->count;
}

size_t leaves_workers(const struct leaves *l)
{
    return l->workers;
}

size_t leaves_bytes(const struct leaves *l)
{
    if (leaves_fast(l))
        return nn_plan_bytes(l->plans[0]);
    return l->workers * l->plans[0]->scratch.capacity + (l->end - l->first) * l->memory[0].capacity +
           2 * l->config.views * l->config.records * l->width * sizeof(float) +
           (l->count + 1) * l->widest * sizeof(double) + leaves_sums_bytes(l) +
           (l->moments ? l->workers * l->model->statistic_count * sizeof *l->moments : 0);
}

void leaves_line(char out[LEAVES_LINE], const struct leaves *l, const char *unit)
{
    size_t used = (size_t)snprintf(out, LEAVES_LINE, "sums in order %s", leaves_fast(l) ? "fast" : "exact");
    if (!leaves_fast(l))
        used += (size_t)snprintf(out + used, LEAVES_LINE - used, ", %zu %s of %zu %s", l->count,
                                 l->count == 1 ? "leaf" : "leaves", l->config.order.leaf, unit);
    const size_t ranks = sotto_team_size(l->config.team), threads = ranks * (size_t)l->config.threads;
    if (l->moments)
        used += (size_t)snprintf(out + used, LEAVES_LINE - used, " with norms of their own");
    if (!leaves_fast(l) && ranks > 1)
        used += (size_t)snprintf(out + used, LEAVES_LINE - used, " on %zu ranks", ranks);
    if (!leaves_fast(l) && threads > l->count)
        snprintf(out + used, LEAVES_LINE - used, ": at most %zu of %zu threads have work", l->count, threads);
}

struct nn_plan *leaves_plan(struct leaves *l)
{
    return l->plans[0];
}

void leaves_train_top(struct leaves *l, int top_only)
{
    for (size_t w = 0; w < l->workers; w++)
        nn_plan_train_top(l->plans[w], top_only);
}

/* ---- a step ---- */

/* Rows of the leaf between `one`, an array of its own, and `all`, one of the whole step. */
enum direction { GATHER, SCATTER };
static void move_rows(float *all, float *one, const struct leaves *l, const struct leaf *leaf,
                      enum direction direction)
{
    for (size_t v = 0; v < l->config.views; v++) {
        float *mine = one + v * leaf->room * l->width,
              *place = all + (v * l->config.records + leaf->first) * l->width;
        if (direction == GATHER)
            memcpy(place, mine, leaf->count * l->width * sizeof *mine);
        else
            memcpy(mine, place, leaf->count * l->width * sizeof *mine);
    }
}

void leaves_clear_rest(float *rows, size_t width, const struct leaves *l, const struct leaf *leaf)
{
    for (size_t v = 0; v < l->config.views; v++)
        memset(rows + (v * leaf->room + leaf->count) * width, 0,
               (leaf->room - leaf->count) * width * sizeof *rows);
}

struct nn_plan *leaves_bind(struct leaves *l, const struct leaf *leaf)
{
    struct nn_plan *p = l->plans[leaf->worker];
    plan_bind(p, leaf_memory(l, leaf->number),
              &(struct pass){.training = l->training,
                             .seed = l->seed,
                             .step = l->step,
                             .leaf = leaf->number,
                             .weights = l->crossings && !l->training ? 0 : l->phases,
                             .views = l->config.views,
                             .used = leaf->count,
                             .weight = leaves_moments_weight(l, leaf)});
    return p;
}

/* Where the leaf gathers for crossing k. */
static double *leaves_gathered(const struct leaves *l, const struct leaf *leaf, size_t k)
{
    const struct crossing *c = &l->crossing[k];
    return l->gathered + leaf->number * c->cross->width(&l->plans[0]->runs[c->row]);
}

/* The crossing that ends the phase forward; l->crossings: none does. In use moments of batch norm are constants. */
static size_t next_crossing(const struct leaves *l)
{
    size_t k = l->phase;
    while (k < l->crossings && !l->training && !crosses_at_noise(&l->crossing[k]))
        k++;
    return k;
}

static struct crossing *crossing_or_none(const struct leaves *l, size_t k)
{
    return k < l->crossings ? &l->crossing[k] : NULL;
}

/* The second half of a crossing, and what follows in its row, up to the next crossing (NULL: none). */
static void forward_behind(struct nn_plan *p, const struct crossing *c, const struct crossing *next,
                           const double *crossed)
{
    p->runs[c->row].crossed = crossed;
    if (!crosses_at_noise(c))
        plan_forward_sum(p, c->row);
    if (!next || next->row > c->row)
        plan_forward_noise(p, c->row);
    p->runs[c->row].crossed = NULL;
}

static sotto_status forward_leaf(struct leaves *l, const struct leaf *leaf)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *p = leaves_bind(l, leaf);
    const size_t k = next_crossing(l);
    const struct crossing *behind = l->phase ? &l->crossing[l->phase - 1] : NULL,
                          *next = crossing_or_none(l, k);
    if (!behind) {
        TRY(l->fill(nn_plan_input(p), l->state, leaf));
        leaves_clear_rest(nn_plan_input(p), l->inputs, l, leaf);
        plan_forward_begin(p);
    } else {
        TRY(plan_go_on(p));
        forward_behind(p, behind, next, l->crossed);
    }
    TRY(plan_forward_rows(p, behind ? behind->row + 1 : 0, next ? next->row : p->row_count));
    if (next && crosses_at_noise(next) && !(behind && behind->row == next->row))
        plan_forward_sum(p, next->row);
    if (next)
        next->cross->gather_forward(&p->runs[next->row], &p->pass, leaves_gathered(l, leaf, k));
    else {
        plan_forward_end(p);
        move_rows(l->output, p->output, l, leaf, GATHER);
    }
    TRY(plan_go_on(p));
done:
    return status;
}

/* Rows below it are not trained now, so the way back ends here. */
static bool first_phase(const struct leaves *l)
{
    return l->phase == 0 || l->crossing[l->phase - 1].row < l->plans[0]->first;
}

/* The second half of a crossing on the way back, and what follows in its row, up to the next one there (NULL: none). */
static void backward_behind(struct nn_plan *p, const struct crossing *c, const struct crossing *next,
                            const double *crossed)
{
    struct layer_run *run = &p->runs[c->row];
    run->crossed = crossed;
    if (crosses_at_noise(c)) {
        plan_backward_noise(p, c->row);
        run->crossed = NULL;
    }
    if (!next || next->row < c->row)
        plan_backward_source(p, c->row);
    run->crossed = NULL;
}

/* From behind row `to` on to the crossing. */
static sotto_status backward_to(struct nn_plan *p, const struct crossing *next, size_t to)
{
    sotto_status status = SOTTO_OK;
    if (next->row == to) /* the noise of that row is done */
        goto done;
    TRY(plan_backward_rows(p, next->row + 1, to));
    if (crosses_at_noise(next))
        plan_backward_mask(p, next->row);
    else
        plan_backward_result(p, next->row);
done:
    return status;
}

static sotto_status backward_leaf(struct leaves *l, const struct leaf *leaf)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *p = leaves_bind(l, leaf);
    const size_t k = l->phase;
    const struct crossing *behind = crossing_or_none(l, k),
                          *next = first_phase(l) ? NULL : &l->crossing[k - 1];
    const size_t to = behind ? behind->row : p->row_count;
    if (l->sums[k])
        plan_write_gradients(p, tree_sums_next(l->sums[k], leaf->worker), leaves_first_value(l, k),
                             leaves_first_value(l, k + 1));
    if (behind)
        backward_behind(p, behind, next, l->crossed);
    else {
        move_rows(l->diff_output, p->diff_output, l, leaf, SCATTER);
        leaves_clear_rest(p->diff_output, l->width, l, leaf);
        plan_backward_begin(p);
    }
    if (!next)
        TRY(plan_backward_rows(p, p->first, to));
    else {
        TRY(backward_to(p, next, to));
        next->cross->gather_backward(&p->runs[next->row], &p->pass, leaves_gathered(l, leaf, k - 1));
        TRY(plan_go_on(p));
    }
    if (l->sums[k])
        tree_sums_add(l->sums[k], leaf->worker);
done:
    return status;
}

sotto_status leaves_run_worker(struct leaves *l, size_t worker, leaf_work *run)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = worker_first(l, worker); i < worker_first(l, worker + 1); i++) {
        const struct leaf leaf = leaf_at(l, i, worker);
        TRY(run(l, &leaf));
    }
done:
    return status;
}

static sotto_status forward_worker(void *arg, size_t worker, int thread)
{
    (void)thread;
    return leaves_run_worker(arg, worker, forward_leaf);
}

static sotto_status backward_worker(void *arg, size_t worker, int thread)
{
    struct leaves *l = arg;
    (void)thread;
    if (l->sums[l->phase])
        tree_sums_begin(l->sums[l->phase], worker);
    return leaves_run_worker(l, worker, backward_leaf);
}

/* All kernels within it run on the worker's own thread. */
sotto_status leaves_on_workers(struct leaves *l, par_body body)
{
    const int pool = par_set_threads(1);
    const sotto_status status = par_shares(l->workers, (int)l->workers, NULL, body, l);
    par_set_threads(pool);
    return status;
}

static sotto_status forward_in_phases(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    for (l->phase = 0;; l->phase = next_crossing(l) + 1) {
        l->phases++;
        TRY(team_agree(l->config.team, leaves_on_workers(l, forward_worker)));
        if (next_crossing(l) == l->crossings)
            break;
        TRY(leaves_merge_gathered(l, next_crossing(l), true));
    }
    TRY(leaves_gather_outputs(l));
done:
    return status;
}

static sotto_status backward_in_phases(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    for (l->phase = l->crossings;; l->phase--) {
        l->phases++;
        TRY(team_agree(l->config.team, leaves_on_workers(l, backward_worker)));
        if (l->sums[l->phase])
            tree_sums_join(l->sums[l->phase], l->config.threads);
        if (first_phase(l))
            break;
        TRY(leaves_merge_gathered(l, l->phase - 1, false));
    }
    TRY(rank_sums_join(l->ranks_task, leaves_first_value(l, l->phase), l->config.threads));
done:
    return status;
}

static sotto_status forward_at_once(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    const struct leaf all = leaf_at(l, 0, 0);
    TRY(l->fill(nn_plan_input(l->plans[0]), l->state, &all));
    TRY(nn_plan_forward(l->plans[0], l->training, l->seed, l->step));
done:
    return status;
}

sotto_status leaves_forward(struct leaves *l, int training, uint64_t seed, uint64_t step, leaf_fill *fill,
                            void *state)
{
    l->training = training, l->seed = seed, l->step = step;
    l->fill = fill, l->state = state;
    leaves_clear_moments(l);
    return leaves_fast(l) ? forward_at_once(l) : forward_in_phases(l);
}

const float *leaves_output(const struct leaves *l)
{
    return leaves_fast(l) ? nn_plan_output(l->plans[0]) : l->output;
}

float *leaves_diff_output(struct leaves *l)
{
    return leaves_fast(l) ? nn_plan_diff_output(l->plans[0]) : l->diff_output;
}

sotto_status leaves_backward(struct leaves *l)
{
    return leaves_fast(l) ? nn_plan_backward(l->plans[0]) : backward_in_phases(l);
}
