#include "par/ranks.h"

#include "base/cpu_set.h"
#include "base/memory.h"
#include "par/watchdog.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a rank says in an agreement. */
struct word {
    int code; /* its status */
    float number;
    int answer; /* to a question that rank 0 decides */
};

/* Callers hold the team as const: what changes lies behind it. */
struct changing {
    bool failed; /* the transport */
    bool known;  /* all ranks know of this rank's failure, and are on their way out */
    struct status_record failure;
    struct team_traffic traffic;
    struct watchdog *watchdog; /* NULL: of one rank */
    struct word *words;        /* (size) of an agreement */
    float *reported;           /* (size) numbers of the last one */
    float tells;               /* this rank's for the next one */
    char (*hosts)[TEAM_HOST];  /* (size) where known */
    size_t *counts, *firsts;   /* (size) of a gather, in bytes */
};
struct sotto_team {
    const struct transport *transport;
    void *link;
    size_t rank, size;
    bool started;
    char host[TEAM_HOST];
    uint64_t cpus[CPU_SET_WORDS];
    struct changing *state;
};

size_t sotto_team_rank(const struct sotto_team *t)
{
    return t ? t->rank : 0;
}

size_t sotto_team_size(const struct sotto_team *t)
{
    return t ? t->size : 1;
}

const char *team_host(const struct sotto_team *t)
{
    return t ? t->host : "";
}

const uint64_t *team_cpus(const struct sotto_team *t)
{
    return t->cpus;
}

void team_know_host(const struct sotto_team *t, size_t rank, const char *host)
{
    snprintf(t->state->hosts[rank], TEAM_HOST, "%s", host);
}

const char *team_host_of(const struct sotto_team *t, size_t rank)
{
    return t->state->hosts[rank][0] ? t->state->hosts[rank] : "an unknown host";
}

double team_worked(const struct sotto_team *t)
{
    return t ? watchdog_worked(t->state->watchdog) : 0;
}

void team_tell(const struct sotto_team *t, float number)
{
    if (t)
        t->state->tells = number;
}

const float *team_told(const struct sotto_team *t)
{
    return t->state->reported;
}

struct team_traffic team_traffic(const struct sotto_team *t)
{
    return t ? t->state->traffic : (struct team_traffic){0};
}

sotto_status team_start(struct sotto_team **out, const struct transport *transport, const int *communicator)
{
    sotto_status status = SOTTO_OK;
    struct sotto_team *t = NULL;
    char why[TRANSPORT_TEXT] = "";
    NEW(t, 1);
    t->transport = transport;
    NEW(t->state, 1);
    t->link = base_alloc(1, transport->link_bytes);
    if (!t->link)
        FAIL(SOTTO_ENOMEM, "out of memory for the state of %s", transport->name);
    cpu_set_read(t->cpus);
    if (gethostname(t->host, sizeof t->host - 1) != 0)
        snprintf(t->host, sizeof t->host, "unknown host");
    if (transport->start(t->link, &t->rank, &t->size, communicator, why) != 0)
        FAIL(SOTTO_ENOTSUP, "%s: %s", transport->name, why);
    t->started = true;
    NEW(t->state->words, t->size);
    NEW(t->state->reported, t->size);
    NEW(t->state->hosts, t->size);
    NEW(t->state->counts, t->size);
    NEW(t->state->firsts, t->size);
    if (t->size > 1) /* one that has none takes all others with it, which would wait for it */
        TRY(team_agree(t, watchdog_start(&t->state->watchdog, t->rank, t->host)));
    *out = t;
    t = NULL;
done:
    sotto_team_close(t);
    return status;
}

void sotto_team_close(struct sotto_team *t)
{
    if (!t)
        return;
    if (t->state)
        watchdog_wait(t->state->watchdog);
    if (t->started && t->state->failed)
        t->transport->abandon(t->link, 75); /* others may wait for ever */
    else if (t->started)
        t->transport->stop(t->link);
    if (t->state)
        watchdog_stop(t->state->watchdog);
    if (t->state) {
        base_free(t->state->words);
        base_free(t->state->reported);
        base_free(t->state->hosts);
        base_free(t->state->counts);
        base_free(t->state->firsts);
    }
    base_free(t->state);
    base_free(t->link);
    base_free(t);
}

/* ---- exchanges ---- */

static sotto_status failed_before(const struct sotto_team *t)
{
    status_set(&t->state->failure);
    return t->state->failure.code;
}

/* Behind a call of the transport: 0, or it failed, now and for good. */
static sotto_status ranks_remember(const struct sotto_team *t, int failed, const char *why)
{
    if (!failed)
        return SOTTO_OK;
    sotto_status status =
        status_fail(SOTTO_EIO, "rank %zu (%s): %s: %s", t->rank, t->host, t->transport->name, why);
    t->state->failed = true;
    status_get(&t->state->failure);
    return status;
}

static sotto_status gather_bytes(const struct sotto_team *t, void *all)
{
    char why[TRANSPORT_TEXT] = "";
    if (t->state->failed)
        return failed_before(t);
    watchdog_wait(t->state->watchdog);
    const int failed = t->transport->gather(t->link, all, t->state->counts, t->state->firsts, why);
    watchdog_go(t->state->watchdog);
    return ranks_remember(t, failed, why);
}

static sotto_status broadcast_from(const struct sotto_team *t, void *data, size_t bytes, size_t from)
{
    char why[TRANSPORT_TEXT] = "";
    if (t->state->failed)
        return failed_before(t);
    watchdog_wait(t->state->watchdog);
    const int failed = t->transport->broadcast(t->link, data, bytes, from, why);
    watchdog_go(t->state->watchdog);
    return ranks_remember(t, failed, why);
}

sotto_status team_gather(const struct sotto_team *t, void *rows, size_t bytes, const size_t *firsts)
{
    if (!t)
        return SOTTO_OK;
    struct changing *c = t->state;
    for (size_t r = 0; r < t->size; r++) {
        c->firsts[r] = firsts[r] * bytes;
        c->counts[r] = (firsts[r + 1] - firsts[r]) * bytes;
        if (r != t->rank) {
            c->traffic.messages++;
            c->traffic.bytes += c->counts[r];
        }
    }
    return gather_bytes(t, rows);
}

static sotto_status make_rows(char **rows, size_t **firsts, size_t ranks, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    NEW_ROWS(*rows, ranks, bytes);
    NEW(*firsts, ranks + 1);
    for (size_t r = 0; r <= ranks; r++)
        (*firsts)[r] = r;
done:
    return status;
}

sotto_status team_gather_each(const struct sotto_team *t, void *all, const void *mine, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    char *rows = NULL;
    size_t *firsts = NULL;
    memcpy(all, &rows, sizeof rows);
    TRY(team_agree(t, make_rows(&rows, &firsts, sotto_team_size(t), bytes)));
    memcpy(rows + sotto_team_rank(t) * bytes, mine, bytes);
    TRY(team_gather(t, rows, bytes, firsts));
    memcpy(all, &rows, sizeof rows);
    rows = NULL;
done:
    base_free(rows);
    base_free(firsts);
    return status;
}

sotto_status team_broadcast(const struct sotto_team *t, void *data, size_t bytes)
{
    if (!t)
        return SOTTO_OK;
    if (t->rank) {
        t->state->traffic.messages++;
        t->state->traffic.bytes += bytes;
    }
    return broadcast_from(t, data, bytes, 0);
}

sotto_status team_exchange(const struct sotto_team *t, const void *send, size_t send_bytes, size_t to,
                           void *receive, size_t receive_bytes, size_t from)
{
    char why[TRANSPORT_TEXT] = "";
    if (t->state->failed)
        return failed_before(t);
    t->state->traffic.messages++;
    t->state->traffic.bytes += receive_bytes;
    watchdog_wait(t->state->watchdog);
    const int failed =
        t->transport->exchange(t->link, send, send_bytes, to, receive, receive_bytes, from, why);
    watchdog_go(t->state->watchdog);
    return ranks_remember(t, failed, why);
}

/* ---- agreement ---- */

/* A failure that all ranks have alike, of the options for instance, needs no rank before it. */
static void name_rank(struct status_record *r, const struct sotto_team *t)
{
    struct status_record old = *r;
    snprintf(r->text, sizeof r->text, "rank %zu (%s): %.900s", t->rank, t->host, old.text);
}

void team_go_on(const struct sotto_team *t)
{
    if (t)
        t->state->known = false;
}

static sotto_status ranks_agree(const struct sotto_team *t, sotto_status mine, const char *text,
                                const char *hint, bool *answer)
{
    sotto_status status = SOTTO_OK;
    size_t lowest, failures = 0;
    struct status_record record = {.code = SOTTO_OK};
    if (!t || (t->size == 1 && !t->state->failed))
        return mine;
    if (mine != SOTTO_OK && t->state->known)
        return mine;
    if (mine != SOTTO_OK)
        status_get(&record); /* before a failure of the transport replaces it */
    record.code = mine;
    if (text)
        snprintf(record.text, sizeof record.text, "%s", text);
    if (hint)
        snprintf(record.hint, sizeof record.hint, "%s", hint);
    struct changing *c = t->state;
    for (size_t r = 0; r < t->size; r++) {
        c->counts[r] = sizeof *c->words;
        c->firsts[r] = r * sizeof *c->words;
    }
    c->words[t->rank] = (struct word){(int)mine, c->tells, *answer};
    c->tells = 0;
    TRY(gather_bytes(t, c->words));
    *answer = c->words[0].answer;
    lowest = t->size;
    for (size_t r = t->size; r-- > 0;) {
        c->reported[r] = c->words[r].number;
        if (c->words[r].code != SOTTO_OK) {
            lowest = r;
            failures++;
        }
    }
    c->known = failures > 0;
    if (!failures)
        goto done;
    if (lowest == t->rank && failures < t->size)
        name_rank(&record, t);
    TRY(broadcast_from(t, &record, sizeof record, lowest));
    status = record.code;
    status_set(&record);
done:
    return status;
}

sotto_status team_agree_on(const struct sotto_team *t, sotto_status mine, bool *answer)
{
    return ranks_agree(t, mine, NULL, NULL, answer);
}

sotto_status sotto_team_agree(const struct sotto_team *t, sotto_status mine, const char *text,
                              const char *hint)
{
    bool none = false;
    return ranks_agree(t, mine, text, hint, &none);
}

sotto_status team_agree(const struct sotto_team *t, sotto_status mine)
{
    return sotto_team_agree(t, mine, NULL, NULL);
}
