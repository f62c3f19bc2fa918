/* "lira.prior=4": which attack, which of its parameters, what value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/score/score_attack.h"

static size_t count_of(const struct attack_param *params)
{
    size_t count = 0;
    while (params && params[count].name)
        count++;
    return count;
}

/* The parameter that a setting names and its value; *out is the index, count_of() if the setting is for
 * another attack. */
static sotto_status read_setting(size_t *out, double *value, const struct score_attack *a,
                                 const char *setting)
{
    sotto_status status = SOTTO_OK;
    size_t length = strlen(a->name), count = count_of(a->params), i = 0;
    const char *equals = strchr(setting, '=');
    char *end, names[128] = "";
    *out = count;
    if (strncmp(setting, a->name, length) != 0 || setting[length] != '.')
        return SOTTO_OK;
    const char *name = setting + length + 1;
    for (size_t k = 0, used = 0; k < count && used < sizeof names; k++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "", a->params[k].name);
    while (equals && i < count &&
           !(strlen(a->params[i].name) == (size_t)(equals - name) &&
             strncmp(name, a->params[i].name, (size_t)(equals - name)) == 0))
        i++;
    if (!equals || i == count)
        FAIL(SOTTO_EUSAGE, "audit: '%s' sets no parameter of '%s'; expected %s.NAME=VALUE with %s", setting,
             a->name, a->name, count ? names : "none: it has no parameters");
    const struct attack_param *p = &a->params[i];
    double x = strtod(equals + 1, &end);
    if (end == equals + 1 || *end || !(x >= p->low && x <= p->high))
        FAIL(SOTTO_EUSAGE, "audit: '%s' is out of range; %s.%s is a number from %g to %g", setting, a->name,
             p->name, p->low, p->high);
    *out = i;
    *value = x;
done:
    return status;
}

sotto_status attack_arguments(double args[ATTACK_PARAMS], const struct score_attack *a,
                              const char *const *settings)
{
    sotto_status status = SOTTO_OK;
    size_t count = count_of(a->params), which;
    double value = 0;
    for (size_t i = 0; i < ATTACK_PARAMS; i++)
        args[i] = i < count ? a->params[i].usual : NAN;
    for (; settings && *settings; settings++) {
        TRY(read_setting(&which, &value, a, *settings));
        if (which < count)
            args[which] = value;
    }
done:
    return status;
}

sotto_status attack_settings_check(const char *const *settings)
{
    sotto_status status = SOTTO_OK;
    for (; settings && *settings; settings++) {
        size_t i = 0, which;
        double value;
        const char *dot = strchr(*settings, '.');
        while (attack_table[i] && dot &&
               !(strlen(attack_table[i]->name) == (size_t)(dot - *settings) &&
                 strncmp(*settings, attack_table[i]->name, (size_t)(dot - *settings)) == 0))
            i++;
        if (!dot || !attack_table[i])
            FAIL(SOTTO_EUSAGE, "audit: '%s' names no attack; expected ATTACK.NAME=VALUE", *settings);
        TRY(read_setting(&which, &value, attack_table[i], *settings));
    }
done:
    return status;
}
