#include "io/text/parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t parameters_count(const struct parameter *table)
{
    size_t count = 0;
    while (table && table[count].name)
        count++;
    return count;
}

void parameters_usual(double *values, size_t room, const struct parameter *table)
{
    size_t count = parameters_count(table);
    for (size_t i = 0; i < room; i++)
        values[i] = i < count ? table[i].usual : NAN;
}

const char *parameters_names(char *out, size_t capacity, const struct parameter *table)
{
    size_t count = parameters_count(table), used = 0;
    for (size_t i = 0; i < count && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i ? ", " : "", table[i].name);
    if (count == 0)
        snprintf(out, capacity, "none: it has no parameters");
    return out;
}

size_t parameters_find(const struct parameter *table, const char *setting)
{
    size_t count = parameters_count(table), i = 0;
    const char *equals = strchr(setting, '=');
    size_t length = equals ? (size_t)(equals - setting) : 0;
    while (i < count && (strlen(table[i].name) != length || strncmp(setting, table[i].name, length) != 0))
        i++;
    return i;
}

bool parameters_read(double *value, const struct parameter *p, const char *setting)
{
    const char *text = strchr(setting, '=') + 1;
    char *end;
    double x = strtod(text, &end);
    *value = x;
    return end != text && !*end && x >= p->low && x <= p->high && !(p->whole && x != floor(x));
}
