#include "data/augment/augment.h"

#define LEVEL(suffix)                                                                                        \
    void augment_finish_##suffix(float *, size_t, size_t, const struct augment_view *, float *);
LEVEL(v2)
LEVEL(v3)
LEVEL(v4)
LEVEL(v4bf16)
#undef LEVEL

augment_finisher augment_finish_find(enum cpu_isa isa)
{
    static const augment_finisher finishers[CPU_ISA_COUNT] = {augment_finish_v2, augment_finish_v3,
                                                              augment_finish_v4, augment_finish_v4bf16};
    return finishers[isa];
}

size_t augment_finish_floats(size_t height, size_t width)
{
    return 3 * height * width + 3 * (width + 2 * augment_blur_radius(height));
}
