/* Downloads through libcurl, which brings TLS, redirections and the proxies of the environment. */
#include "data/fetch/http.h"

#ifndef SOTTO_HAVE_CURL

bool http_available(void)
{
    return false;
}

sotto_status http_get(struct http_sink *sink, bool *broken, const struct http_request *request,
                      const struct sotto_context *ctx)
{
    (void)sink, (void)broken, (void)ctx;
    return status_fail(SOTTO_ENOTSUP, "%s: this build of sotto has no libcurl", request->url);
}

#else

#include "base/loaded_library.h"

#define CURL_DISABLE_TYPECHECK /* its macros call by name */
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CONNECT_SECONDS = 30, SILENT_SECONDS = 60, REDIRECTIONS = 5 };

/* Loaded by the first download: with what it needs in turn, it is a third of what every start of the program takes. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#define CALLS(CALL)                                                                                          \
    CALL(curl_easy_cleanup)                                                                                  \
    CALL(curl_easy_getinfo)                                                                                  \
    CALL(curl_easy_init)                                                                                     \
    CALL(curl_easy_perform)                                                                                  \
    CALL(curl_easy_setopt)                                                                                   \
    CALL(curl_easy_strerror)                                                                                 \
    CALL(curl_global_cleanup)                                                                                \
    CALL(curl_global_init)
static struct {
    CALLS(LATE_FIELD)
    bool there;
} lib;

static void http_curl_load(void)
{
    const struct late_call calls[] = {CALLS(LATE_CALL)};
    lib.there = late_load("libcurl.so.4", calls, sizeof calls / sizeof *calls);
}

struct transfer {
    CURL *curl;
    struct http_sink *sink;
    const struct sotto_context *ctx;
    struct http_head head;
    bool begun;
    sotto_status status; /* of the sink */
};

bool http_available(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, http_curl_load);
    return lib.there;
}

/* Every answer on the way (a redirection is one) starts with a status line; the last one counts. */
static size_t take_header(char *line, size_t size, size_t count, void *user)
{
    struct transfer *t = user;
    size_t length = size * count;
    char text[256];
    unsigned long long first, total;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
    if (strncmp(text, "HTTP/", 5) == 0)
        t->head = (struct http_head){0};
    else if (strncasecmp(text, "Content-Range:", 14) == 0 &&
             sscanf(text + 14, " bytes %llu-%*u/%llu", &first, &total) == 2) {
        t->head.start = first;
        t->head.total = total;
    }
    return length;
}

static size_t take_body(char *data, size_t size, size_t count, void *user)
{
    struct transfer *t = user;
    curl_off_t length = -1;
    if (!t->begun) {
        t->begun = true;
        lib.curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->head.code);
        lib.curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        if (t->head.code == 200)
            t->head.start = 0, t->head.total = length > 0 ? (uint64_t)length : 0;
        if (t->head.code == 200 || t->head.code == 206)
            t->status = t->sink->begin(t->sink, &t->head);
    }
    if (t->status == SOTTO_OK && (t->head.code == 200 || t->head.code == 206))
        t->status = t->sink->take(t->sink, data, size * count);
    return t->status == SOTTO_OK ? size * count : 0; /* the page that comes with an error is dropped */
}

static int http_curl_watch(void *user, curl_off_t total, curl_off_t now, curl_off_t up, curl_off_t sent)
{
    const struct transfer *t = user;
    (void)total, (void)now, (void)up, (void)sent;
    return context_stopped(t->ctx);
}

static void set_options(struct transfer *t, const struct http_request *request, char range[32], char *text)
{
    CURL *curl = t->curl;
    const char *protocols = request->plain_http ? "http,https" : "https";
    char agent[64];
    snprintf(agent, sizeof agent, "sotto/%s", sotto_version());
    lib.curl_easy_setopt(curl, CURLOPT_URL, request->url);
    lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
    lib.curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    lib.curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    lib.curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTIONS);
    lib.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SILENT_SECONDS);
    lib.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    lib.curl_easy_setopt(curl, CURLOPT_USERAGENT, agent);
    lib.curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, text);
    lib.curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    lib.curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
    lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    lib.curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    lib.curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, http_curl_watch);
    lib.curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t);
    if (request->from > 0) {
        snprintf(range, 32, "%llu-", (unsigned long long)request->from);
        lib.curl_easy_setopt(curl, CURLOPT_RANGE, range);
    }
}

/* The answers that are not a file. */
static sotto_status judge_code(long code, const char *url)
{
    if (code == 200 || code == 206)
        return SOTTO_OK;
    if (code == 408 || code == 429 || code >= 500)
        return status_fail(SOTTO_EAGAIN, "%s: the server answers %ld (busy or failing); try again later", url,
                           code);
    return status_fail(SOTTO_ENOENT, "%s: the server answers %ld%s; expected the file", url, code,
                       code == 404 || code == 410 ? " (no such file)" : "");
}

static sotto_status http_curl_judge(bool *broken, CURLcode result, const char *url, const char *text)
{
    const char *why = text[0] ? text : lib.curl_easy_strerror(result);
    switch (result) {
    case CURLE_ABORTED_BY_CALLBACK:
        return status_fail(SOTTO_ESTOPPED, "%s: stopped", url);
    case CURLE_UNSUPPORTED_PROTOCOL:
        return status_fail(SOTTO_ENOENT, "%s: redirects to an address that is not https; refused (%s)", url,
                           why);
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
        return status_fail(SOTTO_ENOENT, "%s: %s", url, why);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        return status_fail(SOTTO_EAGAIN, "%s: no connection (%s)", url, why);
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        *broken = true;
        return status_fail(SOTTO_EIO, "%s: the connection broke (%s)", url, why);
    default:
        return status_fail(SOTTO_EIO, "%s: %s", url, why);
    }
}

sotto_status http_get(struct http_sink *sink, bool *broken, const struct http_request *request,
                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct transfer t = {.sink = sink, .ctx = ctx};
    char range[32], text[CURL_ERROR_SIZE] = "";
    if (!http_available())
        return status_fail(SOTTO_ENOTSUP, "%s: libcurl.so.4 (package libcurl4) is missing", request->url);
    bool started = lib.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    *broken = false;
    t.curl = started ? lib.curl_easy_init() : NULL;
    if (!t.curl)
        FAIL(SOTTO_ENOMEM, "%s: libcurl cannot start", request->url);
    set_options(&t, request, range, text);
    CURLcode result = lib.curl_easy_perform(t.curl);
    if (t.status != SOTTO_OK)
        status = t.status; /* recorded by the sink */
    else if (result != CURLE_OK)
        status = http_curl_judge(broken, result, request->url, text);
    else {
        lib.curl_easy_getinfo(t.curl, CURLINFO_RESPONSE_CODE, &t.head.code);
        if (t.head.code == 416 && request->from > 0)
            goto done; /* nothing behind what is there already */
        TRY(judge_code(t.head.code, request->url));
        if (!t.begun) /* a file without a byte */
            status = sink->begin(sink, &t.head);
    }
done:
    if (t.curl)
        lib.curl_easy_cleanup(t.curl);
    if (started)
        lib.curl_global_cleanup();
    return status;
}

#endif
