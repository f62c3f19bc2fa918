/* The last failure of each thread is one record: code, text, hint, key. Nothing else in the library is global but the style of texts
 * (error_format.c). */
#include "base/status.h"

#include "base/error_format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct status_record last;
void status_format(char *out, size_t capacity, const char *format, ...)
{
    char key[STATUS_KEY] = "";
    va_list args;
    va_start(args, format);
    error_format(out, capacity, key, format, args);
    va_end(args);
}

sotto_status status_fail(sotto_status code, const char *format, ...)
{
    /* Arguments may point into the old text (a caller re-wording it), so format aside first. */
    struct status_record made = {.code = code};
    va_list args;
    va_start(args, format);
    error_format(made.text, sizeof made.text, made.key, format, args);
    va_end(args);
    last = made;
    return code;
}

sotto_status status_not_given(const char *function, const char *names, size_t i)
{
    for (; i > 0; i--)
        names = strchr(names, ',') + 1;
    size_t length = strcspn(names, ","), word = length;
    while (word > 0 && names[word - 1] != ' ')
        word--;
    return status_fail(SOTTO_EINVAL, "%s: %.*s is NULL; this argument must be given", function,
                       (int)(length - word), names + word);
}

void status_hint(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_format(last.hint, sizeof last.hint, last.key, format, args);
    va_end(args);
}

void status_key(const char *key)
{
    snprintf(last.key, sizeof last.key, "%s", key);
}

void status_prefix(const char *where)
{
    char text[sizeof last.text];
    snprintf(text, sizeof text, "%s: %.900s", where, last.text);
    memcpy(last.text, text, sizeof text);
}

/* Texts are as long as they are: an account that is only tried asks this for each line of a ledger. */
static void status_copy(struct status_record *out, const struct status_record *in)
{
    out->code = in->code;
    memcpy(out->text, in->text, strlen(in->text) + 1);
    memcpy(out->hint, in->hint, strlen(in->hint) + 1);
    memcpy(out->key, in->key, strlen(in->key) + 1);
}

void status_get(struct status_record *out)
{
    status_copy(out, &last);
}

void status_set(const struct status_record *in)
{
    status_copy(&last, in);
}

const char *sotto_error_text(void)
{
    return last.text;
}

const char *sotto_error_hint(void)
{
    return last.hint;
}

const char *sotto_error_key(void)
{
    return last.key[0] ? last.key : NULL;
}

const char *sotto_status_name(sotto_status status)
{
    static const char *const names[] = {"OK",       "EUSAGE",    "EINVAL",  "EFORMAT",   "ENOENT",
                                        "ENOTSUP",  "EINTERNAL", "ENOMEM",  "ECREATE",   "EIO",
                                        "EAGAIN",   "EBUDGET",   "ECONFIG", "EDOMAIN",   "EDIVERGED",
                                        "ESTOPPED", "EGATE",     "ESTUCK",  "EUNDECIDED"};
    _Static_assert(sizeof names / sizeof *names == SOTTO_EUNDECIDED + 1, "one name per status");
    return (unsigned)status <= SOTTO_EUNDECIDED ? names[status] : "unknown";
}

void context_log(const struct sotto_context *ctx, enum sotto_log_level level, const char *format, ...)
{
    if (!ctx || !ctx->log)
        return;
    char text[1024], key[STATUS_KEY] = "";
    va_list args;
    va_start(args, format);
    error_format(text, sizeof text, key, format, args);
    va_end(args);
    ctx->log(ctx->user, level, text);
}

void context_progress(const struct sotto_context *ctx, const char *stage, uint64_t done, uint64_t total,
                      const char *unit)
{
    if (ctx && ctx->progress)
        ctx->progress(ctx->user, stage, done, total, unit);
}

struct sotto_context context_quiet(const struct sotto_context *ctx, int threads)
{
    struct sotto_context quiet = ctx ? *ctx : (struct sotto_context){0};
    quiet.threads = threads ? threads : quiet.threads;
    quiet.progress = NULL;
    quiet.log = NULL;
    return quiet;
}

int context_stopped(const struct sotto_context *ctx)
{
    return ctx && ctx->stop && *ctx->stop;
}

sotto_status context_check(const struct sotto_context *ctx, const char *format, ...)
{
    if (ctx && ctx->team)
        return status_fail(SOTTO_ENOTSUP,
                           "context: this call cannot run on several ranks; team must be NULL");
    if (!context_stopped(ctx))
        return SOTTO_OK;
    char text[sizeof last.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return status_fail(SOTTO_ESTOPPED, "%s", text);
}
