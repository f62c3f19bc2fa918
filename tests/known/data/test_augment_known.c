/* Views against PyTorch's grid_sample (vectors and origin: augment_vectors.h, made by
 * tools/golden_augment.py). */
#include "support/test.h"
#include "support/worse.h"
#include "data/augment/augment.h"
#include "augment_vectors.h"

#include <math.h>

enum { PIXELS = VECTOR_HEIGHT * VECTOR_WIDTH };

static double farthest(const float *got, const float *expected)
{
    double worst = 0;
    for (size_t i = 0; i < 3 * PIXELS; i++)
        worst = worse(worst, fabs((double)got[i] - (double)expected[i]));
    return worst;
}

TEST(the_oracle_matches_pytorch)
{
    float got[3 * PIXELS];
    for (int i = 0; i < VECTORS; i++) {
        augment_reference(got, vector_image, 3, VECTOR_HEIGHT, VECTOR_WIDTH, vector_views + i);
        assert_true(farthest(got, vector_expected[i]) < 1e-7);
    }
}

TEST(the_kernels_match_pytorch)
{
    float got[3 * PIXELS], scratch[7 * VECTOR_WIDTH];
    for (int isa = 0; isa <= (int)cpu_best_isa(); isa++)
        for (int i = 0; i < VECTORS; i++) {
            augment_kernel_find((enum cpu_isa)isa)(got, vector_image, 3, VECTOR_HEIGHT, VECTOR_WIDTH,
                                                   vector_views + i, scratch);
            assert_true(farthest(got, vector_expected[i]) < 1e-6);
        }
}

/* Written out by hand: a row 0 51 102 153 (0 .2 .4 .6), moved right by one pixel, shows its first pixel
 * twice. */
TEST(a_shift_reflects)
{
    const uint8_t row[4] = {0, 51, 102, 153};
    const float expected[2][4] = {{0, 0, .2f, .4f}, {.2f, 0, 0, .2f}};
    for (int i = 0; i < 2; i++) {
        struct augment_view v = augment_identity();
        v.shift_x = i + 1;
        float got[12];
        augment_reference(got, row, 1, 1, 4, &v);
        for (int x = 0; x < 4; x++)
            assert_true(fabsf(got[3 * x + i] - expected[i][x]) < 1e-7f);
    }
}
