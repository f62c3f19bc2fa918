/* Simple faces with two labels that have nothing to do with each other: the task asks whether the hair is
 * short or long, the attribute which of five families the face belongs to, and so how its hair is striped,
 * how wide its eyes are and how dark its skin is.
 *
 * Stand-in for the sets of face attributes that Talos was measured on (DS-14): five values with the shares of
 * UTKFace's race column, drawn independently of the task, so whatever a task model tells about the family it
 * tells beyond its purpose. Both are noisy: there is hair between short and long, and each of a family's
 * three marks is another family's now and then. Light, colour of the background and of the hair are drawn for
 * every image, so that random colour changes leave stripes and eyes as the marks that remain; moving and
 * stretching an image, as for two views of it, changes neither label. */
#include "data/synthetic/synthetic.h"

#include <math.h>

enum { CLASSES = 2, FAMILIES = 5, CHANNELS = 3, STRAY = 8 /* one mark in so many is from another family */ };
static const char *const class_names[CLASSES] = {"short", "long"};
static const char *const family_names[FAMILIES] = {"first", "second", "third", "fourth", "fifth"};
static const unsigned family_share[FAMILIES] = {421, 194, 155, 155, 75}; /* of 1000 */

/* What a family looks like. */
static const float stripe_rate[FAMILIES] = {2.0f, 4.0f, 6.0f, 3.0f, 8.0f}; /* of the hair, per image side */
static const float eye_width[FAMILIES] = {0.16f, 0.24f, 0.20f, 0.28f, 0.13f}; /* of the head's height */
static const float skin_tone[FAMILIES] = {205, 120, 180, 150, 165};

/* One image, lengths in shares of its side, drawn from its stream in this order. */
struct face {
    float x, y, height, aspect; /* centre and half axes: height, height * aspect */
    float hair_length, stripe_c, stripe_s, stripe_rate, stripe_phase;
    float eye_width, eye_height, eye_apart;
    float skin[CHANNELS], hair[CHANNELS], ground[CHANNELS], slope_x, slope_y, light, noise;
};

static unsigned draw_family(struct rng *r)
{
    unsigned point = rng_below(r, 1000), family = 0;
    while (point >= family_share[family])
        point -= family_share[family++];
    return family;
}

/* A mark of the family, or of another one. */
static float draw_mark(struct rng *r, const float *marks, unsigned family, float spread)
{
    unsigned shown = rng_below(r, STRAY) == 0 ? rng_below(r, FAMILIES) : family;
    return marks[shown] * (1 + synthetic_between(r, -spread, spread));
}

/* Nearly grey, so that images differ by what they show. */
static void draw_colour(struct rng *r, float colour[CHANNELS], float low, float high)
{
    float level = synthetic_between(r, low, high);
    for (int c = 0; c < CHANNELS; c++)
        colour[c] = level + synthetic_between(r, -15, 15);
}

static struct face face_draw(struct rng *r, int64_t label, unsigned family)
{
    struct face f;
    f.x = 0.5f + synthetic_between(r, -0.08f, 0.08f);
    f.y = 0.55f + synthetic_between(r, -0.06f, 0.06f);
    f.height = synthetic_between(r, 0.28f, 0.36f);
    f.aspect = synthetic_between(r, 0.7f, 0.95f);
    f.hair_length = (label ? 0.78f : 0.22f) + synthetic_between(r, -0.33f, 0.33f);
    synthetic_direction(r, &f.stripe_c, &f.stripe_s);
    f.stripe_rate = draw_mark(r, stripe_rate, family, 0.15f);
    f.stripe_phase = rng_unit_f(r);
    f.eye_width = draw_mark(r, eye_width, family, 0.1f);
    f.eye_height = synthetic_between(r, 0.08f, 0.12f);
    f.eye_apart = synthetic_between(r, 0.40f, 0.48f);
    float tone = draw_mark(r, skin_tone, family, 0.12f);
    for (int c = 0; c < CHANNELS; c++)
        f.skin[c] = tone * (1.05f - 0.1f * (float)c);
    draw_colour(r, f.hair, 20, 150);
    draw_colour(r, f.ground, 40, 215);
    f.slope_x = synthetic_between(r, -50, 50);
    f.slope_y = synthetic_between(r, -50, 50);
    f.light = synthetic_between(r, 0.75f, 1.2f);
    f.noise = synthetic_between(r, 4, 14);
    return f;
}

static float dataset_synthetic_faces_clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

/* How far inside an ellipse (u, v) lies, in pixels of `side`, cut to [0, 1]. */
static float dataset_synthetic_faces_inside(float u, float v, float half_width, float half_height, float side)
{
    float a = u / half_width, b = v / half_height,
          smaller = half_width < half_height ? half_width : half_height;
    return dataset_synthetic_faces_clamp(0.5f + (1 - sqrtf(a * a + b * b)) * smaller * side, 0, 1);
}

/* Light and dark bands: a wave of straight lines between 0 and 1. */
static float dataset_synthetic_faces_stripes(const struct face *f, float u, float v)
{
    float t = (f->stripe_c * u + f->stripe_s * v) * f->stripe_rate + f->stripe_phase;
    return fabsf(2 * (t - floorf(t)) - 1);
}

/* Share of every layer at (u, v) from the centre; later ones cover earlier ones. */
struct layers {
    float hair, stripe, skin, eyes, mouth;
};

static struct layers layers_at(const struct face *f, float u, float v, float side)
{
    struct layers l;
    float width = f->height * f->aspect, eye = f->eye_apart * width, longer = f->hair_length;
    l.hair = dataset_synthetic_faces_inside(u, v + (0.45f - 0.75f * longer) * f->height,
                                            width * (1 + 0.45f * longer), f->height * (0.95f + 0.5f * longer),
                                            side);
    l.stripe = dataset_synthetic_faces_stripes(f, u, v);
    l.skin = dataset_synthetic_faces_inside(u, v - 0.1f * f->height, width, f->height, side);
    l.eyes = dataset_synthetic_faces_inside(fabsf(u) - eye, v + 0.1f * f->height, f->eye_width * f->height,
                                            f->eye_height * f->height, side);
    l.mouth = dataset_synthetic_faces_inside(u, v - 0.6f * f->height, 0.4f * width, 0.09f * f->height, side);
    return l;
}

struct face_job {
    struct dataset *d;
    size_t side;
};

static float dataset_synthetic_faces_cover(float below, float above, float share)
{
    return below + (above - below) * share;
}

static void draw_pixel(uint8_t *pixel, size_t plane, const struct face *f, const struct layers *l, float u,
                       float v, float grain)
{
    for (size_t c = 0; c < CHANNELS; c++) {
        float value = f->ground[c] + f->slope_x * u + f->slope_y * v;
        value = dataset_synthetic_faces_cover(value, f->hair[c] + 105 * l->stripe, l->hair);
        value = dataset_synthetic_faces_cover(value, f->skin[c], l->skin);
        value = dataset_synthetic_faces_cover(value, 25, l->eyes * l->skin);
        value = dataset_synthetic_faces_cover(value, 90, l->mouth * l->skin);
        pixel[c * plane] = (uint8_t)(dataset_synthetic_faces_clamp(value * f->light + grain, 0, 255) + 0.5f);
    }
}

static void draw_record(void *arg, size_t row)
{
    const struct face_job *job = arg;
    struct rng r = synthetic_stream(SYNTHETIC_FACES, row + 1);
    int64_t label = (int64_t)rng_below(&r, CLASSES);
    unsigned family = draw_family(&r);
    struct face f = face_draw(&r, label, family);
    size_t plane = job->side * job->side;
    uint8_t *pixel = job->d->images + row * CHANNELS * plane;
    float side = (float)job->side;
    for (size_t i = 0; i < job->side; i++) {
        for (size_t j = 0; j < job->side; j++) {
            float u = ((float)j + 0.5f) / side - f.x, v = ((float)i + 0.5f) / side - f.y;
            struct layers l = layers_at(&f, u, v, side);
            draw_pixel(pixel++, plane, &f, &l, u, v, f.noise * synthetic_noise(&r));
        }
    }
    job->d->labels[row] = label;
    job->d->attribute[row] = (int64_t)family;
}

static sotto_status open_faces(struct dataset *d, const char *name, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct synthetic_option options[] = {
        {'n', 24000, 1, 10000000, "records"}, {'s', 32, 16, 256, "pixels along a side"}, {0, 0, 0, 0, NULL}};
    TRY(synthetic_options(options, "synthetic-faces", name));
    size_t n = options[0].value, side = options[1].value;
    TRY(dataset_reserve_images(d, n, CHANNELS, side, side, true));
    TRY(dataset_set_classes(d, CLASSES, class_names));
    TRY(dataset_reserve_attribute(d, "family", FAMILIES, family_names));
    d->set.n_train = n - n / 4;
    struct face_job job = {d, side};
    TRY(synthetic_fill(n, draw_record, &job, ctx));
done:
    return status;
}

const struct dataset_source source_synthetic_faces = {
    .name = "synthetic-faces",
    .title = "Synthetic faces: short or long hair; attribute: one of five families; 32x32 colour",
    .origin = "generated by sotto; made-up data",
    .licence = "none needed",
    .options = "-n24000 records, -s32 pixels along a side",
    .sha256 = "d0d38447a89dbd0be23a3266d2b180ec5a440865c7cfb813ad865824a534bedf",
    .classes = CLASSES,
    .class_names = class_names,
    .synthetic = 1,
    .open = open_faces};
