#include "data/augment/augment.h"

ISA_LEVELS(augment_finisher, augment_finish);

augment_finisher *augment_finish_find(enum cpu_isa isa)
{
    return augment_finish_levels[isa];
}

size_t augment_finish_floats(size_t height, size_t width)
{
    return 3 * height * width + 3 * (width + 2 * augment_blur_radius(height));
}
