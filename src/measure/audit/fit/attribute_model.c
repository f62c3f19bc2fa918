#include "audit/fit/attribute_model.h"

#include "sotto/head.h"
#include "sotto/lab/head.h"

#include <math.h>

const char *attribute_kind_name(enum attribute_kind kind)
{
    static const char *const names[ATTRIBUTE_KINDS] = {"logistic regression", "network",
                                                       "network of 4 layers", "network of 5 layers",
                                                       "network of 6 layers"};
    return names[kind];
}

size_t attribute_layers(enum attribute_kind kind)
{
    return ATTRIBUTE_LAYERS + (size_t)kind - ATTRIBUTE_MLP;
}

static int64_t attribute_model_top(const double *logits, size_t values)
{
    size_t best = 0;
    for (size_t k = 1; k < values; k++)
        if (logits[k] > logits[best])
            best = k;
    return (int64_t)best;
}

static sotto_status guess_logistic(int64_t *guess, const struct linear_rows *train,
                                   const struct linear_rows *test, size_t values,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct linear_model m = {0};
    double *logits = NULL;
    NEW(logits, values);
    TRY(linear_model_fit(&m, train, values, 1e-3, ctx));
    for (size_t i = 0; i < test->n; i++) {
        linear_model_logits(logits, &m, test->x + test->row[i] * test->d);
        guess[i] = attribute_model_top(logits, values);
    }
done:
    linear_model_clear(&m);
    base_free(logits);
    return status;
}

/* Mean and spread of the training rows, one column after the other. */
static void attribute_model_standardise(float *known, float *asked, const struct linear_rows *train,
                                        const struct linear_rows *test)
{
    for (size_t j = 0; j < train->d; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < train->n; i++)
            sum += (double)train->x[train->row[i] * train->d + j];
        double mean = sum / (double)train->n;
        for (size_t i = 0; i < train->n; i++) {
            double from = (double)train->x[train->row[i] * train->d + j] - mean;
            squares += from * from;
        }
        double scale = squares > 1e-24 * (double)train->n ? sqrt((double)train->n / squares) : 0;
        for (size_t i = 0; i < train->n; i++)
            known[i * train->d + j] =
                (float)(((double)train->x[train->row[i] * train->d + j] - mean) * scale);
        for (size_t i = 0; i < test->n; i++)
            asked[i * train->d + j] = (float)(((double)test->x[test->row[i] * train->d + j] - mean) * scale);
    }
}

static sotto_status guess_network(int64_t *guess, const struct linear_rows *train,
                                  const struct linear_rows *test, size_t values, size_t layers, uint64_t seed,
                                  const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_context quiet = context_quiet(ctx, 1); /* several are trained beside each other */
    struct sotto_head_recipe recipe;
    struct sotto_head *net = NULL;
    size_t d = train->d;
    float *known = NULL, *asked = NULL, *logits = NULL;
    int64_t *y = NULL;
    NEW_ROWS(known, train->n, d);
    NEW_ROWS(asked, test->n, d);
    NEW_ROWS(logits, test->n, values);
    NEW(y, train->n);
    attribute_model_standardise(known, asked, train, test);
    for (size_t i = 0; i < train->n; i++)
        y[i] = train->y[train->row[i]];
    sotto_head_defaults(&recipe);
    recipe.hidden_count = layers - 1;
    for (size_t l = 0; l < recipe.hidden_count; l++)
        recipe.hidden[l] = 128;
    recipe.epochs = 40;
    recipe.batch = 64;
    recipe.seed = (seed & 0xffffffff) + 1;
    TRY(sotto_head_train(&net, known, y, train->n, d, values, &recipe, &quiet));
    TRY(sotto_head_predict(logits, net, asked, test->n, d, 1, &quiet));
    for (size_t i = 0; i < test->n; i++) {
        size_t best = 0;
        for (size_t k = 1; k < values; k++)
            if (logits[i * values + k] > logits[i * values + best])
                best = k;
        guess[i] = (int64_t)best;
    }
done:
    sotto_head_free(net);
    base_free(known);
    base_free(asked);
    base_free(logits);
    base_free(y);
    return status;
}

sotto_status attribute_guess(int64_t *guess, enum attribute_kind kind, const struct linear_rows *train,
                             const struct linear_rows *test, size_t values, uint64_t seed,
                             const struct sotto_context *ctx)
{
    return kind == ATTRIBUTE_LOGISTIC
               ? guess_logistic(guess, train, test, values, ctx)
               : guess_network(guess, train, test, values, attribute_layers(kind), seed, ctx);
}

sotto_status attribute_balanced(double *out, const struct linear_rows *rows, const int64_t *guess,
                                size_t values)
{
    sotto_status status = SOTTO_OK;
    double *recall = NULL, sum = 0, present = 0;
    NEW_ROWS(recall, values, 2);
    for (size_t i = 0; i < rows->n; i++) {
        size_t truth = (size_t)rows->y[rows->row[i]];
        recall[2 * truth]++;
        recall[2 * truth + 1] += (size_t)guess[i] == truth;
    }
    for (size_t k = 0; k < values; k++)
        if (recall[2 * k] > 0)
            sum += recall[2 * k + 1] / recall[2 * k], present++;
    *out = sum / present;
done:
    base_free(recall);
    return status;
}

sotto_status attribute_try(double *balanced, enum attribute_kind kind, const struct linear_rows *known,
                           size_t fitted, size_t values, uint64_t seed, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct linear_rows train = *known, test = *known;
    train.n = fitted;
    test.row += fitted;
    test.n -= fitted;
    int64_t *guess = NULL;
    NEW(guess, test.n);
    *balanced = 0;
    status = attribute_guess(guess, kind, &train, &test, values, seed, ctx);
    if (status == SOTTO_OK)
        TRY(attribute_balanced(balanced, &test, guess, values));
    else if (status == SOTTO_EINVAL && kind != ATTRIBUTE_LOGISTIC) /* too few records for a network */
        status = SOTTO_OK;
done:
    base_free(guess);
    return status;
}

enum attribute_kind attribute_better(const double *balanced, size_t kinds)
{
    size_t best = 0;
    for (size_t k = 1; k < kinds; k++)
        best = balanced[k] > balanced[best] ? k : best;
    return (enum attribute_kind)best;
}
