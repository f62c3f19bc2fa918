/* EncoderMI (Liu et al., CCS 2021) rests on one observation: training pulls views of a member together, so
 * its views are more alike than those of a stranger. LpLA reads the same from the size of the embedding, the
 * contrastive loss from what training lowered. */
#include "attack/encoder/encoder_scores.h"

#include <math.h>
#include <stdlib.h>

static double encoder_scores_dot(const float *a, const float *b, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static double encoder_scores_cosine(const float *a, const float *b, size_t d)
{
    double size = sqrt(encoder_scores_dot(a, a, d) * encoder_scores_dot(b, b, d));
    return size > 0 ? encoder_scores_dot(a, b, d) / size : 0;
}

void encoder_similarities(float *out, size_t *zero, const struct encoder_records *r)
{
    *zero = 0;
    for (size_t i = 0; i < r->n; i++) {
        const float *record = r->views + i * r->view_count * r->d;
        for (size_t a = 0; a < r->view_count; a++) {
            *zero += encoder_scores_dot(record + a * r->d, record + a * r->d, r->d) == 0;
            for (size_t b = a + 1; b < r->view_count; b++)
                *out++ = (float)encoder_scores_cosine(record + a * r->d, record + b * r->d, r->d);
        }
    }
}

static int encoder_scores_rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void encoder_sort(float *rows, size_t n, size_t width)
{
    for (size_t i = 0; i < n; i++)
        qsort(rows + i * width, width, sizeof *rows, encoder_scores_rising);
}

void encoder_means(double *out, const float *rows, size_t n, size_t width)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        for (size_t k = 0; k < width; k++)
            out[i] += (double)rows[i * width + k] / (double)width;
    }
}

/* ln of the share that the partner has among partner and bank, seen from `anchor`. */
static double encoder_scores_share(const float *anchor, const float *partner, const struct encoder_records *r,
                                   const float *bank, size_t bank_n, double temperature)
{
    double own = encoder_scores_cosine(anchor, partner, r->d) / temperature, most = own, sum = 0;
    for (size_t k = 0; k < bank_n; k++)
        most = fmax(most, encoder_scores_cosine(anchor, bank + k * r->d, r->d) / temperature);
    for (size_t k = 0; k < bank_n; k++)
        sum += exp(encoder_scores_cosine(anchor, bank + k * r->d, r->d) / temperature - most);
    return own - most - log(sum + exp(own - most));
}

void encoder_contrast(double *out, const struct encoder_records *r, const float *bank, size_t bank_n,
                      double temperature)
{
    size_t pairs = r->view_count / 2;
    for (size_t i = 0; i < r->n; i++) {
        out[i] = 0;
        for (size_t k = 0; k < pairs; k++) {
            const float *a = r->views + (i * r->view_count + 2 * k) * r->d, *b = a + r->d;
            out[i] += (encoder_scores_share(a, b, r, bank, bank_n, temperature) +
                       encoder_scores_share(b, a, r, bank, bank_n, temperature)) /
                      (2 * (double)pairs);
        }
    }
}

void encoder_norms(double *out, const struct encoder_records *r)
{
    for (size_t i = 0; i < r->n; i++)
        out[i] = 0.5 * log(fmax(encoder_scores_dot(r->plain + i * r->d, r->plain + i * r->d, r->d), 1e-300));
}

static void encoder_scores_fit(double *mean, double *deviation, const double *x, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *deviation = fmax(sqrt(squares / (double)(n > 1 ? n - 1 : 1)), 1e-9);
}

struct normal_pair normal_pair_fit(const double *member, size_t n_member, const double *nonmember,
                                   size_t n_nonmember)
{
    struct normal_pair p;
    encoder_scores_fit(&p.mean[0], &p.deviation[0], member, n_member);
    encoder_scores_fit(&p.mean[1], &p.deviation[1], nonmember, n_nonmember);
    return p;
}

double normal_pair_ratio(const struct normal_pair *p, double x)
{
    double a = (x - p->mean[0]) / p->deviation[0], b = (x - p->mean[1]) / p->deviation[1];
    return 0.5 * (b * b - a * a) + log(p->deviation[1] / p->deviation[0]);
}
