/* Between clients and a served model. An exchange is in the log before its answer leaves, so that a restart, in whatever
 * moment, gives no client an answer that its wealth does not know. */
#include "attack/target/child_process.h"
#include "attack/target/target.h"
#include "monitor/query_log.h"
#include "options/module_tables.h"
#include "sotto/option.h"
#include "sotto/private/io.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

enum { SLICE_MS = 100, PIPE_PIECE = 4096 /* what a pipe that can be written to takes without blocking */ };

struct service {
    struct sotto_monitor *monitor;
    const struct sotto_monitor_service *s;
    const struct sotto_context *ctx;
    struct child client; /* .from: input, .to: output; no process of ours */
    struct sotto_target *target;
    struct query_log log;
    size_t most; /* rows of a frame */
    char name[CLIENT_NAME];
};

static sotto_status wait_for(const struct service *v, int fd, short event)
{
    sotto_status status = SOTTO_OK;
    struct pollfd end = {.fd = fd, .events = event};
    do
        TRY(context_check(v->ctx, "monitor: stopped"));
    while (poll(&end, 1, SLICE_MS) < 1);
done:
    return status;
}

/* One message. m->complete stays false at the end of the input. */
static sotto_status serve_receive(struct message *m, const struct service *v)
{
    sotto_status status = SOTTO_OK;
    void *to;
    size_t want;
    for (;;) {
        bool known = m->frame.header_known;
        TRY(message_room(m, &to, &want));
        if (want == 0)
            break;
        TRY(wait_for(v, v->client.from, POLLIN));
        ssize_t got = child_read(&v->client, to, want);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            continue;
        if (got < 0)
            FAIL(SOTTO_EIO, "the client: %s", strerror(errno));
        if (got == 0 && message_received(m) > 0)
            FAIL(SOTTO_EFORMAT, "the client: its input ends within a message of which %zu bytes arrived",
                 message_received(m));
        if (got == 0)
            break;
        TRY(message_advance(m, (size_t)got));
        const struct sotto_array *a = &m->frame.array;
        if (known || !m->frame.header_known)
            continue;
        TRY(check_rows_frame(a, sotto_monitor_result(v->monitor)->columns, "the client"));
        if (a->shape[0] > v->most)
            FAIL(SOTTO_EFORMAT,
                 "the client: a frame has %zu rows; expected at most %zu ({batch|query-batch})", a->shape[0],
                 v->most);
    }
done:
    return status;
}

/* *gone: the client no longer reads. */
static sotto_status send_bytes(bool *gone, const struct service *v, const void *data, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    const unsigned char *from = data;
    while (bytes > 0 && !*gone) {
        TRY(wait_for(v, v->client.to, POLLOUT));
        ssize_t put = child_write(&v->client, from, bytes < PIPE_PIECE ? bytes : PIPE_PIECE);
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            continue;
        *gone = put < 0 && errno == EPIPE;
        if (put < 0 && !*gone)
            FAIL(SOTTO_EIO, "the client: %s", strerror(errno));
        from += put < 0 ? 0 : put;
        bytes -= put < 0 ? 0 : (size_t)put;
    }
done:
    return status;
}

static sotto_status send_answer(bool *gone, const struct service *v, const struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    unsigned char head[NPY_HEADER_LIMIT];
    TRY(send_bytes(gone, v, head, npy_header(head, a)));
    TRY(send_bytes(gone, v, a->data, a->count * sotto_dtype_size(a->dtype)));
done:
    return status;
}

/* The alarm of a stream, if it is new (before: 0). EGATE with --on-alarm stop. */
static sotto_status serve_alarm(const struct service *v, const struct sotto_monitor_stream *s,
                                uint64_t before)
{
    if (s->alarm == 0 || before != 0)
        return SOTTO_OK;
    const char *who = s->name[0] ? s->name : "all clients together";
    if (v->s->on_alarm == SOTTO_ALARM_STOP)
        return status_fail(SOTTO_EGATE,
                           "monitor: '%s' raised an alarm after %" PRIu64 " rows; the service ended", who,
                           s->alarm);
    context_log(v->ctx, SOTTO_LOG_WARNING, "monitor: '%s' raised an alarm after %" PRIu64 " rows", who,
                s->alarm);
    return SOTTO_OK;
}

static const struct sotto_monitor_stream *stream_of(const struct sotto_monitor_result *r, const char *client)
{
    static const struct sotto_monitor_stream none;
    const char *name = client[0] ? client : "anonymous";
    for (size_t i = 0; i < r->clients; i++)
        if (strcmp(r->client[i].name, name) == 0)
            return &r->client[i];
    return &none;
}

/* An answer of the same shape and type that says nothing. */
static sotto_status empty_answer(struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    const enum sotto_dtype dtype = a->dtype;
    struct sotto_array empty = {0};
    if (a->ndim == 1) {
        memset(a->data, 0, a->count * sotto_dtype_size(dtype));
        goto done;
    }
    TRY(sotto_array_make(&empty, SOTTO_F4, a->ndim, a->shape));
    for (size_t i = 0; i < empty.count; i++)
        ((float *)empty.data)[i] = 1 / (float)a->shape[1];
    TRY(sotto_array_convert(&empty, dtype));
    sotto_array_clear(a);
    *a = empty;
    empty = (struct sotto_array){0};
done:
    sotto_array_clear(&empty);
    return status;
}

static sotto_status serve_withhold(struct exchange *x, const struct service *v)
{
    const struct sotto_monitor_result *r = sotto_monitor_result(v->monitor);
    const bool found = r->service.alarm != 0 || stream_of(r, x->client)->alarm != 0;
    return found && v->s->on_alarm == SOTTO_ALARM_WITHHOLD ? empty_answer(&x->answers) : SOTTO_OK;
}

static sotto_status serve_judge(const struct service *v, struct exchange *x)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_monitor_result *r = sotto_monitor_result(v->monitor);
    uint64_t client = stream_of(r, x->client)->alarm, service = r->service.alarm;
    TRY(exchange_feed(v->monitor, x));
    TRY(serve_alarm(v, stream_of(r, x->client), client));
    TRY(serve_alarm(v, &r->service, service));
done:
    return status;
}

/* A question, its answer, what they say of the client. */
static sotto_status serve_frame(bool *gone, struct service *v, struct sotto_array *rows)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_monitor_result *r = sotto_monitor_result(v->monitor);
    struct exchange x = {.rows = *rows};
    size_t n = rows->shape[0];
    *rows = (struct sotto_array){0};
    memcpy(x.client, v->name, sizeof x.client);
    TRY(sotto_array_require_finite(&x.rows, "the client", "rows"));
    TRY(target_command_answer(&x.answers, v->target, x.rows.data, n));
    TRY(check_answers_frame(&x.answers, n, r->classes, v->target->name));
    if (r->classes)
        TRY(sotto_array_require_finite(&x.answers, v->target->name, "answers"));
    TRY(query_log_append(&v->log, &x));
    TRY(serve_judge(v, &x));
    TRY(serve_withhold(&x, v));
    TRY(send_answer(gone, v, &x.answers));
done:
    exchange_clear(&x);
    return status;
}

static sotto_status serve_messages(struct service *v)
{
    sotto_status status = SOTTO_OK;
    struct message m;
    bool gone = false;
    message_begin(&m, "the client");
    while (!gone) {
        TRY(serve_receive(&m, v));
        if (!m.complete)
            break;
        if (m.kind == MESSAGE_CLIENT && v->s->client && strcmp(v->s->client, message_client(&m)) != 0)
            FAIL(SOTTO_EFORMAT, "the client: it calls itself '%s'; expected '%s' ({client})",
                 message_client(&m), v->s->client);
        if (m.kind == MESSAGE_CLIENT)
            snprintf(v->name, sizeof v->name, "%s", message_client(&m));
        else
            TRY(serve_frame(&gone, v, &m.frame.array));
        message_clear(&m);
        message_begin(&m, "the client");
    }
done:
    message_clear(&m);
    return status;
}

/* What earlier processes saw. With `stop`, an alarm of then is one of now. */
static sotto_status go_on(struct service *v)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_monitor_result *r = sotto_monitor_result(v->monitor);
    uint64_t torn = 0;
    TRY(query_log_open(&v->log, v->s->log));
    TRY(sotto_monitor_replay(v->monitor, v->s->log, &torn, v->ctx));
    if (torn > 0)
        context_log(v->ctx, SOTTO_LOG_WARNING, "%s: its last exchange was not complete and is dropped",
                    v->s->log);
    TRY(query_log_cut(&v->log, v->log.size - (size_t)torn));
    for (size_t i = 0; i < r->clients; i++)
        TRY(serve_alarm(v, &r->client[i], 0));
    TRY(serve_alarm(v, &r->service, 0));
done:
    return status;
}

sotto_status sotto_monitor_serve(struct sotto_monitor *m, const struct sotto_monitor_service *s, int input,
                                 int output, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(m, s);
    sotto_status status = SOTTO_OK;
    struct sotto_command_options how;
    struct service v = {
        .monitor = m, .s = s, .ctx = ctx, .client = {.to = output, .from = input}, .log = {.fd = -1}};
    TRY(sotto_options_resolve(&how, &s->how, options_command));
    REQUIRE(s->command && s->log, "monitor: the command or the log is missing; expected both");
    REQUIRE(!s->client || client_name_good(s->client),
            "monitor: {client} is no name; expected 1 to 64 bytes of text");
    v.most = how.batch;
    snprintf(v.name, sizeof v.name, "%s", s->client ? s->client : "");
    TRY(go_on(&v));
    TRY(target_command_open(&v.target, s->command, sotto_monitor_result(m)->columns, &how, ctx));
    TRY(serve_messages(&v));
done:
    sotto_target_close(v.target);
    query_log_close(&v.log);
    return status;
}
