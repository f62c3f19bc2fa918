/* Options of an audit with their defaults. */
#include "audit/audit_document.h"
#include "audit/audit_private.h"
#include "options/option_tables.h"
#include "sotto/option.h"
#include "sotto/private/option.h"

/* Ranges stand in the table. */
static sotto_status check_ranges(const struct sotto_audit_options *o)
{
    sotto_status status = sotto_options_check(o, options_audit, NULL);
    if (status != SOTTO_OK) {
        status_prefix("audit");
        return status;
    }
    TRY(attack_settings_check(o->settings));
done:
    return status;
}

sotto_status audit_of_attack(struct sotto_audit_options *out, const struct sotto_audit_options *given)
{
    struct sotto_audit_options o = given ? *given : (struct sotto_audit_options){0};
    o.most_vulnerable = o.most_vulnerable ? o.most_vulnerable : SOTTO_NONE;
    return sotto_options_resolve(out, &o, options_audit);
}

sotto_status audit_settings_resolve(struct audit_settings *out, const struct sotto_audit_options *options)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_option *rates = sotto_option_find(options_audit, "fpr");
    struct sotto_audit_options o;
    TRY(sotto_options_resolve(&o, options, options_audit));
    if (!o.has_claim)
        o.claim_epsilon = o.claim_delta = 0;
    TRY(check_ranges(&o));
    *out = (struct audit_settings){.fpr = o.fpr_count ? o.fpr : out->usual_fpr,
                                   .fpr_count = o.fpr_count,
                                   .confidence = o.confidence,
                                   .delta = o.delta,
                                   .seed = o.seed,
                                   .params = o.settings,
                                   .draws = o.draws,
                                   .one_run_guesses = o.one_run_guesses,
                                   .group_size = o.group_size,
                                   .memorisation = o.memorisation != 0,
                                   .most_vulnerable = o.most_vulnerable,
                                   .has_claim = o.has_claim != 0,
                                   .odds_ratio = o.odds_ratio != 0,
                                   .include_indices = o.include_indices != 0,
                                   .claim_epsilon = o.claim_epsilon,
                                   .claim_delta = o.claim_delta};
    if (!o.fpr_count)
        TRY(sotto_option_reals(out->usual_fpr, 2, &out->fpr_count, rates, rates->value));
done:
    return status;
}
