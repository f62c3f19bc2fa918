/* number.h - decimal numbers in text files, whatever the process's locale says. */
#ifndef IO_TEXT_NUMBER_H
#define IO_TEXT_NUMBER_H

#include "sotto/base.h"
#include "sotto/private/print.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NUMBER_WORD = 8 };
/** So many characters, which must be there, as a word whose lowest byte is the first. */
static inline uint64_t number_word(const char *text)
{
    uint64_t word;
    memcpy(&word, text, NUMBER_WORD);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}
/** Are they all digits, whose bytes are 0x30 to 0x39? */
static inline bool number_are_digits(uint64_t word)
{
    const uint64_t ones = UINT64_MAX / 255;
    return ((word & (ones * 0xf0)) | (((word + ones * 6) & (ones * 0xf0)) >> 4)) == ones * 0x33;
}
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
