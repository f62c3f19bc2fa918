/* options_private.h - what main.c shares with options.c; verbs see options.h only. */
#ifndef CLI_OPTIONS_OPTIONS_PRIVATE_H
#define CLI_OPTIONS_OPTIONS_PRIVATE_H

#include "options/options.h"
#include <stdbool.h>
#include <stdio.h>

struct option_value {
    const struct option_row *row;
    size_t count;
    const char *texts[32]; /* NULL-terminated */
};
enum { OPTION_ROWS_MOST = 128 };
/* Rows of a verb and the common ones, in the order of help; headings and shared tables are resolved. */
struct option_rows {
    size_t count;
    struct option_row row[OPTION_ROWS_MOST];
};
void option_rows_of(struct option_rows *out, const struct verb *verb);
/* What this part alone takes, also what another part takes too. */
void option_rows_of_part(struct option_rows *out, const struct verb_part *part);
/* Runs the part that was asked for, or else the verb. EUSAGE: two parts were asked for, or an option of a part that was not. */
sotto_status verb_or_part_run(const struct verb *verb, const struct options *o,
                              const struct sotto_context *ctx, int json);
/* Subcommand i of a verb or of its parts; NULL: there are no more. */
const struct subcommand *verb_subcommand_at(const struct verb *verb, size_t i);
/* Row i is the first of its group; the group's other rows may stand anywhere below. */
bool option_opens_group(const struct option_rows *rows, size_t i);
/* "o" of --output, "s" of --set; NULL: none. */
const char *option_short(const struct option_row *row);

struct options {
    const struct verb *verb;
    struct option_rows rows;
    size_t count, argument_count;
    size_t command_at; /* of the arguments: the first word behind --; argument_count: there is none */
    struct option_value values[OPTION_ROWS_MOST];
    const char *arguments[32];
    char *owned[OPTION_ROWS_MOST]; /* texts of --arrays */
    size_t owned_count;
    char command_line[1024], shown_command[8192];
};
/* Also after a failure: options_clear(). */
sotto_status options_parse(struct options *o, const struct verb *verb, int argc, char **argv);
/* The word of a list "lr|batch" that begins at *list, and its length; 0: none is left. */
size_t option_word(const char **word, const char **list);
bool option_listed(const char *list, const char *name, size_t length);
/* --help and --help all, wrapped to COLUMNS or to the terminal, at most 100 columns. `subcommand`: NULL or unknown: that of the verb. */
void verb_print_help(FILE *out, const struct verb *verb, const char *subcommand);
void verb_print_all_help(FILE *out, const struct verb *verb);
/* "lira, rmia" of "lira|rmia", and the arguments. */
void subcommand_text(char *out, size_t capacity, const struct subcommand *of);
/* Name and summary. */
void verb_print_line(FILE *out, const struct verb *verb);

void options_clear(struct options *o);
/* Members of --arrays as if their options had been given. EUSAGE. */
sotto_status option_arrays_take(struct options *o);
/* Of what was parsed, for option_shown_command(). */
void option_show_command(struct options *o);
sotto_status option_store(struct options *o, const struct option_row *row, const char *text);

/* Did-you-mean: start with {NULL, limit}; the name stays NULL when nothing is nearer than the limit. */
struct nearest {
    const char *name;
    size_t distance;
};
void nearest_consider(struct nearest *best, const char *wanted, const char *candidate);

/* What to do about the failure of cli_fail(): the line below it. */
void cli_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *cli_error_text(void);
const char *cli_error_hint(void);

/* The two sinks of a context (terminal.c). */
void terminal_start(const struct options *o, const struct verb *verb);
void terminal_progress(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit);
void terminal_log(void *user, enum sotto_log_level level, const char *text);
void terminal_finish(void); /* the line that is being drawn */
void terminal_end(void);    /* nothing is drawn any more */

#endif
