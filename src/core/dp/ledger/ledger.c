/* The chain makes a changed, removed or reordered line evident; it cannot show that the newest lines were cut
 * off as a whole, which is why every certificate carries its entry's hash. One write() per line, then fsync
 * of the file (and of the folder when the file is new) before anybody draws noise. */
#include "dp/ledger/ledger.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/account/accountant.h"
#include "dp/account/composition.h"
#include "dp/ledger/ledger_columns.h"
#include "dp/ledger/ledger_offers.h"
#include "dp/ledger/ledger_fresh.h"
#include "dp/ledger/ledger_lines.h"
#include "dp/ledger/ledger_plan.h"
#include "dp/ledger/ledger_reader.h"
#include "dp/ledger/ledger_recorded.h"
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

/* Columns add up replace-one guarantees: a replacement is a group of two. NAN (no such bound) stays. */
static void as_replace_one(double *pure, double *rho, double *epsilon, double *delta)
{
    struct sotto_composed two;
    *pure = 2 * *pure;
    *rho = 4 * *rho;
    if (compose_replace_one(&two, (struct sotto_dp){*epsilon, *delta}) == SOTTO_OK) {
        *epsilon = two.epsilon.upper;
        *delta = two.delta.upper;
    } else {
        *epsilon = NAN;
    }
}

static sotto_status refuse_any_order(const char *where)
{
    return status_fail(
        SOTTO_EFORMAT,
        "%s: what it says of 'any_order' does not fit the ledger's columns, so the ledger was changed",
        where);
}

static sotto_status take_budget(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    if (ledger_budget_is_larger(line->budget, l->recorded))
        FAIL(SOTTO_EFORMAT,
             "%s: its budget of epsilon %g, delta %g is larger than the one before it (%g, %g), so the "
             "ledger was "
             "changed",
             where, line->budget.epsilon, line->budget.delta, l->recorded.epsilon, l->recorded.delta);
    if (line->admission.opens && ledger_columns_are_fixed(l))
        TRY(refuse_any_order(where));
    if (line->admission.opens) {
        TRY(ledger_require_spent(l, &line->admission.opened.columns, where));
        ledger_columns_start(l, &line->admission.opened);
    }
    l->budget = l->recorded = line->budget;
    l->officer = l->officer || line->by_officer;
done:
    return status;
}

static sotto_status take_records(struct ledger *l, const struct ledger_line *line, const char *where)
{
    return ledger_records_take(&l->records, &line->hashes, where);
}

static sotto_status take_move(struct ledger *l, const struct ledger_line *line, const char *where)
{
    base_free(l->moved);
    l->moved = base_strdup(line->to);
    return l->moved ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "%s: out of memory", where);
}

static sotto_status mark_released(struct ledger *l, size_t charge, const char *where)
{
    if (charge >= l->charges)
        return status_fail(SOTTO_EFORMAT, "%s: names charge %zu, and only %zu are before it", where, charge,
                           l->charges);
    l->items[charge].steps = 0; /* it was released, and cannot be settled any more */
    return SOTTO_OK;
}

static sotto_status take_output(struct ledger *l, const struct ledger_line *line, const char *where)
{
    return mark_released(l, line->output.charge, where);
}

static void set_numbers(struct ledger_item *item, const struct ledger_charge *c)
{
    item->pure = c->pure;
    item->rho = c->rho;
    item->epsilon = c->epsilon;
    item->delta = c->delta;
    if (item->charged.add_remove)
        as_replace_one(&item->pure, &item->rho, &item->epsilon, &item->delta);
}

static sotto_status make_room(struct ledger *l)
{
    sotto_status status = SOTTO_OK;
    if (l->charges == 1)
        l->second = l->at;
    if (l->charges < l->capacity)
        goto done;
    /* charges go on as they were since the second: the first one may open columns, which takes many bytes */
    const size_t each = l->charges > 1 ? (l->at - l->second) / (l->charges - 1) : 0,
                 expected = each > 0 ? (l->size - l->at) / each / 16 * 17 : 0,
                 capacity = l->charges + (expected > l->charges ? expected : l->charges + 16);
    REGROW(l->items, l->capacity, capacity);
    l->capacity = capacity;
done:
    return status;
}

sotto_status ledger_item_make(struct ledger_item *out, struct part_memory *known,
                              const struct ledger_charge *c, bool imported)
{
    sotto_status status = SOTTO_OK;
    /* a plan has released nothing; its column is that of its releases, as they come (take_planned()) */
    const bool proved =
        c->plan || (c->source && (strcmp(c->source, "proved") == 0 || strcmp(c->source, "clipped") == 0));
    struct ledger_item item = {.proved = !imported && !c->conditional && proved, .seeded = c->seeded};
    TRY(ledger_charge_event(&item.charged, known, c));
    set_numbers(&item, c);
    *out = item;
done:
    return status;
}

static void keep_text(char *out, size_t capacity, const char *text)
{
    const size_t length = strnlen(text, capacity - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

static sotto_status count_charge(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_charge *c = &line->charge;
    const bool imported = line->event == LEDGER_IMPORT;
    struct ledger_item item = {.plan = NULL};
    if (c->numbered && c->number != l->charges)
        FAIL(SOTTO_EFORMAT,
             "%s: has the number %zu among the charges; expected %zu, so the ledger was changed", where,
             c->number, l->charges);
    if (l->charges == 0)
        l->unit = c->unit;
    l->delta = fmax(l->delta, c->delta);
    if (!unit_adds_up(&l->unit, &c->unit))
        FAIL(SOTTO_EFORMAT,
             "%s: is of another unit of privacy than the charges before it, so they do not add up", where);
    l->seeded += c->seeded;
    l->imported += imported;
    l->inputs_only += c->inputs_only;
    TRY(make_room(l));
    TRY(ledger_item_make(&item, &l->known, c, imported));
    if (c->plan) {
        TRY(ledger_plan_make(&item.plan, &l->plans, &l->known, c, where));
        item.charged.plan = &item.plan->events; /* which lives as long as the ledger */
        keep_text(item.hash, sizeof item.hash, line->hash ? line->hash : "");
    }
    item.any_order = line->admission.any_order;
    if (line->admission.opens && ledger_columns_are_fixed(l)) {
        status = refuse_any_order(where);
        goto done;
    }
    TRY(ledger_require_recorded(&item.derived, &l->known, &item, c, where));
    TRY(ledger_require_offers(&l->known, &item, c, where));
    if (line->admission.opens) {
        TRY(ledger_require_spent(l, &line->admission.opened.columns, where));
        ledger_columns_start(l, &line->admission.opened);
    }
    if (line->event == LEDGER_RESERVE && line->run && line->hash) {
        keep_text(item.hash, sizeof item.hash, line->hash);
        keep_text(item.run, sizeof item.run, line->run);
        item.steps = c->steps;
        ledger_columns_keep(l);
    }
    if (!ledger_columns_count(l, &item.any_order))
        TRY(refuse_any_order(where));
    l->items[l->charges++] = item;
done:
    return status;
}

size_t ledger_as_recorded(const struct ledger *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->charges; i++)
        n += !l->items[i].derived;
    return n;
}

struct ledger_item *ledger_last_of_run(const struct ledger *l, const char *run)
{
    for (size_t i = l->charges; i-- > 0;)
        if (run[0] && strcmp(l->items[i].run, run) == 0)
            return &l->items[i];
    return NULL;
}

/* A release of a plan, which was charged: its slot is spent once, by what was planned. */
static sotto_status take_planned(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_charge *c = &line->charge;
    struct ledger_item *item = ledger_plan_of(l, &line->slot), as_it_is;
    const size_t slot = line->slot.slot;
    char differs[160];
    if (!item || slot > item->plan->slots)
        FAIL(SOTTO_EFORMAT, "%s: names slot %zu of a plan that is not before it, so the ledger was changed",
             where, slot);
    if (item->plan->spent[slot - 1])
        FAIL(SOTTO_EFORMAT, "%s: slot %zu of its plan was spent before, so the ledger was changed", where,
             slot);
    if (c->is_run && ledger_last_of_run(l, line->run))
        FAIL(SOTTO_EFORMAT, "%s: spends a slot for a run that was charged before, so the ledger was changed",
             where);
    ledger_plan_compare(differs, ledger_plan_event(item->plan, slot), c);
    if (differs[0] || !c->dataset_id || strcmp(c->dataset_id, item->plan->dataset_id) != 0 ||
        !unit_adds_up(&l->unit, &c->unit))
        FAIL(SOTTO_EFORMAT, "%s: is not the release that was planned (%s), so the ledger was changed", where,
             differs[0] ? differs : "data set or unit of privacy");
    item->plan->spent[slot - 1] = 1;
    TRY(ledger_item_make(&as_it_is, &l->known, c, false));
    TRY(ledger_require_recorded(&as_it_is.derived, &l->known, &as_it_is, c, where));
    item->proved = item->proved && as_it_is.proved;
done:
    return status;
}

void ledger_item_settle(struct ledger_item *item, const struct ledger_charge *settled)
{
    set_numbers(item, settled);
    ledger_charged_settle(&item->charged, settled);
    item->steps = 0;
}

/* The last reservation of its run, once, at fewer steps. */
static sotto_status ledger_settle(struct ledger *l, const struct ledger_line *line, const char *where)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_settlement *s = &line->settlement;
    struct ledger_item *last = ledger_last_of_run(l, s->run);
    if (!last || strcmp(last->hash, s->entry) != 0 || s->steps < 1 || s->steps > last->steps)
        FAIL(SOTTO_EFORMAT, "%s: settles no reservation that is open; expected the last one of its run, once",
             where);
    if (line->admission.any_order.columns > 0 &&
        !ledger_columns_settle(&last->any_order, &line->admission.any_order))
        TRY(refuse_any_order(where));
    ledger_item_settle(last, &line->charge);
    TRY(ledger_require_recorded(&last->derived, &l->known, last, &line->charge, where));
    TRY(ledger_require_offers(&l->known, last, &line->charge, where));
    if (!ledger_columns_again(l, last))
        TRY(refuse_any_order(where));
done:
    return status;
}

static sotto_status count_line(struct ledger *l, struct ledger_line *line, const char *where)
{
    static sotto_status (*const take[])(struct ledger *, const struct ledger_line *,
                                        const char *) = {[LEDGER_RELEASE] = count_charge,
                                                         [LEDGER_RESERVE] = count_charge,
                                                         [LEDGER_IMPORT] = count_charge,
                                                         [LEDGER_BUDGET] = take_budget,
                                                         [LEDGER_TORN] = NULL,
                                                         [LEDGER_RECORDS] = take_records,
                                                         [LEDGER_MOVED] = take_move,
                                                         [LEDGER_RELEASED] = take_output,
                                                         [LEDGER_SETTLED] = ledger_settle,
                                                         [LEDGER_PLAN] = count_charge,
                                                         [LEDGER_PLANNED] = take_planned};
    sotto_status status = SOTTO_OK;
    TRY(ledger_line_decode(line, where));
    if (take[line->event])
        TRY(take[line->event](l, line, where));
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
    TRY(count_line(l, entry, where));
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
    TRY(count_line(l, &read_back, l->path));
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
