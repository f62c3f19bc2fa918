/* leaves.h - a training step that gives the same bits on any number of threads.
 *
 * The records of a step are cut into leaves: leaf i has records i k to i k + k - 1 of the step's order, with all their views.
 * A leaf has always the same shape (the last one is filled up with rows of zeros, whose gradient is 0) and is worked on by one
 * thread, by a plan that was made for one thread. All sums over leaves go by the tree of par/tree.h. At a batch norm all leaves
 * wait for the moments of all, forward and backward (struct layer_cross). So weights depend on k,
 * which is part of a run's recipe, and not on threads. Workers own runs of neighbouring leaves, and so do the ranks of a team
 * (par/ranks.h): then forward and backward passes are what all ranks do together, and each ends with its segment of the gradient
 * of all (par/tree_ranks.h), by which an optimizer of the team moves that segment of the weights, and tells the others.
 *
 * Order `fast` is one leaf, the whole step, on all threads: the same bits for this number of threads only. */
#ifndef NN_PLAN_LEAVES_H
#define NN_PLAN_LEAVES_H

#include "nn/nn.h"
#include "par/ranks.h"

/** In what order a run adds up. */
struct leaf_order {
    bool exact;
    size_t leaf; /* k, records in a leaf; fast: the whole step */
    /* norm scope "leaf": batch norms compute with the moments of the leaf, and leaves do not wait for each other */
    bool leaf_norms;
};
/** In:  asked   "auto" (also NULL), "exact" or "fast"
 *       leaf     records in a leaf; 0: chosen
 *       records  in a step, of so many views each
 *  Out: *out     auto is exact where its cost is known to be small (leaves.c), which it is not where leaves wait for each other
 *  Returns: EINVAL, unknown, or a leaf without exact */
sotto_status leaf_order_resolve(struct leaf_order *out, const char *asked, size_t leaf,
                                const struct nn_model_config *model, size_t records, size_t views);
/** The same for a call that may have a team, where "auto" is exact wherever that is possible: with the leaves of one process if
 * it is exact there too. Team NULL: alone. */
sotto_status leaf_order_on_ranks(struct leaf_order *out, const struct sotto_team *team, const char *asked,
                                 size_t leaf, const struct nn_model_config *model, size_t records,
                                 size_t views);
/** Takes the norm scope, "batch" (also NULL) or "leaf", into an order that leaf_order_asked() was resolved for.
 *  In:  leaf   as it was asked for; 0: chosen
 *  EINVAL: unknown, or "leaf" with order fast, without a batch norm that is trained, with an adversary, or with a last leaf of one
 *  row, which has no deviation. */
sotto_status leaf_order_norms(struct leaf_order *o, const char *scope, size_t leaf,
                              const struct nn_model_config *model, size_t records, size_t views);
/** The order to resolve: "auto" is exact with norm scope "leaf". */
const char *leaf_order_asked(const char *order, const char *scope);
/** Lines "key=value" of a recipe; "" for fast. */
enum { LEAF_ORDER_TEXT = 72 };
void leaf_order_text(char out[LEAF_ORDER_TEXT], const struct leaf_order *o);

struct leaves_config {
    struct leaf_order order;
    size_t records, views; /* of a step; rows of each record */
    enum nn_dtype dtype;
    const struct nn_backend *backend;
    int threads;
    struct epoch_moments *moments;   /* with order.leaf_norms: where they go */
    const struct sotto_team *team;   /* its ranks share the leaves, in order exact; NULL: alone */
    const struct sotto_context *ctx; /* asked while passes run, without a team in it; or NULL */
};
/** Of a step's records, first .. first + count - 1. View v of record first + i is row v * room + i of the leaf's input. */
struct leaf {
    size_t number, first, count, room;
    size_t worker; /* who works on it: 0 .. leaves_workers() - 1 */
};
/** Fills the leaf's rows. Called from several threads, of each worker one. */
typedef sotto_status leaf_fill(float *input, void *state, const struct leaf *leaf);

struct leaves;
/** Borrows the model. EINVAL: fewer leaves than ranks; ENOTSUP: order fast on several; errors of nn_plan_create(). */
sotto_status leaves_create(struct leaves **out, struct nn_model *m, const struct leaves_config *config);
void leaves_free(struct leaves *l);
size_t leaves_count(const struct leaves *l);
size_t leaves_workers(const struct leaves *l);
size_t leaves_bytes(const struct leaves *l);
/** How long this rank works, in the time of the rank with the most leaves, if all are equally fast. */
double leaves_share(const struct leaves *l);
/** "sums in order exact, 8 leaves of 32 images"; says so where some threads have no leaf. */
enum { LEAVES_LINE = 160 };
void leaves_line(char out[LEAVES_LINE], const struct leaves *l, const char *unit);
/** Order fast: its plan, as it is after a forward pass. */
struct nn_plan *leaves_plan(struct leaves *l);
/** nn_plan_train_top() of all. */
void leaves_train_top(struct leaves *l, int top_only);
/** Fills all leaves and runs them forward, in training if `training`. ESTOPPED; errors of `fill`. */
sotto_status leaves_forward(struct leaves *l, int training, uint64_t seed, uint64_t step, leaf_fill *fill,
                            void *state);
/** (views * records, outputs): row v * records + i is view v of record i, on every rank; and the place for the gradient by it,
 * of which a rank needs the rows of its leaves. */
const float *leaves_output(const struct leaves *l);
float *leaves_diff_output(struct leaves *l);
/** The gradient of all records, in the model; on ranks this rank's segment of it, and nothing of use elsewhere. ESTOPPED. */
sotto_status leaves_backward(struct leaves *l);
/** With norm scope "leaf", once a step is over and stays: what its batch norms saw goes to config.moments. */
void leaves_keep_moments(struct leaves *l);
/** The sum over all leaves, by the tree, of what a function says of each. On ranks: each asks of its own leaves; where the
 * transport fails, any number, and the next agreement says so. */
typedef double leaf_value(void *state, const struct leaf *leaf);
double leaves_sum(struct leaves *l, leaf_value *of, void *state);
/** Of an adversary (nn_plan_adversary_output()) and one leaf. Rows of logits lie as those of the leaf's input; diff is the place for
 * the gradient by them, of which rows behind the last record need not be written. */
typedef double leaf_loss(float *diff, const float *logits, void *state, const struct leaf *leaf);
/** After leaves_forward(), and as leaves_sum(): the sum of what it says of each leaf. What it writes stays for leaves_backward(). */
double leaves_sum_adversary(struct leaves *l, leaf_loss *of, void *state);
/** The adversary's logits again, with its weights as they are now, then `of`, called from several threads, of which the
 * result is not read; and the gradient of all records by the adversary's weights, in the model, where all others stay as they are. Ranks do it
 * together, as leaves_backward(). ESTOPPED. */
sotto_status leaves_step_adversary(struct leaves *l, leaf_loss *of, void *state);
/** What decides the last bits besides the recipe, as lines "key=value". Order fast: threads, instruction set, backend. Exact:
 * the backend, and as `kernels` 16 hex digits of the bits that this machine's kernels give for one leaf of made-up records,
 * forward and backward, with the model's weights as they are now and noise on top, since equal names of instruction sets and
 * libraries do not mean equal bits. Leaves the model as it is, with gradients of 0. ESTOPPED, ENOMEM. */
enum { LEAVES_MACHINE = 160 };
sotto_status leaves_machine(char out[LEAVES_MACHINE], struct leaves *l);

#endif
