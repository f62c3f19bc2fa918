/* Sums of second moments. What the bound rests on is here: every record enters through moment_place(), once,
 * and all sums are in double. */
#include "head/private/moments.h"

#include "par/par.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64 }; /* records added at a time: their products stay in a core's cache */

struct moment_shape moment_shape_of(const struct sotto_head_recipe *r, size_t inputs, size_t classes)
{
    return (struct moment_shape){.inputs = inputs,
                                 .classes = classes,
                                 .q = inputs + (r->bias > 0),
                                 .outputs = classes == 2 ? 1 : classes,
                                 .constant = r->bias};
}

bool moment_dimension(size_t *out, const struct moment_shape *s)
{
    size_t square, cross;
    if (!size_multiply(&square, s->q, s->q + 1) || !size_multiply(&cross, s->q, s->outputs))
        return false;
    return size_add(out, square / 2, cross);
}

void moment_class_vector(double *u, int64_t y, const struct moment_shape *s)
{
    if (y == HEAD_NOTHING) {
        memset(u, 0, s->outputs * sizeof *u);
        return;
    }
    if (s->outputs == 1) {
        u[0] = y ? sqrt(0.5) : -sqrt(0.5);
        return;
    }
    for (size_t k = 0; k < s->outputs; k++)
        u[k] = (k == (size_t)y ? 1 : 0) - 1 / (double)s->classes;
}

/* The computed square may be too small by d + 1 roundings, the scaled entries too large by two. */
static double place_in_ball(double *out, const float *x, size_t inputs, double radius)
{
    double square = 0;
    for (size_t i = 0; i < inputs; i++)
        square += (double)x[i] * x[i];
    double norm = sqrt(square * (1 + ((double)inputs + 4) * 0x1p-52)) * (1 + 0x1p-50);
    double factor = (1 - 0x1p-48) / (norm > radius ? norm : radius);
    for (size_t i = 0; i < inputs; i++)
        out[i] = x[i] * factor;
    return norm / radius;
}

static double place_in_box(double *out, const float *x, size_t inputs, double radius)
{
    double beyond = 0;
    for (size_t i = 0; i < inputs; i++) {
        double value = x[i] / radius, inside = value < 0 ? 0 : value > 1 ? 1 : value;
        beyond = fmax(beyond, fabs(value - inside));
        out[i] = inside;
    }
    return 1 + beyond;
}

double moment_place(double *out, const float *x, size_t inputs, enum moment_domain domain, double radius)
{
    return domain == MOMENT_BALL ? place_in_ball(out, x, inputs, radius)
                                 : place_in_box(out, x, inputs, radius);
}

/* One that counts as nothing lies at the origin and in no class. */
static void place_record(double *out, const struct head_data *data, size_t i, enum moment_domain domain,
                         double radius)
{
    if (data->y[i] == HEAD_NOTHING)
        memset(out, 0, data->d * sizeof *out);
    else
        moment_place(out, data->x + i * data->d, data->d, domain, radius);
}

struct work {
    const struct moment_kernels *kernels;
    struct arena memory;
    size_t ld, rows;
    double *z;    /* (ROWS, ld): records, constant, classes */
    double *sums; /* (q, ld) */
    double *tile; /* (threads, MOMENT_STRIP, ld) */
    size_t q;
};

static sotto_status add_strip(void *arg, size_t chunk, int thread)
{
    const struct work *w = arg;
    size_t first = chunk * MOMENT_STRIP, strip = w->q - first < MOMENT_STRIP ? w->q - first : MOMENT_STRIP;
    w->kernels->add(w->sums, w->z, w->ld, w->rows, first, strip,
                    w->tile + (size_t)thread * MOMENT_STRIP * w->ld);
    return SOTTO_OK;
}

static sotto_status moments_plan(struct work *w, const struct moment_shape *s, size_t threads)
{
    sotto_status status = SOTTO_OK;
    size_t ignored;
    *w = (struct work){.kernels = moment_kernels_find(), .q = s->q};
    w->ld = (s->q + s->outputs + MOMENT_ALIGN - 1) / MOMENT_ALIGN * MOMENT_ALIGN;
    REQUIRE(size_multiply(&ignored, w->ld, w->ld * sizeof(double)),
            "head: the products of %zu features do not fit in memory", s->inputs);
    for (int pass = 0; pass < 2; pass++) {
        w->z = arena_take(&w->memory, ROWS * w->ld, sizeof(double));
        w->sums = arena_take(&w->memory, s->q * w->ld, sizeof(double));
        w->tile = arena_take(&w->memory, threads * MOMENT_STRIP * w->ld, sizeof(double));
        if (pass == 0)
            TRY(arena_reserve(&w->memory, "second moments"));
    }
done:
    return status;
}

static void moments_pack(float *vector, const struct work *w, const struct moment_shape *s,
                         struct moment_weights to)
{
    for (size_t i = 0; i < s->q; i++)
        for (size_t j = i; j < s->q; j++)
            *vector++ = (float)(w->sums[i * w->ld + j] * to.square * (i == j ? 1 : sqrt(2)));
    for (size_t i = 0; i < s->q; i++)
        for (size_t k = 0; k < s->outputs; k++)
            *vector++ = (float)(w->sums[i * w->ld + s->q + k] * to.cross);
}

sotto_status moment_sums(float *vector, const struct moment_trainer *t, const struct sotto_head_recipe *r,
                         const struct head_data *data, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct moment_shape shape = moment_shape_of(r, data->d, data->classes);
    struct work w;
    size_t threads = (size_t)par_threads(ctx), strips = (shape.q + MOMENT_STRIP - 1) / MOMENT_STRIP;
    TRY(moments_plan(&w, &shape, threads));
    for (size_t first = 0; first < data->n; first += w.rows) {
        w.rows = data->n - first < ROWS ? data->n - first : ROWS;
        for (size_t i = 0; i < w.rows; i++) {
            double *row = w.z + i * w.ld;
            place_record(row, data, first + i, t->domain, r->clip);
            if (shape.q > data->d)
                row[data->d] = shape.constant;
            moment_class_vector(row + shape.q, data->y[first + i], &shape);
        }
        TRY(par_chunks(strips, (int)threads, add_strip, &w));
        context_progress(ctx, "moments", first + w.rows, data->n, "records");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "stopped after %zu of %zu records; nothing was released", first + w.rows,
                 data->n);
    }
    moments_pack(vector, &w, &shape, t->weights(r, data->classes));
done:
    arena_clear(&w.memory);
    return status;
}

ISA_TABLE(const struct moment_kernels, moment_kernels, moment_kernels_find);
