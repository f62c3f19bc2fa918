/* Independent ways to the same number: finite sum, contour integral, privacy-loss distributions by transforms
 * of doubles and in ball arithmetic (dp/account/accountant_crosscheck.h); and one training run that other programs have
 * accounted. */
#include "dp/account/accountant_crosscheck.h"
#include "selftest/checks.h"
#include "sotto/account.h"

#include <stdio.h>

static const struct {
    double shift;
    size_t releases;
} cases[] = {{0.1, 2}, {0.5, 10}, {2, 10}, {0.1, 100}};

/* q 0.01, noise multiplier 1.1, 10,000 steps, delta 1e-5. dp-accounting's PLD at 1e-5 says at most 5.1925838,
 * and prv-accountant estimates 5.1925837. */
static void check_training(struct checks *c)
{
    const struct sotto_sampled steps = {.mechanism = "gaussian",
                                        .noise_multiplier = 1.1,
                                        .sample_rate = 0.01,
                                        .steps = 10000,
                                        .delta = 1e-5,
                                        .adjacency = SOTTO_ADD_REMOVE};
    struct sotto_account account = {.epsilon = {NAN, NAN}};
    sotto_status status = sotto_account_sampled(&account, &steps, c->ctx);
    double low = account.epsilon.lower, high = account.epsilon.upper;
    checks_note(c, "DP-SGD: rate 0.01, multiplier 1.1, 10,000 steps",
                status == SOTTO_OK && low <= 5.1925838 && high >= 5.1925837 && high < 5.1927,
                "[%.9g, %.9g] (%s), expected to contain 5.1925837", low, high, account.accountant);
}

void selftest_agreement(struct checks *c)
{
    c->group = "agreement";
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !context_stopped(c->ctx); i++) {
        struct crosscheck a;
        char name[80], figures[200];
        snprintf(name, sizeof name, "logistic: %zu releases of shift %g at delta 1e-5", cases[i].releases,
                 cases[i].shift);
        sotto_status status = accountant_crosscheck(&a, cases[i].shift, cases[i].releases, 1e-5, c->ctx);
        bool ok = status == SOTTO_OK && agreement_holds(&a, figures, sizeof figures);
        checks_note(c, name, ok, "%s", status == SOTTO_OK ? figures : sotto_error_text());
    }
    check_training(c);
}
