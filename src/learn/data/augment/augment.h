/* augment.h - random views of images for self-supervised training, and the plain view for embeddings.
 *
 * Source images are u8 (C, H, W) with C = 1 or 3; views are f32 (H', W', 3) in [0, 1], the input of an
 * encoder. H' = max(H, 32), likewise W': smaller images are zero-padded around their centre; grey is
 * replicated to 3 channels.
 *
 * Recipes: "keras", keras-io, examples/vision/semisupervised_simclr.py (RandomFlip, RandomTranslation,
 * RandomZoom, RandomColorAffine); "simclr", Chen et al. 2020 (random resized crop, colour jitter, grey,
 * blur), as torchvision and the code of the Talos paper write it, with two liberties: colour steps are linear
 * (hue turns in YIQ, nothing is cut to [0, 1] between them), so that their order does not matter. */
#ifndef DATA_AUGMENT_AUGMENT_H
#define DATA_AUGMENT_AUGMENT_H

#include "base/cpu.h"
#include "base/memory.h"

enum augment_recipe { AUGMENT_KERAS, AUGMENT_SIMCLR };
/** "keras" (also NULL) or "simclr". EINVAL. */
sotto_status augment_recipe_find(enum augment_recipe *out, const char *name);

/* How strong: min_area in (0, 1] (1: no translation, no zoom), brightness and jitter >= 0 (0: colours
 * stay). */
struct augment_strength {
    double min_area, brightness, jitter;
    int flip; /* 0: never flip */
    enum augment_recipe recipe;
    /* simclr: */
    int vertical_flip;
    double grey, blur; /* how often */
};

/** One view. Output pixel (y, x) shows the source at
 *
 *      y' = zoom_y (y + 1/2 - H/2) + H/2 - shift_y - 1/2
 *      x' likewise, then mirrored (W - 1 - x') if flip
 *
 * sampled bilinearly, the source continued by reflection (d c b a | a b c d | d c b a). Then, as row
 * vectors, rgb <- clip(rgb colour, 0, 1). Shifts are in pixels, |shift| <= size; zooms in (0, 1] (below 1:
 * zoom in). */
struct augment_view {
    int flip;
    double shift_y, shift_x, zoom_y, zoom_x;
    float colour[9]; /* (3, 3) row-major: out[j] = sum_i in[i] colour[3 i + j] */
    /* simclr: augment_finish() applies them, and the colours, after the sampling. */
    int flip_y;
    float mean_share; /* added: this times the mean luma of the sampled view (contrast) */
    double blur;      /* standard deviation in pixels; 0: none */
};
/** Parameters of view `index` of training step `step`: a function of its arguments only.
 *  z = 1 - sqrt(min_area): shift/size uniform in (-z/2, z/2), zoom 1 + uniform(-z, 0), colour
 *  I (1 + uniform(-brightness, brightness)) + J, J_ij uniform(-jitter, jitter).
 *  simclr: a crop of area uniform in (min_area, 1), of proportions log-uniform in (3/4, 4/3); in four views
 * of five brightness, contrast and saturation times uniform(1 -+ brightness), hue turned by
 * uniform(-+ jitter) of the circle; grey; blur of uniform(.1, 2) pixels. */
struct augment_view augment_draw(const struct augment_strength *strength, size_t height, size_t width,
                                 uint64_t seed, uint64_t step, uint64_t index);
/** augment_draw() by recipe simclr, whatever `strength` says. */
struct augment_view augment_draw_simclr(const struct augment_strength *strength, size_t height, size_t width,
                                        uint64_t seed, uint64_t step, uint64_t index);
/** The view that changes nothing. */
static inline struct augment_view augment_identity(void)
{
    return (struct augment_view){.zoom_y = 1, .zoom_x = 1, .colour = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

/** The readable oracle: double precision, pixel by pixel. dst (H, W, 3), src (C, H, W). */
void augment_reference(float *dst, const uint8_t *src, size_t channels, size_t height, size_t width,
                       const struct augment_view *view);

/** The fast kernel of one instruction-set level; all levels give the same bits. scratch:
 * augment_scratch_floats(). */
typedef void augment_kernel(float *dst, const uint8_t *src, size_t channels, size_t height, size_t width,
                            const struct augment_view *view, float *scratch);
augment_kernel *augment_kernel_find(enum cpu_isa isa);
size_t augment_scratch_floats(size_t width);

/** What simclr does to a view (H, W, 3) that was sampled without its colours: rgb <- clip(rgb colour +
 * mean_share mean(luma), 0, 1), then the blur, by a kernel of about a tenth of the height (odd, at least 3)
 * over borders continued by reflection (c b | a b c d | c b). All levels give the same bits. scratch:
 * augment_finish_floats(). */
typedef void augment_finisher(float *view, size_t height, size_t width, const struct augment_view *how,
                              float *scratch);
augment_finisher *augment_finish_find(enum cpu_isa isa);
size_t augment_finish_floats(size_t height, size_t width);
enum { AUGMENT_RADIUS_MAX = 32 };
static inline size_t augment_blur_radius(size_t height)
{
    size_t radius = height / 20;
    return radius < 1 ? 1 : radius > AUGMENT_RADIUS_MAX ? AUGMENT_RADIUS_MAX : radius;
}

/** Size of the views of (height, width) images: each at least 32. */
size_t augment_fitted(size_t size);
/** Turns a square image by `turns` quarter turns (anti-clockwise) and zero-pads it around its centre.
 *  dst (C, H', W'), src (C, H, W). turns != 0 needs H = W. */
void augment_fit(uint8_t *dst, const uint8_t *src, size_t channels, size_t height, size_t width, int turns);

/* ---- whole batches, in parallel ---- */
struct augment_config {
    struct augment_strength strength;
    size_t channels, height, width; /* of the source */
    size_t views;                   /* per image */
    int rotate; /* view v is first turned by v quarter turns (views <= 4, square images) */
    int threads;
    const struct sotto_context *ctx; /* NULL, or asked before every few views; must outlive the augmenter */
};
struct augmenter;
/** EINVAL: channels other than 1 or 3, strengths out of range, rotation of oblong images. ENOMEM. */
sotto_status augmenter_create(struct augmenter **out, const struct augment_config *config);
void augmenter_free(struct augmenter *a);
size_t augmenter_bytes(const struct augmenter *a);
/** Neighbouring records of a batch, and the place for their views. */
struct augment_part {
    const int64_t *rows; /* (n) */
    size_t n;
    size_t first; /* place of rows[0] in the batch */
    size_t room;  /* of dst for each view, in records; at least n */
};
/** dst (views * room, H', W', 3): row v room + i is view v of images[rows[i]], drawn as index (first + i) * views + v of
 * `step`. Allocates nothing; the same bits for every thread count and level. ESTOPPED: the context said so. */
sotto_status augmenter_run(struct augmenter *a, float *dst, const uint8_t *images,
                           const struct augment_part *part, uint64_t seed, uint64_t step);
/** dst (n, H', W', 3): the images as they are, scaled to [0, 1], padded and replicated. ESTOPPED. */
sotto_status augmenter_run_plain(struct augmenter *a, float *dst, const uint8_t *images, const int64_t *rows,
                                 size_t n);

#endif
