/* The rows of a verb: headings, shared rows and tables of the library become one list. */
#include "options/options_private.h"

#include <assert.h>
#include <string.h>

static const struct option_row common_rows[] = {
    OPTION_GROUP("Common"),
    {"json", OPTION_FLAG, NULL, NULL, "exactly one JSON object on stdout; errors as JSON on stderr"},
    {"threads", OPTION_COUNT, "N", NULL,
     "number of threads (default: SOTTO_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs that this process "
     "may use by "
     "affinity and quota)"},
    {"progress", OPTION_TEXT, "WHEN", "auto", "progress on stderr: auto, always or never"},
    {"color", OPTION_TEXT, "WHEN", "auto",
     "colour of errors: auto (on a terminal, unless NO_COLOR is set), always or never"},
    {"quiet", OPTION_FLAG, NULL, NULL, "no progress and no log lines"},
    {"time-left", OPTION_COUNT, "S", "120",
     "seconds before the end of a Slurm job (SLURM_JOB_END_TIME) at which work that the same command can "
     "continue is stopped; "
     "0: never"},
    {"alone", OPTION_FLAG, NULL, NULL, "single process, although a launcher (mpirun, srun) started it"},
    {"help", OPTION_FLAG, NULL, NULL,
     "help with the options that most people use; --help all: with all of them"},
    OPTION_END};

size_t option_word(const char **word, const char **list)
{
    if (!*list || !**list)
        return 0;
    size_t length = strcspn(*list, "|");
    *word = *list;
    *list += length + ((*list)[length] == '|');
    return length;
}

bool option_listed(const char *list, const char *name, size_t length)
{
    const char *word;
    for (size_t n; (n = option_word(&word, &list));)
        if (n == length && strncmp(word, name, n) == 0)
            return true;
    return false;
}

/* Below `heading`, unless its table says where. */
static struct option_row of_member(const struct sotto_option *m, const char *heading,
                                   const struct verb_part *part)
{
    static const enum option_kind kinds[] = {
        [SOTTO_OPTION_FLAG] = OPTION_FLAG,   [SOTTO_OPTION_TEXT] = OPTION_TEXT,
        [SOTTO_OPTION_COUNT] = OPTION_COUNT, [SOTTO_OPTION_SEED] = OPTION_COUNT,
        [SOTTO_OPTION_REAL] = OPTION_REAL,   [SOTTO_OPTION_SIZES] = OPTION_TEXT,
        [SOTTO_OPTION_CHOICE] = OPTION_TEXT, [SOTTO_OPTION_REALS] = OPTION_TEXT,
        [SOTTO_OPTION_LIST] = OPTION_LIST,   [SOTTO_OPTION_INPUT] = OPTION_TEXT};
    bool given = m->value && m->type != SOTTO_OPTION_FLAG &&
                 (kinds[m->type] == OPTION_TEXT || strcmp(m->value, "auto") != 0);
    return (struct option_row){.name = m->name,
                               .kind = kinds[m->type],
                               .value = m->unit,
                               .fallback = given ? m->value : NULL,
                               .help = m->help,
                               .aliases = m->aliases,
                               .old_names = m->old_names,
                               .group = m->group ? m->group : heading,
                               .member = m,
                               .part = part};
}

static const struct option_row *option_row_named(const struct option_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->row[i].name, name) == 0)
            return &rows->row[i];
    return NULL;
}

/* What a part takes may stand in the list already, by another part. */
static void option_rows_add(struct option_rows *out, struct option_row row)
{
    assert(out->count < OPTION_ROWS_MOST && row.group && "an option stands below a heading");
    if (!row.part || !option_row_named(out, row.name))
        out->row[out->count++] = row;
}

/* A verb with an option of its own by that name has no such alias. */
static void drop_taken_alias(struct option_rows *rows, struct option_row *row)
{
    for (size_t i = 0; row->aliases && i < rows->count; i++)
        if (strcmp(rows->row[i].name, row->aliases) == 0)
            row->aliases = NULL;
}

/* Returns the heading that now holds. */
static const char *add_all(struct option_rows *out, const struct option_row *rows, const char *group,
                           const struct verb_part *part)
{
    for (; rows && rows->name; rows++) {
        struct option_row row = *rows;
        if (row.kind == OPTION_GROUP) {
            group = row.help;
        } else if (row.kind == OPTION_ROWS) {
            group = add_all(out, row.rows, group, part);
        } else if (row.kind == OPTION_TABLE) {
            for (const struct sotto_option *m = sotto_option_table(row.table); m->name; m++)
                if (!row.only || option_listed(row.only, m->name, strlen(m->name)))
                    option_rows_add(out, of_member(m, group, part));
        } else {
            row.group = group;
            row.part = part;
            option_rows_add(out, row);
        }
    }
    return group;
}

void option_rows_of(struct option_rows *out, const struct verb *verb)
{
    const struct verb_part *part;
    out->count = 0;
    add_all(out, verb->options, NULL, NULL);
    for (size_t i = 0; (part = verb_part_of(verb->name, i)); i++)
        add_all(out, part->options, NULL, part);
    add_all(out, common_rows, NULL, NULL);
    for (size_t i = 0; i < out->count; i++)
        drop_taken_alias(out, &out->row[i]);
}

void option_rows_of_part(struct option_rows *out, const struct verb_part *part)
{
    out->count = 0;
    add_all(out, part->options, NULL, part);
}

bool option_opens_group(const struct option_rows *rows, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows->row[k].group, rows->row[i].group) == 0)
            return false;
    return true;
}

const char *option_short(const struct option_row *row)
{
    return strcmp(row->name, "output") == 0 ? "o" : strcmp(row->name, "set") == 0 ? "s" : NULL;
}
