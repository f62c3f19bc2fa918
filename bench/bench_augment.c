/* Microseconds per view on one core, for every instruction-set level of this machine: median of 15
 * batches. */
#include "stopwatch.h"
#include "data/augment/augment.h"

#include <stdio.h>
#include <stdlib.h>

enum { VIEWS = 1024, REPEATS = 15 };

static void run(size_t channels, size_t size, enum cpu_isa isa)
{
    struct augment_strength strength = {.min_area = .25, .brightness = .6, .jitter = .2, .flip = 1};
    size_t bytes = channels * size * size;
    uint8_t *images = base_alloc(256, bytes);
    float *dst = base_alloc(VIEWS / 4, size * size * 3 * sizeof(float)),
          *scratch = base_alloc(augment_scratch_floats(size), 4);
    if (!images || !dst || !scratch)
        exit(1);
    for (size_t i = 0; i < 256 * bytes; i++)
        images[i] = (uint8_t)(i * 2654435761u >> 13);
    augment_kernel *kernel = augment_kernel_find(isa);
    double times[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        double start = wall_seconds();
        for (size_t i = 0; i < VIEWS; i++) {
            struct augment_view v = augment_draw(&strength, size, size, 1, (uint64_t)r, i);
            kernel(dst + i % (VIEWS / 4) * size * size * 3, images + i % 256 * bytes, channels, size, size,
                   &v, scratch);
        }
        times[r] = (wall_seconds() - start) / VIEWS * 1e6;
    }
    printf("augment %zux%zu, %zu channel%s, %-6s %7.2f us a view\n", size, size, channels,
           channels == 1 ? " " : "s", cpu_isa_name(isa), median(times, REPEATS));
    base_free(images);
    base_free(dst);
    base_free(scratch);
}

int main(void)
{
    for (int isa = 0; isa <= (int)cpu_best_isa(); isa++) {
        run(3, 32, (enum cpu_isa)isa);
        run(1, 32, (enum cpu_isa)isa);
        run(3, 96, (enum cpu_isa)isa);
    }
    return 0;
}
