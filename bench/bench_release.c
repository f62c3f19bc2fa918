/* What privacy costs in time: one release of a trained head (noise after training) beside DP-SGD (noise in
 * every step), both by this library, on a linear softmax head and random features. usage: bench_release
 * [--rounds R] [--epochs E] [--hidden H]. CPU time of one thread; medians of R interleaved rounds; a step is
 * what a run of three times the epochs takes longer, accounts not counted. */
#include "sotto/private/all.h"

#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 10000, D = 128, K = 10, BATCH = 256, P = (D + 1) * K, ROUNDS_MAX = 101 };

/* Measured on no one's data: its ledger may lie anywhere. */
static const struct sotto_source_records exercise = {.public_set = 1};

static float rows[N * D], weights[P];
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
            rows[i * D + j] = v > 0 ? (float)v : 0;
        }
    }
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

struct setting {
    size_t epochs, hidden;
    const char *ledger;
};

static struct sotto_head_recipe recipe_of(const char *trainer, const struct setting *s)
{
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.batch = BATCH;
    r.epochs = s->epochs;
    r.hidden_count = s->hidden > 0;
    r.hidden[0] = s->hidden;
    r.noise_multiplier = 1.1;
    return r;
}

static sotto_status train(const char *trainer, const struct setting *s)
{
    struct sotto_head *h = NULL;
    struct sotto_head_recipe r = recipe_of(trainer, s);
    sotto_status status = sotto_head_train(&h, rows, y, N, D, K, &r, NULL);
    sotto_head_free(h);
    return status;
}

static sotto_status train_private(const char *trainer, const char *noise, const struct setting *s)
{
    struct sotto_head *h = NULL;
    struct sotto_certificate *certificate = NULL;
    struct sotto_head_recipe r = recipe_of(trainer, s);
    struct sotto_head_privacy p = {.target = {NAN, 1e-5},
                                   .spend.dataset_id = "bench",
                                   .spend.source = &exercise,
                                   .spend.ledger = s->ledger};
    r.noise = noise;
    sotto_status status = sotto_head_train_private(&h, &certificate, rows, y, N, D, K, &r, &p, NULL);
    sotto_certificate_free(certificate);
    sotto_head_free(h);
    return status;
}

/* What a private run costs once: the account, the ledger, the certificate. */
static sotto_status account_only(const char *noise, const struct setting *s)
{
    struct sotto_dpsgd_session *steps = NULL;
    struct sotto_certificate *certificate = NULL;
    struct sotto_dpsgd_request r = {.sampled = {.mechanism = noise,
                                                .noise_multiplier = 1.1,
                                                .sample_rate = (double)BATCH / N,
                                                .steps = (s->epochs * N + BATCH - 1) / BATCH,
                                                .delta = 1e-5,
                                                .adjacency = SOTTO_ZERO_OUT},
                                    .max_grad_norm = 1,
                                    .dimension = P,
                                    .spend.dataset_id = "bench",
                                    .spend.source = &exercise,
                                    .spend.ledger = s->ledger};
    sotto_status status = sotto_dp_reserve(&steps, &r, NULL);
    if (status == SOTTO_OK)
        status = sotto_dpsgd_session_certificate(&certificate, steps);
    sotto_certificate_free(certificate);
    sotto_dpsgd_session_close(steps);
    return status;
}

static sotto_status release(const char *mechanism, const struct setting *s)
{
    struct sotto_certificate *certificate = NULL;
    struct sotto_release r = {.mechanism = mechanism,
                              .scale = NAN,
                              .target = {1, 1e-5},
                              .sensitivity = {.l1 = 1, .l2 = 0.04, .source = SOTTO_SENSITIVITY_GIVEN},
                              .spend.dataset_id = "bench",
                              .spend.source = &exercise,
                              .spend.ledger = s->ledger};
    memset(weights, 0, sizeof weights);
    sotto_status status = sotto_dp_release(&certificate, weights, P, &r, NULL);
    sotto_certificate_free(certificate);
    return status;
}

enum { SGD, ADAM, ACCOUNT, ACCOUNT_LOGISTIC, DP_SGD, DP_ADAM, DP_LOGISTIC, LOGISTIC, GAUSSIAN, TASKS };
static const char *const titles[TASKS] = {"a step of sgd",
                                          "a step of adam",
                                          "account, ledger and certificate of a DP-SGD run, Gaussian: once",
                                          "the same, logistic: once",
                                          "a step of dp-sgd, Gaussian noise",
                                          "a step of dp-adam, Gaussian noise",
                                          "a step of dp-sgd, logistic noise",
                                          "one release of the trained head, logistic: once",
                                          "one release of the trained head, Gaussian: once"};

static sotto_status run_task(int task, const struct setting *s)
{
    unlink(s->ledger); /* so that the account of what is there already does not grow */
    switch (task) {
    case SGD:
        return train("sgd", s);
    case ADAM:
        return train("adam", s);
    case ACCOUNT:
        return account_only("gaussian", s);
    case ACCOUNT_LOGISTIC:
        return account_only("logistic", s);
    case DP_SGD:
        return train_private("dp-sgd", "gaussian", s);
    case DP_ADAM:
        return train_private("dp-adam", "gaussian", s);
    case DP_LOGISTIC:
        return train_private("dp-sgd", "logistic", s);
    case LOGISTIC:
        return release("logistic", s);
    default:
        return release("gaussian", s);
    }
}

static int is_step(int task)
{
    return task == SGD || task == ADAM || (task >= DP_SGD && task < LOGISTIC);
}

/* Without the account, which is another for another number of steps. */
static double time_of(int task, const struct setting *s, int *failed)
{
    int account = task == DP_LOGISTIC ? ACCOUNT_LOGISTIC : ACCOUNT;
    double start = cpu_seconds();
    *failed = run_task(task, s) != SOTTO_OK;
    double seconds = cpu_seconds() - start;
    if (is_step(task) && task >= DP_SGD && !*failed) {
        start = cpu_seconds();
        *failed = run_task(account, s) != SOTTO_OK;
        seconds -= cpu_seconds() - start;
    }
    return seconds;
}

/* Medians; of steps also the difference of the quickest runs, which other work disturbs less. */
static void report(int task, double *once, double *more, size_t rounds, double steps)
{
    double apart[ROUNDS_MAX];
    for (size_t i = 0; i < rounds; i++)
        apart[i] = more[i] - once[i];
    double typical = median(once, rounds);
    qsort(more, rounds, sizeof *more, by_value);
    if (is_step(task))
        printf("%-64s %9.1f us of CPU, at best %.1f\n", titles[task], 1e6 * median(apart, rounds) / steps,
               1e6 * (more[0] - once[0]) / steps);
    else
        printf("%-64s %9.1f us of CPU\n", titles[task], 1e6 * typical);
}

int main(int argc, char **argv)
{
    static double once[TASKS][ROUNDS_MAX], more[TASKS][ROUNDS_MAX]; /* and what three times the steps add */
    size_t rounds = 11;
    char folder[] = "/tmp/sotto-bench-XXXXXX", ledger[64];
    struct setting s = {.epochs = 5, .ledger = ledger};
    for (int i = 1; i + 1 < argc; i += 2) {
        size_t value = strtoul(argv[i + 1], NULL, 10);
        *(strcmp(argv[i], "--rounds") == 0   ? &rounds
          : strcmp(argv[i], "--hidden") == 0 ? &s.hidden
                                             : &s.epochs) = value;
    }
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    s.epochs = s.epochs < 1 ? 1 : s.epochs;
    if (!mkdtemp(folder))
        return 1;
    snprintf(ledger, sizeof ledger, "%s/ledger.jsonl", folder);
    synthesise();
    int failed = 0;
    struct setting thrice = s;
    thrice.epochs *= 3;
    for (size_t round = 0; round < rounds && !failed; round++)
        for (int task = 0; task < TASKS && !failed; task++) {
            once[task][round] = time_of(task, &s, &failed);
            if (is_step(task) && !failed)
                more[task][round] = time_of(task, &thrice, &failed);
        }
    if (failed)
        fprintf(stderr, "bench_release: %s\n", sotto_error_text());
    for (int task = 0; task < TASKS && !failed; task++)
        report(task, once[task], more[task], rounds, 2 * ceil((double)s.epochs * N / BATCH));
    unlink(ledger);
    if (rmdir(folder) != 0)
        fprintf(stderr, "bench_release: %s was left\n", folder);
    return failed;
}
