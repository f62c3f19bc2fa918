/* sotto account: epsilon of a mechanism or a composition, or the scale for a target. */
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    {"mechanism", OPTION_TEXT, "NAME", NULL, "logistic, laplace or gaussian", NULL},
    {"scale", OPTION_REAL, "S", NULL, "noise scale (s, b or sigma), same unit as the sensitivity", "sigma"},
    {"target-epsilon", OPTION_REAL, "E", NULL, "instead of --scale: the smallest scale that never exceeds E",
     NULL},
    {"l1", OPTION_REAL, "D1", NULL, "L1 sensitivity", NULL},
    {"l2", OPTION_REAL, "D2", NULL, "L2 sensitivity", NULL},
    {"dimension", OPTION_COUNT, "N", NULL, "values released; sharpens bounds by L2 (default: unknown)", NULL},
    {"delta", OPTION_REAL, "D", NULL, "delta; none or 0: pure", NULL},
    {"compose", OPTION_COUNT, "K", "1", "identical releases with independent noise", NULL},
    {"adjacency", OPTION_TEXT, "NAME", "replace-one",
     "which neighbouring relation the sensitivity was computed for: replace-one or add-remove", NULL},
    {"noise-multiplier", OPTION_REAL, "M", NULL, "DP-SGD: noise scale / max_grad_norm", NULL},
    {"sample-rate", OPTION_REAL, "Q", NULL, "DP-SGD: Poisson sampling rate", "sampling_rate"},
    {"steps", OPTION_COUNT, "T", NULL, "DP-SGD: steps", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

static sotto_status check(const struct options *o)
{
    if (option_given(o, "noise-multiplier") || option_given(o, "sample-rate") || option_given(o, "steps"))
        return cli_fail(
            SOTTO_ENOTSUP,
            "account: accounting of sampled iterations (--noise-multiplier, --sample-rate, --steps) "
            "is not built into this version; releases are: --scale with --l1 or --l2");
    if (!option_given(o, "mechanism"))
        return option_require(o, "mechanism");
    if (option_given(o, "scale") == option_given(o, "target-epsilon"))
        return cli_fail(SOTTO_EUSAGE, "account: give exactly one of --scale and --target-epsilon");
    if (!option_given(o, "l1") && !option_given(o, "l2"))
        return cli_fail(SOTTO_EUSAGE, "account: give --l1, --l2 or both");
    const char *adjacency = option_text(o, "adjacency");
    if (strcmp(adjacency, "replace-one") != 0 && strcmp(adjacency, "add-remove") != 0)
        return cli_fail(SOTTO_EUSAGE, "account: --adjacency must be replace-one or add-remove (got '%s')",
                        adjacency);
    return SOTTO_OK;
}

static void print_account(const struct sotto_account *a)
{
    printf("%s, scale %.17g (standard deviation %.6g), %s\n", a->mechanism, a->scale, a->standard_deviation,
           a->adjacency);
    if (a->compose > 1)
        printf("%zu releases\n", a->compose);
    if (isinf(a->epsilon.upper))
        printf("epsilon: none at delta %g; a delta > 0 is needed\n", a->delta);
    else
        printf("epsilon at delta %g: at most %.10g (%s), at least %.10g\n", a->delta, a->epsilon.upper,
               a->accountant, a->epsilon.lower);
    if (!isnan(a->pure_epsilon))
        printf("pure epsilon: %.10g\n", a->pure_epsilon);
    if (!isnan(a->zcdp_rho))
        printf("zCDP rho: %.10g\n", a->zcdp_rho);
    for (size_t i = 0; i < a->bound_count; i++)
        printf("  %-24s %.10g\n", a->bounds[i].name, a->bounds[i].epsilon);
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)ctx;
    sotto_status status = check(o);
    if (status != SOTTO_OK)
        return status;
    struct sotto_sensitivity s = {option_real(o, "l1"), option_real(o, "l2"),
                                  (size_t)option_count(o, "dimension"), SOTTO_SENSITIVITY_GIVEN, ""};
    const char *mechanism = option_text(o, "mechanism");
    double scale = option_real(o, "scale"), delta = option_real(o, "delta");
    size_t compose = (size_t)option_count(o, "compose");
    if (isnan(delta))
        delta = 0;
    struct sotto_account account;
    if (option_given(o, "target-epsilon"))
        status = sotto_calibrate_composed(
            &scale, mechanism, &s, (struct sotto_dp){option_real(o, "target-epsilon"), delta}, compose);
    if (status == SOTTO_OK)
        status = sotto_account_release(&account, mechanism, scale, &s, delta, compose);
    if (status != SOTTO_OK)
        return status;
    snprintf(account.adjacency, sizeof account.adjacency, "%s", option_text(o, "adjacency"));
    if (!json) {
        print_account(&account);
        return SOTTO_OK;
    }
    char *text = NULL;
    status = sotto_account_json(&text, &account);
    if (status == SOTTO_OK)
        printf("%s\n", text);
    sotto_text_free(text);
    return status;
}

const struct verb verb_account = {
    .name = "account",
    .summary = "epsilon of a mechanism or a composition, or the scale for a target",
    .arguments = "",
    .examples = "  sotto account --mechanism logistic --scale 0.1 --l2 0.04 --delta 1e-5 --json\n"
                "  sotto account --mechanism laplace --scale 1 --l1 0.1 --compose 10 --delta 1e-6\n"
                "  sotto account --mechanism gaussian --target-epsilon 1 --l2 1 --delta 1e-5",
    .options = rows,
    .run = run};
