/* White box after Nasr et al. 2019. With known members of the target: white_box_known.c. Else a network learns on shadows,
 * inside which the attacker sees as well, what gradients, activations, loss and posteriors of members look like. Units of
 * two models correspond to nothing, so here each layer is told by numbers that do not depend on the order of its units:
 *
 *   once         log odds of the class, entropy, is it right, the three largest posteriors
 *   every layer  ln of the norm of its gradient, of the gradient that arrives at it, and of its input
 *   hidden ones  share of active units, mean and largest activation
 *
 * Of a network these are those of its last layer, then all six of each of its last dense and convolution layers.
 * Columns are standardised by the shadows' and clipped at 5 deviations. */
#include "attack/query/attack_net.h"
#include "audit/score/posterior.h"
#include "attack/query/white_box_known.h"
#include "attack/query/whitebox_layer.h"
#include "attack/query/whitebox_sketch.h"

#include <math.h>
#include <string.h>

enum { ONCE = 6, EVERY = 3, HIDDEN = 3, TOP = 3, SKETCHED = EVERY + HIDDEN };

static size_t width_of(const struct sotto_head *h)
{
    return ONCE + EVERY * h->layers + HIDDEN * (h->layers - 1);
}

static double log_norm(const double *x, size_t n)
{
    double squares = 1e-300;
    for (size_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    return 0.5 * log(squares);
}

static size_t put_once(float *out, const struct whitebox_features *v)
{
    size_t layers = v->head->layers, classes = v->head->width[layers], best = 0;
    int64_t y = (int64_t)v->y;
    struct attack_input one = {.outputs = v->value[layers], .labels = &y, .n = 1, .classes = classes};
    double top[TOP] = {0};
    for (size_t k = 0; k < classes; k++) {
        double p = exp(v->log_p[k]);
        best = v->log_p[k] > v->log_p[best] ? k : best;
        for (size_t t = 0; t < TOP; t++)
            if (p > top[t]) {
                double smaller = top[t];
                top[t] = p;
                p = smaller;
            }
    }
    out[0] = (float)posterior_signal(&one, 0);
    out[1] = (float)posterior_entropy(&one, 0);
    out[2] = best == v->y;
    for (size_t t = 0; t < TOP; t++)
        out[3 + t] = (float)top[t];
    return ONCE;
}

static void put_features(float *out, const struct whitebox_features *v)
{
    const struct sotto_head *h = v->head;
    size_t at = put_once(out, v);
    for (size_t l = 1; l <= h->layers; l++) {
        out[at++] = (float)whitebox_features_gradient(v, l);
        out[at++] = (float)log_norm(v->diff[l], h->width[l]);
        out[at++] = (float)log_norm(v->value[l - 1], h->width[l - 1]);
    }
    for (size_t l = 1; l < h->layers; l++) {
        double active = 0, sum = 0, largest = 0;
        for (size_t i = 0; i < h->width[l]; i++) {
            active += v->value[l][i] > 0;
            sum += v->value[l][i];
            largest = fmax(largest, v->value[l][i]);
        }
        out[at++] = (float)(active / (double)h->width[l]);
        out[at++] = (float)(sum / (double)h->width[l]);
        out[at++] = (float)largest;
    }
}

/* Columns of every record: of a head those of its layers; of a network those of its last layer and of the last layers. */
static sotto_status query_white_box_look(float *rows, size_t width, const struct sotto_head *head,
                                         const struct sotto_network *network, const struct head_data *records,
                                         const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct whitebox_layer side = {0};
    struct whitebox_features v = {0};
    struct whitebox_sketch s = {0};
    TRY(whitebox_layer_make(&side, head, network, records, in->ctx));
    TRY(whitebox_features_make(&v, side.head));
    if (network)
        TRY(whitebox_sketch_make(&s, NULL, network, records, in->options->layers, in->options->seed,
                                 in->ctx));
    size_t own = width_of(side.head);
    REQUIRE(own + SKETCHED * s.layers == width,
            "attack: white-box needs shadows with as many layers as the target (%zu numbers a record); they "
            "have %zu",
            width, own + SKETCHED * s.layers);
    for (size_t i = 0; i < records->n; i++, rows += width) {
        whitebox_features_look(&v, side.records.x + i * side.records.d, records->y[i]);
        put_features(rows, &v);
        for (size_t l = 0; l < s.layers; l++) {
            const struct layer_sketch *from = &s.layer[i * s.layers + l];
            const double all[SKETCHED] = {from->log_gradient, from->log_diff, from->log_input,
                                          from->active,       from->mean,     from->largest};
            for (size_t k = 0; k < SKETCHED; k++)
                rows[own + l * SKETCHED + k] = (float)all[k];
        }
    }
done:
    whitebox_sketch_clear(&s);
    whitebox_features_clear(&v);
    whitebox_layer_clear(&side);
    return status;
}

/* Adds the IN and OUT records of one shadow to the table. */
static sotto_status learn_from(struct output_table *t, const struct shadow_set *a, size_t model,
                               const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *data = &a->data;
    struct sotto_head *h = NULL;
    float *rows = NULL;
    NEW_ROWS(rows, data->n, t->width);
    if (!a->pool.networks)
        TRY(shadow_pool_head(&h, &a->pool, model));
    TRY(query_white_box_look(rows, t->width, h, h ? NULL : a->pool.networks[model], data, in));
    for (size_t i = 0; i < data->n; i++) {
        enum shadow_use use = a->use[model * data->n + i];
        if (use == SHADOW_UNUSED)
            continue;
        memcpy(t->x + t->n * t->width, rows + i * t->width, t->width * sizeof *rows);
        t->member[t->n++] = use == SHADOW_IN;
    }
done:
    base_free(rows);
    sotto_head_free(h);
    return status;
}

static sotto_status query_white_box_learn(struct output_table *t, const struct shadow_set *a, size_t width,
                                          const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t most = a->pool.models * a->data.n;
    t->width = width;
    NEW_ROWS(t->x, most, t->width);
    NEW(t->member, most);
    for (size_t m = 0; m < a->pool.models; m++)
        TRY(learn_from(t, a, m, in));
done:
    return status;
}

static void query_white_box_standardise(float *rows, size_t n, struct output_table *t)
{
    for (size_t j = 0; j < t->width; j++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < t->n; i++) {
            double x = (double)t->x[i * t->width + j], gap = x - mean;
            mean += gap / (double)(i + 1);
            squares += gap * (x - mean);
        }
        double spread = sqrt(squares / (double)t->n);
        for (size_t i = 0; i < t->n + n; i++) {
            float *x = i < t->n ? &t->x[i * t->width + j] : &rows[(i - t->n) * t->width + j];
            double z = spread > 0 ? ((double)*x - mean) / spread : 0;
            *x = (float)fmax(-5, fmin(5, z));
        }
    }
}

/* Numbers that are seen of a record. */
static sotto_status count_features(size_t *width, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct head_data one = in->records;
    struct whitebox_layer side = {0};
    struct whitebox_sketch s = {0};
    one.n = 1;
    TRY(whitebox_layer_make(&side, in->target->head, in->target->network, &one, in->ctx));
    if (in->target->network)
        TRY(whitebox_sketch_make(&s, NULL, in->target->network, &one, in->options->layers, in->options->seed,
                                 in->ctx));
    *width = width_of(side.head) + SKETCHED * s.layers;
done:
    whitebox_sketch_clear(&s);
    whitebox_layer_clear(&side);
    return status;
}

static sotto_status query_white_box_run(double *scores, struct query_result *result,
                                        const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct shadow_set shadows = {0};
    struct output_table known = {0};
    size_t n = in->records.n, width;
    float *rows = NULL;
    if (in->known.n > 0)
        return white_box_known(scores, result, in);
    TRY(count_features(&width, in));
    NEW_ROWS(rows, n, width);
    TRY(shadow_set_make(&shadows, in, 4, NULL));
    shadow_set_report(result, &shadows);
    if (result->pending)
        goto done;
    TRY(query_white_box_learn(&known, &shadows, width, in));
    TRY(query_white_box_look(rows, width, in->target->head, in->target->network, &in->records, in));
    query_white_box_standardise(rows, n, &known);
    TRY(attack_net_scores(scores, &known, rows, n, in->options->seed, in->ctx));
    result->threshold = 0;
    fact_text(&result->facts, "mode", "shadow");
    fact_count(&result->facts, "features", width);
done:
    output_table_clear(&known);
    shadow_set_clear(&shadows);
    base_free(rows);
    return status;
}

const struct query_attack query_white_box = {.name = "white-box",
                                             .title = "White box: a network on gradients and activations of "
                                                      "the last layers, trained on shadow models or known "
                                                      "members",
                                             .source = "Nasr et al. 2019",
                                             .needs = QUERY_POSTERIORS | QUERY_LABELS | QUERY_WEIGHTS |
                                                      QUERY_SHADOWS | QUERY_KNOWN_IF_ANY,
                                             .default_shadows = 4,
                                             .run = query_white_box_run};
