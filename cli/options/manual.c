/* Man pages in the man(7) macros. */
#include "options/manual.h"
#include "options/manual_file.h"

#include <string.h>

/* Text of a line; a dot or quote at its beginning would be a request. */
static void manual_put(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\'')
            fputs("\\(aq", out);
        else if (*text == '^')
            fputs("\\(ha", out);
        else if (*text == '~')
            fputs("\\(ti", out);
        else
            fputc(*text, out);
}

static void put_upper(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, out);
}

static void put_option(FILE *out, const struct option_row *row)
{
    fputs(".TP\n\\fB\\-\\-", out);
    manual_put(out, row->name);
    fputs("\\fR", out);
    if (option_short(row))
        fprintf(out, ", \\fB\\-%s\\fR", option_short(row));
    const char *word, *list = row->aliases;
    for (size_t n; (n = option_word(&word, &list));) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)n, word);
        fputs(", \\fB\\-\\-", out);
        manual_put(out, name);
        fputs("\\fR", out);
    }
    if (row->value) {
        fputs(" \\fI", out);
        manual_put(out, row->value);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    manual_put(out, row->help);
    if (row->fallback) {
        fputs(" (default: ", out);
        manual_put(out, row->fallback);
        fputc(')', out);
    }
    fputc('\n', out);
}

static void put_options(FILE *out, const struct option_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (!option_opens_group(rows, i))
            continue;
        fputs(".SS ", out);
        manual_put(out, rows->row[i].group);
        fputc('\n', out);
        for (size_t k = i; k < rows->count; k++)
            if (strcmp(rows->row[k].group, rows->row[i].group) == 0)
                put_option(out, &rows->row[k]);
    }
}

static void put_examples(FILE *out, const char *examples)
{
    while (*examples) {
        char line[512];
        size_t length = strcspn(examples, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, examples);
        manual_put(out, line);
        fputc('\n', out);
        examples += length + (examples[length] == '\n');
    }
}

static void put_subcommands(FILE *out, const struct verb *verb)
{
    const struct subcommand *s;
    for (size_t i = 0; (s = verb_subcommand_at(verb, i)); i++) {
        char text[256];
        subcommand_text(text, sizeof text, s);
        fprintf(out, "%s.TP\n\\fB", i ? "" : ".SH SUBCOMMANDS\n");
        manual_put(out, text);
        fputs("\\fR\n", out);
        manual_put(out, s->summary);
        fputc('\n', out);
    }
}

static void put_head(FILE *out, const char *verb)
{
    fputs(".TH SOTTO", out);
    if (verb) {
        fputs("\\-", out);
        put_upper(out, verb);
    }
    fprintf(out, " 1 \"\" \"sotto %s\" \"sotto\"\n.SH NAME\nsotto", sotto_version());
    if (verb) {
        fputs("\\-", out);
        manual_put(out, verb);
    }
    fputs(" \\- ", out);
}

/* What all pages say alike. */
static void put_common(FILE *out)
{
    fputs(".SH EXIT STATUS\n0: success.\n1: a claim or bound that was tested does not hold.\n2: what was "
          "asked could not be decided here (verify, certificate).\n"
          "64: wrong use of options.\n65: values or files that are not valid.\n66: an input does not exist.\n"
          "69: not built in, or not possible on this machine.\n70: a defect of sotto, or a training that "
          "ends in its first step at each resume.\n71: out of memory.\n"
          "73, 74: an output cannot be created or written.\n75: a lock is held by another process.\n"
          "77: the privacy budget would be exceeded.\n78: an error in a configuration file.\n"
          "130, 143: stopped by a signal.\n",
          out);
    fputs(".SH FILES\n.I $XDG_DATA_HOME/sotto/ledger/ID.jsonl\nis the ledger of data set ID, unless "
          "\\-\\-ledger names one.\n.I $XDG_DATA_HOME/sotto/data/NAME\nis an imported set.\n.I "
          "$XDG_CACHE_HOME/sotto\nholds what was measured of this machine. Without these variables: "
          "~/.local/share and ~/.cache.\n",
          out);
}

static void put_verb(FILE *out, const struct verb *verb)
{
    static struct option_rows rows;
    option_rows_of(&rows, verb);
    put_head(out, verb->name);
    manual_put(out, verb->summary);
    fputs("\n.SH SYNOPSIS\n\\fBsotto ", out);
    manual_put(out, verb->name);
    fputs("\\fR ", out);
    manual_put(out, verb->arguments);
    fputs(" [options]\n", out);
    put_subcommands(out, verb);
    fputs(".SH EXAMPLES\n.nf\n", out);
    put_examples(out, verb->examples);
    const struct verb_part *part;
    for (size_t i = 0; (part = verb_part_of(verb->name, i)); i++)
        put_examples(out, part->examples ? part->examples : "");
    fputs(".fi\n.SH OPTIONS\n", out);
    put_options(out, &rows);
    put_common(out);
    fputs(".SH SEE ALSO\n.BR sotto (1)\n", out);
}

static void put_overview(FILE *out, const struct verb *const *verbs, size_t count)
{
    put_head(out, NULL);
    fputs("private self\\-supervised learning\n.SH SYNOPSIS\n\\fBsotto\\fR \\fIVERB\\fR [options]\n"
          ".SH VERBS\nEach has a page of its own, such as\n.BR sotto\\-audit (1).\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs(".TP\n\\fB", out);
        manual_put(out, verbs[i]->name);
        fputs("\\fR\n", out);
        manual_put(out, verbs[i]->summary);
        fputc('\n', out);
    }
    put_common(out);
}

sotto_status manual_write(const char *folder, const struct verb *const *verbs, size_t count)
{
    FILE *out;
    TRY_OR_RETURN(manual_file_open(&out, folder, "sotto.1"));
    put_overview(out, verbs, count);
    TRY_OR_RETURN(manual_file_close(out, "sotto.1"));
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "sotto-%s.1", verbs[i]->name);
        TRY_OR_RETURN(manual_file_open(&out, folder, name));
        put_verb(out, verbs[i]);
        TRY_OR_RETURN(manual_file_close(out, name));
    }
    return SOTTO_OK;
}
