/* audit_world.h - what tests of audits share: a population of Gaussian signals, and reading results. */
#ifndef TESTS_AUDIT_WORLD_H
#define TESTS_AUDIT_WORLD_H

#include "io/json/json.h"
#include "rng/rng.h"
#include "sotto/private/all.h"
#include "support/audit_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline double value(const struct json *doc, const char *path)
{
    return json_number(json_find(doc, path));
}

static inline struct json *audit_run(const struct sotto_audit_input *in,
                                     const struct sotto_audit_options *options)
{
    char *text = NULL;
    struct json *doc = NULL;
    struct sotto_audit_result again = {0};
    char *copy = NULL;
    if (audit_text(&text, in, options, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    if (sotto_audit_decode(&again, text) != SOTTO_OK) /* encoder and decoder agree on every document */
        fail_msg("%s", sotto_error_text());
    assert_int_equal(sotto_audit_encode(&copy, &again), SOTTO_OK);
    assert_string_equal(copy, text);
    sotto_text_free(copy);
    sotto_audit_result_free(&again);
    assert_int_equal(json_parse(&doc, text, strlen(text), "audit"), SOTTO_OK);
    sotto_text_free(text);
    return doc;
}

static inline void expect(sotto_status status, const struct sotto_audit_input *in,
                          const struct sotto_audit_options *options, const char *text)
{
    char *json = NULL;
    assert_int_equal(audit_text(&json, in, options, NULL), status);
    assert_null(json);
    assert_string_equal(sotto_error_text(), text);
}

enum { RECORDS = 400, MODELS = 16 };

/* A population with Gaussian signals: own mean per record, +1 under models trained on it (0: no
 * leak). */
struct world {
    float logits[2][RECORDS * 2];
    int64_t labels[RECORDS];
    double reference[2][RECORDS * MODELS];
    uint8_t trained[2][RECORDS * MODELS];
};

static inline struct sotto_audit_input world_make(struct world *w, double leak, uint64_t seed)
{
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < RECORDS; i++) {
            struct rng r = rng_stream(seed, RNG_TEST, side, i);
            double own = 3 * rng_normal(&r);
            w->labels[i] = 0;
            w->logits[side][2 * i] = (float)(own + 0.5 * rng_normal(&r) + (side == 0 ? leak : 0));
            w->logits[side][2 * i + 1] = 0;
            for (size_t m = 0; m < MODELS; m++) {
                uint8_t in = rng_below(&r, 2) == 1;
                w->trained[side][i * MODELS + m] = in;
                w->reference[side][i * MODELS + m] = own + 0.5 * rng_normal(&r) + (in ? leak : 0);
            }
        }
    return (struct sotto_audit_input){.member = w->logits[0],
                                      .nonmember = w->logits[1],
                                      .member_labels = w->labels,
                                      .nonmember_labels = w->labels,
                                      .n_member = RECORDS,
                                      .n_nonmember = RECORDS,
                                      .classes = 2,
                                      .member_reference = w->reference[0],
                                      .nonmember_reference = w->reference[1],
                                      .member_trained = w->trained[0],
                                      .nonmember_trained = w->trained[1],
                                      .reference_models = MODELS};
}

#endif
