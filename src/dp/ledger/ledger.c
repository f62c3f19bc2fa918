/* The chain makes a changed, removed or reordered line evident; it cannot show that the newest lines were cut
 * off as a whole, which is why every certificate carries its entry's hash. One write() per line, then fsync
 * of the file (and of the folder when the file is new) before anybody draws noise. */
#include "dp/ledger/ledger.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/account/accountant.h"
#include "dp/ledger/ledger_lines.h"
#include "rng/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
static const char hash_key[] = ",\"hash\":\"";
enum { HASH_TAIL = sizeof hash_key - 1 + 64 + 2 /* "} */ };

static double plus(double a, double b)
{
    return iv_add(iv(a), iv(isnan(b) ? INFINITY : b)).hi;
}

void ledger_sum_add(struct ledger_sum *sum, double pure, double rho, double epsilon, double delta)
{
    *sum = (struct ledger_sum){sum->releases + 1, plus(sum->pure, pure), plus(sum->rho, rho),
                               plus(sum->epsilon, epsilon), plus(sum->delta, delta)};
}

struct ledger_sum ledger_sum_both(const struct ledger_sum *a, const struct ledger_sum *b)
{
    return (struct ledger_sum){a->releases + b->releases, plus(a->pure, b->pure), plus(a->rho, b->rho),
                               plus(a->epsilon, b->epsilon), plus(a->delta, b->delta)};
}

double ledger_sum_epsilon(const struct ledger_sum *sum, double delta)
{
    if (sum->releases == 0)
        return 0;
    double best = sum->pure;
    if (sum->delta <= delta)
        best = fmin(best, sum->epsilon);
    if (delta > 0 && isfinite(sum->rho))
        best = fmin(best, zcdp_epsilon(sum->rho, delta));
    return best;
}

/* Columns add up replace-one guarantees: a replacement is a group of two. NAN (no such bound) stays. */
static void as_replace_one(double *pure, double *rho, double *epsilon, double *delta)
{
    struct sotto_composed two;
    *pure = 2 * *pure;
    *rho = 4 * *rho;
    if (sotto_compose_replace_one(&two, (struct sotto_dp){*epsilon, *delta}) == SOTTO_OK) {
        *epsilon = two.epsilon.upper;
        *delta = two.delta.upper;
    } else {
        *epsilon = NAN;
    }
}

static sotto_status take_budget(struct ledger *l, const struct json *entry, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *by = json_text(json_find(entry, "set_by"));
    double epsilon, delta;
    TRY(json_get_real(&epsilon, entry, where, "epsilon"));
    TRY(json_get_real(&delta, entry, where, "delta"));
    if (!(epsilon >= 0 && delta >= 0))
        FAIL(SOTTO_EFORMAT, "%s: the budget is below 0; expected at least 0", where);
    l->budget = (struct sotto_dp){epsilon, delta};
    l->officer = l->officer || (by && strcmp(by, "officer") == 0);
done:
    return status;
}

static sotto_status take_records(struct ledger *l, const struct json *entry, const char *where)
{
    return ledger_records_take(&l->records, entry, where);
}

static sotto_status take_move(struct ledger *l, const struct json *entry, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *to;
    TRY(json_get_text(&to, entry, where, "to"));
    base_free(l->moved);
    if (!(l->moved = base_strdup(to)))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", where);
done:
    return status;
}

static sotto_status count_charge(struct ledger *l, const struct json *entry, const char *where, bool imported)
{
    sotto_status status = SOTTO_OK;
    const char *source, *randomness = "os";
    double pure, rho, epsilon, delta;
    TRY(json_get_text(&source, entry, where, "sensitivity.source"));
    if (!imported)
        TRY(json_get_text(&randomness, entry, where, "randomness"));
    TRY(json_get_real_or_null(&pure, entry, where, "pure_epsilon"));
    TRY(json_get_real_or_null(&rho, entry, where, "zcdp_rho"));
    TRY(json_get_real_or_null(&epsilon, entry, where, "epsilon.upper"));
    TRY(json_get_real(&delta, entry, where, "delta"));
    if (pure < 0 || rho < 0 || epsilon < 0 || delta < 0)
        FAIL(SOTTO_EFORMAT, "%s: the privacy loss is below 0; expected at least 0", where);
    if (strcmp(randomness, "os") != 0)
        l->seeded++;
    l->imported += imported;
    l->inputs_only += json_find(entry, "protects") && !json_find(entry, "labels");
    bool proved = !imported && !json_find(entry, "condition") &&
                  (strcmp(source, "proved") == 0 || strcmp(source, "clipped") == 0);
    TRY(ledger_events_add(proved ? &l->proved_events : &l->conditional_events, entry));
    const char *adjacency = json_text(json_find(entry, "adjacency"));
    if (adjacency && strcmp(adjacency, "add-remove") == 0)
        as_replace_one(&pure, &rho, &epsilon, &delta);
    ledger_sum_add(proved ? &l->proved : &l->conditional, pure, rho, epsilon, delta);
done:
    return status;
}

static sotto_status count_release(struct ledger *l, const struct json *entry, const char *where)
{
    return count_charge(l, entry, where, false);
}

static sotto_status count_import(struct ledger *l, const struct json *entry, const char *where)
{
    return count_charge(l, entry, where, true);
}

/* Every event that a ledger may hold. */
static const struct {
    const char *name;
    sotto_status (*take)(struct ledger *l, const struct json *entry, const char *where); /* NULL: nothing */
} events[] = {{"release", count_release},
              {"reserve", count_release},
              {"import", count_import},
              {"budget", take_budget},
              {"torn", NULL},
              {"records", take_records},
              {"moved", take_move}};
enum { EVENTS = sizeof events / sizeof *events };

/* A line that cannot be read may be a release that must be counted. */

static sotto_status count_entry(struct ledger *l, const struct json *entry, const char *where)
{
    sotto_status status = SOTTO_OK;
    const char *event;
    const char *schema = json_text(json_find(entry, "schema")); /* "torn" had none once */
    size_t i = 0;
    if (json_find(entry, "schema") && (!schema || strcmp(schema, "sotto.ledger/1") != 0))
        FAIL(SOTTO_EFORMAT,
             "%s: schema is '%.40s'; expected sotto.ledger/1 (written by a newer sotto? use that version)",
             where, schema ? schema : "no text");
    TRY(json_get_text(&event, entry, where, "event"));
    while (i < EVENTS && strcmp(event, events[i].name) != 0)
        i++;
    if (i == EVENTS)
        FAIL(SOTTO_EFORMAT,
             "%s: event '%.40s' is unknown and may cost privacy (written by a newer sotto? use that version)",
             where, event);
    if (events[i].take)
        TRY(events[i].take(l, entry, where));
done:
    return status;
}

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

/* One whole line without its newline: hash, link, index, then the sums. */
static sotto_status check_line(struct ledger *l, const char *line, size_t length)
{
    sotto_status status = SOTTO_OK;
    struct json *entry = NULL;
    char where[320], hash[SHA256_HEX];
    const char *prev;
    int64_t index;
    snprintf(where, sizeof where, "%.250s: line %zu", l->path, l->entries + 1);
    if (!hash_of_line(hash, line, length))
        FAIL(SOTTO_EFORMAT, "%s: has no hash at its end; expected a ledger that was not changed", where);
    if (strncmp(line + length - 66, hash, 64) != 0)
        FAIL(SOTTO_EFORMAT, "%s: its hash does not match, so the ledger was changed after it was written",
             where);
    TRY(json_parse(&entry, line, length, where));
    TRY(json_get_text(&prev, entry, where, "prev"));
    TRY(json_get_integer(&index, entry, where, "index"));
    if (strcmp(prev, l->last) != 0 || index != (int64_t)l->entries)
        FAIL(SOTTO_EFORMAT, "%s: does not follow the line before it, so lines were removed or reordered",
             where);
    TRY(count_entry(l, entry, where));
    memcpy(l->last, hash, sizeof hash);
    l->entries++;
    if (l->visit)
        TRY(l->visit(l->state, l, entry));
done:
    json_free(entry);
    return status;
}

/* Did the whole line arrive? Then only its newline is missing, and its noise may have been drawn. */
static bool is_whole(const char *line, size_t length)
{
    char hash[SHA256_HEX];
    return hash_of_line(hash, line, length) && strncmp(line + length - 66, hash, 64) == 0;
}

/* Reads everything and checks every whole line, with or without a newline; *torn is where a cut one starts
 * (or the size). */
static sotto_status check_all(struct ledger *l, unsigned char **data, size_t *size, size_t *torn)
{
    sotto_status status = SOTTO_OK;
    TRY(file_read(data, size, l->path, LEDGER_LIMIT));
    size_t at = 0;
    while (at < *size) {
        char *line = (char *)*data + at, *newline = memchr(line, '\n', *size - at);
        size_t length = newline ? (size_t)(newline - line) : *size - at;
        if (!newline && !is_whole(line, length))
            break;
        TRY(check_line(l, line, length));
        at += length + (newline != NULL);
        l->unended = !newline;
    }
    *torn = at;
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
static sotto_status quarantine(struct ledger *l, const unsigned char *data, size_t bytes, size_t keep,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct json *entry = NULL;
    char hash[SHA256_HEX];
    size_t capacity = strlen(l->path) + 8;
    int fd = -1;
    char *path = base_alloc(capacity, 1);
    if (!path)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", l->path);
    snprintf(path, capacity, "%s.torn", l->path);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        FAIL(SOTTO_ECREATE, "%s: %s", path, strerror(errno));
    TRY(write_all(fd, data, bytes, path));
    TRY(write_all(fd, "\n", 1, path));
    if (fsync(fd) != 0 || ftruncate(l->fd, (off_t)keep) != 0 || fsync(l->fd) != 0)
        FAIL(SOTTO_EIO, "%s: %s", l->path, strerror(errno));
    context_log(ctx, SOTTO_LOG_WARNING,
                "%s: the last line was cut off while it was written; its %zu bytes were moved to %s, which "
                "is recorded",
                l->path, bytes, path);
    sha256_of(hash, data, bytes);
    entry = json_make_object();
    json_put_text(&entry, "event", "torn");
    json_put_integer(&entry, "bytes", (int64_t)bytes);
    json_put_text(&entry, "sha256", hash);
    TRY(ledger_append(l, &entry));
done:
    json_free(entry);
    if (fd >= 0)
        close(fd);
    base_free(path);
    return status;
}

/* A line whose newline did not arrive is charged like any other. */
static sotto_status end_last_line(struct ledger *l, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(write_all(l->fd, "\n", 1, l->path));
    if (fsync(l->fd) != 0)
        FAIL(SOTTO_EIO, "%s: cannot sync: %s", l->path, strerror(errno));
    l->unended = false;
    context_log(ctx, SOTTO_LOG_WARNING, "%s: the last line had no newline; it is complete and stays charged",
                l->path);
done:
    return status;
}

static sotto_status ledger_start(struct ledger *l, const char *path)
{
    *l = (struct ledger){.fd = -1, .budget = {NAN, NAN}};
    memcpy(l->last, zeros, sizeof zeros);
    l->path = base_strdup(path);
    return l->path ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "%s: out of memory", path);
}

static sotto_status make_parent(const char *path)
{
    sotto_status status = SOTTO_OK;
    char *folder = base_strdup(path);
    if (!folder)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    char *slash = strrchr(folder, '/');
    if (slash && slash != folder) {
        *slash = '\0';
        TRY(folder_make(folder));
    }
done:
    base_free(folder);
    return status;
}

sotto_status ledger_lock(int fd, const char *path)
{
    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return status_fail(SOTTO_EIO, "%s: cannot lock: %s", path, strerror(errno));
        if (tries >= 600)
            return status_fail(SOTTO_EAGAIN, "%s: another process is using the ledger; try again later",
                               path);
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    return SOTTO_OK;
}

sotto_status ledger_open(struct ledger *l, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    unsigned char *data = NULL;
    size_t size = 0, torn = 0;
    TRY(ledger_start(l, path));
    TRY(make_parent(path));
    l->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (l->fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot open the ledger: %s", path, strerror(errno));
    TRY(ledger_lock(l->fd, l->path));
    TRY(check_all(l, &data, &size, &torn));
    if (l->unended)
        TRY(end_last_line(l, ctx));
    if (torn < size)
        TRY(quarantine(l, data + torn, size - torn, torn, ctx));
done:
    base_free(data);
    if (status != SOTTO_OK)
        ledger_close(l);
    return status;
}

sotto_status ledger_read(struct ledger *l, const char *path)
{
    return ledger_walk(l, path, NULL, NULL);
}

sotto_status ledger_walk(struct ledger *l, const char *path,
                         sotto_status (*visit)(void *state, const struct ledger *l, const struct json *entry),
                         void *state)
{
    sotto_status status = SOTTO_OK;
    unsigned char *data = NULL;
    size_t size = 0, torn = 0;
    TRY(ledger_start(l, path));
    l->visit = visit;
    l->state = state;
    TRY(check_all(l, &data, &size, &torn));
    if (torn < size)
        FAIL(SOTTO_EFORMAT,
             "%s: the last line is cut off; the next release repairs the ledger and records that", path);
done:
    base_free(data);
    if (status != SOTTO_OK)
        ledger_close(l);
    return status;
}

static sotto_status sync_parent(const char *path)
{
    sotto_status status = SOTTO_OK;
    char *folder = base_strdup(path);
    if (!folder)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    TRY(folder_sync(slash ? folder : "."));
done:
    base_free(folder);
    return status;
}

/* Certificates carry the hash of a line. What a line says of the private data must not be guessed from it. */
static sotto_status put_nonce(struct json **entry)
{
    struct noise *os;
    char nonce[2 * 16 + 1];
    sotto_status status = noise_open(&os);
    if (status != SOTTO_OK)
        return status;
    snprintf(nonce, sizeof nonce, "%016llx%016llx", (unsigned long long)noise_u64(os),
             (unsigned long long)noise_u64(os));
    noise_close(os);
    json_put_text(entry, "nonce", nonce);
    return SOTTO_OK;
}

sotto_status ledger_append(struct ledger *l, struct json **entry)
{
    sotto_status status = SOTTO_OK;
    char *text = NULL, *line = NULL, hash[SHA256_HEX], stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    if (l->moved)
        FAIL(SOTTO_EBUDGET,
             "%s: was moved to %s and cannot be charged any more; give that file by --ledger, or omit "
             "--ledger",
             l->path, l->moved);
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_put_integer(entry, "index", (int64_t)l->entries);
    json_put_text(entry, "time", stamp);
    TRY(put_nonce(entry));
    json_put_text(entry, "prev", l->last);
    TRY(json_dump(&text, *entry, JSON_LINE));
    size_t length = strlen(text), capacity = length + HASH_TAIL + 1;
    sha256_of(hash, text, length);
    line = base_alloc(capacity, 1);
    if (!line)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", l->path);
    snprintf(line, capacity, "%.*s%s%s\"}\n", (int)(length - 1), text, hash_key, hash);
    TRY(write_all(l->fd, line, strlen(line), l->path));
    if (fsync(l->fd) != 0)
        FAIL(SOTTO_EIO, "%s: cannot sync: %s", l->path, strerror(errno));
    if (l->entries == 0)
        TRY(sync_parent(l->path));
    TRY(count_entry(l, *entry, l->path));
    memcpy(l->last, hash, sizeof hash);
    l->entries++;
done:
    base_free(line);
    base_free(text);
    json_free(*entry);
    *entry = NULL;
    return status;
}

void ledger_close(struct ledger *l)
{
    if (l->fd >= 0)
        close(l->fd); /* releases the lock */
    base_free(l->path);
    base_free(l->moved);
    ledger_records_free(&l->records);
    ledger_events_free(&l->proved_events);
    ledger_events_free(&l->conditional_events);
    l->fd = -1;
    l->path = l->moved = NULL;
}
