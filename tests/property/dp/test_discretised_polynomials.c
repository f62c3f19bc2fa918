/* The polynomials of exact noise are as good as its proof says (docs/derivations/exact-noise.md, section 3), by
 * balls: coefficient k of the series minus coefficient k of the polynomial, exactly, is the series of the error; it
 * is evaluated by Horner's rule on small pieces of the whole range. Control: every coefficient, changed. */
#include "support/test.h"
#include "support/worse.h"
#include "dp/ball/ball_private.h"
#include "dp/noise/discretised_polynomials.h"

#include <math.h>
#include <string.h>

enum { TERMS = 24, PIECES = 1 << 16, BITS = 128 };

/* 2 / (2 k + 3); -+1 / (2 k + 3)!; +-1 / (2 k + 4)!. */
enum series { LOGARITHM, SINE, COSINE };

static void series_term(arb_t out, enum series series, unsigned k)
{
    if (series == LOGARITHM) {
        arb_set_ui(out, 2);
        arb_div_ui(out, out, 2 * k + 3, BITS);
        return;
    }
    arb_fac_ui(out, 2 * k + (series == SINE ? 3 : 4), BITS);
    arb_inv(out, out, BITS);
    if ((k % 2 == 0) == (series == SINE))
        arb_neg(out, out);
}

struct polynomial {
    enum series series;
    const double *coefficient;
    unsigned count;
    double end;    /* of z, rounded up */
    double power;  /* the error counts times z^power: f z, x z, z^2 */
    double proved; /* in units of 2^-53 */
};

/* What the terms beyond add: their coefficients only get smaller. */
static void add_tail(arb_t sum, const struct polynomial *p)
{
    arb_ptr tail = ball_numbers(2), term = tail + 1;
    arb_set_d(tail, p->end);
    arb_pow_ui(tail, tail, TERMS, BITS);
    series_term(term, p->series, TERMS);
    arb_mul(tail, tail, term, BITS);
    arb_set_d(term, 1 - p->end);
    arb_div(tail, tail, term, BITS);
    arb_add_error(sum, tail);
    ball_numbers_free(tail, 2);
}

/* The largest error over z in [0, end], in units of 2^-53. */
static double worst_error(const struct polynomial *p)
{
    arb_ptr difference = ball_numbers(TERMS), scratch = ball_numbers(3), z = scratch, sum = z + 1,
            width = z + 2;
    double worst = 0;
    for (unsigned k = 0; k < TERMS; k++) {
        series_term(difference + k, p->series, k);
        arb_set_d(z, k < p->count ? p->coefficient[k] : 0);
        arb_sub(difference + k, difference + k, z, BITS);
    }
    for (unsigned i = 0; i < PIECES; i++) {
        arb_set_d(z, p->end * (i + 0.5) / PIECES);
        arb_set_d(width, p->end / PIECES * 0.5000001); /* a piece a little wider than its share */
        arb_add_error(z, width);
        arb_zero(sum);
        for (int k = TERMS - 1; k >= 0; k--) {
            arb_mul(sum, sum, z, BITS);
            arb_add(sum, sum, difference + k, BITS);
        }
        add_tail(sum, p);
        struct interval error = ball_enclosure(sum);
        double weight = pow(p->end * (i + 1) / PIECES, p->power) * 1.000001;
        worst = worse(worst, worse(-error.lo, error.hi) * weight * 0x1p53);
    }
    ball_numbers_free(difference, TERMS);
    ball_numbers_free(scratch, 3);
    return worst;
}

/* 0.04 and (pi / 4)^2, a little further for arguments that were rounded. */
static const struct polynomial polynomials[] = {
    {LOGARITHM, log_polynomial, 7, 0.04 * (1 + 0x1p-40), 1.5, 0.3},
    {SINE, sine_polynomial, 6, 0.61685027506808492 * (1 + 0x1p-40), 1.5, 0.14},
    {COSINE, cosine_polynomial, 6, 0.61685027506808492 * (1 + 0x1p-40), 2, 0.01},
};
enum { POLYNOMIALS = sizeof polynomials / sizeof *polynomials };

static sotto_status prove(void *arg)
{
    (void)arg;
    for (int i = 0; i < POLYNOMIALS; i++) {
        double error = worst_error(&polynomials[i]);
        if (!(error <= polynomials[i].proved))
            fail_msg("polynomial %d: %g units of 2^-53, the proof says %g", i, error, polynomials[i].proved);
    }
    return SOTTO_OK;
}

/* The lowest coefficient by its 40th bit; the others by what adds a unit of 2^-53 at the end of the range. */
static sotto_status change_each(void *arg)
{
    (void)arg;
    for (int i = 0; i < POLYNOMIALS; i++)
        for (unsigned k = 0; k < polynomials[i].count; k++) {
            struct polynomial changed = polynomials[i];
            double coefficient[8];
            memcpy(coefficient, changed.coefficient, changed.count * sizeof *coefficient);
            coefficient[k] +=
                k == 0 ? coefficient[0] * 0x1p-40 : 0x1p-53 * pow(changed.end, -(double)k - changed.power);
            changed.coefficient = coefficient;
            assert_true(worst_error(&changed) > changed.proved);
        }
    return SOTTO_OK;
}

TEST(polynomials_are_as_good_as_the_proof_says)
{
    assert_int_equal(ball_run(prove, NULL, NULL), SOTTO_OK);
}

TEST(changed_coefficients_are_not)
{
    assert_int_equal(ball_run(change_each, NULL, NULL), SOTTO_OK);
}

TEST_GROUP(.tags = "long")
