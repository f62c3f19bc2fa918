/* The life of a defence: checks, fitting, and rows that are defended in parallel, each by itself. */
#include "defend/defence.h"

#include "options/module_tables.h"
#include "options/option_values.h"
#include "sotto/option.h"
#include "base/sha256.h"
#include "par/par.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16, MOST_VALUES = 1000 };

void sotto_defence_defaults(struct sotto_defence_options *o)
{
    GIVEN_OR(, o);
    *o = (struct sotto_defence_options){0};
    options_defaults(o, options_defence);
}

size_t defence_top(const float *row, size_t d)
{
    size_t top = 0;
    for (size_t k = 1; k < d; k++)
        top = row[k] > row[top] ? k : top;
    return top;
}

double defence_coin(uint64_t key, const float *row, size_t d)
{
    struct sha256 hash;
    char hex[SHA256_HEX];
    sha256_init(&hash);
    sha256_update(&hash, &key, sizeof key);
    for (size_t k = 0; k < d; k++) {
        double cell = nearbyint(ldexp((double)row[k], 20)) + 0.0; /* -0 becomes 0 */
        sha256_update(&hash, &cell, sizeof cell);
    }
    sha256_hex(&hash, hex);
    hex[13] = '\0'; /* 52 bits */
    return ldexp((double)strtoull(hex, NULL, 16), -52);
}

double budget_mix(float *out, const float *row, size_t d, double budget, uint64_t key)
{
    double distance = 0;
    for (size_t k = 0; k < d; k++)
        distance += fabs((double)out[k] - (double)row[k]);
    if (distance > budget && defence_coin(key, row, d) >= budget / distance)
        memcpy(out, row, d * sizeof *out);
    return fmin(budget, distance);
}

sotto_status defence_check_rows(const float *x, size_t n, size_t d, unsigned needs, const char *what)
{
    sotto_status status = SOTTO_OK;
    bool posteriors = needs & DEFENCE_POSTERIORS, shares = needs & DEFENCE_SHARES;
    REQUIRE(!posteriors || d >= 2, "%s: rows have %zu column; expected posteriors of at least 2 classes",
            what, d);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < d; k++) {
            double p = (double)x[i * d + k];
            REQUIRE(isfinite(p), "%s: row %zu, column %zu is not finite", what, i, k);
            REQUIRE(!shares || (p >= 0 && p <= 1),
                    "%s: row %zu, column %zu is %g; expected table entries from 0 to 1", what, i, k, p);
            if (posteriors && !(p >= 0 && p <= 1 + 1e-3)) {
                status = status_fail(SOTTO_EINVAL,
                                     "%s: row %zu, column %zu is %g; expected probabilities from 0 to 1",
                                     what, i, k, p);
                status_hint("if these are logits: 'sotto predict' writes probabilities");
                goto done;
            }
            sum += p;
        }
        REQUIRE(!posteriors || fabs(sum - 1) <= 1e-3,
                "%s: row %zu sums to %.6g; expected probabilities that sum to 1", what, i, sum);
    }
done:
    return status;
}

sotto_status sotto_defence_check(const char *name, const float *x, size_t n, size_t columns, const char *what)
{
    REQUIRE_GIVEN(name, !n || x, what);
    const struct defence *kind;
    sotto_status status = defence_find(&kind, name);
    return status == SOTTO_OK ? defence_check_rows(x, n, columns, kind->needs, what) : status;
}

/* One more than the largest of values 0 .. that are not all the same. */
static sotto_status count_values(size_t *out, const int64_t *values, size_t n, const char *what)
{
    sotto_status status = SOTTO_OK;
    int64_t low = INT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        REQUIRE(values[i] >= 0 && values[i] < MOST_VALUES,
                "defend: row %zu of the known rows has the %s %lld; expected 0 .. %d", i, what,
                (long long)values[i], MOST_VALUES - 1);
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    REQUIRE(low < high, "defend: every known row has the %s %lld; expected at least two values", what,
            (long long)low);
    *out = (size_t)high + 1;
done:
    return status;
}

static sotto_status check_known(struct defence_fit *fit, const struct defence *kind)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_defence_known *known = fit->known;
    if (known->n)
        TRY(defence_check_rows(known->x, known->n, known->d, kind->needs, "known rows"));
    if (kind->needs & DEFENCE_SECRETS) {
        if (known->n == 0 || !known->protected_label)
            FAIL(SOTTO_EUSAGE,
                 "defend: %s needs rows with known protected labels; give {known=ROWS.npy:SECRET}",
                 kind->name);
        TRY(count_values(&fit->values, known->protected_label, known->n, "protected label"));
        REQUIRE(!(kind->needs & DEFENCE_MEMBERSHIP) || fit->values == 2,
                "defend: %s hides membership, so protected labels must be 0 and 1 (got %zu)", kind->name,
                fit->values - 1);
    }
    if (kind->needs & DEFENCE_LABELS) {
        if (!known->label)
            FAIL(SOTTO_EUSAGE,
                 "defend: %s also needs the classes of the known rows; give {known.label|known-labels}",
                 kind->name);
        TRY(count_values(&fit->classes, known->label, known->n, "class"));
    }
done:
    return status;
}

sotto_status sotto_defence_fit(struct sotto_defence **out, const struct sotto_defence_known *known,
                               const struct sotto_defence_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, known);
    sotto_status status = SOTTO_OK;
    const struct defence *kind;
    struct sotto_defence *d = NULL;
    struct sotto_defence_options o;
    TRY(sotto_options_resolve(&o, options, options_defence));
    struct defence_fit fit = {.known = known, .seed = o.seed, .key = o.key, .ctx = ctx};
    double args[DEFENCE_PARAMS];
    TRY(defence_find(&kind, o.name));
    if (strcmp(kind->name, o.name) != 0)
        context_log(ctx, SOTTO_LOG_WARNING, "the defence '%s' is now called '%s'; the old name will go",
                    o.name, kind->name);
    TRY(defence_arguments(args, kind, o.settings));
    fit.args = args;
    fit.budget = isnan(o.budget) ? kind->usual_budget : o.budget;
    REQUIRE(fit.budget >= 0 && isfinite(fit.budget), "defend: budget must be >= 0 (got %g)", fit.budget);
    TRY(check_known(&fit, kind));
    NEW(d, 1);
    *d = (struct sotto_defence){.kind = kind,
                                .budget = fit.budget,
                                .seed = o.seed,
                                .columns = known->n ? known->d : 0,
                                .known = known->n};
    memcpy(d->args, args, sizeof args);
    TRY(kind->fit(&d->model, &fit));
    *out = d;
done:
    if (status != SOTTO_OK)
        sotto_defence_free(d);
    return status;
}

void sotto_defence_free(struct sotto_defence *d)
{
    if (d && d->model)
        d->kind->release(d->model);
    base_free(d);
}

struct job {
    const struct sotto_defence *d;
    float *out;
    double *cost;
    const float *x;
    size_t n, columns;
    const struct sotto_context *ctx;
};

static sotto_status defend_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct job *j = arg;
    size_t first = chunk * CHUNK, n = j->n - first < CHUNK ? j->n - first : CHUNK;
    if (context_stopped(j->ctx))
        return status_fail(SOTTO_ESTOPPED, "defend: stopped");
    return j->d->kind->apply(j->out + first * j->columns, j->cost + first, j->d->model,
                             j->x + first * j->columns, n, j->columns);
}

sotto_status sotto_defence_apply(float *out, double *cost, const struct sotto_defence *d, const float *x,
                                 size_t n, size_t columns, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, d, !n || x);
    sotto_status status = SOTTO_OK;
    struct job job = {.d = d, .x = x, .n = n, .columns = columns, .ctx = ctx};
    REQUIRE(d->columns == 0 || d->columns == columns,
            "defend: rows have %zu columns, but the defence was fitted to rows of %zu", columns, d->columns);
    TRY(defence_check_rows(x, n, columns, d->kind->needs, "rows"));
    NEW_ROWS(job.out, n, columns);
    NEW(job.cost, n);
    TRY(par_chunks((n + CHUNK - 1) / CHUNK, par_threads(ctx), defend_chunk, &job));
    memcpy(out, job.out, n * columns * sizeof *out);
    if (cost)
        memcpy(cost, job.cost, n * sizeof *cost);
done:
    base_free(job.out);
    base_free(job.cost);
    return status;
}
