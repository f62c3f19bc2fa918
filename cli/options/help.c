/* sotto VERB --help: options by group, wrapped to the terminal. */
#include "options/options_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST = 100, NARROWEST = 40, HELP_COLUMN = 30 };

static size_t columns(void)
{
    const char *text = getenv("COLUMNS");
    struct winsize size = {0};
    size_t wide = text ? strtoul(text, NULL, 10) : 0;
    if (!wide && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        wide = size.ws_col;
    return !wide || wide > WIDEST ? WIDEST : wide < NARROWEST ? NARROWEST : wide;
}

/* A word; of an example: an option with its value, so that a line is not broken between them. */
static size_t unit(const char *text, bool example)
{
    size_t length = strcspn(text, " ");
    if (!example || text[0] != '-' || !text[length] || text[length + 1] == '-')
        return length;
    const char *value = text + length + 1, *quote = value[0] == '\'' ? strchr(value + 1, '\'') : NULL;
    return quote ? (size_t)(quote + 1 - text) : length + 1 + strcspn(value, " ");
}

/* Words of `text`, broken before column `wide`; `at`: where the line stands, `indent`: where others begin;
 * `more`: what a broken line ends with. A word longer than a line stands alone. Returns where it ends. */
static size_t wrap(FILE *out, const char *text, size_t at, size_t indent, size_t wide, const char *more)
{
    bool first = true;
    for (; *text; first = false) {
        size_t length = unit(text, more[0] != 0);
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

static void print_row(FILE *out, const struct option_row *row, size_t wide)
{
    char text[1024];
    size_t indent = wide >= 80 ? HELP_COLUMN : 8, at = (size_t)fprintf(out, "  --%s", row->name);
    if (option_short(row))
        at += (size_t)fprintf(out, ", -%s", option_short(row));
    if (row->value)
        at += (size_t)fprintf(out, " %s", row->value);
    size_t used = (size_t)snprintf(text, sizeof text, "%s", row->help);
    if (row->fallback)
        used += (size_t)snprintf(text + used, sizeof text - used, " [%s]", row->fallback);
    const char *word, *list = row->aliases;
    for (size_t n, k = 0; (n = option_word(&word, &list)); k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s--%.*s%s", k ? ", " : " (also ", (int)n,
                                 word, *list ? "" : ")");
    if (at + 2 > indent)
        fprintf(out, "\n%*s", (int)indent, "");
    else
        fprintf(out, "%*s", (int)(indent - at), "");
    wrap(out, text, indent, indent, wide, "");
    fputc('\n', out);
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
                print_row(out, &rows->row[k], wide);
    }
}

/* Long examples go on in the next line, as a shell reads them. */
static void print_examples(FILE *out, const char *examples, size_t wide)
{
    while (*examples) {
        char line[512];
        size_t length = strcspn(examples, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, examples);
        fputs("  ", out);
        wrap(out, line + strspn(line, " "), 2, 6, wide, " \\");
        fputc('\n', out);
        examples += length + (examples[length] == '\n');
    }
}

void verb_print_line(FILE *out, const struct verb *verb)
{
    const size_t at = (size_t)fprintf(out, "  sotto %-12s ", verb->name);
    wrap(out, verb->summary, at, at, columns(), "");
    fputc('\n', out);
}

void verb_print_help(FILE *out, const struct verb *verb)
{
    static struct option_rows rows;
    char usage[512];
    size_t wide = columns(), at = (size_t)fprintf(out, "sotto %s: ", verb->name);
    option_rows_of(&rows, verb);
    wrap(out, verb->summary, at, 2, wide, "");
    fputs("\n\nExamples:\n", out);
    print_examples(out, verb->examples, wide);
    snprintf(usage, sizeof usage, "sotto %s%s%s [options]", verb->name, verb->arguments[0] ? " " : "",
             verb->arguments);
    fputs("\nUsage: ", out);
    wrap(out, usage, strlen("Usage: "), 6, wide, "");
    fputs("\n\nOptions:\n", out);
    print_rows(out, &rows, wide);
}
