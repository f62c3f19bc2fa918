/* yaml_config.h - configuration files described by one table: checked, completed with defaults, written back.
 *
 *     static const struct config_row rows[] = {
 *         {"name", CONFIG_TEXT, .required = true},
 *         {"pretrain.method", CONFIG_TEXT, "simclr", .names = "simclr|rotation"},
 *         {"pretrain.epochs", CONFIG_WHOLE, "10", .range = "[1,inf)"},
 *         {"head.hidden", CONFIG_WHOLES, "[512]", .range = "[1,65536]"},
 *         {"protect[].mechanism", CONFIG_TEXT, .required = true, .names = "logistic|laplace|gaussian"},
 *         {"protect[].epsilon", CONFIG_REAL, NULL, .range = "(0,inf)"},
 *         {.path = NULL}};
 *
 *     struct config *c = NULL;
 *     TRY(config_read_file(&c, path, rows, overrides));
 *     for (size_t i = 0; i < config_length(c, "protect"); i++)
 *         if (isnan(config_real(c, "protect[%zu].epsilon", i))) ...
 *   done:
 *     config_free(c);
 *
 * Errors (all SOTTO_ECONFIG):
 *     run.yaml:14:5: unknown key 'epsilonn' under protect[1]; did you mean 'epsilon'?
 *     run.yaml:3:12: pretrain.epochs must be a whole number >= 1 (got -3)
 *     -s pretrain.epochs=x: pretrain.epochs must be a whole number >= 1 (got 'x')
 *     run.yaml: 'name' is missing; expected a text
 * What one row cannot say (this or that key, not both) the caller checks afterwards with config_fail(). */
#ifndef IO_YAML_YAML_CONFIG_H
#define IO_YAML_YAML_CONFIG_H

#include "io/json/json.h"

enum config_kind {
    CONFIG_TEXT,
    CONFIG_WHOLE, /* a whole number >= 0, below 2^63 */
    CONFIG_REAL,  /* finite; "1e-5" and "1.0e-5" alike */
    CONFIG_FLAG,  /* true or false */
    CONFIG_TEXTS, /* lists: [a, b] */
    CONFIG_WHOLES,
    CONFIG_REALS
};

struct config_row {
    /* "seed", "data.set", "protect[].scale"; rows of one section stand together; NULL ends */
    const char *path;
    enum config_kind kind;
    /* default as YAML text ("10", "[512, 128]", "[]"); NULL: none, the key may be absent */
    const char *fallback;
    const char *range; /* numbers: an interval, "[1,inf)", "(0,1)"; NULL: any */
    const char *names; /* texts: what is allowed, "adam|sgd"; NULL: any */
    bool required;
    const char *help; /* one line with the unit, for documentation; may be NULL */
};

struct config;

/** `overrides`: "pretrain.epochs=3", "protect[0].scale=0.2", "head.hidden=[64]", NULL-terminated; may be
 * NULL. An index one past the end appends; an empty value restores the default. `name` is for errors. All
 * texts are copied; `rows` must outlive the result. */
sotto_status config_read(struct config **out, const char *text, size_t size, const char *name,
                         const struct config_row *rows, const char *const *overrides);
/** ENOENT, EIO, and as above. */
sotto_status config_read_file(struct config **out, const char *path, const struct config_row *rows,
                              const char *const *overrides);
void config_free(struct config *c);

/* Values by path; the path is a printf format. Asking for a path that no row describes is a bug: assert. */
#define CONFIG_PATH __attribute__((format(printf, 2, 3)))
/** Borrowed; NULL: absent and without default. Also elements: "attack.names[%zu]". */
const char *config_text(const struct config *c, const char *path, ...) CONFIG_PATH;
/** 0 when absent. */
uint64_t config_whole(const struct config *c, const char *path, ...) CONFIG_PATH;
/** NAN when absent. */
double config_real(const struct config *c, const char *path, ...) CONFIG_PATH;
bool config_flag(const struct config *c, const char *path, ...) CONFIG_PATH;
/** Elements of a list, of either sort; 0 when absent. */
size_t config_length(const struct config *c, const char *path, ...) CONFIG_PATH;
/** In the file or in an override (also sections: "protect"), not a default. */
bool config_given(const struct config *c, const char *path, ...) CONFIG_PATH;

/** ECONFIG "run.yaml:12:9: <text>", where the value at `path` stood (a default or absent key: "run.yaml:
 * <text>"). */
sotto_status config_fail(const struct config *c, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The complete configuration, defaults filled in, rows in the order of the table; free with
 * sotto_text_free(). */
sotto_status config_dump(char **yaml, const struct config *c);
/** The same, or one section ("pretrain", "protect[1]"; "" for all), as JSON with real numbers, so that 1e-5
 * and 0.00001 hash alike (dump with JSON_SORTED). NULL when out of memory or absent. */
struct json *config_json(const struct config *c, const char *path);

#endif
