/* What a charge takes with a ledger of many releases, in milliseconds of processor time: opening and checking the ledger, the budget and the entry. Left out are
 * fsync, which waits for the disk (it is a function of this program here), and the account of the release itself. */
#include "base/file.h"
#include "dp/account/accountant.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_plan.h"
#include "sotto/sotto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
    (void)fd;
    return 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static const struct sotto_source_records nobody = {.public_set = 1};

static void require(sotto_status status)
{
    if (status == SOTTO_OK)
        return;
    fprintf(stderr, "%s\n", sotto_error_text());
    exit(1);
}

/* ---- releases, of which the one with the number i has noise of its own ---- */

enum kind { LAPLACE, GAUSSIAN, RUN, SETTLED, PLAN, LARGE_PLAN, KINDS };
static const char *const names[] = {"laplace", "gaussian", "run", "settled run", "plan", "large plan"};
static const struct privacy_unit unit = {0};
static const char exact[] = "exact: floor of the continuous law on a power-of-two lattice";

static double scale_of(size_t i)
{
    return 1000 + (double)i / 7;
}

static void enter(struct charge *c, const struct charge_entry *entry)
{
    struct charge_entry e = *entry;
    e.dataset_id = "bench";
    e.records = 1000;
    e.unit = &unit;
    e.sampler = exact;
    e.randomness = "os";
    require(charge_enter(c, &e, NULL));
}

static void release(struct charge *c, const struct sotto_account *account)
{
    const struct sotto_sensitivity s = {
        .l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED, .dimension = 4};
    static unsigned number;
    char nonce[65], input[65];
    snprintf(nonce, sizeof nonce, "%064x", ++number);
    snprintf(input, sizeof input, "%064x", number);
    enter(c, &(struct charge_entry){.event = LEDGER_RELEASE,
                                    .input_sha256 = input,
                                    .input_nonce = nonce,
                                    .sensitivity = &s,
                                    .account = account,
                                    .dimension = 4});
}

static struct sotto_sampled steps_of(size_t i, size_t steps)
{
    return (struct sotto_sampled){.mechanism = "gaussian",
                                  .noise_multiplier = scale_of(i),
                                  .sample_rate = 0.01,
                                  .steps = steps,
                                  .delta = 1e-6,
                                  .adjacency = SOTTO_REPLACE_ONE};
}

static void reserve(struct charge *c, size_t i, const struct sotto_account *account)
{
    const struct sotto_sensitivity s = {.l1 = NAN, .l2 = 1, .source = SOTTO_SENSITIVITY_CLIPPED};
    const struct dpsgd_facts facts = {.mechanism = "gaussian",
                                      .scale = scale_of(i),
                                      .max_grad_norm = 1,
                                      .sample_rate = 0.01,
                                      .dimension = 4,
                                      .clipping = SOTTO_NORM_L2,
                                      .lattice_exponent = -20};
    static unsigned number;
    char id[RUN_ID + 1];
    snprintf(id, sizeof id, "%032x", ++number);
    enter(c, &(struct charge_entry){.event = LEDGER_RESERVE,
                                    .sensitivity = &s,
                                    .account = account,
                                    .run = id,
                                    .facts = &facts,
                                    .steps = 2});
}

/* As reserve.c does. */
static void settle(struct ledger *l, size_t i)
{
    const struct ledger_item *reserved = &l->items[l->charges - 1];
    const struct sotto_sampled one = steps_of(i, 1);
    struct ledger_settlement settlement = {.run = reserved->run, .entry = reserved->hash, .steps = 1};
    struct ledger_item settled = *reserved;
    struct sotto_account account;
    struct ledger_line parsed;
    struct admission admission;
    char *line;
    require(sotto_account_sampled(&account, &one, NULL));
    require(ledger_settlement_encode(&line, &settlement, &account, NULL));
    require(ledger_line_parse(&parsed, line, strlen(line), "line"));
    const struct ledger_charge numbers = ledger_line_charge(&parsed);
    ledger_item_settle(&settled, &numbers);
    require(ledger_admit_settled(&admission, reserved, &settled, NULL));
    sotto_text_free(line);
    require(ledger_settlement_encode(&line, &settlement, &account, &admission));
    require(ledger_append(l, line));
    sotto_text_free(line);
    ledger_line_free(&parsed);
}

static struct sotto_account account_of(enum kind kind, size_t i, struct event_list *plan)
{
    const struct sotto_sensitivity s = {
        .l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED, .dimension = 4};
    const struct sotto_sampled two = steps_of(i, 2);
    struct sotto_account account;
    if (kind >= PLAN) {
        for (size_t k = 0; k < plan->count; k++)
            plan->events[k] = (struct sotto_event){.mechanism = "laplace",
                                                   .count = 2,
                                                   .scale = scale_of(i) * (double)(4 + k),
                                                   .l1 = 1,
                                                   .l2 = NAN,
                                                   .dimension = 4,
                                                   .adjacency = SOTTO_REPLACE_ONE};
        require(plan_prepare(plan, &unit));
        require(sotto_account_events(&account, plan->events, plan->count, 0, SOTTO_REPLACE_ONE, NULL));
    } else if (kind == RUN || kind == SETTLED) {
        require(sotto_account_sampled(&account, &two, NULL));
    } else {
        require(sotto_account_release(&account, names[kind], scale_of(i), &s, kind == LAPLACE ? 0 : 1e-6, 1,
                                      NULL));
    }
    return account;
}

static void charge(struct charge *c, enum kind kind, size_t i, const struct sotto_account *account,
                   const struct event_list *plan)
{
    if (kind >= PLAN)
        enter(c, &(struct charge_entry){.event = LEDGER_PLAN, .account = account, .plan = plan});
    else if (kind == RUN || kind == SETTLED)
        reserve(c, i, account);
    else
        release(c, account);
    if (kind == SETTLED)
        settle(&c->ledgers[0], i);
}

/* ---- what one takes ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of RUNS charges to a ledger of so many releases. */
static double median(enum kind kind, size_t entries, bool budget, bool alike)
{
    enum { RUNS = 21 };
    char folder[] = "/tmp/sotto-bench-XXXXXX", path[64], command[128], *first;
    struct sotto_event events[3];
    struct event_list plan = {events, 1 + 2 * (kind == LARGE_PLAN)};
    struct charge c = {.lock = {.fd = -1}};
    double ms[RUNS];
    if (!mkdtemp(folder))
        exit(1);
    snprintf(path, sizeof path, "%s/l.jsonl", folder);
    setenv("XDG_DATA_HOME", folder, 1);
    if (budget) {
        require(sotto_ledger_init(&first, "bench", path, (struct sotto_dp){10, 1e-2}, NULL, &nobody, NULL));
        sotto_text_free(first);
    }
    require(charge_open(&c, "bench", path, &nobody, NULL));
    for (size_t i = 0; i < entries; i++) {
        const struct sotto_account account = account_of(kind, alike ? 0 : i, &plan);
        charge(&c, kind, alike ? 0 : i, &account, &plan);
    }
    charge_close(&c);
    for (size_t i = 0; i < RUNS; i++) {
        const struct sotto_account account = account_of(kind, alike ? 0 : entries + i, &plan);
        const double start = now();
        require(charge_open(&c, "bench", path, &nobody, NULL));
        charge(&c, kind == SETTLED ? RUN : kind, alike ? 0 : entries + i, &account, &plan);
        charge_close(&c);
        ms[i] = now() - start;
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        exit(1);
    qsort(ms, RUNS, sizeof *ms, ascending);
    return ms[RUNS / 2];
}

/* bench_charge [RELEASES [KIND]]. A charge to a ledger of one release tells what its own account takes, and any charge; the first runs take
 * more of it than later ones, which find less room for failures. */
int main(int argc, char **argv)
{
    const size_t entries = argc > 1 ? (size_t)atol(argv[1]) : 1000;
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < 4; way++) {
            const bool budget = way % 2 == 0, alike = way / 2 == 1;
            if (argc > 2 && strcmp(argv[2], names[kind]) != 0)
                continue;
            const double all = median((enum kind)kind, entries, budget, alike),
                         own = median((enum kind)kind, 1, budget, alike);
            printf("%-11s %-9s %-9s %6.2f ms (to a ledger of one: %.2f)\n", names[kind],
                   alike ? "alike" : "different", budget ? "budget" : "no budget", all, own);
            fflush(stdout);
        }
    return 0;
}
