/* An entry is {"event":"records","dataset_id":...,"key":<32 digits>,"count":n,"hashes":<16 digits each>}. Every
 * entry of a ledger has the same key. Together they hold as many equal hashes as a charged set had equal records,
 * so the first entry is as long as its set, whatever the records are. */
#include "dp/ledger/ledger_records.h"
#include "base/file.h"
#include "dp/ledger/ledger_fresh.h"
#include "dp/ledger/ledger_lines.h"
#include "rng/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_DIGITS = 16 };
static const char digits[] = "0123456789abcdef", event[] = "\"event\":\"records\"";

void ledger_records_free(struct ledger_records *r)
{
    base_free(r->hashes);
    *r = (struct ledger_records){0};
}

static bool read_bytes(unsigned char *out, size_t count, const char *text)
{
    for (size_t i = 0; i < 2 * count; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        out[i / 2] = (unsigned char)(out[i / 2] << 4 | (digit - digits));
    }
    return true;
}

static sotto_status make_room(struct ledger_records *r, size_t more)
{
    sotto_status status = SOTTO_OK;
    size_t capacity = r->count + more;
    if (capacity <= r->capacity)
        return SOTTO_OK;
    REGROW(r->hashes, r->count, capacity);
    r->capacity = capacity;
done:
    return status;
}

static sotto_status take_key(struct ledger_records *r, const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    unsigned char key[DIGEST_BYTES];
    if (strlen(text) != 2 * DIGEST_BYTES || !read_bytes(key, DIGEST_BYTES, text))
        FAIL(SOTTO_EFORMAT, "%s: 'key' is not 32 hexadecimal digits", where);
    if (r->keyed && memcmp(r->key, key, sizeof key) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'key' differs from that of the entries before it", where);
    memcpy(r->key, key, sizeof key);
    r->keyed = true;
done:
    return status;
}

sotto_status ledger_records_take(struct ledger_records *r, const struct ledger_hashes *entry,
                                 const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *text = entry->hashes;
    size_t count = entry->count;
    TRY(take_key(r, entry->key, where));
    if (strlen(text) / HASH_DIGITS != count || strlen(text) % HASH_DIGITS != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'hashes' has %zu digits; expected %d for each of %zu records", where,
             strlen(text), HASH_DIGITS, count);
    TRY(make_room(r, count));
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[HASH_DIGITS / 2];
        uint64_t hash = 0;
        if (!read_bytes(bytes, sizeof bytes, text + i * HASH_DIGITS))
            FAIL(SOTTO_EFORMAT, "%s: 'hashes' contains other characters than hexadecimal digits", where);
        for (size_t k = 0; k < sizeof bytes; k++)
            hash = hash << 8 | bytes[k];
        r->hashes[r->count + i] = hash;
    }
    r->count += count;
    if (!r->dataset_id[0])
        snprintf(r->dataset_id, sizeof r->dataset_id, "%s", entry->dataset_id);
done:
    return status;
}

sotto_status ledger_records_read(struct ledger_records *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct ledger_records r = {0};
    struct ledger_line entry = {0};
    struct ledger_hashes hashes;
    unsigned char *data = NULL;
    size_t size;
    TRY(file_read(&data, &size, path, LEDGER_LIMIT));
    if (size == 0)
        TRY(ledger_fresh_require(path, size));
    for (char *line = (char *)data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (!strstr(line, event))
            continue;
        TRY(ledger_line_parse(&entry, line, (size_t)(end - line), path));
        TRY(ledger_line_hashes(&hashes, &entry, path));
        TRY(ledger_records_take(&r, &hashes, path));
        ledger_line_free(&entry);
    }
    *out = r;
    r = (struct ledger_records){0};
done:
    ledger_records_free(&r);
    ledger_line_free(&entry);
    base_free(data);
    return status;
}

static int ledger_records_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The digests under the ledger's key, ascending, and the ledger's own hashes likewise. */
static sotto_status hash_all(uint64_t **out, struct ledger_records *r, const struct sotto_source_records *s)
{
    uint64_t *hashes = base_alloc(s->n, sizeof *hashes);
    if (!hashes)
        return status_fail(SOTTO_ENOMEM, "ledger: out of memory for %zu records", s->n);
    for (size_t i = 0; i < s->n; i++)
        hashes[i] = digest_keyed(s->digests[i], r->key);
    qsort(hashes, s->n, sizeof *hashes, ledger_records_compare);
    if (r->count > 0)
        qsort(r->hashes, r->count, sizeof *r->hashes, ledger_records_compare);
    *out = hashes;
    return SOTTO_OK;
}

/* Keeps those of the n hashes that r has not, or has less often; both are ascending. */
static size_t keep_new(uint64_t *hashes, size_t n, const struct ledger_records *r)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        while (at < r->count && r->hashes[at] < hashes[i])
            at++;
        if (at < r->count && r->hashes[at] == hashes[i])
            at++;
        else
            hashes[kept++] = hashes[i];
    }
    return kept;
}

sotto_status ledger_records_shared(size_t *shared, struct ledger_records *r,
                                   const struct sotto_source_records *s)
{
    sotto_status status = SOTTO_OK;
    uint64_t *hashes = NULL;
    *shared = 0;
    if (r->count == 0 || !s || !s->digests)
        goto done;
    TRY(hash_all(&hashes, r, s));
    *shared = s->n - keep_new(hashes, s->n, r);
done:
    base_free(hashes);
    return status;
}

static sotto_status draw_key(struct ledger_records *r)
{
    struct noise *os;
    sotto_status status = noise_open(&os);
    if (status != SOTTO_OK)
        return status;
    noise_bytes(os, r->key, sizeof r->key);
    noise_close(os);
    r->keyed = true;
    return SOTTO_OK;
}

static char *ledger_records_spell(const uint64_t *hashes, size_t n)
{
    char *text = base_alloc(n * HASH_DIGITS + 1, 1);
    for (size_t i = 0; text && i < n * HASH_DIGITS; i++)
        text[i] = digits[hashes[i / HASH_DIGITS] >> (60 - 4 * (i % HASH_DIGITS)) & 15];
    return text;
}

sotto_status ledger_records_entry(char **line, struct ledger_records *r, const char *dataset_id,
                                  const struct sotto_source_records *s)
{
    sotto_status status = SOTTO_OK;
    uint64_t *hashes = NULL;
    char *text = NULL, key[2 * DIGEST_BYTES + 1];
    size_t kept;
    *line = NULL;
    if (!s || !s->digests || s->n == 0)
        goto done;
    if (!r->keyed)
        TRY(draw_key(r));
    TRY(hash_all(&hashes, r, s));
    kept = keep_new(hashes, s->n, r);
    if (kept == 0)
        goto done;
    if (!(text = ledger_records_spell(hashes, kept)))
        FAIL(SOTTO_ENOMEM, "ledger: out of memory for %zu records", kept);
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(key + 2 * i, 3, "%02x", r->key[i]);
    TRY(ledger_hashes_encode(line, &(struct ledger_hashes){dataset_id, key, text, kept}));
done:
    base_free(hashes);
    base_free(text);
    return status;
}
