/* "lira.prior=4": which attack, which of its parameters, what value. */
#include "audit/score/score_attack.h"

#include <string.h>

/* The parameter that a setting names and its value; *out is the index, parameters_count() if the setting is for
 * another attack. */
static sotto_status read_setting(size_t *out, double *value, const struct score_attack *a,
                                 const char *setting)
{
    sotto_status status = SOTTO_OK;
    size_t length = strlen(a->name), count = parameters_count(a->params);
    char names[128];
    *out = count;
    if (strncmp(setting, a->name, length) != 0 || setting[length] != '.')
        return SOTTO_OK;
    const char *rest = setting + length + 1;
    size_t i = parameters_find(a->params, rest);
    if (i == count)
        FAIL(SOTTO_EUSAGE,
             "audit: '%s' is not a parameter of '%s'; expected %s.NAME=VALUE with NAME one of %s", setting,
             a->name, a->name, parameters_names(names, sizeof names, a->params));
    const struct parameter *p = &a->params[i];
    if (!parameters_read(value, p, rest))
        FAIL(SOTTO_EUSAGE, "audit: '%s' is out of range; %s.%s is a number from %g to %g", setting, a->name,
             p->name, p->low, p->high);
    *out = i;
done:
    return status;
}

sotto_status attack_arguments(double args[ATTACK_PARAMS], const struct score_attack *a,
                              const char *const *settings)
{
    sotto_status status = SOTTO_OK;
    size_t which;
    double value = 0;
    parameters_usual(args, ATTACK_PARAMS, a->params);
    for (; settings && *settings; settings++) {
        TRY(read_setting(&which, &value, a, *settings));
        if (which < parameters_count(a->params))
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
            FAIL(SOTTO_EUSAGE,
                 "audit: '%s' does not begin with the name of an attack; expected ATTACK.NAME=VALUE",
                 *settings);
        TRY(read_setting(&which, &value, attack_table[i], *settings));
    }
done:
    return status;
}
