/* sotto account --residual-perturbation: what is proved, what is only published, never mixed. */
#include "options/options.h"
#include "sotto/lab/residual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* JSON has no infinity. */
static void print_number(const char *name, double x)
{
    if (isfinite(x))
        printf(", \"%s\": %.17g", name, x);
    else
        printf(", \"%s\": null", name);
}

static sotto_status require_all(const struct options *o, const char *const *names)
{
    for (; *names; names++)
        TRY_OR_RETURN(option_require(o, *names));
    return SOTTO_OK;
}

static void print_input(const struct sotto_residual_input *in, const struct sotto_residual_account *a,
                        int json)
{
    char most[SOTTO_NUMBER_TEXT], least[SOTTO_NUMBER_TEXT];
    if (json) {
        printf("{\"schema\": \"sotto.residual/1\", \"kind\": \"additive\", \"proved\": {\"adjacency\": "
               "\"%s\", \"labels\": \"%s\", \"delta\": %.17g, \"radius\": %.17g, "
               "\"input_noise\": %.17g, \"uses\": %zu, \"copies\": %zu",
               in->label_epsilon > 0 ? "one record replaced, input and label"
                                     : "one input replaced, its label kept",
               in->label_epsilon > 0 ? "randomised response" : "public, not protected", in->delta, in->radius,
               in->noise, in->uses, in->copies);
        print_number("label_epsilon", in->label_epsilon);
        print_number("epsilon_upper", a->epsilon.upper);
        print_number("epsilon_lower", a->epsilon.lower);
        print_number("renyi_epsilon", a->renyi_epsilon);
        printf("}");
        return;
    }
    printf("proved from the noise on inputs alone (inputs clipped to L2 norm %g, standard deviation %.6g, "
           "%zu use%s of a record",
           in->radius, in->noise, in->uses, in->uses > 1 ? "s" : "");
    if (in->copies > 1)
        printf(", %zu noisy copies each", in->copies);
    printf("):\n  epsilon at delta %g: at most %s, at least %s\n", in->delta,
           sotto_number_text(most, a->epsilon.upper, 10, 1),
           sotto_number_text(least, a->epsilon.lower, 10, 0));
    printf("  by Renyi divergence, in closed form: %.10g\n", a->renyi_epsilon);
    if (in->label_epsilon > 0)
        printf("  adjacent sets differ in one input and its label; randomised response on labels takes %g of "
               "epsilon\n",
               in->label_epsilon);
    else
        printf("  adjacent sets differ in one input; LABELS ARE PUBLIC and not protected\n");
    printf("  holds for any network; normalisation constants, hyperparameters and stopping time must not "
           "depend on the private data\n");
}

static void print_theorem1(const struct sotto_residual_theorem1 *t, size_t mappings, int json)
{
    if (json) {
        printf(
            ", \"published\": {\"theorem\": 1, \"assumption\": \"outputs of residual mappings are Gaussian "
            "with one "
            "covariance\", \"assumption_holds\": \"not for ReLU networks\", \"labels\": \"not protected\"");
        print_number("epsilon", t->epsilon);
        print_number("lambda", t->lambda);
        print_number("alpha", t->alpha);
        print_number("input_noise", t->input_noise);
        print_number("gamma", t->gamma);
        print_number("epsilon_last_mapping", sotto_residual_theorem1_mapping(t, mappings));
        printf("}");
        return;
    }
    printf("Theorem 1 as published, NOT proved (it assumes that outputs of residual mappings are Gaussian "
           "with one "
           "covariance; those of ReLU networks are not):\n");
    printf("  epsilon %.10g for input noise %.6g and gamma %.6g (lambda %.6g, alpha %.6g); weights of "
           "mapping %zu: "
           "%.10g\n",
           t->epsilon, t->input_noise, t->gamma, t->lambda, t->alpha, mappings,
           sotto_residual_theorem1_mapping(t, mappings));
}

static sotto_status account_residual_additive(const struct options *o, int json)
{
    static const char *const needed[] = {"radius", "uses", "delta", NULL};
    TRY_OR_RETURN(require_all(o, needed));
    int searched = option_given(o, "epsilon");
    if (searched == option_given(o, "input-noise"))
        return cli_fail(SOTTO_EUSAGE, "account: give exactly one of --input-noise and --epsilon");
    if (option_given(o, "gamma") != option_given(o, "mapping-bound") && !searched)
        return cli_fail(SOTTO_EUSAGE,
                        "account: --gamma and --mapping-bound must be given together (Theorem 1 needs both)");
    struct sotto_residual_input in = {0};
    TRY_OR_RETURN(option_members(&in, sotto_option_table("residual_input"), o));
    TRY_OR_RETURN(sotto_options_resolve(&in, &in, sotto_option_table("residual_input")));
    in.delta = option_real(o, "delta");
    struct sotto_residual_account account;
    struct sotto_residual_theorem1 t = {.radius = in.radius,
                                        .mapping_bound = option_real(o, "mapping-bound"),
                                        .uses = (double)in.uses * (double)in.copies,
                                        .delta = in.delta,
                                        .lambda = NAN,
                                        .epsilon = option_real(o, "epsilon"),
                                        .input_noise = in.noise,
                                        .gamma = option_real(o, "gamma")};
    if (searched)
        TRY_OR_RETURN(sotto_residual_input_noise(&in.noise, t.epsilon, &in));
    TRY_OR_RETURN(sotto_residual_input(&account, &in));
    if (option_given(o, "mapping-bound"))
        TRY_OR_RETURN(searched ? sotto_residual_theorem1_noise(&t) : sotto_residual_theorem1_epsilon(&t));
    print_input(&in, &account, json);
    if (option_given(o, "mapping-bound"))
        print_theorem1(&t, (size_t)option_count(o, "mappings"), json);
    if (json)
        printf("}\n");
    return SOTTO_OK;
}

static sotto_status account_residual_multiplicative(const struct options *o, int json)
{
    static const char *const needed[] = {"branch-bound", "weight-bound", "delta", NULL};
    TRY_OR_RETURN(require_all(o, needed));
    int searched = option_given(o, "epsilon");
    if (searched == option_given(o, "gamma") || searched == option_given(o, "output-noise"))
        return cli_fail(SOTTO_EUSAGE, "account: give either --gamma and --output-noise, or --epsilon");
    struct sotto_residual_answers in = {0};
    TRY_OR_RETURN(option_members(&in, sotto_option_table("residual_answers"), o));
    TRY_OR_RETURN(sotto_options_resolve(&in, &in, sotto_option_table("residual_answers")));
    in.delta = option_real(o, "delta");
    double epsilon, published;
    char most[SOTTO_NUMBER_TEXT];
    if (searched)
        TRY_OR_RETURN(sotto_residual_answers_noise(&in, option_real(o, "epsilon")));
    TRY_OR_RETURN(sotto_residual_answers(&epsilon, &published, &in));
    if (json) {
        printf("{\"schema\": \"sotto.residual/1\", \"kind\": \"multiplicative\", \"protects\": \"the model "
               "from its "
               "answers, not the training records\", \"condition\": \"branches, weights and floor are "
               "enforced\", "
               "\"delta\": %.17g, \"queries\": %zu",
               in.delta, in.queries);
        print_number("gamma", in.gamma);
        print_number("output_noise", in.output);
        print_number("epsilon_upper", epsilon);
        print_number("published_epsilon", published);
        printf("}\n");
        return SOTTO_OK;
    }
    printf("Theorem 2, corrected (%zu mappings and the output layer, %zu quer%s, gamma %.6g, output noise "
           "%.6g):\n",
           in.mappings, in.queries, in.queries > 1 ? "ies" : "y", in.gamma, in.output);
    if (isinf(epsilon))
        printf("  epsilon: none; without a floor a zero activation gets no noise\n");
    else
        printf("  epsilon at delta %g: at most %s (as published, one query: %.10g)\n", in.delta,
               sotto_number_text(most, epsilon, 10, 1), published);
    printf("  holds only if branches are clipped to %g, output weights to 1-norm %g, and the floor is used\n",
           in.branch_bound, in.weight_bound);
    printf("  it hides which of any two models answered; it says nothing about training records\n");
    return SOTTO_OK;
}

/* Points to estimate on: (n, d), at most 64 columns. */
static sotto_status load_points(struct sotto_array *out, const char *path)
{
    TRY_OR_RETURN(sotto_array_load(out, path, 0, cli_context()));
    if (out->ndim != 2 || out->count == 0)
        return cli_fail(SOTTO_EINVAL, "%s: has %d dimensions and %zu values; expected (points, columns)",
                        path, out->ndim, out->count);
    TRY_OR_RETURN(sotto_array_require_finite(out, path, "points"));
    return sotto_array_convert(out, SOTTO_F8);
}

/* What noise leaves of the complexity of a class: exact as a factor, estimated on points. It speaks of generalisation,
 * not of privacy. */
static sotto_status account_residual_complexity(const struct options *o, const struct sotto_context *ctx,
                                                int json)
{
    const double p = option_real(o, "exponent"), time = option_real(o, "time"),
                 gamma = option_real(o, "gamma");
    const char *path = option_text(o, "points");
    struct sotto_array x = {0};
    double mean = NAN;
    struct sotto_interval interval = {NAN, NAN};
    TRY_OR_RETURN(option_require(o, "gamma"));
    if (!(p > 0 && p <= 1) || !(time > 0))
        return cli_fail(SOTTO_EUSAGE,
                        "account: --exponent %g and --time %g; expected (0, 1] and a number above 0", p,
                        time);
    sotto_status status = path ? load_points(&x, path) : SOTTO_OK;
    if (status == SOTTO_OK && path)
        status = sotto_residual_complexity(&mean, &interval, x.data, x.shape[0], x.shape[1], p,
                                           option_real(o, "norm-bound"), time,
                                           (size_t)option_count(o, "draws"), 1, ctx);
    sotto_array_clear(&x);
    if (status != SOTTO_OK)
        return status;
    const double factor = sotto_residual_complexity_factor(p, gamma, time);
    if (json) {
        printf(
            "{\"schema\": \"sotto.residual/1\", \"kind\": \"complexity\", \"theorem\": 3, \"factor\": %.17g",
            factor);
        if (path) {
            print_number("complexity", mean);
            print_number("complexity_lower", interval.lower);
            print_number("complexity_upper", interval.upper);
            print_number("complexity_with_noise", factor * mean);
        }
        printf("}\n");
        return SOTTO_OK;
    }
    printf("Theorem 3: noise of gamma %g leaves %.10g of the Rademacher complexity (exponent %.6g, time %g), "
           "exactly\n",
           gamma, factor, p, time);
    if (path)
        printf("  on these points, by search, at least: %.6g without noise (95 %% over draws of signs: "
               "[%.6g, %.6g]), "
               "%.6g with it\n",
               mean, interval.lower, interval.upper, factor * mean);
    printf("  of linear dynamics and the expectation over the noise; nothing is said about privacy or about "
           "one noisy "
           "network\n");
    return SOTTO_OK;
}

static sotto_status refuse_of_complexity(const struct options *o, const char *kind)
{
    static const char *const names[] = {"exponent", "time", "points", "norm-bound", "draws"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_given(o, names[i]) && strcmp(kind, "complexity") != 0)
            return cli_fail(SOTTO_EUSAGE, "account: --%s needs --residual-perturbation complexity", names[i]);
    return SOTTO_OK;
}

static sotto_status account_residual(const struct options *o, const struct sotto_context *ctx, int json)
{
    static const char *const others[] = {
        "mechanism",        "scale",       "l1",     "l2",        "compose",
        "noise-multiplier", "steps",       "events", "ledger",    "verify",
        "opacus-history",   "sample-rate", "choose", "certified", "any-order",
        "read-from-data"};
    const char *kind = option_text(o, "residual-perturbation");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "account: --%s cannot be combined with --residual-perturbation",
                            others[i]);
    TRY_OR_RETURN(refuse_of_complexity(o, kind));
    if (strcmp(kind, "additive") == 0)
        return account_residual_additive(o, json);
    if (strcmp(kind, "multiplicative") == 0)
        return account_residual_multiplicative(o, json);
    if (strcmp(kind, "complexity") == 0)
        return account_residual_complexity(o, ctx, json);
    return cli_unknown("residual-perturbation", kind, "additive, multiplicative or complexity");
}

static const struct option_row rows[] = {
    OPTION_GROUP("Residual perturbation"),
    {"residual-perturbation", OPTION_TEXT, "KIND", NULL,
     "noise in residual blocks: additive (protects training records), multiplicative (protects answers) or "
     "complexity "
     "(Theorem 3: what noise leaves of the Rademacher complexity; not about privacy)"},
    OPTION_TABLE("residual_answers", "gamma|mappings"),
    OPTION_TABLE("residual_input", "radius|input-noise|uses|copies|label-epsilon"),
    OPTION_TABLE("residual_theorem1", NULL),
    OPTION_TABLE("residual_answers", "branch-bound|floor|weight-bound|output-noise|queries"),
    OPTION_GROUP("Complexity under residual perturbation"),
    OPTION_TABLE("residual_demo", "exponent|time"),
    {"points", OPTION_TEXT, "ARRAY", NULL,
     "points for an estimate of the complexity without noise (n, d), d up to 64 (default: the factor only)"},
    OPTION_TABLE("residual_demo", "norm-bound|draws"),
    OPTION_END};

const struct verb_part verb_part_account_residual = {
    .verb = "account",
    .when = "--residual-perturbation",
    .options = rows,
    .own = "residual-perturbation|points",
    .examples =
        "  sotto account --residual-perturbation additive --radius 30 --input-noise 0.25 --uses 100 --delta "
        "1e-5\n"
        "  sotto account --residual-perturbation complexity --gamma 0.8",
    .run = account_residual};
