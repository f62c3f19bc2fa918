/* The sum over tiles is one over blocks of tiles, whose points stay in the second-level cache. */
#include "nn/conv/winograd_example.h"

#include "nn/conv/conv_winograd.h"
#include "nn/conv/winograd_kernels.h"

/* TILES_LEAST, WEIGHTS_MOST: with fewer tiles, transforms of the sums take what products save; more weights would not fit
 * into a cache beside their points. */
enum { TAPS = 9, BLOCK = 32, TILES_LEAST = 4, WEIGHTS_MOST = 64 * 64 };

static struct winograd_tiles cut(struct nn_shape s)
{
    return (struct winograd_tiles){.height = s.height,
                                   .width = s.width,
                                   .channels = s.channels,
                                   .down = (s.height + WINOGRAD_TILE - 1) / WINOGRAD_TILE,
                                   .across = (s.width + WINOGRAD_TILE - 1) / WINOGRAD_TILE};
}

static size_t tiles_of(const struct conv_desc *d, size_t images)
{
    const struct winograd_tiles t = cut(d->src);
    return images * t.down * t.across;
}

bool winograd_example_fits(const struct conv_desc *d, size_t images)
{
    return conv_winograd_fits(d) && d->src_dtype == NN_F32 &&
           d->src.channels * d->dst.channels <= WEIGHTS_MOST && tiles_of(d, images) >= TILES_LEAST;
}

/* From one point to the next, as in conv_winograd.c. */
static size_t plane(size_t rows, size_t channels)
{
    return rows * channels + WINOGRAD_VECTOR;
}

size_t winograd_example_scratch(const struct conv_desc *d)
{
    const size_t C = d->src.channels, K = d->dst.channels;
    return WINOGRAD_POINTS * (plane(BLOCK, C) + plane(BLOCK, K) + plane(C, K));
}

/* sums (36, K, C) (+)= diff' * src of `tiles` tiles. */
static void add_block(float *sums, const struct winograd_kernels *k, const struct winograd_points *diff,
                      const struct winograd_points *src, const struct conv_desc *d, size_t tiles, bool add)
{
    const size_t C = d->src.channels, K = d->dst.channels, rows = winograd_panel(K, k->panel),
                 columns = winograd_panel(C, k->panel);
    for (size_t point = 0; point < WINOGRAD_POINTS; point++)
        for (size_t c = 0; c < C; c += columns)
            for (size_t first = 0; first < K; first += rows)
                k->multiply(&(struct winograd_product){
                    .out = sums + point * plane(C, K) + c * K + first * columns,
                    .left = diff->at + point * diff->plane + first * BLOCK,
                    .right = src->at + point * src->plane + c * BLOCK,
                    .rows = rows,
                    .columns = columns,
                    .depth = tiles,
                    .panels = 1,
                    .left_row = 1,
                    .left_depth = rows,
                    .add = add,
                });
}

void winograd_example(float *gradient, float *scratch, const float *diff_dst, const float *src,
                      const struct conv_desc *d, size_t images)
{
    const struct winograd_kernels *k = winograd_kernels_best();
    const size_t C = d->src.channels, K = d->dst.channels, columns = winograd_panel(C, k->panel),
                 tiles = tiles_of(d, images);
    const struct winograd_tiles source = cut(d->src), result = cut(d->dst);
    const struct winograd_points of_src = {scratch, plane(BLOCK, C), BLOCK},
                                 of_diff = {scratch + WINOGRAD_POINTS * plane(BLOCK, C), plane(BLOCK, K),
                                            BLOCK};
    float *sums = of_diff.at + WINOGRAD_POINTS * plane(BLOCK, K);
    for (size_t first = 0; first < tiles; first += BLOCK) {
        const size_t count = tiles - first < BLOCK ? tiles - first : BLOCK;
        k->from_source(&of_src, src, &source, first, count);
        k->from_tiles(&of_diff, diff_dst, &result, first, count);
        add_block(sums, k, &of_diff, &of_src, d, count, first > 0);
    }
    for (size_t output = 0; output < K; output++)
        for (size_t c = 0; c < C; c += WINOGRAD_VECTOR)
            k->to_weights(gradient + output * TAPS * C + c, (ptrdiff_t)C,
                          sums + c / columns * columns * K + output * columns + c % columns, plane(C, K));
}
