/* encoder_scores.h - what an encoder's embeddings of a record's views say about its membership.
 *
 * Numbers of one record, from `views` random views of it and the record as it is. No score looks at who is a
 * member. */
#ifndef ATTACK_ENCODER_ENCODER_SCORES_H
#define ATTACK_ENCODER_ENCODER_SCORES_H

#include "base/memory.h"

/** Embeddings of n records: views (n, views, d), plain (n, d). */
struct encoder_records {
    const float *views, *plain;
    size_t n, view_count, d;
};
static inline size_t encoder_pairs(size_t views)
{
    return views * (views - 1) / 2;
}
/** Cosines of all pairs of a record's views, in the pairs' order: out (n, pairs). An embedding of norm 0 has
 * cosine 0 with all; *zero counts such views. */
void encoder_similarities(float *out, size_t *zero, const struct encoder_records *r);
/** Each row in rising order, in place. */
void encoder_sort(float *rows, size_t n, size_t width);
/** Mean of each row: EncoderMI-T. */
void encoder_means(double *out, const float *rows, size_t n, size_t width);
/** Minus the contrastive loss of views 0 and 1, 2 and 3, ..., both directions, with the bank (bank_n, d) as
 * negatives, averaged. Higher: the pair stands out more. */
void encoder_contrast(double *out, const struct encoder_records *r, const float *bank, size_t bank_n,
                      double temperature);
/** ln of the L2 norm of each record as it is (smallest positive number for 0). */
void encoder_norms(double *out, const struct encoder_records *r);
/** Two normal distributions of such numbers: ln of the density ratio members / non-members. */
struct normal_pair {
    double mean[2], deviation[2]; /* members, non-members */
};
struct normal_pair normal_pair_fit(const double *member, size_t n_member, const double *nonmember,
                                   size_t n_nonmember);
double normal_pair_ratio(const struct normal_pair *p, double x);

#endif
