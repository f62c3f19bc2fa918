/* Expands defence_list.h twice: declarations, then the table; names, settings and the list for people. */
#include "defend/defence.h"
#include "base/choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name) extern const struct defence defence_##name;
#include "defend/defence_list.h"
#undef ROW
const struct defence *const defence_table[] = {
#define ROW(name) &defence_##name,
#include "defend/defence_list.h"
#undef ROW
    NULL};
enum { COUNT = sizeof defence_table / sizeof *defence_table - 1 };

static const struct defence *look_up(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (name && (strcmp(defence_table[i]->name, name) == 0 ||
                     (defence_table[i]->old_name && strcmp(defence_table[i]->old_name, name) == 0)))
            return defence_table[i];
    return NULL;
}

sotto_status defence_find(const struct defence **out, const char *name)
{
    char names[256];
    size_t used = 0;
    *out = look_up(name);
    if (*out)
        return SOTTO_OK;
    for (size_t i = 0; i < COUNT && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < COUNT ? ", "
                                                 : " or ",
                                 defence_table[i]->name);
    return choice_unknown(SOTTO_EUSAGE, "defence", name ? name : "", names);
}

const char *sotto_defence_name(size_t i)
{
    return i < COUNT ? defence_table[i]->name : NULL;
}

const char *sotto_defence_title(size_t i)
{
    return i < COUNT ? defence_table[i]->title : NULL;
}

const char *sotto_defence_unit(const char *name)
{
    const struct defence *d = look_up(name);
    return d ? d->unit : NULL;
}

double sotto_defence_usual_budget(const char *name)
{
    const struct defence *d = look_up(name);
    return d ? d->usual_budget : NAN;
}

int sotto_defence_of_posteriors(const char *name)
{
    const struct defence *d = look_up(name);
    return d ? (d->needs & DEFENCE_POSTERIORS) != 0 : -1;
}

static sotto_status defence_table_set(double args[DEFENCE_PARAMS], const struct defence *d,
                                      const char *setting)
{
    sotto_status status = SOTTO_OK;
    char names[256];
    double x = 0;
    size_t i = parameters_find(d->params, setting);
    if (i == parameters_count(d->params))
        FAIL(SOTTO_EUSAGE, "defend: '%s' is not a parameter of %s; expected NAME=VALUE with NAME one of %s",
             setting, d->name, parameters_names(names, sizeof names, d->params));
    const struct parameter *p = &d->params[i];
    if (!parameters_read(&x, p, setting))
        FAIL(SOTTO_EUSAGE, "defend: '%s' is out of range; %s is a %snumber from %g to %g", setting, p->name,
             p->whole ? "whole " : "", p->low, p->high);
    args[i] = x;
done:
    return status;
}

sotto_status defence_arguments(double args[DEFENCE_PARAMS], const struct defence *d,
                               const char *const *settings)
{
    sotto_status status = SOTTO_OK;
    parameters_usual(args, DEFENCE_PARAMS, d->params);
    for (; settings && *settings; settings++)
        TRY(defence_table_set(args, d, *settings));
done:
    return status;
}

static void defence_table_describe(FILE *out, const struct defence *d)
{
    fprintf(out, "%-20s %s (%s)\n%21sdefends %s; budget: %s [%g]\n", d->name, d->title, d->source, "",
            d->needs & DEFENCE_POSTERIORS ? "posteriors" : "embeddings", d->unit, d->usual_budget);
    for (const struct parameter *p = d->params; p && p->name; p++)
        fprintf(out, "%23s%-12s %s [%g]\n", "", p->name, p->help, p->usual);
}

sotto_status sotto_defence_list(char **text)
{
    REQUIRE_GIVEN(text);
    sotto_status status = SOTTO_OK;
    char *kept, *buffer = NULL;
    size_t size;
    FILE *out = open_memstream(&buffer, &size);
    if (!out)
        FAIL(SOTTO_ENOMEM, "defend: out of memory for the list of defences");
    for (size_t i = 0; i < COUNT; i++)
        defence_table_describe(out, defence_table[i]);
    if (fclose(out) != 0 || !(kept = base_strdup(buffer)))
        FAIL(SOTTO_ENOMEM, "defend: out of memory for the list of defences");
    *text = kept;
done:
    free(buffer);
    return status;
}
