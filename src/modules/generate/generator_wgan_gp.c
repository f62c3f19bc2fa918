/* WGAN-GP: the critic's answers are to differ as much between records and samples as a function of slope 1 allows, which a penalty
 * on its gradient between them asks for. Five steps of the critic for each of the generator; a step of training is one of the
 * generator. */
#include "generate/generator.h"

#include "nn/kernel/kernels.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { CRITIC_STEPS = 5 };
static const double lambda = 10;

static void generator_wgan_gp_widths(size_t maker[2], size_t reader[2], size_t width, size_t channels)
{
    generator_dcgan.widths(maker, reader, width, channels);
}

/* the critic's gradient so far */
static size_t generator_wgan_gp_work(const struct generator_step *s)
{
    return s->g->reader->trainable;
}

static void answer_counts(struct nn_plan *plan, size_t batch, float by)
{
    for (size_t i = 0; i < batch; i++)
        nn_plan_diff_output(plan)[i] = by;
}

double gradient_penalty(struct nn_plan *reader, struct nn_plan *tangent, struct nn_model *critic,
                        size_t batch, double weight)
{
    const size_t width = shape_count(critic->input);
    const float *slopes = nn_plan_input_gradient(reader);
    float *direction = nn_plan_input(tangent);
    double penalty = 0;
    passed(nn_plan_forward(reader, 1, 0, 0));
    answer_counts(reader, batch, 1);
    passed(nn_plan_backward_input(reader));
    for (size_t i = 0; i < batch; i++) {
        const float *slope = slopes + i * width;
        double square = 0;
        for (size_t k = 0; k < width; k++)
            square += (double)slope[k] * (double)slope[k];
        double norm = sqrt(square), scale = norm > 0 ? 2 * weight * (1 - 1 / norm) / (double)batch : 0;
        for (size_t k = 0; k < width; k++)
            direction[i * width + k] = (float)(scale * (double)slope[k]);
        penalty += weight * (norm - 1) * (norm - 1) / (double)batch;
    }
    passed(nn_plan_forward(tangent, 1, 0, 0));
    answer_counts(tangent, batch, 1);
    memset(critic->diffs, 0, critic->trainable * sizeof *critic->diffs); /* of biases: the penalty has none */
    passed(nn_plan_backward(tangent));
    return penalty;
}

/* One pass of the critic, whose answers count with the factor `by`; its gradient comes on top of the one in s->work. */
static double pass_of(struct generator_step *s, float by, bool first)
{
    struct nn_model *critic = s->g->reader;
    passed(nn_plan_forward(s->reader, 1, 0, 0));
    double mean = adversarial_mean(nn_plan_output(s->reader), s->batch, NULL);
    answer_counts(s->reader, s->batch, by / (float)s->batch);
    passed(nn_plan_backward(s->reader));
    if (first)
        memcpy(s->work, critic->diffs, critic->trainable * sizeof *s->work);
    else
        tensor_add(kernels_best(), NN_F32, s->work, critic->diffs, critic->trainable, 1, NULL);
    return mean;
}

static void critic_step(struct generator_step *s, uint64_t step, size_t turn)
{
    struct nn_model *critic = s->g->reader;
    const float *records = s->images + turn * s->batch * s->pixels, *made = nn_plan_output(s->maker);
    float *input = nn_plan_input(s->reader);
    size_t count = s->batch * s->pixels;
    memcpy(input, records, count * sizeof *input);
    s->numbers[1] = pass_of(s, -1, true);
    adversarial_samples(s, step, turn * s->batch);
    memcpy(input, made, count * sizeof *input);
    s->numbers[2] = pass_of(s, 1, false);
    for (size_t i = 0; i < s->batch; i++) {
        struct rng r = rng_stream(s->seed, RNG_LATENT, step, (uint64_t)1 << 32 | (turn * s->batch + i));
        float share = rng_unit_f(&r);
        for (size_t k = i * s->pixels; k < (i + 1) * s->pixels; k++)
            input[k] = share * records[k] + (1 - share) * made[k];
    }
    s->numbers[3] = gradient_penalty(s->reader, s->tangent, critic, s->batch, lambda);
    s->numbers[0] = s->numbers[2] - s->numbers[1] + s->numbers[3];
    tensor_add(kernels_best(), NN_F32, critic->diffs, s->work, critic->trainable, 1, NULL);
    nn_optimizer_step(s->reader_optimizer, critic, s->lr);
}

static void generator_wgan_gp_gradient(struct training_batch *out, struct generator_step *s, uint64_t step)
{
    size_t above = 0;
    size_t bytes = s->batch * s->pixels * sizeof(float);
    for (size_t turn = 0; turn < CRITIC_STEPS; turn++)
        critic_step(s, step, turn);
    adversarial_samples(s, step, CRITIC_STEPS * s->batch);
    memcpy(nn_plan_input(s->reader), nn_plan_output(s->maker), bytes);
    passed(nn_plan_forward(s->reader, 1, 0, 0));
    out->loss = -adversarial_mean(nn_plan_output(s->reader), s->batch, NULL);
    for (size_t i = 0; i < s->batch; i++)
        above += (double)nn_plan_output(s->reader)[i] > s->numbers[1];
    out->accuracy = 1 - (double)above / (double)s->batch; /* samples rated below the mean of the records */
    answer_counts(s->reader, s->batch, -1 / (float)s->batch);
    passed(nn_plan_backward_input(s->reader));
    memcpy(nn_plan_diff_output(s->maker), nn_plan_input_gradient(s->reader), bytes);
    passed(nn_plan_backward(s->maker));
}

static void generator_wgan_gp_finish(float *x, size_t n, const struct sotto_generator *g)
{
    generator_dcgan.finish(x, n, g);
}

static float generator_wgan_gp_slope(float x, const struct sotto_generator *g)
{
    return generator_dcgan.slope(x, g);
}

const struct generator_kind generator_wgan_gp = {
    .name = "wgan-gp",
    .title = "Wasserstein GAN with a gradient penalty",
    .latent = 100,
    .lr = 1e-4,
    .beta1 = 0,
    .beta2 = 0.9,
    .batches = CRITIC_STEPS,
    .maker = &model_dcgan_generator,
    .reader = &model_wgan_critic,
    .widths = generator_wgan_gp_widths,
    .reader_gradient = true,
    .reader_tangent = true,
    .numbers = {"critic_loss", "mean_logit_real", "mean_logit_fake", "gradient_penalty"},
    .work = generator_wgan_gp_work,
    .gradient = generator_wgan_gp_gradient,
    .finish = generator_wgan_gp_finish,
    .slope = generator_wgan_gp_slope};
