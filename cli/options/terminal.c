/* Progress and logs on stderr: a bar with rate and ETA on a terminal, one line every 30 s elsewhere. */
#include "options/options_private.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SECONDS = 30 };

static struct {
    int quiet, bar, lines, open;
    char stage[64];
    double started, last;
    uint64_t first;
} terminal;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void terminal_start(const struct options *o)
{
    const char *when = option_text(o, "progress");
    int tty = isatty(STDERR_FILENO);
    terminal.quiet = option_flag(o, "quiet");
    terminal.bar = !terminal.quiet && (strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && tty));
    terminal.lines = !terminal.quiet && !terminal.bar && strcmp(when, "never") != 0;
}

void terminal_finish(void)
{
    if (terminal.open && terminal.bar)
        fputc('\n', stderr);
    terminal.open = 0;
}

void terminal_progress(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user;
    if (!terminal.bar && !terminal.lines)
        return;
    double t = now();
    if (!terminal.open || strcmp(stage, terminal.stage) != 0) {
        terminal_finish();
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
    int percent = total ? (int)(100.0 * (double)done / (double)total) : 0;
    if (terminal.bar) {
        char cells[21];
        for (int i = 0; i < 20; i++)
            cells[i] = i < percent / 5 ? '#' : '.';
        cells[20] = '\0';
        fprintf(stderr, "\r%-22.22s [%s] %3d %%  %.4g %s/s%s   ", terminal.stage, cells, percent, rate, unit,
                eta);
        if (done >= total)
            terminal_finish();
        fflush(stderr);
    } else {
        fprintf(stderr, "%s: %d %%, %.4g %s/s%s\n", terminal.stage, percent, rate, unit, eta);
    }
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
