/* Bounds that are charged to the ledger: for each column of numbers the 5 % and the 95 % quantile, each
 * selected by the exponential mechanism among edges that only the declared bounds decide.
 *
 * The score of edge x for rank k is -|#{values < x} - k|. Replacing one record changes the count by at most 1
 * and k, which n decides, not at all, so scores have sensitivity 1 under replace-one, whatever the values
 * are. */
#include "base/file.h"
#include "base/status.h"
#include "data/encoding/encoding.h"
#include "dp/ledger/ledger_account.h"
#include "dp/ledger/ledger_registry.h"
#include "sotto/release.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGES = 513 };
static const double tail = 0.05;
static const size_t most_records = 1 << 24; /* counts that a float holds as they are */

/* Even in asinh: steps of a few per cent far from 0, of the range's millionth near it. */
static void place_edges(double edges[EDGES], double low, double high)
{
    double unit = ldexp(high / 2 - low / 2, -19), from = asinh(low / unit), to = asinh(high / unit);
    for (size_t i = 0; i < EDGES; i++)
        edges[i] = unit * sinh(from + (to - from) * (double)i / (EDGES - 1));
    edges[0] = low;
    edges[EDGES - 1] = high;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void encoding_score_edges(double *scores, const double *edges, size_t count, const double *sorted, size_t n,
                          double rank)
{
    size_t below = 0;
    for (size_t i = 0; i < count; i++) {
        while (below < n && sorted[below] < edges[i])
            below++;
        scores[i] = -fabs((double)below - rank);
    }
}

static sotto_status select_edge(size_t *chosen, const double edges[EDGES], const double *sorted, size_t n,
                                double rank, const char *purpose, double epsilon,
                                const struct encoding_release *request, const struct sotto_context *ctx)
{
    double scores[EDGES];
    struct sotto_certificate *certificate = NULL;
    struct sotto_release r = {.mechanism = "exponential",
                              .scale = NAN,
                              .target = {epsilon, 0},
                              .sensitivity = {1, NAN, 0, SOTTO_SENSITIVITY_PROVED, "", 0},
                              .spend = {.dataset_id = request->dataset_id,
                                        .ledger = request->ledger,
                                        .source = request->source,
                                        .provenance = request->whose,
                                        .purpose = purpose},
                              .records = n};
    encoding_score_edges(scores, edges, EDGES, sorted, n, rank);
    sotto_status status = sotto_dp_select(chosen, &certificate, scores, EDGES, &r, ctx);
    *request->charged += status == SOTTO_OK;
    sotto_certificate_free(certificate);
    return status;
}

/* Both ends of one column. Selected apart from each other, they may cross or meet. */
static sotto_status release_column(struct encoding_column *c, const double *sorted, size_t n, double epsilon,
                                   const struct encoding_release *request, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double edges[EDGES];
    char purpose[256];
    size_t low, high;
    place_edges(edges, c->low, c->high);
    snprintf(purpose, sizeof purpose, "lower bound of column %.200s", c->name);
    TRY(select_edge(&low, edges, sorted, n, floor(tail * (double)n), purpose, epsilon, request, ctx));
    snprintf(purpose, sizeof purpose, "upper bound of column %.200s", c->name);
    TRY(select_edge(&high, edges, sorted, n, ceil((1 - tail) * (double)n), purpose, epsilon, request, ctx));
    if (high < low) {
        size_t swap = low;
        low = high;
        high = swap;
    }
    low -= low == high && high == EDGES - 1;
    high += low == high;
    if (edges[low] < edges[high]) { /* else so narrow that edges fall together: the declared ones stay */
        c->low = edges[low];
        c->high = edges[high];
    }
    c->missing = fmin(fmax(c->missing, c->low), c->high);
    encoding_scale_by_bounds(c);
done:
    return status;
}

/* Refused before the first of many entries rather than after some of them. */
static sotto_status check_budget(const struct encoding_release *request)
{
    sotto_status status = SOTTO_OK;
    struct ledger ledger = {.lock = {.fd = -1}};
    char *path = NULL;
    if (!request->ledger)
        TRY(ledger_default_path(&path, request->dataset_id));
    if (!file_exists(path ? path : request->ledger))
        goto done;
    TRY(ledger_read(&ledger, path ? path : request->ledger));
    status = ledger_check_pure(&ledger, request->epsilon);
    if (status == SOTTO_EBUDGET)
        status_prefix("split, nothing was charged");
done:
    ledger_close(&ledger);
    base_free(path);
    return status;
}

static size_t count_numbers(const struct sotto_table_encoding *e)
{
    size_t numbers = 0;
    for (size_t j = 0; j < e->count; j++)
        numbers += e->columns[j].kind == COLUMN_NUMBER;
    return numbers;
}

sotto_status encoding_release_check(const struct sotto_table_encoding *e, const struct sotto_dataset *s,
                                    const struct encoding_release *request)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(e && e->how == SOTTO_ENCODING_DECLARED,
            "split: {private_epsilon|private-fit} finds bounds within declared ones; "
            "give {schema} with wide bounds, categories and "
            "classes (categories cannot be found privately)");
    REQUIRE(isfinite(request->epsilon) && request->epsilon > 0,
            "split: {private_epsilon|private-fit=%.9g}; expected more than 0", request->epsilon);
    REQUIRE(request->dataset_id && request->dataset_id[0],
            "split: {private_epsilon|private-fit} charges a ledger; give the private data set's name by "
            "{dataset_id||dataset}");
    REQUIRE(!s->dataset_id[0] || strcmp(request->dataset_id, s->dataset_id) == 0,
            "split: %s belongs to data set '%s', not to '%s'; omit {dataset_id||dataset}", s->name,
            s->dataset_id, request->dataset_id);
    REQUIRE(count_numbers(e) > 0,
            "split: {private_epsilon|private-fit}: %s has no number column; expected at least one", e->by);
    REQUIRE(s->n < most_records, "split: {private_epsilon|private-fit}: %zu records; expected fewer than %zu",
            s->n, most_records);
    TRY(check_budget(request));
done:
    return status;
}

/* A hair less than the share of each entry: they are rounded up, and a budget must hold their sum. */
static double encoding_private_share(const struct sotto_table_encoding *e,
                                     const struct encoding_release *request)
{
    return request->epsilon / (2 * (double)count_numbers(e)) * (1 - 1e-9);
}

void encoding_name_charge(double epsilon)
{
    status_hint("epsilon %.6g of {private_epsilon|private-fit} was charged, and its bounds are lost; another "
                "split is charged again",
                epsilon);
}

sotto_status encoding_release(struct sotto_table_encoding *e, const struct sotto_dataset *s,
                              const struct encoding_release *request, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct encoding_rows *r = NULL;
    double *values = NULL;
    unsigned char(*digests)[SOTTO_DIGEST] = NULL;
    struct sotto_source_records source = {.n = s->n,
                                          .public_set = sotto_dataset_is_public(request->dataset_id)};
    struct encoding_release with_records = *request;
    struct sotto_provenance whose = {0};
    const double epsilon = encoding_private_share(e, request);
    size_t charged = 0;
    with_records.charged = &charged;
    TRY(encoding_rows_open(&r, e, s));
    NEW(values, s->n);
    NEW(digests, s->n);
    TRY(sotto_dataset_digests(digests, s, NULL, s->n, ctx));
    source.digests = source.public_set ? NULL : (const unsigned char(*)[SOTTO_DIGEST])digests;
    with_records.source = &source;
    TRY(sotto_provenance_of_rows(&whose, s, NULL, s->n));
    with_records.whose = &whose;
    for (size_t j = 0; j < e->count; j++) {
        struct encoding_column *c = &e->columns[j];
        if (c->kind != COLUMN_NUMBER)
            continue;
        for (size_t i = 0; i < s->n; i++)
            values[i] = encoding_number(e, c, encoding_rows_cell(r, i, j));
        qsort(values, s->n, sizeof *values, by_size);
        TRY(release_column(c, values, s->n, epsilon, &with_records, ctx));
    }
    e->how = SOTTO_ENCODING_RELEASED;
    snprintf(e->by, sizeof e->by, "private quantiles of epsilon %.9g in all, replace-one", request->epsilon);
done:
    if (status != SOTTO_OK && charged > 0)
        encoding_name_charge(epsilon * (double)charged);
    sotto_provenance_clear(&whose);
    base_free(digests);
    base_free(values);
    encoding_rows_close(r);
    return status;
}
