/* sotto VERB [options]: looks the verb up, parses its options, runs it, maps its status to an exit code. */
#include "options/launcher.h"
#include "options/manual.h"
#include "options/options_private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROW(name) extern const struct verb verb_##name;
#include "verbs/verb_list.h"
#undef ROW
static const struct verb *const verbs[] = {
#define ROW(name) &verb_##name,
#include "verbs/verb_list.h"
#undef ROW
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    static const char text[] = "\nsotto: stopping after this step (again to quit at once)\n";
    if (stop)
        _exit(128 + number);
    stop = number;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
}

static time_t deadline; /* by the monotonic clock; 0: none */

static time_t main_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* The scheduler's time is nearly over; or somebody sent the signal by hand, which is no limit that was set beforehand. */
static void on_alarm(int number)
{
    static const char text[] = "\nsotto: the job's time is nearly over: stopping after this step\n";
    (void)number;
    if (stop)
        return;
    stop = deadline > 0 && main_monotonic() + 1 >= deadline ? SOTTO_STOP_BY_TIME : SIGINT;
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
}

/* The images of an imported set lie in their file while they are used (base/file.h: struct file_map). */
static void on_lost_file(int number)
{
    static const char text[] = "\nsotto: error: a data file was cut, or its disk was lost, while it was "
                               "read; expected it to stay as it is\n"
                               "  hint: 'sotto data verify NAME' tells whether a set is whole; what was "
                               "charged before stays charged\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)number, (void)ignored;
    _exit(74);
}

/* Ranks that stop together end with one code, whichever got the signal. */
static int exit_code(sotto_status status)
{
    static const int codes[] = {0, 64, 65, 65, 66, 69, 70, 71, 73, 74, 75, 77, 78, 65, 65, 130, 1, 70, 2};
    if (status == SOTTO_ESTOPPED && stop && !cli_team() && !cli_shares())
        return 128 + (stop == SOTTO_STOP_BY_TIME ? SIGINT : (int)stop);
    return (unsigned)status < sizeof codes / sizeof *codes ? codes[status] : 70;
}

static void print_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* Before options are known: as for auto. */
static bool main_coloured(const struct options *o)
{
    const char *when = o ? option_text(o, "color") : "auto", *none = getenv("NO_COLOR"),
               *terminal = getenv("TERM");
    if (!when || strcmp(when, "auto") == 0)
        return isatty(STDERR_FILENO) && !(none && none[0]) && !(terminal && strcmp(terminal, "dumb") == 0);
    return strcmp(when, "always") == 0;
}

static int report_failure(sotto_status status, int json, const struct options *o)
{
    const char *text = cli_error_text(), *hint = cli_error_hint();
    terminal_finish();
    if (json) {
        fprintf(stderr, "{\"error\": ");
        print_json_text(stderr, text);
        fprintf(stderr, ", \"hint\": ");
        print_json_text(stderr, hint);
        fprintf(stderr, ", \"status\": \"%s\", \"exit_code\": %d}\n", sotto_status_name(status),
                exit_code(status));
    } else {
        fprintf(stderr, main_coloured(o) ? "\033[1;31msotto: error:\033[0m %s\n" : "sotto: error: %s\n",
                text);
        if (hint[0])
            fprintf(stderr, "hint: %s\n", hint);
    }
    return exit_code(status);
}

/* Wrong arguments. They are those of all ranks, unless a launcher gave each its own: rank 0 says it. */
static int report_usage(int json, const struct options *o, bool alone)
{
    const struct launched own = {.rank = alone ? 0 : launcher_rank()};
    if (own.rank > 0)
        launcher_name_rank(&own, SOTTO_EUSAGE);
    return report_failure(SOTTO_EUSAGE, json, o);
}

/* A build may have no module. */
static bool has_verbs(int floor)
{
    for (int i = 0; i < VERBS; i++)
        if ((int)verbs[i]->floor == floor)
            return true;
    return false;
}

static void print_synopsis(FILE *out)
{
    static const char *const headings[FLOORS] = {
        [FLOOR_CORE] = "Core: private releases, their budgets and certificates",
        [FLOOR_LEARN] = "Learn: data, encoders and models",
        [FLOOR_MEASURE] = "Measure: audits, attacks and reports",
        [FLOOR_RUN] = "Run: whole experiments, and checks of this program",
        [FLOOR_MODULES] = "Modules: experiments beside the core, without a promise"};
    fprintf(out, "sotto %s: private self-supervised learning\n", sotto_version());
    for (int floor = 0; floor < FLOORS; floor++) {
        if (has_verbs(floor))
            fprintf(out, "\n%s\n", headings[floor]);
        for (int i = 0; i < VERBS; i++)
            if ((int)verbs[i]->floor == floor)
                verb_print_line(out, verbs[i]);
    }
    fputs("\n'sotto VERB --help' shows examples and the main options.\nThis program sends nothing about its "
          "use to anyone.\n",
          out);
}

static int print_verbs(void)
{
    printf("{\"verbs\": [");
    for (int i = 0; i < VERBS; i++) {
        printf("%s\n  {\"name\": \"%s\", \"summary\": ", i ? "," : "", verbs[i]->name);
        print_json_text(stdout, verbs[i]->summary);
        putchar('}');
    }
    printf("\n]}\n");
    return 0;
}

/* NULL: unknown, with the nearest name in the error's text. */
static const struct verb *find_verb(const char *name)
{
    struct nearest best = {NULL, 4};
    for (int i = 0; i < VERBS; i++) {
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
        nearest_consider(&best, name, verbs[i]->name);
    }
    if (name[0] == '-')
        cli_fail(SOTTO_EUSAGE, "'%s' stands before the verb; expected sotto VERB, and options behind it",
                 name);
    else if (best.name)
        cli_fail(SOTTO_EUSAGE, "unknown verb '%s'; did you mean '%s'?", name, best.name);
    else
        cli_fail(SOTTO_EUSAGE, "unknown verb '%s'; see 'sotto help'", name);
    return NULL;
}

/* sotto help --man DIR and --completion DIR: for the installation. */
static int write_manual(const char *what, const char *folder)
{
    sotto_status status = strcmp(what, "--man") == 0 ? manual_write(folder, verbs, VERBS)
                                                     : completion_write(folder, verbs, VERBS);
    return status == SOTTO_OK ? 0 : report_failure(status, 0, NULL);
}

/* On a stack of its own: kernels that oneDNN writes while it runs use the stack pointer as any other register, so that the system
 * would put a signal's frame into their data. It asks the main thread first, whose stack this is. */
static void handle_signal(int number, void (*handler)(int))
{
    static char stack[1 << 16];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction how = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&how.sa_mask);
    if (sigaltstack(&own, NULL) != 0)
        how.sa_flags = SA_RESTART;
    sigaction(number, &how, NULL);
}

static sotto_status main_work(const struct verb *verb, const struct options *options, int json)
{
    const int threads = (int)option_count(options, "threads");
    struct sotto_context ctx = {.threads = threads ? threads : sotto_default_threads(0), .stop = &stop};
    if (cli_writes()) {
        terminal_start(options, verb);
        ctx.progress = terminal_progress;
        ctx.log = terminal_log;
    }
    handle_signal(SIGINT, on_signal);
    handle_signal(SIGTERM, on_signal);
    handle_signal(SIGBUS, on_lost_file);
    if (cli_team() || cli_shares())
        handle_signal(SIGUSR1, on_signal); /* of a scheduler, before the time is over */
    handle_signal(SIGALRM, on_alarm);
    unsigned seconds;
    sotto_status status = launcher_time(&seconds, options);
    if (cli_writes() || cli_shares()) /* one clock decides for all ranks that wait for each other */
    {
        deadline = seconds ? main_monotonic() + (time_t)seconds : 0;
        alarm(seconds);
    }
    cli_set_context(&ctx);
    if (status == SOTTO_OK)
        status = verb_or_part_run(verb, options, &ctx, json);
    cli_set_context(NULL);
    if (cli_writes())
        terminal_end();
    return status;
}

/* All ranks end with one error, which rank 0 prints. */
static sotto_status main_agree(const struct sotto_team *team, sotto_status mine)
{
    const bool failed = mine != SOTTO_OK;
    signal(SIGTERM,
           SIG_IGN); /* a launcher ends ranks once one has ended with an error, and all are about to */
    const sotto_status status =
        sotto_team_agree(team, mine, failed ? cli_error_text() : NULL, failed ? cli_error_hint() : NULL);
    if (status != SOTTO_OK) {
        cli_fail(status, "%s", sotto_error_text());
        cli_hint("%s", sotto_error_hint());
    }
    return status;
}

/* --help, or with the word all behind it all of it. */
static void print_help(const struct verb *verb, const struct options *o)
{
    const size_t words = option_argument_count(o);
    if (words && strcmp(option_argument(o, words - 1), "all") == 0)
        verb_print_all_help(stdout, verb);
    else
        verb_print_help(stdout, verb, option_argument(o, 0));
}

static int run_verb(const char *name, int argc, char **argv)
{
    const struct verb *verb = find_verb(name);
    int json = 0;
    bool alone = false;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        json |= strcmp(argv[i], "--json") == 0;
        alone |= strcmp(argv[i], "--alone") == 0;
    }
    if (!verb)
        return report_usage(json, NULL, alone);
    struct options *options = calloc(1, sizeof *options);
    if (!options)
        return 71;
    sotto_status status = options_parse(options, verb, argc - 2, argv + 2);
    if (status == SOTTO_OK && option_flag(options, "help")) {
        print_help(verb, options);
        free(options);
        return 0;
    }
    struct launched launched = {.idle = false};
    struct sotto_team *team = NULL;
    int common_isa = 0;
    if (status == SOTTO_OK)
        status = launcher_isa(&common_isa, options);
    if (status == SOTTO_OK)
        status = sotto_check_environment();
    if (status == SOTTO_EUSAGE) {
        const int code = report_usage(json, options, alone);
        options_clear(options);
        free(options);
        return code;
    }
    if (status == SOTTO_OK && !option_flag(options, "alone"))
        status = launcher_check(&launched, verb->ranks);
    if (status == SOTTO_OK && launched.together)
        status = launcher_join(&team, &launched, verb->name, common_isa); /* before there are threads */
    cli_set_team(team);
    cli_set_shares(launched.shares, !launched.shares || launched.rank == 0);
    if (status == SOTTO_OK && !launched.idle)
        status = main_work(verb, options, json);
    if (status == SOTTO_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = cli_fail(SOTTO_EIO, "standard output: write failed");
    if (team)
        status = main_agree(team, status);
    const bool own = launched.shares && launched.rank > 0 && status != SOTTO_ESTOPPED;
    if (status != SOTTO_OK && own)
        launcher_name_rank(&launched, status);
    int code = status == SOTTO_OK    ? 0
               : cli_writes() || own ? report_failure(status, json, options)
                                     : exit_code(status);
    cli_set_team(NULL);
    sotto_team_close(team);
    options_clear(options);
    free(options);
    return code;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    sotto_error_style(SOTTO_STYLE_OPTION);
    if (argc < 2) {
        if (launcher_rank() > 0)
            launcher_wait();
        print_synopsis(stderr);
        return 64;
    }
    if (argc > 2 &&
        strcmp(argv[1], "--") == 0) { /* no option stands before the verb, so none can end there */
        argv++;
        argc--;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 && argc == 4 &&
        (strcmp(argv[2], "--man") == 0 || strcmp(argv[2], "--completion") == 0))
        return write_manual(argv[2], argv[3]);
    const bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    if (help && argc == 3 && strcmp(argv[2], "--json") == 0)
        return print_verbs();
    if (help && argc > 2) { /* help VERB ... is VERB --help ... */
        name = argv[2];
        argv[2] = "--help";
    } else if (help) {
        print_synopsis(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    return run_verb(name, argc, argv);
}
