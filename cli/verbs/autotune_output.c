#include "verbs/autotune_output.h"

#include <stdio.h>

void autotune_output(char out[AUTOTUNE_OUTPUT], const struct sotto_autotune *a, const char *unit, int json)
{
    if (!json) {
        sotto_autotune_line(out, a, unit);
        return;
    }
    size_t used = (size_t)snprintf(out, AUTOTUNE_OUTPUT, "\"choice\": \"%s\", \"measured\": [", a->how);
    for (size_t i = 0; i < a->count; i++)
        used += (size_t)snprintf(out + used, AUTOTUNE_OUTPUT - used,
                                 "%s{\"backend\": \"%s\", \"dtype\": \"%s\", \"per_second\": %.1f}",
                                 i ? ", " : "", a->measured[i].backend, a->measured[i].dtype,
                                 a->measured[i].per_second);
    snprintf(out + used, AUTOTUNE_OUTPUT - used, "]");
}
