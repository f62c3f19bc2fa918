/* The public call: who is judged, five trainings, six attackers, one audit. */
#include "attack/attack_facts.h"
#include "federated/federated_run.h"
#include "federated/federated_score.h"
#include "audit/audit_document.h"
#include "audit/audit_memory.h"
#include "base/file.h"
#include "options/module_tables.h"
#include "options/option_values.h"
#include "sotto/account.h"
#include "sotto/lab/head.h"
#include "sotto/option.h"

#include <math.h>
#include <string.h>

enum { ATTACKERS = 6, RUNS = 5 };
static const struct federated_attacker attackers[ATTACKERS] = {
    {"passive-local", "A participant that looks at the common model", false, false, false},
    {"passive-global", "The server, which looks at the target's uploads", true, false, false},
    {"active-local", "A participant that raises the loss of records and sees them pulled back", false, false,
     true},
    {"active-global", "The server, which raises the loss of records for all participants", true, false, true},
    {"isolating", "The server, which keeps the target apart", true, true, false},
    {"isolating-ascent", "The server, which keeps the target apart and raises the loss of records", true,
     true, true}};

static sotto_status resolve_recipe(struct sotto_head_recipe *out, const struct sotto_head_recipe *given)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe own; /* their own defaults, and what was given */
    TRY(sotto_options_resolve(&own, given, options_federated_recipe));
    TRY(head_recipe_resolve(out, given));
    out->trainer = own.trainer;
    out->epochs = own.epochs;
    out->batch = own.batch;
    out->lr = own.lr;
    out->hidden_count = own.hidden_count == SOTTO_NONE ? 0 : own.hidden_count;
    memcpy(out->hidden, own.hidden, sizeof own.hidden);
    REQUIRE(strcmp(out->trainer, "sgd") == 0 || strcmp(out->trainer, "adam") == 0,
            "federated: trainer %s; expected sgd or adam", out->trainer);
    TRY(head_recipe_check(out));
done:
    return status;
}

static sotto_status federated_check(const struct sotto_federated_options *o)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_options_check(o, options_federated, NULL));
    REQUIRE(o->target < o->participants, "federated: target %zu; expected a participant, 0 to %zu", o->target,
            o->participants - 1);
    REQUIRE(o->observed <= o->rounds, "federated: %zu observed rounds of %zu; expected at most all",
            o->observed, o->rounds);
    REQUIRE(!o->keep_uploads || o->folder,
            "federated: keep_uploads needs a folder; give {folder|rounds-folder}");
done:
    return status;
}

/* All records of the target and some of no participant, or (control) two lots of no participant's. */
static sotto_status choose_candidates(struct federated_candidates *out, const struct federation *f,
                                      const struct sotto_federated_options *o)
{
    sotto_status status = SOTTO_OK;
    const size_t *rest = f->record + f->first[f->participants];
    size_t outsiders = f->first[f->participants + 1] - f->first[f->participants];
    size_t members = f->part[o->target].n, others;
    int64_t *order = NULL;
    struct rng draw = rng_stream(f->seed, RNG_PROBE, 0, 0);
    if (o->control)
        members = members < outsiders / 2 ? members : outsiders / 2;
    others = outsiders - (o->control ? members : 0);
    others = others < (o->outsiders ? o->outsiders : members) ? others
             : o->outsiders                                   ? o->outsiders
                                                              : members;
    REQUIRE(members >= 2 && others >= 2,
            "federated: %zu members and %zu records of no participant to compare with; expected at least 2 "
            "of each",
            members, others);
    out->n = members + others;
    NEW(out->record, out->n);
    NEW(out->member, out->n);
    NEW(order, out->n);
    for (size_t i = 0; i < out->n; i++)
        order[i] = (int64_t)i;
    rng_shuffle(&draw, order, out->n);
    for (size_t i = 0; i < out->n; i++) {
        size_t c = (size_t)order[i];
        out->record[c] = i >= members ? rest[i - members + (o->control ? members : 0)]
                         : o->control ? rest[i]
                                      : f->part[o->target].record[i];
        out->member[c] = i < members;
    }
done:
    base_free(order);
    return status;
}

static sotto_status federated_accuracy(double *out, struct federation *f, const float *weights, size_t from,
                                       size_t to, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    struct head_part part = {.data = f->data, .record = f->record + from, .n = to - from};
    TRY(sotto_head_copy(&h, f->shape));
    memcpy(h->parameters, weights, f->parameters * sizeof *weights);
    TRY(head_part_accuracy(out, h, &part, ctx));
done:
    sotto_head_free(h);
    return status;
}

/* What a run leaves behind, in the document. */
static sotto_status describe_run(struct facts *list, struct federation *f, const struct federated_attacker *a,
                                 const struct federated_run *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double train, test;
    size_t rest = f->first[f->participants];
    struct facts *one = fact_group(list, NULL);
    TRY(federated_accuracy(&train, f, r->last, 0, rest, ctx));
    TRY(federated_accuracy(&test, f, r->last, rest, f->first[f->participants + 1], ctx));
    fact_text(one, "attacker", a->ascend || a->isolate ? a->name : "none");
    fact_real(one, "train_accuracy", train);
    fact_real(one, "test_accuracy", test);
done:
    return status;
}

/* Scores of all attackers, (ATTACKERS, n): the first two share a training. */
static sotto_status run_all(double *scores, struct facts *facts, struct federation *f,
                            const struct federated_plan *plan, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct federated_run run = {0};
    struct facts *list = fact_list(facts, "trainings");
    struct federated_plan quiet = *plan;
    for (size_t k = 0; k < ATTACKERS; k++) {
        const struct federated_attacker *a = &attackers[k];
        if (k != 1) {
            federated_run_clear(&run);
            TRY(federated_run(&run, f, a, &quiet, ctx));
            TRY(describe_run(list, f, a, &run, ctx));
            quiet.folder = NULL;
        }
        TRY(federated_score(scores + k * plan->candidates->n, f, a, &run, plan, ctx));
    }
done:
    federated_run_clear(&run);
    return status;
}

/* Candidates that are judged (all, or the half that taught nothing), members first, as the audit wants them. */
static sotto_status federated_measure(struct sotto_audit_result *out, const double *scores,
                                      const struct head_data *data, const struct federated_plan *plan,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct federated_candidates *c = plan->candidates;
    const struct sotto_federated_options *o = plan->options;
    struct sotto_audit_scores named[ATTACKERS] = {0};
    struct sotto_audit_input in = {.named = named, .named_count = ATTACKERS};
    struct sotto_audit_options audit = o->audit;
    static const char *const none[] = {NULL};
    double *sorted = NULL;
    float *x = NULL;
    size_t from = o->learnt ? c->n / 2 : 0, n = c->n - from, d = data->d, at[2] = {0};
    NEW_ROWS(sorted, ATTACKERS, n);
    NEW_ROWS(x, n, d);
    for (size_t i = from; i < c->n; i++)
        in.n_member += c->member[i];
    in.n_nonmember = n - in.n_member;
    at[0] = in.n_member;
    for (size_t i = from; i < c->n; i++)
        memcpy(x + at[c->member[i]]++ * d, data->x + c->record[i] * d, d * sizeof *x);
    in.member_features = x; /* for the checks of the two sets */
    in.nonmember_features = x + in.n_member * d;
    in.feature_count = d;
    audit.names = none;
    for (size_t k = 0; k < ATTACKERS; k++) {
        double *member = sorted + k * n, *other = member + in.n_member;
        named[k] = (struct sotto_audit_scores){.name = attackers[k].name,
                                               .title = attackers[k].title,
                                               .source = "Nasr et al. 2019",
                                               .member = member,
                                               .nonmember = other};
        for (size_t i = from; i < c->n; i++)
            *(c->member[i] ? member++ : other++) = scores[k * c->n + i];
    }
    options_state(&audit, options_audit);
    audit.seed = sotto_given_seed(o->seed);
    TRY(sotto_audit(out, &in, &audit, ctx));
done:
    base_free(sorted);
    base_free(x);
    return status;
}

/* What the target would pay for its uploads. Averaging, and whatever the server sends, comes after or is chosen before a
 * step, and every step is private from any weights. */
static sotto_status describe_noise(struct facts *facts, const struct federation *f,
                                   const struct sotto_federated_options *o, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t n = f->part[o->target].n, batch = f->recipe[o->target].batch;
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = f->noise,
                              .sample_rate = fmin(1, (double)batch / (double)n),
                              .steps = o->rounds * federation_noisy_steps(f, o->target),
                              .delta = sotto_default_delta(n),
                              .adjacency = SOTTO_ZERO_OUT};
    struct sotto_account account;
    struct facts *noise = f->noise > 0 ? fact_group(facts, "simulated_noise") : NULL;
    if (f->noise == 0)
        goto done;
    TRY(sotto_account_sampled(&account, &s, ctx));
    fact_real(noise, "noise_multiplier", f->noise);
    fact_real(noise, "max_grad_norm", f->clip);
    fact_real(noise, "target_epsilon", account.epsilon.upper);
    fact_real(noise, "target_delta", s.delta);
    fact_text(noise, "adjacency", "zero-out");
    fact_text(
        noise, "statement",
        "epsilon that all uploads of the target would have with noise of the operating system; this noise "
        "is simulated, so these files have no privacy statement");
done:
    return status;
}

static sotto_status federated_describe(struct sotto_audit_result *out, struct facts *facts,
                                       const struct federation *f, const struct sotto_federated_options *o,
                                       const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char recipe[HEAD_RECIPE_TEXT];
    head_recipe_text(recipe, &f->recipe[0], f->data->d, f->data->classes);
    fact_count(facts, "participants", f->participants);
    fact_count(facts, "rounds", o->rounds);
    fact_count(facts, "observed", o->observed);
    fact_count(facts, "target", o->target);
    fact_count(facts, "target_records", f->part[o->target].n);
    fact_count(facts, "ascend", o->ascend);
    fact_real(facts, "strength", o->strength);
    fact_flag(facts, "learnt", o->learnt);
    fact_flag(facts, "control", o->control);
    fact_count(facts, "seed", o->seed);
    fact_text(facts, "recipe", recipe);
    TRY(describe_noise(facts, f, o, ctx));
    fact_text(facts, "proved", "nothing");
    fact_text(facts, "measured", "all six attackers, on this split and seed, without secure aggregation");
    TRY(audit_put_more(out, "federated", facts_encode(facts)));
done:
    return status;
}

sotto_status sotto_federated(struct sotto_audit_result *out, const struct sotto_federated_input *in,
                             const struct sotto_federated_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, in);
    sotto_status status = SOTTO_OK;
    struct sotto_federated_options o;
    struct sotto_head_recipe recipe;
    struct head_data data = {in->x, in->y, in->n, in->d, in->classes};
    struct federation f = {0};
    struct federated_candidates candidates = {0};
    struct federated_plan plan = {.options = &o, .candidates = &candidates};
    struct sotto_audit_result r = {0};
    struct facts facts = {0};
    int64_t *owner = NULL;
    double *scores = NULL;
    TRY(sotto_options_resolve(&o, options, options_federated));
    TRY(audit_of_attack(&o.audit, &o.audit));
    TRY(federated_check(&o));
    TRY(resolve_recipe(&recipe, o.recipe));
    REQUIRE(o.noise_multiplier == 0 || strcmp(recipe.trainer, "sgd") == 0,
            "federated: noise_multiplier with trainer %s; expected trainer sgd", recipe.trainer);
    TRY(head_data_check(&data, false, ctx));
    NEW(owner, in->n);
    if (in->owner)
        memcpy(owner, in->owner, in->n * sizeof *owner);
    else
        TRY(federation_owners(owner, in->n, o.participants,
                              o.records ? o.records : in->n / (o.participants + 1), o.seed));
    TRY(federation_make(&f, &data, owner, o.participants, &recipe, o.seed));
    f.noise = o.noise_multiplier;
    f.clip = o.max_grad_norm;
    TRY(choose_candidates(&candidates, &f, &o));
    if (o.folder)
        TRY(folder_make(o.folder));
    plan.folder = o.folder;
    NEW_ROWS(scores, ATTACKERS, candidates.n);
    TRY(run_all(scores, &facts, &f, &plan, ctx));
    TRY(federated_measure(&r, scores, &data, &plan, ctx));
    TRY(federated_describe(&r, &facts, &f, &o, ctx));
    *out = r;
    r = (struct sotto_audit_result){0};
done:
    sotto_audit_result_free(&r);
    facts_clear(&facts);
    federation_clear(&f);
    base_free(candidates.record);
    base_free(candidates.member);
    base_free(owner);
    base_free(scores);
    return status;
}
