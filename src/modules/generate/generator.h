/* generator.h - a generative model: two networks, one from latents to images and one that reads images. */
#ifndef GENERATE_GENERATOR_H
#define GENERATE_GENERATOR_H

#include "nn/kernel/loss_kernels.h"
#include "nn/loop/training_loop.h"
#include "nn/model/model.h"
#include "sotto/lab/generate.h"

enum { GENERATOR_SIDE = 32, GENERATOR_FACTS = 12 };

/** The two halves of generative models, which users do not name: config.hidden is {width, channels} of images of 32 x 32
 * pixels for the DCGAN (Radford et al. 2016), {width of the hidden layer, outputs} for the variational auto-encoder. */
extern const struct model_kind model_dcgan_generator, model_dcgan_discriminator, model_wgan_critic,
    model_vae_half;
extern const struct layer layer_transposed_conv;

struct generator_kind;
struct sotto_generator {
    const struct generator_kind *kind;
    size_t channels, width;
    struct nn_model *maker;  /* latents to images: generator or decoder */
    struct nn_model *reader; /* images to an answer: discriminator or encoder */
    size_t fact_count;
    char *facts[2 * GENERATOR_FACTS]; /* keys and values of the file's metadata */
};

/* What stands in the place of the generator's samples while a discriminator is trained: rows of the same set, half of each batch
 * from either list. Here THEY are what it takes for records, and the records are what it tells them from. The generator stays as
 * it began. */
struct generator_others {
    const int64_t *rows[2];
    size_t n[2];
};
/* sotto_generator_train(); others: of a dcgan, or NULL. */
sotto_status generator_train(struct sotto_generator **out, struct sotto_generator_result *result,
                             const struct sotto_dataset *data, const int64_t *rows, size_t n,
                             const struct generator_others *others,
                             const struct sotto_generator_options *options, const struct sotto_context *ctx);

/* One step of training, between drawing its records and moving the maker's weights. */
struct generator_step {
    const struct sotto_generator *g;
    struct nn_plan *maker, *reader; /* in training */
    struct nn_plan *tangent;        /* of the reader; NULL: the kind needs none */
    struct nn_optimizer *reader_optimizer;
    const struct loss_kernels *losses;
    size_t batch, pixels; /* pixels: values of an image */
    uint64_t seed;
    double lr;
    float *images;     /* (kind->batches, batch, pixels), in [-1, 1]: the records of this step, NHWC */
    float *others;     /* (batch, pixels), likewise, of struct generator_others; or NULL */
    float *work;       /* (kind->work() floats) */
    double numbers[4]; /* for metrics, of the last step */
};
/* A kind of model: one file each, and a row in generator_kinds[]. */
struct generator_kind {
    const char *name, *title;
    size_t latent;
    double lr, beta1, beta2; /* of Adam */
    size_t batches;          /* of records that a step reads */
    const struct model_kind *maker, *reader;
    /* Hidden widths of the two networks: their nn_model_config.hidden. */
    void (*widths)(size_t maker[2], size_t reader[2], size_t width, size_t channels);
    bool maker_gradient, reader_gradient; /* by the network's input, in training */
    bool reader_tangent;
    /* the reader gives the law of a record's latents; else a logit, higher of records than of samples */
    bool encodes;
    const char *numbers[5]; /* names of generator_step.numbers; NULL ends them */
    /* Floats of generator_step.work. */
    size_t (*work)(const struct generator_step *s);
    /* Moves the reader by its own gradient where that comes first, and leaves the maker's gradient in its model. */
    void (*gradient)(struct training_batch *out, struct generator_step *s, uint64_t step);
    /* x (n): an output of the maker becomes values of an image in [-1, 1]. */
    void (*finish)(float *x, size_t n, const struct sotto_generator *g);
    /* Its derivative, where it gave x. */
    float (*slope)(float x, const struct sotto_generator *g);
};
extern const struct generator_kind generator_dcgan, generator_wgan_gp, generator_vae;
/* EUSAGE lists the known names. */
sotto_status generator_kind_find(const struct generator_kind **out, const char *name);

/* Untrained. */
sotto_status generator_make(struct sotto_generator **out, const struct generator_kind *kind, size_t channels,
                            size_t width, uint64_t seed);
/* How many values a file of it holds. */
sotto_status generator_size(size_t *values, const struct generator_kind *kind, size_t channels, size_t width);
sotto_status generator_add_fact(struct sotto_generator *g, const char *key, const char *value);

/* Images of the set that this model can read. EINVAL. */
sotto_status generator_check_rows(size_t channels, const struct sotto_dataset *data, const int64_t *rows,
                                  size_t n);
/* out (side, side, channels) in [-1, 1]: one image, in the middle, on black. */
void generator_image(float *out, const struct sotto_dataset *data, int64_t row);
/* (pixels, channels) to (channels, pixels), and back. */
void generator_to_planes(float *out, const float *image, size_t channels);

/* Latent vector (count) number `index` of a training step, or of samples and draws, which never meet. */
enum { LATENT_SAMPLES = 1 << 30, LATENT_DRAWS };
void generator_latent(float *z, size_t count, uint64_t seed, uint64_t step, uint64_t index);

/* ---- adversarial models ---- */

/* A pass that was stopped is found by the code that gave the plan its context (generator_train.c). */
static inline void passed(sotto_status status)
{
    (void)status;
}
/* The step's samples, in training: nn_plan_output(s->maker), of latents number first, first + 1, ... */
void adversarial_samples(struct generator_step *s, uint64_t step, uint64_t first);
/* Mean logit of a batch; *positive: how many are above 0, or NULL. */
double adversarial_mean(const float *logits, size_t n, double *positive);
/* lambda times the mean over the records in the reader's input of (|gradient of its answer by the record| - 1)^2 (Gulrajani et al.
 * 2017), and, in the reader's model, its gradient by the weights. The critic is piecewise linear, so that gradient is the one of
 * <u, gradient by the record>, u fixed, which is linear in each layer's weights: a pass of u through the tangent and back. */
double gradient_penalty(struct nn_plan *reader, struct nn_plan *tangent, struct nn_model *critic,
                        size_t batch, double lambda);

/* ---- variational auto-encoders ---- */

/* What the encoder says of one record: mean and log variance, which it clamps. */
struct vae_law {
    const float *mean, *log_variance; /* (latent) */
};
double vae_log_variance(float x);
/* KL divergence of the law from the standard normal, nats. */
double vae_divergence(const struct vae_law *law, size_t latent);
/* z = mean + exp(log_variance / 2) e; returns ln p(z) - ln q(z), p the standard normal and q the law. */
double vae_draw(float *z, const struct vae_law *law, const float *e, size_t latent);
/* ln p(x | decoded), x in [0, 1]: Bernoulli of logits for grey images, normal of deviation .1 for colours. gradient (n), of minus
 * it times scale; or NULL. */
double vae_log_likelihood(float *gradient, const float *decoded, const float *x, float scale, size_t n,
                          size_t channels, const struct loss_kernels *losses);
/** A model from the bytes of such a file.
 *
 *  In:      bytes (size): borrowed during the call
 *  Out:     *out: free with sotto_generator_free()
 *  Returns: EFORMAT, ENOMEM; errors speak of "generator in memory" */
sotto_status generator_load_bytes(struct sotto_generator **out, const void *bytes, size_t size);
/** The bytes of that file, to memory.
 *
 *  Out:     *bytes (*size): free with sotto_bytes_free()
 *  Returns: ENOMEM */
sotto_status generator_save_bytes(void **bytes, size_t *size, const struct sotto_generator *g);

#endif
