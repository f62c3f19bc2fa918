/* What privacy costs in time: one release of a trained head (noise after training) beside DP-SGD, which clips
 * every record's gradient and draws noise in every step. A linear softmax head on random features; for such a
 * head the norm of a record's gradient is |p - e_y| sqrt(|h|^2 + 1), so clipping scales rows and no gradient
 * is ever formed per record: the cheapest DP-SGD there is. Batches are of fixed size, not Poisson samples, so
 * that both loops do the same work apart from clipping and noise: a bench, not a private training. usage:
 * bench_release [--rounds R] [--epochs E]. CPU time; medians of R interleaved rounds. */
#include "sotto/sotto.h"

#include "base/memory.h"
#include "nn/nn.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 10000, D = 128, K = 10, BATCH = 500, P = (D + 1) * K, ROUNDS_MAX = 101 };

static float x[N * (D + 1)], weights[P], gradient[P], logits[BATCH * K], rows[N * D]; /* x ends in a 1 */
static int64_t y[N];

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void synthesise(void)
{
    for (size_t i = 0; i < N; i++) {
        struct rng centre = rng_stream(1, RNG_SYNTHETIC, 1, i % K),
                   noise = rng_stream(1, RNG_SYNTHETIC, 0, i);
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++) {
            double v = 0.5 * rng_normal(&centre) + rng_normal(&noise);
            rows[i * D + j] = x[i * (D + 1) + j] = v > 0 ? (float)v : 0;
        }
        x[i * (D + 1) + D] = 1;
    }
}

/* Rows of `logits` become gradients with respect to them, each scaled so that its record's part of the weight
 * gradient has norm at most `clip`. */
static void clip_rows(const float *h, double clip)
{
    for (size_t i = 0; i < BATCH; i++) {
        float error = 0, square = 0;
        for (size_t k = 0; k < K; k++)
            error += logits[i * K + k] * logits[i * K + k];
        for (size_t j = 0; j <= D; j++)
            square += h[i * (D + 1) + j] * h[i * (D + 1) + j];
        double norm = sqrt((double)error * square);
        for (size_t k = 0; norm > clip && k < K; k++)
            logits[i * K + k] *= (float)(clip / norm);
    }
}

/* One epoch of SGD. clip 0: plain; steps: noise for every step, or NULL. */
static int epoch(const struct nn_backend *backend, double clip, struct sotto_steps *steps)
{
    for (size_t first = 0; first + BATCH <= N; first += BATCH) {
        const float *h = x + first * (D + 1);
        nn_sgemm(backend, 0, 1, BATCH, K, D + 1, 1, h, D + 1, weights, D + 1, 0, logits, K);
        (void)loss_softmax_cross_entropy(logits, logits, y + first, BATCH, K);
        for (size_t e = 0; e < BATCH * K; e++)
            logits[e] *= BATCH; /* of a sum, as DP-SGD has it */
        if (clip > 0)
            clip_rows(h, clip);
        nn_sgemm(backend, 1, 0, K, D + 1, BATCH, 1, logits, K, h, D + 1, 0, gradient, D + 1);
        if (steps && sotto_dp_step(steps, gradient) != SOTTO_OK)
            return 1;
        for (size_t e = 0; e < P; e++)
            weights[e] -= 0.1f / BATCH * gradient[e];
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double l = *(const double *)a, r = *(const double *)b;
    return l < r ? -1 : l > r;
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return values[n / 2];
}

enum { PLAIN, CLIPPED, NOISY, LIBRARY_SGD, LIBRARY_ADAM, RELEASE_LOGISTIC, RELEASE_GAUSSIAN, TASKS };
static const char *const titles[TASKS] = {"an epoch of plain SGD (this loop)",
                                          "the same, every record clipped",
                                          "the same, clipped and with exact noise in every step",
                                          "an epoch of 'sotto head --trainer sgd'",
                                          "an epoch of 'sotto head --trainer adam'",
                                          "one release, logistic (ledger written and synced)",
                                          "one release, Gaussian (ledger written and synced)"};

static sotto_status library_epochs(const char *trainer, size_t epochs)
{
    struct sotto_head *h = NULL;
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.batch = BATCH;
    r.epochs = epochs;
    sotto_status status = sotto_head_train(&h, rows, y, N, D, K, &r, NULL);
    sotto_head_free(h);
    return status;
}

static sotto_status release(const char *mechanism, const char *ledger)
{
    char *certificate = NULL;
    struct sotto_release r = {.mechanism = mechanism,
                              .scale = NAN,
                              .target = {1, 1e-5},
                              .sensitivity = {.l1 = 1, .l2 = 0.04, .source = SOTTO_SENSITIVITY_GIVEN},
                              .fingerprint = "bench",
                              .ledger = ledger};
    memset(weights, 0, sizeof weights);
    sotto_status status = sotto_dp_release(&certificate, weights, P, &r, NULL);
    sotto_text_free(certificate);
    return status;
}

static sotto_status reserve(struct sotto_steps **out, size_t epochs, const char *ledger)
{
    struct sotto_reserve r = {.sampled = {.mechanism = "gaussian",
                                          .noise_multiplier = 1.1,
                                          .sample_rate = (double)BATCH / N,
                                          .steps = epochs * (N / BATCH),
                                          .delta = 1e-5},
                              .max_grad_norm = 1,
                              .dimension = P,
                              .fingerprint = "bench-steps",
                              .ledger = ledger};
    return sotto_dp_reserve(out, &r, NULL);
}

static int run_task(int task, size_t epochs, const struct nn_backend *backend, struct sotto_steps *steps,
                    const char *ledger)
{
    if (task <= NOISY) {
        memset(weights, 0, sizeof weights);
        for (size_t e = 0; e < epochs; e++)
            if (epoch(backend, task >= CLIPPED, task == NOISY ? steps : NULL))
                return 1;
        return 0;
    }
    if (task <= LIBRARY_ADAM)
        return library_epochs(task == LIBRARY_SGD ? "sgd" : "adam", epochs) != SOTTO_OK;
    return release(task == RELEASE_LOGISTIC ? "logistic" : "gaussian", ledger) != SOTTO_OK;
}

int main(int argc, char **argv)
{
    static double times[TASKS][ROUNDS_MAX];
    size_t rounds = 11, epochs = 5;
    char folder[] = "/tmp/sotto-bench-XXXXXX", ledger[64], steps_ledger[64];
    const struct nn_backend *backend;
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--rounds") == 0 ? &rounds : &epochs) = strtoul(argv[i + 1], NULL, 10);
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    epochs = epochs < 1 ? 1 : epochs;
    if (nn_backend_find(&backend, "auto") != SOTTO_OK || !mkdtemp(folder))
        return 1;
    snprintf(ledger, sizeof ledger, "%s/release.jsonl", folder);
    snprintf(steps_ledger, sizeof steps_ledger, "%s/steps.jsonl", folder);
    par_set_threads(1); /* as heads train */
    synthesise();
    int failed = 0;
    for (size_t round = 0; round < rounds && !failed; round++) {
        struct sotto_steps *steps = NULL;
        unlink(ledger); /* so that the account of what is there already does not grow */
        unlink(steps_ledger);
        failed = reserve(&steps, epochs, steps_ledger) != SOTTO_OK;
        for (int task = 0; task < TASKS && !failed; task++) {
            double start = cpu_seconds();
            failed = run_task(task, epochs, backend, steps, ledger);
            times[task][round] = (cpu_seconds() - start) / (task <= LIBRARY_ADAM ? (double)epochs : 1);
        }
        sotto_steps_close(steps);
    }
    if (failed)
        fprintf(stderr, "bench_release: %s\n", sotto_error_text());
    for (int task = 0; task < TASKS && !failed; task++)
        printf("%-58s %9.3f ms of CPU\n", titles[task], 1e3 * median(times[task], rounds));
    if (!failed)
        printf("extra time of DP-SGD: %.2f times the plain epoch; of one release: %.2f plain epochs, once\n",
               median(times[NOISY], rounds) / median(times[PLAIN], rounds),
               median(times[RELEASE_LOGISTIC], rounds) / median(times[PLAIN], rounds));
    unlink(ledger);
    unlink(steps_ledger);
    if (rmdir(folder) != 0)
        fprintf(stderr, "bench_release: %s was left\n", folder);
    return failed;
}
