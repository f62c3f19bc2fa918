/* Did you mean? The nearest of the names that were expected: of a list in the program, or in the text of an error, so that no
 * check of a name has to look for it. */
#include "options/options_private.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 63, BEGINNING = 3 /* "lap" is no typing error, but "laplace" is likely */ };

/* Edit distance of short names; two letters that changed places are one mistake. */
static size_t guess_distance(const char *a, const char *b)
{
    size_t rows[3][NAME + 1], m = strlen(a), n = strlen(b);
    if (m > NAME || n > NAME)
        return 99;
    for (size_t i = 0; i <= m; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < row[j])
                row[j] = above[j] + 1;
            if (row[j - 1] + 1 < row[j])
                row[j] = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    return rows[m % 3][n];
}

void nearest_consider(struct nearest *best, const char *wanted, const char *candidate)
{
    size_t d = guess_distance(wanted, candidate);
    if (d < best->distance) {
        best->distance = d;
        best->name = candidate;
    }
}

/* The text in quotes that ends last before `end`; false: none of a usual length. */
static bool last_quoted(char out[NAME + 1], const char *text, const char *end)
{
    const char *close = end, *open;
    while (close > text && *close != '\'')
        close--;
    for (open = close; open > text && open[-1] != '\'';)
        open--;
    if (open == text || open == close || close - open > NAME)
        return false;
    memcpy(out, open, (size_t)(close - open));
    out[close - open] = '\0';
    return true;
}

/* Takes the next name of a list, "a, b or c". Returns what follows it; NULL: there the list ends. */
static const char *next_name(char out[NAME + 1], const char *at)
{
    static const char *const between[] = {", or ", ", ", " or "};
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        if (strncmp(at, between[i], strlen(between[i])) == 0) {
            at += strlen(between[i]);
            break;
        }
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    if (n == 0 || n > NAME)
        return NULL;
    memcpy(out, at, n);
    out[n] = '\0';
    return at + n;
}

/* dp_sgd and dpsgd are dp-sgd. */
static void guess_squeeze(char out[NAME + 1], const char *name)
{
    while (*name) {
        *out = *name++;
        out += *out != '-' && *out != '_';
    }
    *out = '\0';
}

static size_t name_distance(const char *wanted, const char *name)
{
    char a[NAME + 1], b[NAME + 1];
    size_t length = strlen(wanted);
    guess_squeeze(a, wanted);
    guess_squeeze(b, name);
    return length >= BEGINNING && strncmp(wanted, name, length) == 0 ? 1 : guess_distance(a, b);
}

void name_guess(char *out, size_t capacity, const char *error)
{
    static const char *const starts[] = {"; expected one of: ", "; expected one of ", "; expected ",
                                         " must be "};
    const char *at = NULL, *end = NULL;
    char wanted[NAME + 1], name[NAME + 1], best[NAME + 1] = "";
    snprintf(out, capacity, "%s", error);
    for (size_t i = 0; !at && i < sizeof starts / sizeof *starts; i++) {
        at = end = strstr(error, starts[i]);
        at = at ? at + strlen(starts[i]) : NULL;
    }
    if (at && end[0] == ' ') /* --option must be a, b or c (got 'd') */
        end = strstr(at, "')");
    if (!at || !end || !last_quoted(wanted, error, end[0] == ';' ? end : end + 1))
        return;
    size_t length = strlen(wanted), nearest = length < BEGINNING ? 0 : 2 + length / 6; /* "v5" is no "v2" */
    while ((at = next_name(name, at))) {
        size_t d = name_distance(wanted, name);
        if (d < nearest && d < length && strcmp(wanted, name) != 0) {
            nearest = d;
            memcpy(best, name, strlen(name) + 1);
        }
    }
    if (best[0])
        snprintf(out + strlen(out), capacity - strlen(out), "; did you mean '%s'?", best);
}
