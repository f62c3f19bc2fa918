/* Every promised function that takes pointers (tools/promised.txt), without them: all are NULL, and then one after the other. A
 * pointer that must be given is EINVAL, before anything else is read, in words that begin with the name of the function; what has
 * no status gives nothing back, and what frees takes NULL. tools/check-headers asks that none is missing. */
#include "support/test.h"
#include "sotto/sotto.h"

#include <math.h>
#include <string.h>

/* What a call gets: p[0], p[1], ... are the pointers that must be given. The others of a round point to zeros, which are read no
 * sooner than all are there. */
enum { MOST = 5 };
static void *p[MOST];
static _Alignas(64) unsigned char zeros[1 << 14];

static void round_of(size_t missing, size_t count)
{
    for (size_t i = 0; i < MOST; i++)
        p[i] = missing == count || i == missing ? NULL : zeros;
}

static void refused(sotto_status status, const char *call, size_t missing, size_t count)
{
    const size_t name = strcspn(call, "(");
    if (status != SOTTO_EINVAL || strncmp(sotto_error_text(), call, name) != 0)
        fail_msg("%s with %s pointer %zu missing: %s: %s", call, missing == count ? "every" : "only", missing,
                 sotto_status_name(status), sotto_error_text());
}
#define REFUSES(count, call)                                                                                 \
    for (size_t k = 0; k <= (count); k++) {                                                                  \
        round_of(k, count);                                                                                  \
        refused(call, #call, k, count);                                                                      \
    }

TEST(options_without_pointers)
{
    assert_null(sotto_option_table(NULL));
    REFUSES(3, sotto_option_set(p[0], p[1], p[2]));
    REFUSES(2, sotto_options_resolve(p[0], NULL, p[1]));
    REFUSES(2, sotto_options_check(p[0], p[1], NULL));
}

TEST(accounts_without_pointers)
{
    const struct sotto_dp target = {1, 1e-5};
    REFUSES(3, sotto_account_release(p[0], p[1], 1, p[2], 1e-5, 1, NULL));
    REFUSES(2, sotto_account_sampled(p[0], p[1], NULL));
    REFUSES(2, sotto_account_events(p[0], p[1], 1, 1e-5, SOTTO_REPLACE_ONE, NULL));
    REFUSES(2, sotto_account_events_file(p[0], p[1], 1e-5, SOTTO_REPLACE_ONE, NULL));
    REFUSES(3, sotto_calibrate(p[0], p[1], p[2], target, NULL));
    REFUSES(2, sotto_calibrate_sampled(p[0], p[1], 1, NULL));
    REFUSES(3, sotto_epsilon(p[0], p[1], 1, p[2], 1e-5));
    REFUSES(3, sotto_delta(p[0], p[1], 1, p[2], 1));
    REFUSES(2, sotto_reconstruction_bound(p[0], p[1], .1));
    REFUSES(3, sotto_privacy_profile_release(p[0], p[1], 1, p[2]));
    REFUSES(2, sotto_privacy_profile_sampled(p[0], p[1], NULL));
    sotto_privacy_profile_clear(NULL);
}

TEST(releases_without_pointers)
{
    REFUSES(3, sotto_dp_release(p[0], p[1], 1, p[2], NULL));
    REFUSES(3, sotto_dp_release_double(p[0], p[1], 1, p[2], NULL));
    REFUSES(3, sotto_dp_randomise(p[0], p[1], 1, 2, p[2], NULL));
    REFUSES(4, sotto_dp_select(p[0], p[1], p[2], 1, p[3], NULL));
    REFUSES(4, sotto_dp_select_top(p[0], 1, p[1], p[2], 1, p[3], NULL));
    REFUSES(4, sotto_dp_median(p[0], p[1], p[2], 1, 0, 1, p[3], NULL));
    REFUSES(4, sotto_dp_most_frequent(p[0], p[1], p[2], 1, 2, p[3], NULL));
    REFUSES(2, sotto_protect_file(p[0], p[1], NULL));
    REFUSES(2, sotto_protect_records(p[0], p[1], NULL));
    REFUSES(2, sotto_dp_reserve(p[0], p[1], NULL));
    REFUSES(3, sotto_dp_sample(p[0], p[1], p[2], 1));
    REFUSES(2, sotto_dp_step(p[0], p[1]));
    REFUSES(2, sotto_dp_step_lattice(p[0], p[1]));
    REFUSES(2, sotto_dpsgd_session_certificate(p[0], p[1]));
    assert_null(sotto_dpsgd_session_run(NULL));
    assert_int_equal(sotto_dpsgd_session_used(NULL), 0);
    sotto_dpsgd_session_close(NULL);
}

TEST(ledgers_without_pointers)
{
    REFUSES(2, sotto_ledger_init(p[0], p[1], NULL, (struct sotto_dp){1, 1e-5}, NULL, NULL, NULL));
    REFUSES(2, sotto_ledger_find(p[0], p[1]));
    REFUSES(2, sotto_ledger_account(p[0], p[1], 1e-5, NULL));
    REFUSES(2, sotto_ledger_show(p[0], p[1], NULL));
    REFUSES(2, sotto_ledger_table(p[0], p[1], NULL));
}

TEST(certificates_without_pointers)
{
    REFUSES(2, sotto_certificate_load(p[0], p[1]));
    REFUSES(2, sotto_certificate_save(p[0], p[1], NULL));
    REFUSES(2, sotto_certificate_encode(p[0], p[1]));
    REFUSES(2, sotto_certificate_decode(p[0], p[1]));
    REFUSES(2, sotto_certificate_profile(p[0], p[1], NULL));
    REFUSES(2, sotto_certificate_summary(p[0], p[1]));
    REFUSES(2, sotto_certificate_page(p[0], p[1], NULL, 0, 0, NULL));
    assert_null(sotto_certificate_hash(NULL));
    assert_int_equal(sotto_certificate_entry(NULL), 0);
    assert_null(sotto_certificate_account(NULL));
    assert_int_equal(sotto_certificate_guarantee(NULL), SOTTO_GUARANTEE_NONE);
    assert_int_equal(sotto_certificate_is_proved(NULL), 0);
    assert_null(sotto_certificate_statement(NULL));
    assert_null(sotto_certificate_condition(NULL));
    assert_null(sotto_certificate_sensitivity(NULL));
    assert_null(sotto_certificate_unit(NULL));
    sotto_certificate_free(NULL);
    REFUSES(2, sotto_verify(p[0], p[1], NULL, NULL, NULL));
    REFUSES(2, sotto_verification_text(p[0], p[1]));
    REFUSES(2, sotto_verification_encode(p[0], p[1]));
    sotto_verification_clear(NULL);
    REFUSES(1, sotto_key_new(p[0]));
    REFUSES(2, sotto_key_public(p[0], NULL, p[1]));
    REFUSES(2, sotto_sign(p[0], p[1]));
}

TEST(audits_without_pointers)
{
    REFUSES(2, sotto_audit(p[0], p[1], NULL, NULL));
    REFUSES(2, sotto_audit_encode(p[0], p[1]));
    REFUSES(2, sotto_audit_decode(p[0], p[1]));
    REFUSES(2, sotto_audit_summary(p[0], p[1]));
    REFUSES(1, sotto_audit_gate(NULL, NULL, NULL, p[0])); /* without a result, a rule is checked */
    REFUSES(3, sotto_audit_gate(p[0], p[1], (const void *)zeros, p[2]));
    REFUSES(2, sotto_audit_test_curve(p[0], p[1], 0));
    REFUSES(2, sotto_report_audit(p[0], p[1], NULL));
    REFUSES(2, sotto_report_audit_html(p[0], p[1], NULL));
    sotto_audit_result_free(NULL);
}

static sotto_status answer(void *user, float *posteriors, const float *rows, size_t n)
{
    (void)user, (void)posteriors, (void)rows, (void)n;
    return SOTTO_OK;
}

TEST(attacks_without_pointers)
{
    REFUSES(2, sotto_target_open_function(p[0], p[1], answer, NULL, 1, 2));
    round_of(MOST, 0);
    refused(sotto_target_open_function(p[0], p[1], NULL, NULL, 1, 2), "sotto_target_open_function", 2, 0);
    REFUSES(2, sotto_target_open(p[0], p[1], NULL));
    REFUSES(5, sotto_attack(p[0], p[1], p[2], p[3], p[4], NULL));
    REFUSES(1, sotto_attack_table(p[0]));
    sotto_target_set_budget(NULL, 1);
    sotto_target_close(NULL);
}

TEST(heads_without_pointers)
{
    REFUSES(2, sotto_head_release(p[0], p[1], NULL));
    REFUSES(3, sotto_head_train(p[0], p[1], p[2], 1, 1, 2, NULL, NULL));
    REFUSES(2, sotto_head_load(p[0], p[1]));
    REFUSES(2, sotto_head_save(p[0], p[1]));
    REFUSES(3, sotto_head_predict(p[0], p[1], p[2], 1, 1, 0, NULL));
    REFUSES(4, sotto_head_accuracy(p[0], p[1], p[2], p[3], 1, 1, NULL));
    assert_int_equal(sotto_head_inputs(NULL), 0);
    assert_int_equal(sotto_head_classes(NULL), 0);
    sotto_head_free(NULL);
}

TEST(the_rest_without_pointers)
{
    REFUSES(2, sotto_run(p[0], p[1], NULL, NULL, NULL, NULL));
    REFUSES(3, sotto_run(p[0], NULL, p[1], p[2], NULL, NULL));
    sotto_text_free(NULL);
}
