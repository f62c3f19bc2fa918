/* Columns, cells and masses of queries. */
#include "ask/ask_query.h"
#include "ask/ask_choice.h"
#include "ask/ask_quantile.h"

#include "dp/certificate/certificate.h"
#include "dp/noise/lattice.h" /* int128 */
#include "io/text/number.h"
#include "sotto/lab/ask.h"

#include <math.h>
#include <stdio.h>

const char *ask_column_name(const struct sotto_table_encoding *e, size_t column)
{
    return column < e->count ? e->columns[column].name : e->label;
}

enum column_kind ask_column_kind(const struct sotto_table_encoding *e, size_t column)
{
    return column < e->count ? e->columns[column].kind : COLUMN_CATEGORY;
}

const struct text_list *ask_categories(const struct sotto_table_encoding *e, size_t column)
{
    return column < e->count ? &e->columns[column].categories : &e->classes;
}

bool ask_declares_other(const struct sotto_table_encoding *e, size_t column)
{
    return column < e->count ? e->columns[column].other < e->columns[column].categories.count
                             : e->other_declared;
}

size_t ask_category_cells(const struct sotto_table_encoding *e, size_t column)
{
    return ask_categories(e, column)->count + !ask_declares_other(e, column) + 1;
}

size_t ask_key_cell(const struct ask_query *q, size_t group, size_t key)
{
    for (size_t k = q->key_count; --k > key;)
        group /= q->keys[k].cells;
    return group % q->keys[key].cells;
}

const char *ask_cell_name(char out[256], const struct ask_plan *plan, const struct ask_key *key, size_t cell)
{
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    const struct text_list *names = ask_categories(plan->schema, key->column);
    if (cell + 1 == key->cells)
        snprintf(out, 256, "(missing)");
    else if (key->edges)
        snprintf(out, 256, "[%s,%s%c", number_text(low, key->edges[cell]),
                 number_text(high, key->edges[cell + 1]), cell + 2 == key->cells ? ']' : ')');
    else if (cell < names->count)
        snprintf(out, 256, "%.255s", names->texts[cell]);
    else
        snprintf(out, 256, "(other)");
    return out;
}

void ask_plan_clear(struct ask_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct ask_query *q = &plan->queries[i];
        for (size_t k = 0; k < q->key_count; k++)
            base_free(q->keys[k].edges);
        for (size_t k = 0; k < q->term_count; k++)
            base_free(q->terms[k].values);
    }
    base_free(plan->queries);
    base_free(plan->used);
    *plan = (struct ask_plan){0};
}

/* ---- rows ---- */

struct ask_value ask_value_of(const struct sotto_table_encoding *e, size_t column, struct cell cell)
{
    struct ask_value v = {NAN, 0};
    const bool missing =
        cell.length ? encoding_missing(e, cell.text) : text_list_find(&e->missing, cell) < e->missing.count;
    if (ask_column_kind(e, column) == COLUMN_NUMBER) {
        const struct encoding_column *c = &e->columns[column];
        if (!missing && !isnan(cell.number))
            v.number = cell.number;
        else if (c->fills)
            v.number = c->missing;
        return v;
    }
    const struct text_list *names = ask_categories(e, column);
    const size_t cells = ask_category_cells(e, column), found = text_list_find(names, cell);
    if (found < names->count)
        v.code = found;
    else if (missing || (cell.text && !cell.text[0]))
        v.code = cells - 1;
    else
        v.code = !ask_declares_other(e, column) ? names->count
                 : column < e->count            ? e->columns[column].other
                                                : e->other_class;
    return v;
}

static bool term_holds(const struct ask_term *t, const struct ask_plan *plan, struct ask_value v)
{
    const bool numbers = ask_column_kind(plan->schema, t->column) == COLUMN_NUMBER;
    const double x = numbers ? v.number : (double)v.code;
    const bool missing = numbers ? isnan(x) : v.code + 1 == ask_category_cells(plan->schema, t->column);
    bool found = false;
    if (missing || t->comparison == ASK_IS_MISSING)
        return missing && t->comparison == ASK_IS_MISSING;
    for (size_t i = 0; i < t->count; i++)
        found = found || x == t->values[i];
    switch (t->comparison) {
    case ASK_IS:
        return found;
    case ASK_IS_NOT:
        return !found;
    case ASK_BELOW:
        return x < t->values[0];
    case ASK_AT_MOST:
        return x <= t->values[0];
    case ASK_ABOVE:
        return x > t->values[0];
    default:
        return x >= t->values[0];
    }
}

/* The cell of a number: the last edge belongs to the last cell, and what lies outside to the nearest one. */
static size_t cell_of(const struct ask_key *key, struct ask_value v)
{
    if (!key->edges)
        return v.code;
    if (isnan(v.number))
        return key->cells - 1;
    size_t low = 0, high = key->cells - 1; /* edges[low] <= x < edges[high], but for what lies outside */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (v.number < key->edges[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* A number as a share of its bounds, in whole numbers from 0 to the mass. */
static int64_t share_of(const struct sotto_table_encoding *e, size_t column, double x, int64_t mass)
{
    const struct encoding_column *c = &e->columns[column];
    const double share = (fmin(fmax(x, c->low), c->high) - c->low) / (c->high - c->low);
    return (int64_t)nearbyint(fmin(1, fmax(0, share)) * (double)mass);
}

static int64_t product_of(int64_t x, int64_t y, int64_t mass)
{
    return (int64_t)((int128)x * y / mass);
}

/* Squares of a share and of what is left of 1, and twice their product, as parts of the mass. */
static void split_square(int64_t parts[3], int64_t y, int64_t mass)
{
    parts[0] = product_of(y, y, mass);
    parts[1] = 2 * product_of(y, mass - y, mass);
    parts[2] = mass - parts[0] - parts[1];
}

/* About the middle of the bounds: a square, 0 at the middle and the mass at both bounds; or a product, half the mass at either middle. */
static int64_t centred_product(int64_t x, int64_t y, int64_t mass, bool pair)
{
    const int128 product = (int128)(2 * x - mass) * (2 * y - mass), all = (int128)mass * mass;
    return (int64_t)(pair ? (all + product) / (2 * (int128)mass) : product / mass);
}

/* Of both columns, each part by each, so that all second moments follow from them. */
static void add_products(int64_t cells[9], int64_t x, int64_t y, int64_t mass)
{
    int64_t a[3], b[3], left = mass;
    split_square(a, x, mass);
    split_square(b, y, mass);
    for (size_t i = 0; i < 8; i++) {
        const int64_t part = product_of(a[i / 3], b[i % 3], mass);
        cells[i] += part;
        left -= part;
    }
    cells[8] += left;
}

/* Parts of a group: those of the numbers, then that of missing ones. Their sum is the mass. */
static void add_parts(int64_t *cells, const struct ask_query *q, const struct ask_plan *plan,
                      const struct ask_value *values)
{
    const int64_t m = q->mass;
    int64_t y[ASK_COLUMNS] = {0};
    if (q->statistic == ASK_COUNT) {
        cells[0] += m;
        return;
    }
    for (size_t j = 0; j < q->column_count; j++) {
        const double x = values[q->columns[j]].number;
        if (q->one_by_one) { /* ranks are of the rows that have a value */
            const struct ask_tree t = ask_choice_edges(&plan->schema->columns[q->columns[j]]);
            if (!isnan(x))
                cells[ask_tree_leaf(&t, x)]++;
            return;
        }
        if (isnan(x)) {
            cells[q->parts - 1] += m;
            return;
        }
        if (q->statistic == ASK_QUANTILE) {
            const struct ask_tree t = ask_tree_of(&plan->schema->columns[q->columns[j]]);
            ask_tree_add(cells, &t, x, m);
            return;
        }
        y[j] = share_of(plan->schema, q->columns[j], x, m);
    }
    if (q->statistic == ASK_SUM || q->statistic == ASK_MEAN) {
        cells[0] += y[0];
        if (!q->single)
            cells[1] += m - y[0];
        return;
    }
    if (q->statistic == ASK_CORRELATION) {
        add_products(cells, y[0], y[1], m);
        return;
    }
    const bool pair = q->statistic == ASK_COVARIANCE;
    if (q->single) {
        cells[0] += centred_product(y[0], pair ? y[1] : y[0], m, pair);
        return;
    }
    const int64_t both = product_of(y[0], pair ? y[1] : y[0], m),
                  one = product_of(y[0], m - (pair ? y[1] : y[0]), m),
                  other = pair ? product_of(m - y[0], y[1], m) : one;
    cells[0] += both;
    cells[1] += pair ? one : 2 * one;
    if (pair)
        cells[2] += other;
    cells[pair ? 3 : 2] += m - both - one - other;
}

bool ask_group_of(size_t *group, const struct ask_plan *plan, const struct ask_query *q,
                  const struct ask_value *values)
{
    *group = 0;
    for (size_t k = 0; k < q->term_count; k++)
        if (!term_holds(&q->terms[k], plan, values[q->terms[k].column]))
            return false;
    for (size_t k = 0; k < q->key_count; k++)
        *group = *group * q->keys[k].cells + cell_of(&q->keys[k], values[q->keys[k].column]);
    return true;
}

void ask_add_row(int64_t *sums, const struct ask_plan *plan, const struct ask_value *values, size_t rows)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        size_t group;
        if (q->parts == 0 || q->again || q->persons || !ask_group_of(&group, plan, q, values))
            continue;
        int64_t *cells = sums + q->first + group * q->parts, own[ASK_PARTS] = {0};
        add_parts(q->per_person ? own : cells, q, plan, values);
        for (size_t k = 0; k < q->parts && q->per_person; k++)
            cells[k] += own[k] / (int64_t)rows; /* rounded down: all rows of a person add at most one mass */
    }
}

bool ask_counts_persons(const struct ask_plan *plan)
{
    bool some = false;
    for (size_t i = 0; i < plan->count; i++)
        some = some || (plan->queries[i].persons && plan->queries[i].parts > 0 && !plan->queries[i].again);
    return some;
}

bool ask_is_per_person(const struct ask_plan *plan)
{
    bool some = false;
    for (size_t i = 0; i < plan->count; i++)
        some = some || plan->queries[i].per_person;
    return some;
}

/* ---- masses ---- */

/* How far a row moves the cells of a query, in masses: in L2 norm (Gaussian noise) or L1. Of persons: the part of each of their rows. */
static double norm_of(const struct ask_plan *plan, const struct ask_query *q, bool gaussian)
{
    double norm = q->single ? 1 : 2;
    if (q->one_by_one)
        norm = (q->groups == 1 ? 1 : 2) * (double)q->share_count;
    else if (q->statistic == ASK_QUANTILE)
        norm *= (double)ask_tree_of(&plan->schema->columns[q->columns[0]]).levels;
    norm = gaussian ? sqrt(norm) : norm;
    if (plan->most > 1 && (q->per_person || (q->persons && q->single)))
        norm /= (double)plan->most;
    else if (plan->most > 1 && q->persons && gaussian)
        norm /= sqrt((double)plan->most);
    return norm;
}

/* The mass, up to one factor for all, from the norm and the error that noise of one mass makes (docs/derivations/ask.md). Means of
 * a group are of fewer rows, so their errors are larger; a square about the middle of the bounds has a quarter of the range, a product half. */
static double share_of_mass(const struct ask_query *q, double norm, bool gaussian, int weights)
{
    const double fewer = q->statistic == ASK_COUNT || q->statistic == ASK_SUM ? 1 : (double)q->groups,
                 range = !q->single || q->statistic <= ASK_MEAN ? 1
                         : q->statistic == ASK_COVARIANCE       ? 0.5
                                                                : 0.25,
                 error = q->weight * range * fewer / (q->statistic == ASK_QUANTILE ? norm : 1);
    if (weights == SOTTO_ASK_LARGEST)
        return error;
    if (weights == SOTTO_ASK_SQUARES)
        return gaussian ? sqrt(error / norm) : cbrt(error * error / norm);
    return q->weight / norm;
}

uint64_t ask_block_scale(const struct ask_plan *plan, double scale)
{
    return (uint64_t)ceil(scale * (1 + 0x1p-50) / (double)plan->block);
}

/* Variances at equal epsilon: 2 n^2 of Laplace noise, (n + 1) (n + 2) / 3 of a block. */
double ask_precision(const struct ask_plan *plan, const struct ask_query *q)
{
    const double n = (double)plan->block;
    return q->in_block ? 6 * n * n / ((n + 1) * (n + 2)) : 1;
}

/* A single cell that each row moves by its mass at most, and a person by that for each row. */
static bool may_share_radius(const struct ask_query *q)
{
    return q->single && q->parts > 0 && !q->persons && !q->per_person;
}

/* Such cells of the mass that most of them have, if there are two: their noise is smaller together. */
static void find_block(struct ask_plan *plan, bool gaussian)
{
    size_t most = 1;
    int64_t mass = 0;
    for (size_t i = 0; i < plan->count; i++) {
        size_t same = 0;
        for (size_t j = 0; j < plan->count; j++)
            same += may_share_radius(&plan->queries[j]) && !plan->queries[j].again &&
                    plan->queries[j].mass == plan->queries[i].mass;
        if (may_share_radius(&plan->queries[i]) && same > most)
            most = same, mass = plan->queries[i].mass;
    }
    for (size_t i = 0; i < plan->count; i++) {
        struct ask_query *q = &plan->queries[i];
        q->in_block = !gaussian && may_share_radius(q) && q->mass == mass;
    }
}

/* What has noise of its own, the block, and what is only counted. */
static void place_cells(struct ask_plan *plan)
{
    size_t ends[3], choices = 0;
    plan->sums = 0;
    for (int kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < plan->count; i++) {
            struct ask_query *q = &plan->queries[i];
            if ((q->one_by_one ? 2 : q->in_block) != kind)
                continue;
            q->first = q->again ? plan->queries[q->same].first : plan->sums;
            if (kind == 2)
                q->chosen = q->again ? plan->queries[q->same].chosen : ends[1] + choices;
            plan->sums += q->again ? 0 : q->groups * q->parts;
            choices += q->again || kind < 2 ? 0 : q->groups * q->share_count;
        }
        ends[kind] = plan->sums;
    }
    plan->cells = ends[0];
    plan->block = ends[1] - ends[0];
    plan->choices = choices;
}

void ask_share(struct ask_plan *plan, bool gaussian, int weights)
{
    const bool persons = ask_counts_persons(plan) || ask_is_per_person(plan); /* their masses are larger */
    const double unit = 0x1p30 / (persons && plan->most > 1 ? (double)plan->most : 1), least = 0x1p20;
    double most = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        const double norm = norm_of(plan, q, gaussian);
        if (q->parts > 0 && !q->again)
            most = fmax(most, norm * share_of_mass(q, norm, gaussian, weights));
    }
    for (size_t i = 0; i < plan->count; i++) {
        struct ask_query *q = &plan->queries[i];
        const double norm = norm_of(plan, q, gaussian), furthest = gaussian ? sqrt(2) : 2,
                     share = norm * share_of_mass(q, norm, gaussian, weights) / most;
        /* a single cell moves by its mass, so that may be larger: rounded down, none moves further than the furthest */
        q->mass = (int64_t)floor(fmax(least, share * unit * (furthest / norm)));
        q->mass = q->again ? plan->queries[q->same].mass : q->mass;
    }
    find_block(plan, gaussian);
    place_cells(plan);
}

/* A row lies in one node of each level, or is missing, which is a cell beside the first level. */
static void list_levels(struct certificate_query *list, size_t *count, const struct ask_plan *plan,
                        struct ask_query *q)
{
    const struct ask_tree t = ask_tree_of(&plan->schema->columns[q->columns[0]]);
    for (size_t level = 1; level <= t.levels; level++)
        list[(*count)++] = (struct certificate_query){
            q->text, q->groups * (((size_t)1 << level) + (level == 1)), q->mass, 0, 0};
}

void ask_list_queries(struct certificate_query *list, size_t *count, const struct ask_plan *plan,
                      double scale, bool gaussian)
{
    *count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct ask_query *q = &plan->queries[i];
        for (size_t k = 0; q->one_by_one && !q->again && k < q->share_count; k++)
            list[(*count)++] = (struct certificate_query){q->text, q->groups, q->mass,
                                                          ask_choice_scale(q, scale, gaussian), 0};
        if (q->again || q->one_by_one)
            continue;
        if (q->statistic == ASK_QUANTILE)
            list_levels(list, count, plan, q);
        else if (q->parts > 0)
            list[(*count)++] =
                (struct certificate_query){q->text, q->groups * q->parts, q->mass, 0,
                                           q->in_block ? (double)ask_block_scale(plan, scale) : 0};
    }
}
