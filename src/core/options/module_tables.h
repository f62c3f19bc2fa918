/* module_tables.h - all tables of options of this build, those of its modules too. Only modules and option_table.c include it, so
 * that another choice of modules compiles few files again. */
#ifndef OPTIONS_MODULE_TABLES_H
#define OPTIONS_MODULE_TABLES_H

#include "sotto/option.h"

#define OPTIONS(name) extern const struct sotto_option options_##name[];
#include "options/all_tables.h"
#undef OPTIONS

#endif
