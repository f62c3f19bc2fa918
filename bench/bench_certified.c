/* Time of the certified path (ball arithmetic): CPU seconds of one thread, median of 3 runs. */
#include "stopwatch.h"
#include "dp/ball/ball.h"

#include <stdio.h>
#include <stdlib.h>

/* count 0: the exact curve of one step */
static void measure(const char *name, struct ball_step step, size_t count, double delta)
{
    enum { RUNS = 3 };
    double seconds[RUNS];
    struct interval e = {NAN, NAN};
    for (int r = 0; r < RUNS; r++) {
        double start = cpu_seconds();
        if (count == 0)
            e = ball_epsilon(step.noise, step.shift / step.scale, delta);
        else if (ball_compose_epsilon(&e, &step, count, delta, NAN) != SOTTO_OK)
            e = (struct interval){NAN, NAN};
        seconds[r] = cpu_seconds() - start;
    }
    printf("%-52s %10.6f s   epsilon [%.9g, %.9g]\n", name, median(seconds, RUNS), e.lo, e.hi);
}

int main(void)
{
    measure("DP-SGD q .01, sigma 1.1, 10,000 steps, delta 1e-5",
            (struct ball_step){BALL_GAUSSIAN, 1, 1.1, 0.01, false}, 10000, 1e-5);
    measure("the same at delta 1e-15", (struct ball_step){BALL_GAUSSIAN, 1, 1.1, 0.01, false}, 10000, 1e-15);
    measure("logistic, sampled .01, shift 1, 1,000 steps",
            (struct ball_step){BALL_LOGISTIC, 1, 1, 0.01, false}, 1000, 1e-5);
    measure("laplace, shift .1, 100 releases", (struct ball_step){BALL_LAPLACE, 1, 10, 1, false}, 100, 1e-5);
    measure("closed form: logistic", (struct ball_step){BALL_LOGISTIC, 1, 1, 1, false}, 0, 1e-5);
    measure("closed form: gaussian (root of its curve)", (struct ball_step){BALL_GAUSSIAN, 1, 1, 1, false}, 0,
            1e-5);
    return 0;
}
