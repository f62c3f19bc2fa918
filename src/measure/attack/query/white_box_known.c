/* Nasr, Shokri and Houmansadr 2019, passive: the attack network learns on records of the target itself of which membership is
 * known. It has four branches: results of the layers that are read, the record's class, its loss, and for each layer ln of
 * the gradient's norm beside a sketch of the gradient. Columns are standardised by the known records' and clipped at 5
 * deviations. */
#include "attack/query/white_box_known.h"

#include "attack/query/branch_net.h"
#include "attack/query/whitebox_sketch.h"

#include <math.h>
#include <string.h>

enum { OUTPUTS, LABEL, LOSS, GRADIENTS, PARTS, EACH = 1 + SKETCH };

static void white_box_known_put(float *row, const struct whitebox_sketch *s, size_t i, size_t y,
                                size_t classes)
{
    memcpy(row, s->output + i * s->outputs, s->outputs * sizeof *row);
    row += s->outputs;
    memset(row, 0, classes * sizeof *row);
    row[y] = 1;
    row += classes;
    *row++ = (float)s->loss[i];
    for (size_t l = 0; l < s->layers; l++) {
        const struct layer_sketch *from = &s->layer[i * s->layers + l];
        *row++ = (float)from->log_gradient;
        for (size_t k = 0; k < SKETCH; k++)
            *row++ = (float)from->sketch[k];
    }
}

static sotto_status make_rows(float **rows, struct branch_table *t, const struct head_data *records,
                              const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct whitebox_sketch s = {0};
    TRY(whitebox_sketch_make(&s, in->target->head, in->target->network, records, in->options->layers,
                             in->options->seed, in->ctx));
    const struct branch part[PARTS] = {[OUTPUTS] = {s.outputs, 128},
                                       [LABEL] = {records->classes, 128},
                                       [LOSS] = {1, 100},
                                       [GRADIENTS] = {s.layers * EACH, 100}};
    size_t width = 0;
    memcpy(t->part, part, sizeof part);
    t->parts = PARTS;
    for (size_t k = 0; k < PARTS; k++)
        width += part[k].width;
    NEW_ROWS(*rows, records->n, width);
    for (size_t i = 0; i < records->n; i++)
        white_box_known_put(*rows + i * width, &s, i, (size_t)records->y[i], records->classes);
done:
    whitebox_sketch_clear(&s);
    return status;
}

/* By mean and deviation of the known rows. */
static void white_box_known_standardise(float *known, size_t n, float *judged, size_t m, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < n; i++)
            mean += (double)known[i * width + j] / (double)n;
        for (size_t i = 0; i < n; i++)
            squares += pow((double)known[i * width + j] - mean, 2) / (double)n;
        for (size_t i = 0; i < n + m; i++) {
            float *x = i < n ? &known[i * width + j] : &judged[(i - n) * width + j];
            double z = squares > 0 ? ((double)*x - mean) / sqrt(squares) : 0;
            *x = (float)fmax(-5, fmin(5, z));
        }
    }
}

sotto_status white_box_known(double *scores, struct query_result *result, const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    struct branch_table t = {.n = in->known.n, .member = in->known_member};
    float *known = NULL, *judged = NULL;
    size_t width = 0, members = 0;
    TRY(make_rows(&known, &t, &in->known, in));
    TRY(make_rows(&judged, &t, &in->records, in));
    for (size_t k = 0; k < PARTS; k++)
        width += t.part[k].width;
    white_box_known_standardise(known, in->known.n, judged, in->records.n, width);
    t.x = known;
    TRY(branch_net_scores(scores, &t, judged, in->records.n, BRANCH_EPOCHS, in->options->seed, in->ctx));
    result->threshold = 0; /* it learnt from as many members as others */
    for (size_t i = 0; i < in->known.n; i++)
        members += in->known_member[i];
    fact_text(&result->facts, "mode", "known");
    fact_count(&result->facts, "known_members", members);
    fact_count(&result->facts, "known_nonmembers", in->known.n - members);
    fact_count(&result->facts, "layers", t.part[GRADIENTS].width / EACH);
    fact_count(&result->facts, "features", width);
done:
    base_free(known);
    base_free(judged);
    return status;
}
