/* Cuts tensors into chunks with borders that do not depend on threads. */
#include "nn/kernel/kernels.h"

#include "par/par.h"

enum { CHUNK = 1 << 17 }; /* elements */

struct span {
    const struct kernels *k;
    enum operation { RELU, MASK, ADD, TO_BF16, TO_F32 } operation;
    size_t y_size, x_size, n;
    enum nn_dtype dtype;
    char *y;
    const char *x;
};

static sotto_status run_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct span *s = arg;
    size_t start = chunk * CHUNK, n = s->n - start < CHUNK ? s->n - start : CHUNK;
    void *y = s->y + start * s->y_size;
    const void *x = s->x ? s->x + start * s->x_size : NULL;
    switch (s->operation) {
    case RELU:
        s->k->relu[s->dtype](y, n);
        break;
    case MASK:
        s->k->mask[s->dtype](y, x, n);
        break;
    case ADD:
        s->k->add[s->dtype](y, x, n);
        break;
    case TO_BF16:
        s->k->to_bf16(y, (const float *)x, n);
        break;
    case TO_F32:
        s->k->to_f32(y, (const bf16 *)x, n);
        break;
    }
    return SOTTO_OK;
}

static void run_span(struct span s, int threads, struct par_stop *stop)
{
    size_t chunks = (s.n + CHUNK - 1) / CHUNK;
    (void)par_shares(chunks, chunks > 1 ? threads : 1, stop, run_chunk, &s);
}

static void run_same(enum operation op, const struct kernels *k, enum nn_dtype d, void *y, const void *x,
                     size_t n, int threads, struct par_stop *stop)
{
    size_t size = dtype_size(d);
    run_span(
        (struct span){
            .k = k, .operation = op, .y_size = size, .x_size = size, .n = n, .dtype = d, .y = y, .x = x},
        threads, stop);
}

void tensor_relu(const struct kernels *k, enum nn_dtype d, void *x, size_t n, int threads,
                 struct par_stop *stop)
{
    run_same(RELU, k, d, x, NULL, n, threads, stop);
}

void tensor_mask(const struct kernels *k, enum nn_dtype d, void *diff, const void *x, size_t n, int threads,
                 struct par_stop *stop)
{
    run_same(MASK, k, d, diff, x, n, threads, stop);
}

void tensor_add(const struct kernels *k, enum nn_dtype d, void *y, const void *x, size_t n, int threads,
                struct par_stop *stop)
{
    run_same(ADD, k, d, y, x, n, threads, stop);
}

void tensor_to_bf16(const struct kernels *k, bf16 *y, const float *x, size_t n, int threads,
                    struct par_stop *stop)
{
    run_span((struct span){.k = k,
                           .operation = TO_BF16,
                           .y_size = sizeof *y,
                           .x_size = sizeof *x,
                           .n = n,
                           .y = (char *)y,
                           .x = (const char *)x},
             threads, stop);
}

void tensor_to_f32(const struct kernels *k, float *y, const bf16 *x, size_t n, int threads,
                   struct par_stop *stop)
{
    run_span((struct span){.k = k,
                           .operation = TO_F32,
                           .y_size = sizeof *y,
                           .x_size = sizeof *x,
                           .n = n,
                           .y = (char *)y,
                           .x = (const char *)x},
             threads, stop);
}

/* ---- sums over rows ---- */

enum { SUM_ROWS = 2048 };

struct row_sums {
    const struct kernels *k;
    enum nn_dtype dtype;
    float *partial;
    const char *x;
    size_t rows, columns;
};

static sotto_status sum_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    struct row_sums *s = arg;
    size_t start = chunk * SUM_ROWS, rows = s->rows - start < SUM_ROWS ? s->rows - start : SUM_ROWS;
    s->k->row_sums[s->dtype](s->partial + chunk * s->columns,
                             s->x + start * s->columns * dtype_size(s->dtype), rows, s->columns);
    return SOTTO_OK;
}

size_t tensor_row_sums_partial(size_t rows, size_t columns)
{
    return (rows + SUM_ROWS - 1) / SUM_ROWS * columns;
}

void tensor_row_sums(const struct kernels *k, enum nn_dtype d, float *sums, const void *x, size_t rows,
                     size_t columns, float *partial, int threads, struct par_stop *stop)
{
    struct row_sums s = {.k = k, .dtype = d, .partial = partial, .x = x, .rows = rows, .columns = columns};
    size_t chunks = (rows + SUM_ROWS - 1) / SUM_ROWS;
    (void)par_shares(chunks, chunks > 1 ? threads : 1, stop, sum_chunk, &s);
    for (size_t c = 0; c < columns; c++)
        sums[c] = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++)
        for (size_t c = 0; c < columns; c++)
            sums[c] += partial[chunk * columns + c];
}
