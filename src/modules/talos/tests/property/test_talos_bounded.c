/* Talos, the bounded form: its gradient is that of its formula, and none where the classifier is worse than guessing. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/kernel/kernels.h"
#include "rng/rng.h"
#include "talos/talos_part.h"

#include <math.h>

enum { VALUES = 3 };

static double bounded(const struct talos_setup *s, const double *logits, const int64_t *labels, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++, logits += s->values) {
        double sum = 0;
        for (size_t k = 0; k < s->values; k++)
            sum += exp(logits[k]);
        mean += fmin(log(sum) - logits[labels[i]], -log(s->share[labels[i]])) / (double)n;
    }
    return mean;
}

TEST(the_bounded_form_follows_its_definition)
{
    enum { N = 40 };
    struct talos_setup s = {.values = VALUES, .share = {0.5, 0.3, 0.2}};
    struct rng r = rng_stream(6, RNG_TEST, 0, 0);
    double logits[N * VALUES];
    float x[N * VALUES], diff[N * VALUES];
    int64_t labels[N];
    size_t silent = 0;
    for (size_t i = 0; i < N * VALUES; i++) {
        x[i] = (float)(2 * rng_normal(&r));
        logits[i] = (double)x[i];
    }
    for (size_t i = 0; i < N; i++)
        labels[i] = (int64_t)rng_below(&r, VALUES);
    loss_softmax_cross_entropy(diff, x, labels, N, VALUES);
    talos_bound(diff, x, labels, N, &s);
    for (size_t i = 0; i < N * VALUES; i++) {
        const double h = 1e-6, keep = logits[i];
        logits[i] = keep + h;
        double above = bounded(&s, logits, labels, N);
        logits[i] = keep - h;
        double slope = (above - bounded(&s, logits, labels, N)) / (2 * h);
        logits[i] = keep;
        if (!(fabs((double)diff[i] - slope) < 1e-6))
            fail_msg("logit %zu: %g, expected %g", i, (double)diff[i], slope);
        silent += diff[i] == 0;
    }
    assert_true(silent > 0 && silent < N * VALUES && silent % VALUES == 0); /* both cases were seen */
}

/* A classifier that is as wrong as can be: as published it is pushed on at full strength, bounded no more. */
TEST(a_useless_classifier_has_no_gradient)
{
    struct talos_setup s = {.values = 2, .share = {0.75, 0.25}};
    const float wrong[4] = {-90, 90, 90, -90};
    const int64_t labels[2] = {0, 1};
    float diff[4];
    loss_softmax_cross_entropy(diff, wrong, labels, 2, 2);
    assert_true(fabsf(diff[0]) > 0.49f && fabsf(diff[3]) > 0.49f);
    talos_bound(diff, wrong, labels, 2, &s);
    for (int i = 0; i < 4; i++)
        assert_true(diff[i] == 0);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
