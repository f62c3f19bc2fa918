/* Variational auto-encoder: the loss of a record is minus the evidence lower bound, with one draw from the encoder's law. Both
 * halves move by one Adam each, which is one Adam over both. */
#include "generate/generator.h"

#include <math.h>
#include <string.h>

static const double least = -12, most = 12; /* of log variances */
static const double deviation = 0.1;        /* of colours in [0, 1] */

double vae_log_variance(float x)
{
    return x < least ? least : x > most ? most : (double)x;
}

double vae_divergence(const struct vae_law *law, size_t latent)
{
    double sum = 0;
    for (size_t k = 0; k < latent; k++) {
        double v = vae_log_variance(law->log_variance[k]), m = (double)law->mean[k];
        sum += 0.5 * (m * m + exp(v) - 1 - v);
    }
    return sum;
}

double vae_draw(float *z, const struct vae_law *law, const float *e, size_t latent)
{
    double sum = 0;
    for (size_t k = 0; k < latent; k++) {
        double v = vae_log_variance(law->log_variance[k]), noise = (double)e[k],
               at = (double)law->mean[k] + exp(v / 2) * noise;
        z[k] = (float)at;
        sum += 0.5 * (noise * noise + v - at * at);
    }
    return sum;
}

double vae_log_likelihood(float *gradient, const float *decoded, const float *x, float scale, size_t n,
                          size_t channels, const struct loss_kernels *losses)
{
    double sum = 0, precision = 1 / (deviation * deviation);
    if (channels == 1)
        return -losses->logistic(gradient, decoded, x, scale, n);
    for (size_t i = 0; i < n; i++) {
        double off = (double)decoded[i] - (double)x[i];
        sum += 0.5 * precision * off * off;
        if (gradient)
            gradient[i] = (float)((double)scale * precision * off);
    }
    return -sum - (double)n * log(deviation * sqrt(2 * acos(-1.0)));
}

static void generator_vae_widths(size_t maker[2], size_t reader[2], size_t width, size_t channels)
{
    maker[0] = reader[0] = width * 25 / 2;
    maker[1] = GENERATOR_SIDE * GENERATOR_SIDE * channels;
    reader[1] = 2 * generator_vae.latent;
}

static size_t generator_vae_work(const struct generator_step *s)
{
    return s->batch * generator_vae.latent;
}

static struct vae_law law_of(const struct generator_step *s, size_t record)
{
    const float *answer = nn_plan_output(s->reader) + record * 2 * generator_vae.latent;
    return (struct vae_law){answer, answer + generator_vae.latent};
}

/* What the decoder's latents and the divergence say to the encoder. */
static void encoder_gradient(struct generator_step *s)
{
    const float *back = nn_plan_input_gradient(s->maker);
    size_t latent = generator_vae.latent;
    double share = 1 / (double)s->batch;
    for (size_t i = 0; i < s->batch; i++) {
        struct vae_law law = law_of(s, i);
        float *to = nn_plan_diff_output(s->reader) + i * 2 * latent;
        for (size_t k = 0; k < latent; k++) {
            double v = vae_log_variance(law.log_variance[k]), g = (double)back[i * latent + k];
            bool free = v > least && v < most;
            to[k] = (float)(g + share * (double)law.mean[k]);
            to[latent + k] =
                (float)(free ? 0.5 * (g * (double)s->work[i * latent + k] * exp(v / 2) + share * (exp(v) - 1))
                             : 0);
        }
    }
}

static double share_right(const float *decoded, const float *x, size_t n, size_t channels)
{
    size_t right = 0;
    float half = channels == 1 ? 0 : 0.5F;
    for (size_t i = 0; i < n; i++)
        right += (decoded[i] > half) == (x[i] > 0.5F);
    return (double)right / (double)n;
}

static void generator_vae_gradient(struct training_batch *out, struct generator_step *s, uint64_t step)
{
    size_t count = s->batch * s->pixels, latent = generator_vae.latent;
    float *x = nn_plan_input(s->reader);
    double divergence = 0;
    for (size_t i = 0; i < count; i++)
        x[i] = 0.5F * (s->images[i] + 1);
    passed(nn_plan_forward(s->reader, 1, s->seed, step));
    for (size_t i = 0; i < s->batch; i++) {
        struct vae_law law = law_of(s, i);
        float *e = s->work + i * latent;
        generator_latent(e, latent, s->seed, step, i);
        vae_draw(nn_plan_input(s->maker) + i * latent, &law, e, latent);
        divergence += vae_divergence(&law, latent) / (double)s->batch;
    }
    passed(nn_plan_forward(s->maker, 1, s->seed, step));
    const float *decoded = nn_plan_output(s->maker);
    s->numbers[0] = -vae_log_likelihood(nn_plan_diff_output(s->maker), decoded, x, 1 / (float)s->batch, count,
                                        s->g->channels, s->losses) /
                    (double)s->batch;
    s->numbers[1] = divergence;
    out->loss = s->numbers[0] + divergence;
    out->accuracy = share_right(decoded, x, count, s->g->channels);
    passed(nn_plan_backward(s->maker));
    encoder_gradient(s);
    passed(nn_plan_backward(s->reader));
    nn_optimizer_step(s->reader_optimizer, s->g->reader, s->lr);
}

static void generator_vae_finish(float *x, size_t n, const struct sotto_generator *g)
{
    for (size_t i = 0; i < n; i++) {
        float p = g->channels == 1 ? 1 / (1 + expf(-x[i])) : x[i];
        p = p < 0 ? 0 : p > 1 ? 1 : p;
        x[i] = 2 * p - 1;
    }
}

static float generator_vae_slope(float x, const struct sotto_generator *g)
{
    return g->channels == 1 ? 0.5F * (1 - x * x) : x > -1 && x < 1 ? 2 : 0;
}

const struct generator_kind generator_vae = {.name = "vae",
                                             .title = "variational auto-encoder",
                                             .latent = 20,
                                             .lr = 1e-3,
                                             .beta1 = 0.9,
                                             .beta2 = 0.999,
                                             .batches = 1,
                                             .maker = &model_vae_half,
                                             .reader = &model_vae_half,
                                             .widths = generator_vae_widths,
                                             .maker_gradient = true,
                                             .encodes = true,
                                             .numbers = {"reconstruction", "divergence"},
                                             .work = generator_vae_work,
                                             .gradient = generator_vae_gradient,
                                             .finish = generator_vae_finish,
                                             .slope = generator_vae_slope};
