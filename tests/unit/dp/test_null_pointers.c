/* Every public function of the privacy core that takes pointers, without them: an error that names the function, and no crash. */
#include "support/test.h"
#include "dp/account/adaptive_account.h"
#include "dp/account/composition.h"
#include "dp/certificate/certificate.h"
#include "dp/release/dpsgd_session.h"
#include "dp/release/noise_simulate.h"
#include "dp/smooth/smooth_sensitivity.h"
#include "sotto/private/all.h"

#include <math.h>
#include <string.h>

#define REFUSED(function, ...)                                                                               \
    do {                                                                                                     \
        assert_int_equal(function(__VA_ARGS__), SOTTO_EINVAL);                                               \
        if (strncmp(sotto_error_text(), #function ": ", strlen(#function ": ")) != 0)                        \
            fail_msg("%s: %s", #function, sotto_error_text());                                               \
    } while (0)

TEST(accounts_without_pointers)
{
    REFUSED(sotto_account_release, NULL, NULL, 0, NULL, 0, 0, NULL);
    REFUSED(account_adaptive, NULL, NULL, NULL, NULL);
    REFUSED(adaptive_total_add, NULL, NULL);
    REFUSED(account_any_order, NULL, NULL, 0, 0, 0, NULL);
    REFUSED(sotto_calibrate_composed, NULL, NULL, NULL, (struct sotto_dp){0}, 0, NULL);
    REFUSED(sotto_calibrate, NULL, NULL, NULL, (struct sotto_dp){0}, NULL);
    REFUSED(sotto_calibrate_certified, NULL, NULL, NULL, (struct sotto_dp){0}, 0, NULL);
    REFUSED(sotto_calibrate_sampled_certified, NULL, NULL, 0, NULL);
    REFUSED(sotto_account_sampled_certified, NULL, NULL, NULL);
    REFUSED(sotto_account_release_certified, NULL, NULL, 0, NULL, 0, 0, NULL);
    REFUSED(sotto_choose, NULL, NULL, NULL, (struct sotto_dp){0}, 0, NULL);
    REFUSED(sotto_epsilon, NULL, NULL, 0, NULL, 0);
    REFUSED(sotto_delta, NULL, NULL, 0, NULL, 0);
    REFUSED(sotto_adjacency_find, NULL, NULL);
    REFUSED(sotto_compose_basic, NULL, NULL, 0, 0);
    REFUSED(sotto_compose_advanced, NULL, (struct sotto_dp){0}, 0, 0, 0);
    REFUSED(sotto_compose_group, NULL, (struct sotto_dp){0}, 0, 0);
    REFUSED(compose_replace_one, NULL, (struct sotto_dp){0});
    REFUSED(sotto_compose_parallel, NULL, NULL, 0, 0, 0);
    REFUSED(sotto_compose_parallel_rows, NULL, NULL, 0, 0, 0);
    REFUSED(sotto_compose_mixture, NULL, NULL, NULL, 0, 0);
    REFUSED(sotto_compose_optimal, NULL, (struct sotto_dp){0}, 0, 0, 0);
    REFUSED(sotto_account_events, NULL, NULL, 0, 0, 0, NULL);
    REFUSED(sotto_account_events_file, NULL, NULL, 0, 0, NULL);
    REFUSED(sotto_account_opacus_file, NULL, NULL, 0, 0, NULL);
    REFUSED(sotto_account_any_order_file, NULL, NULL, 0, 0, NULL);
    REFUSED(sotto_gaussian_classical, NULL, 0, (struct sotto_dp){0});
    REFUSED(sotto_privacy_profile_release, NULL, NULL, 0, NULL);
    REFUSED(sotto_privacy_profile_sampled, NULL, NULL, NULL);
    REFUSED(sotto_reconstruction_bound, NULL, NULL, 0);
    REFUSED(sotto_account_sampled, NULL, NULL, NULL);
    REFUSED(sotto_account_sampled_both, NULL, NULL, NULL);
    REFUSED(sotto_calibrate_sampled, NULL, NULL, 0, NULL);
    REFUSED(sotto_sampling_find, NULL, NULL);
    REFUSED(smooth_median, NULL, NULL, 0, 0, 0, 0, NULL);
    REFUSED(smooth_noise, NULL, (struct sotto_dp){0});
    REFUSED(propose_threshold, NULL, (struct sotto_dp){0});
    REFUSED(most_frequent, NULL, NULL, NULL, 0);
}

TEST(releases_and_ledgers_without_pointers)
{
    REFUSED(sotto_certificate_summary, NULL, NULL);
    REFUSED(sotto_certificate_decode, NULL, NULL);
    REFUSED(sotto_certificate_load, NULL, NULL);
    REFUSED(sotto_certificate_encode, NULL, NULL);
    REFUSED(sotto_account_json, NULL, NULL);
    REFUSED(sotto_any_order_json, NULL, NULL);
    REFUSED(sotto_certificate_profile, NULL, NULL, NULL);
    REFUSED(certificate_adaptive, NULL, NULL, NULL);
    REFUSED(sotto_certificate_risk, NULL, NULL, NULL, NULL);
    REFUSED(sotto_ledger_import_opacus, NULL, NULL, 0, NULL);
    REFUSED(sotto_ledger_overlap, NULL, NULL, NULL, 0);
    REFUSED(sotto_dp_sample, NULL, NULL, NULL, 0);
    REFUSED(sotto_dp_step, NULL, NULL);
    REFUSED(dp_step_float, NULL, NULL);
    REFUSED(sotto_dp_step_lattice, NULL, NULL);
    REFUSED(noise_simulate, NULL, 0, NULL, 0, 0, 0);
    REFUSED(sotto_protect_file, NULL, NULL, NULL);
    REFUSED(sotto_protect_records, NULL, NULL, NULL);
    REFUSED(sotto_dp_select_top, NULL, 0, NULL, NULL, 0, NULL, NULL);
    REFUSED(sotto_dp_select, NULL, NULL, NULL, 0, NULL, NULL);
    REFUSED(sotto_dp_randomise, NULL, NULL, 0, 0, NULL, NULL);
    REFUSED(sotto_dp_median, NULL, NULL, NULL, 0, 0, 0, NULL, NULL);
    REFUSED(sotto_dp_most_frequent, NULL, NULL, NULL, 0, 0, NULL, NULL);
    REFUSED(sotto_dp_release, NULL, NULL, 0, NULL, NULL);
    REFUSED(sotto_dp_release_double, NULL, NULL, 0, NULL, NULL);
    REFUSED(sotto_certificate_save, NULL, NULL, NULL);
    REFUSED(sotto_released_inputs, NULL, NULL, NULL, NULL);
    REFUSED(sotto_dp_reserve, NULL, NULL, NULL);
    REFUSED(sotto_dpsgd_session_certificate, NULL, NULL);
    REFUSED(sotto_verification_encode, NULL, NULL);
    REFUSED(sotto_verification_text, NULL, NULL);
    REFUSED(sotto_ledger_find, NULL, NULL);
    REFUSED(sotto_ledger_init, NULL, NULL, NULL, (struct sotto_dp){0}, NULL, NULL, NULL);
    REFUSED(sotto_ledger_init_columns, NULL, NULL, NULL, (struct sotto_dp){0}, NULL, 0, NULL, NULL, NULL);
    REFUSED(sotto_ledger_show, NULL, NULL, NULL);
    REFUSED(sotto_ledger_table, NULL, NULL, NULL);
    REFUSED(sotto_ledger_account, NULL, NULL, 0, NULL);
    REFUSED(sotto_ledger_plan, NULL, NULL, NULL, 0, NULL, NULL);
    REFUSED(sotto_key_new, NULL);
    REFUSED(sotto_key_public, NULL, NULL, NULL);
}

/* An array of no elements may be NULL; one of some may not. */
TEST(arrays_of_some_elements)
{
    struct sotto_composed composed;
    struct sotto_account account;
    struct sotto_any_order any;
    struct sotto_certificate *c;
    const struct sotto_release r = {.mechanism = "laplace"};
    const double some[1] = {1};
    double x;
    size_t i;
    int64_t label;
    REFUSED(sotto_compose_basic, &composed, NULL, 1, SOTTO_REPLACE_ONE);
    REFUSED(sotto_compose_parallel, &composed, NULL, 1, SOTTO_REPLACE_ONE, SOTTO_REPLACE_ONE);
    REFUSED(sotto_compose_parallel_rows, &composed, NULL, 1, SOTTO_REPLACE_ONE, SOTTO_REPLACE_ONE);
    REFUSED(sotto_compose_mixture, &composed, NULL, NULL, 1, SOTTO_REPLACE_ONE);
    REFUSED(sotto_account_events, &account, NULL, 1, .1, SOTTO_REPLACE_ONE, NULL);
    REFUSED(account_any_order, &any, NULL, 1, .1, SOTTO_REPLACE_ONE, NULL);
    REFUSED(sotto_ledger_overlap, &i, "toy", NULL, 1);
    REFUSED(sotto_dp_select_top, NULL, 1, &c, some, 1, &r, NULL);
    REFUSED(sotto_dp_select_top, &i, 1, &c, NULL, 1, &r, NULL);
    REFUSED(sotto_dp_select, &i, &c, NULL, 1, &r, NULL);
    REFUSED(sotto_dp_randomise, &c, NULL, 1, 2, &r, NULL);
    REFUSED(sotto_dp_median, &x, &c, NULL, 1, 0, 1, &r, NULL);
    REFUSED(sotto_dp_most_frequent, &label, &c, NULL, 1, 2, &r, NULL);
    REFUSED(sotto_dp_release, &c, NULL, 1, &r, NULL);
    REFUSED(sotto_dp_release_double, &c, NULL, 1, &r, NULL);
    REFUSED(noise_simulate, NULL, 1, "laplace", 1, 0, 0);
    REFUSED(smooth_median, &x, NULL, 1, 0, 1, 1, NULL);
    REFUSED(most_frequent, &i, &i, NULL, 2);
}

TEST(what_has_no_status_without_pointers)
{
    sotto_privacy_profile_clear(NULL);
    assert_null(sotto_certificate_account(NULL));
    assert_null(sotto_certificate_sensitivity(NULL));
    assert_int_equal(sotto_certificate_guarantee(NULL), SOTTO_GUARANTEE_NONE);
    assert_int_equal(sotto_certificate_is_proved(NULL), 0);
    assert_null(sotto_certificate_condition(NULL));
    assert_null(sotto_certificate_statement(NULL));
    assert_null(sotto_certificate_unit(NULL));
    assert_int_equal(sotto_certificate_entry(NULL), 0);
    assert_null(sotto_certificate_hash(NULL));
    assert_int_equal(sotto_dpsgd_session_used(NULL), 0);
    assert_true(isnan(sotto_dpsgd_session_lattice(NULL)));
    assert_null(dpsgd_session_entry(NULL));
    assert_null(sotto_dpsgd_session_run(NULL));
    sotto_verification_clear(NULL);
}
