/* pretrained_world.h - a pre-trained encoder, public and private images, and trainings that start from the encoder. */
#ifndef TESTS_PRETRAINED_WORLD_H
#define TESTS_PRETRAINED_WORLD_H

#include "io/provenance/statement.h"
#include "ssl/encoder.h"
#include "support/exercise.h"
#include "support/machine.h"
#include "support/temporary_folder.h"
#include "train/network/network.h"
#include "train/private/dp_sgd.h"

enum { N = 60, CLASSES = 10, WIDTH = 64 };
static struct sotto_dataset *images;
static int64_t rows[N], public_rows[N];
static const char *from; /* a resnet8 of other rows than `rows` */
static char encoder_sha256[65];

static inline void save_encoder(const char *path, const char *statement, const int64_t *trained_on)
{
    struct sotto_encoder *e = NULL;
    struct sotto_provenance whose = {0};
    assert_int_equal(sotto_encoder_random(&e, images, "resnet8", 1), SOTTO_OK);
    if (statement)
        assert_int_equal(encoder_add_fact(e, STATEMENT_KEY, statement), SOTTO_OK);
    assert_int_equal(sotto_encoder_save(path, e), SOTTO_OK);
    strcpy(encoder_sha256, sotto_encoder_sha256(e));
    if (trained_on)
        assert_int_equal(sotto_provenance_of_rows(&whose, images, trained_on, N), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &whose), SOTTO_OK);
    sotto_provenance_clear(&whose);
    sotto_encoder_free(e);
}

static inline int set_up(void **state)
{
    static char kept[128];
    for (size_t i = 0; i < N; i++)
        rows[i] = (int64_t)(2 * i), public_rows[i] = (int64_t)(2 * i + 1);
    if (make_folder(state) || sotto_dataset_open(&images, "synthetic-images-n200", NULL) != SOTTO_OK)
        return -1;
    snprintf(kept, sizeof kept, "%s", path_of("encoder.safetensors"));
    from = kept;
    save_encoder(from, NULL, public_rows);
    return 0;
}

static inline int tear_down(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

/* Embeddings of public rows, and what files say of them: the rows of `whose`; NULL: nothing. */
static inline const char *save_public_embeddings(const int64_t *whose)
{
    static char path[128];
    struct sotto_encoder *e = NULL;
    struct sotto_array x = {0};
    struct sotto_provenance p = {0};
    snprintf(path, sizeof path, "%s", path_of("public.npy"));
    assert_int_equal(sotto_encoder_load(&e, from), SOTTO_OK);
    assert_int_equal(sotto_array_make(&x, SOTTO_F4, 2, (const size_t[]){N, WIDTH}), SOTTO_OK);
    assert_int_equal(sotto_embed(x.data, e, images, public_rows, N, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path, &x), SOTTO_OK);
    if (whose)
        assert_int_equal(sotto_provenance_of_rows(&p, images, whose, N), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &p), SOTTO_OK);
    sotto_provenance_clear(&p);
    sotto_array_clear(&x);
    sotto_encoder_free(e);
    return path;
}

static inline struct sotto_train_options options_of(const char *freeze)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.from = from;
    o.freeze = freeze;
    o.optimizer = "sgd";
    o.momentum = 0.9;
    o.lr = 0.1;
    o.epochs = 2;
    o.batch = 20;
    o.dtype = machine.dtype;
    o.backend = machine.backend;
    return o;
}

static inline struct sotto_train_privacy privacy_of(void)
{
    struct sotto_train_privacy p;
    sotto_train_privacy_defaults(&p);
    p.spend.source = &exercise;
    p.spend.ledger = path_of("ledger.jsonl");
    p.noise_multiplier = 1;
    p.max_grad_norm = 0.1;
    p.target.delta = 1e-3;
    return p;
}

static inline struct sotto_network *train(const struct sotto_train_options *o)
{
    struct sotto_network *n = NULL;
    const sotto_status status = sotto_train(&n, NULL, images, rows, N, o, &machine.context);
    if (status != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return n;
}

static inline struct sotto_network *train_private(struct sotto_certificate **c,
                                                  const struct sotto_train_options *o,
                                                  const struct sotto_train_privacy *p)
{
    struct sotto_network *n = NULL;
    const sotto_status status = sotto_train_private(&n, c, NULL, images, rows, N, o, p, &machine.context);
    if (status != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return n;
}

#endif
