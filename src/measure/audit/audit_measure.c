/* One attack of the table: run on both sides at once, checked, and handed on as scores. */
#include "audit/audit_private.h"
#include "audit/score/class_threshold.h"
#include "rng/rng.h"

#include <math.h>

sotto_status audit_halves_make(struct audit_halves *out, size_t n_member, size_t n_nonmember, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct audit_halves h = {0};
    NEW(h.member, n_member);
    NEW(h.nonmember, n_nonmember);
    for (size_t i = 0; i < n_member; i++)
        h.member[i] = (int64_t)i;
    for (size_t i = 0; i < n_nonmember; i++)
        h.nonmember[i] = (int64_t)i;
    struct rng of_members = rng_stream(seed, RNG_BOOTSTRAP, 0, 0),
               of_nonmembers = rng_stream(seed, RNG_BOOTSTRAP, 0, 1);
    rng_shuffle(&of_members, h.member, n_member);
    rng_shuffle(&of_nonmembers, h.nonmember, n_nonmember);
    *out = h;
done:
    if (status != SOTTO_OK)
        audit_halves_clear(&h);
    return status;
}

void audit_halves_clear(struct audit_halves *h)
{
    base_free(h->member);
    base_free(h->nonmember);
    *h = (struct audit_halves){0};
}

/* Attacks that only read a record's answers can be tried on a shadow model's records, whose membership is
 * known: the threshold that is best there is the attacker's own. */
static sotto_status shadow_threshold(double *threshold, const struct score_attack *attack,
                                     const struct audit_arrays *arrays)
{
    sotto_status status = SOTTO_OK;
    double *thresholds = NULL;
    uint8_t *ignored = NULL;
    if (!(arrays->have & NEED_SHADOW) ||
        (attack->needs & ~(unsigned)(NEED_OUTPUTS | NEED_LABELS | NEED_LOSSES)) != 0)
        return SOTTO_OK;
    NEW(thresholds, arrays->all.classes + 1);
    NEW(ignored, arrays->all.classes);
    TRY(class_thresholds(thresholds, ignored, attack, &arrays->all, INFINITY));
    *threshold = thresholds[arrays->all.classes];
done:
    base_free(thresholds);
    base_free(ignored);
    return status;
}

/* The values that the attack ran with. */
static sotto_status keep_parameters(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                    const struct score_attack *attack, const double *args,
                                    const struct attack_output *o)
{
    sotto_status status = SOTTO_OK;
    size_t count = 0;
    while (attack->params && attack->params[count].name)
        count++;
    TAKE(memory, out->parameters, count + 1);
    for (size_t i = 0; i < count; i++)
        out->parameters[i] = (struct sotto_audit_parameter){attack->params[i].name, args[i]};
    if (o->chosen)
        out->parameters[count++] = (struct sotto_audit_parameter){o->chosen, o->chosen_value};
    out->parameter_count = count;
done:
    return status;
}

sotto_status audit_measure(struct sotto_audit_attack *out, struct sotto_audit_memory **memory, double *scores,
                           uint8_t *fallback, const struct score_attack *attack, size_t index,
                           const struct audit_arrays *arrays, const struct audit_halves *halves,
                           const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    size_t members = arrays->member.n;
    double args[ATTACK_PARAMS];
    struct attack_output o = {.scores = scores, .fallback = fallback, .threshold = NAN, .radius = NAN};
    TRY(attack_arguments(args, attack, settings->params));
    TRY(attack->run(&o, &arrays->all, args));
    for (size_t i = 0; i < arrays->all.n; i++)
        if (!isfinite(scores[i]))
            FAIL(SOTTO_EDOMAIN, "audit: attack '%s' has no finite score for %s row %zu", attack->name,
                 i < members ? "member" : "non-member", i < members ? i : i - members);
    if (isnan(o.threshold))
        TRY(shadow_threshold(&o.threshold, attack, arrays));
    struct audit_scored s = {.name = attack->name,
                             .title = attack->title,
                             .source = attack->source,
                             .member = scores,
                             .nonmember = scores + members,
                             .n_member = members,
                             .n_nonmember = arrays->nonmember.n,
                             .access = attack->access,
                             .radius = o.radius,
                             .fallback = o.fallback,
                             .own_threshold = o.threshold,
                             .threshold_of = "a shadow model's records"};
    TRY(audit_row(out, memory, &s, index, halves, settings));
    TRY(keep_parameters(out, memory, attack, args, &o));
    if (attack->normal_null)
        TRY(audit_p_values(out, memory, &s, settings->confidence));
done:
    return status;
}
