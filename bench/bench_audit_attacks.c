/* One attack on arrays beside NumPy's: what it asks of the reference models, its scores, the curve, its area and the TPR at
 * 1 % FPR. --records N --models M: made-up signals; --arrays DIR: target.npy, member.npy (n), reference.npy,
 * trained.npy (n, models), and the scores go to DIR/ATTACK.npy. One JSON line. */
#include "audit/audit_references.h"
#include "audit/measure/metrics.h"
#include "rng/rng.h"
#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arrays {
    struct sotto_array target, member, reference, trained;
};

static sotto_status arrays_make(struct arrays *a, size_t n, size_t models)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_make(&a->target, SOTTO_F8, 1, &n));
    TRY(sotto_array_make(&a->member, SOTTO_U1, 1, &n));
    TRY(sotto_array_make(&a->reference, SOTTO_F8, 2, (size_t[]){n, models}));
    TRY(sotto_array_make(&a->trained, SOTTO_U1, 2, (size_t[]){n, models}));
    double *target = a->target.data, *reference = a->reference.data;
    uint8_t *member = a->member.data, *trained = a->trained.data;
    for (size_t i = 0; i < n; i++) {
        struct rng r = rng_stream(1, RNG_TEST, 0, i);
        const double own = 1 + 1.5 * rng_normal(&r);
        member[i] = i < n / 2;
        target[i] = own + rng_normal(&r) + member[i];
        for (size_t m = i * models; m < (i + 1) * models; m++) {
            trained[m] = (uint8_t)rng_below(&r, 2);
            reference[m] = own + rng_normal(&r) + trained[m];
        }
    }
done:
    return status;
}

static sotto_status load(struct sotto_array *out, const char *folder, const char *name,
                         enum sotto_dtype dtype)
{
    sotto_status status = SOTTO_OK;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    TRY(sotto_array_load(out, path, 0, NULL));
    TRY(sotto_array_convert(out, dtype));
done:
    return status;
}

static sotto_status arrays_load(struct arrays *a, const char *folder)
{
    sotto_status status = SOTTO_OK;
    TRY(load(&a->target, folder, "target", SOTTO_F8));
    TRY(load(&a->member, folder, "member", SOTTO_U1));
    TRY(load(&a->reference, folder, "reference", SOTTO_F8));
    TRY(load(&a->trained, folder, "trained", SOTTO_U1));
done:
    return status;
}

static sotto_status read_rows(const void *self, double *signals, uint8_t *trained, size_t first, size_t count)
{
    const struct arrays *a = self;
    const size_t models = a->reference.shape[1];
    memcpy(signals, (const double *)a->reference.data + first * models, count * models * sizeof *signals);
    memcpy(trained, (const uint8_t *)a->trained.data + first * models, count * models);
    return SOTTO_OK;
}

/* What is timed. */
static sotto_status attack(double *auc, double *tpr, double *scores, const struct score_attack *how,
                           const struct arrays *a, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t n = a->reference.shape[0], models = a->reference.shape[1];
    const struct reference_source source = {a, n, models, read_rows};
    struct reference_summary *summary = NULL;
    double *side = NULL;
    struct roc c = {0};
    size_t members = 0, placed[2];
    NEW(summary, n);
    NEW(side, n);
    struct reference_target target = {.signals = a->target.data, .summary = summary};
    TRY(audit_references_pass(&target, 1, &source, ctx));
    const struct attack_input in = {.signals = a->target.data, .summary = summary, .n = n, .models = models};
    TRY(attack_run(scores, how, &in));
    for (size_t i = 0; i < n; i++)
        members += ((const uint8_t *)a->member.data)[i];
    placed[0] = members, placed[1] = 0;
    for (size_t i = 0; i < n; i++)
        side[placed[((const uint8_t *)a->member.data)[i]]++] = scores[i];
    TRY(roc_make(&c, side, members, side + members, n - members));
    roc_auc_variance(&c, auc);
    *tpr = roc_rates(&c, roc_threshold_at_fpr(&c, 0.01), 0.95).tpr.estimate;
done:
    roc_clear(&c);
    base_free(summary);
    base_free(side);
    return status;
}

int main(int argc, char **argv)
{
    sotto_status status = SOTTO_OK;
    size_t n = 100000, models = 64;
    const char *name = "rmia", *folder = NULL;
    struct sotto_context ctx = {.threads = 2};
    struct arrays a = {0};
    struct sotto_array scores = {0};
    double auc = 0, tpr = 0;
    char path[1024];
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--attack") == 0)
            name = argv[i + 1];
        else if (strcmp(argv[i], "--arrays") == 0)
            folder = argv[i + 1];
        else
            *(strcmp(argv[i], "--records") == 0 ? &n : &models) = (size_t)atol(argv[i + 1]);
        if (strcmp(argv[i], "--threads") == 0)
            ctx.threads = (int)models, models = 64;
    }
    const struct score_attack *how = attack_find(name);
    REQUIRE(how, "bench: unknown attack '%s'", name);
    TRY(folder ? arrays_load(&a, folder) : arrays_make(&a, n, models));
    n = a.reference.shape[0];
    TRY(sotto_array_make(&scores, SOTTO_F8, 1, &n));
    double wall = wall_seconds(), cpu = cpu_seconds();
    TRY(attack(&auc, &tpr, scores.data, how, &a, &ctx));
    wall = wall_seconds() - wall, cpu = cpu_seconds() - cpu;
    printf("{\"what\": \"audit-attack\", \"attack\": \"%s\", \"records\": %zu, \"models\": %zu, \"wall_ms\": "
           "%.1f, "
           "\"cpu_ms\": %.1f, \"auc\": %.5f, \"tpr_at_1_percent\": %.4f, \"records_per_second\": %.0f}\n",
           name, n, a.reference.shape[1], 1e3 * wall, 1e3 * cpu, auc, tpr, (double)n / wall);
    if (folder) {
        snprintf(path, sizeof path, "%s/%s.npy", folder, name);
        TRY(sotto_npy_save(path, &scores));
    }
done:
    if (status != SOTTO_OK)
        fprintf(stderr, "%s\n", sotto_error_text());
    sotto_array_clear(&a.target), sotto_array_clear(&a.member), sotto_array_clear(&a.reference);
    sotto_array_clear(&a.trained), sotto_array_clear(&scores);
    return status == SOTTO_OK ? 0 : 1;
}
