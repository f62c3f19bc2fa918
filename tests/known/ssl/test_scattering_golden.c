/* The scattering transform against one made in float64 from filters sampled in space. */
#include "support/test.h"
#include "support/worse.h"
#include "scattering_vectors.h"
#include "sotto/lab/ssl.h"
#include "ssl/scattering.h"

#include <math.h>
#include <stdlib.h>

static const struct sotto_dataset one_image = {.name = "vector",
                                               .n = 1,
                                               .channels = 1,
                                               .height = VECTOR_HEIGHT,
                                               .width = VECTOR_WIDTH,
                                               .images = vector_image};

TEST(features_are_the_reference)
{
    enum { COUNT = sizeof vector_expected / sizeof *vector_expected };
    static const char *const levels[] = {"v2", "v3", "v4"};
    struct sotto_scattering plain = {.groups = SOTTO_NONE};
    float got[COUNT];
    double worst = 0;
    for (size_t level = 0; level < 3; level++) {
        setenv("SOTTO_ISA", levels[level], 1);
        assert_int_equal(sotto_scatter(got, &one_image, NULL, 1, &plain, NULL), SOTTO_OK);
        for (size_t i = 0; i < COUNT; i++)
            worst = worse(worst, fabs((double)got[i] - (double)vector_expected[i]));
    }
    unsetenv("SOTTO_ISA");
    assert_true(worst < 2e-6); /* 24 x 20 places in f32, features up to 1 */
}

TEST(groups_have_mean_0_and_variance_1)
{
    enum { GROUPS = 27, CELLS = 2 * 2, SIZE = 3 * CELLS };
    struct sotto_scattering s = {.groups = GROUPS, .grid = 2};
    float got[81 * CELLS];
    size_t shape[3];
    assert_int_equal(sotto_scattering_shape(shape, &one_image, &s), SOTTO_OK);
    assert_true(shape[0] == 81 && shape[1] == 2 && shape[2] == 2);
    assert_int_equal(sotto_scatter(got, &one_image, NULL, 1, &s, NULL), SOTTO_OK);
    for (size_t g = 0; g < GROUPS; g++) {
        double raw[SIZE], mean = 0, square = 0;
        for (size_t i = 0; i < SIZE; i++) { /* rows 0-1, 2-3 and columns 0-1, 1-2 of the 4 x 3 places */
            size_t channel = g * 3 + i / CELLS, a = i % CELLS / 2, b = i % 2;
            const float *from = vector_expected + channel * 12 + 2 * a * 3 + b;
            raw[i] = ((double)from[0] + (double)from[1] + (double)from[3] + (double)from[4]) / 4;
            mean += raw[i] / SIZE;
        }
        for (size_t i = 0; i < SIZE; i++)
            square += (raw[i] - mean) * (raw[i] - mean) / SIZE;
        for (size_t i = 0; i < SIZE; i++)
            assert_true(fabs((raw[i] - mean) / sqrt(square + 1e-5) - (double)got[g * SIZE + i]) < 2e-3);
    }
}
