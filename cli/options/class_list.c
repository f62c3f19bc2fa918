#include "options/class_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

void class_list_clear(struct class_list *l)
{
    for (size_t k = 0; l->names && k < l->count; k++)
        free(l->names[k]);
    free(l->names);
    *l = (struct class_list){0};
}

static int class_list_position(char *const *names, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(names[k], name) == 0)
            return (int)k;
    return -1;
}

static sotto_status add_name(struct class_list *l, const char *line, const char *path)
{
    if (line[0] == '\0')
        return cli_fail(SOTTO_EFORMAT, "%s: line %zu is empty; expected one class name a line", path,
                        l->count + 1);
    int first = class_list_position(l->names, l->count, line);
    if (first >= 0)
        return cli_fail(SOTTO_EFORMAT,
                        "%s: '%.80s' is listed twice (lines %d and %zu); expected every class once", path,
                        line, first + 1, l->count + 1);
    if (l->count == MOST)
        return cli_fail(SOTTO_EFORMAT, "%s: too many classes; expected at most %d", path, MOST);
    char **names = realloc(l->names, (l->count + 1) * sizeof *names);
    if (names)
        l->names = names;
    if (!names || !(names[l->count] = strdup(line)))
        return cli_fail(SOTTO_ENOMEM, "%s: out of memory", path);
    l->count++;
    return SOTTO_OK;
}

static sotto_status read_names(struct class_list *l, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    sotto_status status = SOTTO_OK;
    if (!file)
        return cli_fail(SOTTO_ENOENT,
                        "--classes: cannot open %s (%s); expected a number of classes or a file of names",
                        path, strerror(errno));
    while (status == SOTTO_OK && (length = getline(&line, &capacity, file)) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        status = add_name(l, line, path);
    }
    if (status == SOTTO_OK && ferror(file))
        status = cli_fail(SOTTO_EIO, "%s: reading failed", path);
    if (status == SOTTO_OK && l->count == 0)
        status = cli_fail(SOTTO_EFORMAT, "%s: is empty; expected one class name a line", path);
    free(line);
    fclose(file);
    return status;
}

sotto_status class_list_read(struct class_list *out, const struct options *o)
{
    const char *text = option_text(o, "classes");
    *out = (struct class_list){0};
    if (!text)
        return SOTTO_OK;
    if (text[strspn(text, "0123456789")] != '\0')
        return read_names(out, text);
    unsigned long long count = strtoull(text, NULL, 10);
    if (count == 0 || count > MOST)
        return cli_fail(SOTTO_EUSAGE, "--classes: %s; expected 1 to %d, or a file with one class name a line",
                        text, MOST);
    out->count = (size_t)count;
    return SOTTO_OK;
}

void class_list_translate(int64_t *labels, size_t n, const char *const *from, size_t count,
                          const struct class_list *to)
{
    for (size_t i = 0; i < n; i++)
        labels[i] = labels[i] >= 0 && (uint64_t)labels[i] < count
                        ? class_list_position(to->names, to->count, from[labels[i]])
                        : -1;
}
