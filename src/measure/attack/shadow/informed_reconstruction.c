/* Reconstruction of a training record by an attacker who knows all others (Balle, Cherubin and Hayes 2022), on heads whose training
 * is a function of the set of records: for each candidate in the missing record's place a shadow head; what they have in
 * common with the released weights is learnt by ridge regression from weights to features.
 *
 * With K the inner products of the shadows' weights about their mean (S, S), u those with the target's, and X their features about
 * their mean, the guess is mean + u' (K + ridge)^-1 X. The ridge is the best of several by leaving one shadow out; noise of
 * variance v on P weights adds v P to it. */
#include "attack/target/target.h"
#include "head/batch/head_batch_train.h"
#include "head/model/head_trainer.h"
#include "num/beta.h"
#include "num/symmetric.h"
#include "rng/rng.h"
#include "sotto/lab/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SHADOWS = 8, MOST_SHADOWS = 64, RIDGES = 13, TARGET_STREAM = 3, DECOY_STREAM = 4 };

struct work {
    const struct sotto_reconstruction_input *in;
    const float *target; /* the weights under attack */
    const struct sotto_head_recipe *recipe;
    const struct sotto_context *ctx;
    size_t n, d, classes, parameters;
    float *x; /* (n + MOST_SHADOWS, d): the members, then candidates for the missing one */
    int64_t *y;
    uint8_t *member; /* (n + S, S) */
    float *weights;  /* (S, P) */
    int64_t *same;   /* records of the attacker of the missing one's class, in random order */
    size_t same_count;
    double *mean, *kernel, *values, *scratch, *centred, *guess;
};

static sotto_status work_make(struct work *w)
{
    sotto_status status = SOTTO_OK;
    const size_t rows = w->n + MOST_SHADOWS, s = MOST_SHADOWS;
    NEW_ROWS(w->x, rows, w->d);
    NEW(w->y, rows);
    NEW_ROWS(w->member, rows, s);
    NEW_ROWS(w->weights, s, w->parameters);
    NEW(w->same, w->in->attacker.n);
    NEW(w->mean, w->parameters);
    NEW_ROWS(w->kernel, s, s);
    NEW(w->values, s);
    NEW(w->scratch, s * s + 3 * s);
    NEW_ROWS(w->centred, s, w->d);
    NEW_ROWS(w->guess, 2, w->d);
    memcpy(w->x, w->in->member.x, w->n * w->d * sizeof *w->x);
    memcpy(w->y, w->in->member.y, w->n * sizeof *w->y);
done:
    return status;
}

static void work_clear(struct work *w)
{
    void *const all[] = {w->x,      w->y,      w->member,  w->weights, w->same, w->mean,
                         w->kernel, w->values, w->scratch, w->centred, w->guess};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        base_free(all[i]);
}

/* Records of the missing one's class: its label is taken as known. */
static void find_same(struct work *w, size_t target)
{
    struct rng r = rng_stream(w->in->seed, RNG_SPLIT, DECOY_STREAM, target);
    w->same_count = 0;
    for (size_t i = 0; i < w->in->attacker.n; i++)
        if (w->in->attacker.y[i] == w->in->member.y[target])
            w->same[w->same_count++] = (int64_t)i;
    rng_shuffle(&r, w->same, w->same_count);
}

static const float *informed_reconstruction_candidate(const struct work *w, size_t i)
{
    return w->in->attacker.x + (size_t)w->same[i] * w->d;
}

/* Shadow h: all members but the missing one, and candidate first + h in its place. */
static sotto_status train_shadows(struct work *w, size_t target, size_t first, size_t shadows)
{
    const struct head_data data = {w->x, w->y, w->n + shadows, w->d, w->classes};
    for (size_t i = 0; i < data.n; i++)
        for (size_t h = 0; h < shadows; h++)
            w->member[i * shadows + h] = i < w->n ? i != target : i == w->n + h;
    for (size_t h = 0; h < shadows; h++) {
        memcpy(w->x + (w->n + h) * w->d, informed_reconstruction_candidate(w, first + h),
               w->d * sizeof *w->x);
        w->y[w->n + h] = w->in->member.y[target];
    }
    return head_many_train(w->weights, &data, w->recipe, w->member, shadows, w->ctx);
}

/* Inner product of two rows of weights about the mean. */
static double informed_reconstruction_inner(const struct work *w, const float *a, const float *b)
{
    double sum = 0;
    for (size_t p = 0; p < w->parameters; p++)
        sum += ((double)a[p] - w->mean[p]) * ((double)b[p] - w->mean[p]);
    return sum;
}

/* Mean of the shadows' features, and what they differ from it. */
static void informed_reconstruction_centre(struct work *w, size_t first, size_t shadows)
{
    memset(w->mean, 0, w->parameters * sizeof *w->mean);
    memset(w->guess, 0, w->d * sizeof *w->guess);
    for (size_t h = 0; h < shadows; h++) {
        for (size_t p = 0; p < w->parameters; p++)
            w->mean[p] += (double)w->weights[h * w->parameters + p] / (double)shadows;
        for (size_t c = 0; c < w->d; c++)
            w->guess[c] += (double)informed_reconstruction_candidate(w, first + h)[c] / (double)shadows;
    }
    for (size_t h = 0; h < shadows; h++)
        for (size_t c = 0; c < w->d; c++)
            w->centred[h * w->d + c] =
                (double)informed_reconstruction_candidate(w, first + h)[c] - w->guess[c];
}

/* Squared error of every shadow's features by the others, by the hat matrix U diag(v / (v + ridge)) U'. */
static double left_out_error(struct work *w, size_t shadows, double ridge)
{
    double error = 0;
    for (size_t j = 0; j < shadows; j++) {
        double own = 0;
        double *guess = w->guess + w->d;
        memset(guess, 0, w->d * sizeof *guess);
        for (size_t h = 0; h < shadows; h++) {
            double hat = 0;
            for (size_t e = 0; e < shadows; e++)
                hat += w->kernel[e * shadows + j] * w->kernel[e * shadows + h] * w->values[e] /
                       (w->values[e] + ridge);
            own = h == j ? hat : own;
            for (size_t c = 0; c < w->d; c++)
                guess[c] += hat * w->centred[h * w->d + c];
        }
        for (size_t c = 0; c < w->d; c++) {
            const double miss = (w->centred[j * w->d + c] - guess[c]) / fmax(1 - own, 1e-9);
            error += miss * miss;
        }
    }
    return error;
}

/* w->guess (d): the record that fits the target's weights. */
static sotto_status informed_reconstruction_regress(struct work *w, size_t first, size_t shadows)
{
    sotto_status status = SOTTO_OK;
    const double floor = w->in->noise * w->in->noise * (double)w->parameters;
    double u[MOST_SHADOWS], trace = 0, best = INFINITY, chosen = 0;
    informed_reconstruction_centre(w, first, shadows);
    for (size_t a = 0; a < shadows; a++) {
        u[a] = informed_reconstruction_inner(w, w->weights + a * w->parameters, w->target);
        for (size_t b = 0; b < shadows; b++)
            w->kernel[a * shadows + b] = informed_reconstruction_inner(w, w->weights + a * w->parameters,
                                                                       w->weights + b * w->parameters);
        trace += w->kernel[a * shadows + a];
    }
    if (!symmetric_eigen(w->kernel, w->values, shadows, w->scratch))
        FAIL(SOTTO_EDOMAIN, "reconstruction: the shadow models' weights are not finite");
    for (size_t e = 0; e < shadows; e++)
        w->values[e] = fmax(w->values[e], 0);
    for (int k = 0; k < RIDGES; k++) {
        const double ridge = floor + trace / (double)shadows * pow(10, -9 + k),
                     error = left_out_error(w, shadows, ridge);
        if (error < best)
            best = error, chosen = ridge;
    }
    for (size_t e = 0; e < shadows; e++) {
        double along = 0;
        for (size_t a = 0; a < shadows; a++)
            along += w->kernel[e * shadows + a] * u[a];
        for (size_t h = 0; h < shadows; h++)
            for (size_t c = 0; c < w->d; c++)
                w->guess[c] +=
                    along / (w->values[e] + chosen) * w->kernel[e * shadows + h] * w->centred[h * w->d + c];
    }
done:
    return status;
}

static double squared_distance(const double *guess, const float *x, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++)
        sum += (guess[c] - (double)x[c]) * (guess[c] - (double)x[c]);
    return sum;
}

/* One record: *right if the guess is nearest to it among as many candidates as were asked for; *share: the guess's squared error
 * over that of the shadows' mean, which needs no head. */
static sotto_status attack_one(bool *right, double *share, struct work *w, size_t target)
{
    sotto_status status = SOTTO_OK;
    const float *truth = w->in->member.x + target * w->d;
    const size_t decoys = w->in->candidates - 1;
    find_same(w, target);
    const size_t left = w->same_count - decoys, shadows = left < MOST_SHADOWS ? left : MOST_SHADOWS;
    TRY(train_shadows(w, target, decoys, shadows));
    informed_reconstruction_centre(w, decoys, shadows);
    const double blind = squared_distance(w->guess, truth, w->d);
    TRY(informed_reconstruction_regress(w, decoys, shadows));
    const double own = squared_distance(w->guess, truth, w->d);
    *right = true;
    for (size_t i = 0; i < decoys; i++) /* a tie counts against the attacker */
        *right &= own < squared_distance(w->guess, informed_reconstruction_candidate(w, i), w->d);
    *share = blind > 0 ? own / blind : 1;
done:
    return status;
}

static int informed_reconstruction_rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sotto_status informed_reconstruction_check(const struct sotto_reconstruction_input *in,
                                                  const struct sotto_head *head)
{
    sotto_status status = SOTTO_OK;
    const size_t d = head->width[0], classes = head->width[head->layers];
    REQUIRE(in->targets > 0 && in->candidates >= 2,
            "reconstruction: %zu targets, %zu candidates; expected at least 1 and 2", in->targets,
            in->candidates);
    REQUIRE(in->noise >= 0 && isfinite(in->noise),
            "reconstruction: noise of deviation %g; expected at least 0", in->noise);
    if (!head->has_recipe || !head_trainer_of(&head->recipe)->convex)
        FAIL(SOTTO_EUSAGE, "reconstruction: the attacker trains heads again, which needs a target of a "
                           "convex trainer with its "
                           "recipe; others give another head for another order of the records");
    REQUIRE(in->member.n >= 2, "reconstruction: %zu members; expected at least 2", in->member.n);
    TRY(target_check_records(&in->member, d, classes, "members"));
    TRY(target_check_records(&in->attacker, d, classes, "attacker's records"));
done:
    return status;
}

/* Members whose class the attacker has enough records of, in random order. */
static sotto_status choose_targets(int64_t **out, size_t *count, const struct sotto_reconstruction_input *in,
                                   size_t classes)
{
    sotto_status status = SOTTO_OK;
    size_t *have = NULL;
    int64_t *order = NULL;
    struct rng r = rng_stream(in->seed, RNG_SPLIT, TARGET_STREAM, 0);
    *count = 0;
    NEW(have, classes);
    NEW(order, in->member.n);
    for (size_t i = 0; i < in->attacker.n; i++)
        have[in->attacker.y[i]]++;
    for (size_t i = 0; i < in->member.n; i++)
        if (have[in->member.y[i]] >= in->candidates - 1 + LEAST_SHADOWS)
            order[(*count)++] = (int64_t)i;
    rng_shuffle(&r, order, *count);
    *count = *count < in->targets ? *count : in->targets;
    REQUIRE(*count > 0,
            "reconstruction: the attacker has %zu records of no class; expected that many of a class (%zu "
            "candidates and %d "
            "shadow models)",
            in->candidates - 1 + LEAST_SHADOWS, in->candidates, (int)LEAST_SHADOWS);
    *out = order;
    order = NULL;
done:
    base_free(have);
    base_free(order);
    return status;
}

sotto_status sotto_reconstruct(struct sotto_reconstruction *out, const struct sotto_head *head,
                               const struct sotto_reconstruction_input *in, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, head, in);
    sotto_status status = SOTTO_OK;
    struct sotto_reconstruction r = {.candidates = in->candidates, .prior = 1 / (double)in->candidates};
    int64_t *target = NULL;
    double *share = NULL;
    size_t right = 0;
    struct work w = {.in = in,
                     .target = head->parameters,
                     .recipe = &head->recipe,
                     .ctx = ctx,
                     .n = in->member.n,
                     .d = head->width[0],
                     .classes = head->width[head->layers],
                     .parameters = head->count};
    TRY(informed_reconstruction_check(in, head));
    TRY(choose_targets(&target, &r.targets, in, w.classes));
    TRY(work_make(&w));
    NEW(share, r.targets);
    for (size_t t = 0; t < r.targets; t++) {
        bool found;
        context_progress(ctx, "reconstruction", t, r.targets, "records");
        TRY(attack_one(&found, &share[t], &w, (size_t)target[t]));
        right += found;
    }
    qsort(share, r.targets, sizeof *share, informed_reconstruction_rising);
    r.right = right;
    r.found.estimate = (double)right / (double)r.targets;
    clopper_pearson(&r.found.lower, &r.found.upper, (double)right, (double)r.targets, 0.95);
    r.error = r.targets % 2 ? share[r.targets / 2] : (share[r.targets / 2 - 1] + share[r.targets / 2]) / 2;
    *out = r;
done:
    work_clear(&w);
    base_free(target);
    base_free(share);
    return status;
}
