/* k-NN and a linear head on frozen embeddings: the two usual figures for an encoder. */
#include "inputs/image_inputs.h"

#include <string.h>

enum { NEIGHBOURS = 20 };

struct part {
    struct sotto_array x, y; /* (n, D) f4 and (n) i8 */
    size_t n;
};

static sotto_status take_part(struct part *p, const struct sotto_dataset *data,
                              const struct sotto_array *rows, const float *x, size_t width, int test)
{
    const int64_t *row = rows->data;
    for (size_t i = 0; i < rows->count; i++)
        p->n += ((size_t)row[i] >= data->n_train) == test;
    if (p->n == 0)
        return cli_fail(SOTTO_EINVAL,
                        "--evaluate needs rows of the training part and of the test part; the chosen rows "
                        "include none of the %s part of '%s'",
                        test ? "test" : "training", data->name);
    TRY_OR_RETURN(sotto_array_make(&p->x, SOTTO_F4, 2, (const size_t[]){p->n, width}));
    TRY_OR_RETURN(sotto_array_make(&p->y, SOTTO_I8, 1, (const size_t[]){p->n}));
    for (size_t i = 0, at = 0; i < rows->count; i++)
        if (((size_t)row[i] >= data->n_train) == test) {
            memcpy((float *)p->x.data + at * width, x + i * width, width * sizeof *x);
            ((int64_t *)p->y.data)[at++] = data->labels[row[i]];
        }
    return SOTTO_OK;
}

static sotto_status linear_probe(struct sotto_answer_quality *out, const struct part *train,
                                 const struct part *test, size_t width, size_t classes, uint64_t seed,
                                 const struct sotto_context *ctx)
{
    struct sotto_head_recipe recipe;
    struct sotto_head *head = NULL;
    struct sotto_array logits = {0};
    sotto_head_defaults(&recipe);
    recipe.seed = sotto_given_seed(seed);
    sotto_status status = SOTTO_OK;
    TRY(sotto_head_train(&head, train->x.data, train->y.data, train->n, width, classes, &recipe, ctx));
    TRY(sotto_array_make(&logits, SOTTO_F4, 2, (const size_t[]){test->n, classes}));
    TRY(sotto_head_predict(logits.data, head, test->x.data, test->n, width, 1, ctx));
    TRY(sotto_answer_quality(out, NULL, logits.data, 1, test->y.data, test->n, classes));
done:
    sotto_array_clear(&logits);
    sotto_head_free(head);
    return status;
}

sotto_status encoder_quality_measure(struct encoder_quality *out, const struct sotto_dataset *data,
                                     const struct sotto_array *rows, const float *x, size_t width,
                                     uint64_t seed, const struct sotto_context *ctx)
{
    struct part train = {0}, test = {0};
    struct encoder_quality q = {0};
    if (!data->labels)
        return cli_fail(SOTTO_EINVAL, "--evaluate: data set '%s' has no labels", data->name);
    sotto_status status = SOTTO_OK;
    TRY(take_part(&train, data, rows, x, width, 0));
    TRY(take_part(&test, data, rows, x, width, 1));
    TRY(sotto_knn_accuracy(&q.knn, train.x.data, train.y.data, train.n, test.x.data, test.y.data, test.n,
                           width, train.n < NEIGHBOURS ? train.n : NEIGHBOURS, ctx));
    TRY(linear_probe(&q.linear, &train, &test, width, data->classes, seed, ctx));
    q.train = train.n;
    q.test = test.n;
    *out = q;
done:
    sotto_array_clear(&train.x);
    sotto_array_clear(&train.y);
    sotto_array_clear(&test.x);
    sotto_array_clear(&test.y);
    return status;
}
