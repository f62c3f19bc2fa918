/* Any model behind a command: rows go into its stdin, posteriors come out of its stdout, one .npy frame each
 * way per batch (docs/FORMATS.md, "Target commands").
 *
 * Sending and receiving go on together under one poll(), so a command that answers before it has read
 * everything, or writes unasked frames, cannot block both sides for ever; one deadline holds for the
 * whole exchange. The shape is checked when the header is there, before memory for the data is taken. After a
 * failure the command is ended and later queries are refused: its stream has no border to start again
 * from. */
#include "options/option_tables.h"
#include "sotto/lab/query.h"
#include "sotto/option.h"
#include "sotto/private/io.h"
#include "attack/target/child_process.h"
#include "attack/target/target.h"
#include "io/array/npy_stream.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

enum { SLICE_MS = 100 };
/* Seconds in which a command may end by itself; and after Ctrl-C, of which it was told too. */
static const double grace = 2, hurried = 0.2;

struct command_target {
    struct sotto_target target;
    struct child child;
    char *title; /* "target command 'python3 serve.py'", cut when long */
    double timeout;
    size_t batch;
    const struct sotto_context *ctx;
    uint64_t frames;
    char client[TARGET_CLIENT]; /* who asks; "": frames come without a client line */
    bool as_it_is;              /* answers are passed on: their number of classes need not be known */
};

/* One frame on its way out, a client line before it. */
struct sending {
    unsigned char head[TARGET_CLIENT + sizeof "client \n" + NPY_HEADER_LIMIT];
    const unsigned char *rows;
    size_t head_bytes, bytes, sent; /* bytes: of both parts */
    bool broken;                    /* its end of the pipe is closed */
};

static void start_sending(struct sending *s, const char *client, const float *rows, size_t n, size_t d)
{
    struct sotto_array shape = {.dtype = SOTTO_F4, .ndim = 2, .shape = {n, d}};
    s->head_bytes = client[0] ? (size_t)sprintf((char *)s->head, "client %s\n", client) : 0;
    s->head_bytes += npy_header(s->head + s->head_bytes, &shape);
    s->rows = (const unsigned char *)rows;
    s->bytes = s->head_bytes + n * d * sizeof *rows;
    s->sent = 0;
    s->broken = false;
}

/* What became of the command, after its pipe broke. */
static sotto_status target_command_died(const struct command_target *c, const char *doing)
{
    char how[128];
    bool ended = child_ended(&c->child, grace, how);
    sotto_status status = status_fail(
        SOTTO_EIO, "%s: %s %s frame %llu%s", c->title, ended ? how : "closed its standard input or output",
        doing, (unsigned long long)c->frames + 1, ended ? "" : " and is still running");
    status_hint("the command's own messages are on stderr; examples/serve_numpy.py shows a working command");
    return status;
}

static sotto_status send_some(struct command_target *c, struct sending *s)
{
    while (s->sent < s->bytes) {
        bool head = s->sent < s->head_bytes;
        const unsigned char *from = head ? s->head + s->sent : s->rows + (s->sent - s->head_bytes);
        ssize_t put = child_write(&c->child, from, (head ? s->head_bytes : s->bytes) - s->sent);
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return SOTTO_OK;
        if (put < 0 && errno == EPIPE) {
            s->broken = true;
            return SOTTO_OK;
        }
        if (put < 0)
            return status_fail(SOTTO_EIO, "%s: %s", c->title, strerror(errno));
        s->sent += (size_t)put;
    }
    return SOTTO_OK;
}

/* (n, classes) of a float type, or (n) whole numbers: a command that gives its decision only. */
static sotto_status check_shape(const struct command_target *c, const struct sotto_array *a, size_t n)
{
    char shown[256];
    bool label = a->ndim == 1 && dtype_is_integer(a->dtype) && (c->target.classes > 0 || c->as_it_is);
    bool floats = dtype_is_float(a->dtype);
    if (label && a->shape[0] == n)
        return SOTTO_OK;
    array_describe(shown, a->dtype, a->ndim, a->shape);
    if (c->target.classes == 0) { /* the first frame says how many there are */
        if (floats && a->ndim == 2 && a->shape[0] == n && a->shape[1] >= 2 && a->shape[1] <= 1 << 20)
            return SOTTO_OK;
        return status_fail(SOTTO_EFORMAT, "%s: answered %s to %zu rows; expected (%zu, classes) f4", c->title,
                           shown, n, n);
    }
    if (floats && a->ndim == 2 && a->shape[0] == n && a->shape[1] == c->target.classes)
        return SOTTO_OK;
    return status_fail(SOTTO_EFORMAT, "%s: answered %s to %zu rows; expected (%zu, %zu) f4 probabilities",
                       c->title, shown, n, n, c->target.classes);
}

static sotto_status receive_some(struct command_target *c, struct npy_stream *in, size_t n, bool *complete)
{
    sotto_status status = SOTTO_OK;
    void *to;
    size_t want;
    for (;;) {
        bool known = in->header_known;
        TRY(npy_stream_room(in, &to, &want));
        *complete = want == 0;
        if (*complete)
            break;
        ssize_t got = child_read(&c->child, to, want);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (got < 0)
            FAIL(SOTTO_EIO, "%s: %s", c->title, strerror(errno));
        if (got == 0)
            TRY(target_command_died(c, "before it had answered"));
        TRY(npy_stream_advance(in, (size_t)got));
        if (!known && in->header_known)
            TRY(check_shape(c, &in->array, n));
    }
done:
    return status;
}

/* What a command said before it stopped reading tells more than that it did. */
static sotto_status hung_up(struct command_target *c, struct npy_stream *in, size_t n)
{
    sotto_status status = SOTTO_OK;
    char how[128];
    bool complete = false;
    (void)child_ended(&c->child, grace, how);
    TRY(receive_some(c, in, n, &complete));
    TRY(target_command_died(c, "before it had read"));
done:
    return status;
}

/* Nothing may lie in the pipe while no question is open. */
static bool target_command_silent(const struct command_target *c)
{
    struct pollfd from = {.fd = c->child.from, .events = POLLIN};
    return poll(&from, 1, 0) != 1 || !(from.revents & POLLIN);
}

static sotto_status check_unasked(const struct command_target *c, const struct npy_stream *in)
{
    if (npy_stream_received(in) == 0 && target_command_silent(c))
        return SOTTO_OK;
    return status_fail(SOTTO_EFORMAT,
                       "%s: wrote more than one answer to a frame; expected one .npy frame per question",
                       c->title);
}

static sotto_status timed_out(const struct command_target *c, const struct sending *s,
                              const struct npy_stream *in)
{
    sotto_status status = status_fail(
        SOTTO_EIO,
        "%s: no complete answer to frame %llu within %g s (it read %zu of %zu bytes and answered %zu)",
        c->title, (unsigned long long)c->frames + 1, c->timeout, s->sent, s->bytes, npy_stream_received(in));
    status_hint(
        "check that the command flushes stdout after every answer; {timeout=SECONDS} allows more time");
    return status;
}

static sotto_status target_command_exchange(struct command_target *c, struct npy_stream *in,
                                            const float *rows, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sending out;
    bool complete = false;
    double deadline = child_clock() + c->timeout;
    if (!target_command_silent(c)) /* if it is text, that text is the better error */
        TRY(receive_some(c, in, n, &complete));
    TRY(check_unasked(c, in));
    start_sending(&out, c->client, rows, n, c->target.inputs);
    for (;;) {
        TRY(send_some(c, &out));
        if (out.broken)
            TRY(hung_up(c, in, n));
        TRY(receive_some(c, in, n, &complete));
        if (complete && out.sent == out.bytes)
            break;
        if (context_stopped(c->ctx))
            FAIL(SOTTO_ESTOPPED, "%s: stopped", c->title);
        double left = 1e3 * (deadline - child_clock());
        if (left <= 0)
            TRY(timed_out(c, &out, in));
        struct pollfd ends[2] = {{.fd = complete ? -1 : c->child.from, .events = POLLIN},
                                 {.fd = out.sent < out.bytes ? c->child.to : -1, .events = POLLOUT}};
        poll(ends, 2, left < SLICE_MS ? (int)ceil(left) : SLICE_MS);
    }
    if (!target_command_silent(c))
        TRY(check_unasked(c, in));
    c->frames++;
done:
    return status;
}

/* The answer as f4, a label as a posterior of 1. */
static sotto_status target_command_take(float *posteriors, const struct command_target *c,
                                        struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    size_t n = a->shape[0], classes = c->target.classes;
    bool label = a->ndim == 1;
    TRY(sotto_array_convert(a, label ? SOTTO_I8 : SOTTO_F4));
    if (!label) {
        TRY(sotto_array_require_finite(a, c->title, "probabilities"));
        memcpy(posteriors, a->data, a->count * sizeof *posteriors);
        goto done;
    }
    const int64_t *y = a->data;
    for (size_t i = 0; i < n; i++)
        if (y[i] < 0 || (uint64_t)y[i] >= classes)
            FAIL(SOTTO_EFORMAT, "%s: label %zu is %lld; expected 0 .. %zu", c->title, i, (long long)y[i],
                 classes - 1);
    memset(posteriors, 0, n * classes * sizeof *posteriors);
    for (size_t i = 0; i < n; i++)
        posteriors[i * classes + (size_t)y[i]] = 1;
done:
    return status;
}

sotto_status target_command_answer(struct sotto_array *answer, struct sotto_target *t, const float *rows,
                                   size_t n)
{
    sotto_status status = SOTTO_OK;
    struct command_target *c = (struct command_target *)t;
    struct npy_stream in;
    npy_stream_begin(&in, c->title);
    if (c->child.pid == 0)
        FAIL(SOTTO_EIO, "%s: the command was ended after an earlier failure", c->title);
    TRY(target_command_exchange(c, &in, rows, n));
    *answer = in.array;
    in.array = (struct sotto_array){0};
done:
    if (status != SOTTO_OK)
        child_end(&c->child);
    npy_stream_clear(&in);
    return status;
}

static sotto_status target_command_ask(struct command_target *c, float *posteriors, const float *rows,
                                       size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array answer = {0};
    TRY(target_command_answer(&answer, &c->target, rows, n));
    if (c->target.classes == 0)
        c->target.classes = answer.shape[1];
    else
        TRY(target_command_take(posteriors, c, &answer));
done:
    if (status != SOTTO_OK)
        child_end(&c->child);
    sotto_array_clear(&answer);
    return status;
}

static sotto_status target_command_query(struct sotto_target *t, float *posteriors, const float *rows,
                                         size_t n)
{
    sotto_status status = SOTTO_OK;
    struct command_target *c = (struct command_target *)t;
    for (size_t start = 0; start < n; start += c->batch)
        TRY(target_command_ask(c, posteriors + start * t->classes, rows + start * t->inputs,
                               n - start < c->batch ? n - start : c->batch));
done:
    return status;
}

bool target_is_command(const struct sotto_target *t)
{
    return t->query == target_command_query;
}

void target_command_client(struct sotto_target *t, const char *name)
{
    struct command_target *c = (struct command_target *)t;
    snprintf(c->client, sizeof c->client, "%s", name);
}

/* End of input tells the command to leave; what it does then is looked at, but can no longer change a
 * result. */
static void close_command(struct sotto_target *t)
{
    struct command_target *c = (struct command_target *)t;
    char how[128];
    if (c->child.pid != 0) {
        child_hang_up(&c->child);
        if (!target_command_silent(c))
            context_log(c->ctx, SOTTO_LOG_WARNING, "%s: wrote more than one answer to its last frame",
                        c->title);
        if (!child_ended(&c->child, context_stopped(c->ctx) ? hurried : grace, how))
            context_log(c->ctx, SOTTO_LOG_WARNING, "%s: did not exit at the end of its input and was killed",
                        c->title);
        else if (strcmp(how, "ended with exit status 0") != 0)
            context_log(c->ctx, SOTTO_LOG_WARNING, "%s: %s after its last answer", c->title, how);
    }
    child_end(&c->child);
    base_free(c->title);
    base_free(c);
}

static sotto_status make_title(char **out, const char *command)
{
    enum { ROOM = 160 };
    char *title = base_alloc(ROOM, 1);
    if (!title)
        return status_fail(SOTTO_ENOMEM, "target command: out of memory");
    snprintf(title, ROOM, "target command '%.100s%s'", command, strlen(command) > 100 ? "..." : "");
    *out = title;
    return SOTTO_OK;
}

static sotto_status open_command(struct command_target **out, const char *command, size_t inputs,
                                 size_t classes, const struct sotto_command_options *options,
                                 const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_command_options o;
    struct command_target *c = NULL;
    TRY(sotto_options_resolve(&o, options, options_command));
    REQUIRE(inputs > 0, "target command: inputs is 0; expected the length of a row");
    REQUIRE(classes != 1, "target command: classes is 1; expected at least 2");
    REQUIRE(isfinite(o.timeout) && o.timeout > 0, "target command: timeout must be > 0 s (got %g)",
            o.timeout);
    REQUIRE(o.batch > 0, "target command: batch must be > 0 (got 0)");
    NEW(c, 1);
    TRY(make_title(&c->title, command));
    c->child = (struct child){.to = -1, .from = -1};
    c->timeout = o.timeout;
    c->batch = o.batch;
    c->ctx = ctx;
    c->target = target_make(c->title, inputs, classes);
    c->target.query = target_command_query;
    c->target.close = close_command;
    TRY(child_start(&c->child, command));
    *out = c;
    c = NULL;
done:
    if (c) {
        base_free(c->title);
        base_free(c);
    }
    return status;
}

sotto_status sotto_target_open_command(struct sotto_target **out, const char *command, size_t inputs,
                                       size_t classes, const struct sotto_command_options *options,
                                       const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, command);
    sotto_status status = SOTTO_OK;
    struct command_target *c = NULL;
    float *row = NULL;
    NEW(row, inputs);
    TRY(open_command(&c, command, inputs, classes, options, ctx));
    if (classes == 0) {
        c->target.used = 1;
        TRY(target_command_ask(c, NULL, row, 1));
    }
    *out = &c->target;
    c = NULL;
done:
    if (c) {
        child_end(&c->child);
        base_free(c->title);
        base_free(c);
    }
    base_free(row);
    return status;
}

sotto_status target_command_open(struct sotto_target **out, const char *command, size_t inputs,
                                 const struct sotto_command_options *options, const struct sotto_context *ctx)
{
    struct command_target *c;
    sotto_status status = open_command(&c, command, inputs, 0, options, ctx);
    if (status != SOTTO_OK)
        return status;
    c->as_it_is = true;
    *out = &c->target;
    return SOTTO_OK;
}
