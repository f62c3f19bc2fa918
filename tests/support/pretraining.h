/* What tests of pre-training runs share: a few images, a folder for checkpoints, runs that stop in the
 * middle. */
#ifndef TESTS_PRETRAINING_H
#define TESTS_PRETRAINING_H

#include "base/file.h"
#include "support/machine.h"
#include "sotto/lab/ssl.h"
#include "support/temporary_folder.h"

#include <signal.h>
#include <stdint.h>
#include <unistd.h>

static struct sotto_dataset *images; /* 14 of them */

static inline int open_images(void **state, const char *name)
{
    return make_folder(state) || sotto_dataset_open(&images, name, NULL) != SOTTO_OK ? -1 : 0;
}
static inline int close_images(void **state)
{
    sotto_dataset_free(images);
    return remove_folder(state);
}

/* Two epochs of 3 steps; two images are dropped. */
static inline struct sotto_pretrain_options tiny(void)
{
    struct sotto_pretrain_options o;
    sotto_pretrain_defaults(&o);
    o.epochs = 2;
    o.batch = 4;
    o.seed = 5;
    o.dtype = machine.dtype;
    o.backend = machine.backend;
    return o;
}

static inline void train(char sha256[65], struct sotto_pretrain_result *result,
                         const struct sotto_pretrain_options *o)
{
    struct sotto_encoder *e = NULL;
    if (sotto_pretrain(&e, result, images, NULL, 0, o, &machine.context) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    strcpy(sha256, sotto_encoder_sha256(e));
    sotto_encoder_free(e);
}

/* Stops the run once `stop_after` images are done. */
struct stopper {
    volatile sig_atomic_t stop;
    uint64_t stop_after;
};
static inline void watch(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    struct stopper *s = user;
    (void)stage, (void)total, (void)unit;
    if (done >= s->stop_after)
        s->stop = 1;
}
static inline void train_until(const struct sotto_pretrain_options *o, uint64_t stop_after)
{
    struct stopper s = {0, stop_after};
    struct sotto_context ctx = machine.context;
    struct sotto_encoder *e = NULL;
    ctx.stop = &s.stop, ctx.progress = watch, ctx.user = &s;
    assert_int_equal(sotto_pretrain(&e, NULL, images, NULL, 0, o, &ctx), SOTTO_ESTOPPED);
    assert_null(e);
}

static inline void expect_error(const struct sotto_pretrain_options *o, sotto_status expected,
                                const char *text)
{
    struct sotto_encoder *e = NULL;
    sotto_status status = sotto_pretrain(&e, NULL, images, NULL, 0, o, &machine.context);
    if (status != expected || !strstr(sotto_error_text(), text))
        fail_msg("expected %s '%s', got %s '%s'", sotto_status_name(expected), text,
                 sotto_status_name(status), sotto_error_text());
    assert_null(e);
}

static inline size_t count_text(const char *path, const char *text)
{
    unsigned char *data;
    size_t size, n = 0;
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    for (const char *at = (const char *)data; (at = strstr(at, text)); at++)
        n++;
    base_free(data);
    return n;
}

#endif
