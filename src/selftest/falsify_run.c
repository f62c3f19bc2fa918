/* Every claim attacked, every planted bug caught: one budget of false alarms for the whole run. */
#include "selftest/checks.h"
#include "selftest/toys.h"

#include <stdio.h>
#include <unistd.h>

static const double alarm_probability = 1e-6;

static size_t count(bool (*at)(struct toy *, size_t))
{
    struct toy toy;
    size_t n = 0;
    while (at(&toy, n))
        n++;
    return n;
}

static void note(struct checks *c, const struct toy *toy, const struct falsify_verdict *v, bool wanted)
{
    char name[80], where[48];
    snprintf(name, sizeof name, "%s: %s", toy->noise->name, toy->name);
    if (isnan(v->epsilon))
        snprintf(where, sizeof where, "log-odds ratio");
    else
        snprintf(where, sizeof where, "delta(%.3g)", v->epsilon);
    checks_note(c, name, v->caught == wanted, "%s claimed at most %.5g, proved at least %.5g by '%s'", where,
                v->claimed < 1e-300 ? 0 : v->claimed, v->proved, v->event);
}

sotto_status selftest_falsify(struct checks *c, const char *folder, size_t draws,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char ledger[300];
    snprintf(ledger, sizeof ledger, "%s/ledger.jsonl", folder);
    struct toy_source source = {ledger, false, 0};
    size_t right = count(toy_at), wrong = count(toy_planted), tests = right * FALSIFY_TESTS;
    double error = alarm_probability / (double)tests;
    for (size_t i = 0; i < right + wrong; i++) {
        struct toy toy;
        struct falsify_verdict verdict;
        bool planted = i >= right;
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "selftest: stopped");
        context_progress(ctx, "falsify", i, right + wrong, "attacks");
        if (planted)
            toy_planted(&toy, i - right);
        else
            toy_at(&toy, i);
        c->group = planted ? "planted bugs" : "falsifier";
        TRY(toy_attack(&verdict, &toy, draws, error, &source));
        note(c, &toy, &verdict, planted);
    }
    context_progress(ctx, "falsify", right + wrong, right + wrong, "attacks");
    c->found.falsifier_tests = tests;
    c->found.falsifier_alarm = alarm_probability;
    c->found.falsifier_draws = draws;
done:
    unlink(ledger);
    return status;
}
