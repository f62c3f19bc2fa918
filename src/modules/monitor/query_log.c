#include "monitor/query_log.h"
#include "sotto/private/io.h"

#include "base/file.h"
#include "monitor/monitor_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

void exchange_clear(struct exchange *x)
{
    sotto_array_clear(&x->rows);
    sotto_array_clear(&x->answers);
    *x = (struct exchange){0};
}

sotto_status check_rows_frame(const struct sotto_array *a, size_t columns, const char *what)
{
    char shown[256];
    if (a->ndim == 2 && a->dtype == SOTTO_F4 && a->shape[0] > 0 && a->shape[1] == columns)
        return SOTTO_OK;
    return status_fail(SOTTO_EFORMAT, "%s: rows are %s; expected (n, %zu) f4, as the calibration's", what,
                       array_describe(shown, a->dtype, a->ndim, a->shape), columns);
}

sotto_status check_answers_frame(const struct sotto_array *a, size_t n, size_t classes, const char *what)
{
    char shown[256];
    bool floats = dtype_is_float(a->dtype);
    bool labels = dtype_is_integer(a->dtype);
    array_describe(shown, a->dtype, a->ndim, a->shape);
    if (a->ndim == 2 && floats && a->shape[0] == n && (classes ? a->shape[1] == classes : a->shape[1] >= 2))
        return SOTTO_OK;
    if (a->ndim == 1 && labels && a->shape[0] == n && classes == 0)
        return SOTTO_OK;
    if (classes)
        return status_fail(
            SOTTO_EFORMAT,
            "%s: answers to %zu rows are %s; expected (%zu, %zu) of a float type, as the calibration's", what,
            n, shown, n, classes);
    return status_fail(
        SOTTO_EFORMAT,
        "%s: answers to %zu rows are %s; expected (%zu, classes) of a float type or (%zu) labels", what, n,
        shown, n, n);
}

static sotto_status check_frame(const struct log_reader *l, const struct exchange *x,
                                const struct sotto_array *a)
{
    const char *what = l->source->name;
    return x->rows.ndim ? check_answers_frame(a, x->rows.shape[0], l->classes, what)
                        : check_rows_frame(a, l->columns, what);
}

/* *m is incomplete where the file ends. */
static sotto_status read_message(struct message *m, struct log_reader *l, const struct exchange *x)
{
    sotto_status status = SOTTO_OK;
    void *to;
    size_t want;
    for (;;) {
        bool known = m->frame.header_known;
        if (known && !m->frame.array.data && m->frame.data_bytes > l->source->size - l->at)
            break; /* before memory is taken for it */
        TRY(message_room(m, &to, &want));
        size_t left = l->source->size - l->at;
        if (want == 0 || left == 0)
            break;
        want = want < left ? want : left;
        TRY(source_read(l->source, to, l->at, want));
        l->at += want;
        TRY(message_advance(m, want));
        if (!known && m->frame.header_known)
            TRY(check_frame(l, x, &m->frame.array));
    }
done:
    return status;
}

sotto_status log_next(struct exchange *x, bool *more, struct log_reader *l)
{
    sotto_status status = SOTTO_OK;
    struct message m;
    exchange_clear(x);
    *more = false;
    message_begin(&m, l->source->name);
    while (!*more) {
        TRY(read_message(&m, l, x));
        if (!m.complete)
            goto done;
        if (m.kind == MESSAGE_CLIENT && x->rows.ndim)
            FAIL(SOTTO_EFORMAT, "%s: a client line stands between a question and its answer",
                 l->source->name);
        if (m.kind == MESSAGE_CLIENT) {
            snprintf(l->client, sizeof l->client, "%s", message_client(&m));
        } else {
            struct sotto_array *to = x->rows.ndim ? &x->answers : &x->rows;
            *more = to == &x->answers;
            *to = m.frame.array;
            m.frame.array = (struct sotto_array){0};
        }
        message_clear(&m);
        message_begin(&m, l->source->name);
    }
    memcpy(x->client, l->client, sizeof x->client);
    l->whole = l->at;
done:
    message_clear(&m);
    return status;
}

sotto_status exchange_feed(struct sotto_monitor *m, struct exchange *x)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array answers = {0};
    const struct sotto_monitor_result *r = sotto_monitor_result(m);
    if (r->classes) {
        answers = x->answers;
        answers.data = NULL;
        size_t bytes = answers.count * sotto_dtype_size(answers.dtype);
        TRY(sotto_array_make(&answers, answers.dtype, answers.ndim, answers.shape));
        memcpy(answers.data, x->answers.data, bytes);
        TRY(sotto_array_convert(&answers, SOTTO_F4));
    }
    TRY(monitor_feed(m, x->client[0] ? x->client : NULL, x->rows.data, answers.data, x->rows.shape[0]));
done:
    sotto_array_clear(&answers);
    return status;
}

sotto_status sotto_monitor_replay(struct sotto_monitor *m, const char *path, uint64_t *torn,
                                  const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(m, path);
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    struct exchange x = {0};
    const struct sotto_monitor_result *r = sotto_monitor_result(m);
    bool more = true;
    TRY(source_open(&s, path, ctx));
    struct log_reader l = {.source = &s, .columns = r->columns, .classes = r->classes};
    while (more) {
        TRY(context_check(ctx, "%s: stopped", path));
        TRY(log_next(&x, &more, &l));
        if (more)
            TRY(exchange_feed(m, &x));
    }
    if (torn)
        *torn = s.size - l.whole;
done:
    exchange_clear(&x);
    if (s.fd >= 0)
        source_close(&s);
    return status;
}

/* The name of a new file is on the disk once its folder is. */
static sotto_status sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof folder)
        return status_fail(SOTTO_ECREATE, "%s: the path is too long", path);
    memcpy(folder, path, length);
    memcpy(folder + length, ".", 2);
    return folder_sync(folder);
}

sotto_status query_log_open(struct query_log *l, const char *path)
{
    sotto_status status = SOTTO_OK;
    *l = (struct query_log){.path = path, .fd = -1};
    TRY(file_spare_ledger(path));
    l->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (l->fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot be written: %s", path, strerror(errno));
    if (flock(l->fd, LOCK_EX | LOCK_NB) != 0)
        FAIL(SOTTO_EAGAIN, "%s: another process uses the log; expected one monitor for each log", path);
    l->size = (size_t)lseek(l->fd, 0, SEEK_END);
    TRY(sync_folder(path));
done:
    if (status != SOTTO_OK)
        query_log_close(l);
    return status;
}

sotto_status query_log_cut(struct query_log *l, size_t size)
{
    l->size = size;
    if (ftruncate(l->fd, (off_t)size) == 0)
        return SOTTO_OK;
    return status_fail(SOTTO_EIO, "%s: cannot be cut to %zu bytes: %s", l->path, size, strerror(errno));
}

static sotto_status write_all(const struct query_log *l, const void *data, size_t bytes)
{
    for (const unsigned char *p = data; bytes > 0;) {
        ssize_t put = write(l->fd, p, bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return status_fail(SOTTO_EIO, "%s: write failed: %s", l->path, strerror(errno));
        p += put;
        bytes -= (size_t)put;
    }
    if (fsync(l->fd) != 0 && errno != EINVAL) /* EINVAL: not a file on a disk */
        return status_fail(SOTTO_EIO, "%s: cannot be written to the disk: %s", l->path, strerror(errno));
    return SOTTO_OK;
}

static size_t put_array(unsigned char *out, const struct sotto_array *a)
{
    size_t head = npy_header(out, a), bytes = a->count * sotto_dtype_size(a->dtype);
    memcpy(out + head, a->data, bytes);
    return head + bytes;
}

sotto_status query_log_append(struct query_log *l, const struct exchange *x)
{
    sotto_status status = SOTTO_OK;
    struct status_record failed;
    unsigned char *text = NULL;
    size_t used = 0, bytes = x->rows.count * sotto_dtype_size(x->rows.dtype) +
                             x->answers.count * sotto_dtype_size(x->answers.dtype);
    NEW(text, CLIENT_LINE + 2 * NPY_HEADER_LIMIT + bytes);
    if (x->client[0])
        used = (size_t)snprintf((char *)text, CLIENT_LINE + 1, "client %s\n", x->client);
    used += put_array(text + used, &x->rows);
    used += put_array(text + used, &x->answers);
    TRY(write_all(l, text, used));
    l->size += used;
done:
    base_free(text);
    if (status == SOTTO_EIO) { /* what was written of it goes */
        status_get(&failed);
        (void)query_log_cut(l, l->size);
        status_set(&failed);
    }
    return status;
}

void query_log_close(struct query_log *l)
{
    if (l->fd >= 0)
        close(l->fd); /* releases the lock */
    l->fd = -1;
}
