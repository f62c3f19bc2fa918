#include "nn/loop/straggler.h"

static const double TIMES = 1.3, LEAST_SECONDS = 1;

/* How many ranks come before this one, by seconds, then by number. */
static size_t place_of(const float *seconds, size_t ranks, size_t rank)
{
    size_t before = 0;
    for (size_t r = 0; r < ranks; r++)
        before += seconds[r] < seconds[rank] || (seconds[r] == seconds[rank] && r < rank);
    return before;
}

bool straggler_find(struct straggler *out, const float *seconds, size_t ranks)
{
    size_t slowest = 0, middle = 0;
    for (size_t r = 0; r < ranks; r++) {
        const size_t place = place_of(seconds, ranks, r);
        if (!(seconds[r] > 0))
            return false;
        slowest = place + 1 == ranks ? r : slowest;
        middle = place == (ranks - 1) / 2 ? r : middle;
    }
    const double longest = (double)seconds[slowest], median = (double)seconds[middle];
    if (ranks < 2 || longest <= TIMES * median || longest - median < LEAST_SECONDS)
        return false;
    *out = (struct straggler){slowest, longest / median};
    return true;
}
