/* What a table's bytes are: UTF-8, or the text of one byte a character that spreadsheets still write. */
#include "data/format/csv_table.h"

#include "io/text/source.h"
#include "io/text/utf8.h"

#include <stdio.h>
#include <string.h>

static const char *title_of(enum text_encoding e)
{
    return e == TEXT_LATIN_1 ? "Latin-1" : "Windows-1252";
}

/* The line of the first byte that is no UTF-8. */
static size_t first_line(const char *text, size_t size)
{
    size_t line = 1;
    for (size_t i = 0; i < size; i++) {
        const size_t step = utf8_next(text + i, size - i);
        if (step == 0)
            break;
        line += text[i] == '\n';
        i += step - 1;
    }
    return line;
}

static sotto_status refuse_encoding(const char *text, size_t size, const char *where,
                                    enum text_encoding shown, bool schema)
{
    sotto_status status = status_fail(SOTTO_EFORMAT, "%s:%zu: is not UTF-8 text, but looks like %s", where,
                                      first_line(text, size), title_of(shown));
    if (schema)
        status_hint("'encoding: %s' in the schema reads it as that", text_encodings[shown]);
    else
        status_hint("{encoding=%s} reads it as that", text_encodings[shown]);
    return status;
}

sotto_status table_text(char **out, size_t *out_size, enum text_encoding *from, const char *text, size_t size,
                        const char *where, const char *asked, enum text_encoding known,
                        enum table_text_use use, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct source s = source_memory(text, size, where);
    const enum text_encoding shown = text_encoding_of(text, size);
    *from = known;
    if (asked && !text_encoding_named(from, asked))
        FAIL(SOTTO_EUSAGE, "{encoding}: '%.20s'; expected utf-8, latin-1 or windows-1252", asked);
    if (use == TEXT_SHOWN || use == TEXT_OF_OPTIONS)
        TRY(source_check_text(&s));
    if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        FAIL(SOTTO_EFORMAT, "%s: is UTF-16 text; expected UTF-8: save it as 'CSV UTF-8'", where);
    if (shown == TEXT_UTF8) {
        *from = asked || known != TEXT_UTF8 ? *from : TEXT_UTF8;
    } else if (*from == TEXT_UTF8 && use == TEXT_SHOWN && !asked) {
        *from = shown;
        context_log(ctx, SOTTO_LOG_INFO, "%s: is not UTF-8 text; it was read as %s", where, title_of(shown));
    } else if (*from == TEXT_UTF8 && use != TEXT_OF_GOOD_ROWS) {
        TRY(refuse_encoding(text, size, where, shown, use == TEXT_OF_SCHEMA));
    }
    TRY(text_to_utf8(out, out_size, text, size, *from));
done:
    return status;
}
