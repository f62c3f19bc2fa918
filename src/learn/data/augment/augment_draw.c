/* Keras applies flip, translation and zoom one after the other, each by its own bilinear resampling. All
 * three map output coordinates to input coordinates axis by axis, so their composition is one such map and
 * one sample:
 *
 *      zoom:        p -> z p + (W - 1)/2 (1 - z)      about the image centre; p in pixel-index coordinates
 *      translation: p -> p - t                        t = shift in pixels
 *      flip:        p -> W - 1 - p
 *
 * An output pixel asks the last layer first, hence source = flip(zoom(p) - t). With z <= 1 the zoom never
 * leaves the image, so only the translation reflects, and reflecting commutes with the flip: the fused map
 * equals Keras's, minus the blur of sampling up to three times. */
#include "data/augment/augment.h"

#include "rng/rng.h"

#include <math.h>

static double augment_draw_uniform(struct rng *r, double low, double high)
{
    return low + (high - low) * (double)rng_unit_f(r);
}

struct augment_view augment_draw(const struct augment_strength *strength, size_t height, size_t width,
                                 uint64_t seed, uint64_t step, uint64_t index)
{
    if (strength->recipe == AUGMENT_SIMCLR)
        return augment_draw_simclr(strength, height, width, seed, step, index);
    struct rng r = rng_stream(seed, RNG_AUGMENT, step, index);
    double z = 1 - sqrt(strength->min_area);
    struct augment_view v = augment_identity();
    v.flip = (rng_u32(&r) >> 31) & (strength->flip != 0);
    v.shift_y = augment_draw_uniform(&r, -z / 2, z / 2) * (double)height;
    v.shift_x = augment_draw_uniform(&r, -z / 2, z / 2) * (double)width;
    v.zoom_y = 1 + augment_draw_uniform(&r, -z, 0);
    v.zoom_x = 1 + augment_draw_uniform(&r, -z, 0);
    double scale = 1 + augment_draw_uniform(&r, -strength->brightness, strength->brightness);
    for (int i = 0; i < 9; i++)
        v.colour[i] =
            (float)(augment_draw_uniform(&r, -strength->jitter, strength->jitter) + (i % 4 == 0 ? scale : 0));
    return v;
}
