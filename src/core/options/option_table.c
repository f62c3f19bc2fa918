#include "options/module_tables.h"

#include <string.h>

static const struct named_table {
    const char *name;
    const struct sotto_option *rows;
} tables[] = {
#define OPTIONS(name) {#name, options_##name},
#include "options/all_tables.h"
#undef OPTIONS
};

const struct sotto_option *sotto_option_table(const char *name)
{
    for (size_t i = 0; name && i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].name, name) == 0)
            return tables[i].rows;
    return NULL;
}
