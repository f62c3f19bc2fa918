/* What an attack's scores are worth: its audit, warnings about the records that were given, and facts for the page. */
#include "attack/query/query_run.h"

#include "attack/query/query_decision.h"
#include "attack/query/record_overlap.h"
#include "audit/audit_document.h"
#include "audit/audit_memory.h"
#include "options/option_tables.h"
#include "options/option_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The last attack, which is ours, comes first. */
static void ours_first(struct sotto_audit_result *r)
{
    if (r->attack_count == 0)
        return;
    const struct sotto_audit_attack ours = r->attacks[r->attack_count - 1];
    memmove(r->attacks + 1, r->attacks, (r->attack_count - 1) * sizeof *r->attacks);
    r->attacks[0] = ours;
}

/* One audit: this attack first, then two that need nothing but the answers; and the checks of the two
 * sets. */
sotto_status query_measure(struct sotto_audit_result *out, const double *scores,
                           const struct query_result *result, const struct query_attack *a,
                           const struct query_input *in, const struct sotto_attack_input *given)
{
    sotto_status status = SOTTO_OK;
    static const char *const baselines[] = {"loss", "correctness", NULL};
    size_t m = given->member.n, k = in->records.classes;
    struct sotto_audit_options options = in->options->audit;
    char title[200], poisoned[64] = "";
    if (in->options->poison)
        snprintf(poisoned, sizeof poisoned, ", with %zu wrong cop%s of each record", in->options->poison,
                 in->options->poison == 1 ? "y" : "ies");
    snprintf(title, sizeof title, "%s%s%s", in->options->snapshots ? a->snapshots : a->title,
             in->options->known_start ? ", started as the target was (known start)" : "", poisoned);
    struct sotto_audit_scores own = {.name = a->name,
                                     .title = title,
                                     .source = a->source,
                                     .member = scores,
                                     .nonmember = scores + m,
                                     .has_threshold = !isnan(result->threshold),
                                     .threshold = result->threshold};
    struct sotto_audit_input arrays = {.n_member = m,
                                       .n_nonmember = given->nonmember.n,
                                       .classes = k,
                                       .probabilities = 1,
                                       .member_features = given->member.x,
                                       .nonmember_features = given->nonmember.x,
                                       .feature_count = in->records.d,
                                       .named = &own,
                                       .named_count = 1};
    if (in->posteriors) {
        arrays.member_f8 = in->posteriors, arrays.nonmember_f8 = in->posteriors + m * k;
        arrays.member_labels = given->member.y, arrays.nonmember_labels = given->nonmember.y;
        options.names = baselines + !(a->needs & QUERY_POSTERIORS); /* a decision has no loss */
    }
    if (result->signals) {
        arrays.member_reference = result->signals,
        arrays.nonmember_reference = result->signals + m * result->models;
        arrays.member_trained = result->trained,
        arrays.nonmember_trained = result->trained + m * result->models;
        arrays.reference_models = result->models;
    }
    options_state(&options, options_audit);
    options.seed = sotto_given_seed(in->options->seed);
    TRY(sotto_audit(out, &arrays, &options, in->ctx));
    ours_first(out);
done:
    return status;
}

/* An attacker whose records trained the target needs no attack; what is measured is then something else. */
sotto_status query_check_overlap(struct sotto_audit_result *r, const struct sotto_attack_input *given,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t shared = 0, d = given->target->inputs;
    char text[256];
    TRY(record_overlap(&shared, given->attacker.x, given->attacker.n, given->member.x, given->member.n, d));
    if (shared > 0) {
        snprintf(
            text, sizeof text,
            "%zu of the attacker's %zu records are also members, so the result of the attack is too good",
            shared, given->attacker.n);
        context_log(ctx, SOTTO_LOG_WARNING, "%s", text);
        TRY(audit_add_warning(r, text));
    }
    TRY(record_overlap(&shared, given->known_member.x, given->known_member.n, given->member.x,
                       given->member.n, d));
    if (shared > 0) {
        snprintf(
            text, sizeof text,
            "%zu of the %zu known members are also among the members to judge, so the result of the attack "
            "is too good",
            shared, given->known_member.n);
        context_log(ctx, SOTTO_LOG_WARNING, "%s", text);
        TRY(audit_add_warning(r, text));
    }
done:
    return status;
}

static sotto_status describe_decision(struct facts *facts, const double *scores, double threshold,
                                      const struct query_input *in, size_t n_member)
{
    return query_decision(facts, scores, in->records.y, n_member, in->records.n, in->records.classes,
                          threshold, in->options->audit.confidence);
}

/* How the queries were hidden, if they were. */
static void describe_disguise(struct facts *facts, const struct sotto_target *t, bool shuffled)
{
    if (!shuffled && t->cover == 0 && t->clients == 0)
        return;
    struct facts *f = fact_group(facts, "disguise");
    fact_count(f, "clients", t->clients ? t->clients : 1);
    fact_count(f, "cover_queries", t->cover);
    fact_flag(f, "shuffled", shuffled);
}

/* Precision and recall at each of the attack's further thresholds. */
static sotto_status describe_thresholds(struct facts *facts, const double *scores,
                                        const struct query_result *r, const struct query_input *in,
                                        size_t n_member)
{
    sotto_status status = SOTTO_OK;
    struct facts *list = fact_list(facts, "thresholds");
    for (size_t t = 0; t < r->also_count; t++)
        TRY(describe_decision(fact_group(list, NULL), scores, r->also[t], in, n_member));
done:
    return status;
}

sotto_status query_describe(struct sotto_audit_result *out, const double *scores, struct query_result *r,
                            const struct query_attack *a, const struct query_input *in, size_t n_member)
{
    sotto_status status = SOTTO_OK;
    struct facts *facts = &r->facts;
    fact_text(facts, "name", a->name);
    fact_count(facts, "queries", in->target->used);
    if (in->options->repeats > 1)
        fact_count(facts, "repeats", in->options->repeats);
    describe_disguise(facts, in->target, in->options->shuffle);
    if (isnan(r->threshold))
        fact_real(facts, "decision", NAN);
    else
        TRY(describe_decision(fact_group(facts, "decision"), scores, r->threshold, in, n_member));
    if (r->also_count)
        TRY(describe_thresholds(facts, scores, r, in, n_member));
    TRY(audit_put_more(out, "model_attack", facts_encode(facts)));
done:
    return status;
}
