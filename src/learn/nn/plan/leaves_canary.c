/* What this machine's kernels compute for one leaf of made-up records, as a hash. */
#include "nn/plan/leaves_private.h"

#include "base/cpu.h"
#include "rng/rng.h"

#include <stdio.h>
#include <string.h>

static void make_up(float *out, size_t count, double scale, uint64_t what)
{
    struct rng random = rng_stream(0, RNG_CHECK, 1, what);
    for (size_t i = 0; i < count; i++)
        out[i] += (float)(scale * (rng_unit(&random) - 0.5));
}

static sotto_status run_canary(struct sha256 *hash, struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *p = l->plans[0];
    const size_t outputs = l->rows * l->width;
    float *gradient = l->model->diffs;
    plan_bind(p, &l->memory[0], &(struct pass){0});
    plan_write_gradients(p, gradient, 0, l->model->trainable);
    memset(p->input, 0, l->rows * l->inputs * sizeof *p->input);
    make_up(p->input, l->rows * l->inputs, 1, 0);
    TRY(nn_plan_forward(p, 1, 0, 0));
    sha256_update(hash, p->output, outputs * sizeof *p->output);
    memset(p->diff_output, 0, outputs * sizeof *p->diff_output);
    make_up(p->diff_output, outputs, 1, 1);
    if (p->adversary_row != SOURCE_NONE) {
        const size_t logits = plan_activation(p, p->adversary_row)->count;
        sha256_update(hash, nn_plan_adversary_output(p), logits * sizeof(float));
        memset(nn_plan_adversary_diff(p), 0, logits * sizeof(float));
        make_up(nn_plan_adversary_diff(p), logits, 1, 3);
    }
    TRY(nn_plan_backward(p));
    sha256_update(hash, gradient, l->model->trainable * sizeof *gradient);
done:
    return status;
}

/* Noise on the weights while it runs, as zeros would hide what is below them. */
static sotto_status leaves_canary_hash(char out[SHA256_HEX], struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    struct sha256 hash;
    struct nn_model *m = l->model;
    float *weights = NULL, *values = m->values, *statistics = NULL;
    const size_t n = m->trainable;
    const int pool = par_set_threads(1);
    sha256_init(&hash);
    NEW(weights, n);
    NEW(statistics, m->statistic_count);
    memcpy(weights, values, n * sizeof *weights);
    memcpy(statistics, m->statistics, m->statistic_count * sizeof *statistics);
    make_up(values, n, 0.1, 2);
    status = run_canary(&hash, l);
    memcpy(values, weights, n * sizeof *weights);
    memcpy(m->statistics, statistics, m->statistic_count * sizeof *statistics);
    memset(m->diffs, 0, n * sizeof *m->diffs); /* passes over the top alone leave the others at that */
    sha256_hex(&hash, out);
done:
    par_set_threads(pool);
    base_free(weights);
    base_free(statistics);
    return status;
}

sotto_status leaves_machine(char out[LEAVES_MACHINE], struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    const char *backend = nn_backend_title(l->config.backend);
    char hash[SHA256_HEX];
    if (leaves_fast(l)) {
        snprintf(out, LEAVES_MACHINE, "threads=%d\nisa=%s\nbackend=%s\n", l->config.threads,
                 cpu_isa_name(cpu_best_isa()), backend);
        goto done;
    }
    TRY(leaves_canary_hash(hash, l));
    snprintf(out, LEAVES_MACHINE, "kernels=%.16s\nbackend=%s\n", hash, backend);
done:
    return status;
}
