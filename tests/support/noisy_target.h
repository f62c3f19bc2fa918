/* A network that answers with noise, saved as target.safetensors in the test's folder, its records, and an attack on it as JSON. */
#ifndef TESTS_NOISY_TARGET_H
#define TESTS_NOISY_TARGET_H

#include "support/test.h"

#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/audit_text.h"
#include "support/head_blobs.h"
#include "support/machine.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <string.h>

enum { N = 40, POOL = 80, SIDE = 8, D = SIDE * SIDE, K = 4 };
static float x[(2 * N + POOL) * D]; /* members, non-members, attacker */
static int64_t y[2 * N + POOL];
static const struct sotto_context single = {.threads = 1};

static inline struct sotto_train_options noisy(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.model = "resnet8";
    o.channels = 1, o.height = SIDE, o.width = SIDE;
    o.epochs = 12;
    o.batch = 20;
    o.lr = 5e-3;
    o.dtype = "f32";
    o.backend = machine.backend;
    o.residual = (struct sotto_residual_noise){.kind = "additive", .gamma = .5, .input_noise = .25};
    return o;
}

static inline int set_up(void **state)
{
    struct sotto_train_options o = noisy();
    struct sotto_network *n = NULL;
    struct sotto_dataset set = {
        .name = "blobs", .n = N, .features = x, .columns = D, .labels = y, .classes = K};
    if (make_folder(state))
        return -1;
    make_blobs(x, y, 2 * N + POOL, D, K, 4, 1);
    if (sotto_train(&n, NULL, &set, NULL, 0, &o, &single) != SOTTO_OK ||
        sotto_network_save(path_of("target.safetensors"), n) != SOTTO_OK)
        return -1;
    sotto_network_free(n);
    return 0;
}

static inline struct sotto_attack_input input(void)
{
    struct sotto_attack_input in = {.member = {x, y, N},
                                    .nonmember = {x + N * D, y + N, N},
                                    .attacker = {x + 2 * N * D, y + 2 * N, POOL}};
    assert_int_equal(sotto_target_open(&in.target, path_of("target.safetensors"), &single), SOTTO_OK);
    return in;
}

static inline struct sotto_attack_options options(const char *name)
{
    struct sotto_attack_options o;
    sotto_attack_defaults(&o);
    o.name = name;
    o.shadows = strcmp(name, "lira") == 0 ? 4 : 2;
    return o;
}

/* "query_attack" of a run, to be freed. */
static inline struct json *attack(const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    double scores[2 * N];
    char *text = NULL;
    int finished = 0;
    struct json *doc = NULL;
    if (attack_text(&text, scores, &finished, in, o, &single) != SOTTO_OK)
        fail_msg("%s: %s", o->name, sotto_error_text());
    assert_true(finished);
    for (size_t i = 0; i < 2 * N; i++)
        assert_true(isfinite(scores[i]));
    assert_int_equal(json_parse(&doc, text, strlen(text), "result"), SOTTO_OK);
    sotto_text_free(text);
    return doc;
}

#endif
