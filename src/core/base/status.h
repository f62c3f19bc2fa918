/* status.h - how a function in sotto fails. Three macros, one exit per function (`done:`), one thread-local
 * text. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "sotto/base.h"

/* Every format below may mark a member of the struct that the user fills in: "{dataset_id}" is shown as dataset_id to a caller of C, as
 * --dataset-id by the program, and as dataset_id= by Python (sotto_error_style()). The first mark is sotto_error_key().
 *
 *     {KEY=VALUE}            with a value: "give {statistic=median}" is --statistic median, statistic=median
 *     {KEY|OPTION|KEYWORD}   where the option, or the keyword, has another name: "{channels|image}", "{dataset_id||dataset}"
 *
 * All parts may be conversions: "{%s|%s}". Braces around anything else are braces, and so are those of arguments. */

/** Records the text of a failure and returns `code`. Use through FAIL. */
sotto_status status_fail(sotto_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Adds a hint to the failure just recorded. Call right before `goto done`, or after a TRY'd call came
 * back. */
void status_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Names the member that the failure just recorded is about, where the text has no mark: "lr must be > 0" is said of options and of files. */
void status_key(const char *key);
/** A text with marks that is no failure, such as an argument of another one. Texts of documents name arrays and members without marks: a
 * document does not depend on who made it. */
void status_format(char *out, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Puts "where: " in front of the recorded text (a reader that only knows bytes, called by one that knows the
 * file). */
void status_prefix(const char *where);
/** Saves and restores the recorded failure, so that clean-up or worker threads cannot clobber it. */
enum { STATUS_KEY = 64 };
struct status_record {
    sotto_status code;
    char text[1024];
    char hint[512];
    char key[STATUS_KEY];
};
void status_get(struct status_record *out);
void status_set(const struct status_record *in);

/* Every fallible function declares `sotto_status status = SOTTO_OK;` and has one `done:` label. */
#define FAIL(code, ...)                                                                                      \
    do {                                                                                                     \
        status = status_fail((code), __VA_ARGS__);                                                           \
        goto done;                                                                                           \
    } while (0)
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != SOTTO_OK)                                                                              \
            goto done;                                                                                       \
    } while (0)
#define REQUIRE(condition, ...)                                                                              \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            FAIL(SOTTO_EINVAL, __VA_ARGS__);                                                                 \
    } while (0)

/* The first statement of a public function that takes pointers (base.h: which may be NULL). Nothing is open yet, so both
 * return where they stand. An argument may be a condition, such as `!n || x`; the text names its last word. */
#define REQUIRE_GIVEN(...)                                                                                   \
    do {                                                                                                     \
        const _Bool given_[] = {__VA_ARGS__};                                                                \
        for (size_t given_i_ = 0; given_i_ < sizeof given_; given_i_++)                                      \
            if (!given_[given_i_])                                                                           \
                return status_not_given(__func__, #__VA_ARGS__, given_i_);                                   \
    } while (0)
/* Likewise where there is no status: returns `result`, and `GIVEN_OR(, x)` nothing. */
#define GIVEN_OR(result, ...)                                                                                \
    do {                                                                                                     \
        const _Bool given_[] = {__VA_ARGS__};                                                                \
        for (size_t given_i_ = 0; given_i_ < sizeof given_; given_i_++)                                      \
            if (!given_[given_i_])                                                                           \
                return result;                                                                               \
    } while (0)
/** Records that argument i of `names`, which have commas between them, was NULL. Returns: EINVAL. */
sotto_status status_not_given(const char *function, const char *names, size_t i) __attribute__((cold));

/* Context helpers: all accept NULL. */
void context_log(const struct sotto_context *ctx, enum sotto_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void context_progress(const struct sotto_context *ctx, const char *stage, uint64_t done, uint64_t total,
                      const char *unit);
/** For work that runs beside other work of one call: stops when `ctx` does and reports nothing, as callbacks come
 * from the calling thread only. threads 0: as `ctx` says. */
struct sotto_context context_quiet(const struct sotto_context *ctx, int threads);
int context_stopped(const struct sotto_context *ctx);
/** Asks whether to go on. Long work does so every few milliseconds, outside of inner loops.
 *  Returns: ESTOPPED with this text; ENOTSUP for a context with a team (here and nowhere else). */
sotto_status context_check(const struct sotto_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
