#include "dp/ledger/ledger_output.h"
#include "base/file.h"
#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_lines.h"
#include "rng/noise.h"

#include <stdio.h>
#include <string.h>

enum { SALT = 64 /* digits */, MOST_MOVES = 64 };

static void hash_salted(char out[SHA256_HEX], const char *salt, const char *sha256)
{
    struct sha256 sum;
    sha256_init(&sum);
    sha256_update(&sum, salt, strlen(salt));
    sha256_update(&sum, sha256, strlen(sha256));
    sha256_hex(&sum, out);
}

static bool is_hash_of(const char *hash, const char *salt, const char *sha256)
{
    char found[SHA256_HEX];
    hash_salted(found, salt, sha256);
    return strcmp(found, hash) == 0;
}

static sotto_status count_line(struct released_lines *out, bool *found, const struct ledger_line *line,
                               const struct released_file *file, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct ledger_output o;
    const bool charged = ledger_line_charges(line) || ledger_line_is(line, LEDGER_PLANNED);
    *found = *found || (charged && line->hash && strcmp(line->hash, file->entry) == 0);
    if (!ledger_line_is(line, LEDGER_RELEASED))
        goto done;
    TRY(ledger_line_output(&o, line, name));
    if (o.charge != file->charge)
        goto done;
    const bool same = is_hash_of(o.output, o.salt, file->output);
    out->all++;
    out->output += same;
    out->these += same && is_hash_of(o.certificate, o.salt, file->certificate);
done:
    return status;
}

/* Passes over the lines that this program wrote about other charges, of which there may be thousands. */
static void pass_over(struct ledger_lines *lines, const struct released_file *file)
{
    char number[48];
    const size_t n =
        (size_t)snprintf(number, sizeof number, "\"" LEDGER_CHARGE_NUMBER "\":%zu,", file->charge);
    for (;;) {
        const size_t left = lines->size - (size_t)(lines->next - (char *)lines->data);
        const char *end = memchr(lines->next, '\n', left);
        const size_t length = end ? (size_t)(end - lines->next) : 0;
        if (!end || memmem(lines->next, length, number, n) ||
            memmem(lines->next, length, file->entry, strlen(file->entry)))
            return;
        lines->next += length + 1;
    }
}

/* own: the ledger is being written by this program; else every line is looked at. */
static sotto_status count_lines(struct released_lines *out, const char *ledger,
                                const struct released_file *file, bool own)
{
    sotto_status status = SOTTO_OK;
    struct released_lines made = {0};
    const struct ledger_line *line;
    struct ledger_lines lines = {0};
    bool found = false;
    TRY(ledger_lines_open(&lines, ledger));
    do {
        if (own)
            pass_over(&lines, file);
        TRY(ledger_lines_next(&line, &lines));
        if (line)
            TRY(count_line(&made, &found, line, file, ledger));
    } while (line);
    REQUIRE(
        found,
        "%s: holds no charge %zu with the hash %.16s..., so no file came out of it; use the ledger that was "
        "charged",
        ledger, file->charge, file->entry);
    *out = made;
done:
    ledger_lines_close(&lines);
    return status;
}

sotto_status released_lines_count(struct released_lines *out, const char *ledger,
                                  const struct released_file *file)
{
    return count_lines(out, ledger, file, false);
}

static sotto_status draw_salt(char salt[SALT + 1])
{
    struct noise *os;
    unsigned char bytes[SALT / 2];
    sotto_status status = noise_open(&os);
    if (status != SOTTO_OK)
        return status;
    noise_bytes(os, bytes, sizeof bytes);
    noise_close(os);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(salt + 2 * i, 3, "%02x", bytes[i]);
    return SOTTO_OK;
}

static sotto_status append_line(struct ledger *l, const struct released_file *file)
{
    sotto_status status = SOTTO_OK;
    char salt[SALT + 1], output[SHA256_HEX], certificate[SHA256_HEX], *line = NULL;
    TRY(draw_salt(salt));
    hash_salted(output, salt, file->output);
    hash_salted(certificate, salt, file->certificate);
    TRY(ledger_output_encode(&line, &(struct ledger_output){file->charge, salt, output, certificate}));
    TRY(ledger_append(l, line));
done:
    base_free(line);
    return status;
}

/* The ledger at that path, or where it went. */
static sotto_status open_there(struct ledger *l, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char *at = NULL;
    NEW_TEXT(at, path);
    for (int i = 0; i < MOST_MOVES; i++) {
        if (!file_exists(at))
            FAIL(SOTTO_ENOENT, "%s: the ledger that was charged is gone; put it back", at);
        TRY(ledger_open(l, at, ctx));
        if (!l->moved)
            goto done;
        base_free(at);
        at = base_strdup(l->moved);
        ledger_close(l);
        if (!at)
            FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    }
    FAIL(SOTTO_EFORMAT, "%s: was moved more than %d times; put the ledger back where it was charged", path,
         MOST_MOVES);
done:
    base_free(at);
    return status;
}

sotto_status released_lines_add(const char *ledger, const struct released_file *file,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger l = {.lock = {.fd = -1}};
    struct released_lines lines;
    TRY(open_there(&l, ledger, ctx));
    TRY(count_lines(&lines, l.path, file, true));
    if (lines.these == 0)
        TRY(append_line(&l, file));
done:
    ledger_close(&l);
    return status;
}
