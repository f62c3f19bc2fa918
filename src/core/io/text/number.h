/* number.h - decimal numbers in text files, whatever the process's locale says. */
#ifndef IO_TEXT_NUMBER_H
#define IO_TEXT_NUMBER_H

#include "sotto/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** [+-] digits [. digits] [e [+-] digits], or nan, inf, infinity in any case. The whole text must match; the
 * result is correctly rounded (overflow gives infinity). */
bool number_real(double *out, const char *text, size_t length);
/** Digits only, at most 2^63 - 1. */
bool number_whole(int64_t *out, const char *text, size_t length);

enum { NUMBER_TEXT = SOTTO_NUMBER_TEXT };
/** The shortest of 15 to 17 significant digits that reads back as x. Returns out. */
const char *number_text(char out[NUMBER_TEXT], double x);
/** At most so many significant digits (1 to 17), rounded up, so that "at most" is true of them; a unit in the last place of x is
 * forgiven, as x stands for the decimal that it was computed for. Returns out. */
const char *number_text_up(char out[NUMBER_TEXT], double x, int digits);

#endif
