/* NT-Xent on two views of N images: rows are normalised to unit vectors P; the logits of a row are its products with other
 * rows, divided by the temperature T.
 *
 * Keras form (papers.md B.5): a row's logits are those against all N rows of the other view; the loss is the mean of the
 * cross-entropies of all 2N rows, with the other view of the image as target.
 *
 * SimCLR form (chen2020simclr, Eq. 1): against all 2N rows but itself, with the same target.
 *
 * With S the logits and l_i the log-sum-exp of row i, one gradient serves both forms, since S_ij stands in the logits of row j
 * too:
 *
 *     dloss/dP_i = sum over j of G_ij P_j / T,   G_ij = (e^(S_ij - l_i) + e^(S_ij - l_j)) / 2N - [j is the positive of i] / N
 *
 * A rank of a team computes the rows of its leaves, of all ranks' outputs; log-sum-exps and losses are gathered.
 *
 * A leaf of images (nn/plan/leaves.h) computes the logits of its own rows against all, on one thread; from other leaves it
 * needs their unit vectors, and their log-sum-exps for the way back. So the bits depend on the leaves and not on threads. */
#include "nn/nn.h"

#include "nn/kernel/loss_kernels.h"
#include "par/par.h"
#include "par/ranks.h"
#include "par/tree.h"

#include <assert.h>
#include <math.h>

/* Padding and masked entries: far below any logit (|S| <= 1/T), yet finite, so that S - row never is inf -
 * inf. */
static const float masked = -1e30f;
/* l2 normalisation divides by sqrt(max(|z|^2, floor)), as Keras does. */
static const float norm_floor = 1e-12f;
enum { ROWS_PER_CHUNK = 16, BLOCK = 64 /* images of a leaf whose logits are one product */ };

struct ntxent {
    struct arena arena;
    enum ntxent_form form;
    const struct nn_backend *backend;
    const struct loss_kernels *kernels;
    struct par_stop *stop;
    size_t n, d, m, stride; /* m: logits of a row; stride: m rounded up to 16 */
    size_t leaf, leaves,
        leaf_blocks;                 /* leaf_blocks: products that the logits of a leaf's view are cut into */
    float *p, *diff_p, *inverse, *s; /* s (2N, stride): logits, then G */
    float *log_sum; /* (2, stride), of the rows that a row is compared with: one view, or (SimCLR) both */
    double *row_loss, *leaf_loss, *leaf_hits;
    unsigned char *row_hit;
    const struct sotto_team *team;
    size_t first_leaf, end_leaf;        /* this rank's */
    size_t *leaf_borders, *row_borders; /* (ranks + 1) of the leaves and images of ranks; NULL: alone */
};

/** One run's arguments, for the chunk bodies. */
struct pass {
    struct ntxent *w;
    const float *z;
    float *diff_z, scale;
};

static void loss_ntxent_layout(struct arena *a, struct ntxent *w)
{
    w->p = arena_take(a, 2 * w->n * w->d, sizeof(float));      /* (2N, D) */
    w->diff_p = arena_take(a, 2 * w->n * w->d, sizeof(float)); /* (2N, D) */
    w->inverse = arena_take(a, 2 * w->n, sizeof(float));
    w->s = arena_take(a, 2 * w->n * w->stride, sizeof(float));
    w->log_sum = arena_take(a, 2 * w->stride, sizeof(float));
    w->row_loss = arena_take(a, 2 * w->n, sizeof(double));
    w->leaf_loss = arena_take(a, w->leaves, sizeof(double));
    w->leaf_hits = arena_take(a, w->leaves, sizeof(double));
    w->row_hit = arena_take(a, 2 * w->n, 1);
}

sotto_status ntxent_create(struct ntxent **out, enum ntxent_form form, size_t n, size_t d, size_t leaf,
                           const struct nn_backend *b)
{
    sotto_status status = SOTTO_OK;
    struct ntxent *w = NULL;
    REQUIRE(n >= 2, "contrastive loss: a batch of %zu has no negatives; expected at least 2 images", n);
    REQUIRE(d >= 1, "contrastive loss: the projections have no columns; expected at least one");
    REQUIRE(n <= SIZE_MAX / 64 / d && n < (size_t)1 << 28, "contrastive loss: a batch of %zu is too large",
            n);
    NEW(w, 1);
    w->form = form;
    w->backend = b;
    w->kernels = loss_kernels_best();
    w->n = n;
    w->d = d;
    w->m = form == NTXENT_KERAS ? n : 2 * n;
    w->stride = (w->m + 15) / 16 * 16;
    w->leaf = leaf;
    w->leaves = (n + leaf - 1) / leaf;
    w->end_leaf = w->leaves;
    w->leaf_blocks = (leaf + BLOCK - 1) / BLOCK;
    loss_ntxent_layout(&w->arena, w);
    TRY(arena_reserve(&w->arena, "contrastive loss"));
    loss_ntxent_layout(&w->arena, w);
    *out = w;
done:
    if (status != SOTTO_OK)
        ntxent_free(w);
    return status;
}

void ntxent_free(struct ntxent *w)
{
    if (!w)
        return;
    arena_clear(&w->arena);
    base_free(w->leaf_borders);
    base_free(w->row_borders);
    base_free(w);
}

void ntxent_set_stop(struct ntxent *w, struct par_stop *stop)
{
    w->stop = stop;
}

sotto_status ntxent_set_team(struct ntxent *w, const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    const size_t ranks = sotto_team_size(team), rank = sotto_team_rank(team);
    NEW(w->leaf_borders, ranks + 1);
    NEW(w->row_borders, ranks + 1);
    for (size_t r = 0; r <= ranks; r++) {
        const size_t leaf = tree_first(r, ranks, w->leaves), image = leaf * w->leaf;
        w->leaf_borders[r] = leaf;
        w->row_borders[r] = image < w->n ? image : w->n;
    }
    w->team = team;
    w->first_leaf = w->leaf_borders[rank];
    w->end_leaf = w->leaf_borders[rank + 1];
done:
    return status;
}

/* ---- rows ---- */

static size_t chunk_end(size_t first, size_t count)
{
    return first + ROWS_PER_CHUNK < count ? first + ROWS_PER_CHUNK : count;
}

static sotto_status normalize_rows(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct pass *pass = arg;
    struct ntxent *w = pass->w;
    size_t first = chunk * ROWS_PER_CHUNK, end = chunk_end(first, 2 * w->n);
    for (size_t i = first; i < end; i++)
        w->inverse[i] = w->kernels->normalize(w->p + i * w->d, pass->z + i * w->d, norm_floor, w->d);
    return SOTTO_OK;
}

static bool is_own(const struct ntxent *w, size_t image)
{
    return w->first_leaf <= image / w->leaf && image / w->leaf < w->end_leaf;
}

static sotto_status denormalize_rows(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct pass *pass = arg;
    struct ntxent *w = pass->w;
    size_t first = chunk * ROWS_PER_CHUNK, end = chunk_end(first, 2 * w->n);
    for (size_t i = first; i < end; i++) {
        if (!is_own(w, i % w->n))
            continue;
        int project =
            w->inverse[i] < 1.0f / sqrtf(norm_floor); /* below the floor the divisor is a constant */
        w->kernels->normalize_back(pass->diff_z + i * w->d, w->diff_p + i * w->d, w->p + i * w->d,
                                   w->inverse[i], project, w->d);
    }
    return SOTTO_OK;
}

/* ---- blocks: neighbouring images of a leaf, in one of their views ---- */

struct block {
    size_t first, count;  /* rows of P */
    size_t image, view;   /* of the first row */
    const float *others;  /* (m, D) what these rows are compared with */
    float *own_log_sum;   /* of the first row */
    float *their_log_sum; /* (m) */
};

/* Of this rank. */
static struct block block_at(const struct ntxent *w, size_t number)
{
    const size_t view = number % 2, leaf = w->first_leaf + number / 2 / w->leaf_blocks,
                 image = leaf * w->leaf + number / 2 % w->leaf_blocks * BLOCK,
                 leaf_end = (leaf + 1) * w->leaf, end = leaf_end < w->n ? leaf_end : w->n,
                 left = image < end ? end - image : 0, first = view * w->n + image;
    const bool keras = w->form == NTXENT_KERAS;
    return (struct block){.first = first,
                          .count = left < BLOCK ? left : BLOCK,
                          .image = image,
                          .view = view,
                          .others = keras && view == 0 ? w->p + w->n * w->d : w->p,
                          .own_log_sum = keras ? w->log_sum + view * w->stride + image : w->log_sum + first,
                          .their_log_sum = keras ? w->log_sum + (1 - view) * w->stride : w->log_sum};
}

/** Column of the positive of the block's row i. */
static size_t loss_ntxent_positive(const struct ntxent *w, const struct block *b, size_t i)
{
    return b->image + i + (w->form == NTXENT_SIMCLR && b->view == 0 ? w->n : 0);
}

static sotto_status block_logits(void *arg, size_t number, int thread)
{
    (void)thread;
    const struct pass *pass = arg;
    struct ntxent *w = pass->w;
    const struct block b = block_at(w, number);
    float *s = w->s + b.first * w->stride;
    if (b.count)
        nn_sgemm(w->backend, 0, 1, b.count, w->m, w->d, pass->scale, w->p + b.first * w->d, w->d, b.others,
                 w->d, 0, s, w->stride);
    for (size_t i = 0; i < b.count; i++) {
        float *row = s + i * w->stride, top;
        size_t ties;
        for (size_t j = w->m; j < w->stride; j++)
            row[j] = masked;
        if (w->form == NTXENT_SIMCLR)
            row[b.first + i] = masked;
        w->kernels->row_log_sum(&top, &b.own_log_sum[i], &ties, row, w->stride);
        float target = row[loss_ntxent_positive(w, &b, i)];
        w->row_loss[b.first + i] = (double)b.own_log_sum[i] - target;
        w->row_hit[b.first + i] = target == top && ties == 1;
    }
    return SOTTO_OK;
}

static sotto_status block_gradient(void *arg, size_t number, int thread)
{
    (void)thread;
    const struct pass *pass = arg;
    struct ntxent *w = pass->w;
    const struct block b = block_at(w, number);
    float *g = w->s + b.first * w->stride;
    for (size_t i = 0; i < b.count; i++) {
        float *row = g + i * w->stride;
        w->kernels->pair_gradient(row, row, b.own_log_sum[i], b.their_log_sum, 0.5f / (float)w->n, w->stride);
        row[loss_ntxent_positive(w, &b, i)] -= 1.0f / (float)w->n;
        if (w->form == NTXENT_SIMCLR)
            row[b.first + i] = 0;
    }
    if (b.count)
        nn_sgemm(w->backend, 0, 0, b.count, w->d, w->m, pass->scale, g, w->stride, b.others, w->d, 0,
                 w->diff_p + b.first * w->d, w->d);
    return SOTTO_OK;
}

/* ---- a run ---- */

/* Bodies run on one thread each, their products too. */
static void loss_ntxent_over(par_body body, size_t chunks, struct pass *pass)
{
    const int threads = par_set_threads(1);
    sotto_status status = par_shares(chunks, threads, pass->w->stop, body, pass);
    par_set_threads(threads);
    assert(status == SOTTO_OK); /* no body can fail */
    (void)status;
}

/* A failure of the team is remembered by it, and comes to light at its next agreement. */
static void loss_ntxent_gather(const struct ntxent *w, void *rows, size_t bytes, const size_t *borders)
{
    if (w->team)
        (void)team_gather(w->team, rows, bytes, borders);
}

static double sum_losses(double *hits, struct ntxent *w)
{
    for (size_t leaf = w->first_leaf; leaf < w->end_leaf; leaf++) {
        w->leaf_loss[leaf] = w->leaf_hits[leaf] = 0;
        for (size_t i = leaf * w->leaf; i < w->n && i < (leaf + 1) * w->leaf; i++) {
            w->leaf_loss[leaf] += w->row_loss[i] + w->row_loss[w->n + i];
            w->leaf_hits[leaf] += w->row_hit[i] + w->row_hit[w->n + i]; /* whole numbers */
        }
    }
    loss_ntxent_gather(w, w->leaf_loss, sizeof *w->leaf_loss, w->leaf_borders);
    loss_ntxent_gather(w, w->leaf_hits, sizeof *w->leaf_hits, w->leaf_borders);
    *hits = tree_sum(w->leaf_hits, w->leaves);
    return tree_sum(w->leaf_loss, w->leaves);
}

/* The log-sum-exps of all ranks' rows, of either view. */
static void gather_log_sums(struct ntxent *w)
{
    for (size_t view = 0; view < 2; view++)
        loss_ntxent_gather(w, w->log_sum + view * (w->form == NTXENT_KERAS ? w->stride : w->n),
                           sizeof *w->log_sum, w->row_borders);
}

double ntxent_run(struct ntxent *w, float *diff_z, double *accuracy, const float *z, float temperature)
{
    assert(temperature > 0);
    struct pass pass = {w, z, diff_z, 1 / temperature};
    const size_t chunks = (2 * w->n + ROWS_PER_CHUNK - 1) / ROWS_PER_CHUNK,
                 blocks = 2 * (w->end_leaf - w->first_leaf) * w->leaf_blocks;
    double hits;
    loss_ntxent_over(normalize_rows, chunks, &pass);
    loss_ntxent_over(block_logits, blocks, &pass);
    const double loss = sum_losses(&hits, w);
    if (accuracy)
        *accuracy = hits / (double)(2 * w->n);
    if (diff_z) {
        gather_log_sums(w);
        loss_ntxent_over(block_gradient, blocks, &pass);
        loss_ntxent_over(denormalize_rows, chunks, &pass);
    }
    return loss / (double)(2 * w->n);
}
