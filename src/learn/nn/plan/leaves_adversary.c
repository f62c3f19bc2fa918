/* The adversary's rows in leaves. They read the embedding, which a leaf keeps from its forward pass, and nothing crosses leaves in
 * them: so a step of the adversary alone is one phase, with a tree of its own for its gradients. */
#include "nn/plan/leaves_private.h"

#include "par/tree_ranks.h"

static double leaves_adversary_ask(struct leaves *l, struct nn_plan *p, leaf_loss *of, void *state,
                                   const struct leaf *leaf)
{
    float *diff = nn_plan_adversary_diff(p);
    const double found = of(diff, nn_plan_adversary_output(p), state, leaf);
    leaves_clear_rest(diff, shape_count(plan_activation(p, p->adversary_row)->shape), l, leaf);
    return found;
}

struct question {
    struct leaves *l;
    leaf_loss *of;
    void *state;
};
static double ask_leaf(void *state, const struct leaf *leaf)
{
    const struct question *q = state;
    return leaves_adversary_ask(q->l, leaves_fast(q->l) ? q->l->plans[0] : leaves_bind(q->l, leaf), q->of,
                                q->state, leaf);
}

double leaves_sum_adversary(struct leaves *l, leaf_loss *of, void *state)
{
    return leaves_sum(l, ask_leaf, &(struct question){l, of, state});
}

static sotto_status step_plan(struct leaves *l, struct nn_plan *p, const struct leaf *leaf)
{
    sotto_status status = SOTTO_OK;
    TRY(nn_plan_forward_adversary(p));
    (void)leaves_adversary_ask(l, p, l->loss, l->state, leaf);
    TRY(nn_plan_backward_adversary(p));
done:
    return status;
}

static sotto_status step_leaf(struct leaves *l, const struct leaf *leaf)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *p = leaves_bind(l, leaf);
    plan_write_gradients(p, tree_sums_next(l->adversary_sums, leaf->worker), l->adversary_first,
                         l->model->trainable);
    TRY(step_plan(l, p, leaf));
    tree_sums_add(l->adversary_sums, leaf->worker);
done:
    return status;
}

static sotto_status step_worker(void *arg, size_t worker, int thread)
{
    struct leaves *l = arg;
    (void)thread;
    tree_sums_begin(l->adversary_sums, worker);
    return leaves_run_worker(l, worker, step_leaf);
}

sotto_status leaves_step_adversary(struct leaves *l, leaf_loss *of, void *state)
{
    sotto_status status = SOTTO_OK;
    const struct leaf all = leaf_at(l, 0, 0);
    l->loss = of, l->state = state;
    l->phases++;
    if (leaves_fast(l))
        return step_plan(l, l->plans[0], &all);
    TRY(team_agree(l->config.team, leaves_on_workers(l, step_worker)));
    tree_sums_join(l->adversary_sums, l->config.threads);
    TRY(rank_sums_join(l->ranks_adversary, l->adversary_first, l->config.threads));
done:
    return status;
}
