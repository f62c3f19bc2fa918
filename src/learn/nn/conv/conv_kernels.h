/* conv_kernels.h - the inner loops of conv_taps.c, conv_weights.c and conv_image.c, compiled per
 * instruction set. */
#ifndef NN_CONV_CONV_KERNELS_H
#define NN_CONV_CONV_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/** One output pixel and the source pixel that a tap reads for it: offsets in elements. */
struct pixel_pair {
    uint32_t src, dst;
};
enum { TILE_VECTOR = 16 };
/** Output channels per register tile when `width` source channels go side by side. */
static inline size_t tile_outputs(size_t width)
{
    return width == 64 ? 4 : 8;
}
/** A kernel row over an image: 3 columns of 3 colours lie side by side. */
enum { PICTURE_RUN = 9, PICTURE_PANEL = 64 };
struct image {
    size_t rows, stride; /* of the kernel; floats from one row of the image to the next */
    size_t outputs;      /* a multiple of 64 */
    int relu;
};
/** All NULL where the CPU has no AVX-512. width is 16, 32 or 64; outputs a multiple of 8. */
struct conv_kernels {
    /** out[o + r] += sum over j < depth of in[i + j] * panel[j][r], r < 64, for every pair; o = pair.dst and
     * i = pair.src if `forward`, else the other way round. panel (depth, 64). */
    void (*accumulate)(float *out, const float *in, const struct pixel_pair *pairs, size_t count, int forward,
                       const float *panel, size_t depth);
    /** panel (count, width): src[pairs[i].src + c]. */
    void (*pack_src)(float *panel, const float *src, const struct pixel_pair *pairs, size_t count,
                     size_t width);
    /** panel (outputs / t, count, t) with t = tile_outputs(width): diff_dst[pairs[i].dst + k]. */
    void (*pack_dst)(float *panel, const float *diff_dst, const struct pixel_pair *pairs, size_t count,
                     size_t outputs, size_t width);
    /** sums[k] += diff_dst[pairs[i].dst + k] over i. */
    void (*sum_dst)(float *sums, const float *diff_dst, const struct pixel_pair *pairs, size_t count,
                    size_t outputs);
    /** weights[k][c] += sum over i of the two panels; rows of `weights` are `stride` apart. */
    void (*multiply)(float *weights, size_t stride, const float *dst_panel, const float *src_panel,
                     size_t count, size_t outputs, size_t width);
    /** dst (count, outputs) from the values under the kernel; the first is at src + pixels[i].
     * panels (outputs / 64, 1 + rows * 9, 64): the bias, then the weights. */
    void (*image_forward)(float *dst, const float *src, const uint32_t *pixels, size_t count,
                          const struct image *shape, const float *panels);
    /** panels += the gradient of such panels. */
    void (*image_weights)(float *panels, const float *diff_dst, const float *src, const uint32_t *pixels,
                          size_t count, const struct image *shape);
};
const struct conv_kernels *conv_kernels_best(void);

#endif
