/* ask_query.h - queries as they are parsed: what a row adds to their cells, and how far one row moves them. */
#ifndef ASK_ASK_QUERY_H
#define ASK_ASK_QUERY_H

#include "data/encoding/encoding.h"

/* The most levels of a tree of quantiles. */
enum { ASK_LEVELS = 11 };
/* The most quantiles of a query that are chosen one by one. */
enum { ASK_ONE_BY_ONE = 4 };
enum { ASK_PARTS = 10, ASK_SHARES = 32, ASK_KEYS = 6, ASK_TERMS = 8, ASK_TEXT = 1024, ASK_COLUMNS = 2 };
#define ASK_CELLS ((size_t)1 << 24) /* of all queries together */

enum ask_statistic {
    ASK_COUNT, /* by keys, or where; histograms and cross tables are counts by their columns */
    ASK_SUM,
    ASK_MEAN,
    ASK_VARIANCE,
    ASK_DEVIATION,
    ASK_COVARIANCE,
    ASK_CORRELATION,
    ASK_QUANTILE
};
/* A column whose values divide the rows. The last cell is that of missing values. */
struct ask_key {
    size_t column;
    double *edges; /* (cells) of a number: cell i is from edges[i] to edges[i + 1]; NULL: categories */
    size_t cells;
    char text[512]; /* as in the canonical query */
};
enum ask_comparison { ASK_IS, ASK_IS_NOT, ASK_BELOW, ASK_AT_MOST, ASK_ABOVE, ASK_AT_LEAST, ASK_IS_MISSING };
struct ask_term {
    size_t column;
    enum ask_comparison comparison;
    size_t count;
    double *values; /* (count) numbers, or category numbers; a row needs one of them */
};
struct ask_query {
    enum ask_statistic statistic;
    size_t columns[ASK_COLUMNS], column_count;
    double shares[ASK_SHARES]; /* of quantiles */
    size_t share_count;
    struct ask_key keys[ASK_KEYS];
    size_t key_count;
    struct ask_term terms[ASK_TERMS];
    size_t term_count;
    char text[ASK_TEXT]; /* canonical: what is the same query has the same text */
    bool persons;        /* of a count: persons, each once in a cell */
    bool per_person;     /* each of a person's rows counts as a part of one, so that a person counts once */
    char name[128];      /* "as" */
    double weight;       /* 1, or as it says */
    /* what follows: */
    size_t groups, parts; /* cells = groups * parts; parts 0: public, free */
    size_t first;         /* of its cells in the vector */
    bool in_block;        /* pure noise: its one cell shares a radius with others (dp/noise/cube.h) */
    bool interval;        /* "with interval" */
    bool one_by_one;      /* of quantiles: each is chosen (ask_choice.h), and its cells are not released */
    size_t chosen;        /* first of its choices in the vector: groups * share_count, behind all cells */
    bool
        single; /* one cell, which a row adds 0 to mass to; of a second moment: about the middle of the bounds */
    int64_t mass; /* of a quantile: on each level of its tree (ask_quantile.h) */
    bool again;   /* it is query number `same` once more: answered from the same cells */
    size_t same;
};
struct ask_plan {
    const struct sotto_table_encoding *schema; /* borrowed */
    struct ask_query *queries;
    size_t count, cells;  /* with noise of their own; */
    size_t block;         /* behind them, those that share a radius; */
    size_t sums, choices; /* all cells and those that are only counted; choices behind the noisy cells */
    size_t most;          /* rows of a person that count; 0: records */
    bool *used;           /* (schema->count + 1) columns that a query reads; the last one is the label */
};

/** Parses texts (count), of one or more queries each, and fills in everything but first and mass.
 *  name  of the schema, for errors
 *  Errors: EUSAGE: the query, the character, and a way out; ENOMEM */
sotto_status ask_parse(struct ask_plan *plan, const char *const *texts, size_t count,
                       const struct sotto_table_encoding *schema, const char *name);
void ask_plan_clear(struct ask_plan *plan);

/** The label column is number schema->count. */
const char *ask_column_name(const struct sotto_table_encoding *e, size_t column);
enum column_kind ask_column_kind(const struct sotto_table_encoding *e, size_t column);
const struct text_list *ask_categories(const struct sotto_table_encoding *e, size_t column);
/** Does every unknown value count as one of the categories? Else there is a cell "(other)". */
bool ask_declares_other(const struct sotto_table_encoding *e, size_t column);
/** Cells of a category column: its categories, perhaps "(other)", and "(missing)". */
size_t ask_category_cells(const struct sotto_table_encoding *e, size_t column);
/** Which cell of one of its keys a group of the query is. */
size_t ask_key_cell(const struct ask_query *q, size_t group, size_t key);
/** What a cell is called. Returns out. */
const char *ask_cell_name(char out[256], const struct ask_plan *plan, const struct ask_key *key, size_t cell);

/* ---- rows ---- */

/** One value of a row. */
struct ask_value {
    double number; /* of a number column; NAN: missing */
    size_t code;   /* of a category column: its cell */
};
/** missing: the texts of the schema that stand for no value. */
struct ask_value ask_value_of(const struct sotto_table_encoding *e, size_t column, struct cell cell);
/** Adds a row to the sums (plan->sums), but for persons; values (schema->count + 1), those of used columns.
 *  rows  of the same person that count, with it; 1: records */
void ask_add_row(int64_t *sums, const struct ask_plan *plan, const struct ask_value *values, size_t rows);
/** The group of a query that a row is in. False: it does not meet the conditions. */
bool ask_group_of(size_t *group, const struct ask_plan *plan, const struct ask_query *q,
                  const struct ask_value *values);
/** Does a query count persons, or have a mean per person? */
bool ask_counts_persons(const struct ask_plan *plan);
bool ask_is_per_person(const struct ask_plan *plan);

/* ---- how far one row moves the cells ---- */

/** The scale of the block's noise, and how many times the precision of a cell of it is that of another cell. */
uint64_t ask_block_scale(const struct ask_plan *plan, double scale);
double ask_precision(const struct ask_plan *plan, const struct ask_query *q);
/** Places cells and choices, and gives every query its mass. Equal ones move as far as each other, in L2 (Gaussian noise) or L1.
 *  weights  enum sotto_ask_weights */
void ask_share(struct ask_plan *plan, bool gaussian, int weights);
struct certificate_query;
/** What the certificate says of them, each once, and what their sensitivity follows from (dp/release/statistic.h).
 *  In:      scale  of the noise, which gives the scales of choices
 *  Out:     list   (*count), has room for ASK_LEVELS * plan->count: a tree of quantiles has a histogram for each level; texts are borrowed */
void ask_list_queries(struct certificate_query *list, size_t *count, const struct ask_plan *plan,
                      double scale, bool gaussian);

#endif
