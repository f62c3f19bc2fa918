#include "run/config/config_members.h"
#include "sotto/private/option.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void config_members_add(struct config_rows *out, const char *prefix, const char *section,
                               struct config_row row)
{
    size_t i = out->count++;
    assert(i < CONFIG_ROWS);
    int length = snprintf(out->path[i], CONFIG_KEY, "%s%s%s", prefix, section, row.path);
    assert(length > 0 && length < CONFIG_KEY);
    (void)length;
    row.path = out->path[i];
    if (row.kind == CONFIG_REALS && row.fallback && row.fallback[0] != '[') {
        snprintf(out->list[i], CONFIG_KEY, "[%s]", row.fallback);
        row.fallback = out->list[i];
    }
    out->row[i] = row;
    out->row[i + 1].path = NULL;
}

void config_rows_add(struct config_rows *out, const char *prefix, const struct config_row *rows)
{
    for (; rows->path; rows++)
        config_members_add(out, prefix, "", *rows);
}

/* "epsilon" of the member target.epsilon. */
static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

static struct config_row row_of(const struct sotto_option *m)
{
    static const enum config_kind kinds[] = {
        [SOTTO_OPTION_FLAG] = CONFIG_FLAG,   [SOTTO_OPTION_TEXT] = CONFIG_TEXT,
        [SOTTO_OPTION_COUNT] = CONFIG_WHOLE, [SOTTO_OPTION_SEED] = CONFIG_WHOLE,
        [SOTTO_OPTION_REAL] = CONFIG_REAL,   [SOTTO_OPTION_SIZES] = CONFIG_WHOLES,
        [SOTTO_OPTION_CHOICE] = CONFIG_TEXT, [SOTTO_OPTION_REALS] = CONFIG_REALS,
        [SOTTO_OPTION_LIST] = CONFIG_TEXTS};
    bool text = m->type == SOTTO_OPTION_TEXT || m->type == SOTTO_OPTION_CHOICE;
    return (struct config_row){.path = last_part(m->key),
                               .kind = kinds[m->type],
                               .fallback = m->type == SOTTO_OPTION_SIZES  ? "[]"
                                           : m->type == SOTTO_OPTION_FLAG ? "false"
                                                                          : m->value,
                               .range = text ? NULL : m->range,
                               .names = text ? m->range : NULL,
                               .help = m->help};
}

/* The next of "epochs|lr" and its row; NULL behind the last. */
static const struct sotto_option *config_members_next(const char **keys, const struct config_members *m)
{
    char key[CONFIG_KEY];
    size_t length = strcspn(*keys, "|");
    if (!length)
        return NULL;
    snprintf(key, sizeof key, "%.*s", (int)length, *keys);
    *keys += length + ((*keys)[length] == '|');
    const struct sotto_option *row = sotto_option_find(m->table, key);
    assert(row);
    return row;
}

void config_rows_add_members(struct config_rows *out, const char *prefix, const struct config_members *m)
{
    const char *keys = m->keys;
    for (const struct sotto_option *row; (row = config_members_next(&keys, m));) {
        struct config_row made = row_of(row);
        if (m->optional)
            made.fallback = NULL;
        config_members_add(out, prefix, m->section, made);
    }
}

static sotto_status read_sizes(char *out, const struct sotto_option *row, const struct config *c,
                               const char *path)
{
    sotto_status status = SOTTO_OK;
    size_t n = config_length(c, "%s", path);
    if (n > row->capacity)
        TRY(config_fail(c, path, "%s has %zu entries; expected at most %zu", path, n, row->capacity));
    for (size_t i = 0; i < n; i++)
        ((size_t *)(void *)(out + row->offset))[i] = config_whole(c, "%s[%zu]", path, i);
    *(size_t *)(void *)(out + row->count) = n;
done:
    return status;
}

sotto_status config_members_read(void *out, char (*texts)[CONFIG_MEMBER_TEXT], const struct config *c,
                                 const char *prefix, const struct config_members *m)
{
    sotto_status status = SOTTO_OK;
    const char *keys = m->keys;
    for (const struct sotto_option *row; (row = config_members_next(&keys, m));) {
        char path[128];
        void *to = (char *)out + row->offset;
        snprintf(path, sizeof path, "%s%s%s", prefix, m->section, last_part(row->key));
        if (m->optional && !config_given(c, "%s", path))
            continue;
        const char *text = row->type == SOTTO_OPTION_TEXT ? config_text(c, "%s", path) : NULL;
        if (text && strlen(text) >= CONFIG_MEMBER_TEXT)
            TRY(config_fail(c, path, "%s is too long; expected at most %d bytes", path,
                            CONFIG_MEMBER_TEXT - 1));
        if (text) {
            strcpy(*texts, text);
            *(const char **)to = *texts++;
        } else if (row->type == SOTTO_OPTION_CHOICE) {
            TRY(sotto_option_set(out, row, config_text(c, "%s", path)));
        } else if (row->type == SOTTO_OPTION_FLAG) {
            *(int *)to = config_flag(c, "%s", path);
        } else if (row->type == SOTTO_OPTION_REAL) {
            const double value = config_real(c, "%s", path);
            *(double *)to =
                m->optional ? sotto_given_real(value) : value; /* beside members that are not given */
        } else if (row->type == SOTTO_OPTION_COUNT) {
            *(size_t *)to = config_whole(c, "%s", path);
        } else if (row->type == SOTTO_OPTION_SIZES) {
            TRY(read_sizes(out, row, c, path));
        }
    }
done:
    return status;
}
