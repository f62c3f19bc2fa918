/* Time of privacy accounts: microseconds a call, median of 9 runs, CPU time of one thread. */
#include "stopwatch.h"
#include "dp/account/accountant.h"
#include "dp/account/sampled_renyi.h"
#include "sotto/lab/compose.h"

#include <stdio.h>
#include <stdlib.h>

/* `work(i)` returns an epsilon; i makes every call a different one. */
static void measure(const char *name, double (*work)(int i), int calls)
{
    enum { RUNS = 9 };
    double seconds[RUNS], sum = 0;
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_seconds();
        for (int i = 0; i < calls; i++)
            sum += work(r * calls + i);
        seconds[r] = (cpu_seconds() - start) / calls;
    }
    printf("%-52s %10.2f us   (mean epsilon %.6g)\n", name, median(seconds, RUNS) * 1e6, sum / RUNS / calls);
}

static double dp_sgd_renyi(int i)
{
    return sampled_renyi_epsilon(mechanism_find("gaussian"), 1.1 * (1 + 1e-9 * i), 0.01, 10000, 1e-5);
}

static double dp_sgd_logistic(int i)
{
    return sampled_renyi_epsilon(mechanism_find("logistic"), 0.635 * (1 + 1e-9 * i), 0.01, 10000, 1e-5);
}

static double dp_sgd_high_order(int i)
{
    return sampled_renyi_epsilon(mechanism_find("gaussian"), 2 * (1 + 1e-9 * i), 0.001, 100, 1e-5);
}

static double account(const char *mechanism, int i)
{
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 1};
    struct sotto_account a;
    return sotto_account_release(&a, mechanism, 1 + 1e-9 * i, &s, 1e-5, 1, NULL) == SOTTO_OK ? a.epsilon.upper
                                                                                             : 0;
}

static double curve(const char *mechanism, int i)
{
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 1};
    struct sotto_interval e;
    return sotto_epsilon(&e, mechanism, 1 + 1e-9 * i, &s, 1e-5) == SOTTO_OK ? e.upper : 0;
}

static double curve_logistic(int i)
{
    return curve("logistic", i);
}

static double curve_laplace(int i)
{
    return curve("laplace", i);
}

static double curve_gaussian(int i)
{
    return curve("gaussian", i);
}

static double curve_gaussian_delta(int i)
{
    struct sotto_sensitivity s = {.l1 = NAN, .l2 = 1};
    struct sotto_interval d;
    return sotto_delta(&d, "gaussian", 1 + 1e-9 * i, &s, 1) == SOTTO_OK ? d.upper : 0;
}

static double optimal(int i)
{
    struct sotto_composed c;
    struct sotto_dp each = {0.1 + 1e-9 * i, 0};
    return sotto_compose_optimal(&c, each, 100, 1e-5, SOTTO_REPLACE_ONE) == SOTTO_OK ? c.epsilon.upper : 0;
}

static double account_logistic(int i)
{
    return account("logistic", i);
}

static double account_laplace(int i)
{
    return account("laplace", i);
}

static double account_gaussian(int i)
{
    return account("gaussian", i);
}

int main(void)
{
    measure("DP-SGD by Renyi: q .01, sigma 1.1, 10,000 steps", dp_sgd_renyi, 100);
    measure("DP-SGD by Renyi, logistic .635", dp_sgd_logistic, 100);
    measure("DP-SGD by Renyi: q .001, sigma 2, 100 steps", dp_sgd_high_order, 100);
    measure("closed form epsilon: logistic", curve_logistic, 1000);
    measure("closed form epsilon: laplace", curve_laplace, 1000);
    measure("closed form epsilon: gaussian (root of its curve)", curve_gaussian, 1000);
    measure("closed form delta: gaussian", curve_gaussian_delta, 1000);
    measure("optimal composition of 100 pure releases", optimal, 100);
    measure("account, every bound: logistic", account_logistic, 100);
    measure("account, every bound: laplace", account_laplace, 100);
    measure("account, every bound: gaussian", account_gaussian, 100);
    return 0;
}
