/* The double path proposes an interval, a little wider; balls decide. */
#include "dp/account/certified_composed.h"

#include "dp/ball/ball.h"
#include "dp/mechanism/logistic_compose.h"

#include <stdbool.h>

enum { FEW = 8 };

static struct interval certified_composed_at(double t, size_t count, double epsilon)
{
    return count < FEW ? ball_finite_sum(t, count, epsilon) : ball_contour(t, count, epsilon);
}

struct interval certified_composed_epsilon(double t, size_t count, double delta)
{
    struct interval near = logistic_composed_epsilon(iv(t), (double)count, delta);
    double low = near.lo * (1 - 0x1p-50), high = near.hi * (1 + 0x1p-50), top = next_up(t * (double)count);
    bool above = low > 0 && certified_composed_at(t, count, low).lo > delta;
    bool below = high < top && certified_composed_at(t, count, high).hi <= delta;
    return (struct interval){above ? low : 0, below ? high : top};
}
