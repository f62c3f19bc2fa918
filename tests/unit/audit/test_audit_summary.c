/* src/measure/audit: the summary on a terminal. Columns are as wide as their longest cell and never touch. */
#include <math.h>
#include "support/test.h"

#include "sotto/private/all.h"

#include <string.h>

TEST(columns_never_touch)
{
    struct sotto_audit_rate rates[] = {
        {.fpr = 0.01, .tpr = {.rate = {6.67e-4, 1.69e-5, 3.71e-3}}},
        {.fpr = 0.01, .tpr = {.rate = {1, 0.9999876, 1}}},
        {.fpr = 0.01, .tpr = {.rate = {1.23456e-7, 1.23456e-9, 1.23456e-5}}},
    };
    char long_name[] = "an-attack-with-a-name-of-forty-characters";
    struct sotto_audit_attack attacks[3] = {
        {.name = "loss", .rates = &rates[0], .rate_count = 1},
        {.name = "entropy", .rates = &rates[1], .rate_count = 1},
        {.name = long_name, .rates = &rates[2], .rate_count = 1},
    };
    for (int i = 0; i < 3; i++) {
        attacks[i].auc.area = (struct sotto_estimate){0.5, 0.4, 0.6};
        attacks[i].balanced.accuracy.estimate = 0.605;
        attacks[i].epsilon_best =
            (struct sotto_audit_best){.lower_bound = 0.25, .bound = "Clopper-Pearson", .bounds = 1};
    }
    attacks[1].epsilon_best = (struct sotto_audit_best){.lower_bound = 1.5, .bound = "one run", .bounds = 2};
    rates[2].tpr.no_lower = "too few";
    const struct sotto_audit_result r = {
        .attacks = attacks, .attack_count = 3, .n_member = 30, .n_nonmember = 30, .confidence = 0.95};
    char *text = NULL;
    assert_int_equal(sotto_audit_summary(&text, &r), SOTTO_OK);
    assert_string_equal(strstr(text, "attack  "),
                        "attack                                     AUC                   TPR at FPR 0.01    "
                        "        bal. acc.  epsilon >=\n"
                        "loss                                       0.500 [0.400, 0.600]  0.0667 [0.00169, "
                        "0.371] %  0.605      0.25\n"
                        "entropy                                    0.500 [0.400, 0.600]  100 [100, 100] %   "
                        "        0.605      1.5 (one run)\n"
                        "an-attack-with-a-name-of-forty-characters  0.500 [0.400, 0.600]  1.23e-05 "
                        "[-, 0.00123] %    0.605      0.25\n");
    sotto_text_free(text);
}
