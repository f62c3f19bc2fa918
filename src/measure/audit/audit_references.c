#include "audit/audit_references.h"
#include "par/par.h"

enum { BLOCK_VALUES = 1 << 16, LEAST_ROWS = 16, MOST_ROWS = 4096 };

struct pass {
    struct reference_target *targets;
    const struct reference_source *source;
    reference_kernel *kernel;
    size_t count, rows; /* of targets; of a block */
    size_t left_out[REFERENCE_LANES];
};

/* Columns of the block, for attacks on the models that play the target. */
static void keep_columns(const struct pass *p, const double *signals, const uint8_t *trained, size_t row)
{
    for (size_t t = 0; t < p->count; t++) {
        const size_t m = p->left_out[t];
        if (m == SIZE_MAX)
            continue;
        p->targets[t].signals[row] = signals[m];
        if (p->targets[t].trained)
            p->targets[t].trained[row] = trained[m];
    }
}

static sotto_status fill_block(void *arg, size_t block, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    const struct pass *p = arg;
    const struct reference_source *source = p->source;
    const size_t models = source->models, first = block * p->rows,
                 count = source->n - first < p->rows ? source->n - first : p->rows;
    double *signals = NULL, target[REFERENCE_LANES] = {0};
    uint8_t *trained = NULL;
    struct reference_sums sums;
    NEW_ROWS(signals, count, models);
    NEW_ROWS(trained, count, models);
    TRY(source->read(source->self, signals, trained, first, count));
    for (size_t i = 0; i < count; i++) {
        struct reference_row r = {.signals = signals + i * models,
                                  .trained = trained + i * models,
                                  .models = models,
                                  .target = target,
                                  .probabilities = true};
        keep_columns(p, r.signals, r.trained, first + i);
        for (size_t t = 0; t < REFERENCE_LANES; t++)
            r.left_out[t] = p->left_out[t];
        for (size_t t = 0; t < p->count; t++)
            target[t] = p->targets[t].signals[first + i];
        p->kernel(&sums, &r);
        for (size_t t = 0; t < p->count; t++)
            p->targets[t].summary[first + i] = reference_summary_lane(&sums, &r, (int)t);
    }
done:
    base_free(signals);
    base_free(trained);
    return status;
}

sotto_status audit_references_pass(struct reference_target *targets, size_t count,
                                   const struct reference_source *source, const struct sotto_context *ctx)
{
    struct pass p = {.targets = targets,
                     .source = source,
                     .kernel = reference_kernel_best(),
                     .count = count,
                     .rows = BLOCK_VALUES / source->models};
    p.rows = p.rows < LEAST_ROWS ? LEAST_ROWS : p.rows > MOST_ROWS ? MOST_ROWS : p.rows;
    for (size_t t = 0; t < REFERENCE_LANES; t++)
        p.left_out[t] = t < count ? targets[t].model - 1 : SIZE_MAX; /* of the model under attack: SIZE_MAX */
    return par_each((source->n + p.rows - 1) / p.rows, ctx, fill_block, &p);
}
