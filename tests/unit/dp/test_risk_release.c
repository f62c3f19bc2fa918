/* Releases whose noise was found for a risk: what the certificate says of it, what is refused, and that nothing is charged
 * then. */
#include "support/test.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"

#include "base/file.h"
#include "dp/account/risk.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sotto_release asked(const char *ledger, const char *mechanism, struct sotto_risk risk)
{
    return (struct sotto_release){
        .mechanism = mechanism,
        .target = {.delta = 1e-5},
        .risk = risk,
        .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "test"}};
}

/* The number behind "at most", of a line that ends as expected. */
static double most_of(const struct sotto_certificate *c, struct sotto_risk risk, const char *end)
{
    static const char begin[] = "any test of membership: true-positive rate at most ";
    char *line, *after;
    assert_int_equal(sotto_certificate_risk(&line, c, &risk, NULL), SOTTO_OK);
    assert_int_equal(strncmp(line, begin, strlen(begin)), 0);
    double most = strtod(line + strlen(begin), &after);
    assert_string_equal(after, end);
    sotto_text_free(line);
    return most;
}

TEST(the_certificate_keeps_what_was_asked)
{
    static const char *const mechanisms[] = {"gaussian",         "logistic",          "laplace",
                                             "discrete-laplace", "discrete-gaussian", "knorm"};
    const struct sotto_risk tpr = {.max_tpr = "0.02@0.01"}, advantage = {.max_advantage = .1};
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++)
        for (int by_advantage = 0; by_advantage < 2; by_advantage++)
            for (size_t rows = 0; rows < (i ? 1 : 4); rows += 3) { /* persons: once */
                struct sotto_release r = asked(NULL, mechanisms[i], by_advantage ? advantage : tpr);
                struct sotto_certificate *c = NULL;
                double v[2] = {1, 2};
                r.spend.rows_per_person = rows;
                r.spend.dataset_id = rows ? "persons" : "records";
                r.spend.ledger = path_of(rows ? "persons.jsonl" : "records.jsonl");
                if (strncmp(mechanisms[i], "discrete", 8) == 0)
                    r.sensitivity.value_step = 1;
                if (sotto_dp_release_double(&c, v, 2, &r, NULL) != SOTTO_OK)
                    fail_msg("%s: %s", mechanisms[i], sotto_error_text());
                char *line;
                assert_int_equal(sotto_certificate_risk(&line, c, &r.risk, NULL), SOTTO_OK);
                const char *expected = by_advantage ? "any test of membership: true-positive rate at most "
                                                      "0.1 above the false-positive rate"
                                                    : "any test of membership: true-positive rate at most "
                                                      "0.02 at false-positive rate 0.01";
                if (strncmp(line, expected, strlen(expected)) != 0)
                    fail_msg("%s, %zu rows: %s", mechanisms[i], rows, line);
                assert_true((rows > 0) == (strstr(line, "if what epsilon rests on holds") != NULL));
                assert_true(sotto_certificate_account(c)->delta == 1e-5); /* and it costs its usual epsilon */
                assert_true(isfinite(sotto_certificate_account(c)->epsilon.upper));
                sotto_text_free(line);
                sotto_certificate_free(c);
            }
}

/* Too little noise for it is told as what it gives: mu = 1 finds Phi(Phi^-1(.01) + 1) = .0923622 at .01, Phi(.5) - Phi(-.5) =
 * .3829249. */
TEST(what_was_not_asked_is_no_promise)
{
    struct sotto_release r = asked(path_of("less.jsonl"), "gaussian", (struct sotto_risk){0});
    struct sotto_certificate *c = NULL;
    double v = 1;
    r.scale = 1;
    assert_int_equal(sotto_dp_release_double(&c, &v, 1, &r, NULL), SOTTO_OK);
    double tpr = most_of(c, (struct sotto_risk){.max_tpr = "0.02@0.01"}, " at false-positive rate 0.01");
    double advantage = most_of(c, (struct sotto_risk){.max_advantage = .1}, " above the false-positive rate");
    assert_true(tpr >= .09236224 && tpr < .0924);
    assert_true(advantage >= .38292492 && advantage < .3831);
    sotto_certificate_free(c);
}

TEST(refused_before_anything_is_charged)
{
    static const struct {
        double scale, epsilon, advantage;
        const char *tpr, *text;
    } wrong[] = {
        {1, 0, .1, NULL, "max_tpr and max_advantage stand instead of epsilon and of the noise"},
        {0, 1, 0, "0.02@0.01", "max_tpr and max_advantage stand instead of epsilon and of the noise"},
        {0, 0, .1, "0.02@0.01", "max_tpr and max_advantage cannot be combined"},
        {0, 0, 1, NULL, "max_advantage is 1; expected a number in (0, 1)"},
        {0, 0, 0, "0.01@0.02", "max_tpr 0.01@0.02 is out of range"},
        {0, 0, 0, "a lot", "max_tpr 'a lot' is not a pair of rates"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sotto_release r =
            asked(path_of("none.jsonl"), "gaussian", (struct sotto_risk){wrong[i].tpr, wrong[i].advantage});
        struct sotto_certificate *c = NULL;
        double v = 1;
        r.scale = wrong[i].scale;
        r.target.epsilon = wrong[i].epsilon;
        assert_int_equal(sotto_dp_release_double(&c, &v, 1, &r, NULL), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), wrong[i].text));
        assert_true(v == 1 && !c && !file_exists(path_of("none.jsonl")));
    }
}

TEST(seeded_noise_promises_nothing)
{
    const struct sotto_risk risk = {.max_tpr = "0.02@0.01"};
    struct sotto_release r = asked(path_of("seeded.jsonl"), "gaussian", risk);
    struct sotto_certificate *c = NULL;
    double v = 1;
    char *line = NULL;
    r.spend.insecure = 1;
    r.spend.insecure_seed = 1;
    assert_int_equal(sotto_dp_release_double(&c, &v, 1, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_certificate_risk(&line, c, &risk, NULL), SOTTO_EINVAL);
    assert_null(line);
    sotto_certificate_free(c);
}

/* A run that pays for steps twice keeps less than its noise was found for. */
TEST(a_run_keeps_what_its_charged_steps_keep)
{
    const struct sotto_risk risk = {.max_tpr = "0.02@0.01"};
    struct sotto_dpsgd_request r = {
        .sampled = {.mechanism = "gaussian", .sample_rate = .1, .steps = 20, .delta = 1e-5},
        .max_grad_norm = 1,
        .dimension = 2,
        .on_lattice = 1,
        .spend = {.dataset_id = "run", .source = &exercise, .ledger = path_of("run.jsonl")},
        .records = 100};
    struct sotto_dpsgd_session *session = NULL;
    struct sotto_certificate *c = NULL;
    char name[64] = "";
    assert_int_equal(calibrate_sampled_risk(&r.sampled.noise_multiplier, NULL, &r.sampled, &risk, NULL),
                     SOTTO_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(sotto_dp_reserve(&session, &r, NULL), SOTTO_OK);
        snprintf(name, sizeof name, "%s", sotto_dpsgd_session_run(session));
        assert_int_equal(sotto_dpsgd_session_certificate(&c, session), SOTTO_OK);
        double most = most_of(c, risk, " at false-positive rate 0.01");
        assert_true(again ? most > .0205 && most < .05 : most == .02);
        sotto_certificate_free(c);
        sotto_dpsgd_session_close(session);
        c = NULL;
        r.run = name;
    }
}

TEST_GROUP(.shards = 4, .before = make_folder, .after = remove_folder, .tags = "landing")
