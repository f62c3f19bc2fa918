/* Noise on a vector. Every value is rounded to a lattice first (or is on one by itself), noise is a whole
 * number of steps, the sum is an integer, and the float that is written is a function of that integer alone.
 */
#include "base/memory.h"
#include "dp/knorm.h"
#include "dp/release.h"

static const char *const samplers[] = {
    [RELEASE_LATTICE] = "exact, integers only: floor of the continuous law on a power-of-two lattice",
    [RELEASE_INTEGER] = "exact, integers only: whole multiples of the step of the values",
    [RELEASE_VECTOR] = "NOT exact: direction and radius in double precision, then rounded to a power-of-two "
                       "lattice"};
static const char fixed_sampler[] = FIXED_SAMPLER ", integers only: floor of the continuous law on a "
                                                  "power-of-two lattice, nearly exact";

static sotto_status check_vector(const float *vector, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(vector[i]))
            return status_fail(SOTTO_EINVAL, "release: value %zu of %zu is %s; all must be finite", i, n,
                               isnan(vector[i]) ? "NaN" : "infinite");
    return SOTTO_OK;
}

/* The vector on the lattice; refuses before anything is written down. */
static sotto_status round_to_lattice(int128 *q, const float *vector, size_t n, struct lattice lattice)
{
    for (size_t i = 0; i < n; i++)
        if (!lattice_index(&q[i], vector[i], lattice))
            return status_fail(
                SOTTO_EDOMAIN,
                "release: value %zu of %zu is 2^100 times larger than the lattice of the noise; "
                "the scale is too small for it",
                i, n);
    return SOTTO_OK;
}

static sotto_status require_whole(const int128 *q, const float *vector, size_t n, struct lattice lattice)
{
    for (size_t i = 0; i < n; i++)
        if (lattice_value(2 * q[i], lattice) != vector[i])
            return status_fail(SOTTO_EINVAL,
                               "release: value %zu of %zu is %.9g, not a whole multiple of the step %g that "
                               "discrete noise is added in",
                               i, n, (double)vector[i], ldexp(1, lattice.exponent));
    return SOTTO_OK;
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

sotto_status sotto_dp_release(char **certificate, float *vector, size_t n, const struct sotto_release *r,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct release_plan plan;
    struct fixed_table *table = NULL;
    struct noise *stream = NULL;
    int128 *q = NULL, *drawn = NULL;
    double *reals = NULL;
    uint64_t ratio;
    unsigned shift = 0;
    size_t real_count = 1;
    TRY(check_vector(vector, n));
    TRY(release_plan(&plan, r, n, 1u << RELEASE_LATTICE | 1u << RELEASE_INTEGER | 1u << RELEASE_VECTOR));
    const enum release_kind kind = plan.mechanism->kind;
    struct lattice lattice = lattice_make(plan.account.scale);
    ratio = lattice.m;
    q = base_alloc(n, sizeof *q);
    drawn = base_alloc(n, sizeof *drawn);
    real_count = kind == RELEASE_VECTOR ? n : 1;
    reals = base_alloc(real_count, sizeof *reals);
    table = base_alloc(1, sizeof *table);
    if (!q || !drawn || !reals || !table)
        FAIL(SOTTO_ENOMEM, "release: out of memory");
    if (kind == RELEASE_INTEGER) {
        double step = plan.sensitivity.value_step == 0 ? 1 : plan.sensitivity.value_step;
        if (!lattice_ratio(&ratio, &shift, plan.account.scale / step))
            FAIL(SOTTO_EDOMAIN,
                 "release: scale %g is not between 2^-9 and 2^52 steps of %g, which the exact sampler can "
                 "draw",
                 plan.account.scale, step);
        lattice.exponent = ilogb(step);
    }
    TRY(round_to_lattice(q, vector, n, lattice));
    if (kind == RELEASE_INTEGER)
        TRY(require_whole(q, vector, n, lattice));
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
    for (size_t i = 0; i < n; i++)
        vector[i] = lattice_value(2 * q[i] + drawn[i], lattice);
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
