/* From balls to doubles, and the vectors everything else is kept in. */
#include "dp/ball/ball_private.h"

struct interval ball_enclosure(const arb_t x)
{
    struct interval out;
    arf_t end;
    if (arf_is_nan(arb_midref(x)))
        return (struct interval){-INFINITY, INFINITY};
    arf_init(end);
    arb_get_lbound_arf(end, x, 96);
    out.lo = arf_get_d(end, ARF_RND_FLOOR);
    arb_get_ubound_arf(end, x, 96);
    out.hi = arf_get_d(end, ARF_RND_CEIL);
    arf_clear(end);
    return out;
}

enum { FIRST_BITS = 96, MOST_BITS = 1 << 14, KNOWN = 8, GAIN = 8 };

struct narrow {
    ball_formula *formula;
    const void *arg;
    struct interval best;
};

static sotto_status ball_enclose_narrow(void *arg)
{
    struct narrow *n = arg;
    struct interval best = n->best;
    arb_t x;
    slong before = -1;
    arb_init(x);
    for (slong bits = FIRST_BITS; bits <= MOST_BITS && best.hi > next_up(best.lo); bits *= 2) {
        n->formula(x, n->arg, bits);
        struct interval now = ball_enclosure(x);
        best = (struct interval){fmax(best.lo, now.lo), fmin(best.hi, now.hi)};
        slong accuracy = arb_rel_accuracy_bits(x);         /* huge for exact values */
        if (accuracy >= KNOWN && accuracy - GAIN < before) /* the formula's own cut, not rounding */
            break;
        before = accuracy;
    }
    arb_clear(x);
    n->best = best;
    return SOTTO_OK;
}

struct interval ball_narrow(ball_formula *formula, const void *arg)
{
    struct narrow n = {formula, arg, {-INFINITY, INFINITY}};
    ball_run(ball_enclose_narrow, &n, NULL); /* without memory the whole line is left */
    return n.best;
}

arb_ptr ball_numbers(size_t count)
{
    arb_ptr v = ball_take(count * sizeof *v);
    for (size_t i = 0; i < count; i++)
        arb_init(v + i);
    return v;
}

void ball_numbers_free(arb_ptr v, size_t count)
{
    for (size_t i = 0; v && i < count; i++)
        arb_clear(v + i);
    ball_give(v);
}

acb_ptr ball_complexes(size_t count)
{
    acb_ptr v = ball_take(count * sizeof *v);
    for (size_t i = 0; i < count; i++)
        acb_init(v + i);
    return v;
}

void ball_complexes_free(acb_ptr v, size_t count)
{
    for (size_t i = 0; v && i < count; i++)
        acb_clear(v + i);
    ball_give(v);
}
