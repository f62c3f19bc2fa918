/* Every command on every neighbour, and what an attacker makes of it. */
#include "selftest/end_to_end.h"

#include "base/file.h"
#include "par/par.h"
#include "selftest/attacker.h"
#include "selftest/commands.h"
#include "selftest/falsify.h"
#include "selftest/program.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DETAIL = 200, STDERR = 1 << 16, STOPPED = 130 };

size_t end_to_end_releases(size_t first, const struct sotto_selftest_options *asked)
{
    size_t count = 0;
    for (size_t i = 0; release_row(i); i++)
        count += selftest_wants(asked, first + i, release_row(i)->name);
    return count;
}

/* ---- one command ---- */

static size_t end_to_end_charges(const char *folder)
{
    char path[PROGRAM_PATH];
    unsigned char *data = NULL;
    size_t size, count = 0;
    snprintf(path, sizeof path, "%s/home/sotto/ledger/toy.jsonl", folder);
    if (file_exists(path) && file_read(&data, &size, path, 1 << 20) == SOTTO_OK)
        for (const char *at = (char *)data; (at = strstr(at, "\"event\":\"re")); at++)
            count += strncmp(at + 11, "lease\"", 6) == 0 || strncmp(at + 11, "serve\"", 6) == 0;
    base_free(data);
    return count;
}

/* Until it has charged the ledger; a minute at most. */
static void let_charge(const char *folder)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    for (int i = 0; i < 6000 && end_to_end_charges(folder) == 0; i++)
        nanosleep(&moment, NULL);
}

/* Runs it to its end; `sets` as in program_start(). */
static sotto_status end_to_end_run(int *code, const struct end_to_end *e, const char *line,
                                   const char *folder, const char *sets)
{
    pid_t process;
    if (attacker_runs(line))
        return attacker_run(code, line, folder);
    const bool by_hand = strncmp(line, STOPPED_BY_HAND, strlen(STOPPED_BY_HAND)) == 0;
    line += by_hand ? strlen(STOPPED_BY_HAND) : 0;
    sotto_status status = program_start(&process, e->asked->program, line, folder, sets);
    if (status == SOTTO_OK && by_hand) {
        let_charge(folder);
        kill(process, SIGINT);
    }
    return status == SOTTO_OK ? program_end(code, process) : status;
}

static bool is_several(const char *lines)
{
    return strstr(lines, "; ") != NULL;
}

/* One after the other, up to the first that fails. */
static sotto_status run_all(int *code, const struct end_to_end *e, const char *lines, const char *folder,
                            const char *sets)
{
    sotto_status status = SOTTO_OK;
    char line[2048];
    *code = 0;
    while (lines && status == SOTTO_OK && *code == 0) {
        const char *next = strstr(lines, "; ");
        snprintf(line, sizeof line, "%.*s", next ? (int)(next - lines) : (int)strlen(lines), lines);
        status = end_to_end_run(code, e, line, folder, sets);
        lines = next ? next + 2 : NULL;
    }
    return status;
}

/* The first line of what a failed command said. */
static void end_to_end_complaint(char out[DETAIL], const char *line, const char *folder)
{
    char path[PROGRAM_PATH];
    unsigned char *data = NULL;
    size_t size;
    if (path_join(path, sizeof path, folder, "stderr") == SOTTO_OK &&
        file_read(&data, &size, path, STDERR) == SOTTO_OK)
        snprintf(out, DETAIL, "%.*s", (int)strcspn((char *)data, "\n"), (char *)data);
    else
        snprintf(out, DETAIL, "%s", line);
    base_free(data);
}

/* ---- releases ---- */

struct release_attack {
    const struct end_to_end *e;
    const struct release_row *row;
    const struct sotto_context *ctx;
    char folder[PROGRAM_PATH / 2]; /* holds a folder for each variant */
    struct outcome first;          /* on the first variant: what all others must look like */
    double *values[2];             /* (runs, width) of the pair */
    double epsilon, delta;
};

static void world_path(char out[PROGRAM_PATH], const struct release_attack *a, int variant, const char *name)
{
    snprintf(out, PROGRAM_PATH, "%s/%d/%s", a->folder, variant, name);
}

/* Files and what is not private, in every world. EGATE: a command failed. */
static sotto_status end_to_end_prepare(struct release_attack *a, int variant)
{
    sotto_status status = SOTTO_OK;
    char world[PROGRAM_PATH], prepared[PROGRAM_PATH], sets[PROGRAM_PATH], why[DETAIL];
    int code;
    world_path(world, a, variant, ".");
    world_path(prepared, a, variant, "prepared");
    world_path(sets, a, variant, "sets");
    TRY(neighbours_write(a->row->files, variant, world));
    for (int i = 0; i < COMMAND_STEPS && a->row->prepare[i]; i++) {
        TRY(end_to_end_run(&code, a->e, a->row->prepare[i], prepared, sets));
        if (code != 0) {
            end_to_end_complaint(why, a->row->prepare[i], prepared);
            FAIL(SOTTO_EGATE, "%s", why);
        }
    }
done:
    return status;
}

/* One run; its folder is left. */
static sotto_status end_to_end_observe(struct outcome *out, char folder[PROGRAM_PATH],
                                       const struct release_attack *a, int variant, size_t number)
{
    char sets[PROGRAM_PATH], name[32];
    int code;
    snprintf(name, sizeof name, "run%06zu", number);
    world_path(folder, a, variant, name);
    world_path(sets, a, variant, "sets");
    sotto_status status = run_all(&code, a->e, a->row->command, folder, sets);
    if (status == SOTTO_OK)
        status = outcome_read(out, folder, code, a->row->noisy, is_several(a->row->command));
    return status;
}

/* The epsilon that is attacked: proved, or conditional on what is true here. */
static sotto_status read_claim(struct release_attack *a, const char *folder)
{
    sotto_status status = SOTTO_OK;
    char path[PROGRAM_PATH + 64];
    a->epsilon = a->row->epsilon;
    a->delta = a->row->delta;
    if (a->epsilon > 0)
        return SOTTO_OK;
    snprintf(path, sizeof path, "%s/%s.certificate.json", folder, a->row->noisy);
    TRY(certificate_claim(&a->epsilon, &a->delta, path));
    if (!(a->epsilon > 0))
        FAIL(SOTTO_EFORMAT, "%s: the certificate has no epsilon", path);
done:
    return status;
}

/* What all others are compared with. EGATE: the command failed. */
static sotto_status observe_first(struct release_attack *a)
{
    sotto_status status = SOTTO_OK;
    char folder[PROGRAM_PATH];
    TRY(end_to_end_observe(&a->first, folder, a, 0, 0));
    if (a->first.width == 0)
        FAIL(SOTTO_EGATE, "there are no noisy values; %.150s", a->first.facts);
    TRY(read_claim(a, folder));
done:
    folder_remove(folder);
    return status;
}

/* One of the runs: the odd variants first, then the pair in turns. */
static sotto_status attack_once(void *state, size_t number, int thread)
{
    sotto_status status = SOTTO_OK;
    struct release_attack *a = state;
    struct outcome o = {0};
    char text[DETAIL], folder[PROGRAM_PATH];
    size_t odd = (size_t)neighbours_count(a->row->files) - 2;
    int variant = number < odd ? 2 + (int)number : (int)((number - odd) % 2);
    (void)thread;
    if (context_stopped(a->ctx))
        return status_fail(SOTTO_ESTOPPED, "selftest: stopped");
    TRY(end_to_end_observe(&o, folder, a, variant, number + 1));
    if (outcome_differs(text, sizeof text, &a->first, &o))
        FAIL(SOTTO_EGATE, "neighbour %d of %d: %s", variant, neighbours_count(a->row->files), text);
    if (number >= odd)
        memcpy(a->values[variant] + (number - odd) / 2 * (size_t)o.width, o.values,
               (size_t)o.width * sizeof *o.values);
done:
    folder_remove(folder);
    outcome_clear(&o);
    return status;
}

static size_t runs_of(const struct release_attack *a)
{
    const size_t runs = a->e->asked->runs;
    return a->row->share ? (runs + a->row->share - 1) / a->row->share : runs;
}

/* delta(0) is the most that the advantage of any classifier, true less false positives, can be. */
static double end_to_end_advantage(double epsilon, double delta)
{
    return (expm1(epsilon) + 2 * delta) / (exp(epsilon) + 1);
}

static sotto_status attack_values(struct checks *c, const struct release_attack *a)
{
    const struct falsify_outputs outputs = {{a->values[0], a->values[1]}, runs_of(a), a->first.width};
    double most = end_to_end_advantage(a->epsilon, a->delta);
    struct falsify_claim claim = {.delta = {most}, .log_odds = NAN};
    struct falsify_verdict v;
    for (int i = 1; i < FALSIFY_EPSILONS; i++) {
        claim.epsilon[i] = a->epsilon;
        claim.delta[i] = a->delta;
    }
    sotto_status status = falsify(&v, &outputs, &claim, a->e->error);
    if (status == SOTTO_OK)
        checks_note(
            c, a->row->name, !v.caught,
            "epsilon %.4g, delta %.3g; a classifier's %s claimed at most %.4g, proved at least %.3g by '%s'",
            a->epsilon, a->delta, v.epsilon > 0 ? "delta(epsilon)" : "advantage", v.claimed, v.proved,
            v.event);
    return status;
}

static sotto_status look_at(struct checks *c, struct release_attack *a)
{
    sotto_status status = SOTTO_OK;
    int variants = neighbours_count(a->row->files);
    for (int v = 0; v < variants; v++)
        TRY(end_to_end_prepare(a, v));
    TRY(observe_first(a));
    for (int w = 0; w < 2; w++)
        NEW(a->values[w], runs_of(a) * (size_t)a->first.width);
    TRY(par_chunks((size_t)variants - 2 + 2 * runs_of(a), par_threads(a->ctx), attack_once, a));
    TRY(attack_values(c, a));
done:
    return status;
}

static sotto_status attack_release(struct checks *c, const struct end_to_end *e,
                                   const struct release_row *row, const struct sotto_context *ctx)
{
    struct release_attack a = {.e = e, .row = row, .ctx = ctx};
    snprintf(a.folder, sizeof a.folder, "%s/release", e->folder);
    sotto_status status = look_at(c, &a);
    if (status != SOTTO_OK && status != SOTTO_ESTOPPED && status != SOTTO_ENOMEM) {
        checks_note(c, row->name, false, "%s", sotto_error_text());
        status = SOTTO_OK;
    }
    folder_remove(a.folder);
    outcome_clear(&a.first);
    base_free(a.values[0]);
    base_free(a.values[1]);
    return status;
}

/* ---- rules ---- */

static bool stands_as_conditional(const char *folder, const char *certificate)
{
    char path[PROGRAM_PATH];
    return path_join(path, sizeof path, folder, certificate) == SOTTO_OK && certificate_is_conditional(path);
}

static sotto_status check_rule(struct checks *c, const struct end_to_end *e, const struct rule_row *row)
{
    sotto_status status = SOTTO_OK;
    char world[PROGRAM_PATH / 2], folder[PROGRAM_PATH], detail[DETAIL] = "";
    int code = 0;
    size_t before = 0;
    snprintf(world, sizeof world, "%s/rule", e->folder);
    snprintf(folder, sizeof folder, "%s/steps", world);
    TRY(neighbours_write(row->files, 1, world)); /* not all records are alike: order and repeats show */
    for (int i = 0; i < COMMAND_STEPS && row->steps[i] && (code == 0 || code == STOPPED); i++) {
        before = end_to_end_charges(folder);
        TRY(end_to_end_run(&code, e, row->steps[i], folder, NULL));
        end_to_end_complaint(detail, row->steps[i], folder);
    }
    size_t charged = end_to_end_charges(folder) - before;
    bool kept = code == row->code && (code == 0 || charged == 0) &&
                (!row->conditional || stands_as_conditional(folder, row->conditional));
    checks_note(c, row->name, kept, "exit code %d, expected %d; %zu charges%s%s%s", code, row->code, charged,
                row->conditional ? "; the certificate must say conditional" : "", kept ? "" : "; ",
                kept ? "" : detail);
done:
    folder_remove(world);
    return status;
}

sotto_status selftest_end_to_end(struct checks *c, const struct end_to_end *e,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t releases = 0, rules = 0;
    while (release_row(releases))
        releases++;
    while (rule_row(rules))
        rules++;
    c->group = "end to end";
    for (size_t i = 0; i < releases + rules; i++) {
        context_progress(ctx, "end to end", i, releases + rules, "commands");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "selftest: stopped");
        const struct release_row *release = i < releases ? release_row(i) : NULL;
        const struct rule_row *rule = i < releases ? NULL : rule_row(i - releases);
        if (!selftest_wants(e->asked, e->first + i, release ? release->name : rule->name))
            continue;
        if (release)
            TRY(attack_release(c, e, release, ctx));
        else
            TRY(check_rule(c, e, rule));
    }
    context_progress(ctx, "end to end", releases + rules, releases + rules, "commands");
done:
    return status;
}
