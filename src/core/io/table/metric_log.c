#include "io/table/metric_log.h"

#include "base/file.h"
#include "io/json/json.h"
#include "io/table/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct metric_log {
    char *path;
    int fd;
};

/* Length of the file up to and with its last line end. */
static sotto_status whole_lines(off_t *length, int fd, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct stat info;
    char block[4096];
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        FAIL(SOTTO_ECREATE, "%s: is not a regular file", path);
    for (off_t end = info.st_size; end > 0;) {
        off_t start = end > (off_t)sizeof block ? end - (off_t)sizeof block : 0;
        ssize_t got = pread(fd, block, (size_t)(end - start), start);
        if (got <= 0)
            FAIL(SOTTO_EIO, "%s: %s", path, got < 0 ? strerror(errno) : "became shorter while it was read");
        const char *line_end = memrchr(block, '\n', (size_t)got);
        if (line_end) {
            *length = start + (line_end - block) + 1;
            return SOTTO_OK;
        }
        end = start;
    }
    *length = 0;
done:
    return status;
}

sotto_status metric_log_open(struct metric_log **out, const char *path)
{
    sotto_status status = SOTTO_OK;
    off_t length = 0;
    struct metric_log *m = NULL;
    NEW(m, 1);
    m->fd = -1;
    NEW_TEXT(m->path, path);
    TRY(file_spare_ledger(path));
    m->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (m->fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", path, strerror(errno));
    TRY(whole_lines(&length, m->fd, path));
    if (ftruncate(m->fd, length) != 0)
        FAIL(SOTTO_EIO, "%s: %s", path, strerror(errno));
    *out = m;
    m = NULL;
done:
    if (m) {
        if (m->fd >= 0)
            close(m->fd);
        base_free(m->path);
        base_free(m);
    }
    return status;
}

sotto_status metric_log_write(struct metric_log *m, uint64_t step, const char *split, const char *name,
                              double value, double wall_s)
{
    sotto_status status = SOTTO_OK;
    if (!m)
        return SOTTO_OK;
    char *text = NULL;
    struct json *line = json_make_object();
    json_put_integer(&line, "step", (int64_t)step);
    json_put_text(&line, "split", split);
    json_put_text(&line, "name", name);
    json_put_real(&line, "value", value);
    json_put_real(&line, "wall_s", wall_s);
    TRY(json_dump(&text, line, JSON_LINE));
    size_t length = strlen(text);
    text[length] = '\n'; /* over the terminator, so that one write holds the whole line */
    for (size_t have = 0; have < length + 1;) {
        ssize_t wrote = write(m->fd, text + have, length + 1 - have);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            FAIL(SOTTO_EIO, "%s: write failed: %s", m->path, strerror(errno));
        have += (size_t)wrote;
    }
done:
    sotto_text_free(text);
    json_free(line);
    return status;
}

sotto_status metric_log_close(struct metric_log *m)
{
    sotto_status status = SOTTO_OK;
    if (!m)
        return SOTTO_OK;
    if (fsync(m->fd) != 0 && errno != EINVAL)
        status = status_fail(SOTTO_EIO, "%s: %s", m->path, strerror(errno));
    close(m->fd);
    base_free(m->path);
    base_free(m);
    return status;
}

struct entry {
    char split[64], name[128];
    int64_t step;
    double value, wall_s;
    size_t first, last; /* lines of the first and of the last entry with this key */
};

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->split, y->split);
    order = order ? order : strcmp(x->name, y->name);
    order = order ? order : (x->step > y->step) - (x->step < y->step);
    return order ? order : (x->last > y->last) - (x->last < y->last);
}

static int by_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static bool same_key(const struct entry *a, const struct entry *b)
{
    return a->step == b->step && strcmp(a->split, b->split) == 0 && strcmp(a->name, b->name) == 0;
}

static sotto_status parse_line(struct entry *e, const char *text, size_t length, const char *path,
                               size_t line)
{
    sotto_status status = SOTTO_OK;
    struct json *j = NULL;
    char where[512];
    snprintf(where, sizeof where, "%.480s:%zu", path, line);
    TRY(json_parse(&j, text, length, where));
    TRY(json_get_integer(&e->step, j, where, "step"));
    TRY(json_get_text_into(e->split, sizeof e->split, j, where, "split"));
    TRY(json_get_text_into(e->name, sizeof e->name, j, where, "name"));
    TRY(json_get_real_or_null(&e->value, j, where, "value"));
    TRY(json_get_real_or_null(&e->wall_s, j, where, "wall_s"));
    e->first = e->last = line;
done:
    json_free(j);
    return status;
}

static sotto_status read_entries(struct entry **out, size_t *count, const char *path)
{
    sotto_status status = SOTTO_OK;
    unsigned char *text = NULL;
    struct entry *entries = NULL;
    size_t size = 0, lines = 0, line = 0;
    TRY(file_read(&text, &size, path, (size_t)1 << 30));
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    NEW(entries, lines + 1);
    for (const char *p = (char *)text, *end; (end = memchr(p, '\n', size - (size_t)(p - (char *)text)));
         p = end + 1) {
        TRY(parse_line(&entries[line], p, (size_t)(end - p), path, line + 1));
        line++;
    }
    *out = entries;
    *count = lines;
    entries = NULL;
done:
    base_free(entries);
    base_free(text);
    return status;
}

/* Sorted by key and line, equal keys are neighbours: keep the last, remember where the first stood. */
static size_t keep_last(struct entry *entries, size_t count)
{
    size_t kept = 0;
    qsort(entries, count, sizeof *entries, by_key);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && same_key(&entries[kept - 1], &entries[i])) {
            size_t first = entries[kept - 1].first;
            entries[kept - 1] = entries[i];
            entries[kept - 1].first = first;
        } else {
            entries[kept++] = entries[i];
        }
    }
    qsort(entries, kept, sizeof *entries, by_first);
    return kept;
}

sotto_status metric_log_export(const char *csv_path, const char *jsonl_path)
{
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {0};
    struct entry *entries = NULL;
    size_t count = 0;
    TRY(read_entries(&entries, &count, jsonl_path));
    count = keep_last(entries, count);
    TRY(atomic_open(&f, csv_path));
    fputs("step,split,name,value,wall_s\n", f.stream);
    for (size_t i = 0; i < count; i++) {
        fprintf(f.stream, "%lld,", (long long)entries[i].step);
        csv_write_text(&f, entries[i].split);
        fputc(',', f.stream);
        csv_write_text(&f, entries[i].name);
        fputc(',', f.stream);
        csv_write_real(&f, entries[i].value);
        fputc(',', f.stream);
        csv_write_real(&f, entries[i].wall_s);
        fputc('\n', f.stream);
    }
    TRY(atomic_commit(&f));
done:
    atomic_discard(&f);
    base_free(entries);
    return status;
}
