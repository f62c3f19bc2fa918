/* dp_sgd_world.h - blobs and images to train on privately, and the request that does so. */
#ifndef TESTS_DP_SGD_WORLD_H
#define TESTS_DP_SGD_WORLD_H

#include "base/memory.h"
#include "nn/model/model.h"
#include "rng/rng.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"
#include "train/network/network.h"
#include "train/private/dp_sgd.h"

#include <math.h>
#include <unistd.h>

enum { N = 400, D = 12, K = 3 };

static float features[N * D];
static int64_t labels[N];
static struct sotto_dataset blobs = {.name = "blobs",
                                     .n = N,
                                     .n_train = N,
                                     .columns = D,
                                     .features = features,
                                     .classes = K,
                                     .labels = labels};
static struct sotto_dataset *images;

static inline int make_data(void **state)
{
    struct rng r = rng_stream(4, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++) {
        labels[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            features[i * D + j] = (float)(0.3 * rng_normal(&r) + (j % K == i % K ? 1 : 0));
    }
    memset(blobs.sha256, 'a', 64);
    return make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n64", NULL) != SOTTO_OK;
}

static inline int drop_data(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

struct request {
    struct sotto_train_options o;
    struct sotto_train_privacy p;
    const struct sotto_dataset *data;
    const int64_t *rows;
    size_t n;
};

static inline struct request on_blobs(void)
{
    struct request r = {.data = &blobs};
    sotto_train_defaults(&r.o);
    r.o.dtype = machine.dtype;
    r.o.backend = machine.backend;
    sotto_train_privacy_defaults(&r.p);
    r.p.spend.dataset_id = "toy";
    r.p.spend.source = &exercise;
    r.o.model = "mlp";
    r.o.hidden_count = 1;
    r.o.hidden[0] = 16;
    r.o.optimizer = "sgd";
    r.o.lr = 0.5;
    r.o.epochs = 10;
    r.o.batch = 40;
    r.p.noise_multiplier = 0.8;
    r.p.spend.ledger = path_of("ledger.jsonl");
    return r;
}

static inline sotto_status train(struct sotto_network **n, struct sotto_certificate **certificate,
                                 const struct request *r, const struct sotto_context *ctx)
{
    return sotto_train_private(n, certificate, NULL, r->data, r->rows, r->n, &r->o, &r->p, ctx);
}

/* The weights as one vector, in double; free with base_free. */
static inline double *weights_of(const struct request *r, size_t *count)
{
    struct sotto_network *n = NULL;
    struct sotto_certificate *certificate = NULL;
    assert_int_equal(train(&n, &certificate, r, &machine.context), SOTTO_OK);
    const struct tensor_list *tensors = nn_model_tensors(n->model);
    double *all = base_alloc(sotto_network_parameters(n), sizeof *all);
    *count = 0;
    for (size_t t = 0; t < tensors->count; t++)
        for (size_t i = 0; i < tensors->items[t].count; i++)
            all[(*count)++] = (double)tensors->items[t].value[i];
    sotto_network_free(n);
    sotto_certificate_free(certificate);
    return all;
}

static inline double distance(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

#endif
