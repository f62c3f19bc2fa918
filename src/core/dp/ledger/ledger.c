/* The chain makes a changed, removed or reordered line evident; it cannot show that the newest lines were cut
 * off as a whole, which is why every certificate carries its entry's hash. One write() per line, then fsync
 * of the file (and of the folder when the file is new) before anybody draws noise. */
#include "dp/ledger/ledger.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/ledger/ledger_count.h"
#include "dp/ledger/ledger_fresh.h"
#include "dp/ledger/ledger_lines.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/ledger_reader.h"
#include "rng/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
static const char hash_key[] = ",\"hash\":\"";
enum { HASH_TAIL = sizeof hash_key - 1 + 64 + 2 /* "} */ };

/* Of a line without its hash member; false: it has none. */
static bool hash_of_line(char hash[SHA256_HEX], const char *line, size_t length)
{
    if (length < HASH_TAIL || strncmp(line + length - HASH_TAIL, hash_key, sizeof hash_key - 1) != 0)
        return false;
    struct sha256 sum;
    sha256_init(&sum);
    sha256_update(&sum, line, length - HASH_TAIL);
    sha256_update(&sum, "}", 1);
    sha256_hex(&sum, hash);
    return true;
}

/* One whole line without its newline: hash, link, index, then the sums. *entry: in: a line before, or {0}. */
static sotto_status check_line(struct ledger *l, struct ledger_line *entry, const char *where,
                               const char *line, size_t length)
{
    sotto_status status = SOTTO_OK;
    char hash[SHA256_HEX];
    const char *prev;
    int64_t index;
    if (!hash_of_line(hash, line, length))
        FAIL(SOTTO_EFORMAT, "%s: has no hash at its end; expected a ledger that was not changed", where);
    if (strncmp(line + length - 66, hash, 64) != 0)
        FAIL(SOTTO_EFORMAT, "%s: its hash does not match, so the ledger was changed after it was written",
             where);
    TRY(ledger_line_parse_again(entry, line, length, where));
    TRY(ledger_line_place(&prev, &index, entry, where));
    if (strcmp(prev, l->last) != 0 || index != (int64_t)l->entries)
        FAIL(SOTTO_EFORMAT, "%s: does not follow the line before it, so lines were removed or reordered",
             where);
    TRY(ledger_count_line(l, entry, where));
    memcpy(l->last, hash, sizeof hash);
    l->entries++;
    l->follows = entry->followed_by > 0 ? entry->followed_by : l->follows - (l->follows > 0);
    if (l->visit)
        TRY(l->visit(l->state, l, entry));
done:
    return status;
}

bool ledger_line_is_whole(const char *line, size_t length)
{
    char hash[SHA256_HEX];
    return hash_of_line(hash, line, length) && strncmp(line + length - 66, hash, 64) == 0;
}

/* Of one line for errors: behind its words, of so many characters, comes its number. */
static void number_line(char *where, size_t words, size_t number)
{
    char digits[24];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    for (size_t i = 0; i < n; i++)
        where[words + i] = digits[n - 1 - i];
    where[words + n] = '\0';
}

/* Of the lines that begin alike, which are mostly of one event: a line is read quickest in the memory of one that looks like it. */
enum { ALIKE = 8 };
static size_t alike_of(const char *line, size_t length)
{
    const size_t name = sizeof "{\"schema\":\"sotto.ledger/3\",\"event\":\"" - 1;
    return length < name + 8 ? 0 : ((unsigned char)line[name + 4] + (unsigned char)line[name + 7]) % ALIKE;
}

/* Every whole line, with or without a newline; *torn is where a cut one starts, or a charge that lacks some (or the size). */
static sotto_status check_lines(struct ledger *l, struct ledger_reader *r, size_t size, size_t *torn)
{
    sotto_status status = SOTTO_OK;
    size_t at = 0, charge = 0;
    struct ledger_line entries[ALIKE] = {{0}};
    char where[320];
    const size_t words = (size_t)snprintf(where, sizeof where, "%.250s: line ", l->path);
    l->size = size;
    while (at < size) {
        const char *line;
        size_t length;
        bool ended;
        TRY(ledger_reader_line(&line, &length, &ended, r, at));
        if (!ended && !ledger_line_is_whole(line, length))
            break;
        if (l->follows == 0)
            charge = at;
        l->at = at;
        number_line(where, words, l->entries + 1);
        TRY(check_line(l, &entries[alike_of(line, length)], where, line, length));
        at += length + ended;
        l->unended = !ended;
    }
    *torn = l->follows > 0 ? charge : at;
done:
    for (size_t i = 0; i < ALIKE; i++)
        ledger_line_free(&entries[i]);
    return status;
}

static void free_counted(struct ledger *l)
{
    ledger_plans_free(l->plans);
    base_free(l->items);
    base_free(l->moved);
    ledger_records_free(&l->records);
}

/* As before the first line. */
static void forget_lines(struct ledger *l)
{
    const struct ledger was = *l;
    free_counted(l);
    *l = (struct ledger){.lock = was.lock, .path = was.path, .budget = {NAN, NAN}, .recorded = {NAN, NAN}};
    memcpy(l->last, zeros, sizeof zeros);
}

static sotto_status check_all(struct ledger *l, struct ledger_reader *r, size_t *torn)
{
    sotto_status status = SOTTO_OK;
    TRY(ledger_reader_open(r, l->path));
    TRY(check_lines(l, r, r->size, torn));
    if (l->follows > 0) { /* of the charge that was cut nothing counts */
        forget_lines(l);
        TRY(check_lines(l, r, *torn, torn));
    }
    if (l->entries == 0)
        TRY(ledger_fresh_require(l->path, r->size));
done:
    return status;
}

static sotto_status write_all(int fd, const void *data, size_t bytes, const char *path)
{
    for (size_t have = 0; have < bytes;) {
        ssize_t got = write(fd, (const char *)data + have, bytes - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return status_fail(SOTTO_EIO, "%s: %s", path, strerror(errno));
        have += (size_t)got;
    }
    return SOTTO_OK;
}

/* Keeps the torn bytes beside the ledger, cuts them off, and says so in the chain. */
static sotto_status ledger_quarantine(struct ledger *l, size_t keep, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    unsigned char *all = NULL;
    size_t size;
    char hash[SHA256_HEX], *line = NULL;
    size_t capacity = strlen(l->path) + 8;
    int fd = -1;
    char *path = NULL;
    TRY(file_read(&all, &size, l->path, LEDGER_LIMIT));
    const unsigned char *data = all + keep;
    const size_t bytes = size > keep ? size - keep : 0;
    NEW(path, capacity);
    snprintf(path, capacity, "%s.torn", l->path);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        FAIL(SOTTO_ECREATE, "%s: %s", path, strerror(errno));
    TRY(write_all(fd, data, bytes, path));
    TRY(write_all(fd, "\n", 1, path));
    if (fsync(fd) != 0 || ftruncate(l->lock.fd, (off_t)keep) != 0 || fsync(l->lock.fd) != 0)
        FAIL(SOTTO_EIO, "%s: %s", l->path, strerror(errno));
    context_log(ctx, SOTTO_LOG_WARNING,
                "%s: the last line was cut off while it was written; it was moved to %s, which is recorded",
                l->path, path); /* its length tells how many records are new */
    sha256_of(hash, data, bytes);
    TRY(ledger_torn_encode(&line, bytes, hash));
    TRY(ledger_append(l, line));
done:
    base_free(line);
    base_free(all);
    if (fd >= 0)
        close(fd);
    base_free(path);
    return status;
}

/* A line whose newline did not arrive is charged like any other. */
static sotto_status end_last_line(struct ledger *l, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(write_all(l->lock.fd, "\n", 1, l->path));
    if (fsync(l->lock.fd) != 0)
        FAIL(SOTTO_EIO, "%s: cannot sync: %s", l->path, strerror(errno));
    l->unended = false;
    context_log(ctx, SOTTO_LOG_WARNING, "%s: the last line had no newline; it is complete and stays charged",
                l->path);
done:
    return status;
}

static sotto_status ledger_start(struct ledger *l, const char *path)
{
    *l = (struct ledger){.lock = {.fd = -1}, .budget = {NAN, NAN}, .recorded = {NAN, NAN}};
    memcpy(l->last, zeros, sizeof zeros);
    l->path = base_strdup(path);
    return l->path ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "%s: out of memory", path);
}

static sotto_status make_parent(const char *path)
{
    sotto_status status = SOTTO_OK;
    char *folder = NULL;
    NEW_TEXT(folder, path);
    char *slash = strrchr(folder, '/');
    if (slash && slash != folder) {
        *slash = '\0';
        TRY(folder_make(folder));
    }
done:
    base_free(folder);
    return status;
}

sotto_status ledger_open(struct ledger *l, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger_reader r = {.fd = -1};
    size_t torn = 0;
    TRY(ledger_start(l, path));
    TRY(make_parent(path));
    TRY(ledger_fresh_mark(path));
    TRY(ledger_lock_open(&l->lock, path, O_RDWR | O_APPEND));
    TRY(check_all(l, &r, &torn));
    if (l->entries > 0)
        TRY(ledger_fresh_forget(path));
    if (l->unended)
        TRY(end_last_line(l, ctx));
    if (torn < r.size)
        TRY(ledger_quarantine(l, torn, ctx));
done:
    ledger_reader_close(&r);
    if (status != SOTTO_OK)
        ledger_close(l);
    return status;
}

sotto_status ledger_read(struct ledger *l, const char *path)
{
    return ledger_walk(l, path, NULL, NULL);
}

void ledger_warn_of_cut(const struct ledger *l, const struct sotto_context *ctx)
{
    if (l->cut > 0)
        context_log(ctx, SOTTO_LOG_WARNING,
                    "%s: the last line was cut off while it was written and does not count; the next release "
                    "moves it aside and records that",
                    l->path);
}

sotto_status ledger_walk(struct ledger *l, const char *path,
                         sotto_status (*visit)(void *state, const struct ledger *l,
                                               const struct ledger_line *line),
                         void *state)
{
    sotto_status status = SOTTO_OK;
    struct ledger_reader r = {.fd = -1};
    size_t torn = 0;
    TRY(ledger_start(l, path));
    TRY(check_all(l, &r, &torn));
    if (visit) { /* now it is known which lines count */
        forget_lines(l);
        l->visit = visit;
        l->state = state;
        TRY(check_lines(l, &r, torn, &torn));
    }
    l->cut = r.size - torn;
done:
    ledger_reader_close(&r);
    if (status != SOTTO_OK)
        ledger_close(l);
    return status;
}

static sotto_status sync_parent(const char *path)
{
    sotto_status status = SOTTO_OK;
    char *folder = NULL;
    NEW_TEXT(folder, path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    TRY(folder_sync(slash ? folder : "."));
done:
    base_free(folder);
    return status;
}

/* Certificates carry the hash of a line. What a line says of the private data must not be guessed from it. */
static sotto_status draw_nonce(char nonce[2 * 16 + 1])
{
    struct noise *os;
    sotto_status status = noise_open(&os);
    if (status != SOTTO_OK)
        return status;
    snprintf(nonce, 2 * 16 + 1, "%016llx%016llx", (unsigned long long)noise_u64(os),
             (unsigned long long)noise_u64(os));
    noise_close(os);
    return SOTTO_OK;
}

/* The line with its place in the chain and its hash, and a newline. */
static sotto_status ledger_complete(char **out, char hash[SHA256_HEX], const struct ledger *l,
                                    const char *line, bool charge)
{
    sotto_status status = SOTTO_OK;
    char nonce[2 * 16 + 1], stamp[32], number[48] = "", *text = NULL;
    time_t now = time(NULL);
    struct tm utc;
    size_t body = strlen(line) - 1 /* its } */, capacity = body + 320 + HASH_TAIL;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (charge)
        snprintf(number, sizeof number, ",\"" LEDGER_CHARGE_NUMBER "\":%zu", l->charges);
    TRY(draw_nonce(nonce));
    NEW(text, capacity);
    memcpy(text, line, body);
    size_t length =
        body + (size_t)snprintf(text + body, capacity - body,
                                "%s,\"index\":%zu,\"time\":\"%s\",\"nonce\":\"%s\",\"prev\":\"%s\"}", number,
                                l->entries, stamp, nonce, l->last);
    sha256_of(hash, text, length);
    snprintf(text + length - 1, capacity - length + 1, "%s%s\"}\n", hash_key, hash);
    *out = text;
done:
    return status;
}

static sotto_status write_lines(struct ledger *l, const char *lines, size_t size, bool first)
{
    sotto_status status = SOTTO_OK;
    TRY(write_all(l->lock.fd, lines, size, l->path));
    if (fsync(l->lock.fd) != 0)
        FAIL(SOTTO_EIO, "%s: cannot sync: %s", l->path, strerror(errno));
    if (first) {
        TRY(ledger_fresh_forget(l->path));
        TRY(sync_parent(l->path));
    }
done:
    return status;
}

static sotto_status ledger_hold_line(struct ledger *l, const char *line)
{
    sotto_status status = SOTTO_OK;
    const size_t length = strlen(line);
    REGROW(l->held, l->held_size, l->held_size + length);
    memcpy(l->held + l->held_size, line, length);
    l->held_size += length;
done:
    return status;
}

void ledger_hold(struct ledger *l)
{
    l->holds = true;
    l->held_from = l->entries;
}

sotto_status ledger_write_held(struct ledger *l)
{
    sotto_status status = SOTTO_OK;
    l->holds = false;
    if (l->held_size > 0)
        TRY(write_lines(l, l->held, l->held_size, l->held_from == 0));
done:
    base_free(l->held);
    l->held = NULL;
    l->held_size = 0;
    return status;
}

static sotto_status ledger_append_line(struct ledger *l, const char *entry, bool charge)
{
    sotto_status status = SOTTO_OK;
    struct ledger_line read_back = {0};
    char *line = NULL, hash[SHA256_HEX];
    if (l->moved)
        FAIL(SOTTO_EBUDGET,
             "%s: was moved to %s and cannot be charged any more; give that file by {ledger}, or omit "
             "{ledger}",
             l->path, l->moved);
    TRY(ledger_complete(&line, hash, l, entry, charge));
    TRY(ledger_line_parse(&read_back, line, strlen(line), l->path));
    TRY(l->holds ? ledger_hold_line(l, line) : write_lines(l, line, strlen(line), l->entries == 0));
    TRY(ledger_count_line(l, &read_back, l->path));
    memcpy(l->last, hash, sizeof hash);
    l->entries++;
done:
    ledger_line_free(&read_back);
    base_free(line);
    return status;
}

sotto_status ledger_append(struct ledger *l, const char *line)
{
    return ledger_append_line(l, line, false);
}

sotto_status ledger_append_charge(struct ledger *l, const char *line)
{
    return ledger_append_line(l, line, true);
}

void ledger_close(struct ledger *l)
{
    ledger_lock_close(&l->lock);
    free_counted(l);
    base_free(l->path);
    base_free(l->held);
    l->path = l->moved = l->held = NULL;
    l->items = NULL;
    l->plans = NULL;
    l->charges = l->held_size = 0;
}
