/* Options of an audit with their defaults. */
#include <math.h>

#include "sotto/option.h"
#include "audit/audit_private.h"

sotto_status audit_settings_resolve(struct audit_settings *out, const struct sotto_audit_options *options)
{
    static const double usual[] = {0.01, 0.001};
    sotto_status status = SOTTO_OK;
    struct sotto_audit_options o;
    TRY(sotto_options_resolve(&o, options, sotto_audit_option_table()));
    struct audit_settings s = {.fpr = o.fpr_count ? o.fpr : usual,
                               .fpr_count = o.fpr_count ? o.fpr_count : 2,
                               .confidence = o.confidence,
                               .delta = o.delta,
                               .seed = o.seed,
                               .params = o.settings,
                               .draws = o.draws,
                               .one_run_guesses = o.one_run_guesses,
                               .group_size = o.group_size,
                               .exposed = o.exposed,
                               .has_claim = o.has_claim != 0,
                               .odds_ratio = o.odds_ratio != 0,
                               .include_indices = o.include_indices != 0,
                               .claim_epsilon = o.claim_epsilon,
                               .claim_delta = o.claim_delta};
    REQUIRE(s.confidence > 0 && s.confidence < 1, "audit: confidence must be between 0 and 1 (got %g)",
            s.confidence);
    REQUIRE(s.delta >= 0 && s.delta < 1, "audit: delta must be >= 0 and < 1 (got %g)", s.delta);
    for (size_t i = 0; i < s.fpr_count; i++)
        REQUIRE(s.fpr[i] > 0 && s.fpr[i] < 1, "audit: a false-positive rate must be between 0 and 1 (got %g)",
                s.fpr[i]);
    REQUIRE(s.draws >= 100 && s.draws <= 1000000, "audit: %zu bootstrap draws; expected 100 to 1000000",
            s.draws);
    REQUIRE(!s.has_claim || (s.claim_epsilon >= 0 && isfinite(s.claim_epsilon)),
            "audit: the claimed epsilon must be >= 0 (got %g)", s.claim_epsilon);
    REQUIRE(!s.has_claim || (s.claim_delta >= 0 && s.claim_delta < 1),
            "audit: the claimed delta must be >= 0 and < 1 (got %g)", s.claim_delta);
    TRY(attack_settings_check(s.params));
    *out = s;
done:
    return status;
}
