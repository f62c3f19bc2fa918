/* Parses long options against a verb's table plus the common rows. Unknown names get the nearest known
 * one. */
#include "options/options_private.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char error_text[1200], error_hint[400];
static const struct sotto_context *context;

const struct sotto_context *cli_context(void)
{
    return context;
}

void cli_set_context(const struct sotto_context *ctx)
{
    context = ctx;
}

static const struct sotto_team *cli_ranks;

const struct sotto_team *cli_team(void)
{
    return cli_ranks;
}

void cli_set_team(const struct sotto_team *team)
{
    cli_ranks = team;
}

static bool shares, first = true;

bool cli_shares(void)
{
    return shares;
}

void cli_set_shares(bool several, bool is_first)
{
    shares = several;
    first = is_first;
}

bool cli_writes(void)
{
    return first && sotto_team_rank(cli_ranks) == 0;
}

sotto_status cli_fail(sotto_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_text, sizeof error_text, format, args);
    va_end(args);
    return status;
}

sotto_status cli_unknown(const char *option, const char *given, const char *choices)
{
    char guess[SOTTO_CHOICE_GUESS];
    sotto_choice_guess(guess, given, choices);
    return cli_fail(SOTTO_EUSAGE, "--%s: '%.64s' is unknown; expected %s%s", option, given, choices, guess);
}

sotto_status cli_unknown_action(const char *verb, const char *given, const char *choices)
{
    char guess[SOTTO_CHOICE_GUESS];
    sotto_choice_guess(guess, given, choices);
    return cli_fail(SOTTO_EUSAGE, "%s: action '%.64s' is unknown; expected %s%s", verb, given, choices,
                    guess);
}

void cli_hint(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_hint, sizeof error_hint, format, args);
    va_end(args);
}

const char *cli_error_text(void)
{
    return error_text[0] ? error_text : sotto_error_text();
}

const char *cli_error_hint(void)
{
    return error_text[0] ? error_hint : sotto_error_hint();
}

static const struct option_row *find_row(const struct options *o, const char *name, size_t length)
{
    for (size_t i = 0; length && i < o->rows.count; i++) {
        const struct option_row *row = &o->rows.row[i];
        if ((strlen(row->name) == length && strncmp(row->name, name, length) == 0) ||
            option_listed(row->aliases, name, length) || option_listed(row->old_names, name, length))
            return row;
    }
    return NULL;
}

/* What scripts may still name. */
static const struct {
    const char *name, *why;
} removed[] = {{"noise-mode", "was removed: all noise is exact now; leave it out"},
               {"constant-time",
                "was removed: it was not exact; --flat-doubt makes the running time tell next to "
                "nothing about the noise, which stays exact"}};

void nearest_consider(struct nearest *best, const char *wanted, const char *candidate)
{
    size_t d = sotto_name_distance(wanted, candidate);
    if (d < best->distance) {
        best->distance = d;
        best->name = candidate;
    }
}

static sotto_status unknown_option(const struct options *o, const char *name, size_t length)
{
    struct nearest best = {NULL, 4};
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        if (strlen(removed[i].name) == length && strncmp(removed[i].name, name, length) == 0)
            return cli_fail(SOTTO_EUSAGE, "--%s %s", removed[i].name, removed[i].why);
    for (size_t i = 0; i < o->rows.count; i++)
        nearest_consider(&best, name, o->rows.row[i].name);
    return best.name ? cli_fail(SOTTO_EUSAGE, "%s: unknown option '--%.*s'; did you mean '--%s'?",
                                o->verb->name, (int)length, name, best.name)
                     : cli_fail(SOTTO_EUSAGE, "%s: unknown option '--%.*s'; see 'sotto %s --help'",
                                o->verb->name, (int)length, name, o->verb->name);
}

static struct option_value *find_value(const struct options *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->values[i].row->name, name) == 0)
            return (struct option_value *)&o->values[i];
    return NULL;
}

static sotto_status check_number(const struct option_row *row, const char *text)
{
    char *end;
    errno = 0;
    if (row->kind == OPTION_COUNT) {
        if (text[0] < '0' || text[0] > '9')
            return cli_fail(SOTTO_EUSAGE, "--%s: '%s' is not a whole number >= 0", row->name, text);
        (void)strtoull(text, &end, 10);
        if (*end || errno)
            return cli_fail(SOTTO_EUSAGE, "--%s: '%s' is not a whole number >= 0", row->name, text);
    } else if (row->kind == OPTION_REAL) {
        double x = strtod(text, &end);
        if (end == text || *end || isnan(x)) /* NAN stands for "not given" */
            return cli_fail(SOTTO_EUSAGE, "--%s: '%s' is not a number", row->name, text);
    }
    return SOTTO_OK;
}

sotto_status option_store(struct options *o, const struct option_row *row, const char *text)
{
    struct option_value *value = find_value(o, row->name);
    if (!value) {
        value = &o->values[o->count++];
        value->row = row;
    } else if (row->kind != OPTION_LIST) {
        return cli_fail(SOTTO_EUSAGE, "--%s: given twice", row->name);
    }
    if (value->count + 1 >= sizeof value->texts / sizeof *value->texts)
        return cli_fail(SOTTO_EUSAGE, "--%s: given too many times", row->name);
    value->texts[value->count++] = text;
    return check_number(row, text);
}

/* The words that need it are quoted, so that the line can be pasted into a shell. */
static void remember_command(struct options *o, int argc, char **argv)
{
    size_t used = (size_t)snprintf(o->command_line, sizeof o->command_line, "sotto %s", o->verb->name);
    for (int i = 0; i < argc && used < sizeof o->command_line; i++) {
        const char *quote = strpbrk(argv[i], " []{}()*?$\"'&;|<>") || !argv[i][0] ? "'" : "";
        used += (size_t)snprintf(o->command_line + used, sizeof o->command_line - used, " %s%s%s", quote,
                                 argv[i], quote);
    }
}

const char *option_command_line(const struct options *o)
{
    return o->command_line;
}

static int same_file(const char *path, const struct stat *output)
{
    struct stat other;
    return stat(path, &other) == 0 && S_ISREG(other.st_mode) && other.st_dev == output->st_dev &&
           other.st_ino == output->st_ino;
}

/* Found before anything is read or charged; the library refuses it once more where it writes. */
static int is_ledger(const char *path)
{
    static const char start[] = "{\"schema\":\"sotto.ledger/";
    char have[sizeof start - 1];
    FILE *f = fopen(path, "rb");
    const size_t got = f ? fread(have, 1, sizeof have, f) : 0;
    if (f)
        fclose(f);
    return got == sizeof have && memcmp(have, start, sizeof have) == 0;
}

/* An output that is also read would be gone when it is needed again, and a ledger or a certificate for good. */
static sotto_status check_output(const struct options *o)
{
    struct stat output;
    const char *path = option_text(o, "output");
    if (!path || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return SOTTO_OK;
    for (size_t i = 0; i < o->count; i++)
        for (size_t k = 0; k < o->values[i].count; k++)
            if (strcmp(o->values[i].row->name, "output") != 0 && same_file(o->values[i].texts[k], &output))
                return cli_fail(SOTTO_EUSAGE,
                                "--output %s is also the input --%s; give another file to write", path,
                                o->values[i].row->name);
    for (size_t i = 0; i < o->argument_count; i++)
        if (same_file(o->arguments[i], &output))
            return cli_fail(SOTTO_EUSAGE, "--output %s is also an input; give another file to write", path);
    if (is_ledger(path))
        return cli_fail(SOTTO_ECREATE,
                        "%s: is a ledger, and its charges would be lost; give another file to write", path);
    return SOTTO_OK;
}

/* Standard input can be read once. */
static sotto_status check_streams(const struct options *o)
{
    const char *taken = NULL;
    for (size_t i = 0; i < o->count; i++) {
        const struct option_row *row = o->values[i].row;
        const bool array = row->value && (strcmp(row->value, "ARRAY") == 0 || strstr(row->value, ".npy"));
        for (size_t k = 0; array && k < o->values[i].count; k++) {
            if (strcmp(o->values[i].texts[k], "-") != 0)
                continue;
            if (taken)
                return cli_fail(SOTTO_EUSAGE, "--%s and --%s both read standard input; expected one of them",
                                taken, row->name);
            taken = row->name;
        }
    }
    return SOTTO_OK;
}

enum { THREADS_MOST = 4096 };

/* Options that every verb has. */
static sotto_status check_common(const struct options *o)
{
    static const char *const whens[] = {"progress", "color"};
    for (size_t i = 0; i < 2; i++) {
        const char *when = option_text(o, whens[i]);
        if (strcmp(when, "auto") != 0 && strcmp(when, "always") != 0 && strcmp(when, "never") != 0)
            return cli_unknown(whens[i], when, "auto, always or never");
    }
    const uint64_t threads = option_count(o, "threads");
    if (option_given(o, "threads") && (threads < 1 || threads > THREADS_MOST))
        return cli_fail(SOTTO_EUSAGE, "--threads is %llu; expected 1 to %d", (unsigned long long)threads,
                        THREADS_MOST);
    return SOTTO_OK;
}

static sotto_status check_arguments(const struct options *o)
{
    const struct verb *verb = o->verb;
    if (o->argument_count < verb->min_arguments)
        return cli_fail(SOTTO_EUSAGE, "%s: expects %s; see 'sotto %s --help'", verb->name, verb->arguments,
                        verb->name);
    if (o->argument_count > verb->max_arguments)
        return cli_fail(SOTTO_EUSAGE, "%s: unexpected argument '%s'", verb->name,
                        o->arguments[verb->max_arguments]);
    return SOTTO_OK;
}

sotto_status options_parse(struct options *o, const struct verb *verb, int argc, char **argv)
{
    *o = (struct options){.verb = verb};
    option_rows_of(&o->rows, verb);
    remember_command(o, argc, argv);
    bool command = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!command && strcmp(word, "--") == 0) {
            command = true;
            o->command_at = o->argument_count;
            continue;
        }
        if (!command && strcmp(word, "-h") == 0)
            word = "--help";
        /* -o and -s are the two short names that scripts use everywhere. */
        if (!command && strcmp(word, "-o") == 0)
            word = "--output";
        if (!command && strcmp(word, "-s") == 0)
            word = "--set";
        if (command || strncmp(word, "--", 2) != 0) {
            if (!command && word[0] == '-' && word[1] != '\0')
                return cli_fail(SOTTO_EUSAGE, "unknown option '%s'; expected a long option such as --help",
                                word);
            if (o->argument_count >= sizeof o->arguments / sizeof *o->arguments)
                return cli_fail(SOTTO_EUSAGE, "too many arguments");
            o->arguments[o->argument_count++] = word;
            o->command_at += !command;
            continue;
        }
        const char *name = word + 2, *equals = strchr(name, '=');
        size_t length = equals ? (size_t)(equals - name) : strlen(name);
        const struct option_row *row = find_row(o, name, length);
        if (!row)
            return unknown_option(o, name, length);
        const char *text = "1";
        if (row->kind == OPTION_FLAG) {
            if (equals)
                return cli_fail(SOTTO_EUSAGE, "--%s: takes no value", row->name);
        } else if (equals) {
            text = equals + 1;
        } else if (++i < argc) {
            text = argv[i];
        } else {
            return cli_fail(SOTTO_EUSAGE, "--%s: a value is missing", row->name);
        }
        TRY_OR_RETURN(option_store(o, row, text));
    }
    if (option_flag(o, "help"))
        return SOTTO_OK;
    sotto_status status = check_arguments(o);
    if (status == SOTTO_OK)
        status = check_common(o);
    if (status == SOTTO_OK)
        status = check_streams(o);
    if (status == SOTTO_OK)
        status = option_arrays_take(o);
    option_show_command(o);
    return status == SOTTO_OK ? check_output(o) : status;
}

const char *option_text(const struct options *o, const char *name)
{
    const struct option_value *value = find_value(o, name);
    if (value)
        return value->texts[0];
    const struct option_row *row = find_row(o, name, strlen(name));
    return row ? row->fallback : NULL;
}

uint64_t option_count(const struct options *o, const char *name)
{
    const char *text = option_text(o, name);
    return text ? strtoull(text, NULL, 10) : 0;
}

double option_real(const struct options *o, const char *name)
{
    const char *text = option_text(o, name);
    return text ? strtod(text, NULL) : NAN;
}

int option_flag(const struct options *o, const char *name)
{
    return find_value(o, name) != NULL;
}

int option_given(const struct options *o, const char *name)
{
    return find_value(o, name) != NULL;
}

const char *const *option_list(const struct options *o, const char *name)
{
    static const char *const none[] = {NULL};
    const struct option_value *value = find_value(o, name);
    return value ? value->texts : none;
}

size_t option_argument_count(const struct options *o)
{
    return o->argument_count;
}

size_t option_command(const struct options *o)
{
    return o->command_at;
}

const char *option_argument(const struct options *o, size_t i)
{
    return i < o->argument_count ? o->arguments[i] : NULL;
}

sotto_status option_sizes(size_t *out, size_t capacity, size_t *count, const struct options *o,
                          const char *name)
{
    *count = 0;
    const char *text = option_text(o, name);
    while (text && *text) {
        char *end;
        errno = 0;
        unsigned long long x = strtoull(text, &end, 10);
        if (end == text || errno || x == 0 || (*end && *end != ',') || (*end && !end[1]))
            return cli_fail(SOTTO_EUSAGE,
                            "--%s: '%s' is not a list of whole numbers; expected for example 512,128", name,
                            option_text(o, name));
        if (*count == capacity)
            return cli_fail(SOTTO_EUSAGE, "--%s: too many numbers; expected at most %zu", name, capacity);
        out[(*count)++] = (size_t)x;
        text = *end ? end + 1 : end;
    }
    return SOTTO_OK;
}

sotto_status option_reals(double *out, size_t capacity, size_t *count, const struct options *o,
                          const char *name)
{
    const struct option_row *row = find_row(o, name, strlen(name));
    const char *text = option_text(o, name);
    sotto_status status = SOTTO_OK;
    *count = 0;
    if (text)
        status = sotto_option_reals(out, capacity, count, row->member, text);
    return status == SOTTO_OK ? status : cli_fail(SOTTO_EUSAGE, "--%s", sotto_error_text());
}

sotto_status option_check_report(const struct options *o)
{
    char page[4096];
    struct stat found;
    const char *folder = option_text(o, "output");
    if (!folder || option_flag(o, "force"))
        return SOTTO_OK;
    int length = snprintf(page, sizeof page, "%s/report.html", folder);
    if (length > 0 && (size_t)length < sizeof page && stat(page, &found) == 0)
        return cli_fail(
            SOTTO_ECREATE,
            "%s: already contains a finished report; give another --output, or --force to overwrite it",
            page);
    return SOTTO_OK;
}

sotto_status option_adjacency(enum sotto_adjacency *adjacency, const struct options *o, int replace_only)
{
    if (*adjacency == SOTTO_ADD_REMOVE)
        *adjacency = SOTTO_ZERO_OUT;
    if (*adjacency == SOTTO_ZERO_OUT && replace_only)
        return cli_fail(SOTTO_EUSAGE,
                        "--adjacency %s: this trainer supports replace-one only (DP-SGD with --sampling "
                        "poisson supports both)",
                        option_text(o, "adjacency"));
    return SOTTO_OK;
}

sotto_status option_require(const struct options *o, const char *name)
{
    if (option_given(o, name))
        return SOTTO_OK;
    return cli_fail(SOTTO_EUSAGE, "%s: --%s is missing; see 'sotto %s --help'", o->verb->name, name,
                    o->verb->name);
}

/* What the command line says of a member; NULL: nothing. */
static const char *member_text(const struct options *o, const struct sotto_option *member)
{
    const struct option_row *row = find_row(o, member->name, strlen(member->name));
    return row && row->member == member && option_given(o, member->name) ? option_text(o, member->name)
                                                                         : NULL;
}

/* EINVAL for a given 0 which the library would take for "not given". */
static sotto_status refuse_zero(const struct sotto_option *row, const char *text)
{
    bool unknown = !row->value || strcmp(row->value, "auto") == 0;
    if (row->type != SOTTO_OPTION_REAL || !unknown || strtod(text, NULL) != 0 ||
        sotto_option_check_number(row, 0) == SOTTO_OK)
        return SOTTO_OK;
    return cli_fail(SOTTO_EINVAL, "--%s must be > 0 (got 0)", row->name);
}

sotto_status option_members_checked(void *out, const struct sotto_option *table, const char *keys,
                                    const struct options *o)
{
    for (; table->name; table++) {
        const char *text = member_text(o, table);
        if (text && table->type == SOTTO_OPTION_LIST)
            memcpy((char *)out + table->offset, &(const char *const *){option_list(o, table->name)},
                   sizeof(char **));
        if (table->type >= SOTTO_OPTION_REALS)
            continue;
        if (text && sotto_option_set(out, table, text) != SOTTO_OK)
            return cli_fail(SOTTO_EUSAGE, "--%s", sotto_error_text());
        if (text && refuse_zero(table, text) != SOTTO_OK)
            return SOTTO_EINVAL;
        if (text && option_listed(keys, table->key, strlen(table->key)) &&
            sotto_options_check(out, table, table->key) != SOTTO_OK)
            return cli_fail(SOTTO_EUSAGE, "%s: --%s%s", o->verb->name,
                            table->name, /* for the member's name */
                            sotto_error_text() + strlen(table->key));
    }
    return SOTTO_OK;
}

sotto_status option_members(void *out, const struct sotto_option *table, const struct options *o)
{
    return option_members_checked(out, table, "", o);
}
