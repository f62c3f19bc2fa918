/* options.h - one declarative table per verb: it parses, checks, prints help, man pages and completions. */
#ifndef CLI_OPTIONS_OPTIONS_H
#define CLI_OPTIONS_OPTIONS_H

#include "sotto/private/all.h"

#include <stdbool.h>

/* Rows leave out what they do not have. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_COUNT /* >= 0 integer */,
    OPTION_REAL,
    OPTION_LIST, /* repeatable text */
    OPTION_GROUP,
    OPTION_ROWS,
    OPTION_TABLE
};
struct option_row {
    const char *name; /* long name without dashes; "" of the first three below; NULL ends the table */
    enum option_kind kind;
    const char *value;             /* what --help prints for the value: "FILE", "N", "EPSILON" */
    const char *fallback;          /* default as text, or NULL: none */
    const char *help;              /* a noun phrase with the unit; the short help ends it at a semicolon */
    const char *aliases;           /* other names for good, "sigma|s", or NULL */
    const char *old_names;         /* names of earlier versions: they work and are not shown */
    const struct option_row *rows; /* OPTION_ROWS */
    const char *table;             /* OPTION_TABLE: its name */
    const char *only;              /* OPTION_TABLE: these rows, "lr|batch"; NULL: all */
    const char *group;             /* filled in: the heading above */
    const struct sotto_option *member; /* filled in: the member of a struct that it sets */
    const struct verb_part *part; /* filled in: the first part that takes it; NULL: the verb itself does */
};
/* A heading in help: every option stands below one. */
#define OPTION_GROUP(title)                                                                                  \
    {                                                                                                        \
        "", OPTION_GROUP, .help = (title)                                                                    \
    }
/* Rows that several verbs share. */
#define OPTION_ROWS(shared)                                                                                  \
    {                                                                                                        \
        "", OPTION_ROWS, .rows = (shared)                                                                    \
    }
/* Options of a public struct, under the headings of its table: sotto_option_table(). */
#define OPTION_TABLE(of, names)                                                                              \
    {                                                                                                        \
        "", OPTION_TABLE, .table = (of), .only = (names)                                                     \
    }
/* What several verbs ask for in the same words, and no struct holds. */
#define DATA_ROW                                                                                             \
    {                                                                                                        \
        "data", OPTION_TEXT, "SET", NULL, "data set: a registered name or a path (see 'sotto data list')"    \
    }
#define INDICES_ROW                                                                                          \
    {                                                                                                        \
        "indices", OPTION_TEXT, "rows.npy", NULL,                                                            \
            "rows of --data to use, in this order, whole numbers from 0"                                     \
    }
#define SPLIT_ROW                                                                                            \
    {                                                                                                        \
        "split", OPTION_TEXT, "PART", "all", "part of --data to use: train, test or all"                     \
    }
#define FRESH_ROW                                                                                            \
    {                                                                                                        \
        "fresh", OPTION_FLAG, NULL, NULL,                                                                    \
            "fresh start at step 0, although an interrupted run left a checkpoint"                           \
    }
#define TITLE_ROW                                                                                            \
    {                                                                                                        \
        "title", OPTION_TEXT, "TEXT", NULL, "headline of the report"                                         \
    }
/* Options whose value reads ARRAY may be given together, as members of one file (option_arrays.c). */
#define OPTION_ARRAYS_ROW                                                                                    \
    {                                                                                                        \
        "arrays", OPTION_TEXT, "FILE.npz", NULL,                                                             \
            "all arrays in one file, instead of the options with value ARRAY; members have the names of "    \
            "these options with _ for - (member_labels, ...)"                                                \
    }
#define OPTION_END                                                                                           \
    {                                                                                                        \
        NULL, OPTION_FLAG                                                                                    \
    }

struct options;                                                     /* parsed values */
const char *option_text(const struct options *o, const char *name); /* NULL: not given, no default */
uint64_t option_count(const struct options *o, const char *name);
double option_real(const struct options *o, const char *name); /* NAN: not given, no default */
int option_flag(const struct options *o, const char *name);
int option_given(const struct options *o, const char *name);
const char *const *option_list(const struct options *o, const char *name); /* NULL-terminated */
const char *option_command_line(const struct options *o);                  /* as typed: "sotto run x.yaml" */
const char *option_shown_command(const struct options *o); /* without names of files: MEMBER_LOGITS */
size_t option_argument_count(const struct options *o);     /* positional arguments */
const char *option_argument(const struct options *o, size_t i);
/* Number of the first argument that stands behind `--`, where words are no options; option_argument_count(): none. */
size_t option_command(const struct options *o);
/* "512,128" -> {512,128}; EUSAGE on anything else. */
sotto_status option_sizes(size_t *out, size_t capacity, size_t *count, const struct options *o,
                          const char *name);
/* A row of type SOTTO_OPTION_REALS, "0.01,0.001"; EUSAGE also outside of its range. */
sotto_status option_reals(double *out, size_t capacity, size_t *count, const struct options *o,
                          const char *name);

/* The adjacency of a private trainer, where add-remove is another name of zero-out. EUSAGE: zero-out where only replaced
 * records are accounted. */
sotto_status option_adjacency(enum sotto_adjacency *adjacency, const struct options *o, int replace_only);

/* Sets those members of *out that were given, but no reals and inputs: the call itself has the defaults. EUSAGE; EINVAL: 0 for a number above 0. */
sotto_status option_members(void *out, const struct sotto_option *table, const struct options *o);
/* The same; EUSAGE also for one of the keys ("confidence|delta") outside of its range. */
sotto_status option_members_checked(void *out, const struct sotto_option *table, const char *keys,
                                    const struct options *o);

/* A row of verbs which write a report, and the check before they begin: ECREATE where --output DIR holds a finished
 * report, unless --force was given. */
#define OPTION_FORCE_ROW                                                                                     \
    {                                                                                                        \
        "force", OPTION_FLAG, NULL, NULL, "permission to overwrite a finished report in --output"            \
    }
sotto_status option_check_report(const struct options *o);

/* What the ranks of a launcher do (launcher.h). A verb that may draw a release is never RANK_0: a wrong variable would draw it twice. */
enum ranks {
    TOGETHER, /* one run of all ranks */
    WORKERS,  /* one run, the tasks of which they share through a folder; no message goes between them */
    REFUSED,  /* it would be one, but that cannot be done yet */
    RANK_0    /* rank 0 works, the others end with 0 in silence */
};
/* Where a verb stands in `sotto help`: on the floor of the code that it calls (docs/ARCHITECTURE.md). */
enum floor { FLOOR_CORE, FLOOR_LEARN, FLOOR_MEASURE, FLOOR_RUN, FLOOR_MODULES, FLOORS };
/* A first argument that has a help of its own: `sotto VERB NAME --help`. */
struct subcommand {
    const char *name;      /* "import", or names that share one help, "lira|rmia"; NULL ends the list */
    const char *arguments; /* those behind it, "PATH --name NAME", or "" */
    const char *summary, *most_used; /* as of a verb */
};
struct verb {
    const char *name, *summary; /* summary: one line */
    enum floor floor;
    enum ranks ranks;
    const char *arguments; /* "CONFIG.yaml", "NAME ...", or "" */
    size_t min_arguments, max_arguments;
    /* Lines "  sotto ...". The short help begins with the first three; that of a subcommand with its own first three. */
    const char *examples;
    const struct option_row *options;
    /* "data|epsilon": the options of the short help, at most 15, in its order; NULL: subcommands have them. */
    const char *most_used;
    const struct subcommand *subcommands; /* NULL: none */
    const char *own; /* "data|row": names of options that no table of the library holds */
    /* Returns a status; the text comes from sotto_error_text(). `json`: print exactly one object on
     * stdout. */
    sotto_status (*run)(const struct options *o, const struct sotto_context *ctx, int json);
};
/* A part of a verb: another way of it, which one option or its first argument asks for. Its options stand in help below those of the
 * verb, and are refused where it was not asked for. Parts of one verb may share options. */
struct verb_part {
    const char *verb,
        *when; /* "account" and "--rule": an option; "attack" and "encoder": the first argument. NULL: help alone */
    const struct option_row *options;     /* NULL: those of the verb alone */
    const char *own;                      /* as of a verb */
    const char *examples;                 /* printed behind those of the verb, or NULL */
    const struct subcommand *subcommands; /* those that it adds to the verb, or NULL */
    const char *lines;                    /* its lines in the verb's list ("  NAME   summary"), or NULL */
    sotto_status (*run)(const struct options *o, const struct sotto_context *ctx, int json);
};
/* Part i of a verb, in the order of the list; NULL: it has no more. */
const struct verb_part *verb_part_of(const char *verb, size_t i);
/* Every verb also takes: --json --threads N --progress auto|always|never --color auto|always|never --quiet
 * --time-left S --alone --help. */

/* For the body of a verb: record a failure (EUSAGE for contradicting options) and return its status. */
/** That of the verb that runs, for loaders of files that its options name. */
const struct sotto_context *cli_context(void);
void cli_set_context(const struct sotto_context *ctx);
/* The team of all ranks, for verbs that run on it; NULL: alone. Contexts of verbs have none. */
const struct sotto_team *cli_team(void);
void cli_set_team(const struct sotto_team *team);
/* Ranks of a launcher which share the tasks of one run through a folder: all are workers, and rank 0 then merges. */
bool cli_shares(void);
void cli_set_shares(bool shares, bool first);
/* Of several ranks, of either kind, rank 0 alone writes files and prints. */
bool cli_writes(void);
sotto_status cli_fail(sotto_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As in the library: needs `sotto_status status = SOTTO_OK;` and one `done:` label. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != SOTTO_OK)                                                                              \
            goto done;                                                                                       \
    } while (0)
/* The same where nothing is open yet, or ever. */
#define TRY_OR_RETURN(call)                                                                                  \
    do {                                                                                                     \
        const sotto_status tried_ = (call);                                                                  \
        if (tried_ != SOTTO_OK)                                                                              \
            return tried_;                                                                                   \
    } while (0)
/* EUSAGE "--OPTION: 'GIVEN' is unknown; expected CHOICES", and "VERB: action ...", with "did you mean" (sotto_choice_guess()). */
sotto_status cli_unknown(const char *option, const char *given, const char *choices);
sotto_status cli_unknown_action(const char *verb, const char *given, const char *choices);
/* EUSAGE unless the option was given. */
sotto_status option_require(const struct options *o, const char *name);
/* A warning line on stderr: "sotto: warning: ...". */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
