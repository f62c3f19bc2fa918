/* A download is a growing NAME.part, hashed as its bytes arrive. Whatever interrupts it, the next
 * call hashes what is there and asks the server for the rest (Range); a server that cannot continue sends
 * everything, and the file starts over. Only when length and hash are those recorded does it get its name. A
 * file that was continued and came out wrong is fetched once more from its first byte: its beginning may have
 * been stale. */
#include "data/fetch/download.h"

#include "base/file.h"
#include "base/sha256.h"
#include "data/fetch/http.h"
#include "data/files/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

const struct download_patience download_default_patience = {.tries = 20, .pause_ms = 1000};

enum { BLOCK = 1 << 16, UNPACKED_LIMIT = 1 << 30 };

struct growing {
    struct http_sink sink; /* first, so that the two pointers are the same */
    const struct remote_file *file;
    const struct sotto_context *ctx;
    const char *path, *url;
    int fd;
    uint64_t have, total; /* total 0: not known */
    struct sha256 sha;    /* of the bytes so far */
    bool wrong;           /* these bytes are not the beginning of the recorded file: useless */
};

static sotto_status start_over(struct growing *g)
{
    sotto_status status = SOTTO_OK;
    if (ftruncate(g->fd, 0) != 0 || lseek(g->fd, 0, SEEK_SET) != 0)
        FAIL(SOTTO_EIO, "%s: %s", g->path, strerror(errno));
    g->have = 0;
    sha256_init(&g->sha);
done:
    return status;
}

static sotto_status hash_what_is_there(struct growing *g)
{
    sotto_status status = SOTTO_OK;
    unsigned char block[BLOCK];
    struct stat info;
    ssize_t got;
    sha256_init(&g->sha);
    g->have = 0;
    if (fstat(g->fd, &info) != 0 || lseek(g->fd, 0, SEEK_SET) != 0)
        FAIL(SOTTO_EIO, "%s: %s", g->path, strerror(errno));
    if (g->file->bytes && (uint64_t)info.st_size > g->file->bytes) {
        TRY(start_over(g));
        goto done;
    }
    while ((got = read(g->fd, block, sizeof block)) > 0) {
        sha256_update(&g->sha, block, (size_t)got);
        g->have += (uint64_t)got;
        context_progress(g->ctx, "check", g->have, (uint64_t)info.st_size, "bytes");
        if (context_stopped(g->ctx))
            FAIL(SOTTO_ESTOPPED, "%s: stopped", g->url);
    }
    if (got < 0)
        FAIL(SOTTO_EIO, "%s: %s", g->path, strerror(errno));
done:
    return status;
}

static sotto_status check_space(const struct growing *g)
{
    struct statvfs disk;
    if (g->total <= g->have || fstatvfs(g->fd, &disk) != 0)
        return SOTTO_OK;
    uint64_t space = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (g->total - g->have <= space)
        return SOTTO_OK;
    return status_fail(SOTTO_EIO, "%s: %llu more bytes are needed on the disk, but only %llu are free",
                       g->path, (unsigned long long)(g->total - g->have), (unsigned long long)space);
}

static sotto_status download_begin(struct http_sink *sink, const struct http_head *head)
{
    sotto_status status = SOTTO_OK;
    struct growing *g = (struct growing *)sink;
    if (head->code == 206 && head->start != g->have)
        FAIL(SOTTO_EIO, "%s: the bytes from %llu on were requested, but the server sends those from %llu on",
             g->url, (unsigned long long)g->have, (unsigned long long)head->start);
    if (g->file->bytes && head->total && head->total != g->file->bytes)
        FAIL(SOTTO_EFORMAT, "%s: has %llu bytes; expected %llu", g->url, (unsigned long long)head->total,
             (unsigned long long)g->file->bytes);
    if (head->code == 200 && g->have > 0) {
        context_log(g->ctx, SOTTO_LOG_INFO,
                    "this server cannot continue a download, so it starts again from the beginning");
        TRY(start_over(g));
    }
    g->total = g->file->bytes ? g->file->bytes : head->total;
    TRY(check_space(g));
done:
    return status;
}

static sotto_status download_take(struct http_sink *sink, const void *data, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    struct growing *g = (struct growing *)sink;
    g->wrong = g->total && bytes > g->total - g->have;
    if (g->wrong)
        FAIL(SOTTO_EFORMAT, "%s: the server sends more than the %llu bytes expected", g->url,
             (unsigned long long)g->total);
    for (size_t done_bytes = 0; done_bytes < bytes;) {
        ssize_t put = write(g->fd, (const char *)data + done_bytes, bytes - done_bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            FAIL(SOTTO_EIO, "%s: write failed: %s", g->path, strerror(errno));
        done_bytes += (size_t)put;
    }
    sha256_update(&g->sha, data, bytes);
    g->have += bytes;
    context_progress(g->ctx, "download", g->have, g->total, "bytes");
done:
    return status;
}

/* A stopped or broken transfer is no loss: say where it will go on. */
static void hint_at_resumption(const struct growing *g)
{
    if (g->have > 0)
        status_hint("%llu bytes are kept; run the same command again to continue there",
                    (unsigned long long)g->have);
}

static sotto_status download_transfer(struct growing *g, bool plain_http,
                                      const struct download_patience *patience)
{
    sotto_status status = SOTTO_OK;
    for (int attempt = 1; g->file->bytes == 0 || g->have < g->file->bytes; attempt++) {
        const struct http_request request = {g->url, g->have, plain_http};
        uint64_t before = g->have;
        bool broken;
        status = http_get(&g->sink, &broken, &request, g->ctx);
        if (status == SOTTO_OK && g->total &&
            g->have < g->total) { /* no length was sent, the file is short */
            broken = true;
            status = status_fail(SOTTO_EIO, "%s: ended after %llu of %llu bytes", g->url,
                                 (unsigned long long)g->have, (unsigned long long)g->total);
        }
        if (status == SOTTO_OK)
            break;
        if (!broken || g->have <= before || attempt >= patience->tries) {
            hint_at_resumption(g);
            break;
        }
        context_log(g->ctx, SOTTO_LOG_INFO, "%s; continuing", sotto_error_text());
        const struct timespec pause = {patience->pause_ms / 1000, patience->pause_ms % 1000 * 1000000L};
        nanosleep(&pause, NULL);
    }
    return status;
}

/* Whether the contents of a finished file are the recorded ones. EFORMAT says what they are. */
static sotto_status check_contents(struct growing *g)
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes = {0};
    char hex[SHA256_HEX];
    const char *wanted = g->file->sha256, *of = "";
    g->wrong = true;
    if (g->file->bytes && g->have != g->file->bytes)
        FAIL(SOTTO_EFORMAT, "%s: has %llu bytes; expected %llu", g->url, (unsigned long long)g->have,
             (unsigned long long)g->file->bytes);
    sha256_hex(&g->sha, hex);
    if (!wanted) {
        wanted = g->file->unpacked_sha256;
        of = "what it holds ";
        TRY(file_read_asking(&bytes.owned, &bytes.size, g->path, UNPACKED_LIMIT, g->ctx));
        bytes.data = bytes.owned;
        status = bytes_gunzip(&bytes, UNPACKED_LIMIT, g->ctx);
        if (status != SOTTO_OK) {
            status_prefix(g->url);
            goto done;
        }
        sha256_of(hex, bytes.data, bytes.size);
    }
    if (strcmp(hex, wanted) != 0)
        FAIL(SOTTO_EFORMAT, "%s: %shas SHA-256 %s; expected %s", g->url, of, hex, wanted);
    g->wrong = false;
done:
    bytes_clear(&bytes);
    return status;
}

static sotto_status download_grow(struct growing *g, bool plain_http,
                                  const struct download_patience *patience)
{
    sotto_status status = SOTTO_OK;
    for (int round = 0;; round++) {
        TRY(hash_what_is_there(g));
        bool continued = g->have > 0;
        if (continued)
            context_log(g->ctx, SOTTO_LOG_INFO, "%llu bytes of %s are here already",
                        (unsigned long long)g->have, g->file->name);
        status = download_transfer(g, plain_http, patience);
        if (status == SOTTO_OK)
            status = check_contents(g);
        if (status == SOTTO_OK || !g->wrong)
            goto done;
        g->wrong = false;
        struct status_record record; /* bytes that are known to be wrong are not kept */
        status_get(&record);
        unlink(g->path);
        if (!continued || round > 0) {
            status_set(&record);
            status_hint(
                "the download was removed; the file may have changed on the server or during the transfer");
            goto done;
        }
        context_log(
            g->ctx, SOTTO_LOG_WARNING,
            "%s; it was continued from an older download, so it is downloaded again from the beginning",
            record.text);
        close(g->fd);
        g->fd = open(g->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (g->fd < 0 || flock(g->fd, LOCK_EX | LOCK_NB) != 0)
            FAIL(SOTTO_ECREATE, "%s: cannot create: %s", g->path, strerror(errno));
    }
done:
    return status;
}

sotto_status download_check_url(const char *url, bool plain_http)
{
    static const char *const loopback[] = {"127.0.0.1", "localhost", "[::1]"};
    if (strncmp(url, "https://", 8) == 0 && url[8])
        return SOTTO_OK;
    if (strncmp(url, "http://", 7) != 0 || !url[7])
        return status_fail(SOTTO_EUSAGE, "'%.200s' is not an address that starts with https://", url);
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback && !strchr(url, '@'); i++) {
        size_t n = strlen(loopback[i]);
        if (strncmp(url + 7, loopback[i], n) == 0 &&
            (url[7 + n] == ':' || url[7 + n] == '/')) /* no eavesdropper on this machine's loopback */
            return SOTTO_OK;
    }
    return plain_http ? SOTTO_OK
                      : status_fail(SOTTO_EUSAGE,
                                    "'%.200s': http is neither private nor authenticated; use https://", url);
}

sotto_status download_file(const char *folder, const char *url, const struct remote_file *file,
                           bool plain_http, const struct download_patience *patience,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct growing g = {
        .sink = {download_begin, download_take}, .file = file, .ctx = ctx, .url = url, .fd = -1};
    char final[4096], part[4096 + 8];
    TRY(download_check_url(url, plain_http));
    TRY(path_join(final, sizeof final, folder, file->name));
    snprintf(part, sizeof part, "%s.part", final);
    bool there = file_exists(final);
    g.path = there ? final : part;
    g.fd = open(g.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (g.fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", g.path, strerror(errno));
    if (flock(g.fd, LOCK_EX | LOCK_NB) != 0) {
        status = status_fail(SOTTO_EAGAIN, "%s: another process is downloading it", g.path);
        close(g.fd);
        return status;
    }
    if (there) {
        TRY(hash_what_is_there(&g));
        if (check_contents(&g) == SOTTO_OK)
            goto done;
        close(g.fd); /* damaged since: a download like any other, from the first byte */
        unlink(final);
        return download_file(folder, url, file, plain_http, patience, ctx);
    }
    TRY(download_grow(&g, strncmp(url, "http://", 7) == 0, patience ? patience : &download_default_patience));
    if (fsync(g.fd) != 0)
        FAIL(SOTTO_EIO, "%s: %s", part, strerror(errno));
    if (rename(part, final) != 0)
        FAIL(SOTTO_ECREATE, "%s: cannot rename into place: %s", final, strerror(errno));
    TRY(folder_sync(folder));
done:
    if (status != SOTTO_OK && g.fd >= 0 && g.have == 0)
        unlink(part); /* nothing came, nothing stays */
    if (g.fd >= 0)
        close(g.fd);
    return status;
}
