/* Completions for bash, zsh and fish: verbs, and the options of the verb that was typed. */
#include "options/manual.h"
#include "options/manual_file.h"

/* In single quotes of a shell; zsh's _arguments gives brackets and colons a meaning. */
static void put_quoted(FILE *out, const char *text, bool zsh)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else if (zsh && (*text == '[' || *text == ']' || *text == ':' || *text == '\\'))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
}

static void put_bash(FILE *out, const struct verb *const *verbs, size_t count)
{
    static struct option_rows rows;
    fputs("# bash completion of sotto, written by 'sotto help --completion DIR'\n_sotto()\n{\n"
          "    local words='' current=${COMP_WORDS[COMP_CWORD]}\n    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='help",
          out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %s", verbs[i]->name);
    fputs("'\n    elif [[ $current == -* ]]; then\n        case ${COMP_WORDS[1]} in\n", out);
    for (size_t i = 0; i < count; i++) {
        option_rows_of(&rows, verbs[i]);
        fprintf(out, "        %s) words='", verbs[i]->name);
        for (size_t k = 0; k < rows.count; k++)
            fprintf(out, "%s--%s", k ? " " : "", rows.row[k].name);
        fputs("' ;;\n", out);
    }
    fputs("        esac\n    fi\n    if [ -n \"$words\" ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n    fi\n}\n"
          "complete -o default -F _sotto sotto\n",
          out);
}

static void put_zsh_option(FILE *out, const struct option_row *row)
{
    const char *repeat = row->kind == OPTION_LIST ? "*" : "";
    fprintf(out, " \\\n      '%s--%s[", repeat, row->name);
    put_quoted(out, row->help, true);
    fputc(']', out);
    if (row->value) {
        fputc(':', out);
        put_quoted(out, row->value, true);
        fputs(":_files", out);
    }
    fputc('\'', out);
}

static void put_zsh(FILE *out, const struct verb *const *verbs, size_t count)
{
    static struct option_rows rows;
    fputs("#compdef sotto\n# zsh completion of sotto, written by 'sotto help --completion DIR'\n"
          "_sotto() {\n  local -a verbs\n  verbs=(\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "    '%s:", verbs[i]->name);
        put_quoted(out, verbs[i]->summary, true);
        fputs("'\n", out);
    }
    fputs("  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
          "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n",
          out);
    for (size_t i = 0; i < count; i++) {
        option_rows_of(&rows, verbs[i]);
        fprintf(out, "  %s)\n    _arguments", verbs[i]->name);
        for (size_t k = 0; k < rows.count; k++)
            put_zsh_option(out, &rows.row[k]);
        fputs(" \\\n      '*:file:_files'\n    ;;\n", out);
    }
    fputs("  esac\n}\n_sotto \"$@\"\n", out);
}

static void put_fish(FILE *out, const struct verb *const *verbs, size_t count)
{
    static struct option_rows rows;
    fputs("# fish completion of sotto, written by 'sotto help --completion DIR'\n", out);
    for (size_t i = 0; i < count; i++) {
        const char *verb = verbs[i]->name;
        fprintf(out, "complete -c sotto -n __fish_use_subcommand -f -a %s -d '", verb);
        put_quoted(out, verbs[i]->summary, false);
        fputs("'\n", out);
        option_rows_of(&rows, verbs[i]);
        for (size_t k = 0; k < rows.count; k++) {
            const struct option_row *row = &rows.row[k];
            fprintf(out, "complete -c sotto -n '__fish_seen_subcommand_from %s' -l %s%s%s%s -d '", verb,
                    row->name, option_short(row) ? " -s " : "", option_short(row) ? option_short(row) : "",
                    row->value ? " -r" : "");
            put_quoted(out, row->help, false);
            fputs("'\n", out);
        }
    }
}

sotto_status completion_write(const char *folder, const struct verb *const *verbs, size_t count)
{
    static const struct {
        const char *name;
        void (*put)(FILE *out, const struct verb *const *verbs, size_t count);
    } shells[] = {{"sotto.bash", put_bash}, {"_sotto", put_zsh}, {"sotto.fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        FILE *out;
        TRY_OR_RETURN(manual_file_open(&out, folder, shells[i].name));
        shells[i].put(out, verbs, count);
        TRY_OR_RETURN(manual_file_close(out, shells[i].name));
    }
    return SOTTO_OK;
}
