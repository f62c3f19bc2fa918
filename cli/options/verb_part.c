/* Which part of a verb was asked for, and what may stand beside it. */
#include "options/options_private.h"

#include <stdio.h>
#include <string.h>

static bool verb_part_asked(const struct verb_part *part, const struct options *o)
{
    if (!part->when)
        return false;
    if (strncmp(part->when, "--", 2) == 0)
        return option_given(o, part->when + 2);
    return option_argument_count(o) > 0 && strcmp(option_argument(o, 0), part->when) == 0;
}

static bool verb_part_takes(const struct verb_part *part, const char *name)
{
    struct option_rows rows;
    option_rows_of_part(&rows, part);
    for (size_t i = 0; i < rows.count; i++)
        if (strcmp(rows.row[i].name, name) == 0)
            return true;
    return false;
}

/* "--rule", or "'attack encoder' or --generator": the parts that take an option. */
static void verb_part_names(char *out, size_t capacity, const char *verb, const char *option)
{
    const struct verb_part *part;
    int used = 0;
    for (size_t i = 0; (part = verb_part_of(verb, i)); i++)
        if (verb_part_takes(part, option) && used < (int)capacity)
            used +=
                snprintf(out + used, capacity - (size_t)used, part->when[0] == '-' ? "%s%.0s%s" : "%s'%s %s'",
                         used ? " or " : "", verb, part->when);
}

/* An option of parts, none of which was asked for. */
static sotto_status verb_part_refuse(const struct verb *verb, const struct verb_part *asked,
                                     const struct options *o)
{
    for (size_t i = 0; i < o->count; i++) {
        const struct option_row *row = o->values[i].row;
        char names[256];
        if (!row->part || (asked && verb_part_takes(asked, row->name)))
            continue;
        verb_part_names(names, sizeof names, verb->name, row->name);
        return cli_fail(SOTTO_EUSAGE, "%s: --%s needs %s", verb->name, row->name, names);
    }
    return SOTTO_OK;
}

sotto_status verb_or_part_run(const struct verb *verb, const struct options *o,
                              const struct sotto_context *ctx, int json)
{
    const struct verb_part *part, *asked = NULL;
    for (size_t i = 0; (part = verb_part_of(verb->name, i)); i++) {
        if (!verb_part_asked(part, o))
            continue;
        if (asked)
            return cli_fail(SOTTO_EUSAGE, "%s: %s cannot be combined with %s; give one of them", verb->name,
                            asked->when, part->when);
        asked = part;
    }
    TRY_OR_RETURN(verb_part_refuse(verb, asked, o));
    if (asked && cli_shares())
        return cli_fail(SOTTO_EUSAGE,
                        "%s: %s has no work that several ranks can share; start it without the launcher",
                        verb->name, asked->when);
    return asked ? asked->run(o, ctx, json) : verb->run(o, ctx, json);
}

const struct subcommand *verb_subcommand_at(const struct verb *verb, size_t i)
{
    const struct subcommand *s = verb->subcommands;
    const struct verb_part *part;
    for (size_t k = 0;; k++) {
        for (; s && s->name; s++)
            if (i-- == 0)
                return s;
        if (!(part = verb_part_of(verb->name, k)))
            return NULL;
        s = part->subcommands;
    }
}
