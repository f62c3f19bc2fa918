/* What is known of the coins from outside: scores of the answers of the trained model, and their file. */
#include "base/file.h"
#include "canary/canaries.h"
#include "io/array/npz.h"
#include "io/array/tensors.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nats; a label that is no class is nothing that the model was taught: 0. */
static double loss_of(const float *z, size_t classes, int64_t label)
{
    double top = z[0], sum = 0;
    if (label < 0 || (uint64_t)label >= classes)
        return 0;
    for (size_t k = 1; k < classes; k++)
        top = fmax(top, z[k]);
    for (size_t k = 0; k < classes; k++)
        sum += exp(z[k] - top);
    return log(sum) + top - z[label];
}

void sotto_canaries_answers(struct sotto_canaries *c, const float *heads, const float *tails)
{
    GIVEN_OR(, c);
    GIVEN_OR(, c->coins.count == 0 || heads);
    const size_t classes = c->data.classes;
    for (size_t i = 0; i < c->coins.count; i++) {
        c->black_box[i] = -loss_of(heads + i * classes, classes, c->labels[1][i]);
        if (tails)
            c->black_box[i] += loss_of(tails + i * classes, classes, c->labels[0][i]);
    }
    c->answered = true;
}

/* Pixels or features as they were trained on. */
static sotto_status add_records(struct sotto_tensors *t, const struct sotto_dataset *d, const char *values,
                                const char *labels)
{
    sotto_status status = SOTTO_OK;
    if (d->images)
        TRY(tensors_add(t, values, SOTTO_U1, 4, (size_t[]){d->n, d->channels, d->height, d->width},
                        d->images));
    else
        TRY(tensors_add(t, values, SOTTO_F4, 2, (size_t[]){d->n, d->columns}, d->features));
    TRY(tensors_add(t, labels, SOTTO_I8, 1, &d->n, d->labels));
done:
    return status;
}

/* The digits of a SHA-256 as 32 bytes. */
static sotto_status add_commitment(struct sotto_tensors *t, const char *digits)
{
    unsigned char bytes[CANARY_COMMITMENT];
    for (size_t i = 0; i < sizeof bytes; i++) {
        const char pair[] = {digits[2 * i], digits[2 * i + 1], 0};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    return tensors_add(t, "commitment", SOTTO_U1, 1, (size_t[]){sizeof bytes}, bytes);
}

sotto_status sotto_canaries_save(const struct sotto_canaries *c)
{
    REQUIRE_GIVEN(c);
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    char path[CANARY_PATH];
    TRY(canary_path(path, c->output, CANARY_RECORDS));
    TRY(add_commitment(&t, c->commitment));
    if (c->record[1].n)
        TRY(add_records(&t, &c->record[1], "heads", "heads_labels"));
    if (c->record[0].n)
        TRY(add_records(&t, &c->record[0], "tails", "tails_labels"));
    if (c->answered)
        TRY(tensors_add(&t, "black_box", SOTTO_F8, 1, &c->coins.count, c->black_box));
    if (c->white_box)
        TRY(tensors_add(&t, "white_box", SOTTO_F8, 1, &c->coins.count, c->white_box));
    file_release(c->held);
    TRY(npz_save(path, &t));
    TRY(canary_path(path, c->output, CANARY_STATE));
    unlink(path);
done:
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status ask_about(float **logits, const struct sotto_canaries *c, int heads,
                              sotto_canary_answers *answers, const void *model,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_dataset *records = sotto_canaries_records(c, heads);
    if (!records)
        goto done;
    NEW_ROWS(*logits, records->n, c->data.classes);
    TRY(answers(*logits, model, records, ctx));
done:
    return status;
}

sotto_status sotto_canaries_ask(struct sotto_canaries *c, sotto_canary_answers *answers, const void *model,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(c, answers, model);
    sotto_status status = SOTTO_OK;
    float *heads = NULL, *tails = NULL;
    TRY(ask_about(&heads, c, 1, answers, model, ctx));
    TRY(ask_about(&tails, c, 0, answers, model, ctx));
    if (heads)
        sotto_canaries_answers(c, heads, tails);
    TRY(sotto_canaries_save(c));
done:
    base_free(heads);
    base_free(tails);
    return status;
}
