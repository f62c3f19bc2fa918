/* What a monitor costs for each query: 400 blocks of 50 benign rows, a bank of 1,000, ten classes. bench_monitor [COLUMNS [ROWS]]
 * prints processor time for each query, medians of 31 times 500 queries in frames of ROWS; and that of making the monitor. The log and its fsync are not in it. */
#include "monitor/monitor_state.h"
#include "rng/rng.h"
#include "sotto/lab/monitor.h"
#include "sotto/private/all.h"
#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLASSES = 10, CALIBRATION = 20000, BANK = 1000, FRAMES = 31 };

static float *made_up(size_t n, uint64_t stream)
{
    float *x = malloc(n * sizeof *x);
    struct rng r = rng_stream(1, RNG_TEST, stream, 0);
    for (size_t i = 0; x && i < n; i++)
        x[i] = rng_unit_f(&r);
    return x;
}

int main(int argc, char **argv)
{
    const size_t columns = argc > 1 ? (size_t)atol(argv[1]) : 784;
    const size_t frame = argc > 2 ? (size_t)atol(argv[2]) : 500, queries = 500 / frame * frame;
    float *calibration = made_up(CALIBRATION * columns, 0), *answers = made_up(CALIBRATION * CLASSES, 1),
          *bank = made_up(BANK * columns, 2), *rows = made_up(500 * columns, 3);
    const struct sotto_monitor_input in = {.calibration = calibration,
                                           .calibration_rows = CALIBRATION,
                                           .columns = columns,
                                           .calibration_answers = answers,
                                           .classes = CLASSES,
                                           .bank = bank,
                                           .bank_rows = BANK};
    struct sotto_monitor *m = NULL;
    double us[FRAMES];
    if (!calibration || !answers || !bank || !rows)
        return 71;
    double made = cpu_seconds();
    sotto_status status = sotto_monitor_make(&m, &in, NULL, NULL);
    made = cpu_seconds() - made;
    for (int f = 0; f < FRAMES && status == SOTTO_OK; f++) {
        us[f] = cpu_seconds();
        for (size_t i = 0; i < queries && status == SOTTO_OK; i += frame)
            status = monitor_feed(m, "client", rows + i * columns, answers + i * CLASSES, frame);
        us[f] = 1e6 * (cpu_seconds() - us[f]) / (double)queries;
    }
    if (status != SOTTO_OK) {
        fprintf(stderr, "%s\n", sotto_error_text());
        return 1;
    }
    const double middle = median(us, FRAMES);
    printf("%zu columns, frames of %zu: %.1f us a query (%.1f to %.1f), monitor made in %.2f s\n", columns,
           frame, middle, us[0], us[FRAMES - 1], made);
    sotto_monitor_free(m);
    free(calibration), free(answers), free(bank), free(rows);
    return 0;
}
