/* Arbitrary bytes as a log of queries, and the same bytes as they would come through a pipe, in pieces: both see the same
 * messages, nothing is read beyond the end, and whole exchanges end where the reader says. */
#include "monitor/query_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes of complete messages at the start of the pipe. */
static size_t messages(const uint8_t *data, size_t size, size_t piece)
{
    size_t at = 0, whole = 0;
    for (bool good = true; good;) {
        struct message m;
        void *to;
        size_t want = 0;
        message_begin(&m, "pipe");
        for (;;) {
            good = !(m.frame.header_known && m.frame.data_bytes > size - at + m.frame.data_have) &&
                   message_room(&m, &to, &want) == SOTTO_OK;
            if (!good || want == 0)
                break;
            size_t left = size - at, take = want < piece ? want : piece;
            good = take <= left;
            if (!good)
                break;
            memcpy(to, data + at, take);
            at += take;
            good = message_advance(&m, take) == SOTTO_OK;
            if (!good)
                break;
        }
        if (good && m.complete)
            whole = at;
        if (good && m.kind == MESSAGE_CLIENT && !client_name_good(message_client(&m)))
            abort();
        message_clear(&m);
    }
    return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source s = source_memory(data, size, "log");
    struct log_reader l = {.source = &s, .columns = 2};
    struct exchange x = {0};
    bool more = true;
    size_t before = 0, one = messages(data, size, 1), many = messages(data, size, SIZE_MAX);
    if (one != many)
        abort();
    while (more && log_next(&x, &more, &l) == SOTTO_OK) {
        if (l.whole > size || l.whole < before || (more && (l.whole == before || l.whole > one)))
            abort();
        before = l.whole;
    }
    exchange_clear(&x);
    return 0;
}
