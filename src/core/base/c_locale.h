/* c_locale.h - text as in the C locale. Every file of the library is compiled with this header in front of it
 * (cmake/library.cmake): a process that has called setlocale() may write decimal commas, and files of sotto may not.
 * Callbacks see the locale of their process, as only the calls below replace it, each for its own length. */
#ifndef BASE_C_LOCALE_H
#define BASE_C_LOCALE_H

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** The C locale; never fails, as it is a constant of the C library. */
locale_t c_locale(void);

int c_snprintf(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int c_vsnprintf(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int c_fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

#undef snprintf
#undef vsnprintf
#undef fprintf
#undef strtod
#undef strcasecmp
#undef strncasecmp
#undef isalpha
#undef isupper
#undef islower
#undef isspace
#undef isprint
#undef tolower
#define snprintf c_snprintf
#define vsnprintf c_vsnprintf
#define fprintf c_fprintf
#define strtod(text, end) strtod_l(text, end, c_locale())
#define strcasecmp(a, b) strcasecmp_l(a, b, c_locale())
#define strncasecmp(a, b, n) strncasecmp_l(a, b, n, c_locale())
#define isalpha(c) isalpha_l(c, c_locale())
#define isupper(c) isupper_l(c, c_locale())
#define islower(c) islower_l(c, c_locale())
#define isspace(c) isspace_l(c, c_locale())
#define isprint(c) isprint_l(c, c_locale())
#define tolower(c) tolower_l(c, c_locale())

#endif
