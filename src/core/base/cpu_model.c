#include "base/cpu_model.h"

#include <stdio.h>
#include <string.h>

/* The lines of /proc/cpuinfo that name a processor: x86, then ARM. */
static int names_it(const char *line)
{
    static const char *const keys[] = {"vendor_id\t",       "cpu family\t",  "model\t",   "model name\t",
                                       "CPU implementer\t", "CPU variant\t", "CPU part\t"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(line, keys[i], strlen(keys[i])) == 0)
            return 1;
    return 0;
}

/* Up to the blank line that ends the first processor. */
void cpu_model(char out[CPU_MODEL])
{
    char line[512];
    size_t used = 0;
    FILE *f = fopen("/proc/cpuinfo", "re");
    out[0] = '\0';
    while (f && fgets(line, sizeof line, f) && line[0] != '\n') {
        const char *value = strstr(line, ": ");
        if (!value || !names_it(line))
            continue;
        snprintf(out + used, CPU_MODEL - used, "%s%.*s", used ? " " : "", (int)strcspn(value + 2, "\n"),
                 value + 2);
        used = strlen(out);
    }
    if (f)
        fclose(f);
    if (!used)
        strcpy(out, "unknown");
}
