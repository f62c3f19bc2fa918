/* Options of an audit with their defaults. */
#include <math.h>

#include "audit/audit_private.h"

sotto_status audit_settings_resolve(struct audit_settings *out, const struct sotto_audit_options *options)
{
    static const double usual[] = {0.01, 0.001};
    sotto_status status = SOTTO_OK;
    struct audit_settings s = {.fpr = usual, .fpr_count = 2, .confidence = 0.95, .draws = 2000};
    if (options) {
        if (options->fpr_count)
            s.fpr = options->fpr, s.fpr_count = options->fpr_count;
        if (options->confidence != 0)
            s.confidence = options->confidence;
        if (options->draws)
            s.draws = options->draws;
        s.delta = options->delta;
        s.seed = options->seed;
        s.params = options->settings;
        s.has_claim = options->has_claim != 0;
        s.claim_epsilon = options->claim_epsilon;
        s.claim_delta = options->claim_delta;
        s.one_run_guesses = options->one_run_guesses;
        s.group_size = options->group_size;
        s.odds_ratio = options->odds_ratio != 0;
        s.exposed = options->exposed;
        s.include_indices = options->include_indices != 0;
    }
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
