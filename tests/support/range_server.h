/* A web server for the tests of downloads: one folder, one request at a time, on a free port of 127.0.0.1.
 * The first part of a path says how it behaves:
 *
 *   /ok/F          honours Range
 *   /norange/F     ignores Range
 *   /cutN/F        honours Range, closes after N bytes of body
 *   /stopN/F       honours Range, never sends byte N of the file or those behind it
 *   /codeN/F       answers N with a short page
 *   /shift/F       answers a Range with bytes from one further on
 *   /nolength/F    sends everything, but not its length
 *   /slow/F        honours Range, 1,000 bytes every 10 ms
 *   /to/REST       redirects to /REST;  /away redirects to a file: address
 *
 * Every request is a line "PATH RANGE" in the log, RANGE being "-" where none was requested. */
#ifndef TESTS_RANGE_SERVER_H
#define TESTS_RANGE_SERVER_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct server_answer {
    char mode[32], file[512], range[64];
    unsigned long long from; /* first byte sent */
    bool ranged;
};

static inline void server_say(int client, const char *text)
{
    (void)!write(client, text, strlen(text));
}

/* Sends bytes [from, end) of the file as the mode says. */
static inline void server_send(int client, int fd, const struct server_answer *a, unsigned long long end)
{
    char block[1000];
    unsigned long long at = a->from, most = end;
    if (strncmp(a->mode, "cut", 3) == 0)
        most = at + strtoull(a->mode + 3, NULL, 10);
    if (strncmp(a->mode, "stop", 4) == 0)
        most = strtoull(a->mode + 4, NULL, 10);
    if (most > end)
        most = end;
    while (at < most) {
        size_t want = most - at < sizeof block ? (size_t)(most - at) : sizeof block;
        ssize_t got = pread(fd, block, want, (off_t)at);
        if (got <= 0 || write(client, block, (size_t)got) != got)
            return;
        at += (unsigned long long)got;
        if (strcmp(a->mode, "slow") == 0)
            nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
}

static inline void server_answer(int client, const char *folder, struct server_answer *a)
{
    char path[1024], head[512];
    struct stat info;
    if (strncmp(a->mode, "code", 4) == 0) {
        snprintf(head, sizeof head, "HTTP/1.1 %s Test\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsorry",
                 a->mode + 4);
        server_say(client, head);
        return;
    }
    if (strcmp(a->mode, "to") == 0 || strcmp(a->mode, "away") == 0) {
        snprintf(path, sizeof path, "%s%s", a->mode[0] == 't' ? "/" : "file:///", a->file);
        snprintf(head, sizeof head,
                 "HTTP/1.1 302 Found\r\nLocation: %.400s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                 path);
        server_say(client, head);
        return;
    }
    snprintf(path, sizeof path, "%s/%s", folder, a->file);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        server_say(client, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    unsigned long long size = (unsigned long long)info.st_size;
    a->ranged = a->ranged && strcmp(a->mode, "norange") != 0 && strcmp(a->mode, "nolength") != 0;
    if (!a->ranged)
        a->from = 0;
    else if (strcmp(a->mode, "shift") == 0)
        a->from++;
    if (a->ranged && a->from >= size)
        snprintf(head, sizeof head,
                 "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */%llu\r\nContent-Length: 0\r\n"
                 "Connection: close\r\n\r\n",
                 size);
    else if (a->ranged)
        snprintf(
            head, sizeof head,
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes %llu-%llu/%llu\r\nContent-Length: %llu\r\n"
            "Connection: close\r\n\r\n",
            a->from, size - 1, size, size - a->from);
    else if (strcmp(a->mode, "nolength") == 0)
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    else
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %llu\r\nConnection: close\r\n\r\n",
                 size);
    server_say(client, head);
    server_send(client, fd, a, size);
    close(fd);
}

static inline void server_client(int client, const char *folder, const char *log)
{
    char request[4096];
    size_t have = 0;
    struct server_answer a = {.range = "-"};
    while (have + 1 < sizeof request) { /* up to the empty line */
        ssize_t got = read(client, request + have, sizeof request - 1 - have);
        if (got <= 0)
            return;
        have += (size_t)got;
        request[have] = '\0';
        if (strstr(request, "\r\n\r\n"))
            break;
    }
    if (sscanf(request, "GET /%31[^/ ]/%511[^ ]", a.mode, a.file) < 1)
        return;
    const char *range = strstr(request, "\r\nRange: bytes=");
    if (range && sscanf(range + 15, "%63[0-9-]", a.range) == 1) {
        a.ranged = true;
        a.from = strtoull(a.range, NULL, 10);
    }
    FILE *f = fopen(log, "a");
    if (f) {
        fprintf(f, "/%s/%s %s\n", a.mode, a.file, a.range);
        fclose(f);
    }
    server_answer(client, folder, &a);
}

/** Listens; returns the socket and its port. */
static inline int server_listen(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        abort();
    *port = ntohs(address.sin_port);
    return fd;
}

/** Serves until it is killed. */
static inline void server_run(int fd, const char *folder, const char *log)
{
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that dies takes its server along */
    for (;;) {
        int client = accept(fd, NULL, NULL);
        if (client < 0)
            continue;
        server_client(client, folder, log);
        shutdown(client, SHUT_WR);
        close(client);
    }
}

#endif
