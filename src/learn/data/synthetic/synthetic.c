#include "data/synthetic/synthetic.h"

#include "par/par.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sotto_status synthetic_options(struct synthetic_option *options, const char *stem, const char *name)
{
    sotto_status status = SOTTO_OK;
    for (const char *p = name + strlen(stem); *p;) {
        struct synthetic_option *o = options;
        while (o->letter && (p[0] != '-' || o->letter != p[1]))
            o++;
        char *end = (char *)(uintptr_t)p;
        unsigned long long x = 0;
        if (o->letter && p[2] >= '0' && p[2] <= '9')
            x = strtoull(p + 2, &end, 10);
        if (end == p || (*end && *end != '-')) {
            status = status_fail(SOTTO_EINVAL, "data set '%s': cannot read '%s'", name, p);
            status_hint("options are appended to the name, as in %s-%c%zu (%s)", stem, options->letter,
                        options->value, options->what);
            goto done;
        }
        if (x < o->min || x > o->max)
            FAIL(SOTTO_EINVAL, "data set '%s': %s must be %zu to %zu (got %llu)", name, o->what, o->min,
                 o->max, x);
        o->value = (size_t)x;
        p = end;
    }
done:
    return status;
}

void synthetic_direction(struct rng *r, float *c, float *s)
{
    for (;;) {
        float x = 2 * rng_unit_f(r) - 1, y = 2 * rng_unit_f(r) - 1, square = x * x + y * y;
        if (square > 1 || square < 0.01f)
            continue;
        float length = sqrtf(square);
        *c = x / length;
        *s = y / length;
        return;
    }
}

enum { CHUNK_ROWS = 256 };

struct fill_job {
    size_t n;
    void (*fill)(void *, size_t);
    void *arg;
};

static sotto_status fill_chunk(void *arg, size_t chunk, int thread)
{
    const struct fill_job *job = arg;
    (void)thread;
    for (size_t i = chunk * CHUNK_ROWS; i < job->n && i < (chunk + 1) * CHUNK_ROWS; i++)
        job->fill(job->arg, i);
    return SOTTO_OK;
}

sotto_status synthetic_fill(size_t n, void (*fill)(void *arg, size_t row), void *arg,
                            const struct sotto_context *ctx)
{
    struct fill_job job = {n, fill, arg};
    return par_each((n + CHUNK_ROWS - 1) / CHUNK_ROWS, ctx, fill_chunk, &job);
}
