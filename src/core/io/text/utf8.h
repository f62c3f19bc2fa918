/* utf8.h - text that comes from files: is it UTF-8, and can it be shown in an error line? */
#ifndef IO_TEXT_UTF8_H
#define IO_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes of the well-formed character at p (1..4), 0 if there is none in the `left` bytes. No surrogates, no
 * overlong forms (RFC 3629). */
size_t utf8_next(const char *p, size_t left);
bool utf8_valid(const char *text, size_t length);
/** Copies into out[capacity] what may be shown on a terminal: control characters and bad bytes become '?',
 * long text ends in "...". Returns out. */
const char *utf8_printable(char *out, size_t capacity, const char *text, size_t length);
/** Copies into out, which has room for 4 * columns + 1 bytes, a cell of a table for a terminal: that many characters, blanks
 * behind a shorter text, '?' as above. Returns out. */
const char *utf8_column(char *out, const char *text, size_t columns);
/** Copies into out, which has room for 3 * length + 1 bytes, with U+FFFD for every byte that is not UTF-8. Returns the
 * length of the copy. */
size_t utf8_repair(char *out, const char *text, size_t length);

#endif
