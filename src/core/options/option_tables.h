/* option_tables.h - all tables of options of the floors, by name. A table is declared by its definition alone, in some
 * NAME_option_rows.c or NAME_input_rows.c: "const struct sotto_option options_NAME[] = {". CMake lists them
 * (generated/options/floor_tables.h). */
#ifndef OPTIONS_OPTION_TABLES_H
#define OPTIONS_OPTION_TABLES_H

#include "sotto/option.h"

#define OPTIONS(name) extern const struct sotto_option options_##name[];
#include "options/floor_tables.h"
#undef OPTIONS

#endif
