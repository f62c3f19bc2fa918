/* Progress and logs on stderr: a bar with rate and ETA on a terminal, one line every 30 s elsewhere. What reports nothing for a
 * while shows on the bar that it still works, and for how long: a thread of its own draws that. */
#include "options/options_private.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SECONDS = 30, SILENT_SECONDS = 1 };

static struct {
    int quiet, bar, lines, open;
    char stage[64];
    double started, last; /* of the stage; of what was drawn */
    int percent;          /* -1: nothing was reported yet */
    uint64_t first;
} terminal;
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER; /* held while `terminal` is used */

static double terminal_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void draw_bar(const char *text)
{
    char cells[40] = "";
    if (terminal.percent >= 0) {
        char bar[] = "....................";
        memset(bar, '#', (size_t)(terminal.percent < 100 ? terminal.percent / 5 : 20));
        snprintf(cells, sizeof cells, " [%s] %3d %%", bar, terminal.percent);
    }
    fprintf(stderr, "\r%-22.22s%s  %-30s", terminal.stage, cells, text);
    fflush(stderr);
}

/* Ends with the process. */
static void *terminal_heartbeat(void *verb)
{
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
        pthread_mutex_lock(&drawing);
        const double t = terminal_now();
        if (terminal.bar && t - terminal.last >= SILENT_SECONDS) {
            char text[40];
            if (!terminal.open) {
                snprintf(terminal.stage, sizeof terminal.stage, "%s", (const char *)verb);
                terminal.started = terminal.last;
                terminal.percent = -1;
            }
            const long seconds = (long)(t - terminal.started);
            snprintf(text, sizeof text, "working, %ld:%02ld", seconds / 60, seconds % 60);
            terminal.open = 1;
            terminal.last = t;
            draw_bar(text);
        }
        pthread_mutex_unlock(&drawing);
    }
    return NULL;
}

/* Signals are for the main thread, whose waiting they end. */
static void start_heartbeat(const struct verb *verb)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, terminal_heartbeat, (void *)(uintptr_t)verb->name) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void terminal_start(const struct options *o, const struct verb *verb)
{
    const char *when = option_text(o, "progress");
    int tty = isatty(STDERR_FILENO);
    terminal.quiet = option_flag(o, "quiet");
    terminal.bar = !terminal.quiet && (strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && tty));
    terminal.lines = !terminal.quiet && !terminal.bar && strcmp(when, "never") != 0;
    terminal.started = terminal.last = terminal_now();
    terminal.percent = -1;
    if (terminal.bar &&
        option_command(o) == option_argument_count(o)) /* what serves a command waits for others */
        start_heartbeat(verb);
}

static void terminal_finish_line(void)
{
    if (terminal.open && terminal.bar)
        fputc('\n', stderr);
    terminal.open = 0;
}

void terminal_finish(void)
{
    pthread_mutex_lock(&drawing);
    terminal_finish_line();
    pthread_mutex_unlock(&drawing);
}

void terminal_end(void)
{
    pthread_mutex_lock(&drawing);
    terminal_finish_line();
    terminal.bar = terminal.lines = 0;
    pthread_mutex_unlock(&drawing);
}

static void show_progress(const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    double t = terminal_now();
    if (!terminal.open || strcmp(stage, terminal.stage) != 0) {
        terminal_finish_line();
        snprintf(terminal.stage, sizeof terminal.stage, "%s", stage);
        terminal.started = terminal.last = t;
        terminal.first = done;
        terminal.open = 1;
    }
    double pause = terminal.bar ? 0.1 : LINE_SECONDS;
    if (t - terminal.last < pause && (done < total || (!terminal.bar && t - terminal.started < LINE_SECONDS)))
        return;
    terminal.last = t;
    double elapsed = t - terminal.started, rate = elapsed > 0 ? (double)(done - terminal.first) / elapsed : 0;
    char eta[32] = "";
    if (rate > 0 && total >= done) {
        long left = (long)((double)(total - done) / rate + 0.5);
        snprintf(eta, sizeof eta, ", %ld:%02ld left", left / 60, left % 60);
    }
    terminal.percent = total ? (int)(100.0 * (double)done / (double)total) : 0;
    if (terminal.bar) {
        char text[120];
        snprintf(text, sizeof text, "%.4g %s/s%s", rate, unit, eta);
        draw_bar(text);
        if (done >= total)
            terminal_finish_line();
    } else {
        fprintf(stderr, "%s: %d %%, %.4g %s/s%s\n", terminal.stage, terminal.percent, rate, unit, eta);
    }
}

void terminal_progress(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user;
    pthread_mutex_lock(&drawing);
    if (terminal.bar || terminal.lines)
        show_progress(stage, done, total, unit);
    pthread_mutex_unlock(&drawing);
}

void terminal_log(void *user, enum sotto_log_level level, const char *text)
{
    (void)user;
    if (level == SOTTO_LOG_WARNING) {
        cli_warn("%s", text);
    } else if (level == SOTTO_LOG_INFO && !terminal.quiet) {
        terminal_finish();
        fprintf(stderr, "%s\n", text);
    }
}

void cli_warn(const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    terminal_finish();
    fprintf(stderr, "sotto: warning: %s\n", text);
}
