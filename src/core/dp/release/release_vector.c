/* Noise on a vector. Every value, a double, is rounded to a lattice by integers (or is on one by itself),
 * noise is a whole number of steps, the sum is an integer, and what is written is a function of that integer
 * alone: floats differ from doubles in that last rounding only (docs/derivations/exact-noise.md, section 1). */
#include "base/memory.h"
#include "dp/noise/cube.h"
#include "dp/noise/discretised_noise.h"
#include "dp/noise/knorm.h"
#include "dp/release/charge_hint.h"
#include "dp/release/release_vector.h"
#include "par/par.h"
#include "sotto/release.h"

static const char *const samplers[] = {
    [RELEASE_LATTICE] = LATTICE_SAMPLER,
    [RELEASE_INTEGER] = "exact: whole multiples of the step of the values",
    [RELEASE_VECTOR] = ("NOT exact: direction and radius in double precision, then rounded to a "
                        "power-of-two lattice")};

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

/* What is drawn, and where to. */
struct drawing {
    const struct release_plan *plan;
    size_t n; /* values with noise */
    struct lattice lattice;
    struct discretised_noise discretised; /* of most laws */
    uint64_t ratio;                       /* discrete Gaussian: the scale is ratio 2^-shift steps */
    unsigned shift;
    int threads;
};

/* The lattice, and that its noise can be drawn. v NULL: its values come later. */
static sotto_status release_vector_prepare(struct drawing *d, const struct values *v)
{
    sotto_status status = SOTTO_OK;
    const struct release_plan *p = d->plan;
    const double scale = p->account.scale,
                 step = p->sensitivity.value_step == 0 ? 1 : p->sensitivity.value_step;
    d->lattice = lattice_make(scale); /* of K-norm noise */
    if (p->mechanism->kind == RELEASE_LATTICE)
        d->lattice.exponent = lattice_exponent(scale, p->lattice_bits);
    if (p->mechanism->kind == RELEASE_INTEGER) {
        const bool discretised = mechanism_is_discretised(p->mechanism), flat = p->release->flat_doubt;
        if (discretised && !discretised_noise_fits(scale / step, flat))
            FAIL(SOTTO_EDOMAIN, "release: scale %g is out of range; expected 2^-30 to 2^%d steps of %g",
                 scale, flat ? 32 : 44, step);
        if (!discretised && !lattice_ratio(&d->ratio, &d->shift, scale / step))
            FAIL(SOTTO_EDOMAIN, "release: scale %g is out of range; expected 2^-9 to 2^52 steps of %g", scale,
                 step);
        d->lattice.exponent = ilogb(step);
        TRY(v ? require_whole(v, step) : SOTTO_OK);
    }
done:
    return status;
}

/* All noise, in half steps of the lattice: lattice_value() of 2 q + drawn is what is released. */
static sotto_status draw_discretised(int128 *drawn, struct drawing *d, struct noise *s)
{
    sotto_status status = SOTTO_OK;
    const struct release_plan *p = d->plan;
    const int odd = p->mechanism->kind == RELEASE_LATTICE;
    TRY(discretised_noise_open(&d->discretised, p->mechanism->law,
                               ldexp(p->account.scale, -d->lattice.exponent), p->release->flat_doubt, s));
    TRY(discretised_noise_fill_wide(&d->discretised, drawn, 0, d->n, d->threads));
    for (size_t i = 0; i < d->n; i++)
        drawn[i] = 2 * drawn[i] + odd;
done:
    discretised_noise_close(&d->discretised);
    return status;
}

static void draw_gaussian(int128 *drawn, const struct drawing *d, struct noise *s)
{
    for (size_t i = 0; i < d->n; i++)
        drawn[i] = 2 * integer_signed(s, d->plan->mechanism->integer->magnitude, d->ratio, d->shift);
}

static sotto_status draw_vector(int128 *drawn, const struct drawing *d, struct noise *s)
{
    sotto_status status = SOTTO_OK;
    const size_t n = d->n;
    double *reals = NULL;
    NEW(reals, n);
    knorm_draw(reals, n, d->plan->account.scale, s);
    for (size_t i = 0; i < n; i++)
        drawn[i] = 2 * (int128)nearbyint(ldexp(reals[i], -d->lattice.exponent));
    base_wipe(reals, n * sizeof *reals);
done:
    base_free(reals);
    return status;
}

static sotto_status release_vector_draw(int128 *drawn, struct drawing *d, struct noise *s)
{
    if (mechanism_is_discretised(d->plan->mechanism))
        return draw_discretised(drawn, d, s);
    if (d->plan->mechanism->kind == RELEASE_VECTOR)
        return draw_vector(drawn, d, s);
    draw_gaussian(drawn, d, s);
    return SOTTO_OK;
}

/* The range of released values is that of inputs: 2^LATTICE_END steps to either side. */
static void put_sums(struct values *v, const int128 *q, const int128 *drawn, struct lattice lattice)
{
    const int128 end = (int128)2 << LATTICE_END;
    for (size_t i = 0; i < v->n; i++) {
        int128 sum = 2 * q[i] + drawn[i];
        sum = sum < -end ? -end : sum > end ? end : sum;
        if (v->doubles)
            ((double *)v->data)[i] = lattice_double(sum, lattice);
        else
            ((float *)v->data)[i] = lattice_value(sum, lattice);
    }
}

static sotto_status release_values(struct sotto_certificate **certificate, struct values v,
                                   const struct sotto_release *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t n = v.n;
    struct release_plan plan;
    struct drawing d = {.plan = &plan, .n = n, .threads = par_threads(ctx)};
    struct sotto_certificate *made = NULL;
    struct noise *stream = NULL;
    int128 *q = NULL, *drawn = NULL;
    TRY(check_vector(&v));
    TRY(release_plan(&plan, r, n, RELEASE_OF_FLOATS, ctx));
    TRY(release_vector_prepare(&d, &v));
    NEW(q, n);
    NEW(drawn, n);
    for (size_t i = 0; i < n; i++)
        q[i] = lattice_index(value_at(&v, i), d.lattice);
    plan.lattice_exponent = d.lattice.exponent;
    plan.sampler = r->flat_doubt ? FLAT_SAMPLER : samplers[plan.mechanism->kind];
    TRY(release_record(&stream, &made, &plan, ctx));
    TRY(release_vector_draw(drawn, &d,
                            stream)); /* all noise first: its running time depends on nothing private */
    put_sums(&v, q, drawn, d.lattice);
    *certificate = made;
    made = NULL;
done:
    if (q)
        base_wipe(q, n * sizeof *q);
    if (drawn)
        base_wipe(drawn, n * sizeof *drawn);
    base_free(q);
    base_free(drawn);
    noise_close(stream);
    sotto_certificate_free(made);
    return status;
}

sotto_status sotto_dp_release(struct sotto_certificate **certificate, float *vector, size_t n,
                              const struct sotto_release *release, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, !n || vector, release);
    return release_values(certificate, (struct values){vector, n, false}, release, ctx);
}

sotto_status sotto_dp_release_double(struct sotto_certificate **certificate, double *vector, size_t n,
                                     const struct sotto_release *release, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(certificate, !n || vector, release);
    return release_values(certificate, (struct values){vector, n, true}, release, ctx);
}

/* ---- the charge first, the values later ---- */

struct vector_release {
    struct sotto_release request;
    struct release_plan plan;
    struct drawing drawing;
    struct sotto_certificate *certificate;
    struct noise *stream;
};

sotto_status vector_release_open(struct vector_release **out, const struct sotto_release *r, size_t n,
                                 size_t choices, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct vector_release *v = NULL;
    NEW(v, 1);
    v->request = *r;
    v->drawing = (struct drawing){.plan = &v->plan, .n = n, .threads = par_threads(ctx)};
    TRY(release_plan(&v->plan, &v->request, n + choices, 1u << RELEASE_LATTICE, ctx));
    if (choices)
        v->plan.account.epsilon.lower = 0; /* an upper end is all that is known */
    TRY(release_vector_prepare(&v->drawing, NULL));
    if (v->plan.account.scale < 1)
        FAIL(SOTTO_EDOMAIN,
             "release: scale %g is out of range; expected at least 1, so that values are many steps",
             v->plan.account.scale);
    if (choices && v->plan.account.scale > 0x1p52)
        FAIL(SOTTO_EDOMAIN, "release: scale %g is out of range; expected at most 2^52 beside choices",
             v->plan.account.scale);
    v->plan.lattice_exponent = v->drawing.lattice.exponent;
    v->plan.sampler = r->flat_doubt ? FLAT_SAMPLER : samplers[RELEASE_LATTICE];
    TRY(release_record(&v->stream, &v->certificate, &v->plan, ctx));
    *out = v;
    v = NULL;
done:
    vector_release_close(v);
    return status;
}

/* round(x / r), half up: within 1/2 of x / r, which is what the account is of. */
static int128 whole_index(int64_t x, struct lattice lattice)
{
    const int e = lattice.exponent;
    if (e <= 0)
        return (int128)x * ((int128)1 << -e);
    return e > 63 ? 0 : (x + ((int128)1 << (e - 1))) >> e;
}

sotto_status vector_release_draw(struct sotto_certificate **certificate, double *out, const int64_t *values,
                                 struct vector_release *v)
{
    sotto_status status = SOTTO_OK;
    const size_t n = v->drawing.n;
    struct values sums = {out, n, true};
    int128 *q = NULL, *drawn = NULL;
    REQUIRE(v->certificate, "release: its values were drawn already; a release is drawn once");
    NEW(q, n);
    NEW(drawn, n);
    for (size_t i = 0; i < n; i++)
        q[i] = whole_index(values[i], v->drawing.lattice);
    if (n)
        TRY(release_vector_draw(drawn, &v->drawing, v->stream));
    put_sums(&sums, q, drawn, v->drawing.lattice);
    *certificate = v->certificate;
    v->certificate = NULL;
done:
    if (q)
        base_wipe(q, n * sizeof *q);
    if (drawn)
        base_wipe(drawn, n * sizeof *drawn);
    base_free(q);
    base_free(drawn);
    return status;
}

sotto_status vector_release_cube(double *out, const int64_t *values, size_t n, uint64_t scale,
                                 struct vector_release *v)
{
    sotto_status status = SOTTO_OK;
    int128 *drawn = NULL;
    NEW(drawn, n);
    cube_draw(drawn, n, scale, v->stream);
    for (size_t i = 0; i < n; i++) /* the middle of a floor */
        out[i] = lattice_double(2 * (values[i] + drawn[i]) + 1, (struct lattice){.exponent = 0});
    base_wipe(drawn, n * sizeof *drawn);
done:
    base_free(drawn);
    return status;
}

size_t vector_release_choose(const uint128 *gap, size_t *left, size_t n, uint64_t m, struct vector_release *v)
{
    return choice_draw(v->stream, gap, left, n, m);
}

double vector_release_scale(const struct vector_release *v)
{
    return v->plan.account.scale;
}

void vector_release_name_charge(const struct vector_release *v)
{
    if (v && v->certificate)
        charge_name_certificate(v->certificate, "what is drawn anew is charged again");
}

void vector_release_close(struct vector_release *v)
{
    if (!v)
        return;
    noise_close(v->stream);
    sotto_certificate_free(v->certificate);
    base_free(v);
}
