/* Views by the recipe of SimCLR. Brightness b and contrast c (x -> c x + (1 - c) mean luma) are multiples and
 * shifts along grey; saturation s (x -> s x + (1 - s) luma) and hue (a turn around grey) leave luma alone. So
 * they commute, and all four are
 *
 *     x -> b c x S H + b (1 - c) mean(luma)
 *
 * with S = s I + (1 - s) L and H a turn of the chroma plane of YIQ. */
#include "data/augment/augment.h"

#include "rng/rng.h"
#include "base/choice.h"

#include <math.h>
#include <string.h>

enum { TRIES = 10 };
static const double luma[3] = {0.299, 0.587, 0.114};
/* Columns: Y, I, Q of red, green, blue (NTSC), and back. */
static const double to_yiq[3][3] = {
    {0.299, 0.595716, 0.211456}, {0.587, -0.274453, -0.522591}, {0.114, -0.321263, 0.311135}};

static double augment_simclr_uniform(struct rng *r, double low, double high)
{
    return low + (high - low) * (double)rng_unit_f(r);
}

/* torchvision's RandomResizedCrop without rounding to pixels; the whole image when ten tries do not fit. */
static void draw_crop(struct augment_view *v, struct rng *r, double min_area, double height, double width)
{
    for (int t = 0; t < TRIES; t++) {
        double area = augment_simclr_uniform(r, min_area, 1) * height * width,
               ratio = exp(augment_simclr_uniform(r, log(0.75), log(4.0 / 3)));
        double h = sqrt(area / ratio), w = sqrt(area * ratio), top = augment_simclr_uniform(r, 0, 1),
               left = augment_simclr_uniform(r, 0, 1);
        if (h > height || w > width)
            continue;
        v->zoom_y = h / height;
        v->zoom_x = w / width;
        v->shift_y = (height - h) * (0.5 - top);
        v->shift_x = (width - w) * (0.5 - left);
        return;
    }
}

/* Inverse of a 3x3 matrix, by its adjugate. */
static void augment_simclr_invert(double out[3][3], const double m[3][3])
{
    double determinant = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[j][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    for (int j = 0; j < 3; j++)
        determinant += m[0][j] * out[j][0];
    for (int i = 0; i < 9; i++)
        out[i / 3][i % 3] /= determinant;
}

static void augment_simclr_multiply(double out[3][3], const double a[3][3], const double b[3][3])
{
    for (int i = 0; i < 9; i++) {
        out[i / 3][i % 3] = 0;
        for (int k = 0; k < 3; k++)
            out[i / 3][i % 3] += a[i / 3][k] * b[k][i % 3];
    }
}

/* Row vectors: rgb to YIQ, chroma scaled by s and turned, and back. */
static void augment_simclr_chroma(double out[3][3], double saturation, double turns)
{
    const double angle = 2 * acos(-1) * turns, c = saturation * cos(angle), s = saturation * sin(angle);
    const double inner[3][3] = {{1, 0, 0}, {0, c, s}, {0, -s, c}};
    double half[3][3], back[3][3];
    augment_simclr_multiply(half, to_yiq, inner);
    augment_simclr_invert(back, to_yiq);
    augment_simclr_multiply(out, half, back);
}

struct augment_view augment_draw_simclr(const struct augment_strength *strength, size_t height, size_t width,
                                        uint64_t seed, uint64_t step, uint64_t index)
{
    enum { COLOURED = 8 }; /* of ten views */
    struct rng r = rng_stream(seed, RNG_AUGMENT, step, index);
    struct augment_view v = augment_identity();
    double low = fmax(0, 1 - strength->brightness), high = 1 + strength->brightness, m[3][3];
    draw_crop(&v, &r, strength->min_area, (double)height, (double)width);
    v.flip = (rng_u32(&r) >> 31) & (strength->flip != 0);
    v.flip_y = (rng_u32(&r) >> 31) & (strength->vertical_flip != 0);
    int coloured = 10 * rng_unit(&r) < COLOURED;
    double brightness = augment_simclr_uniform(&r, low, high),
           contrast = augment_simclr_uniform(&r, low, high),
           saturation = augment_simclr_uniform(&r, low, high),
           turns = augment_simclr_uniform(&r, -strength->jitter, strength->jitter);
    if (!coloured)
        brightness = contrast = saturation = 1, turns = 0;
    int grey = rng_unit(&r) < strength->grey, blurred = rng_unit(&r) < strength->blur;
    double sigma = augment_simclr_uniform(&r, 0.1, 2);
    augment_simclr_chroma(m, saturation, turns);
    for (int i = 0; i < 9; i++)
        v.colour[i] = (float)(brightness * contrast * (grey ? luma[i / 3] : m[i / 3][i % 3]));
    v.mean_share = (float)(brightness * (1 - contrast));
    v.blur = blurred ? sigma : 0;
    return v;
}

sotto_status augment_recipe_find(enum augment_recipe *out, const char *name)
{
    if (!name || strcmp(name, "keras") == 0)
        *out = AUGMENT_KERAS;
    else if (strcmp(name, "simclr") == 0)
        *out = AUGMENT_SIMCLR;
    else
        return choice_unknown(SOTTO_EINVAL, "augmentation", name, "keras or simclr");
    return SOTTO_OK;
}
