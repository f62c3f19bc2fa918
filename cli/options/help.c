/* sotto VERB --help: what most people use, on one screen; --help all: all options by group. */
#include "options/options_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST = 100, NARROWEST = 40, HELP_COLUMN = 30, EXAMPLES_SHOWN = 3 };

static size_t help_columns(void)
{
    const char *text = getenv("COLUMNS");
    struct winsize size = {0};
    size_t wide = text ? strtoul(text, NULL, 10) : 0;
    if (!wide && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        wide = size.ws_col;
    return !wide || wide > WIDEST ? WIDEST : wide < NARROWEST ? NARROWEST : wide;
}

/* A word; of an example: an option with its value, so that a line is not broken between them. */
static size_t help_unit(const char *text, bool example)
{
    size_t length = strcspn(text, " ");
    if (!example || text[0] != '-' || !text[length] || text[length + 1] == '-')
        return length;
    const char *value = text + length + 1, *quote = value[0] == '\'' ? strchr(value + 1, '\'') : NULL;
    return quote ? (size_t)(quote + 1 - text) : length + 1 + strcspn(value, " ");
}

/* Words of `text`, broken before column `wide`; `at`: where the line stands, `indent`: where others begin;
 * `more`: what a broken line ends with. A word longer than a line stands alone. Returns where it ends. */
static size_t help_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t wide, const char *more)
{
    bool first = true;
    for (; *text; first = false) {
        size_t length = help_unit(text, more[0] != 0);
        if (!first && at + 1 + length + strlen(more) > wide) {
            fprintf(out, "%s\n%*s", more, (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", (int)length, text);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    return at;
}

/* `text` in the second column, behind what ends at `at` in the first. */
static void print_text(FILE *out, const char *text, size_t at, size_t wide)
{
    const size_t indent = wide >= 80 ? HELP_COLUMN : 8;
    if (at + 2 > indent)
        fprintf(out, "\n%*s", (int)indent, "");
    else
        fprintf(out, "%*s", (int)(indent - at), "");
    help_wrap(out, text, indent, indent, wide, "");
    fputc('\n', out);
}

/* Length of a help text up to its first semicolon outside of brackets. */
static size_t first_clause(const char *help)
{
    size_t length = 0;
    for (int depth = 0; help[length] && (help[length] != ';' || depth > 0); length++)
        depth += (help[length] == '(') - (help[length] == ')');
    return length;
}

static void print_row(FILE *out, const struct option_row *row, size_t wide, bool all)
{
    char text[1024];
    size_t at = (size_t)fprintf(out, "  --%s", row->name);
    if (option_short(row))
        at += (size_t)fprintf(out, ", -%s", option_short(row));
    if (row->value)
        at += (size_t)fprintf(out, " %s", row->value);
    size_t used = (size_t)snprintf(text, sizeof text, "%.*s",
                                   (int)(all ? strlen(row->help) : first_clause(row->help)), row->help);
    if (row->fallback)
        used += (size_t)snprintf(text + used, sizeof text - used, " [%s]", row->fallback);
    const char *word, *list = all ? row->aliases : NULL;
    for (size_t n, k = 0; (n = option_word(&word, &list)); k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s--%.*s%s", k ? ", " : " (also ", (int)n,
                                 word, *list ? "" : ")");
    print_text(out, text, at, wide);
}

/* Groups in the order of their first options; an option is printed with its group. */
static void print_rows(FILE *out, const struct option_rows *rows, size_t wide)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *group = rows->row[i].group;
        if (!option_opens_group(rows, i))
            continue;
        fprintf(out, "\n%s\n", group);
        for (size_t k = i; k < rows->count; k++)
            if (strcmp(rows->row[k].group, group) == 0)
                print_row(out, &rows->row[k], wide, true);
    }
}

/* Text k of examples: that of the verb, then those of its parts. NULL: there are no more. */
static const char *examples_at(const struct verb *verb, size_t k)
{
    const struct verb_part *part = k ? verb_part_of(verb->name, k - 1) : NULL;
    return !k ? verb->examples : !part ? NULL : part->examples ? part->examples : "";
}

/* "  sotto data import ..." is an example of the subcommand import. */
static bool is_example_of(const char *line, const struct verb *verb, const struct subcommand *of)
{
    char start[64];
    const size_t length = (size_t)snprintf(start, sizeof start, "  sotto %s ", verb->name);
    return strncmp(line, start, length) == 0 &&
           option_listed(of->name, line + length, strcspn(line + length, " \n"));
}

/* The first ones, at most `most`. Long examples go on in the next line, as a shell reads them. */
static void print_examples(FILE *out, const struct verb *verb, const struct subcommand *of, size_t most,
                           size_t wide)
{
    const char *examples;
    fputs("\nExamples:\n", out);
    for (size_t k = 0; (examples = examples_at(verb, k)); k++)
        while (*examples && most) {
            char line[512];
            size_t length = strcspn(examples, "\n");
            snprintf(line, sizeof line, "%.*s", (int)length, examples);
            if (!of || is_example_of(line, verb, of)) {
                fputs("  ", out);
                help_wrap(out, line + strspn(line, " "), 2, 6, wide, " \\");
                fputc('\n', out);
                most--;
            }
            examples += length + (examples[length] == '\n');
        }
}

static void print_title(FILE *out, const char *verb, const char *subcommand, const char *summary, size_t wide)
{
    const size_t at = (size_t)fprintf(out, "sotto %s%s%s: ", verb, subcommand[0] ? " " : "", subcommand);
    help_wrap(out, summary, at, 2, wide, "");
    fputc('\n', out);
}

static void print_usage(FILE *out, const char *verb, const char *subcommand, const char *arguments,
                        size_t wide)
{
    char usage[512];
    snprintf(usage, sizeof usage, "sotto %s%s%s%s%s [options]", verb, subcommand[0] ? " " : "", subcommand,
             arguments[0] ? " " : "", arguments);
    fputs("\nUsage: ", out);
    help_wrap(out, usage, strlen("Usage: "), 6, wide, "");
    fputc('\n', out);
}

void subcommand_text(char *out, size_t capacity, const struct subcommand *of)
{
    const char *word, *list = of->name;
    size_t used = 0;
    for (size_t n; (n = option_word(&word, &list));)
        used += (size_t)snprintf(out + used, capacity - used, "%s%.*s", used ? ", " : "", (int)n, word);
    snprintf(out + used, capacity - used, "%s%s", of->arguments[0] ? " " : "", of->arguments);
}

static void print_subcommands(FILE *out, const struct verb *verb, size_t wide)
{
    fprintf(out, "\nsotto %s NAME --help, where NAME is one of:\n", verb->name);
    const struct subcommand *s;
    for (size_t i = 0; (s = verb_subcommand_at(verb, i)); i++) {
        char text[256];
        subcommand_text(text, sizeof text, s);
        fputs("  ", out);
        print_text(out, s->summary, help_wrap(out, text, 2, 4, wide, ""), wide);
    }
}

static void print_most_used(FILE *out, const struct option_rows *rows, const char *list, size_t wide)
{
    const char *word;
    if (list)
        fputs("\nOptions that most people use:\n", out);
    for (size_t n; (n = option_word(&word, &list));)
        for (size_t i = 0; i < rows->count; i++)
            if (strncmp(rows->row[i].name, word, n) == 0 && !rows->row[i].name[n])
                print_row(out, &rows->row[i], wide, false);
}

/* NULL: none is of this name. */
static const struct subcommand *find_subcommand(const struct verb *verb, const char *name)
{
    const struct subcommand *s;
    for (size_t i = 0; name && (s = verb_subcommand_at(verb, i)); i++)
        if (option_listed(s->name, name, strlen(name)))
            return s;
    return NULL;
}

void verb_print_line(FILE *out, const struct verb *verb)
{
    char text[256];
    const size_t at = (size_t)fprintf(out, "  sotto %-12s ", verb->name);
    snprintf(text, sizeof text, "%.*s", (int)first_clause(verb->summary), verb->summary);
    help_wrap(out, text, at, at, help_columns(), "");
    fputc('\n', out);
}

void verb_print_help(FILE *out, const struct verb *verb, const char *subcommand)
{
    static struct option_rows rows;
    const struct subcommand *of = find_subcommand(verb, subcommand);
    const size_t wide = help_columns();
    option_rows_of(&rows, verb);
    print_title(out, verb->name, of ? subcommand : "", of ? of->summary : verb->summary, wide);
    print_examples(out, verb, of, EXAMPLES_SHOWN, wide);
    if (of || verb->most_used)
        print_usage(out, verb->name, of ? subcommand : "", of ? of->arguments : verb->arguments, wide);
    if (!of && verb_subcommand_at(verb, 0))
        print_subcommands(out, verb, wide);
    print_most_used(out, &rows, of ? of->most_used : verb->most_used, wide);
    fprintf(out, "\nall options: sotto %s --help all\n", verb->name);
}

void verb_print_all_help(FILE *out, const struct verb *verb)
{
    static struct option_rows rows;
    const size_t wide = help_columns();
    option_rows_of(&rows, verb);
    print_title(out, verb->name, "", verb->summary, wide);
    print_examples(out, verb, NULL, SIZE_MAX, wide);
    print_usage(out, verb->name, "", verb->arguments, wide);
    fputs("\nOptions:\n", out);
    print_rows(out, &rows, wide);
}
