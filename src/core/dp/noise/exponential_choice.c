/* Draws that are not noise on a number, exactly, from the coins of lattice_coin.c. */
#include "dp/noise/lattice.h"

/* A uniform proposal kept with e^(-gap / m). */
size_t choice_draw(struct noise *s, const uint128 *gap, size_t *left, size_t n, uint64_t m)
{
    for (;;) {
        size_t i = left[coin_below(s, n)];
        if (coin_exp_wide(s, gap[i], m))
            return i;
    }
}

/* The same without putting back what was refused. The best one is never refused, so some are left. */
size_t flip_draw(struct noise *s, const uint128 *gap, size_t *left, size_t n, uint64_t m)
{
    for (;; n--) {
        size_t at = (size_t)coin_below(s, n), i = left[at];
        if (coin_exp_wide(s, gap[i], m))
            return i;
        left[at] = left[n - 1];
        left[n - 1] = i;
    }
}

/* The same with gap 0 for the truth and t for all others. */
uint64_t label_draw(struct noise *s, uint64_t truth, uint64_t classes, uint64_t m, unsigned shift)
{
    for (;;) {
        uint64_t label = coin_below(s, classes);
        if (label == truth || coin_exp(s, (uint64_t)1 << shift, m))
            return label;
    }
}
