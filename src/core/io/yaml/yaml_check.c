/* One value against one row. */
#include "io/text/number.h"
#include "base/choice.h"
#include "io/text/number_interval.h"
#include "io/text/utf8.h"
#include "io/yaml/yaml_private.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *config_expected(char out[CONFIG_PATH_LIMIT], const struct config_row *row)
{
    enum config_kind kind = config_element(row->kind);
    if (kind == CONFIG_FLAG) {
        snprintf(out, CONFIG_PATH_LIMIT, "true or false");
    } else if (kind == CONFIG_TEXT && !row->names) {
        snprintf(out, CONFIG_PATH_LIMIT, "a text");
    } else if (kind == CONFIG_TEXT) {
        size_t used = 0;
        for (const char *p = row->names; *p && used + 6 < CONFIG_PATH_LIMIT; p++) {
            bool last = !strchr(p + 1, '|');
            used +=
                (size_t)(*p != '|' ? snprintf(out + used, CONFIG_PATH_LIMIT - used, "%c", *p)
                                   : snprintf(out + used, CONFIG_PATH_LIMIT - used, last ? " or " : ", "));
        }
    } else {
        struct interval r = interval_read(row->range);
        const char *what = kind == CONFIG_WHOLE ? "a whole number" : "a number";
        if (kind == CONFIG_WHOLE && r.low < 0)
            r.low = 0;
        if (isinf(r.low) && isinf(r.high))
            snprintf(out, CONFIG_PATH_LIMIT, "%s", what);
        else if (isinf(r.high))
            snprintf(out, CONFIG_PATH_LIMIT, "%s %s %g", what, r.low_open ? ">" : ">=", r.low);
        else if (isinf(r.low))
            snprintf(out, CONFIG_PATH_LIMIT, "%s %s %g", what, r.high_open ? "<" : "<=", r.high);
        else
            snprintf(out, CONFIG_PATH_LIMIT, "%s in %c%.10g, %.10g%c", what, r.low_open ? '(' : '[', r.low,
                     r.high, r.high_open ? ')' : ']');
    }
    return out;
}

void config_guess_consider(struct config_guess *best, const char *wanted, const char *candidate,
                           size_t length)
{
    char name[sizeof best->name];
    if (length >= sizeof name)
        return;
    memcpy(name, candidate, length);
    name[length] = '\0';
    size_t d = name_distance(wanted, name), limit = 1 + length / 4;
    if (d <= (limit < 3 ? limit : 3) && (best->name[0] == '\0' || d < best->distance)) {
        best->distance = d;
        memcpy(best->name, name, length + 1);
    }
}

static bool name_allowed(const char *text, const char *names, struct config_guess *guess)
{
    while (names && *names) {
        size_t length = strcspn(names, "|");
        if (strlen(text) == length && memcmp(text, names, length) == 0)
            return true;
        config_guess_consider(guess, text, names, length);
        names += length + (names[length] == '|');
    }
    return false;
}

static bool scalar_fits(const struct yaml_node *node, const struct config_row *row,
                        struct config_guess *guess)
{
    enum config_kind kind = config_element(row->kind);
    int64_t whole;
    double real;
    size_t length = strlen(node->text);
    struct interval r;
    switch (kind) {
    case CONFIG_TEXT:
        return !row->names || name_allowed(node->text, row->names, guess);
    case CONFIG_FLAG:
        return strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0;
    case CONFIG_WHOLE:
        r = interval_read(row->range);
        return number_whole(&whole, node->text, length) && interval_holds(&r, (double)whole);
    default:
        r = interval_read(row->range);
        return number_real(&real, node->text, length) && isfinite(real) && interval_holds(&r, real);
    }
}

static sotto_status yaml_check_refuse(const struct yaml_node *node, const struct config_row *row,
                                      const char *shown, const char *name, const char *expected,
                                      const struct config_guess *guess)
{
    char where[CONFIG_WHERE], text[80], got[100];
    double number;
    if (node->kind != YAML_KIND_SCALAR) {
        snprintf(got, sizeof got, "%s", node->kind == YAML_KIND_LIST ? "a list" : "a section of keys");
    } else {
        utf8_printable(text, sizeof text, node->text, strlen(node->text));
        bool bare =
            config_element(row->kind) != CONFIG_TEXT && number_real(&number, node->text, strlen(node->text));
        snprintf(got, sizeof got, bare ? "%s" : "'%s'", text);
    }
    return status_fail(SOTTO_ECONFIG, "%s: %s must be %s (got %s)%s%s%s", config_where(where, node, name),
                       shown, expected, got, guess->name[0] ? "; did you mean '" : "", guess->name,
                       guess->name[0] ? "'?" : "");
}

sotto_status config_check(const struct yaml_node *node, const struct config_row *row, const char *shown,
                          const char *name)
{
    char expected[CONFIG_PATH_LIMIT], list[CONFIG_PATH_LIMIT + 16], element[CONFIG_PATH_LIMIT + 32];
    struct config_guess guess = {0};
    config_expected(expected, row);
    if (!config_is_list(row->kind)) {
        if (node->kind != YAML_KIND_SCALAR || !scalar_fits(node, row, &guess))
            return yaml_check_refuse(node, row, shown, name, expected, &guess);
        return SOTTO_OK;
    }
    if (node->kind != YAML_KIND_LIST) {
        snprintf(list, sizeof list, "a list, each %s", expected);
        return yaml_check_refuse(node, row, shown, name, list, &guess);
    }
    size_t i = 0;
    for (const struct yaml_node *child = node->first; child; child = child->next, i++) {
        snprintf(element, sizeof element, "%s[%zu]", shown, i);
        if (child->kind != YAML_KIND_SCALAR || yaml_is_null(child) || !scalar_fits(child, row, &guess))
            return yaml_check_refuse(child, row, element, name, expected, &guess);
    }
    return SOTTO_OK;
}
