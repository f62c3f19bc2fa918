/* The list of checks. */
#include "selftest/checks.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>

void checks_note(struct checks *c, const char *name, bool ok, const char *format, ...)
{
    struct sotto_selftest *t = &c->found;
    if (t->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct sotto_check *grown = base_regrow(t->checks, c->capacity, capacity, sizeof *grown);
        if (!grown) {
            c->out_of_memory = true;
            return;
        }
        t->checks = grown;
        c->capacity = capacity;
    }
    struct sotto_check *check = &t->checks[t->count++];
    va_list args;
    snprintf(check->group, sizeof check->group, "%s", c->group);
    snprintf(check->name, sizeof check->name, "%s", name);
    va_start(args, format);
    vsnprintf(check->detail, sizeof check->detail, format, args);
    va_end(args);
    check->ok = ok;
    t->failed += !ok;
}

void checks_close(struct checks *c, const char *name, double got, double expected, double relative)
{
    checks_note(c, name, fabs(got - expected) <= relative * fabs(expected), "%.15g, expected %.15g within %g",
                got, expected, relative);
}

void checks_interval(struct checks *c, const char *name, struct interval got, double expected,
                     double relative)
{
    double slack = relative * fabs(expected);
    bool ok = got.lo <= got.hi && fabs(got.lo - expected) <= slack && fabs(got.hi - expected) <= slack;
    checks_note(c, name, ok, "[%.15g, %.15g], expected %.15g within %g", got.lo, got.hi, expected, relative);
}
