#include "data/augment/augment.h"

ISA_LEVELS(augment_finisher, augment_finish);

augment_finisher *augment_finish_find(enum cpu_isa isa)
{
    return augment_finish_levels[isa];
}

size_t augment_blur_radius(size_t height)
{
    size_t radius = height / 20;
    return radius < 1 ? 1 : radius > AUGMENT_RADIUS_MAX ? AUGMENT_RADIUS_MAX : radius;
}

size_t augment_finish_floats(size_t height, size_t width)
{
    return 3 * height * width + 3 * (width + 2 * augment_blur_radius(height));
}
