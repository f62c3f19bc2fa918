/* statistic.h - statistics of records, each with a proved sensitivity: the file holds the records, only the statistic is
 * released. Nothing about the records is refused or printed. */
#ifndef DP_RELEASE_STATISTIC_H
#define DP_RELEASE_STATISTIC_H

#include "dp/certificate/certificate.h"
#include "sotto/private/io.h"
#include "sotto/release.h"

#include <stdbool.h>

/** Puts the statistic that p names in the place of the records (n, columns) in *t, and its sensitivity under replace-one
 * adjacency (n public) into *r.
 *
 *  "mean"                 every value clipped to p->range and rounded to 2^-30 of it; one record moves a mean by width / n.
 *                         NaN counts as the middle
 *  "chi-square-genotypes" of cases against controls at each locus, 3 genotypes: one person moves it by 4n / (n + 2)
 *  "chi-square-alleles"   2 alleles: 8n / (n + 2); docs/derivations/tracing.md
 *
 *  "median"               the values themselves, or the means of p->blocks blocks, for sotto_dp_median()
 *
 *  Returns: EUSAGE, EINVAL: shapes and options, which are public; EIO, ENOMEM */
bool statistic_is_median(const struct sotto_protect *p);
/** How far one of so many records moves that statistic of so many columns. False: nothing is known of it. */
bool statistic_sensitivity(struct sotto_sensitivity *out, const char *name, double low, double high,
                           size_t records, size_t columns, bool scores);
/** Of queries on a table: each turns a record into whole numbers, its cells, that are at least 0 and add up to its mass, or are all 0,
 * whatever the record holds (docs/derivations/ask.md). So a query of one cell moves by its mass; another one by 2 masses in L1 norm,
 * sqrt 2 in L2. False: there are none.
 *  rows  of a person that count, at most; 0: records. So many times what comes out is how far a person moves them: a person moves a query
 *        "... per person", or one cell of "count persons", as a record does, and "count persons by" by sqrt(2 rows) in L2 */
bool statistic_of_queries(struct sotto_sensitivity *out, const struct certificate_query *queries,
                          size_t count, size_t rows);
/** The least scale of a choice by scores that one record moves by 1, so that noise of that mechanism and scale on a cell of the mass
 * dominates it (docs/derivations/ask.md). INFINITY: the noise of no other mechanism does. */
double statistic_choice_scale(const char *mechanism, double scale, int64_t mass);
/** Whether one of so many queries has the scales that its text asks for: each chosen quantile one of a choice, and no other query; only a single
 * cell of records one of a block. */
bool statistic_query_fits(const struct certificate_query *q, const struct certificate_query *queries,
                          size_t count);
/** Whether Laplace noise of that scale, on one cell that moves by all masses of a block, dominates the block's (docs/derivations/ask.md): its
 * masses and scales are equal, and the scale times the number of cells is not below that of the noise. True: there is no block. */
bool statistic_block_fits(const struct certificate_query *queries, size_t count, const char *mechanism,
                          double scale);
/** scores: the columns are candidates, so the sensitivity is that of one of them. */
sotto_status statistic_replace(struct sotto_tensors *t, struct sotto_release *r,
                               const struct sotto_protect *p, bool scores);

#endif
