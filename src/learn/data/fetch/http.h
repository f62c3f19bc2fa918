/* http.h - one download over HTTP(S), perhaps from the middle of a file. libcurl behind it (http_curl.c); a
 * build without libcurl, or a machine without it, answers ENOTSUP. */
#ifndef DATA_FETCH_HTTP_H
#define DATA_FETCH_HTTP_H

#include "base/status.h"

#include <stdbool.h>

/** Whether this build can download at all, on this machine. */
bool http_available(void);

struct http_request {
    const char *url;
    uint64_t from;   /* first byte wanted; the server may ignore it */
    bool plain_http; /* http:// is allowed too, also in redirections */
};
/** What the server says before the body. */
struct http_head {
    long code;      /* 200, 206, 404, ... */
    uint64_t start; /* position of the first body byte in the file */
    uint64_t total; /* bytes of the whole file; 0: not said */
};
/** The receiver of the body. A failure ends the transfer and becomes its status. */
struct http_sink {
    /** Once, before the first byte of a body with code 200 or 206. */
    sotto_status (*begin)(struct http_sink *sink, const struct http_head *head);
    sotto_status (*take)(struct http_sink *sink, const void *data, size_t bytes);
};

/** Without a call to the sink when nothing lies at or behind `from` (416). *broken: the connection ended
 * early or timed out, and trying again may help (EIO). Other errors: ENOENT (the server has no such file, or
 * no such server), EAGAIN (server errors, no connection), EIO (TLS and the rest), ESTOPPED. */
sotto_status http_get(struct http_sink *sink, bool *broken, const struct http_request *request,
                      const struct sotto_context *ctx);

#endif
