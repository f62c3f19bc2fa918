/* What does noise guarantee? One release of a sum with Gaussian noise, and 1,000 steps of DP-SGD.
 *
 *     cc 01_account.c -lsotto && ./a.out */
#include <sotto/sotto.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    const struct sotto_sensitivity sum = {.l1 = NAN,
                                          .l2 = 1}; /* replacing a record moves the sum by 1 at most */
    const struct sotto_sampled dp_sgd = {.mechanism = "gaussian",
                                         .noise_multiplier = 1.1,
                                         .sample_rate = 0.01,
                                         .steps = 1000,
                                         .delta = 1e-5,
                                         .adjacency = SOTTO_ADD_REMOVE};
    struct sotto_account release, training;
    if (sotto_account_release(&release, "gaussian", 4, &sum, 1e-6, 1, NULL) != SOTTO_OK ||
        sotto_account_sampled(&training, &dp_sgd, NULL) != SOTTO_OK) {
        fprintf(stderr, "%s\n", sotto_error_text());
        return 1;
    }
    printf("one release: epsilon at most %.4f at delta %g (%s)\n", release.epsilon.upper, release.delta,
           release.accountant);
    printf("DP-SGD: epsilon within [%.4f, %.4f] at delta %g (%s, %s)\n", training.epsilon.lower,
           training.epsilon.upper, training.delta, sotto_adjacency_name(training.adjacency),
           training.accountant);
    return 0;
}
