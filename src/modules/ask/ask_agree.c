/* A table of counts by keys is a sum of parts, one for each set S of its keys: what the margin by S tells beyond smaller margins. All tables
 * by these keys and more share that part, and its errors are independent of those of all others. So least squares is solved set by set, in
 * as many unknowns as there are powers. */
#include "ask/ask_agree.h"
#include "ask/ask_answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUBSETS = 1 << ASK_KEYS, ONE_ROW = ASK_POWERS, SLOTS, MOST_MOMENTS = 1024 };

/* A sum of one power over all rows that meet a condition and have these columns: numbers of columns are from 1, 0 is none. Persons that
 * are counted are no sum of rows, so each such query has a unit of its own. */
enum { UNIT_ROWS, UNIT_PERSONS, UNIT_OWN };
struct moment {
    size_t unit, where, column[2], power[2], present[2];
};
struct ask_query_sums {
    size_t moments[SLOTS]; /* of each power, and of all rows: its number from 1; 0: the query has none */
    size_t keys[ASK_KEYS]; /* numbers: equal ones of other queries are the same key */
    size_t powers;         /* that it has */
    double *sums;          /* (groups, powers) */
    double covariance[ASK_POWERS][ASK_POWERS];
};
/* Keys in rising order, then zeros. */
struct key_set {
    size_t keys[ASK_KEYS];
};
struct agreeing {
    const struct ask_plan *plan;
    const struct ask_release *r;
    struct ask_agreed *out;
    struct moment *moments; /* (count) the first one is the number of all rows */
    size_t count;
    bool *in;        /* (plan->count) queries that agree now */
    double *known;   /* (count + 1) of a moment, from 1: the number of all rows, or persons; NAN */
    bool rows_known; /* do we know these? */
    /* of one set: */
    size_t cells, unknowns;
    size_t *unknown; /* (count + 1) of a moment, from 1 */
    double *matrix, *inverse, *right,
        *solved; /* (unknowns, unknowns), the same, (unknowns, cells), the same */
};

void ask_agreed_clear(struct ask_agreed *agreed)
{
    for (size_t i = 0; i < agreed->count && agreed->of; i++)
        base_free(agreed->of[i].sums);
    base_free(agreed->of);
    *agreed = (struct ask_agreed){0};
}

/* ---- what cells are made from ---- */

/* A cell as a sum of powers, where no number is missing. */
static void cell_powers(double c[ASK_POWERS], const struct ask_query *q, size_t part)
{
    static const double squares[3][3] = {{0, 0, 1}, {0, 2, -2}, {1, -2, 1}}; /* of 1, x, x^2 */
    const bool pair = q->statistic == ASK_COVARIANCE;
    memset(c, 0, ASK_POWERS * sizeof *c);
    switch (q->statistic) {
    case ASK_COUNT:
        c[ASK_ONE] = 1;
        return;
    case ASK_SUM:
    case ASK_MEAN:
        c[ASK_ONE] = part == 1;
        c[ASK_X] = part == 1 ? -1 : 1;
        return;
    case ASK_CORRELATION:
        for (size_t k = 0; k < ASK_POWERS; k++)
            c[k] = squares[part / 3][k / 3] * squares[part % 3][k % 3];
        return;
    default:
        break;
    }
    if (q->single) { /* about the middle of the bounds */
        c[ASK_ONE] = 1;
        c[ASK_X] = pair ? -1 : -4;
        c[pair ? ASK_Y : ASK_XX] = pair ? -1 : 4;
        c[ASK_XY] = pair ? 2 : 0;
    } else if (pair) {
        static const double products[4][4] = {{0, 0, 0, 1}, {0, 1, 0, -1}, {0, 0, 1, -1}, {1, -1, -1, 1}};
        for (size_t k = 0; k < 4; k++)
            c[(size_t[]){ASK_ONE, ASK_X, ASK_Y, ASK_XY}[k]] = products[part][k];
    } else {
        for (size_t k = 0; k < 3; k++)
            c[3 * k] = squares[part][k];
    }
}

/* The cell of missing numbers: all rows but those that have them. */
static bool is_missing_cell(const struct ask_query *q, size_t part)
{
    return !q->single && q->statistic != ASK_COUNT && part + 1 == q->parts;
}

static bool same_terms(const struct ask_query *a, const struct ask_query *b)
{
    bool same = a->term_count == b->term_count;
    for (size_t k = 0; k < a->term_count && same; k++) {
        const struct ask_term *s = &a->terms[k], *t = &b->terms[k];
        same = s->column == t->column && s->comparison == t->comparison && s->count == t->count &&
               (s->count == 0 || memcmp(s->values, t->values, s->count * sizeof *s->values) == 0);
    }
    return same;
}

/* Two things in rising order. */
static void sort_two(size_t v[2])
{
    if (v[0] > v[1])
        v[0] ^= v[1], v[1] ^= v[0], v[0] ^= v[1];
}

static struct moment moment_of(const struct ask_plan *plan, const struct ask_query *q, size_t i, size_t j)
{
    struct moment m = {.unit = q->persons      ? UNIT_OWN + (size_t)(q - plan->queries)
                               : q->per_person ? UNIT_PERSONS
                                               : UNIT_ROWS};
    size_t power[2] = {i, j};
    if (q->column_count == 2 && q->columns[0] == q->columns[1])
        power[0] += power[1], power[1] = 0;
    while (q->term_count > 0 && !same_terms(&plan->queries[m.where], q))
        m.where++;
    m.where += q->term_count > 0;
    for (size_t k = 0; k < q->column_count; k++) {
        const size_t other = q->column_count == 2 && q->columns[1 - k] < q->columns[k],
                     at = power[1 - k] ? other : 0;
        if (power[k])
            m.column[at] = q->columns[k] + 1, m.power[at] = power[k];
        if (!plan->schema->columns[q->columns[k]].fills)
            m.present[k] = q->columns[k] + 1;
    }
    if (m.present[0] == m.present[1])
        m.present[1] = 0;
    sort_two(m.present);
    return m;
}

/* Its number from 1. */
static size_t number_moment(struct agreeing *a, struct moment m)
{
    size_t i = 0;
    while (i < a->count && memcmp(&a->moments[i], &m, sizeof m) != 0)
        i++;
    if (i == a->count)
        a->moments[a->count++] = m;
    return i + 1;
}

static bool query_agrees(const struct ask_query *q)
{
    return q->parts > 0 && !q->again && q->statistic != ASK_QUANTILE;
}

static bool same_key(const struct ask_key *a, const struct ask_key *b)
{
    return a->column == b->column && strcmp(a->text, b->text) == 0;
}

/* A key that a query has twice is two keys: half of its cells say nothing about a margin. */
static void number_keys(struct agreeing *a, size_t i, size_t *keys)
{
    const struct ask_query *q = &a->plan->queries[i];
    for (size_t k = 0; k < q->key_count; k++) {
        size_t number = 0;
        for (size_t j = 0; j < i && !number; j++)
            for (size_t l = 0; l < a->plan->queries[j].key_count && !number && !q->persons; l++)
                if (!a->plan->queries[j].persons && same_key(&a->plan->queries[j].keys[l], &q->keys[k]))
                    number = a->out->of[j].keys[l];
        for (size_t l = 0; l < k; l++)
            if (a->out->of[i].keys[l] == number || same_key(&q->keys[l], &q->keys[k]))
                number = 0;
        a->out->of[i].keys[k] = number ? number : ++*keys;
    }
}

static sotto_status number_all(struct agreeing *a)
{
    sotto_status status = SOTTO_OK;
    const struct ask_plan *plan = a->plan;
    size_t keys = 0;
    NEW(a->out->of, plan->count);
    a->out->count = plan->count;
    NEW(a->moments, 1 + SLOTS * plan->count);
    a->count = 1;
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        struct ask_query_sums *s = &a->out->of[i];
        double c[ASK_POWERS];
        if (!query_agrees(q))
            continue;
        number_keys(a, i, &keys);
        for (size_t part = 0; part < q->parts; part++) {
            if (is_missing_cell(q, part))
                continue;
            cell_powers(c, q, part);
            for (size_t k = 0; k < ASK_POWERS; k++)
                if (c[k] != 0 || k == ASK_ONE)
                    s->moments[k] = number_moment(a, moment_of(plan, q, k / 3, k % 3));
        }
        const struct moment *one = &a->moments[s->moments[ASK_ONE] - 1],
                            rows = {one->unit, one->where, {0}, {0}, {0}};
        s->moments[ONE_ROW] = number_moment(a, rows);
        for (size_t k = 0; k < ASK_POWERS; k++)
            s->powers += s->moments[k] > 0;
        NEW(s->sums, q->groups * s->powers);
    }
done:
    return status;
}

/* ---- one set of keys ---- */

/* The keys of a query that a set holds: order[k] is the one that the set has in place k. False: it lacks one. */
static bool place_set(size_t order[ASK_KEYS], const struct key_set *set, const struct ask_query *q,
                      const struct ask_query_sums *s)
{
    for (size_t i = 0; i < ASK_KEYS && set->keys[i]; i++) {
        order[i] = 0;
        while (order[i] < q->key_count && s->keys[order[i]] != set->keys[i])
            order[i]++;
        if (order[i] == q->key_count)
            return false;
    }
    return true;
}

static size_t cell_of_group(const struct key_set *set, const size_t order[ASK_KEYS],
                            const struct ask_query *q, size_t group)
{
    size_t cell = 0;
    for (size_t i = 0; i < ASK_KEYS && set->keys[i]; i++)
        cell = cell * q->keys[order[i]].cells + ask_key_cell(q, group, order[i]);
    return cell;
}

/* Takes the mean along each key off, which is what smaller margins tell. */
static void centre_table(double *table, const struct key_set *set, const size_t order[ASK_KEYS],
                         const struct ask_query *q, size_t cells)
{
    size_t below = cells;
    for (size_t i = 0; i < ASK_KEYS && set->keys[i]; i++) {
        const size_t n = q->keys[order[i]].cells;
        below /= n;
        for (size_t at = 0; at < cells; at++) {
            if (at / below % n)
                continue;
            double mean = 0;
            for (size_t k = 0; k < n; k++)
                mean += table[at + k * below] / (double)n;
            for (size_t k = 0; k < n; k++)
                table[at + k * below] -= mean;
        }
    }
}

static size_t set_cells(const struct key_set *set, const size_t order[ASK_KEYS], const struct ask_query *q)
{
    size_t cells = 1;
    for (size_t i = 0; i < ASK_KEYS && set->keys[i]; i++)
        cells *= q->keys[order[i]].cells;
    return cells;
}

/* What a cell is made from, in unknowns, and in what is known. */
static void cell_unknowns(double *row, double *known, const struct agreeing *a, size_t query, size_t part)
{
    const struct ask_query *q = &a->plan->queries[query];
    const struct ask_query_sums *s = &a->out->of[query];
    double slots[SLOTS] = {0};
    if (is_missing_cell(q, part))
        slots[ONE_ROW] = 1, slots[ASK_ONE] = -1;
    else
        cell_powers(slots, q, part);
    memset(row, 0, a->unknowns * sizeof *row);
    *known = 0;
    for (size_t k = 0; k < SLOTS; k++) {
        if (slots[k] == 0)
            continue;
        const size_t u = a->unknown[s->moments[k]];
        if (u)
            row[u - 1] += slots[k];
        else
            *known += slots[k] * a->known[s->moments[k]];
    }
}

/* Adds what one query measured of this part. */
static sotto_status measure_set(struct agreeing *a, const struct key_set *set, const size_t order[ASK_KEYS],
                                size_t query)
{
    sotto_status status = SOTTO_OK;
    const struct ask_query *q = &a->plan->queries[query];
    const double mass = (double)q->mass, precision = ask_precision(a->plan, q) * mass * 0x1p-30 * mass *
                                                     0x1p-30 * (double)a->cells / (double)q->groups;
    double *table = NULL, *row = NULL, known;
    NEW(table, a->cells);
    NEW(row, a->unknowns + 1);
    for (size_t part = 0; part < q->parts; part++) {
        memset(table, 0, a->cells * sizeof *table);
        for (size_t g = 0; g < q->groups; g++)
            table[cell_of_group(set, order, q, g)] += a->r->cells[q->first + g * q->parts + part] / mass;
        centre_table(table, set, order, q, a->cells);
        cell_unknowns(row, &known, a, query, part);
        for (size_t i = 0; i < a->unknowns; i++) {
            if (row[i] == 0)
                continue;
            for (size_t j = 0; j < a->unknowns; j++)
                a->matrix[i * a->unknowns + j] += precision * row[i] * row[j];
            for (size_t c = 0; c < a->cells; c++)
                a->right[i * a->cells + c] += precision * row[i] * (table[c] - known);
        }
    }
done:
    base_free(table);
    base_free(row);
    return status;
}

/* The inverse, by Gauss and Jordan: the matrix is positive definite, so pivots are taken in order. */
static void invert_matrix(double *inverse, double *matrix, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        inverse[i] = i % (n + 1) == 0;
    for (size_t k = 0; k < n; k++) {
        const double pivot = 1 / matrix[k * n + k];
        for (size_t j = 0; j < n; j++)
            matrix[k * n + j] *= pivot, inverse[k * n + j] *= pivot;
        for (size_t i = 0; i < n; i++) {
            const double factor = matrix[i * n + k];
            if (i == k || factor == 0)
                continue;
            for (size_t j = 0; j < n; j++)
                matrix[i * n + j] -= factor * matrix[k * n + j],
                    inverse[i * n + j] -= factor * inverse[k * n + j];
        }
    }
}

/* The part of this set, in all groups of a query, and its share of the noise. */
static void give_set(struct agreeing *a, const struct key_set *set, const size_t order[ASK_KEYS],
                     size_t query)
{
    const struct ask_query *q = &a->plan->queries[query];
    struct ask_query_sums *s = &a->out->of[query];
    const double spread =
        (double)a->cells / (double)q->groups; /* over the cells that the set does not divide */
    double noise = spread * a->r->scale * 0x1p-30;
    noise *= noise * (a->r->gaussian ? 1 : 2);
    for (size_t i = 0; i < ASK_KEYS && set->keys[i]; i++)
        noise *= 1 - 1 / (double)q->keys[order[i]].cells;
    for (size_t k = 0, at = 0; k < ASK_POWERS; k++) {
        if (!s->moments[k])
            continue;
        const size_t u = a->unknown[s->moments[k]];
        for (size_t g = 0; g < q->groups; g++) {
            const size_t cell = cell_of_group(set, order, q, g);
            s->sums[g * s->powers + at] +=
                spread * (u ? a->solved[(u - 1) * a->cells + cell] : a->known[s->moments[k]]);
        }
        for (size_t l = 0; l < ASK_POWERS && u; l++) {
            const size_t w = s->moments[l] ? a->unknown[s->moments[l]] : 0;
            if (w)
                s->covariance[k][l] += noise * a->inverse[(u - 1) * a->unknowns + w - 1];
        }
        at++;
    }
}

/* Numbers the moments of all queries by this set; the number of all rows is none of them where it is known. */
static void number_unknowns(struct agreeing *a, const struct key_set *set)
{
    size_t order[ASK_KEYS];
    const bool known = a->rows_known && !set->keys[0];
    memset(a->unknown, 0, (a->count + 1) * sizeof *a->unknown);
    a->unknowns = 0;
    for (size_t i = 0; i < a->plan->count; i++) {
        const struct ask_query *q = &a->plan->queries[i];
        const struct ask_query_sums *s = &a->out->of[i];
        if (!a->in[i] || !place_set(order, set, q, s))
            continue;
        a->cells = set_cells(set, order, q);
        for (size_t k = 0; k < SLOTS; k++)
            if (s->moments[k] && !(known && !isnan(a->known[s->moments[k]])) && !a->unknown[s->moments[k]] &&
                !(k == ONE_ROW && q->parts == 1))
                a->unknown[s->moments[k]] = ++a->unknowns;
    }
}

/* only: the query that is answered; plan->count: all of them. */
static sotto_status solve_set(struct agreeing *a, const struct key_set *set, size_t only)
{
    sotto_status status = SOTTO_OK;
    size_t order[ASK_KEYS];
    number_unknowns(a, set);
    NEW(a->matrix, a->unknowns * a->unknowns + 1);
    NEW(a->inverse, a->unknowns * a->unknowns + 1);
    NEW(a->right, a->unknowns * a->cells + 1);
    NEW(a->solved, a->unknowns * a->cells + 1);
    for (size_t i = 0; i < a->plan->count; i++)
        if (a->in[i] && place_set(order, set, &a->plan->queries[i], &a->out->of[i]))
            TRY(measure_set(a, set, order, i));
    invert_matrix(a->inverse, a->matrix, a->unknowns);
    for (size_t u = 0; u < a->unknowns; u++)
        for (size_t v = 0; v < a->unknowns; v++)
            for (size_t c = 0; c < a->cells; c++)
                a->solved[u * a->cells + c] += a->inverse[u * a->unknowns + v] * a->right[v * a->cells + c];
    for (size_t i = 0; i < a->plan->count; i++)
        if (a->in[i] && (only == a->plan->count || i == only) &&
            place_set(order, set, &a->plan->queries[i], &a->out->of[i]))
            give_set(a, set, order, i);
done:
    base_free(a->matrix);
    base_free(a->inverse);
    base_free(a->right);
    base_free(a->solved);
    a->matrix = a->inverse = a->right = a->solved = NULL;
    return status;
}

/* ---- all sets ---- */

static int by_size(const void *x, const void *y)
{
    return (*(const size_t *)x > *(const size_t *)y) - (*(const size_t *)x < *(const size_t *)y);
}

static int by_keys(const void *x, const void *y)
{
    const struct key_set *s = x, *t = y;
    size_t i = 0;
    while (i + 1 < ASK_KEYS && s->keys[i] == t->keys[i])
        i++;
    return by_size(&s->keys[i], &t->keys[i]);
}

/* Of the queries that agree now. */
static sotto_status list_sets(struct key_set **out, size_t *count, const struct agreeing *a)
{
    sotto_status status = SOTTO_OK;
    struct key_set *sets = NULL;
    size_t all = 0, different = 0;
    NEW(sets, SUBSETS * a->plan->count);
    for (size_t i = 0; i < a->plan->count; i++) {
        const size_t keys = a->plan->queries[i].key_count;
        for (size_t subset = 0; a->in[i] && subset < (size_t)1 << keys; subset++, all++) {
            size_t n = 0;
            for (size_t k = 0; k < keys; k++)
                if (subset >> k & 1)
                    sets[all].keys[n++] = a->out->of[i].keys[k];
            qsort(sets[all].keys, n, sizeof sets[all].keys[0], by_size);
        }
    }
    qsort(sets, all, sizeof *sets, by_keys);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || by_keys(&sets[i], &sets[different - 1]) != 0)
            sets[different++] = sets[i];
    *out = sets;
    *count = different;
    sets = NULL;
done:
    base_free(sets);
    return status;
}

static sotto_status solve_sets(struct agreeing *a, size_t only)
{
    sotto_status status = SOTTO_OK;
    struct key_set *sets = NULL;
    size_t count = 0;
    TRY(list_sets(&sets, &count, a));
    for (size_t i = 0; i < count; i++)
        TRY(solve_set(a, &sets[i], only));
done:
    base_free(sets);
    return status;
}

/* One query, and the means that it needs. */
static sotto_status solve_alone(struct agreeing *a, size_t query)
{
    const struct ask_query *q = &a->plan->queries[query];
    const bool moment = q->single && (q->statistic == ASK_VARIANCE || q->statistic == ASK_DEVIATION ||
                                      q->statistic == ASK_COVARIANCE);
    for (size_t i = 0; i < a->plan->count; i++) {
        const struct ask_query *other = &a->plan->queries[i];
        a->in[i] = i == query;
        for (size_t k = 0; k < q->column_count && moment; k++)
            a->in[i] = a->in[i] || (query_agrees(other) && other->single && other->column_count == 1 &&
                                    other->statistic <= ASK_MEAN && other->per_person == q->per_person &&
                                    other->columns[0] == q->columns[k]);
    }
    a->rows_known = !a->r->raw || (q->single && q->statistic != ASK_COUNT);
    return solve_sets(a, query);
}

sotto_status ask_agree(struct ask_agreed *out, const struct ask_plan *plan, const struct ask_release *r)
{
    sotto_status status = SOTTO_OK;
    struct agreeing a = {.plan = plan, .r = r, .out = out, .rows_known = true};
    TRY(number_all(&a));
    NEW(a.in, plan->count);
    NEW(a.unknown, a.count + 1);
    NEW(a.known, a.count + 1);
    for (size_t i = 0; i <= a.count; i++) {
        const struct moment rows = {0}, persons = {.unit = UNIT_PERSONS};
        a.known[i] = NAN;
        if (i > 0 && memcmp(&a.moments[i - 1], &rows, sizeof rows) == 0)
            a.known[i] = (double)r->rows;
        if (i > 0 && memcmp(&a.moments[i - 1], &persons, sizeof persons) == 0)
            a.known[i] = (double)r->persons;
    }
    const bool together = !r->raw && a.count <= MOST_MOMENTS;
    for (size_t i = 0; i < plan->count; i++)
        a.in[i] = query_agrees(&plan->queries[i]);
    if (together)
        TRY(solve_sets(&a, plan->count));
    for (size_t i = 0; i < plan->count && !together; i++)
        if (query_agrees(&plan->queries[i]))
            TRY(solve_alone(&a, i));
done:
    base_free(a.moments);
    base_free(a.in);
    base_free(a.unknown);
    base_free(a.known);
    return status;
}

void ask_moments_of(struct ask_moments *out, const struct ask_agreed *agreed, const struct ask_plan *plan,
                    const struct ask_query *q, size_t group)
{
    const size_t i = q->again ? q->same : (size_t)(q - plan->queries);
    const struct ask_query_sums *s = &agreed->of[i];
    *out = (struct ask_moments){0};
    memcpy(out->covariance, s->covariance, sizeof out->covariance);
    for (size_t k = 0, at = 0; k < ASK_POWERS; k++)
        if (s->moments[k])
            out->sums[k] = s->sums[group * s->powers + at++];
}
