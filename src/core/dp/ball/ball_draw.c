/* The known bits are a cell, a ball holds it, and the law is evaluated on the ball; more bits are taken until
 * the floor is one number. Only the cell decides: precision and formulas change when that is seen, never
 * what. */
#include "dp/ball/ball_draw.h"

#include "dp/ball/ball_private.h"

enum { GUARD = 60 /* bits of precision beyond those known */ };

/* w = 2^count w + the first `count` bits, exactly. (Integers of FLINT would do, but their first large one costs 100
 * times as much as a draw.) */
static void ball_draw_append(arb_t w, uint64_t bits, unsigned count)
{
    arb_mul_2exp_si(w, w, count);
    arb_add_ui(w, w, bits >> (64 - count), ARF_PREC_EXACT);
}

/* Around (w + [0, 1]) / 2^n. */
static void set_cell(arb_t out, const arb_t w, slong n)
{
    arb_mul_2exp_si(out, w, 1);
    arb_add_ui(out, out, 1, ARF_PREC_EXACT);
    arb_mul_2exp_si(out, out, -n - 1);
    arb_add_error_2exp_si(out, -n - 1);
}

/* m ln(2 / (1 + e^(-1/m))): |K| >= k > 0 for U <= e^(-(k - shift) / m) = 2 e^(-k/m) / (1 + e^(-1/m)). */
static void discrete_shift(arb_t out, const arb_t m, slong bits)
{
    arb_inv(out, m, bits);
    arb_neg(out, out);
    arb_exp(out, out, bits);
    arb_add_ui(out, out, 1, bits);
    arb_mul_2exp_si(out, out, -1);
    arb_log(out, out, bits);
    arb_neg(out, out);
    arb_mul(out, out, m, bits);
}

/* z[0]: |Z|; Gaussian: z[0 .. 1]: Z. */
static void ball_draw_evaluate(arb_ptr z, const struct ball_draw *d, arb_ptr cell, slong bits)
{
    arb_t m, other;
    arb_init(m);
    arb_init(other);
    arb_set_d(m, d->m);
    if (d->law == BALL_LOGISTIC) {
        arb_sub_ui(z, cell, 1, bits);
        arb_neg(z, z);
        arb_div(z, z, cell, bits);
        arb_log(z, z, bits);
    } else if (d->law == BALL_CAUCHY) {
        arb_mul_2exp_si(z, cell, -1);
        arb_tan_pi(z, z, bits);
    } else {
        arb_log(z, cell, bits);
        arb_neg(z, z);
    }
    if (d->law == BALL_GAUSSIAN) {
        arb_mul_2exp_si(z, z, 1);
        arb_sqrt(z, z, bits);
        arb_mul_2exp_si(other, cell + 1, 1);
        arb_sin_cos_pi(z + 1, other, other, bits);
        arb_mul(z, z, m, bits);
        arb_mul(z + 1, z + 1, z, bits);
        arb_mul(z, z, other, bits);
    } else {
        arb_mul(z, z, m, bits);
        if (d->discrete) {
            discrete_shift(other, m, bits);
            arb_add(z, z, other, bits);
        }
    }
    arb_clear(m);
    arb_clear(other);
}

/* For |x| <= 2^BALL_DRAW_BITS. */
static int128 to_int128(const fmpz_t x)
{
    ulong words[2] = {0, 0};
    fmpz_t size;
    fmpz_init(size);
    fmpz_abs(size, x);
    fmpz_get_ui_array(words, 2, size);
    fmpz_clear(size);
    const int128 whole = (int128)words[1] << 64 | words[0];
    return fmpz_sgn(x) < 0 ? -whole : whole;
}

/* floor(z), if it is the same all over the ball. */
static bool one_floor(int128 *out, const arb_t z, slong bits)
{
    arb_t below;
    fmpz_t whole;
    arb_init(below);
    fmpz_init(whole);
    arb_floor(below, z, bits);
    bool one = arb_get_unique_fmpz(whole, below);
    if (one && fmpz_bits(whole) > BALL_DRAW_BITS)
        *out = fmpz_sgn(whole) * ((int128)1 << BALL_DRAW_BITS);
    else if (one)
        *out = to_int128(whole);
    arb_clear(below);
    fmpz_clear(whole);
    return one;
}

void ball_draw(int128 floor[2], const struct ball_draw *d)
{
    const bool pair = d->law == BALL_GAUSSIAN, negative = !pair && d->word[0] >> 63;
    const slong unit =
        d->law == BALL_LAPLACE || d->law == BALL_CAUCHY ? 1 : 0; /* U counts from the second bit */
    arb_ptr w = ball_numbers(2), cell = ball_numbers(2), z = ball_numbers(2);
    slong n = d->known;
    for (int i = 0; i < 2; i++)
        ball_draw_append(w + i, i == 0 && negative ? d->word[0] << 1 >> 1 : d->word[i], d->known);
    for (unsigned round = 0;; round++) {
        uint64_t more[2];
        set_cell(cell, w, n - unit);
        set_cell(cell + 1, w + 1, n);
        ball_draw_evaluate(z, d, cell, n + GUARD);
        if (one_floor(&floor[0], z, n + GUARD) && (!pair || one_floor(&floor[1], z + 1, n + GUARD)))
            break;
        d->refine(more, d->arg, round);
        for (int i = 0; i < 2; i++)
            ball_draw_append(w + i, more[i], d->step);
        n += d->step;
    }
    if (negative)
        floor[0] = d->discrete ? -floor[0] : -1 - floor[0];
    ball_numbers_free(w, 2);
    ball_numbers_free(cell, 2);
    ball_numbers_free(z, 2);
}
