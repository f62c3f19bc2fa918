#include "verbs/audit_exposure.h"

#include <math.h>
#include <stdio.h>

static sotto_status audit_exposure_load(struct sotto_array *a, const struct options *o, const char *option)
{
    const char *path = option_text(o, option);
    if (!path)
        return cli_fail(SOTTO_EUSAGE, "audit: --canary-scores and --candidate-scores must be given together");
    TRY_OR_RETURN(sotto_array_load(a, path, 0, cli_context()));
    if (a->ndim != 1 && !(a->ndim == 2 && a->shape[1] == 1))
        return cli_fail(SOTTO_EINVAL, "%s: has %d dimensions; --%s needs 1 (scores)", path, a->ndim, option);
    TRY_OR_RETURN(sotto_array_require_finite(a, path, "scores"));
    return sotto_array_convert(a, SOTTO_F8);
}

static void print_number(const char *name, double x)
{
    if (isnan(x))
        printf("\"%s\": null", name);
    else
        printf("\"%s\": %.17g", name, x);
}

static void print_one(const struct sotto_exposure *e, int first, int json)
{
    if (!json) {
        printf("%-12.6g %-8zu %-9.4f %-10.4g ", e->score, e->rank, e->exposure, e->p_value);
        if (isnan(e->extrapolated))
            printf("-\n");
        else
            printf("%.4f\n", e->extrapolated);
        return;
    }
    printf("%s{\"score\": %.17g, \"rank\": %zu, \"exposure\": %.17g, \"p_value\": %.17g, ", first ? "" : ", ",
           e->score, e->rank, e->exposure, e->p_value);
    print_number("extrapolated", e->extrapolated);
    printf("}");
}

sotto_status audit_exposure_print(const struct options *o, int json)
{
    struct sotto_array canaries = {0}, candidates = {0};
    sotto_status status = SOTTO_OK;
    TRY(audit_exposure_load(&canaries, o, "canary-scores"));
    TRY(audit_exposure_load(&candidates, o, "candidate-scores"));
    const double *score = canaries.data;
    for (size_t i = 0; i < canaries.count; i++) {
        struct sotto_exposure e;
        TRY(sotto_exposure(&e, score[i], candidates.data, candidates.count));
        if (i == 0 && json)
            printf("{\"schema\": \"sotto.exposure/1\", \"candidates\": %zu, \"most\": %.17g, \"canaries\": [",
                   e.candidates, e.most);
        else if (i == 0)
            printf("exposure in bits among %zu candidates, at most %.4f; p: as high by chance; fitted: by a "
                   "normal law, "
                   "assumed and not measured\n"
                   "score        rank     exposure  p          fitted\n",
                   e.candidates, e.most);
        print_one(&e, i == 0, json);
    }
    if (json)
        printf("]}\n");
done:
    sotto_array_clear(&canaries);
    sotto_array_clear(&candidates);
    return status;
}
