/* A participant that trains by DP-SGD: Poisson samples, clipped gradients, Gaussian noise. The noise comes from a seed and
 * only shows what such participants would give away; what it would cost is sotto_account_sampled(). */
#include "federated/federation.h"
#include "federated/federated_score.h"
#include "sotto/lab/head.h"

#include <math.h>
#include <string.h>

size_t federation_noisy_steps(const struct federation *f, size_t participant)
{
    size_t n = f->part[participant].n, batch = f->recipe[participant].batch;
    return f->recipe[participant].epochs * ((n + batch - 1) / batch);
}

void federated_add_gradient(double *sum, const struct whitebox_features *v, double scale)
{
    const struct sotto_head *h = v->head;
    for (size_t l = 1; l <= h->layers; l++) {
        double *w = sum + head_offset(h, l - 1);
        for (size_t o = 0; o < h->width[l]; o++) {
            double d = scale * v->diff[l][o];
            for (size_t i = 0; d != 0 && i < h->width[l - 1]; i++)
                w[o * h->width[l - 1] + i] += d * v->value[l - 1][i];
            w[h->width[l - 1] * h->width[l] + o] += d;
        }
    }
}

sotto_status federation_train_noisy(float *upload, const struct federation *f, size_t participant,
                                    const float *sent, size_t round, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head_recipe *recipe = &f->recipe[participant];
    const struct head_part *part = &f->part[participant];
    const struct head_data *data = f->data;
    struct rng sample = rng_stream(f->seed, RNG_ORDER, round, participant);
    struct rng noise = rng_stream(f->seed, RNG_EVALUATE, round, participant);
    double rate = fmin(1, (double)recipe->batch / (double)part->n);
    struct sotto_head *h = NULL;
    struct whitebox_features v = {0};
    double *sum = NULL;
    TRY(sotto_head_copy(&h, f->shape));
    TRY(whitebox_features_make(&v, h));
    NEW(sum, f->parameters);
    memcpy(h->parameters, sent, f->parameters * sizeof *sent);
    for (size_t step = 0; step < federation_noisy_steps(f, participant); step++) {
        TRY(context_check(ctx, "stopped in round %zu; nothing was written", round));
        for (size_t j = 0; j < f->parameters; j++)
            sum[j] = f->noise * f->clip * rng_normal(&noise);
        for (size_t i = 0; i < part->n; i++) {
            size_t record = head_part_record(part, i);
            if (rng_unit(&sample) >= rate)
                continue;
            whitebox_features_look(&v, data->x + record * data->d, data->y[record]);
            federated_add_gradient(sum, &v, fmin(1, f->clip * exp(-federated_log_gradient(&v))));
        }
        for (size_t j = 0; j < f->parameters; j++)
            h->parameters[j] -= (float)(recipe->lr / (rate * (double)part->n) * sum[j]);
    }
    memcpy(upload, h->parameters, f->parameters * sizeof *upload);
done:
    base_free(sum);
    whitebox_features_clear(&v);
    sotto_head_free(h);
    return status;
}
