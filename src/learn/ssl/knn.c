/* Majority of the k most similar training rows by cosine. Similarities come in blocks from one matrix product
 * of unit rows; each test row keeps its best k sorted. Equal similarities: the training row with the smaller
 * index is nearer. Equal votes: the class of the nearer neighbour. */
#include "sotto/lab/ssl.h"

#include "base/memory.h"
#include "nn/nn.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

enum { TEST_BLOCK = 256, TRAIN_BLOCK = 2048, CHUNK = 16, MOST_NEIGHBOURS = 1000 };

struct neighbour {
    float similarity;
    int64_t label;
};
struct knn {
    struct arena memory;
    size_t width, k;
    float *train;           /* (n_train, D) unit rows */
    float *test;            /* (TEST_BLOCK, D) unit rows */
    float *similarity;      /* (TEST_BLOCK, TRAIN_BLOCK) */
    struct neighbour *best; /* (TEST_BLOCK, k), nearest first */
    size_t found[TEST_BLOCK];
    /* the running block */
    size_t rows, columns;
    const int64_t *labels;
};

static void knn_layout(struct knn *w, size_t n_train)
{
    w->train = arena_take(&w->memory, n_train * w->width, sizeof(float));
    w->test = arena_take(&w->memory, TEST_BLOCK * w->width, sizeof(float));
    w->similarity = arena_take(&w->memory, (size_t)TEST_BLOCK * TRAIN_BLOCK, sizeof(float));
    w->best = arena_take(&w->memory, TEST_BLOCK * w->k, sizeof *w->best);
}

/* A zero row stays zero: similarity 0 to everything. */
static void knn_normalise(float *dst, const float *src, size_t n, size_t width)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < width; j++)
            sum += (double)src[i * width + j] * (double)src[i * width + j];
        float scale = sum > 0 ? (float)(1 / sqrt(sum)) : 0;
        for (size_t j = 0; j < width; j++)
            dst[i * width + j] = src[i * width + j] * scale;
    }
}

static void knn_insert(struct neighbour *best, size_t *found, size_t k, struct neighbour next)
{
    if (*found == k && next.similarity <= best[k - 1].similarity)
        return;
    size_t at = *found < k ? (*found)++ : k - 1;
    for (; at > 0 && best[at - 1].similarity < next.similarity; at--)
        best[at] = best[at - 1];
    best[at] = next;
}

static sotto_status keep_best(void *arg, size_t chunk, int thread)
{
    struct knn *w = arg;
    (void)thread;
    size_t end = (chunk + 1) * CHUNK < w->rows ? (chunk + 1) * CHUNK : w->rows;
    for (size_t i = chunk * CHUNK; i < end; i++)
        for (size_t j = 0; j < w->columns; j++)
            knn_insert(w->best + i * w->k, w->found + i, w->k,
                       (struct neighbour){w->similarity[i * TRAIN_BLOCK + j], w->labels[j]});
    return SOTTO_OK;
}

static int64_t knn_vote(const struct neighbour *best, size_t k)
{
    size_t most = 0;
    int64_t winner = best[0].label;
    for (size_t i = 0; i < k; i++) {
        size_t votes = 0;
        for (size_t j = 0; j < k; j++)
            votes += best[j].label == best[i].label;
        if (votes > most) {
            most = votes;
            winner = best[i].label;
        }
    }
    return winner;
}

static sotto_status require_finite(const float *x, size_t n, size_t width, const char *what)
{
    for (size_t i = 0; i < n * width; i++)
        if (!isfinite(x[i]))
            return status_fail(SOTTO_EINVAL, "%s embeddings: row %zu, column %zu is not finite", what,
                               i / width, i % width);
    return SOTTO_OK;
}

sotto_status sotto_knn_accuracy(double *accuracy, const float *train_x, const int64_t *train_y,
                                size_t n_train, const float *test_x, const int64_t *test_y, size_t n_test,
                                size_t width, size_t k, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(accuracy, !n_train || train_x, !n_train || train_y, !n_test || test_x, !n_test || test_y);
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    struct knn *w = NULL;
    const struct nn_backend *backend;
    size_t hits = 0, product;
    REQUIRE(n_train > 0 && n_test > 0 && width > 0,
            "k-NN: %zu train rows, %zu test rows, width %zu; expected at least 1 of each", n_train, n_test,
            width);
    REQUIRE(k >= 1 && k <= n_train && k <= MOST_NEIGHBOURS, "k must be between 1 and %zu (got %zu)",
            n_train < MOST_NEIGHBOURS ? n_train : MOST_NEIGHBOURS, k);
    REQUIRE(size_multiply(&product, n_train > n_test ? n_train : n_test, width),
            "k-NN: %zu x %zu values do not fit in memory", n_train, width);
    TRY(require_finite(train_x, n_train, width, "train"));
    TRY(require_finite(test_x, n_test, width, "test"));
    TRY(nn_backend_find(&backend, "auto"));
    par_set_threads(par_threads(ctx));
    NEW(w, 1);
    w->width = width;
    w->k = k;
    knn_layout(w, n_train);
    TRY(arena_reserve(&w->memory, "k-NN"));
    knn_layout(w, n_train);
    knn_normalise(w->train, train_x, n_train, width);
    for (size_t first = 0; first < n_test; first += TEST_BLOCK) {
        w->rows = n_test - first < TEST_BLOCK ? n_test - first : TEST_BLOCK;
        memset(w->found, 0, sizeof w->found);
        knn_normalise(w->test, test_x + first * width, w->rows, width);
        for (size_t column = 0; column < n_train; column += TRAIN_BLOCK) {
            w->columns = n_train - column < TRAIN_BLOCK ? n_train - column : TRAIN_BLOCK;
            w->labels = train_y + column;
            nn_sgemm(backend, 0, 1, w->rows, w->columns, width, 1, w->test, width, w->train + column * width,
                     width, 0, w->similarity, TRAIN_BLOCK);
            TRY(par_each((w->rows + CHUNK - 1) / CHUNK, ctx, keep_best, w));
        }
        for (size_t i = 0; i < w->rows; i++)
            hits += knn_vote(w->best + i * k, k) == test_y[first + i];
        context_progress(ctx, "k-NN", first + w->rows, n_test, "rows");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "k-NN: stopped after %zu of %zu rows", first + w->rows, n_test);
    }
    *accuracy = (double)hits / (double)n_test;
done:
    par_set_threads(pool);
    if (w)
        arena_clear(&w->memory);
    base_free(w);
    return status;
}
