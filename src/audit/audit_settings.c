/* Options of an audit with their defaults. */
#include "audit/audit_private.h"
#include "sotto/option.h"

#include <math.h>

/* Ranges of single numbers stand in the table; lists and claims have no row there. */
static sotto_status check_ranges(const struct sotto_audit_options *o)
{
    sotto_status status = sotto_options_check(o, sotto_audit_option_table(), NULL);
    if (status != SOTTO_OK) {
        status_prefix("audit");
        return status;
    }
    for (size_t i = 0; i < o->fpr_count; i++)
        REQUIRE(o->fpr[i] > 0 && o->fpr[i] < 1,
                "audit: a false-positive rate must be between 0 and 1 (got %g)", o->fpr[i]);
    REQUIRE(!o->has_claim || (o->claim_epsilon >= 0 && isfinite(o->claim_epsilon)),
            "audit: the claimed epsilon must be >= 0 (got %g)", o->claim_epsilon);
    REQUIRE(!o->has_claim || (o->claim_delta >= 0 && o->claim_delta < 1),
            "audit: the claimed delta must be >= 0 and < 1 (got %g)", o->claim_delta);
    TRY(attack_settings_check(o->settings));
done:
    return status;
}

sotto_status audit_settings_resolve(struct audit_settings *out, const struct sotto_audit_options *options)
{
    static const double usual[] = {0.01, 0.001};
    sotto_status status = SOTTO_OK;
    struct sotto_audit_options o;
    TRY(sotto_options_resolve(&o, options, sotto_audit_option_table()));
    TRY(check_ranges(&o));
    *out = (struct audit_settings){.fpr = o.fpr_count ? o.fpr : usual,
                                   .fpr_count = o.fpr_count ? o.fpr_count : 2,
                                   .confidence = o.confidence,
                                   .delta = o.delta,
                                   .seed = o.seed,
                                   .params = o.settings,
                                   .draws = o.draws,
                                   .one_run_guesses = o.one_run_guesses,
                                   .group_size = o.group_size,
                                   .most_vulnerable = o.most_vulnerable,
                                   .has_claim = o.has_claim != 0,
                                   .odds_ratio = o.odds_ratio != 0,
                                   .include_indices = o.include_indices != 0,
                                   .claim_epsilon = o.claim_epsilon,
                                   .claim_delta = o.claim_delta};
done:
    return status;
}
