#include "audit/distribution_shift_test.h"

#include "audit/fit/linear_model.h"
#include "audit/measure/metrics.h"
#include "num/beta.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>

struct folds {
    const struct sotto_context *ctx;
    const float *features;
    int64_t *side;   /* (records): 1 for members */
    size_t *rows[2]; /* rows that take part, shuffled: [1] members */
    size_t count[2], width;
    double area[TWO_SETS_FOLDS], variance[TWO_SETS_FOLDS];
};

static bool in_fold(size_t position, size_t fold)
{
    return position % TWO_SETS_FOLDS == fold;
}

static sotto_status distribution_shift_test_score(struct folds *f, size_t fold, const struct linear_model *m)
{
    sotto_status status = SOTTO_OK;
    struct roc c = {0};
    double *x = NULL, logits[2];
    size_t n[2] = {0, 0};
    NEW(x, f->count[0] + f->count[1]);
    for (size_t side = 2, at = 0; side-- > 0;)
        for (size_t i = 0; i < f->count[side]; i++)
            if (in_fold(i, fold)) {
                linear_model_logits(logits, m, f->features + f->rows[side][i] * f->width);
                x[at++] = logits[1];
                n[side]++;
            }
    TRY(roc_make(&c, x, n[1], x + n[1], n[0]));
    f->variance[fold] = roc_auc_variance(&c, &f->area[fold]);
done:
    roc_clear(&c);
    base_free(x);
    return status;
}

static sotto_status run_fold(void *arg, size_t fold, int thread)
{
    (void)thread;
    sotto_status status = SOTTO_OK;
    struct folds *f = arg;
    struct linear_model m = {0};
    struct linear_rows in = {f->features, f->side, NULL, 0, f->width};
    size_t *row = NULL;
    NEW(row, f->count[0] + f->count[1]);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < f->count[side]; i++)
            if (!in_fold(i, fold))
                row[in.n++] = f->rows[side][i];
    in.row = row;
    TRY(linear_model_fit(&m, &in, 2, 0.01, f->ctx));
    TRY(distribution_shift_test_score(f, fold, &m));
done:
    linear_model_clear(&m);
    base_free(row);
    return status;
}

static sotto_status draw_rows(size_t **out, size_t *count, size_t first, size_t n, uint64_t seed,
                              uint64_t side)
{
    sotto_status status = SOTTO_OK;
    struct rng r = rng_stream(seed, RNG_BOOTSTRAP, 1, side);
    int64_t *order = NULL;
    size_t *rows;
    NEW(*out, n);
    NEW(order, n);
    rows = *out;
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&r, order, n);
    *count = n < TWO_SETS_MOST ? n : TWO_SETS_MOST;
    for (size_t i = 0; i < *count; i++)
        rows[i] = first + (size_t)order[i];
done:
    base_free(order);
    return status;
}

sotto_status distribution_shift_auc(struct sotto_estimate *out, const float *features, size_t n_member,
                                    size_t n_nonmember, size_t width, double confidence, uint64_t seed,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct folds f = {.ctx = ctx, .features = features, .width = width};
    REQUIRE(n_member >= 10 && n_nonmember >= 10,
            "lint: %zu members and %zu non-members; expected at least 10 of each", n_member, n_nonmember);
    NEW(f.side, n_member + n_nonmember);
    for (size_t i = 0; i < n_member; i++)
        f.side[i] = 1;
    TRY(draw_rows(&f.rows[1], &f.count[1], 0, n_member, seed, 1));
    TRY(draw_rows(&f.rows[0], &f.count[0], n_member, n_nonmember, seed, 0));
    TRY(par_each(TWO_SETS_FOLDS, ctx, run_fold, &f));
    double mean = 0, variance = 0, many = 1e12; /* degrees of freedom: the normal quantile */
    for (size_t k = 0; k < TWO_SETS_FOLDS; k++) {
        mean += f.area[k] / TWO_SETS_FOLDS;
        variance += f.variance[k] / TWO_SETS_FOLDS / TWO_SETS_FOLDS;
    }
    double reach = student_quantile(0.5 + confidence / 2, many) * sqrt(variance);
    *out = (struct sotto_estimate){mean, fmax(0, mean - reach), fmin(1, mean + reach)};
done:
    base_free(f.side);
    base_free(f.rows[0]);
    base_free(f.rows[1]);
    return status;
}

double distribution_shift_classes_p(const size_t *member, const size_t *nonmember, size_t classes)
{
    double m = 0, n = 0, statistic = 0, freedom = -1;
    for (size_t k = 0; k < classes; k++)
        m += (double)member[k], n += (double)nonmember[k];
    for (size_t k = 0; k < classes; k++) {
        double all = (double)member[k] + (double)nonmember[k];
        if (all == 0)
            continue;
        double em = all * m / (m + n), en = all * n / (m + n);
        statistic += ((double)member[k] - em) * ((double)member[k] - em) / em +
                     ((double)nonmember[k] - en) * ((double)nonmember[k] - en) / en;
        freedom++;
    }
    if (freedom < 1)
        return 1;
    double spread = 2 / (9 * freedom), z = (cbrt(statistic / freedom) - (1 - spread)) / sqrt(spread);
    return erfc(z * M_SQRT1_2) / 2;
}
