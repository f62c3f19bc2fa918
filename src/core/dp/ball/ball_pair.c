/* Two discrete pairs around the true one, compared through delta(x) = sup_A P(A) - x Q(A), x = e^epsilon,
 * which is convex, falling, at least 1 - x. A pair with a curve above (below) composes to curves above
 * (below).
 *
 * Upper: connect the dots (Doroshenko et al. 2022): the chords of the curve between grid points.
 * Lower: every set A gives a line below the curve. With A_i = {L > loss_i}, take at each midpoint between two
 * grid points the smaller of the two lines there, y_i; the chords between these points lie below one of the
 * lines each. Changes of slope are the masses at the midpoints; the first continues line 0 to the left; the
 * last is on its left line, still above 0 there, and also takes what that line would put further right. A
 * mass that may be negative is set to 0 and taken from the next masses to the right, which have a larger
 * loss: that only lowers the curve. docs/derivations/certified.md has the proofs. */
#include "dp/ball/ball_private.h"

void ball_tails(arb_ptr p, arb_ptr q, struct ball_law *law, slong first, size_t length, double spacing)
{
    arb_t epsilon, step;
    arb_init(epsilon);
    arb_init(step);
    arb_set_d(step, spacing);
    for (size_t i = 0; i < length; i++) {
        arb_mul_si(epsilon, step, first + (slong)i, law->bits);
        ball_law_tails(p + i, q + i, law, epsilon);
    }
    arb_clear(epsilon);
    arb_clear(step);
}

/* Constants of a grid, and scratch. */
struct grid {
    slong bits;
    arb_t up, down; /* 1 / (e^h - 1), 1 / (1 - e^-h) */
    arb_t growth;   /* e^h */
    arb_t a, b;
};

static void grid_init(struct grid *g, double spacing, slong bits)
{
    arb_struct *all[] = {g->up, g->down, g->growth, g->a, g->b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_init(all[i]);
    g->bits = bits;
    arb_set_d(g->a, spacing);
    arb_exp(g->growth, g->a, bits);
    arb_expm1(g->up, g->a, bits);
    arb_inv(g->up, g->up, bits);
    arb_add_ui(g->down, g->up, 1, bits); /* 1 / (1 - e^-h) = 1 + 1 / (e^h - 1) */
}

static void grid_clear(struct grid *g)
{
    arb_struct *all[] = {g->up, g->down, g->growth, g->a, g->b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        arb_clear(all[i]);
}

static void make_upper(struct ball_pair *out, arb_srcptr p, arb_srcptr q, arb_ptr curve, struct grid *g)
{
    size_t n = out->length;
    arb_set_d(g->a, out->spacing);
    arb_mul_si(g->a, g->a, out->first, g->bits);
    arb_exp(g->b, g->a, g->bits); /* x */
    for (size_t i = 0; i < n; i++) {
        arb_mul(g->a, g->b, q + i, g->bits);
        arb_sub(curve + i, p + i, g->a, g->bits);
        arb_mul(g->b, g->b, g->growth, g->bits);
    }
    for (size_t i = 0; i < n; i++) { /* changes of slope, times x */
        arb_ptr mass = acb_realref(out->mass + i);
        if (i > 0) {
            arb_sub(g->a, curve + i - 1, curve + i, g->bits);
            arb_mul(mass, g->a, g->down, g->bits);
        } else {
            arb_sub_ui(mass, curve, 1, g->bits);
            arb_neg(mass, mass);
        }
        if (i + 1 < n) {
            arb_sub(g->a, curve + i + 1, curve + i, g->bits);
            arb_addmul(mass, g->a, g->up, g->bits);
        }
    }
    arb_set(out->infinite, curve + n - 1);
}

static void first_midpoint(arb_t x, const struct ball_pair *out, struct grid *g)
{
    arb_set_d(g->a, out->spacing / 2);
    arb_mul_si(g->a, g->a, 2 * out->first + 1, g->bits);
    arb_exp(x, g->a, g->bits);
}

/* Curve points y_i at the midpoints up to the last; returns its number. x_0 = e^(first midpoint) into
 * g->b. */
static size_t lower_curve(arb_ptr y, const struct ball_pair *out, arb_srcptr p, arb_srcptr q, struct grid *g)
{
    first_midpoint(g->b, out, g);
    size_t last = 0;
    for (size_t i = 0; i + 1 < out->length; i++) {
        arb_mul(g->a, g->b, q + i, g->bits);
        arb_sub(y + i, p + i, g->a, g->bits);
        if (arb_is_positive(y + i))
            last = i;
        arb_mul(g->b, g->b, g->growth, g->bits);
    }
    first_midpoint(g->b, out, g);
    for (size_t i = 0; i < last; i++) {
        arb_mul(g->a, g->b, q + i + 1, g->bits);
        arb_sub(g->a, p + i + 1, g->a, g->bits);
        arb_min(y + i, y + i, g->a, g->bits);
        arb_mul(g->b, g->b, g->growth, g->bits);
    }
    first_midpoint(g->b, out, g);
    return last;
}

/* mass -= debt, or 0 and a larger debt, so that it is never negative. */
static void ball_pair_pay(arb_t mass, arb_t debt, arb_t least, slong bits)
{
    if (arb_is_zero(debt) && arb_is_nonnegative(mass))
        return;
    arb_sub(least, mass, debt, bits);
    arb_get_lbound_arf(arb_midref(least), least, bits);
    mag_zero(arb_radref(least));
    arb_zero(debt);
    if (arb_is_nonnegative(least)) {
        arb_set(mass, least);
    } else {
        arb_zero(mass);
        arb_neg(debt, least);
    }
}

static void make_lower(struct ball_pair *out, arb_srcptr p, arb_srcptr q, arb_ptr y, struct grid *g)
{
    size_t b = lower_curve(y, out, p, q, g);
    arb_t debt, least;
    arb_init(debt);
    arb_init(least);
    for (size_t i = 0; i <= b; i++) {
        arb_ptr mass = acb_imagref(out->mass + i);
        if (i > 0) {
            arb_sub(g->a, y + i - 1, y + i, g->bits);
            arb_mul(mass, g->a, g->down, g->bits);
        } else {
            arb_mul(mass, g->b, q, g->bits);
        }
        if (i < b) {
            arb_sub(g->a, y + i + 1, y + i, g->bits);
            arb_addmul(mass, g->a, g->up, g->bits);
        } else {
            arb_add(mass, mass, y + b, g->bits);
        }
        ball_pair_pay(mass, debt, least, g->bits);
    }
    if (!arb_is_zero(debt) || !arb_is_positive(y + b)) /* no lower bound from this grid */
        for (size_t i = 0; i <= b; i++)
            arb_zero(acb_imagref(out->mass + i));
    arb_clear(debt);
    arb_clear(least);
}

/* Laplace: the last line of the lower curve is that of the atom {L = t}, P = 1/2, Q = e^-t / 2, which reaches
 * 0 at the atom itself; the grid has a midpoint there. */
static void use_top_atom(arb_ptr p, arb_ptr q, size_t length, const struct ball_law *law)
{
    size_t i = length - 1;
    while (i > 0 && !arb_is_positive(p + i))
        i--;
    arb_set_d(p + i, 0.5);
    arb_mul(q + i, law->down, law->down, law->bits);
    arb_mul_2exp_si(q + i, q + i, -1);
}

void ball_pair_clear(struct ball_pair *pair)
{
    ball_complexes_free(pair->mass, pair->length);
    arb_clear(pair->infinite);
}

void ball_pair_make(struct ball_pair *out, arb_srcptr p, arb_srcptr q, slong first, size_t length,
                    double spacing, bool swapped, const struct ball_law *law)
{
    slong bits = law->bits;
    struct grid g;
    grid_init(&g, spacing, bits);
    *out = (struct ball_pair){.bits = bits,
                              .first = swapped ? -(first + (slong)length - 1) : first,
                              .length = length,
                              .spacing = spacing};
    arb_init(out->infinite);
    arb_ptr curve = ball_numbers(length), p_new = ball_numbers(length), q_new = ball_numbers(length);
    out->mass = ball_complexes(length);
    for (size_t i = 0; i < length; i++) {
        if (!swapped) {
            arb_set(p_new + i, p + i);
            arb_set(q_new + i, q + i);
            continue;
        }
        arb_sub_ui(p_new + i, q + length - 1 - i, 1, bits);
        arb_neg(p_new + i, p_new + i);
        arb_sub_ui(q_new + i, p + length - 1 - i, 1, bits);
        arb_neg(q_new + i, q_new + i);
    }
    make_upper(out, p_new, q_new, curve, &g);
    if (law->noise == BALL_LAPLACE && !law->sampled)
        use_top_atom(p_new, q_new, length, law);
    make_lower(out, p_new, q_new, curve, &g);
    ball_numbers_free(curve, length);
    ball_numbers_free(p_new, length);
    ball_numbers_free(q_new, length);
    grid_clear(&g);
}
