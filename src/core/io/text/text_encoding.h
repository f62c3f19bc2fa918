/* text_encoding.h - text of one byte a character, as older programs write it, and its way to UTF-8. */
#ifndef IO_TEXT_TEXT_ENCODING_H
#define IO_TEXT_TEXT_ENCODING_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum text_encoding { TEXT_UTF8, TEXT_LATIN_1, TEXT_WINDOWS_1252, TEXT_ENCODINGS };
extern const char *const text_encodings[TEXT_ENCODINGS]; /* "utf-8", "latin-1", "windows-1252" */

/** By name. Returns false: there is none of that name. */
bool text_encoding_named(enum text_encoding *out, const char *name);
/** What a text shows. UTF-8 with some bad bytes in it is still UTF-8: most of its bytes beyond ASCII belong to characters. */
enum text_encoding text_encoding_of(const char *text, size_t size);
/** A copy as UTF-8, zero-terminated, for base_free(). What stands between separators (comma, semicolon, tab, bar, end of line) and is UTF-8 already stays as it is, so no cell decides about another. Bytes that Windows-1252 leaves open become U+FFFD. ENOMEM. */
sotto_status text_to_utf8(char **out, size_t *out_size, const char *text, size_t size,
                          enum text_encoding from);

#endif
