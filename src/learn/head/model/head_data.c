/* What a head may be trained on, and the name of a private data set: the SHA-256 of its shapes and bytes. */
#include "head/model/head_model.h"
#include "sotto/lab/head.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_status refuse_constant(size_t rows)
{
    return status_fail(SOTTO_EINVAL,
                       "features: all %zu rows are the same; expected at least two different rows", rows);
}

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
        context_log(ctx, SOTTO_LOG_WARNING,
                    "features: all %zu rows are the same, so the head cannot learn anything", data->n);
    if (constant && !convex)
        TRY(refuse_constant(data->n));
done:
    return status;
}

static bool constant_part(const struct head_part *p)
{
    const float *first = p->data->x + head_part_record(p, 0) * p->data->d;
    for (size_t i = 1; i < p->n; i++) {
        const float *row = p->data->x + head_part_record(p, i) * p->data->d;
        for (size_t j = 0; j < p->data->d; j++)
            if (row[j] != first[j])
                return false;
    }
    return true;
}

static sotto_status check_labels(const struct head_part *p, bool convex, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const int64_t *y = p->data->y;
    size_t present = 0, classes = p->data->classes;
    size_t *counts = NULL;
    NEW(counts, classes);
    for (size_t i = 0; i < p->n; i++) {
        int64_t label = y[head_part_record(p, i)];
        REQUIRE(label >= 0 && (uint64_t)label < classes, "labels: row %zu holds %lld; expected 0 to %zu", i,
                (long long)label, classes - 1);
        present += counts[label]++ == 0;
    }
    REQUIRE(present > 1 || convex, "labels: all %zu records have class %lld; expected at least 2 classes",
            p->n, (long long)y[head_part_record(p, 0)]);
    if (present < classes)
        context_log(ctx, SOTTO_LOG_WARNING, "labels: only %zu of %zu classes occur", present, classes);
done:
    base_free(counts);
    return status;
}

static sotto_status check_sizes(const struct head_part *p)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(p->data->d >= 1, "features: there are no columns; expected at least 1");
    REQUIRE(p->data->classes >= 2, "a head needs at least 2 classes (got %zu)", p->data->classes);
    REQUIRE(p->n >= 2, "features: %zu records; expected at least 2 to train a head", p->n);
done:
    return status;
}

static sotto_status check_counts(const struct head_part *p)
{
    sotto_status status = SOTTO_OK;
    TRY(check_sizes(p));
    REQUIRE(p->n >= p->data->classes,
            "features: %zu records for %zu classes; expected at least one record per class", p->n,
            p->data->classes);
done:
    return status;
}

static bool all_finite(const float *x, size_t d)
{
    bool finite = true;
    for (size_t j = 0; x && j < d; j++)
        finite &= x[j] - x[j] == 0;
    return finite;
}

static bool is_class(int64_t label, size_t classes)
{
    return label >= 0 && (uint64_t)label < classes;
}

bool head_record_counts(const float *x, size_t d, int64_t label, size_t classes)
{
    return all_finite(x, d) && is_class(label, classes);
}

sotto_status sotto_head_check_records(struct sotto_records_check *out, const float *x, const int64_t *y,
                                      size_t n, size_t d, size_t classes)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    struct sotto_records_check c = {.n = n, .least = INT64_MAX, .most = INT64_MIN};
    unsigned char *occurs = NULL;
    REQUIRE(out && y, "records: the labels are NULL; expected one label per record");
    REQUIRE(n > 0, "records: there are none; expected at least one");
    REQUIRE(classes >= 2, "records: %zu classes; expected at least 2", classes);
    NEW(occurs, classes);
    c.empty = classes;
    for (size_t i = 0; i < n; i++) {
        const float *row = x ? x + i * d : NULL;
        c.not_finite += !all_finite(row, d);
        c.no_class += !is_class(y[i], classes);
        c.least = y[i] < c.least ? y[i] : c.least;
        c.most = y[i] > c.most ? y[i] : c.most;
        if (!head_record_counts(row, d, y[i], classes)) {
            c.nothing++;
        } else if (!occurs[y[i]]) {
            occurs[y[i]] = 1;
            c.empty--;
        }
    }
    *out = c;
done:
    base_free(occurs);
    return status;
}

sotto_status head_data_silence(int64_t **labels, struct head_data *data)
{
    sotto_status status = SOTTO_OK;
    struct head_part all = head_part_all(data);
    int64_t *own = NULL;
    TRY(check_sizes(&all));
    NEW(own, data->n);
    for (size_t i = 0; i < data->n; i++)
        own[i] = head_record_counts(data->x + i * data->d, data->d, data->y[i], data->classes) ? data->y[i]
                                                                                               : HEAD_NOTHING;
    data->y = *labels = own;
done:
    return status;
}

sotto_status head_data_check(const struct head_data *data, bool convex, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_part all = head_part_all(data);
    TRY(check_counts(&all));
    TRY(check_labels(&all, convex, ctx));
    TRY(check_features(data, convex, ctx));
done:
    return status;
}

sotto_status head_part_check(const struct head_part *part, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(check_counts(part));
    TRY(check_labels(part, false, ctx));
    if (constant_part(part))
        TRY(refuse_constant(part->n));
done:
    return status;
}

void head_data_sha256(char out[SHA256_HEX], const struct head_data *data)
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

void head_record_clip(float *out, const float *record, size_t d, double clip)
{
    double square = 0;
    for (size_t i = 0; i < d; i++)
        square += (double)record[i] * record[i];
    /* The computed square may be too small by d + 1 roundings. */
    double norm = sqrt(square * (1 + ((double)d + 4) * 0x1p-52)) * (1 + 0x1p-50);
    if (norm <= clip) {
        memmove(out, record, d * sizeof *out);
        return;
    }
    /* 2^-22 is four times what rounding to f32 can add. */
    double factor = clip / norm * (1 - 0x1p-22);
    for (size_t i = 0; i < d; i++)
        out[i] = (float)(record[i] * factor);
}
