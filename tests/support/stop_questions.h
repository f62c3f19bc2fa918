/* Stopping a call. Every question whether to go on passes through this file (the linker's --wrap:
 * tests/unit/stop/stop_questions.c), so a call is stopped at any question that it asks, and the questions are counted against
 * the work between them. No clock takes part. */
#ifndef TESTS_STOP_QUESTIONS_H
#define TESTS_STOP_QUESTIONS_H

#include "support/test.h"
#include "base/status.h"
#include "support/temporary_folder.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

extern volatile sig_atomic_t stop;
extern size_t asked, stop_at; /* the question that is answered by a stop; 0: none */
extern int stop_as;           /* 1, or SOTTO_STOP_BY_TIME */
extern const struct sotto_context context;

static inline void reset(size_t at)
{
    stop = 0;
    asked = 0;
    stop_at = at;
}

/* Stops `call` at its first, second, middle and last question; unstopped it asks at least `least` questions. */
static inline void stops(const char *name, sotto_status (*call)(void), size_t least)
{
    reset(0);
    sotto_status whole = call();
    if (whole != SOTTO_OK)
        fail_msg("%s: %s", name, sotto_error_text());
    size_t all = asked;
    if (all < least)
        fail_msg("%s asks %zu times; expected %zu or more", name, all, least);
    for (size_t i = 0; i < 4; i++) {
        reset((const size_t[]){1, all > 1 ? 2 : 1, (all + 1) / 2, all}[i]);
        sotto_status status = call();
        if (status != SOTTO_ESTOPPED)
            fail_msg("%s, stopped at question %zu of %zu: %s", name, stop_at, all, sotto_status_name(status));
        if (asked > stop_at + 64) /* what is left is a search that ends at once */
            fail_msg("%s went on for %zu questions after a stop", name, asked - stop_at);
    }
    reset(0);
}
#define STOPS(call, least) stops(#call, call, least)

/* Stopped at a question, also in the middle of a pass, a training continues as if nothing had been.
 * bits: of what the call made; *checkpoint: where it keeps its state, or NULL. */
static inline void bits_stay(sotto_status (*call)(void), size_t stops, const char *bits,
                             const char **checkpoint)
{
    char whole[65];
    *checkpoint = NULL;
    reset(0);
    assert_int_equal(call(), SOTTO_OK);
    strcpy(whole, bits);
    size_t all = asked;
    char file[128];
    strcpy(file, path_of("c.safetensors"));
    *checkpoint = file;
    for (size_t at = 3; at < all; at += all / stops) {
        reset(at);
        assert_int_equal(call(), SOTTO_ESTOPPED);
        reset(0);
        assert_int_equal(call(), SOTTO_OK);
        assert_string_equal(bits, whole);
        unlink(*checkpoint);
    }
    *checkpoint = NULL;
}

#endif
