#include "base/file_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void name_machine(char out[160])
{
    char boot[64] = "", space[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (f && !fgets(boot, sizeof boot, f))
        boot[0] = 0;
    if (f)
        fclose(f);
    boot[strcspn(boot, "\n")] = 0;
    const ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[length > 0 ? length : 0] = 0;
    snprintf(out, 160, "%s/%s", boot[0] ? boot : "?", space[0] ? space : "?");
}

void holder_self(struct holder *out)
{
    struct tm utc;
    const time_t now = time(NULL);
    *out = (struct holder){.process = (long)getpid()};
    if (gethostname(out->host, sizeof out->host - 1) != 0 || !out->host[0])
        strcpy(out->host, "?");
    name_machine(out->machine);
    if (gmtime_r(&now, &utc))
        strftime(out->since, sizeof out->since, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

size_t holder_line(char out[HOLDER_LINE], const struct holder *h)
{
    return (size_t)snprintf(out, HOLDER_LINE, "%s %ld %s %s\n", h->host, h->process, h->machine, h->since);
}

/* What is shown to people is printable, whatever the file holds. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

bool holder_read(struct holder *out, const char *path)
{
    char line[HOLDER_LINE] = "";
    *out = (struct holder){.process = 0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0 ||
        sscanf(line, "%71s %ld %159s %31s", out->host, &out->process, out->machine, out->since) < 3) {
        *out = (struct holder){.process = 0};
        return false;
    }
    make_printable(out->host);
    make_printable(out->since);
    return true;
}

bool holder_same(const struct holder *a, const struct holder *b)
{
    return a->process == b->process && strcmp(a->host, b->host) == 0 && strcmp(a->machine, b->machine) == 0;
}

bool holder_is_gone(const struct holder *h, const struct holder *self)
{
    return h->process > 0 && !strchr(self->machine, '?') && strcmp(h->host, self->host) == 0 &&
           strcmp(h->machine, self->machine) == 0 && kill((pid_t)h->process, 0) != 0 && errno == ESRCH;
}
