/* An audit of 100,000 records, 10 classes, 64 reference models, a population and features: every attack on
 * arrays, 2,000 bootstrap draws. bench_audit [RECORDS [MODELS]] prints wall time, CPU time and the largest
 * memory. */
#include "rng/rng.h"
#include "sotto/private/all.h"
#include "stopwatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { CLASSES = 10, WIDTH = 32 };

/* Logits of one model: the record's own, noise, and a push towards the label where the record was trained
 * on. */
static void answer(float *out, const int64_t *y, const uint8_t *trained, size_t n, uint64_t model)
{
    for (size_t i = 0; i < n; i++) {
        struct rng own = rng_stream(1, RNG_TEST, 0, i), noise = rng_stream(1, RNG_TEST, 1 + model, i);
        for (size_t k = 0; k < CLASSES; k++)
            out[i * CLASSES + k] = (float)(4 * rng_unit(&own) + 2 * rng_unit(&noise));
        out[i * CLASSES + (size_t)y[i]] += 2 + (trained[i] ? (float)rng_unit(&noise) : 0);
    }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)atol(argv[1]) : 100000, models = argc > 2 ? (size_t)atol(argv[2]) : 64,
           half = n / 2;
    float *target = malloc(n * CLASSES * sizeof *target),
          *reference = malloc(models * n * CLASSES * sizeof *reference),
          *features = malloc(n * WIDTH * sizeof *features), *others = malloc(half * CLASSES * sizeof *others);
    double *population = malloc(half * CLASSES * sizeof *population);
    int64_t *y = malloc(n * sizeof *y);
    uint8_t *member = calloc(n, 1), *trained = malloc(models * n), *nobody = calloc(n, 1);
    if (!target || !reference || !features || !others || !population || !y || !member || !trained || !nobody)
        return 71;
    for (size_t i = 0; i < n; i++) {
        struct rng r = rng_stream(2, RNG_TEST, 0, i);
        y[i] = (int64_t)rng_below(&r, CLASSES);
        member[i] = i < half;
        for (size_t m = 0; m < models; m++)
            trained[m * n + i] = (uint8_t)rng_below(&r, 2);
        for (size_t j = 0; j < WIDTH; j++)
            features[i * WIDTH + j] = (float)rng_unit(&r);
    }
    answer(target, y, member, n, 0);
    for (size_t m = 0; m < models; m++)
        answer(reference + m * n * CLASSES, y, trained + m * n, n, m + 1);
    answer(others, y, nobody, half, models + 1);
    for (size_t i = 0; i < half * CLASSES; i++)
        population[i] = others[i];
    struct sotto_audit_input in = {.member = target,
                                   .nonmember = target + half * CLASSES,
                                   .member_labels = y,
                                   .nonmember_labels = y + half,
                                   .n_member = half,
                                   .n_nonmember = n - half,
                                   .classes = CLASSES,
                                   .reference_outputs = reference,
                                   .reference_outputs_trained = trained,
                                   .reference_models = models,
                                   .population = population,
                                   .population_labels = y,
                                   .n_population = half,
                                   .member_features = features,
                                   .nonmember_features = features + half * WIDTH,
                                   .feature_count = WIDTH};
    struct sotto_audit_options options = {.draws = 2000, .most_vulnerable = 10};
    struct sotto_audit_result result = {0};
    struct rusage usage;
    double wall = wall_seconds(), cpu = cpu_seconds();
    if (sotto_audit(&result, &in, &options, NULL) != SOTTO_OK) {
        fprintf(stderr, "%s\n", sotto_error_text());
        return 1;
    }
    wall = wall_seconds() - wall;
    cpu = cpu_seconds() - cpu;
    getrusage(RUSAGE_SELF, &usage);
    printf("%zu records, %d classes, %zu reference models: %.2f s wall, %.2f s CPU, %.2f GB at most (inputs "
           "included)\n",
           n, CLASSES, models, wall, cpu, (double)usage.ru_maxrss / 1e6);
    sotto_audit_result_free(&result);
    free(target), free(reference), free(features), free(others), free(population), free(y), free(member),
        free(trained), free(nobody);
    return 0;
}
