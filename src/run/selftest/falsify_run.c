/* Every claim attacked, every planted bug caught: one budget of false alarms for the whole run. */
#include "selftest/end_to_end.h"
#include "selftest/falsify_ledger.h"
#include "selftest/toys.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double alarm_probability = 1e-6;

/* The name of its check. */
static void name_of(char out[80], const struct toy *toy)
{
    snprintf(out, 80, "%s: %s", toy->noise->name, toy->name);
}

static bool is_wanted(const struct toy *toy, size_t number, const struct sotto_selftest_options *o)
{
    char name[80];
    name_of(name, toy);
    return selftest_wants(o, number, name);
}

/* *wanted: how many of them are asked for; the first is number `first` of the list of all attacks. */
static size_t falsify_run_count(size_t *wanted, bool (*at)(struct toy *, size_t), size_t first,
                                const struct sotto_selftest_options *o)
{
    struct toy toy;
    size_t n = 0;
    for (*wanted = 0; at(&toy, n); n++)
        *wanted += is_wanted(&toy, first + n, o);
    return n;
}

static void falsify_run_note(struct checks *c, const struct toy *toy, const struct falsify_verdict *v,
                             bool wanted)
{
    char name[80], where[48];
    name_of(name, toy);
    if (isnan(v->epsilon))
        snprintf(where, sizeof where, "log-odds ratio");
    else
        snprintf(where, sizeof where, "delta(%.3g)", v->epsilon);
    checks_note(c, name, v->caught == wanted, "%s claimed at most %.5g, proved at least %.5g by '%s'", where,
                v->claimed < 1e-300 ? 0 : v->claimed, v->proved, v->event);
}

sotto_status selftest_falsify(struct checks *c, const char *folder, const struct sotto_selftest_options *o,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char ledger[300];
    snprintf(ledger, sizeof ledger, "%s/ledger.jsonl", folder);
    struct toy_source source = {.ledger = ledger, .ctx = ctx};
    size_t claims, bugs, right = falsify_run_count(&claims, toy_at, 0, o),
                         wrong = falsify_run_count(&bugs, toy_planted, right, o);
    const size_t looked = right + wrong; /* number of the attack on a budget; the program's are behind it */
    const size_t releases = o->program ? end_to_end_releases(looked + 1, o) : 0;
    const size_t tests = (claims + releases) * FALSIFY_TESTS;
    const struct end_to_end program = {o, folder, looked + 1,
                                       alarm_probability / (double)(tests ? tests : 1)};
    c->group = "falsifier";
    if (selftest_wants(o, looked, falsify_ledger_name))
        TRY(falsify_ledger(c, folder, ctx));
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
        if (!is_wanted(&toy, i, o))
            continue;
        c->group = planted ? "planted bugs" : "falsifier";
        const size_t draws = o->draws > toy.draws ? o->draws : toy.draws;
        TRY(toy_attack(&verdict, &toy, draws, program.error, &source));
        falsify_run_note(c, &toy, &verdict, planted);
    }
    context_progress(ctx, "falsify", right + wrong, right + wrong, "attacks");
    if (o->program)
        TRY(selftest_end_to_end(c, &program, ctx));
    c->found.falsifier_tests = tests;
    c->found.falsifier_alarm = alarm_probability;
    c->found.falsifier_draws = o->draws;
done:
    unlink(ledger);
    return status;
}
