/* Noise on a vector. Every value, a double, is rounded to a lattice by integers (or is on one by itself),
 * noise is a whole number of steps, the sum is an integer, and what is written is a function of that integer
 * alone: floats differ from doubles in that last rounding only. */
#include "base/memory.h"
#include "dp/noise/knorm.h"
#include "dp/release/release.h"

static const char *const samplers[] = {
    [RELEASE_LATTICE] = "exact, integers only: floor of the continuous law on a power-of-two lattice",
    [RELEASE_INTEGER] = "exact, integers only: whole multiples of the step of the values",
    [RELEASE_VECTOR] = ("NOT exact: direction and radius in double precision, then rounded to a "
                        "power-of-two lattice")};
static const char fixed_sampler[] = FIXED_SAMPLER ", integers only: floor of the continuous law on a "
                                                  "power-of-two lattice, nearly exact";

/* The vector, in place: n floats or doubles. */
struct values {
    void *data;
    size_t n;
    bool doubles;
};

static double value_at(const struct values *v, size_t i)
{
    return v->doubles ? ((const double *)v->data)[i] : (double)((const float *)v->data)[i];
}

static sotto_status check_vector(const struct values *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (!isfinite(value_at(v, i)))
            return status_fail(SOTTO_EINVAL, "release: value %zu of %zu is %s; all must be finite", i, v->n,
                               isnan(value_at(v, i)) ? "NaN" : "infinite");
    return SOTTO_OK;
}

static sotto_status require_whole(const struct values *v, double step)
{
    for (size_t i = 0; i < v->n; i++)
        if (fmod(value_at(v, i), step) != 0)
            return status_fail(SOTTO_EINVAL,
                               "release: value %zu of %zu is %.17g; expected a whole multiple of the step %g "
                               "of the discrete noise",
                               i, v->n, value_at(v, i), step);
    return SOTTO_OK;
}

static void put_sums(struct values *v, const int128 *q, const int128 *drawn, struct lattice lattice)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->doubles)
            ((double *)v->data)[i] = lattice_double(2 * q[i] + drawn[i], lattice);
        else
            ((float *)v->data)[i] = lattice_value(2 * q[i] + drawn[i], lattice);
}

/* All noise, in half steps of the lattice: lattice_value() of 2 q + drawn is what is released. */
static void draw(int128 *drawn, const struct release_plan *p, uint64_t ratio, unsigned shift, struct noise *s)
{
    const struct mechanism *m = p->mechanism;
    for (size_t i = 0; i < p->n; i++)
        drawn[i] = m->integer ? 2 * integer_signed(s, m->integer->magnitude, ratio, shift)
                              : lattice_release(s, 0, m->magnitude(s, ratio));
}

static void draw_fixed(int128 *drawn, const struct release_plan *p, const struct fixed_table *table,
                       struct noise *s)
{
    for (size_t i = 0; i < p->n; i += 2) {
        uint64_t pair[2];
        p->mechanism->fixed(pair, s, table);
        drawn[i] = lattice_release(s, 0, pair[0]);
        if (i + 1 < p->n)
            drawn[i + 1] = lattice_release(s, 0, pair[1]);
        base_wipe(pair, sizeof pair);
    }
}

static void draw_vector(int128 *drawn, const struct release_plan *p, double *reals, struct noise *s)
{
    knorm_draw(reals, p->n, p->account.scale, s);
    for (size_t i = 0; i < p->n; i++)
        drawn[i] = 2 * (int128)nearbyint(ldexp(reals[i], -p->lattice_exponent));
}

static sotto_status release(struct sotto_certificate **certificate, struct values v,
                            const struct sotto_release *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t n = v.n;
    struct release_plan plan;
    struct fixed_table *table = NULL;
    struct noise *stream = NULL;
    int128 *q = NULL, *drawn = NULL;
    double *reals = NULL;
    uint64_t ratio;
    unsigned shift = 0;
    size_t real_count = 1;
    TRY(check_vector(&v));
    TRY(release_plan(&plan, r, n, 1u << RELEASE_LATTICE | 1u << RELEASE_INTEGER | 1u << RELEASE_VECTOR, ctx));
    const enum release_kind kind = plan.mechanism->kind;
    struct lattice lattice = lattice_make(plan.account.scale);
    ratio = lattice.m;
    NEW(q, n);
    NEW(drawn, n);
    real_count = kind == RELEASE_VECTOR ? n : 1;
    NEW(reals, real_count);
    NEW(table, 1);
    if (kind == RELEASE_INTEGER) {
        double step = plan.sensitivity.value_step == 0 ? 1 : plan.sensitivity.value_step;
        if (!lattice_ratio(&ratio, &shift, plan.account.scale / step))
            FAIL(SOTTO_EDOMAIN, "release: scale %g is out of range; expected 2^-9 to 2^52 steps of %g",
                 plan.account.scale, step);
        lattice.exponent = ilogb(step);
        TRY(require_whole(&v, step));
    }
    for (size_t i = 0; i < n; i++)
        q[i] = lattice_index(value_at(&v, i), lattice);
    plan.lattice_exponent = lattice.exponent;
    plan.sampler = r->constant_time ? fixed_sampler : samplers[kind];
    TRY(release_record(&stream, certificate, &plan, ctx));
    /* all noise first: its running time depends on nothing private */
    if (r->constant_time) {
        fixed_table_make(table, lattice.m);
        draw_fixed(drawn, &plan, table, stream);
    } else if (kind == RELEASE_VECTOR) {
        draw_vector(drawn, &plan, reals, stream);
    } else {
        draw(drawn, &plan, ratio, shift, stream);
    }
    put_sums(&v, q, drawn, lattice);
done:
    if (q)
        base_wipe(q, n * sizeof *q);
    if (drawn)
        base_wipe(drawn, n * sizeof *drawn);
    if (reals)
        base_wipe(reals, real_count * sizeof *reals);
    base_free(q);
    base_free(drawn);
    base_free(reals);
    base_free(table);
    noise_close(stream);
    return status;
}

sotto_status sotto_dp_release(struct sotto_certificate **certificate, float *vector, size_t n,
                              const struct sotto_release *r, const struct sotto_context *ctx)
{
    return release(certificate, (struct values){vector, n, false}, r, ctx);
}

sotto_status sotto_dp_release_double(struct sotto_certificate **certificate, double *vector, size_t n,
                                     const struct sotto_release *r, const struct sotto_context *ctx)
{
    return release(certificate, (struct values){vector, n, true}, r, ctx);
}
