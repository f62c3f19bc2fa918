#include "dp/noise/cauchy.h"

struct draws {
    int128 *k;
    size_t n;
    double m;
    struct noise *s;
};

static void cauchy_refine(uint64_t bits[2], const void *arg, unsigned round)
{
    const struct draws *d = arg;
    (void)round;
    bits[0] = noise_u64(d->s);
    bits[1] = 0;
}

static sotto_status draw_all(void *arg)
{
    const struct draws *d = arg;
    for (size_t i = 0; i < d->n; i++) {
        const struct ball_draw draw = {.law = BALL_CAUCHY,
                                       .m = d->m,
                                       .word = {noise_u64(d->s), 0},
                                       .known = 64,
                                       .step = 64,
                                       .refine = cauchy_refine,
                                       .arg = d};
        int128 k[2];
        ball_draw(k, &draw);
        d->k[i] = k[0];
    }
    return SOTTO_OK;
}

sotto_status cauchy_draw(int128 *k, size_t n, double m, struct noise *s)
{
    struct draws d = {k, n, m, s};
    return ball_run(draw_all, &d, NULL);
}
