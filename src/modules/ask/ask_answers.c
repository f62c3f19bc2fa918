#include "ask/ask_answers.h"
#include "ask/ask_counts.h"
#include "ask/ask_interval.h"
#include "ask/ask_json.h"
#include "ask/ask_quantile.h"

#include "dp/certificate/certificate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t ask_noisy_answers(const struct ask_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        if (q->parts > 0 && !q->again)
            count += q->groups * (q->statistic == ASK_QUANTILE ? q->share_count : 1);
    }
    return count;
}

/* How often an interval may miss. */
static double rare_of(const struct ask_release *r)
{
    return 0.05 / (r->at_once ? (double)r->at_once : 1);
}

/* Of a mean of n numbers in [low, high]. */
static struct ask_answer add_sampling(struct ask_answer a, double low, double high, double n,
                                      const struct ask_release *r)
{
    double ends[2] = {a.low, a.high};
    if (!r->population || !(n > 0) || isnan(a.value))
        return a;
    ask_add_sampling(ends, a.value, low, high, n, rare_of(r));
    const double variance = fmax(0, (a.value - low) * (high - a.value)) / n;
    return (struct ask_answer){a.value, ends[0], ends[1], hypot(a.deviation, sqrt(variance))};
}

/* A sum over all n rows, or persons, each of which adds a number in [low, high]. */
static struct ask_answer linear_answer(const double *weights, const struct ask_moments *m, double low,
                                       double high, double n, const struct ask_release *r)
{
    const double value = ask_combine(weights, m), deviation = ask_combined_deviation(weights, m),
                 half = ask_deviations(rare_of(r), r->gaussian) * deviation;
    return add_sampling((struct ask_answer){value, value - half, value + half, deviation}, n * low, n * high,
                        n, r);
}

/* low + (high - low) X / (number of rows), within the bounds. */
static struct ask_answer mean_answer(const struct encoding_column *c, const struct ask_moments *m,
                                     const struct ask_release *r)
{
    static const double x[ASK_POWERS] = {[ASK_X] = 1};
    double ends[2];
    const double width = c->high - c->low, n = m->sums[ASK_ONE], share = fmin(1, fmax(0, m->sums[ASK_X] / n));
    const double moved[ASK_POWERS] = {[ASK_ONE] = -share, [ASK_X] = 1};
    const bool told = ask_mean_interval(ends, m, x, 0, 1, rare_of(r), r->gaussian);
    const struct ask_answer a = {n > 0 ? c->low + width * share : NAN, c->low + width * ends[0],
                                 c->low + width * ends[1],
                                 told ? width * ask_combined_deviation(moved, m) / n : NAN};
    return told ? add_sampling(a, c->low, c->high, n, r) : a;
}

/* From means of products of shares of the bounds, as they are possible. */
static struct ask_answer second_moment(const struct ask_plan *plan, const struct ask_query *q,
                                       const struct ask_moments *m, const struct ask_release *r)
{
    const bool pair = q->statistic == ASK_COVARIANCE;
    const double n = m->sums[ASK_ONE], x = m->sums[ASK_X] / n, y = pair ? m->sums[ASK_Y] / n : x;
    double ends[2], unit = 1,
                    moment = fmin(0.25, fmax(pair ? -0.25 : 0, m->sums[pair ? ASK_XY : ASK_XX] / n - x * y));
    for (size_t j = 0; j < 2; j++) {
        const struct encoding_column *column = &plan->schema->columns[q->columns[pair ? j : 0]];
        unit *= column->high - column->low;
    }
    const bool told = ask_moment_interval(ends, m, pair, rare_of(r), r->gaussian);
    if (told &&
        r->population) /* of products that lie in such an interval, wherever their columns' means are */
        ask_add_sampling(ends, moment, pair ? -fmax(x * (1 - y), y * (1 - x)) : 0,
                         fmax(x * y, (1 - x) * (1 - y)), n, rare_of(r));
    struct ask_answer a = {n > 0 ? moment * unit : NAN, ends[0] * unit, ends[1] * unit, NAN};
    if (q->statistic == ASK_DEVIATION)
        a = (struct ask_answer){sqrt(a.value), sqrt(a.low), sqrt(a.high), NAN};
    a.low = fmin(a.low, isnan(a.value) ? a.low : a.value); /* as it is possible */
    a.high = fmax(a.high, isnan(a.value) ? a.high : a.value);
    return a;
}

/* The variance of a share of the bounds, x with power `one` and x^2 with power `two`; NAN: not above 95 % of the noise in it, by its first
 * derivatives. */
static double clear_variance(const struct ask_moments *m, size_t one, size_t two)
{
    const double n = m->sums[ASK_ONE], mean = m->sums[one] / n, variance = m->sums[two] / n - mean * mean;
    double moved[ASK_POWERS] = {0};
    moved[two] = 1;
    moved[one] = -2 * mean;
    moved[ASK_ONE] = mean * mean - variance;
    return variance > 1.96 * ask_combined_deviation(moved, m) / n ? variance : NAN;
}

static struct ask_answer correlation_answer(const struct ask_moments *m)
{
    enum { YY = 2 };
    const double n = m->sums[ASK_ONE];
    if (!(n > 0))
        return (struct ask_answer){NAN, NAN, NAN, NAN};
    const double covariance = m->sums[ASK_XY] / n - m->sums[ASK_X] / n * (m->sums[ASK_Y] / n),
                 rho = covariance / sqrt(clear_variance(m, ASK_X, ASK_XX) * clear_variance(m, ASK_Y, YY));
    return (struct ask_answer){isnan(rho) ? NAN : fmin(1, fmax(-1, rho)), NAN, NAN, NAN};
}

struct ask_answer ask_answer_of(const struct ask_plan *plan, const struct ask_query *q, size_t group,
                                const struct ask_release *r)
{
    static const double one[ASK_POWERS] = {[ASK_ONE] = 1};
    const struct encoding_column *x = q->column_count ? &plan->schema->columns[q->columns[0]] : NULL;
    struct ask_moments m;
    const double all = (double)(q->persons ? r->persons : r->rows);
    if (q->parts == 0)
        return (struct ask_answer){all, all, all, 0};
    ask_moments_of(&m, r->agreed, plan, q, group);
    switch (q->statistic) {
    case ASK_COUNT:
        return linear_answer(one, &m, 0, 1, all, r);
    case ASK_SUM: /* rows without a number, or of another group, add 0 */
        return linear_answer((const double[ASK_POWERS]){[ASK_ONE] = x->low, [ASK_X] = x->high - x->low}, &m,
                             q->single ? x->low : fmin(0, x->low), q->single ? x->high : fmax(0, x->high),
                             all, r);
    case ASK_MEAN:
        return mean_answer(x, &m, r);
    case ASK_CORRELATION:
        return correlation_answer(&m);
    default:
        return second_moment(plan, q, &m, r);
    }
}

sotto_status ask_counts_of(double *counts, const struct ask_plan *plan, const struct ask_query *q,
                           const struct ask_release *r)
{
    sotto_status status = SOTTO_OK;
    const double n = (double)(q->persons ? r->persons : r->rows);
    const bool whole =
        q->term_count == 0 && !q->persons; /* each row is in one of them; a person may be in several */
    for (size_t g = 0; g < q->groups; g++)
        counts[g] = ask_answer_of(plan, q, g, r).value;
    if (whole && q->key_count > 0)
        TRY(ask_counts_project(counts, q->groups, n));
    for (size_t g = 0; g < q->groups; g++)
        counts[g] = fmin(n, fmax(0, counts[g]));
    if (whole)
        TRY(ask_counts_round(counts, q->groups));
    else
        for (size_t g = 0; g < q->groups; g++)
            counts[g] = nearbyint(counts[g]);
done:
    return status;
}

/* The number of rows is public where each of them counts. */
sotto_status ask_quantiles_of(struct ask_answer *answers, const struct ask_plan *plan,
                              const struct ask_query *q, size_t group, const struct ask_release *r)
{
    sotto_status status = SOTTO_OK;
    const struct encoding_column *c = &plan->schema->columns[q->columns[0]];
    const struct ask_tree t = ask_tree_of(c);
    if (q->one_by_one) {
        for (size_t i = 0; i < q->share_count; i++)
            answers[i] = (struct ask_answer){r->cells[q->chosen + group * q->share_count + i], NAN, NAN, NAN};
        return SOTTO_OK;
    }
    const bool all = q->key_count == 0 && q->term_count == 0 && c->fills;
    double *nodes = NULL, *leaves = NULL;
    NEW(nodes, ask_tree_nodes(&t));
    NEW(leaves, (size_t)1 << t.levels);
    for (size_t i = 0; i < ask_tree_nodes(&t); i++)
        nodes[i] = r->cells[q->first + group * q->parts + i] / (double)q->mass;
    const double total = all ? (double)r->rows
                             : NAN, /* a sum of Laplace noise has lighter tails than one draw of it: */
        noise = ask_deviations(rare_of(r), r->gaussian) * r->scale * (r->gaussian ? 1 : sqrt(2)) /
                (double)q->mass;
    ask_tree_solve(leaves, nodes, &t, total);
    double rows = 0;
    for (size_t i = 0; i < (size_t)1 << t.levels; i++)
        rows += leaves[i];
    for (size_t i = 0; i < q->share_count; i++) {
        double ends[2];
        const double p = q->shares[i], sampling = r->population ? ask_deviations(rare_of(r), true) *
                                                                      sqrt(fmax(0, rows) * p * (1 - p))
                                                                : 0;
        ask_tree_interval(ends, leaves, &t, p, total, noise, sampling);
        answers[i] = (struct ask_answer){ask_tree_quantile(leaves, &t, q->shares[i]), ends[0], ends[1], NAN};
    }
done:
    base_free(nodes);
    base_free(leaves);
    return status;
}

/* ---- CSV ---- */

/* The columns of all keys, each once: which[column] is its number among them from 1, 0: none. */
static size_t number_keys(size_t *which, size_t *columns, const struct ask_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++)
        for (size_t k = 0; k < plan->queries[i].key_count; k++) {
            const size_t column = plan->queries[i].keys[k].column;
            if (which[column])
                continue;
            columns[count++] = column;
            which[column] = count;
        }
    return count;
}

static void write_cell(struct atomic_file *f, const char *text)
{
    csv_write_text(f, text);
    atomic_write(f, ",", 1);
}

/* The cells of a group, in the columns of their keys. */
static void write_keys(struct atomic_file *f, const struct ask_plan *plan, const struct ask_query *q,
                       size_t group, const size_t *columns, size_t count)
{
    char name[256];
    for (size_t j = 0; j < count; j++) {
        size_t k = 0;
        while (k < q->key_count && q->keys[k].column != columns[j])
            k++;
        write_cell(f,
                   k < q->key_count ? ask_cell_name(name, plan, &q->keys[k], ask_key_cell(q, group, k)) : "");
    }
}

static void write_answer(struct atomic_file *f, const struct ask_answer *a, bool is_public)
{
    const double numbers[] = {a->value, a->low, a->high, a->deviation};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        csv_write_real(f, numbers[i]);
        atomic_write(f, ",", 1);
    }
    csv_write_text(f, is_public ? "yes" : "no");
    atomic_write(f, "\n", 1);
}

static void write_line(struct atomic_file *f, const char *line)
{
    atomic_write(f, line, strlen(line));
}

static void write_header(struct atomic_file *f, const struct ask_plan *plan, const size_t *columns,
                         size_t count, const struct ask_release *r)
{
    static const char *const behind[] = {"statistic", "value", "low", "high", "deviation", "public"};
    if (r->at_once)
        write_line(f, "# all intervals hold at once with 95 % probability\n");
    if (r->population)
        write_line(f, "# intervals are of noise and of sampling, approximately\n");
    if (r->seeded)
        write_line(f, "# " CERTIFICATE_SEEDED "\n");
    csv_write_text(f, "query");
    for (size_t j = 0; j < count; j++) {
        atomic_write(f, ",", 1);
        csv_write_text(f, ask_column_name(plan->schema, columns[j]));
    }
    for (size_t j = 0; j < sizeof behind / sizeof *behind; j++) {
        atomic_write(f, ",", 1);
        csv_write_text(f, behind[j]);
    }
    atomic_write(f, "\n", 1);
}

/* Where the rows go. */
struct answers_file {
    struct json **rows; /* NULL: to the CSV */
    struct atomic_file f;
    const struct ask_plan *plan;
    size_t *columns, count;
};

static void write_row(struct answers_file *out, const struct ask_query *q, size_t group,
                      const char *statistic, const struct ask_answer *a)
{
    if (out->rows) {
        ask_json_row(out->rows, out->plan, q, group, statistic, a);
        return;
    }
    write_cell(&out->f, q->name[0] ? q->name : q->text);
    write_keys(&out->f, out->plan, q, group, out->columns, out->count);
    write_cell(&out->f, statistic);
    write_answer(&out->f, a, q->parts == 0);
}

static sotto_status write_quantiles(struct answers_file *out, const struct ask_query *q, size_t group,
                                    const struct ask_release *r)
{
    sotto_status status = SOTTO_OK;
    struct ask_answer answers[ASK_SHARES];
    char statistic[64];
    TRY(ask_quantiles_of(answers, out->plan, q, group, r));
    for (size_t i = 0; i < q->share_count; i++) {
        snprintf(statistic, sizeof statistic, "quantile %.15g", q->shares[i]);
        write_row(out, q, group, statistic, &answers[i]);
    }
done:
    return status;
}

static sotto_status write_query(struct answers_file *out, const struct ask_query *q,
                                const struct ask_release *r)
{
    static const char *const statistics[] = {"count",     "sum",        "mean",       "variance",
                                             "deviation", "covariance", "correlation"};
    sotto_status status = SOTTO_OK;
    const bool tidy = q->statistic == ASK_COUNT && q->parts > 0 && !r->raw;
    const double n = (double)(q->persons ? r->persons : r->rows);
    double *counts = NULL;
    NEW(counts, q->groups);
    if (tidy)
        TRY(ask_counts_of(counts, out->plan, q, r));
    for (size_t g = 0; g < q->groups; g++) {
        if (q->statistic == ASK_QUANTILE) {
            TRY(write_quantiles(out, q, g, r));
            continue;
        }
        struct ask_answer a = ask_answer_of(out->plan, q, g, r);
        if (tidy) /* the interval is that of the noisy count, within what is possible */
            a = (struct ask_answer){counts[g], fmin(n, fmax(0, a.low)), fmin(n, fmax(0, a.high)),
                                    a.deviation};
        write_row(out, q, g, statistics[q->statistic], &a);
    }
done:
    base_free(counts);
    return status;
}

static sotto_status write_csv(struct answers_file *out, const char *path, const struct ask_release *r)
{
    sotto_status status = SOTTO_OK;
    const struct ask_plan *plan = out->plan;
    size_t *which = NULL;
    NEW(which, plan->schema->count + 1);
    NEW(out->columns, plan->schema->count + 1);
    out->count = number_keys(which, out->columns, plan);
    TRY(atomic_open(&out->f, path));
    write_header(&out->f, plan, out->columns, out->count, r);
    for (size_t i = 0; i < plan->count; i++)
        TRY(write_query(out, &plan->queries[i], r));
    TRY(atomic_commit(&out->f));
done:
    atomic_discard(&out->f);
    base_free(which);
    base_free(out->columns);
    return status;
}

static sotto_status write_json(struct answers_file *out, const char *path, const struct ask_release *r)
{
    sotto_status status = SOTTO_OK;
    struct json *rows = ask_json_rows();
    out->rows = &rows;
    for (size_t i = 0; i < out->plan->count; i++)
        TRY(write_query(out, &out->plan->queries[i], r));
    status = ask_json_write(path, rows, out->plan, r);
    rows = NULL;
done:
    ask_json_drop(rows);
    return status;
}

sotto_status ask_answers_write(const char *path, const struct ask_plan *plan, const struct ask_release *r)
{
    struct answers_file out = {.plan = plan};
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0 ? write_json(&out, path, r)
                                                                 : write_csv(&out, path, r);
}
