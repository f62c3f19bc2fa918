/* parameters.h - numbers of a plug-in that the user may set by name, as in "NAME=VALUE". */
#ifndef IO_TEXT_PARAMETERS_H
#define IO_TEXT_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

/* A table ends with a NULL name; a NULL table is an empty one. */
struct parameter {
    const char *name, *help;
    double usual, low, high;
    bool whole; /* whole numbers only */
};

size_t parameters_count(const struct parameter *table);
/* values (room): the usual ones, then NAN. */
void parameters_usual(double *values, size_t room, const struct parameter *table);
/* Names for an error line, with commas: "none: it has no parameters" without any. Returns out. */
const char *parameters_names(char *out, size_t capacity, const struct parameter *table);
/* Index of the parameter NAME of "NAME=VALUE"; parameters_count() if there is none. */
size_t parameters_find(const struct parameter *table, const char *setting);
/* The value behind '='; false: no number, or out of range. */
bool parameters_read(double *value, const struct parameter *p, const char *setting);

#endif
