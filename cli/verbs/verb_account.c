/* sotto account: epsilon of a mechanism or a composition, or the scale for a target. */
#include "verbs/account_residual.h"
#include "options/options.h"
#include "verbs/verify_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Mechanism"),
    {"mechanism", OPTION_TEXT, "NAME", NULL,
     "mechanism: logistic, laplace, gaussian, gaussian-classical, discrete-laplace, discrete-gaussian, "
     "knorm, "
     "exponential or randomised-response"},
    {"scale", OPTION_REAL, "S", NULL, "noise scale (s, b or sigma), in units of the sensitivity"},
    {"sigma", OPTION_REAL, "S", NULL, "alias of --scale; with --sample-rate, of --noise-multiplier"},
    {"epsilon", OPTION_REAL, "E", NULL,
     "target epsilon instead of --scale or --noise-multiplier; the smallest noise that meets it is found",
     NULL, "target-epsilon"},
    {"delta", OPTION_REAL, "D", NULL, "delta of (epsilon, delta)-DP; omit for pure epsilon-DP"},
    {"l1", OPTION_REAL, "D1", NULL, "L1 sensitivity"},
    {"l2", OPTION_REAL, "D2", NULL, "L2 sensitivity"},
    {"dimension", OPTION_COUNT, "N", NULL,
     "number of released values; tightens bounds from --l2 (default: unknown)"},
    {"value-step", OPTION_REAL, "R", "0",
     "step of the grid that all values lie on, a power of two (1: integers, 0: no grid)"},
    {"compose", OPTION_COUNT, "K", "1", "number of identical releases with independent noise"},
    {"adjacency", OPTION_TEXT, "NAME", NULL,
     "adjacency: replace-one (default) or add-remove (default for Poisson batches)"},
    {"choose", OPTION_FLAG, NULL, NULL,
     "table of the noise that each mechanism needs for --epsilon, smallest first"},
    {"certified", OPTION_FLAG, NULL, NULL, "bounds by ball arithmetic, valid under rounding (takes seconds)"},
    OPTION_GROUP("DP-SGD"),
    {"noise-multiplier", OPTION_REAL, "M", NULL, "noise scale / clipping norm"},
    {"sample-rate", OPTION_REAL, "Q", NULL,
     "sampling rate: probability that a record is in a step, in (0, 1]", "sampling-rate", "sampling_rate"},
    {"sampling", OPTION_TEXT, "NAME", "poisson",
     "batches: poisson, or fixed: constant batch size without replacement (replace-one adjacency)"},
    {"steps", OPTION_COUNT, "N", NULL, "number of steps"},
    {"clipping", OPTION_TEXT, "NORM", "l2", "norm of gradient clipping: l1 or l2 (laplace: l1)"},
    OPTION_GROUP("Files"),
    {"verify", OPTION_TEXT, "CERTIFICATE", NULL,
     "certificate to verify, as by 'sotto verify CERTIFICATE'; uses the released file beside it and "
     "--ledger"},
    {"ledger", OPTION_TEXT, "FILE", NULL, "ledger; epsilon of all its entries together, at --delta"},
    {"events", OPTION_TEXT, "FILE", NULL,
     "list of releases to compose, .json or .yaml (sotto.events/1, docs/FORMATS.md)"},
    {"opacus-history", OPTION_TEXT, "FILE", NULL,
     "state of an Opacus accountant as JSON: {\"history\": [[noise_multiplier, sample_rate, num_steps], "
     "...]}"},
    {"import", OPTION_FLAG, NULL, NULL,
     "new entry of --ledger for the releases of --opacus-history, marked as stated by the caller"},
    OPTION_GROUP("Residual perturbation"),
    {"residual-perturbation", OPTION_TEXT, "KIND", NULL,
     "noise in residual blocks: additive (protects training records) or multiplicative (protects answers)"},
    {"gamma", OPTION_REAL, "G", NULL, "standard deviation of the noise in every block"},
    {"mappings", OPTION_COUNT, "M", "3", "number of residual blocks"},
    OPTION_GROUP("Additive residual perturbation"),
    {"radius", OPTION_REAL, "R", NULL, "L2 norm to which every input is clipped"},
    {"input-noise", OPTION_REAL, "PI", NULL, "standard deviation of the noise on inputs"},
    {"uses", OPTION_COUNT, "E", NULL, "uses of each record in training (epochs)"},
    {"copies", OPTION_COUNT, "N", "1",
     "independent noisy copies in each use (networks of an ensemble with separate inputs)"},
    {"label-epsilon", OPTION_REAL, "E", "0",
     "epsilon of randomised response on labels; 0: labels are public"},
    {"mapping-bound", OPTION_REAL, "G", NULL,
     "bound on the expected output of a residual block, for the published, unproved epsilon"},
    OPTION_GROUP("Multiplicative residual perturbation"),
    {"branch-bound", OPTION_REAL, "B", NULL, "L2 norm to which every branch is clipped"},
    {"floor", OPTION_REAL, "ETA", "0", "lower limit of the absolute activations that scale the noise"},
    {"weight-bound", OPTION_REAL, "A", NULL, "L1 norm of the output weights"},
    {"output-noise", OPTION_REAL, "PI", NULL,
     "standard deviation of the output noise, relative to the largest activation"},
    {"queries", OPTION_COUNT, "K", "1", "number of answers to one adversary"},
    OPTION_END};

/* One name out of two; *second: it is the second. */
static sotto_status either(int *second, const struct options *o, const char *option, const char *one,
                           const char *other)
{
    const char *text = option_text(o, option);
    *second = text && strcmp(text, other) == 0;
    if (text && !*second && strcmp(text, one) != 0)
        return cli_fail(SOTTO_EUSAGE, "account: --%s must be %s or %s (got '%s')", option, one, other, text);
    return SOTTO_OK;
}

/* --sigma is the scale of a release and the noise multiplier of DP-SGD. */
static int noise_given(const struct options *o, const char *name)
{
    return option_given(o, name) + option_given(o, "sigma");
}

static double noise(const struct options *o, const char *name)
{
    return option_real(o, option_given(o, name) ? name : "sigma");
}

static sotto_status check(const struct options *o)
{
    int ignored;
    if (!option_given(o, "mechanism"))
        return option_require(o, "mechanism");
    if (noise_given(o, "scale") + option_given(o, "epsilon") != 1)
        return cli_fail(SOTTO_EUSAGE, "account: give exactly one of --scale and --epsilon");
    if (!option_given(o, "l1") && !option_given(o, "l2"))
        return cli_fail(SOTTO_EUSAGE, "account: the sensitivity is missing; give --l1, --l2 or both");
    if (option_positive(o, "l1") != SOTTO_OK || option_positive(o, "l2") != SOTTO_OK)
        return SOTTO_EINVAL;
    if (option_given(o, "clipping"))
        return cli_fail(SOTTO_EUSAGE, "account: --clipping needs --sample-rate and --steps");
    return either(&ignored, o, "adjacency", "replace-one", "add-remove");
}

static sotto_status check_sampled(const struct options *o)
{
    if (!option_given(o, "mechanism"))
        return option_require(o, "mechanism");
    if (!option_given(o, "sample-rate"))
        return option_require(o, "sample-rate");
    if (!option_given(o, "steps"))
        return option_require(o, "steps");
    if (noise_given(o, "noise-multiplier") + option_given(o, "epsilon") != 1)
        return cli_fail(SOTTO_EUSAGE, "account: give exactly one of --noise-multiplier and --epsilon");
    if (option_given(o, "scale") || option_given(o, "l1") || option_given(o, "l2") ||
        option_given(o, "compose"))
        return cli_fail(SOTTO_EUSAGE,
                        "account: --scale, --l1, --l2 and --compose cannot be combined with --sample-rate; "
                        "give --noise-multiplier, which is relative to the clipping norm");
    return SOTTO_OK;
}

/* Fewest digits that read back as the same number: a scale that is typed again must be the one accounted. */
static void print_exactly(double x)
{
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    fputs(text, stdout);
}

static void print_account(const struct sotto_account *a)
{
    int sampled = a->sample_rate < 1 || a->clipping[0];
    printf("%s, ", a->mechanism);
    if (!isnan(a->scale)) {
        printf("%s ", sampled ? "noise multiplier" : "scale");
        print_exactly(a->scale);
        printf(" (standard deviation %.6g), ", a->standard_deviation);
    }
    printf("%s\n", a->adjacency);
    if (sampled)
        printf("%zu steps, %s sampling at rate %g, gradients clipped by %s\n", a->compose,
               strcmp(a->sampling, "fixed") == 0 ? "fixed-size" : "Poisson", a->sample_rate, a->clipping);
    else if (a->compose > 1)
        printf("%zu releases\n", a->compose);
    if (isinf(a->epsilon.upper))
        printf("epsilon: none at delta %g; a delta > 0 is needed\n", a->delta);
    else
        printf("epsilon at delta %g: at most %.10g (%s), at least %.10g\n", a->delta, a->epsilon.upper,
               a->accountant, a->epsilon.lower);
    if (a->other_adjacency[0])
        printf("under %s: at most %.10g, at least %.10g\n", a->other_adjacency, a->other_epsilon.upper,
               a->other_epsilon.lower);
    if (!isnan(a->pure_epsilon))
        printf("pure epsilon: %.10g\n", a->pure_epsilon);
    if (!isnan(a->zcdp_rho))
        printf("zCDP rho: %.10g\n", a->zcdp_rho);
    if (a->note[0])
        fprintf(stderr, "sotto: warning: account: %s\n", a->note);
    for (size_t i = 0; i < a->bound_count; i++)
        printf("  %-24s %.10g\n", a->bounds[i].name, a->bounds[i].epsilon);
}

static sotto_status account_of_sampled(struct sotto_account *account, const struct options *o,
                                       const struct sotto_context *ctx)
{
    int by_l2, add_remove;
    sotto_status status = check_sampled(o);
    if (status == SOTTO_OK)
        status = either(&by_l2, o, "clipping", "l1", "l2");
    if (status == SOTTO_OK)
        status = either(&add_remove, o, "adjacency", "replace-one", "add-remove");
    if (status != SOTTO_OK)
        return status;
    enum sotto_sampling sampling;
    status = sotto_sampling_find(&sampling, option_text(o, "sampling"));
    if (status != SOTTO_OK)
        return status;
    int fixed = sampling == SOTTO_SAMPLING_FIXED;
    double delta = option_real(o, "delta"), target = option_real(o, "epsilon");
    int certified = option_flag(o, "certified");
    struct sotto_sampled s = {.mechanism = option_text(o, "mechanism"),
                              .noise_multiplier = noise(o, "noise-multiplier"),
                              .sample_rate = option_real(o, "sample-rate"),
                              .steps = (size_t)option_count(o, "steps"),
                              .delta = isnan(delta) ? 0 : delta,
                              .clipping = by_l2 ? SOTTO_NORM_L2 : SOTTO_NORM_L1,
                              .adjacency = (option_given(o, "adjacency") ? add_remove : !fixed)
                                               ? SOTTO_ADD_REMOVE
                                               : SOTTO_REPLACE_ONE,
                              .sampling = sampling};
    if (certified && option_given(o, "epsilon"))
        return sotto_calibrate_sampled_certified(account, &s, target, ctx);
    if (option_given(o, "epsilon"))
        status = sotto_calibrate_sampled(&s.noise_multiplier, &s, target, ctx);
    if (status != SOTTO_OK)
        return status;
    return certified ? sotto_account_sampled_certified(account, &s, ctx)
                     : sotto_account_sampled_both(account, &s, ctx);
}

/* The textbook formula never stands alone: what the same target needs by the exact curve goes beside it. */
static sotto_status print_classical(const struct options *o)
{
    struct sotto_classical_gaussian c;
    struct sotto_dp target = {option_real(o, "epsilon"), option_real(o, "delta")};
    sotto_status status = sotto_gaussian_classical(&c, option_real(o, "l2"), target);
    if (status == SOTTO_OK)
        printf("classical sigma %.10g (reaches delta %.4g); analytic sigma %.10g; the formula fails from "
               "epsilon "
               "%.5g on\n",
               c.scale, c.achieved_delta, c.analytic_scale, c.first_violation);
    return status;
}

static sotto_status account_of_release(struct sotto_account *account, const struct options *o,
                                       const struct sotto_context *ctx)
{
    sotto_status status = check(o);
    if (status != SOTTO_OK)
        return status;
    struct sotto_sensitivity s = {option_real(o, "l1"),
                                  option_real(o, "l2"),
                                  (size_t)option_count(o, "dimension"),
                                  SOTTO_SENSITIVITY_GIVEN,
                                  "",
                                  option_real(o, "value-step")};
    const char *mechanism = option_text(o, "mechanism"), *adjacency = option_text(o, "adjacency");
    double scale = noise(o, "scale"), delta = option_real(o, "delta");
    size_t compose = (size_t)option_count(o, "compose");
    struct sotto_dp target = {option_real(o, "epsilon"), isnan(delta) ? 0 : delta};
    int certified = option_flag(o, "certified"), searched = option_given(o, "epsilon");
    if (certified && searched)
        status = sotto_calibrate_certified(account, mechanism, &s, target, compose, ctx);
    else if (certified)
        status = sotto_account_release_certified(account, mechanism, scale, &s, target.delta, compose, ctx);
    else if (searched)
        status = sotto_calibrate_composed(&scale, mechanism, &s, target, compose, ctx);
    if (status == SOTTO_OK && !certified)
        status = sotto_account_release(account, mechanism, scale, &s, target.delta, compose, ctx);
    if (status == SOTTO_OK && adjacency)
        snprintf(account->adjacency, sizeof account->adjacency, "%s", adjacency);
    return status;
}

/* Different releases together, from a file. */
static sotto_status account_of_file(struct sotto_account *account, const struct options *o,
                                    const struct sotto_context *ctx)
{
    static const char *const others[] = {
        "mechanism",        "sigma",       "scale", "epsilon",  "l1",      "l2", "dimension", "compose",
        "noise-multiplier", "sample-rate", "steps", "clipping", "sampling"};
    const char *events = option_text(o, "events"), *opacus = option_text(o, "opacus-history");
    double delta = option_real(o, "delta");
    int add_remove;
    if (events && opacus)
        return cli_fail(SOTTO_EUSAGE, "account: give --events or --opacus-history, not both");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE,
                            "account: --%s cannot be combined with --%s, as the file contains it", others[i],
                            events ? "events" : "opacus-history");
    sotto_status status = either(&add_remove, o, "adjacency", "replace-one", "add-remove");
    if (status != SOTTO_OK)
        return status;
    enum sotto_adjacency target = !option_given(o, "adjacency") ? SOTTO_SAME_ADJACENCY
                                  : add_remove                  ? SOTTO_ADD_REMOVE
                                                                : SOTTO_REPLACE_ONE;
    delta = isnan(delta) ? 0 : delta;
    return events ? sotto_account_events_file(account, events, delta, target, ctx)
                  : sotto_account_opacus_file(account, opacus, delta, target, ctx);
}

static sotto_status print_ledger(const struct options *o, const struct sotto_context *ctx)
{
    char *text = NULL;
    double delta = option_real(o, "delta");
    sotto_status status =
        sotto_ledger_account(&text, option_text(o, "ledger"), isnan(delta) ? 0 : delta, ctx);
    if (status == SOTTO_OK)
        printf("%s\n", text);
    sotto_text_free(text);
    return status;
}

static sotto_status import_history(const struct options *o, const struct sotto_context *ctx)
{
    if (!option_given(o, "opacus-history"))
        return option_require(o, "opacus-history");
    if (!option_given(o, "ledger"))
        return option_require(o, "ledger");
    double delta = option_real(o, "delta");
    sotto_status status = sotto_ledger_import_opacus(
        option_text(o, "ledger"), option_text(o, "opacus-history"), isnan(delta) ? 0 : delta, ctx);
    return status == SOTTO_OK ? print_ledger(o, ctx) : status;
}

static sotto_status print_choices(const struct sotto_account *accounts, size_t count, int json)
{
    sotto_status status = SOTTO_OK;
    if (json)
        printf("{\"schema\": \"sotto.choice/1\", \"winner\": \"%s\", \"accounts\": [", accounts[0].mechanism);
    else
        printf("%-17s %-19s %-22s %-13s %-11s %s\n", "mechanism", "standard deviation", "scale",
               "pure epsilon", "certificate", "accountant");
    for (size_t i = 0; i < count && status == SOTTO_OK; i++) {
        const struct sotto_account *a = &accounts[i];
        char *text = NULL;
        if (json) {
            status = sotto_account_json(&text, a);
            if (status == SOTTO_OK)
                printf("%s%s", i ? ", " : "", text);
            sotto_text_free(text);
            continue;
        }
        char pure[32] = "none";
        if (!isnan(a->pure_epsilon))
            snprintf(pure, sizeof pure, "%.6g", a->pure_epsilon);
        const char *certificate = isnan(a->pure_epsilon) ? "zCDP" : "pure + zCDP";
        printf("%-17s %-19.9g %-22.17g %-13s %-11s %s\n", a->mechanism, a->standard_deviation, a->scale, pure,
               certificate, a->accountant);
    }
    if (!json && status == SOTTO_OK)
        printf("smallest noise: %s\n", accounts[0].mechanism);
    if (json)
        printf("]}\n");
    return status;
}

static sotto_status choose(const struct options *o, const struct sotto_context *ctx, int json)
{
    if (option_given(o, "mechanism") || noise_given(o, "scale") || option_given(o, "sample-rate"))
        return cli_fail(SOTTO_EUSAGE, "account: --choose compares all mechanisms; expected only --epsilon, "
                                      "--delta, --l1 and --l2 beside it");
    if (!option_given(o, "epsilon"))
        return option_require(o, "epsilon");
    if (option_positive(o, "l1") != SOTTO_OK || option_positive(o, "l2") != SOTTO_OK)
        return SOTTO_EINVAL;
    struct sotto_sensitivity s = {option_real(o, "l1"),
                                  option_real(o, "l2"),
                                  (size_t)option_count(o, "dimension"),
                                  SOTTO_SENSITIVITY_GIVEN,
                                  "",
                                  option_real(o, "value-step")};
    double delta = option_real(o, "delta");
    struct sotto_dp target = {option_real(o, "epsilon"), isnan(delta) ? 0 : delta};
    struct sotto_account accounts[SOTTO_MAX_MECHANISMS];
    size_t count;
    sotto_status status = sotto_choose(accounts, &count, &s, target, (size_t)option_count(o, "compose"), ctx);
    return status == SOTTO_OK ? print_choices(accounts, count, json) : status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    static const char *const others[] = {"verify", "ledger",         "choose",
                                         "events", "opacus-history", "residual-perturbation"};
    struct sotto_account account;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_flag(o, "certified") && option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "account: --certified cannot be combined with --%s", others[i]);
    if (option_given(o, "residual-perturbation"))
        return account_residual(o, json);
    if (option_given(o, "verify"))
        return verify_print(option_text(o, "verify"), NULL, option_text(o, "ledger"), ctx, json);
    if (option_flag(o, "import"))
        return import_history(o, ctx);
    if (option_given(o, "ledger"))
        return print_ledger(o, ctx);
    if (option_given(o, "choose"))
        return choose(o, ctx, json);
    int sampled =
        option_given(o, "noise-multiplier") || option_given(o, "sample-rate") || option_given(o, "steps");
    int file = option_given(o, "events") || option_given(o, "opacus-history");
    sotto_status status = file      ? account_of_file(&account, o, ctx)
                          : sampled ? account_of_sampled(&account, o, ctx)
                                    : account_of_release(&account, o, ctx);
    if (status != SOTTO_OK)
        return status;
    if (!json) {
        print_account(&account);
        if (strcmp(account.mechanism, "gaussian-classical") == 0 && option_given(o, "epsilon") &&
            option_given(o, "l2"))
            return print_classical(o);
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
    .summary = "compute epsilon of a mechanism or a composition, or the noise for a target epsilon",
    .arguments = "",
    .examples =
        "  sotto account --mechanism logistic --scale 0.1 --l2 0.04 --delta 1e-5 --json\n"
        "  sotto account --mechanism laplace --scale 1 --l1 0.1 --compose 10 --delta 1e-6\n"
        "  sotto account --mechanism gaussian --epsilon 1 --l2 1 --delta 1e-5\n"
        "  sotto account --mechanism gaussian --noise-multiplier 1.1 --sample-rate 0.01 --steps "
        "10000 --delta 1e-5\n"
        "  sotto account --events releases.json --delta 1e-5\n"
        "  sotto account --opacus-history accountant.json --delta 1e-5\n"
        "  sotto account --choose --epsilon 1 --delta 1e-5 --l1 1 --compose 7\n"
        "  sotto account --residual-perturbation additive --radius 30 --input-noise 0.25 --uses 100 --delta "
        "1e-5\n"
        "  sotto account --verify protected.safetensors.certificate.json",
    .options = rows,
    .run = run};
