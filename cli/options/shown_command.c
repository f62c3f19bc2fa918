/* The command that stands on a page which others read: with every option that changes the result, and without the names of files,
 * which can be private. */
#include "options/options_private.h"

#include <ctype.h>
#include <string.h>

static bool any_of(const char *text, const char *const *words)
{
    while (*words && !strstr(text, *words))
        words++;
    return *words != NULL;
}

static bool changes_nothing(const struct option_row *row)
{
    static const char *const names[] = {"output", "json",  "quiet",  "progress", "color",
                                        "force",  "alone", "arrays", NULL};
    for (const char *const *name = names; *name; name++)
        if (strcmp(row->name, *name) == 0)
            return true;
    return false;
}

static bool is_file(const struct option_row *row, const char *text)
{
    static const char *const kinds[] = {"ARRAY", "FILE", "DIR", "COMMAND", "ROWS", ".npy", NULL},
                             *const parts[] = {"/", ".npy", ".npz", ".csv", ".json", ".safetensors", NULL};
    return (row->kind == OPTION_TEXT || row->kind == OPTION_LIST) &&
           (any_of(row->value ? row->value : "", kinds) || any_of(text, parts));
}

static void shown_command_add(struct options *o, const char *text)
{
    const size_t used = strlen(o->shown_command);
    snprintf(o->shown_command + used, sizeof o->shown_command - used, "%s", text);
}

/* "MEMBER_LOGITS" of --member-logits. */
static void add_place(struct options *o, const char *name)
{
    for (; *name; name++)
        shown_command_add(o, (const char[2]){*name == '-' ? '_' : (char)toupper((unsigned char)*name), '\0'});
}

/* A quote within quotes is '\'' to a shell. */
static void add_word(struct options *o, const char *text)
{
    const bool quoted = !*text || strpbrk(text, " []{}()*?$\"'&;|<>\\`~#!\n\t");
    shown_command_add(o, quoted ? "'" : "");
    for (; *text; text++)
        shown_command_add(o, *text == '\'' ? "'\\''" : (const char[2]){*text, '\0'});
    shown_command_add(o, quoted ? "'" : "");
}

void option_show_command(struct options *o)
{
    snprintf(o->shown_command, sizeof o->shown_command, "sotto %s", o->verb->name);
    for (size_t i = 0; i < o->command_at && i < o->argument_count; i++) {
        shown_command_add(o, " ");
        add_word(o, o->arguments[i]);
    }
    for (size_t i = 0; i < o->count; i++) {
        const struct option_value *value = &o->values[i];
        for (size_t k = 0; k < value->count && !changes_nothing(value->row); k++) {
            shown_command_add(o, " --");
            shown_command_add(o, value->row->name);
            if (value->row->kind == OPTION_FLAG)
                break;
            shown_command_add(o, " ");
            if (is_file(value->row, value->texts[k]))
                add_place(o, value->row->name);
            else
                add_word(o, value->texts[k]);
        }
    }
}

const char *option_shown_command(const struct options *o)
{
    return o->shown_command;
}
