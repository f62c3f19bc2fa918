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
/** The number that 8 digits of 4 bits in a byte each are: neighbours, pairs and fours of digits are put together. */
static inline uint64_t number_of_digits(uint64_t word)
{
    word = word * (1 + (10 << 8)) >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * (1 + (100 << 16)) >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * (1 + (UINT64_C(10000) << 32)) >> 32;
}
/** Are they all digits, whose bytes are 0x30 to 0x39? */
static inline bool number_are_digits(uint64_t word)
{
    const uint64_t ones = UINT64_MAX / 255;
    return ((word & (ones * 0xf0)) | (((word + ones * 6) & (ones * 0xf0)) >> 4)) == ones * 0x33;
}
/** Takes the digits at `text`, behind which NUMBER_WORD bytes may be read: they are appended to *mantissa, and *exact becomes false where
 * that has no room for them. Returns the first character that is none. */
static inline const char *number_digits(uint64_t *mantissa, bool *exact, const char *text)
{
    static const uint64_t tens[NUMBER_WORD + 1] = {1,      10,      100,      1000,     10000,
                                                   100000, 1000000, 10000000, 100000000};
    const uint64_t ones = UINT64_MAX / 255;
    for (;;) {
        /* digits are 0 to 9 here, and the first one lowest; exact up to the first that is none */
        const uint64_t word = number_word(text) ^ ones * '0',
                       others = (word | (word + ones * 6)) & ones * 0xf0;
        const unsigned n = others ? (unsigned)__builtin_ctzll(others) / 8 : NUMBER_WORD;
        if (n == 0)
            return text;
        if (__builtin_mul_overflow(*mantissa, tens[n], mantissa) ||
            __builtin_add_overflow(*mantissa, number_of_digits(word << (64 - 8 * n)), mantissa))
            *exact = false;
        text += n;
        if (n < NUMBER_WORD)
            return text;
    }
}
/** mantissa * 10^power, correctly rounded; false: that may be another double. */
bool number_scaled(double *out, uint64_t mantissa, long power);
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
