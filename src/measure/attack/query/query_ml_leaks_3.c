/* ML-Leaks, adversary 3 (Salem et al. 2019): no shadow, no training. The score is the largest posterior; the
 * threshold is what the top tenth of random inputs reach. */
#include "attack/shadow/feature_space.h"
#include "attack/query_attack.h"
#include "attack/target/target.h"

#include <math.h>
#include <stdlib.h>

enum { RANDOM_INPUTS = 1000, TOP = RANDOM_INPUTS / 10 };

static int query_ml_leaks_3_falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double query_ml_leaks_3_largest(const float *p, size_t classes)
{
    double top = 0;
    for (size_t k = 0; k < classes; k++)
        top = fmax(top, (double)p[k]);
    return top;
}

static sotto_status random_threshold(double *out, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t d = in->records.d, classes = in->records.classes;
    struct feature_space space = {0};
    double *top = NULL;
    float *x = NULL, *p = NULL;
    NEW(top, RANDOM_INPUTS);
    NEW(x, RANDOM_INPUTS * d);
    NEW(p, RANDOM_INPUTS * classes);
    TRY(feature_space_make(&space, &in->records));
    for (size_t i = 0; i < RANDOM_INPUTS; i++) {
        struct rng r = rng_stream(in->options->seed, RNG_SYNTHETIC, 1, i);
        feature_draw_row(x + i * d, &space, &r);
    }
    TRY(target_query(in->target, p, x, RANDOM_INPUTS));
    for (size_t i = 0; i < RANDOM_INPUTS; i++)
        top[i] = query_ml_leaks_3_largest(p + i * classes, classes);
    qsort(top, RANDOM_INPUTS, sizeof *top, query_ml_leaks_3_falling);
    *out = top[TOP];
done:
    feature_space_clear(&space);
    base_free(top);
    base_free(x);
    base_free(p);
    return status;
}

static sotto_status query_ml_leaks_3_run(double *scores, struct query_result *result,
                                         const struct query_input *in)
{
    for (size_t i = 0; i < in->records.n; i++) {
        scores[i] = 0;
        for (size_t k = 0; k < in->records.classes; k++)
            scores[i] = fmax(scores[i], in->posteriors[i * in->records.classes + k]);
    }
    fact_count(&result->facts, "random_inputs", RANDOM_INPUTS);
    fact_real(&result->facts, "share_above", (double)TOP / RANDOM_INPUTS);
    return random_threshold(&result->threshold, in);
}

const struct query_attack query_ml_leaks_3 = {
    .name = "ml-leaks-3",
    .title = "Largest posterior against that of random inputs (no shadow model)",
    .source = "Salem et al. 2019, adversary 3",
    .needs = QUERY_POSTERIORS | QUERY_QUERIES,
    .run = query_ml_leaks_3_run};
