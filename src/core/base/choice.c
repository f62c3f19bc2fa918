#include "base/choice.h"

#include "sotto/private/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 63, BEGINNING = 3 /* "lap" is no typing error, but "laplace" is likely */ };

size_t name_distance(const char *a, const char *b)
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

/* Takes the next name of a list, "a, b or c". Returns what follows it; NULL: there the list ends. */
static const char *choice_next(char out[NAME + 1], const char *at)
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
static void choice_squeeze(char out[NAME + 1], const char *name)
{
    while (*name) {
        *out = *name++;
        out += *out != '-' && *out != '_';
    }
    *out = '\0';
}

static size_t choice_distance(const char *given, const char *name)
{
    char a[NAME + 1], b[NAME + 1];
    size_t length = strlen(given);
    choice_squeeze(a, given);
    choice_squeeze(b, name);
    return length >= BEGINNING && strncmp(given, name, length) == 0 ? 1 : name_distance(a, b);
}

void choice_guess(char out[CHOICE_GUESS], const char *given, const char *choices)
{
    char name[NAME + 1], best[NAME + 1] = "";
    size_t length = strlen(given), nearest = length < BEGINNING ? 0 : 2 + length / 6; /* "v5" is no "v2" */
    out[0] = '\0';
    if (length > NAME)
        return;
    while ((choices = choice_next(name, choices))) {
        size_t d = choice_distance(given, name);
        if (d < nearest && d < length && strcmp(given, name) != 0) {
            nearest = d;
            memcpy(best, name, strlen(name) + 1);
        }
    }
    if (best[0])
        snprintf(out, CHOICE_GUESS, "; did you mean '%s'?", best);
}

sotto_status choice_unknown(sotto_status code, const char *subject, const char *given, const char *choices)
{
    char guess[CHOICE_GUESS];
    const char *key = strrchr(subject, ' ');
    choice_guess(guess, given, choices);
    status_fail(code, "%s '%.64s' is unknown; expected %s%s", subject, given, choices, guess);
    status_key(key ? key + 1 : subject);
    return code;
}

size_t sotto_name_distance(const char *a, const char *b)
{
    GIVEN_OR(99, a, b);
    return name_distance(a, b);
}

void sotto_choice_guess(char out[SOTTO_CHOICE_GUESS], const char *given, const char *choices)
{
    GIVEN_OR(, out, given, choices);
    choice_guess(out, given, choices);
}
