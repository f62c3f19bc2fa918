/* account_memo.c - trainings of tests ask for the same account again and again: at each reservation, and when a
 * certificate is verified; every charge asks for the columns of its ledger. The linker sends their questions here (--wrap in cmake/tests.cmake), and the real functions
 * answer each one once a process. In the program that tests accounts it is off until a test asks for it. */
#include "support/account_memo.h"
#include "dp/account/account_pld.h"
#include "dp/account/adaptive.h"
#include "dp/account/event_part.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KEPT = 64, POINTS = 256 };

struct question {
    char items[256]; /* as text, doubles in hexadecimal */
    double delta;    /* of account_pld(); below 0: of account_pld_end() */
    double epsilon[POINTS];
    size_t n; /* of account_pld_deltas(), else 0 */
};

static struct kept {
    struct question question;
    struct interval epsilon;
    double delta[POINTS];
} kept[KEPT];

#ifndef ACCOUNT_MEMO_OFF
#define ACCOUNT_MEMO_OFF 0
#endif
static bool off = ACCOUNT_MEMO_OFF;

void remember_accounts(void)
{
    off = false;
}

static size_t known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* False: too long a question for this page. */
static bool ask(struct question *q, const struct composed_release *items, size_t count, double delta,
                const double *epsilon, size_t n)
{
    memset(q, 0, sizeof *q);
    if (off || count != 1 || n > POINTS)
        return false;
    const int length = snprintf(q->items, sizeof q->items, "%s %a %a %d %a %d %zu %d %zu", items->mechanism,
                                items->shift.lo, items->shift.hi, (int)items->norm, items->rate,
                                items->replace_one, items->count, (int)items->sampling, items->rows);
    q->delta = delta;
    q->n = n;
    if (n > 0)
        memcpy(q->epsilon, epsilon, n * sizeof *epsilon);
    return length > 0 && (size_t)length < sizeof q->items;
}

static bool recall(struct kept *found, const struct question *q)
{
    bool is_known = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < known && !is_known; i++)
        if (memcmp(&kept[i].question, q, sizeof *q) == 0) {
            *found = kept[i];
            is_known = true;
        }
    pthread_mutex_unlock(&lock);
    return is_known;
}

static void keep(const struct kept *answer)
{
    pthread_mutex_lock(&lock);
    if (known < KEPT)
        kept[known++] = *answer;
    pthread_mutex_unlock(&lock);
}

sotto_status __real_account_pld(struct interval *epsilon, const struct composed_release *items, size_t count,
                                double delta, const struct sotto_context *ctx);
sotto_status __wrap_account_pld(struct interval *epsilon, const struct composed_release *items, size_t count,
                                double delta, const struct sotto_context *ctx)
{
    struct kept answer;
    const bool fits = ask(&answer.question, items, count, delta, NULL, 0);
    if (fits && recall(&answer, &answer.question)) {
        *epsilon = answer.epsilon;
        return SOTTO_OK;
    }
    const sotto_status status = __real_account_pld(epsilon, items, count, delta, ctx);
    if (fits && status == SOTTO_OK) {
        answer.epsilon = *epsilon;
        keep(&answer);
    }
    return status;
}

sotto_status __real_account_pld_end(double *end, const struct composed_release *items, size_t count,
                                    double delta, const struct sotto_context *ctx);
sotto_status __wrap_account_pld_end(double *end, const struct composed_release *items, size_t count,
                                    double delta, const struct sotto_context *ctx)
{
    struct kept answer;
    const bool fits = ask(&answer.question, items, count, -delta, NULL, 0);
    if (fits && recall(&answer, &answer.question)) {
        *end = answer.epsilon.hi;
        return SOTTO_OK;
    }
    const sotto_status status = __real_account_pld_end(end, items, count, delta, ctx);
    if (fits && status == SOTTO_OK) {
        answer.epsilon.hi = *end;
        keep(&answer);
    }
    return status;
}

sotto_status __real_account_pld_deltas(double *delta, const double *epsilon, size_t n,
                                       const struct composed_release *items, size_t count,
                                       const struct sotto_context *ctx);
sotto_status __wrap_account_pld_deltas(double *delta, const double *epsilon, size_t n,
                                       const struct composed_release *items, size_t count,
                                       const struct sotto_context *ctx)
{
    struct kept answer;
    const bool fits = n > 0 && ask(&answer.question, items, count, 0, epsilon, n);
    if (fits && recall(&answer, &answer.question)) {
        memcpy(delta, answer.delta, n * sizeof *delta);
        return SOTTO_OK;
    }
    const sotto_status status = __real_account_pld_deltas(delta, epsilon, n, items, count, ctx);
    if (fits && status == SOTTO_OK) {
        memcpy(answer.delta, delta, n * sizeof *delta);
        keep(&answer);
    }
    return status;
}

static struct column {
    double question[4], square;
} columns[KEPT];
static size_t columns_known;

double __real_adaptive_column(double epsilon, double delta, double pure, double failure);
double __wrap_adaptive_column(double epsilon, double delta, double pure, double failure)
{
    struct column c = {.question = {epsilon, delta, pure, failure}};
    bool is_known = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; !off && i < columns_known && !is_known; i++)
        if (memcmp(columns[i].question, c.question, sizeof c.question) == 0) {
            c = columns[i];
            is_known = true;
        }
    pthread_mutex_unlock(&lock);
    if (is_known)
        return c.square;
    c.square = __real_adaptive_column(epsilon, delta, pure, failure);
    pthread_mutex_lock(&lock);
    if (!off && columns_known < KEPT)
        columns[columns_known++] = c;
    pthread_mutex_unlock(&lock);
    return c.square;
}

/* What one noise is offered at: laws of tables of ours, so their places stand for them. */
static struct orders {
    const struct mechanism *mechanism;
    struct sensitivity_ratio shifts;
    double count, delta, end;
    struct renyi_orders orders;
} orders[KEPT];
static size_t orders_known;

static bool is_of(const struct orders *o, const struct part *p, double delta)
{
    return o->mechanism == p->m && memcmp(&o->shifts, &p->shifts, sizeof o->shifts) == 0 &&
           o->count == p->count && o->delta == delta;
}

double __real_part_renyi_orders(struct renyi_orders *out, const struct part *p, double delta,
                                const struct sotto_context *ctx);
double __wrap_part_renyi_orders(struct renyi_orders *out, const struct part *p, double delta,
                                const struct sotto_context *ctx)
{
    const bool fits = !off && p->kind == PART_NOISE && !ctx; /* without one, nothing stops it */
    double end = NAN;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; fits && i < orders_known && isnan(end); i++)
        if (is_of(&orders[i], p, delta)) {
            *out = orders[i].orders;
            end = orders[i].end;
        }
    pthread_mutex_unlock(&lock);
    if (!isnan(end))
        return end;
    end = __real_part_renyi_orders(out, p, delta, ctx);
    pthread_mutex_lock(&lock);
    if (fits && orders_known < KEPT)
        orders[orders_known++] = (struct orders){p->m, p->shifts, p->count, delta, end, *out};
    pthread_mutex_unlock(&lock);
    return end;
}
