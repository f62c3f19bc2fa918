/* What a head may be trained on, and the name of a private data set: the SHA-256 of its shapes and bytes. */
#include "head/head_model.h"

#include <math.h>
#include <stdio.h>

static sotto_status check_features(const struct head_data *data, bool convex, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t bad = 0, row = 0, column = 0;
    bool constant = true;
    for (size_t i = 0; i < data->n; i++) {
        bool finite = true;
        for (size_t j = 0; j < data->d; j++) {
            float v = data->x[i * data->d + j];
            constant = constant && v == data->x[j];
            if (isfinite(v) || !finite)
                continue;
            finite = false;
            if (bad++ == 0)
                row = i, column = j;
        }
    }
    REQUIRE(
        bad == 0,
        "features: %zu of %zu rows contain NaN or infinity (first: row %zu, column %zu); features must be "
        "finite",
        bad, data->n, row, column);
    if (constant && convex)
        context_log(ctx, SOTTO_LOG_WARNING, "features: all %zu rows are the same: nothing can be learnt",
                    data->n);
    REQUIRE(!constant || convex,
            "features: all %zu rows are the same; there is nothing to learn from constant features", data->n);
done:
    return status;
}

static sotto_status check_labels(const struct head_data *data, bool convex, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t present = 0;
    size_t *counts = base_alloc(data->classes, sizeof *counts);
    if (!counts)
        FAIL(SOTTO_ENOMEM, "labels: cannot count %zu classes", data->classes);
    for (size_t i = 0; i < data->n; i++) {
        REQUIRE(data->y[i] >= 0 && (uint64_t)data->y[i] < data->classes,
                "labels: row %zu holds %lld; expected 0 to %zu", i, (long long)data->y[i], data->classes - 1);
        present += counts[data->y[i]]++ == 0;
    }
    REQUIRE(present > 1 || convex,
            "labels: all %zu records are of class %lld; a head needs at least 2 classes", data->n,
            (long long)data->y[0]);
    if (present < data->classes)
        context_log(ctx, SOTTO_LOG_WARNING, "only %zu of %zu classes occur in the labels", present,
                    data->classes);
done:
    base_free(counts);
    return status;
}

sotto_status head_data_check(const struct head_data *data, bool convex, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(data->d >= 1, "features: the second dimension is 0; expected at least 1 column");
    REQUIRE(data->classes >= 2, "a head needs at least 2 classes (got %zu)", data->classes);
    REQUIRE(data->n >= 2, "features: %zu records; at least 2 are needed to train a head", data->n);
    REQUIRE(data->n >= data->classes,
            "features: %zu records for %zu classes; at least one record a class is needed", data->n,
            data->classes);
    TRY(check_labels(data, convex, ctx));
    TRY(check_features(data, convex, ctx));
done:
    return status;
}

void head_data_fingerprint(char out[SHA256_HEX], const struct head_data *data)
{
    char shapes[128];
    struct sha256 hash;
    int length = snprintf(shapes, sizeof shapes, "sotto fingerprint 1: x f4 (%zu, %zu), y i8 (%zu)\n",
                          data->n, data->d, data->n);
    sha256_init(&hash);
    sha256_update(&hash, shapes, (size_t)length);
    sha256_update(&hash, data->x, data->n * data->d * sizeof *data->x);
    sha256_update(&hash, data->y, data->n * sizeof *data->y);
    sha256_hex(&hash, out);
}
