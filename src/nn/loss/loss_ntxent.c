/* NT-Xent on two views of N images: rows are normalised to unit vectors P, logits are S = P P' / T.
 *
 * Keras form (papers.md B.5): S holds first views against second views only (N x N); the loss is the mean of
 * the cross-entropies of its rows and of its columns, with the diagonal as target.
 *
 * SimCLR form (chen2020simclr, Eq. 1): S is 2N x 2N without its diagonal; row i has the other view of its
 * image as target. S is symmetric there, so its column sums are its row sums, and one gradient serves both
 * forms:
 *
 *     G_ij = (e^(S_ij - row_i) + e^(S_ij - column_j)) / 2N - [j is the positive of i] / N,    M = rows of S
 *
 * with row_i and column_j the log-sum-exps. In the Keras form G is dloss/dS; in the SimCLR form it is
 * dloss/dS + its transpose, which is what dP = G P / T needs. */
#include "nn/nn.h"

#include "nn/kernel/loss_kernels.h"
#include "par/par.h"

#include <assert.h>
#include <math.h>

/* Padding and masked entries: far below any logit (|S| <= 1/T), yet finite, so that S - row never is inf -
 * inf. */
static const float masked = -1e30f;
/* l2 normalisation divides by sqrt(max(|z|^2, floor)), as Keras does. */
static const float norm_floor = 1e-12f;
enum { ROWS_PER_CHUNK = 16 };

struct ntxent {
    struct arena arena;
    enum ntxent_form form;
    const struct nn_backend *backend;
    const struct loss_kernels *kernels;
    struct par_stop *stop;
    size_t n, d, m, stride; /* m: side of S; stride: m rounded up to 16 */
    float *p, *diff_p, *inverse, *s, *g, *row_log_sum, *column_log_sum;
    double *row_loss, *column_loss;
    unsigned char *row_hit, *column_hit;
};

/** One run's arguments, for the chunk bodies. */
struct pass {
    struct ntxent *w;
    const float *z;
    float *diff_z;
};

static void layout(struct arena *a, struct ntxent *w)
{
    w->p = arena_take(a, 2 * w->n * w->d, sizeof(float));      /* (2N, D) */
    w->diff_p = arena_take(a, 2 * w->n * w->d, sizeof(float)); /* (2N, D) */
    w->inverse = arena_take(a, 2 * w->n, sizeof(float));
    w->s = arena_take(a, w->m * w->stride, sizeof(float)); /* (M, stride) */
    w->g = arena_take(a, w->m * w->stride, sizeof(float)); /* (M, stride) */
    w->row_log_sum = arena_take(a, w->stride, sizeof(float));
    w->column_log_sum = arena_take(a, w->stride, sizeof(float));
    w->row_loss = arena_take(a, w->stride, sizeof(double));
    w->column_loss = arena_take(a, w->stride, sizeof(double));
    w->row_hit = arena_take(a, w->stride, 1);
    w->column_hit = arena_take(a, w->stride, 1);
}

sotto_status ntxent_create(struct ntxent **out, enum ntxent_form form, size_t n, size_t d,
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
    layout(&w->arena, w);
    TRY(arena_reserve(&w->arena, "contrastive loss"));
    layout(&w->arena, w);
    for (size_t i = 0; i < w->m; i++)
        for (size_t j = w->m; j < w->stride; j++)
            w->s[i * w->stride + j] = masked; /* the product below writes M columns only */
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
    base_free(w);
}

void ntxent_set_stop(struct ntxent *w, struct par_stop *stop)
{
    w->stop = stop;
}

/** Column of row i's positive in S. */
static size_t positive(const struct ntxent *w, size_t i)
{
    if (w->form == NTXENT_KERAS)
        return i;
    return i < w->n ? i + w->n : i - w->n;
}

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

static sotto_status row_sums(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct ntxent *w = ((struct pass *)arg)->w;
    size_t first = chunk * ROWS_PER_CHUNK, end = chunk_end(first, w->m);
    for (size_t i = first; i < end; i++) {
        float *row = w->s + i * w->stride, top;
        size_t ties;
        if (w->form == NTXENT_SIMCLR)
            row[i] = masked;
        w->kernels->row_log_sum(&top, &w->row_log_sum[i], &ties, row, w->stride);
        float target = row[positive(w, i)];
        w->row_loss[i] = (double)w->row_log_sum[i] - target;
        w->row_hit[i] = target == top && ties == 1;
    }
    return SOTTO_OK;
}

/** Keras form only: the same over 16 columns. */
static sotto_status column_sums(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct ntxent *w = ((struct pass *)arg)->w;
    size_t first = chunk * ROWS_PER_CHUNK, end = chunk_end(first, w->m);
    float top[16];
    int32_t ties[16];
    w->kernels->column_log_sum(top, w->column_log_sum + first, ties, w->s + first, w->m, w->stride);
    for (size_t j = first; j < end; j++) {
        float target = w->s[j * w->stride + j];
        w->column_loss[j] = (double)w->column_log_sum[j] - target;
        w->column_hit[j] = target == top[j - first] && ties[j - first] == 1;
    }
    return SOTTO_OK;
}

static sotto_status logit_gradient(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct ntxent *w = ((struct pass *)arg)->w;
    const float *columns = w->form == NTXENT_KERAS ? w->column_log_sum : w->row_log_sum;
    size_t first = chunk * ROWS_PER_CHUNK, end = chunk_end(first, w->m);
    for (size_t i = first; i < end; i++) {
        float *grad = w->g + i * w->stride;
        w->kernels->pair_gradient(grad, w->s + i * w->stride, w->row_log_sum[i], columns, 0.5f / (float)w->n,
                                  w->stride);
        grad[positive(w, i)] -= 1.0f / (float)w->n;
        if (w->form == NTXENT_SIMCLR)
            grad[i] = 0;
    }
    return SOTTO_OK;
}

static sotto_status denormalize_rows(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct pass *pass = arg;
    struct ntxent *w = pass->w;
    size_t first = chunk * ROWS_PER_CHUNK, end = chunk_end(first, 2 * w->n);
    for (size_t i = first; i < end; i++) {
        int project =
            w->inverse[i] < 1.0f / sqrtf(norm_floor); /* below the floor the divisor is a constant */
        w->kernels->normalize_back(pass->diff_z + i * w->d, w->diff_p + i * w->d, w->p + i * w->d,
                                   w->inverse[i], project, w->d);
    }
    return SOTTO_OK;
}

static void over(par_body body, size_t rows, struct pass *pass)
{
    size_t chunks = (rows + ROWS_PER_CHUNK - 1) / ROWS_PER_CHUNK;
    sotto_status status = par_shares(chunks, par_pool_threads(), pass->w->stop, body, pass);
    assert(status == SOTTO_OK); /* no body can fail */
    (void)status;
}

/* C (m, n) = scale A B, or A' B, or A B'; in runs of rows, as a product cannot be stopped. */
struct matrix {
    const float *values;
    size_t stride;
    int transposed;
};
static void product(float *C, struct ntxent *w, size_t ldc, struct matrix A, struct matrix B, size_t m,
                    size_t n, size_t k, float scale)
{
    const size_t most = ((size_t)1 << 31) / (n * k), rows = most < 1 ? 1 : most < m ? most : m;
    for (size_t first = 0; first < m && !par_stopped(w->stop); first += rows)
        nn_sgemm(w->backend, A.transposed, B.transposed, m - first < rows ? m - first : rows, n, k, scale,
                 A.values + first * (A.transposed ? 1 : A.stride), A.stride, B.values, B.stride, 0,
                 C + first * ldc, ldc);
}

double ntxent_run(struct ntxent *w, float *diff_z, double *accuracy, const float *z, float temperature)
{
    assert(temperature > 0);
    struct pass pass = {w, z, diff_z};
    size_t n = w->n, d = w->d, m = w->m, ld = w->stride;
    float scale = 1 / temperature;
    const float *other = w->form == NTXENT_KERAS ? w->p + n * d : w->p;
    over(normalize_rows, 2 * n, &pass);
    product(w->s, w, ld, (struct matrix){w->p, d, 0}, (struct matrix){other, d, 1}, m, m, d, scale);
    over(row_sums, m, &pass);
    if (w->form == NTXENT_KERAS)
        over(column_sums, m, &pass);

    double loss = 0, hits = 0;
    for (size_t i = 0; i < m; i++) {
        loss += w->row_loss[i] + w->column_loss[i];
        hits += w->row_hit[i] + w->column_hit[i];
    }
    if (accuracy)
        *accuracy = hits / (double)(2 * n);
    if (diff_z) {
        over(logit_gradient, m, &pass);
        product(w->diff_p, w, d, (struct matrix){w->g, ld, 0}, (struct matrix){other, d, 0}, m, d, m, scale);
        if (w->form == NTXENT_KERAS)
            product(w->diff_p + n * d, w, d, (struct matrix){w->g, ld, 1}, (struct matrix){w->p, d, 0}, m, d,
                    m, scale);
        over(denormalize_rows, 2 * n, &pass);
    }
    return loss / (double)(2 * n);
}
