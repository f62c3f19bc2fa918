/* What tests/support/stop_questions.h counts. */
#include "support/stop_questions.h"

volatile sig_atomic_t stop;
size_t asked, stop_at;
int stop_as = 1;
const struct sotto_context context = {.threads = 1, .stop = &stop};

int __real_context_stopped(const struct sotto_context *ctx);
int __wrap_context_stopped(const struct sotto_context *ctx);
sotto_status __real_context_check(const struct sotto_context *ctx, const char *format, ...);
sotto_status __wrap_context_check(const struct sotto_context *ctx, const char *format, ...);

static void count(const struct sotto_context *ctx)
{
    if (ctx && ctx->stop == &stop && ++asked == stop_at)
        stop = stop_as;
}

int __wrap_context_stopped(const struct sotto_context *ctx)
{
    count(ctx);
    return __real_context_stopped(ctx);
}

sotto_status __wrap_context_check(const struct sotto_context *ctx, const char *format, ...)
{
    count(ctx);
    return __real_context_check(ctx, "%s", format);
}
