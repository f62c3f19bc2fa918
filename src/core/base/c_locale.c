#include "base/c_locale.h"

#undef vsnprintf

locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int c_vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    locale_t before = uselocale(c_locale());
    int length = vsnprintf(out, size, format, args);
    uselocale(before);
    return length;
}

int c_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = c_vsnprintf(out, size, format, args);
    va_end(args);
    return length;
}

int c_fprintf(FILE *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    locale_t before = uselocale(c_locale());
    int length = vfprintf(file, format, args);
    uselocale(before);
    va_end(args);
    return length;
}
