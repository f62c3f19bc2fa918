#include "attack/target/target.h"
#include "sotto/lab/query.h"

#include <math.h>

struct sotto_target target_make(const char *name, size_t inputs, size_t classes)
{
    return (struct sotto_target){.name = name, .inputs = inputs, .classes = classes, .budget = UINT64_MAX};
}

void sotto_target_close(struct sotto_target *t)
{
    if (t)
        t->close(t);
}

size_t sotto_target_inputs(const struct sotto_target *t)
{
    GIVEN_OR(0, t);
    return t->inputs;
}

size_t sotto_target_classes(const struct sotto_target *t)
{
    GIVEN_OR(0, t);
    return t->classes;
}

uint64_t target_used(const struct sotto_target *t)
{
    GIVEN_OR(0, t);
    return t->used;
}

void sotto_target_set_budget(struct sotto_target *t, uint64_t rows)
{
    GIVEN_OR(, t);
    t->budget = rows;
}

const struct sotto_head *target_head(const struct sotto_target *t)
{
    GIVEN_OR(NULL, t);
    return t->head;
}

const struct sotto_network *target_held_network(const struct sotto_target *t)
{
    GIVEN_OR(NULL, t);
    return t->network;
}

static sotto_status check_rows(const struct sotto_target *t, const float *rows, size_t n)
{
    for (size_t i = 0; i < n * t->inputs; i++)
        if (!isfinite(rows[i]))
            return status_fail(SOTTO_EINVAL,
                               "query: row %zu, column %zu is not finite; features must be finite",
                               i / t->inputs, i % t->inputs);
    return SOTTO_OK;
}

static sotto_status check_answers(const struct sotto_target *t, const float *p, size_t n)
{
    for (size_t i = 0; i < n; i++, p += t->classes) {
        double sum = 0;
        for (size_t k = 0; k < t->classes; k++) {
            if (!isfinite(p[k]) || p[k] < 0)
                return status_fail(SOTTO_EFORMAT, "%s: answer %zu, class %zu is %g; expected probabilities",
                                   t->name, i, k, (double)p[k]);
            sum += (double)p[k];
        }
        if (fabs(sum - 1) > 1e-3)
            return status_fail(
                SOTTO_EFORMAT,
                "%s: answer %zu sums to %g; probabilities must sum to 1 within 0.001 (are these logits?)",
                t->name, i, sum);
    }
    return SOTTO_OK;
}

static sotto_status ask_once(struct sotto_target *t, float *posteriors, const float *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    t->used += n; /* also if the answer turns out to be useless: the target saw the rows */
    TRY(t->query(t, posteriors, rows, n));
    TRY(check_answers(t, posteriors, n));
done:
    return status;
}

/* The mean of many answers: what a noisy target says without its noise, or nearly. */
static sotto_status ask_often(struct sotto_target *t, float *posteriors, const float *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    size_t cells = n * t->classes;
    float *once = NULL;
    double *sum = NULL;
    NEW(once, cells);
    NEW(sum, cells);
    for (size_t r = 0; r < t->repeats; r++) {
        TRY(ask_once(t, once, rows, n));
        for (size_t i = 0; i < cells; i++)
            sum[i] += (double)once[i];
    }
    for (size_t i = 0; i < cells; i++)
        posteriors[i] = (float)(sum[i] / (double)t->repeats);
done:
    base_free(once);
    base_free(sum);
    return status;
}

sotto_status target_query(struct sotto_target *t, float *posteriors, const float *rows, size_t n)
{
    REQUIRE_GIVEN(t, !n || posteriors, !n || rows);
    sotto_status status = SOTTO_OK;
    size_t asked = n;
    if (n == 0)
        goto done;
    if ((t->repeats > 1 && !size_multiply(&asked, n, t->repeats)) ||
        asked > t->budget - (t->used < t->budget ? t->used : t->budget))
        FAIL(SOTTO_EBUDGET, "%s: %zu queries after %llu would exceed the budget of %llu", t->name, asked,
             (unsigned long long)t->used, (unsigned long long)t->budget);
    TRY(check_rows(t, rows, n));
    TRY(t->repeats > 1 ? ask_often(t, posteriors, rows, n) : ask_once(t, posteriors, rows, n));
done:
    return status;
}

sotto_status target_labels(struct sotto_target *t, int64_t *label, const float *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    float *p = NULL;
    NEW(p, n * t->classes);
    TRY(target_query(t, p, rows, n));
    for (size_t i = 0; i < n; i++) {
        size_t best = 0;
        for (size_t k = 1; k < t->classes; k++)
            best = p[i * t->classes + k] > p[i * t->classes + best] ? k : best;
        label[i] = (int64_t)best;
    }
done:
    base_free(p);
    return status;
}

sotto_status target_check_records(const struct sotto_records *r, size_t d, size_t classes, const char *what)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < r->n * d; i++)
        REQUIRE(isfinite(r->x[i]), "%s: row %zu, column %zu is not finite; features must be finite", what,
                i / d, i % d);
    for (size_t i = 0; i < r->n; i++)
        REQUIRE(r->y[i] >= 0 && (uint64_t)r->y[i] < classes,
                "%s: row %zu has label %lld; the target has classes 0 to %zu", what, i, (long long)r->y[i],
                classes - 1);
done:
    return status;
}
