/* Metrics of one answer by hand: one that is in between, a certain one that is right, a certain one that is wrong, and a flat one. */
#include "support/test.h"

#include "attack/query/answer_metrics.h"

#include <math.h>

static void are(const float *p, int64_t y, const double expected[ANSWER_METRICS])
{
    float found[ANSWER_METRICS];
    answer_metrics(found, p, y, 3);
    for (int i = 0; i < ANSWER_METRICS; i++)
        if (!(fabs((double)found[i] - expected[i]) < 2e-6))
            fail_msg("metric %d is %g; expected %g", i, (double)found[i], expected[i]);
}

TEST(known_answers)
{
    const double most = -log(1.125e-7) / 16; /* what counts as impossible */
    are((const float[]){.7F, .2F, .1F}, 0, (const double[]){.02229218, .7, .26246693, .72984635, .01013545});
    are((const float[]){1, 0, 0}, 0, (const double[]){0, 1, .47140452, 0, 0});
    are((const float[]){1, 0, 0}, 1, (const double[]){most, 1, .47140452, 0, 2 * most});
    const float third = 1.F / 3;
    are((const float[]){third, third, third}, 2,
        (const double[]){.06866327, third, 0, 1, 2. / 3 * .06866327 + 2. / 3 * .02534157});
}
