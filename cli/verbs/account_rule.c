/* sotto account --rule: composition rules for stated (epsilon, delta). */
#include "options/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Rules for stated guarantees"),
    {"rule", OPTION_TEXT, "NAME", NULL,
     "composition rule for stated guarantees (--parts): basic, advanced, optimal, parallel, group, mixture "
     "or "
     "post-processing"},
    {"parts", OPTION_TEXT, "LIST", NULL,
     "stated guarantees, such as '0.5,1e-6;1' (epsilon,delta; delta may be left out); advanced, optimal and "
     "group "
     "take one, which --compose repeats"},
    {"parts-by", OPTION_TEXT, "WORD", NULL,
     "what decides about a record's part: index (its row number) or value (what it says) (parallel)"},
    {"parts-hold", OPTION_TEXT, "NAME", "--adjacency",
     "adjacency that the parts were shown for: replace-one, add-remove or both (parallel)"},
    OPTION_TABLE("account", "group"),
    {"weights", OPTION_TEXT, "WORD", NULL,
     "data-independent: that nothing private decides which part runs, without which there is no rule "
     "(mixture)"},
    OPTION_TABLE("account", "probabilities"),
    OPTION_END};

enum { MOST_PARTS = 256 };

/* Numbers of a list. A rule's arguments; what is not an option of the rule is refused. */
struct request {
    struct sotto_dp part[MOST_PARTS];
    double probability[MOST_PARTS];
    size_t parts, probabilities, repeats, group;
    double delta;
    enum sotto_adjacency adjacency, parts_hold;
    int by_index;
};

static sotto_status bad_parts(const char *text)
{
    return cli_fail(SOTTO_EUSAGE,
                    "--parts: '%s' is not a list of at most %d guarantees; expected for example '0.5,1e-6;1'",
                    text, MOST_PARTS);
}

/* "eps,delta;eps;...": ranges are the library's business. */
static sotto_status read_parts(struct request *q, const char *text)
{
    const char *at = text;
    for (;;) {
        char *end;
        if (q->parts == MOST_PARTS)
            return bad_parts(text);
        struct sotto_dp *p = &q->part[q->parts++];
        p->epsilon = strtod(at, &end);
        if (end == at)
            return bad_parts(text);
        if (*end == ',') {
            at = end + 1;
            p->delta = strtod(at, &end);
            if (end == at)
                return bad_parts(text);
        }
        if (!*end)
            return SOTTO_OK;
        if (*end != ';')
            return bad_parts(text);
        at = end + 1;
    }
}

static sotto_status read_probabilities(struct request *q, const struct options *o)
{
    TRY_OR_RETURN(option_given(o, "probabilities")
                      ? option_reals(q->probability, MOST_PARTS, &q->probabilities, o, "probabilities")
                      : SOTTO_OK);
    if (q->probabilities && q->probabilities != q->parts)
        return cli_fail(SOTTO_EUSAGE, "--probabilities: %zu numbers for %zu parts; expected one for each",
                        q->probabilities, q->parts);
    return SOTTO_OK;
}

static sotto_status read_adjacencies(struct request *q, const struct options *o)
{
    const char *hold = option_text(o, "parts-hold"), *by = option_text(o, "parts-by");
    q->adjacency = SOTTO_REPLACE_ONE;
    if (option_given(o, "adjacency"))
        TRY_OR_RETURN(sotto_adjacency_find(&q->adjacency, option_text(o, "adjacency")));
    q->parts_hold = q->adjacency;
    if (option_given(o, "parts-hold") && strcmp(hold, "both") == 0)
        q->parts_hold = SOTTO_BOTH_ADJACENCIES;
    else if (option_given(o, "parts-hold"))
        TRY_OR_RETURN(sotto_adjacency_find(&q->parts_hold, hold));
    if (by && strcmp(by, "index") != 0 && strcmp(by, "value") != 0)
        return cli_unknown("parts-by", by, "index or value");
    q->by_index = by && strcmp(by, "index") == 0;
    return SOTTO_OK;
}

static sotto_status by_basic(struct sotto_composed *out, const struct request *q)
{
    return sotto_compose_basic(out, q->part, q->parts, q->adjacency);
}

static sotto_status by_advanced(struct sotto_composed *out, const struct request *q)
{
    return sotto_compose_advanced(out, q->part[0], q->repeats, q->delta, q->adjacency);
}

static sotto_status by_optimal(struct sotto_composed *out, const struct request *q)
{
    return sotto_compose_optimal(out, q->part[0], q->repeats, q->delta, q->adjacency);
}

static sotto_status by_parallel(struct sotto_composed *out, const struct request *q)
{
    return (q->by_index ? sotto_compose_parallel_rows : sotto_compose_parallel)(out, q->part, q->parts,
                                                                                q->parts_hold, q->adjacency);
}

static sotto_status by_group(struct sotto_composed *out, const struct request *q)
{
    return sotto_compose_group(out, q->part[0], q->group, q->adjacency);
}

static sotto_status by_mixture(struct sotto_composed *out, const struct request *q)
{
    return sotto_compose_mixture(out, q->part, q->probabilities ? q->probability : NULL, q->parts,
                                 q->adjacency);
}

/* Whatever is computed from the releases without the private data: their own sum. */
static const char no_number[] = "whatever is computed from a release without the private data keeps its "
                                "guarantee; this is the sum of the parts";

static const struct rule {
    const char *name, *property; /* property: as lectures number them */
    sotto_status (*apply)(struct sotto_composed *out, const struct request *q);
    int one_part;           /* 1: takes one guarantee */
    const char *options[4]; /* that it needs or takes, besides --parts and --adjacency */
    const char *needs[3];
} rules[] = {
    {"basic", "5.1, sequential composition", by_basic, 0, {NULL}, {NULL}},
    {"advanced", "5.1, sequential composition", by_advanced, 1, {"compose", "delta"}, {"compose", "delta"}},
    {"optimal", "5.1, sequential composition", by_optimal, 1, {"compose", "delta"}, {"compose"}},
    {"parallel", "5.2, parallel composition", by_parallel, 0, {"parts-by", "parts-hold"}, {"parts-by"}},
    {"post-processing", "5.3, post-processing", by_basic, 0, {NULL}, {NULL}},
    {"mixture", "5.4, convexity", by_mixture, 0, {"weights", "probabilities"}, {"weights"}},
    {"group", "group privacy", by_group, 1, {"group"}, {"group"}}};
enum { RULES = sizeof rules / sizeof *rules };

static int account_rule_listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return 1;
    return 0;
}

static sotto_status account_rule_check(const struct rule *r, const struct options *o)
{
    static const char *const others[] = {"compose", "delta",         "parts-by", "parts-hold",
                                         "weights", "probabilities", "group"},
                             *const strangers[] = {
                                 "mechanism",        "scale",       "sigma", "epsilon", "l1",        "l2",
                                 "noise-multiplier", "sample-rate", "steps", "choose",  "certified", "events",
                                 "opacus-history",   "verify",      "ledger"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (option_given(o, strangers[i]))
            return cli_fail(SOTTO_EUSAGE,
                            "account: --%s cannot be combined with --rule, which composes --parts",
                            strangers[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]) && !account_rule_listed(r->options, others[i]))
            return cli_fail(SOTTO_EUSAGE, "account: --%s means nothing to --rule %s", others[i], r->name);
    for (const char *const *need = r->needs; *need; need++)
        if (!option_given(o, *need))
            return cli_fail(SOTTO_EUSAGE, "account: --rule %s needs --%s", r->name, *need);
    if (account_rule_listed(r->needs, "weights") &&
        strcmp(option_text(o, "weights"), "data-independent") != 0)
        return cli_fail(
            SOTTO_EUSAGE,
            "--weights: '%s' gives no bound, as the choice itself then tells about the data; only "
            "data-independent weights have a rule",
            option_text(o, "weights"));
    return option_require(o, "parts");
}

static void account_rule_print(const struct rule *r, const struct sotto_composed *c, int json)
{
    const char *reason = strcmp(r->name, "post-processing") == 0 ? no_number : c->reason;
    char most[SOTTO_NUMBER_TEXT], least[SOTTO_NUMBER_TEXT], delta[SOTTO_NUMBER_TEXT];
    if (json && isinf(c->epsilon.upper))
        printf("{\"schema\": \"sotto.composed/1\", \"rule\": \"%s\", \"property\": \"%s\", \"adjacency\": "
               "\"%s\", "
               "\"epsilon\": null, \"delta\": {\"lower\": %.17g, \"upper\": %.17g}, \"reason\": \"%s\"}\n",
               r->name, r->property, sotto_adjacency_name(c->adjacency), c->delta.lower, c->delta.upper,
               reason);
    else if (json)
        printf("{\"schema\": \"sotto.composed/1\", \"rule\": \"%s\", \"property\": \"%s\", \"adjacency\": "
               "\"%s\", "
               "\"epsilon\": {\"lower\": %.17g, \"upper\": %.17g}, \"delta\": {\"lower\": %.17g, \"upper\": "
               "%.17g}, "
               "\"reason\": \"%s\"}\n",
               r->name, r->property, sotto_adjacency_name(c->adjacency), c->epsilon.lower, c->epsilon.upper,
               c->delta.lower, c->delta.upper, reason);
    if (json)
        return;
    printf("rule %s (property %s), %s\n", r->name, r->property, sotto_adjacency_name(c->adjacency));
    if (isinf(c->epsilon.upper))
        printf("epsilon: none at delta %g; the parts' deltas alone are larger, or a delta > 0 is needed\n",
               c->delta.upper);
    else
        printf("epsilon at most %s, at least %s, at delta %s\n",
               sotto_number_text(most, c->epsilon.upper, 10, 1),
               sotto_number_text(least, c->epsilon.lower, 10, 0),
               sotto_number_text(delta, c->delta.upper, 10, 1));
    printf("%s\n", reason);
    if (strcmp(r->name, "parallel") == 0 && c->adjacency == SOTTO_ADD_REMOVE)
        printf("the largest part counts under add-remove only; --adjacency replace-one gives the other "
               "figure\n");
}

static sotto_status account_rule(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)ctx;
    const struct rule *r = NULL;
    struct request q = {.repeats = (size_t)option_count(o, "compose"),
                        .group = (size_t)option_count(o, "group")};
    struct sotto_composed composed;
    for (size_t i = 0; i < RULES; i++)
        if (strcmp(rules[i].name, option_text(o, "rule")) == 0)
            r = &rules[i];
    if (!r)
        return cli_unknown("rule", option_text(o, "rule"),
                           "basic, advanced, optimal, parallel, group, mixture or post-processing");
    TRY_OR_RETURN(account_rule_check(r, o));
    TRY_OR_RETURN(read_parts(&q, option_text(o, "parts")));
    if (r->one_part && q.parts != 1)
        return cli_fail(SOTTO_EUSAGE, "--parts: %zu guarantees; expected one for --rule %s", q.parts,
                        r->name);
    TRY_OR_RETURN(read_probabilities(&q, o));
    TRY_OR_RETURN(read_adjacencies(&q, o));
    if (option_given(o, "delta"))
        q.delta = option_real(o, "delta");
    TRY_OR_RETURN(r->apply(&composed, &q));
    account_rule_print(r, &composed, json);
    return SOTTO_OK;
}

const struct verb_part verb_part_account_rule = {
    .verb = "account",
    .when = "--rule",
    .options = rows,
    .own = "rule|parts|parts-by|parts-hold|weights",
    .examples = "  sotto account --rule optimal --parts 0.1 --compose 100 --delta 1e-6\n"
                "  sotto account --rule parallel --parts '0.5;1;2' --parts-by value --parts-hold add-remove "
                "--adjacency "
                "replace-one",
    .run = account_rule};
