/* sotto account: epsilon of a mechanism or a composition, or the scale for a target. */
#include "options/options.h"
#include "verbs/verify_print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Mechanism"),
    OPTION_TABLE("release", "mechanism|scale"),
    OPTION_TABLE("account", "sigma"),
    OPTION_TABLE("release", "epsilon|delta|value-step"),
    OPTION_TABLE("account", "compose"),
    OPTION_TABLE("sampled", "adjacency"),
    OPTION_TABLE("account", "choose|certified"),
    OPTION_TABLE("release", "l1|l2|dimension"),
    OPTION_TABLE("protect", "classes"),
    OPTION_GROUP("Sensitivity"),
    OPTION_TABLE("spend", "read-from-data"),
    OPTION_TABLE("sampled", "noise-multiplier|sample-rate|sampling|rows-per-person|steps|clipping"),
    OPTION_GROUP("Files"),
    {"verify", OPTION_TEXT, "CERTIFICATE", NULL,
     "certificate to verify, as by 'sotto verify CERTIFICATE'; uses the released file beside it and "
     "--ledger"},
    {"ledger", OPTION_TEXT, "FILE", NULL, "ledger: epsilon of all its entries together, at --delta"},
    {"events", OPTION_TEXT, "FILE", NULL,
     "releases to compose, a .json or .yaml file; docs/FORMATS.md describes it (sotto.events/1)"},
    {"any-order", OPTION_FLAG, NULL, NULL,
     "epsilon of --events for an analyst who looks at each result before choosing the next release, by a box "
     "that was fixed beforehand"},
    {"opacus-history", OPTION_TEXT, "FILE", NULL,
     "state of an Opacus accountant as JSON: {\"history\": [[noise_multiplier, sample_rate, num_steps], "
     "...]}"},
    {"import", OPTION_FLAG, NULL, NULL,
     "new entry of --ledger for the releases of --opacus-history, marked as stated by the caller"},
    OPTION_END};

/* What is asked for, by the tables. */
struct request {
    struct sotto_release release;
    struct sotto_sampled sampled;
    size_t compose;
};

/* One label of one record, or another one: there is no sensitivity to state. */
static bool is_of_labels(const struct options *o)
{
    const char *mechanism = option_text(o, "mechanism");
    return mechanism && strcmp(mechanism, "randomised-response") == 0;
}

static sotto_status read_request(struct request *q, const struct options *o)
{
    *q = (struct request){.compose = (size_t)option_count(o, "compose")};
    TRY_OR_RETURN(option_members(&q->release, sotto_option_table("release"), o));
    TRY_OR_RETURN(option_members(&q->sampled, sotto_option_table("sampled"), o));
    if (is_of_labels(o) && !option_given(o, "l1") && !option_given(o, "l2"))
        q->release.sensitivity.l1 = 1;
    q->sampled.mechanism = q->release.mechanism;
    q->sampled.delta = q->release.target.delta;
    if (option_given(o, "sigma"))
        q->release.scale = q->sampled.noise_multiplier = option_real(o, "sigma");
    if (!option_given(o, "adjacency") && q->sampled.sampling == SOTTO_SAMPLING_POISSON)
        q->sampled.adjacency = SOTTO_ADD_REMOVE;
    return SOTTO_OK;
}

/* --sigma is the scale of a release and the noise multiplier of DP-SGD. */
static int noise_given(const struct options *o, const char *name)
{
    return option_given(o, name) + option_given(o, "sigma");
}

static sotto_status verb_account_check(const struct options *o)
{
    if (!option_given(o, "mechanism"))
        return option_require(o, "mechanism");
    if (noise_given(o, "scale") + option_given(o, "epsilon") != 1)
        return cli_fail(SOTTO_EUSAGE, "account: give exactly one of --scale and --epsilon");
    if (option_given(o, "classes") && !is_of_labels(o))
        return cli_fail(SOTTO_EUSAGE, "account: --classes needs --mechanism randomised-response");
    if (!option_given(o, "l1") && !option_given(o, "l2") && !is_of_labels(o))
        return cli_fail(SOTTO_EUSAGE, "account: the sensitivity is missing; give --l1, --l2 or both");
    if (option_given(o, "clipping") || option_given(o, "rows-per-person"))
        return cli_fail(SOTTO_EUSAGE, "account: --%s needs --sample-rate and --steps",
                        option_given(o, "clipping") ? "clipping" : "rows-per-person");
    return SOTTO_OK;
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
    char most[SOTTO_NUMBER_TEXT], least[SOTTO_NUMBER_TEXT];
    printf("%s, ", a->mechanism);
    if (!isnan(a->scale)) {
        printf("%s ", a->sampled ? "noise multiplier" : "scale");
        print_exactly(a->scale);
        printf(" (standard deviation %.6g), ", a->standard_deviation);
    }
    printf("%s\n", sotto_adjacency_name(a->adjacency));
    if (a->sampled)
        printf("%zu steps, %s sampling at rate %g, gradients clipped by %s\n", a->compose,
               a->sampling == SOTTO_SAMPLING_FIXED ? "fixed-size" : "Poisson", a->sample_rate,
               a->clipping == SOTTO_NORM_L1 ? "l1" : "l2");
    else if (a->compose > 1)
        printf("%zu releases\n", a->compose);
    if (isinf(a->epsilon.upper))
        printf("epsilon: none at delta %g; %s is needed\n", a->delta,
               a->delta > 0 ? "a larger scale, or a larger delta," : "a delta > 0");
    else
        printf("epsilon at delta %g: at most %s (%s), at least %s\n", a->delta,
               sotto_number_text(most, a->epsilon.upper, 10, 1), a->accountant,
               sotto_number_text(least, a->epsilon.lower, 10, 0));
    if (a->has_other)
        printf("under %s: at most %s, at least %s\n", sotto_adjacency_name(a->other_adjacency),
               sotto_number_text(most, a->other_epsilon.upper, 10, 1),
               sotto_number_text(least, a->other_epsilon.lower, 10, 0));
    if (!isnan(a->pure_epsilon))
        printf("pure epsilon: %s\n", sotto_number_text(most, a->pure_epsilon, 10, 1));
    if (!isnan(a->zcdp_rho))
        printf("zCDP rho: %s\n", sotto_number_text(most, a->zcdp_rho, 10, 1));
    if (a->note[0])
        fprintf(stderr, "sotto: warning: account: %s\n", a->note);
    for (size_t i = 0; i < a->bound_count; i++)
        printf("  %-24s %s\n", a->bounds[i].name, sotto_number_text(most, a->bounds[i].epsilon, 10, 1));
}

static sotto_status account_of_sampled(struct sotto_account *account, const struct request *q,
                                       const struct options *o, const struct sotto_context *ctx)
{
    TRY_OR_RETURN(check_sampled(o));
    struct sotto_sampled s = q->sampled;
    double target = q->release.target.epsilon;
    int certified = option_flag(o, "certified");
    if (certified && target != 0)
        return sotto_calibrate_sampled_certified(account, &s, target, ctx);
    if (target != 0)
        TRY_OR_RETURN(sotto_calibrate_sampled(&s.noise_multiplier, &s, target, ctx));
    return certified ? sotto_account_sampled_certified(account, &s, ctx)
                     : sotto_account_sampled_both(account, &s, ctx);
}

/* Of a person with several rows: what the same run costs, or needs, where steps sample and clip whole persons. */
static sotto_status print_as_one(const struct request *q, const struct options *o,
                                 const struct sotto_context *ctx)
{
    char most[SOTTO_NUMBER_TEXT], other[SOTTO_NUMBER_TEXT];
    struct request one = *q;
    struct sotto_account a;
    one.sampled.rows_per_person = 0;
    TRY_OR_RETURN(account_of_sampled(&a, &one, o, ctx));
    printf("the same steps on whole persons, each clipped as one (--unit person): ");
    if (q->release.target.epsilon != 0) {
        printf("noise multiplier ");
        print_exactly(a.scale);
        printf(", ");
    }
    printf("epsilon at most %s", sotto_number_text(most, a.epsilon.upper, 10, 1));
    if (a.has_other)
        printf(" (%s: at most %s)", sotto_adjacency_name(a.other_adjacency),
               sotto_number_text(other, a.other_epsilon.upper, 10, 1));
    putchar('\n');
    return SOTTO_OK;
}

/* The textbook formula never stands alone: what the same target needs by the exact curve goes beside it. */
static sotto_status print_classical(const struct sotto_release *r)
{
    struct sotto_classical_gaussian c;
    TRY_OR_RETURN(sotto_gaussian_classical(&c, r->sensitivity.l2, r->target));
    printf("classical sigma %.10g (reaches delta %.4g); analytic sigma %.10g; the formula fails from "
           "epsilon "
           "%.5g on\n",
           c.scale, c.achieved_delta, c.analytic_scale, c.first_violation);
    return SOTTO_OK;
}

static sotto_status account_of_release(struct sotto_account *account, const struct request *q,
                                       const struct options *o, const struct sotto_context *ctx)
{
    const struct sotto_release *r = &q->release;
    const struct sotto_sensitivity *s = &r->sensitivity;
    double scale = r->scale;
    int certified = option_flag(o, "certified"), searched = r->target.epsilon != 0;
    TRY_OR_RETURN(verb_account_check(o));
    if (certified)
        TRY_OR_RETURN(searched
                          ? sotto_calibrate_certified(account, r->mechanism, s, r->target, q->compose, ctx)
                          : sotto_account_release_certified(account, r->mechanism, scale, s, r->target.delta,
                                                            q->compose, ctx));
    if (!certified && searched)
        TRY_OR_RETURN(sotto_calibrate_composed(&scale, r->mechanism, s, r->target, q->compose, ctx));
    if (!certified)
        TRY_OR_RETURN(
            sotto_account_release(account, r->mechanism, scale, s, r->target.delta, q->compose, ctx));
    if (option_given(o, "adjacency"))
        account->adjacency = q->sampled.adjacency;
    return SOTTO_OK;
}

/* Nothing that the file holds is given beside it. */
static sotto_status check_file(const struct options *o)
{
    static const char *const others[] = {
        "mechanism",        "sigma",       "scale", "epsilon",  "l1",      "l2", "dimension", "compose",
        "noise-multiplier", "sample-rate", "steps", "clipping", "sampling"};
    if (option_given(o, "events") && option_given(o, "opacus-history"))
        return cli_fail(SOTTO_EUSAGE, "account: give --events or --opacus-history, not both");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE,
                            "account: --%s cannot be combined with --%s, as the file contains it", others[i],
                            option_given(o, "events") ? "events" : "opacus-history");
    return SOTTO_OK;
}

static enum sotto_adjacency adjacency_of(const struct request *q, const struct options *o)
{
    return option_given(o, "adjacency") ? q->sampled.adjacency : SOTTO_SAME_ADJACENCY;
}

/* Different releases together, from a file. */
static sotto_status account_of_file(struct sotto_account *account, const struct request *q,
                                    const struct options *o, const struct sotto_context *ctx)
{
    const char *events = option_text(o, "events"), *opacus = option_text(o, "opacus-history");
    const double delta = q->release.target.delta;
    TRY_OR_RETURN(check_file(o));
    return events ? sotto_account_events_file(account, events, delta, adjacency_of(q, o), ctx)
                  : sotto_account_opacus_file(account, opacus, delta, adjacency_of(q, o), ctx);
}

static sotto_status account_of_any_order(struct sotto_any_order *any, const struct request *q,
                                         const struct options *o, const struct sotto_context *ctx)
{
    TRY_OR_RETURN(check_file(o));
    return sotto_account_any_order_file(any, option_text(o, "events"), q->release.target.delta,
                                        adjacency_of(q, o), ctx);
}

static sotto_status print_ledger(const struct options *o, const struct sotto_context *ctx)
{
    char *text;
    TRY_OR_RETURN(sotto_ledger_account(&text, option_text(o, "ledger"), option_real(o, "delta"), ctx));
    printf("%s\n", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status import_history(const struct options *o, const struct sotto_context *ctx)
{
    if (!option_given(o, "opacus-history"))
        return option_require(o, "opacus-history");
    if (!option_given(o, "ledger"))
        return option_require(o, "ledger");
    TRY_OR_RETURN(sotto_ledger_import_opacus(option_text(o, "ledger"), option_text(o, "opacus-history"),
                                             option_real(o, "delta"), ctx));
    return print_ledger(o, ctx);
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

static sotto_status verb_account_choose(const struct request *q, const struct options *o,
                                        const struct sotto_context *ctx, int json)
{
    const struct sotto_release *r = &q->release;
    struct sotto_account accounts[SOTTO_MAX_MECHANISMS];
    size_t count;
    if (option_given(o, "mechanism") || noise_given(o, "scale") || option_given(o, "sample-rate"))
        return cli_fail(SOTTO_EUSAGE, "account: --choose compares all mechanisms; expected only --epsilon, "
                                      "--delta, --l1 and --l2 beside it");
    if (!option_given(o, "epsilon"))
        return option_require(o, "epsilon");
    TRY_OR_RETURN(sotto_choose(accounts, &count, &r->sensitivity, r->target, q->compose, ctx));
    return print_choices(accounts, count, json);
}

/* No account of one mechanism or file comes of these. */
static sotto_status refuse_others(const struct options *o)
{
    static const char *const others[] = {"verify", "ledger", "choose"}, *const certified[] = {
                                                                            "events", "opacus-history"};
    const char *with = option_flag(o, "certified")         ? "certified"
                       : option_given(o, "read-from-data") ? "read-from-data"
                       : option_flag(o, "any-order")       ? "any-order"
                                                           : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (with && option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "account: --%s cannot be combined with --%s", with, others[i]);
    for (size_t i = 0; i < sizeof certified / sizeof *certified; i++)
        if (option_flag(o, "certified") && option_given(o, certified[i]))
            return cli_fail(SOTTO_EUSAGE, "account: --certified cannot be combined with --%s", certified[i]);
    return SOTTO_OK;
}

static sotto_status print_result(const struct sotto_account *account, const struct request *q,
                                 const struct options *o, int json)
{
    char *text;
    if (!json)
        print_account(account);
    if (!json && option_given(o, "read-from-data"))
        printf("proved: none; conditional: the account above, %s\n", account->note);
    if (!json && strcmp(account->mechanism, "gaussian-classical") == 0 && option_given(o, "epsilon") &&
        option_given(o, "l2"))
        return print_classical(&q->release);
    if (!json)
        return SOTTO_OK;
    TRY_OR_RETURN(sotto_account_json(&text, account));
    printf("%s\n", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

/* What holds in any order of choices, before the account of the same events. */
static void print_box(const struct sotto_any_order *a)
{
    char t[5][SOTTO_NUMBER_TEXT];
    if (a->reason[0])
        printf("for any order of choices: none, as %s\n", a->reason);
    else
        printf("for any order of choices: epsilon at delta %g: at most %s, at least %s\n"
               "  if this box was fixed before the first release: pure epsilon %s, mu %s, failure %s\n",
               a->beforehand.delta, sotto_number_text(t[0], a->epsilon.upper, 10, 1),
               sotto_number_text(t[1], a->epsilon.lower, 10, 0), sotto_number_text(t[2], a->box.pure, 10, 1),
               sotto_number_text(t[3], a->box.mu, 10, 1), sotto_number_text(t[4], a->box.failure, 10, 1));
    printf("if all parameters had been fixed beforehand:\n");
}

static sotto_status print_any_order(const struct sotto_any_order *a, const struct request *q,
                                    const struct options *o, int json)
{
    char *text;
    if (!json) {
        print_box(a);
        return print_result(&a->beforehand, q, o, 0);
    }
    TRY_OR_RETURN(sotto_any_order_json(&text, a));
    printf("%s\n", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status account_of(const struct options *o, const struct request *q,
                               const struct sotto_context *ctx, int json)
{
    struct sotto_any_order any;
    struct sotto_account *account = &any.beforehand;
    int sampled =
        option_given(o, "noise-multiplier") || option_given(o, "sample-rate") || option_given(o, "steps");
    int file = option_given(o, "events") || option_given(o, "opacus-history"),
        order = option_flag(o, "any-order");
    if (order && !option_given(o, "events"))
        return cli_fail(SOTTO_EUSAGE, "account: --any-order needs --events FILE");
    TRY_OR_RETURN(order     ? account_of_any_order(&any, q, o, ctx)
                  : file    ? account_of_file(account, q, o, ctx)
                  : sampled ? account_of_sampled(account, q, o, ctx)
                            : account_of_release(account, q, o, ctx));
    if (option_given(o, "read-from-data"))
        TRY_OR_RETURN(sotto_account_condition(account, option_list(o, "read-from-data")));
    TRY_OR_RETURN(order ? print_any_order(&any, q, o, json) : print_result(account, q, o, json));
    return sampled && !file && !json && q->sampled.rows_per_person > 1 ? print_as_one(q, o, ctx) : SOTTO_OK;
}

static sotto_status verb_account_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct request request;
    TRY_OR_RETURN(refuse_others(o));
    TRY_OR_RETURN(read_request(&request, o));
    if (option_given(o, "verify"))
        return verify_print(option_text(o, "verify"), NULL, option_text(o, "ledger"), NULL, ctx, json);
    if (option_flag(o, "import"))
        return import_history(o, ctx);
    if (option_given(o, "ledger"))
        return print_ledger(o, ctx);
    if (option_given(o, "choose"))
        return verb_account_choose(&request, o, ctx, json);
    return account_of(o, &request, ctx, json);
}

const struct verb verb_account = {
    .name = "account",
    .summary = "compute epsilon of a mechanism or composition, or the noise for an epsilon",
    .arguments = "",
    .examples = "  sotto account --mechanism gaussian --epsilon 1 --l2 1 --delta 1e-5\n"
                "  sotto account --mechanism gaussian --noise-multiplier 1.1 --sample-rate 0.01 --steps "
                "10000 --delta 1e-5\n"
                "  sotto account --events releases.json --delta 1e-5\n"
                "  sotto account --mechanism logistic --scale 0.1 --l2 0.04 --delta 1e-5 --json\n"
                "  sotto account --mechanism laplace --scale 1 --l1 0.1 --compose 10 --delta 1e-6\n"
                "  sotto account --events releases.json --delta 1e-5 --any-order\n"
                "  sotto account --opacus-history accountant.json --delta 1e-5\n"
                "  sotto account --choose --epsilon 1 --delta 1e-5 --l1 1 --compose 7\n"
                "  sotto account --verify protected.safetensors.certificate.json",
    .floor = FLOOR_CORE,
    .ranks = RANK_0,
    .own = "verify|ledger|events|any-order|opacus-history|import",
    .options = rows,
    .most_used = "mechanism|epsilon|delta|scale|l1|l2|noise-multiplier|sample-rate|steps|compose|events|"
                 "ledger|choose|certified|json",
    .run = verb_account_run};
