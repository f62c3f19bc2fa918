#include "monitor/message.h"

#include "io/text/utf8.h"

#include <string.h>

static const char start[] = "client ";
enum { START = sizeof start - 1 };

void message_begin(struct message *m, const char *name)
{
    m->kind = MESSAGE_NEW;
    m->have = 0;
    m->complete = false;
    npy_stream_begin(&m->frame, name);
}

sotto_status message_room(struct message *m, void **to, size_t *want)
{
    if (m->kind == MESSAGE_FRAME) {
        sotto_status status = npy_stream_room(&m->frame, to, want);
        m->complete = status == SOTTO_OK && *want == 0;
        return status;
    }
    *to = m->line + m->have;
    *want = m->complete ? 0 : 1;
    return SOTTO_OK;
}

bool client_name_good(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= CLIENT_NAME || !utf8_valid(name, length))
        return false;
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            return false;
    return true;
}

static sotto_status advance_line(struct message *m)
{
    char shown[2 * CLIENT_LINE];
    size_t known = m->have < START ? m->have : START;
    char last = m->line[m->have - 1];
    bool good = memcmp(m->line, start, known) == 0 && last != '\0' && (last == '\n' || m->have < CLIENT_LINE);
    if (good && last == '\n') {
        m->line[m->have - 1] = '\0';
        m->complete = good = m->have > START && client_name_good(m->line + START);
    }
    if (good)
        return SOTTO_OK;
    return status_fail(SOTTO_EFORMAT,
                       "%s: '%s' is no client line; expected 'client NAME' with a name of 1 to 64 bytes",
                       m->frame.name, utf8_printable(shown, sizeof shown, m->line, m->have));
}

sotto_status message_advance(struct message *m, size_t got)
{
    void *to;
    size_t want;
    if (m->kind == MESSAGE_FRAME)
        return npy_stream_advance(&m->frame, got);
    m->have += got;
    if (m->kind == MESSAGE_NEW && m->line[0] == start[0])
        m->kind = MESSAGE_CLIENT;
    if (m->kind == MESSAGE_CLIENT)
        return advance_line(m);
    m->kind = MESSAGE_FRAME;
    sotto_status status = npy_stream_room(&m->frame, &to, &want);
    if (status != SOTTO_OK)
        return status;
    memcpy(to, m->line, 1);
    return npy_stream_advance(&m->frame, 1);
}

size_t message_received(const struct message *m)
{
    return m->kind == MESSAGE_FRAME ? npy_stream_received(&m->frame) : m->have;
}

const char *message_client(const struct message *m)
{
    return m->line + START;
}

void message_clear(struct message *m)
{
    npy_stream_clear(&m->frame);
}
