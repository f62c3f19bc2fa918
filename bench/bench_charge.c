/* What a charge takes with a ledger of many releases, in milliseconds of processor time: opening and checking the ledger, the budget and the
 * entry. Left out are fsync, which waits for the disk (it is a function of this program here), and the account of the release itself: the
 * epsilon that it comes with is known before the clock starts, and what it asks of the columns (ledger_check_budget()) is timed by itself, on
 * the same ledger, and taken off. */
#include "base/file.h"
#include "dp/account/accountant.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_account.h"
#include "dp/ledger/ledger_columns.h"
#include "dp/ledger/ledger_plan.h"
#include "sotto/private/all.h"

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

/* What is done with an entry. */
typedef void deed(void *state, struct charge *c, const struct charge_entry *entry);
struct way {
    deed *act;
    void *state;
};

static void complete(const struct way *way, struct charge *c, const struct charge_entry *entry)
{
    struct charge_entry e = *entry;
    e.dataset_id = "bench";
    e.records = 1000;
    e.unit = &unit;
    e.sampler = exact;
    e.randomness = "os";
    e.source = &nobody;
    way->act(way->state, c, &e);
}

static void enter(void *state, struct charge *c, const struct charge_entry *entry)
{
    (void)state;
    require(charge_enter(c, entry, NULL));
}

static void admit(struct admission *out, struct charge *c, const struct charge_entry *entry)
{
    struct ledger_line parsed;
    char *line;
    require(charge_entry_encode(&line, entry));
    require(ledger_line_parse(&parsed, line, strlen(line), "line"));
    if (entry->plan)
        require(ledger_line_plan(&parsed, "line"));
    const struct ledger_charge charge = ledger_line_charge(&parsed);
    require(ledger_check_budget(out, &c->ledgers[0], entry->account, &charge));
    ledger_line_free(&parsed);
    sotto_text_free(line);
}

/* The account that is left out: state is where its time goes. */
static void account_alone(void *state, struct charge *c, const struct charge_entry *entry)
{
    struct admission made;
    const double start = now();
    admit(&made, c, entry);
    *(double *)state = now() - start;
}

static void release(const struct way *way, struct charge *c, const struct sotto_account *account)
{
    const struct sotto_sensitivity s = {
        .l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED, .dimension = 4};
    static unsigned number;
    char nonce[65], input[65];
    snprintf(nonce, sizeof nonce, "%064x", ++number);
    snprintf(input, sizeof input, "%064x", number);
    complete(way, c,
             &(struct charge_entry){.event = LEDGER_RELEASE,
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

static void reserve(const struct way *way, struct charge *c, size_t i, const struct sotto_account *account)
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
    complete(way, c,
             &(struct charge_entry){.event = LEDGER_RESERVE,
                                    .sensitivity = &s,
                                    .account = account,
                                    .run = id,
                                    .facts = &facts,
                                    .steps = 2});
}

/* What equal charges share: those of one noise, or of a little more of it. */
struct shared {
    struct sotto_account account, fewer; /* of the release, and of a run that stopped after a step */
    struct admission taken, settled;
    bool admitted, stopped;
};

static bool still_fits(const struct ledger *l, const struct any_order *a)
{
    struct adaptive_columns with = l->columns;
    return adaptive_columns_take(&with, a->offer, a->offers, a->took);
}

static void append_shared(void *state, struct charge *c, const struct charge_entry *entry)
{
    struct shared *s = state;
    struct charge_entry e = *entry;
    char *line;
    if (!s->admitted)
        admit(&s->taken, c, entry);
    e.admission = &s->taken;
    require(charge_entry_encode(&line, &e));
    require(ledger_append_charge(&c->ledgers[0], line));
    sotto_text_free(line);
    s->taken.opens = false; /* the first of them has opened the columns */
    s->admitted = true;
}

/* As reserve.c does. */
static void stop(struct shared *s, const struct ledger_item *reserved,
                 const struct ledger_settlement *settlement, size_t i)
{
    const struct sotto_sampled one = steps_of(i, 1);
    struct ledger_item settled = *reserved;
    struct ledger_line parsed;
    char *line;
    require(sotto_account_sampled(&s->fewer, &one, NULL));
    require(ledger_settlement_encode(&line, settlement, &s->fewer, NULL));
    require(ledger_line_parse(&parsed, line, strlen(line), "line"));
    const struct ledger_charge numbers = ledger_line_charge(&parsed);
    ledger_item_settle(&settled, &numbers);
    require(ledger_admit_settled(&s->settled, reserved, &settled, NULL));
    sotto_text_free(line);
    ledger_line_free(&parsed);
    s->stopped = true;
}

static void settle(struct shared *s, struct ledger *l, size_t i)
{
    const struct ledger_item *reserved = &l->items[l->charges - 1];
    const struct ledger_settlement settlement = {.run = reserved->run, .entry = reserved->hash, .steps = 1};
    char *line;
    if (!s->stopped)
        stop(s, reserved, &settlement, i);
    require(ledger_settlement_encode(&line, &settlement, &s->fewer, &s->settled));
    require(ledger_append(l, line));
    sotto_text_free(line);
}

static void plan_of(struct event_list *plan, size_t i)
{
    for (size_t k = 0; k < plan->count; k++)
        plan->events[k] = (struct sotto_event){.mechanism = "laplace",
                                               .count = 2,
                                               .scale = scale_of(i) * (double)(4 + k),
                                               .l1 = 1,
                                               .l2 = NAN,
                                               .dimension = 4,
                                               .adjacency = SOTTO_REPLACE_ONE};
    require(plan_prepare(plan, &unit));
}

static struct sotto_account account_of(enum kind kind, size_t i, struct event_list *plan)
{
    const struct sotto_sensitivity s = {
        .l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED, .dimension = 4};
    const struct sotto_sampled two = steps_of(i, 2);
    struct sotto_account account;
    if (kind >= PLAN) {
        plan_of(plan, i);
        require(sotto_account_events(&account, plan->events, plan->count, 0, SOTTO_REPLACE_ONE, NULL));
    } else if (kind == RUN || kind == SETTLED) {
        require(sotto_account_sampled(&account, &two, NULL));
    } else {
        require(sotto_account_release(&account, names[kind], scale_of(i), &s, kind == LAPLACE ? 0 : 1e-6, 1,
                                      NULL));
    }
    return account;
}

static void charge(const struct way *way, struct charge *c, enum kind kind, size_t i,
                   const struct sotto_account *account, const struct event_list *plan)
{
    if (kind >= PLAN)
        complete(way, c, &(struct charge_entry){.event = LEDGER_PLAN, .account = account, .plan = plan});
    else if (kind == RUN || kind == SETTLED)
        reserve(way, c, i, account);
    else
        release(way, c, account);
}

/* ---- what one takes ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bench {
    enum kind kind;
    size_t entries;
    bool budget, alike;
    struct event_list plan;
    char path[64];
};

/* Accounts of runs and plans take long: so many of their lines in a row differ in their noise alone. */
enum { LINES = 10, CHARGES = 21 };

static void fill(struct bench *b)
{
    struct charge c = {.lock = {.fd = -1}};
    struct shared shared = {.admitted = false};
    const size_t each = b->kind > GAUSSIAN ? LINES : b->alike ? b->entries : 1;
    const struct way way = {append_shared, &shared};
    char *first;
    if (b->budget) {
        require(
            sotto_ledger_init(&first, "bench", b->path, (struct sotto_dp){10, 1e-2}, NULL, &nobody, NULL));
        sotto_text_free(first);
    }
    require(charge_open(&c, "bench", b->path, &nobody, NULL));
    for (size_t i = 0; i < b->entries; i++) {
        if (i % each == 0 || !still_fits(&c.ledgers[0], &shared.taken.any_order))
            shared = (struct shared){.account = account_of(b->kind, b->alike ? 0 : i, &b->plan)};
        if (b->kind >= PLAN)
            plan_of(&b->plan, b->alike ? 0 : i);
        charge(&way, &c, b->kind, b->alike ? 0 : i, &shared.account, &b->plan);
        if (b->kind == SETTLED)
            settle(&shared, &c.ledgers[0], b->alike ? 0 : i);
    }
    charge_close(&c);
}

/* One more charge: the account's time and the rest. */
static void take(double *own, double *rest, struct bench *b, size_t i)
{
    struct charge c = {.lock = {.fd = -1}};
    const enum kind kind = b->kind == SETTLED ? RUN : b->kind;
    const struct sotto_account account = account_of(kind, i, &b->plan);
    require(charge_open(&c, "bench", b->path, &nobody, NULL));
    charge(&(struct way){account_alone, own}, &c, kind, i, &account, &b->plan);
    charge_close(&c);
    const double start = now();
    require(charge_open(&c, "bench", b->path, &nobody, NULL));
    charge(&(struct way){enter, NULL}, &c, kind, i, &account, &b->plan);
    charge_close(&c);
    *rest = now() - start - *own;
}

static void measure(struct bench *b)
{
    char folder[] = "/tmp/sotto-bench-XXXXXX", command[128];
    struct sotto_event events[3];
    double own[CHARGES], rest[CHARGES];
    b->plan = (struct event_list){events, 1 + 2 * (b->kind == LARGE_PLAN)};
    if (!mkdtemp(folder))
        exit(1);
    snprintf(b->path, sizeof b->path, "%s/l.jsonl", folder);
    setenv("XDG_DATA_HOME", folder, 1);
    fill(b);
    for (size_t i = 0; i < CHARGES; i++)
        take(&own[i], &rest[i], b, b->alike ? 0 : b->entries + i);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        exit(1);
    qsort(own, CHARGES, sizeof *own, ascending);
    qsort(rest, CHARGES, sizeof *rest, ascending);
    printf("%-11s %-9s %-9s %6.2f ms (%.2f to %.2f), its own account %.2f\n", names[b->kind],
           b->alike ? "alike" : "different", b->budget ? "budget" : "no budget", rest[CHARGES / 2],
           rest[CHARGES / 4], rest[CHARGES * 3 / 4], own[CHARGES / 2]);
    fflush(stdout);
}

/* bench_charge [RELEASES [KIND]]: medians and quartiles of 21 charges to a ledger of so many. A settled run is two lines of it. */
int main(int argc, char **argv)
{
    const size_t entries = argc > 1 ? (size_t)atol(argv[1]) : 1000;
    for (int kind = 0; kind < KINDS; kind++)
        for (int way = 0; way < 3; way++)
            if (argc <= 2 || strcmp(argv[2], names[kind]) == 0)
                measure(&(struct bench){
                    .kind = (enum kind)kind, .entries = entries, .budget = way % 2 == 0, .alike = way == 2});
    return 0;
}
