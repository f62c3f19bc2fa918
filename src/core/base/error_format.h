/* error_format.h - texts that mark members of structs (status.h says how), in the style that the process has chosen. */
#ifndef BASE_ERROR_FORMAT_H
#define BASE_ERROR_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/** Out: out (capacity)  one line
 *       key             the member that the first mark names; kept where it is not "" before */
void error_format(char *out, size_t capacity, char *key, const char *format, va_list args);

#endif
