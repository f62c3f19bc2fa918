/* DCGAN: the discriminator learns to tell records from samples, the generator to be taken for records. Records and samples are
 * batches of their own for batch norm. One step of each, with -ln D for the generator. */
#include "generate/generator.h"

#include "nn/kernel/kernels.h"

#include <string.h>

static void generator_dcgan_widths(size_t maker[2], size_t reader[2], size_t width, size_t channels)
{
    maker[0] = reader[0] = width;
    maker[1] = channels;
    reader[1] = 1;
}

/* targets, and the discriminator's gradient on the records */
static size_t generator_dcgan_work(const struct generator_step *s)
{
    return s->batch + s->g->reader->trainable;
}

void adversarial_samples(struct generator_step *s, uint64_t step, uint64_t first)
{
    size_t latent = s->g->kind->latent;
    for (size_t i = 0; i < s->batch; i++)
        generator_latent(nn_plan_input(s->maker) + i * latent, latent, s->seed, step, first + i);
    passed(nn_plan_forward(s->maker, 1, s->seed, step));
}

double adversarial_mean(const float *logits, size_t n, double *positive)
{
    double sum = 0, above = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)logits[i] / (double)n, above += logits[i] > 0;
    if (positive)
        *positive = above;
    return sum;
}

/* Cross-entropy of the discriminator's answers with one target for all, and its gradient. */
static double generator_dcgan_answer(struct generator_step *s, float target)
{
    for (size_t i = 0; i < s->batch; i++)
        s->work[i] = target;
    return s->losses->logistic(nn_plan_diff_output(s->reader), nn_plan_output(s->reader), s->work,
                               1 / (float)s->batch, s->batch) /
           (double)s->batch;
}

static void generator_dcgan_gradient(struct training_batch *out, struct generator_step *s, uint64_t step)
{
    struct nn_model *d = s->g->reader;
    float *kept = s->work + s->batch, *input = nn_plan_input(s->reader);
    size_t bytes = s->batch * s->pixels * sizeof(float);
    const bool records = !s->others; /* are they the ones to be taken for records? */
    double right[2];
    memcpy(input, s->images, bytes);
    passed(nn_plan_forward(s->reader, 1, s->seed, step));
    s->numbers[0] = generator_dcgan_answer(s, (float)records);
    s->numbers[1] = adversarial_mean(nn_plan_output(s->reader), s->batch, &right[0]);
    passed(nn_plan_backward(s->reader));
    memcpy(kept, d->diffs, d->trainable * sizeof *kept);

    if (!s->others)
        adversarial_samples(s, step, 0);
    memcpy(input, s->others ? s->others : nn_plan_output(s->maker), bytes);
    passed(nn_plan_forward(s->reader, 1, s->seed, step));
    s->numbers[0] += generator_dcgan_answer(s, (float)!records);
    s->numbers[2] = adversarial_mean(nn_plan_output(s->reader), s->batch, &right[1]);
    passed(nn_plan_backward(s->reader));
    tensor_add(kernels_best(), NN_F32, d->diffs, kept, d->trainable, 1, NULL);
    nn_optimizer_step(s->reader_optimizer, d, s->lr);
    out->accuracy = (right[!records] + (double)s->batch - right[records]) / (2 * (double)s->batch);
    if (s->others) {
        out->loss = s->numbers[0];
        memset(s->g->maker->diffs, 0, s->g->maker->trainable * sizeof(float));
        return;
    }

    passed(nn_plan_forward(s->reader, 1, s->seed, step)); /* the same samples, judged again */
    out->loss = generator_dcgan_answer(s, 1);
    passed(nn_plan_backward_input(s->reader));
    memcpy(nn_plan_diff_output(s->maker), nn_plan_input_gradient(s->reader), bytes);
    passed(nn_plan_backward(s->maker));
}

/* tanh ends the generator. */
static void generator_dcgan_finish(float *x, size_t n, const struct sotto_generator *g)
{
    (void)x;
    (void)n;
    (void)g;
}

static float generator_dcgan_slope(float x, const struct sotto_generator *g)
{
    (void)x;
    (void)g;
    return 1;
}

const struct generator_kind generator_dcgan = {
    .name = "dcgan",
    .title = "deep convolutional GAN",
    .latent = 100,
    .lr = 2e-4,
    .beta1 = 0.5,
    .beta2 = 0.999,
    .batches = 1,
    .maker = &model_dcgan_generator,
    .reader = &model_dcgan_discriminator,
    .widths = generator_dcgan_widths,
    .reader_gradient = true,
    .numbers = {"discriminator_loss", "mean_logit_real", "mean_logit_fake"},
    .work = generator_dcgan_work,
    .gradient = generator_dcgan_gradient,
    .finish = generator_dcgan_finish,
    .slope = generator_dcgan_slope};
