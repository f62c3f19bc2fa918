/* A Gaussian release; then, by its answer, Laplace or Gaussian noise, as much as the ledger lets through in each branch. */
#include "selftest/falsify_ledger.h"
#include "sotto/release.h"

#include "base/file.h"
#include "dp/mechanism/mechanism.h"
#include "num/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const falsify_ledger_name = "a budget: the second release is chosen by the first answer";

/* The mean of 1,000 numbers in [0, 1]: one record moves it by so much. */
static const double moves = 1e-3, budget_epsilon = 1, budget_delta = 1e-6, first_scale = .0105627;
enum { STEPS = 16, CELLS = 100000, LEDGER = 1 << 20 }; /* more cells would prove 2e-4 more */

struct branch {
    const struct mechanism *noise;
    double shift; /* the largest that is accepted behind the first release; 0: none is */
};

/* *accepted: the ledger charged it. */
static sotto_status falsify_ledger_ask(bool *accepted, const char *ledger, const char *mechanism,
                                       double scale)
{
    static const struct sotto_source_records exercise = {.public_set = 1};
    struct sotto_certificate *certificate = NULL;
    float value = .5f;
    const struct sotto_release release = {
        .mechanism = mechanism,
        .scale = scale,
        .target = {NAN, strcmp(mechanism, "laplace") == 0 ? SOTTO_DELTA_PURE : budget_delta},
        .sensitivity = {.l1 = moves, .l2 = moves, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "selftest",
                  .ledger = ledger,
                  .source = &exercise,
                  .purpose = "selftest",
                  .budget = {budget_epsilon, budget_delta}}};
    const sotto_status status = sotto_dp_release(&certificate, &value, 1, &release, NULL);
    sotto_certificate_free(certificate);
    *accepted = status == SOTTO_OK;
    return status == SOTTO_EBUDGET ? SOTTO_OK : status;
}

/* Each question goes to a copy of the ledger behind the first release. Accepted shifts are below refused ones. */
static sotto_status ask_branch(struct branch *b, const char *ledger, const unsigned char *first, size_t size,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double low = 1e-3, high = budget_epsilon;
    for (int i = 0; i < STEPS; i++) {
        const double middle = sqrt(low * high);
        bool accepted;
        TRY(context_check(ctx, "selftest: stopped"));
        (void)unlink(ledger);
        TRY(file_write(ledger, first, size));
        TRY(falsify_ledger_ask(&accepted, ledger, b->noise->name, moves / middle));
        if (accepted)
            b->shift = middle;
        *(accepted ? &low : &high) = middle;
    }
done:
    return status;
}

static double best_of(const struct branch *b, int branches, double x)
{
    double best = 0;
    for (int i = 0; i < branches; i++)
        if (b[i].shift > 0)
            best = fmax(best, b[i].noise->delta(iv(b[i].shift), x).lo);
    return best;
}

/* P(S) - e^epsilon Q(S) of the best S, from below. The first answer y, in deviations, has the loss mu y - mu^2/2; the larger it is, the
 * more the second release can still do, so each cell counts as its lower end does. */
static double falsify_ledger_interaction(const struct branch *b, int branches)
{
    const double mu = moves / first_scale, from = -5, to = (budget_epsilon + mu * mu / 2) / mu;
    double sum = 0, above = normal_cdf(iv(mu - from)).hi;
    for (int i = 0; i < CELLS; i++) {
        const double y = from + (to - from) * i / CELLS, next = from + (to - from) * (i + 1) / CELLS;
        const double rest = normal_cdf(iv(mu - next)).hi;
        sum += fmax(0, above - rest) * best_of(b, branches, budget_epsilon - (mu * y - mu * mu / 2));
        above = rest;
    }
    return sum;
}

static void falsify_ledger_judge(struct checks *c, const struct branch *b)
{
    const double proved = falsify_ledger_interaction(b, 2);
    checks_note(c, falsify_ledger_name, b[0].shift > 0 && proved <= budget_delta,
                "delta(%g) claimed at most %g, proved at least %.5g by a Gaussian of shift %.4g, then by the "
                "answer one of "
                "%.4g or Laplace noise of epsilon %.4g",
                budget_epsilon, budget_delta, proved, moves / first_scale, b[0].shift, b[1].shift);
}

sotto_status falsify_ledger(struct checks *c, const char *folder, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct branch branches[] = {{mechanism_find("gaussian"), 0}, {mechanism_find("laplace"), 0}};
    unsigned char *first = NULL;
    size_t size;
    char ledger[300];
    bool accepted;
    snprintf(ledger, sizeof ledger, "%s/looked.jsonl", folder);
    TRY(falsify_ledger_ask(&accepted, ledger, "gaussian", first_scale));
    if (accepted)
        TRY(file_read(&first, &size, ledger, LEDGER));
    for (int i = 0; i < 2 && accepted; i++)
        TRY(ask_branch(&branches[i], ledger, first, size, ctx));
    falsify_ledger_judge(c, branches);
done:
    (void)unlink(ledger);
    base_free(first);
    return status;
}
