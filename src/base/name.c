/* A name is near to another one if few letters must change, or if it is a part of it: "dpsgd" and "func" mean dp-sgd and
 * functional. */
#include "base/name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FAR = 99, MOST = 3 /* changes */, PART = 3 /* letters that tell a name */, SHOWN = 300 };

/* Letters that are changed, left out, put in, or swapped with the next one. */
static size_t distance(const char *a, const char *b)
{
    unsigned char d[SOTTO_NAME_GUESS][SOTTO_NAME_GUESS];
    const size_t m = strlen(a), n = strlen(b);
    if (m >= SOTTO_NAME_GUESS || n >= SOTTO_NAME_GUESS)
        return FAR;
    for (size_t i = 0; i <= m; i++)
        for (size_t j = 0; j <= n; j++) {
            size_t least = i + j;
            if (i && j)
                least = d[i - 1][j - 1] + (size_t)(a[i - 1] != b[j - 1]);
            if (i && j && d[i - 1][j] + 1u < least)
                least = d[i - 1][j] + 1u;
            if (i && j && d[i][j - 1] + 1u < least)
                least = d[i][j - 1] + 1u;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1u < least)
                least = d[i - 2][j - 2] + 1u;
            d[i][j] = (unsigned char)least;
        }
    return d[m][n];
}

/* In thirds of a change, as a beginning counts two changes and another part a little more. */
static size_t nearness(const char *asked, const char *name)
{
    const size_t d = distance(asked, name), n = strlen(asked), limit = 1 + strlen(name) / 4;
    const char *part = n >= PART ? strstr(name, asked) : NULL;
    if (d <= (limit < MOST ? limit : MOST) && d < n)
        return 3 * d;
    return part == name ? 6 : part ? 7 : FAR;
}

void name_consider(char guess[SOTTO_NAME_GUESS], const char *asked, const char *name, size_t length)
{
    char one[SOTTO_NAME_GUESS];
    if (length >= sizeof one)
        return;
    memcpy(one, name, length);
    one[length] = '\0';
    if (nearness(asked, one) < (guess[0] ? nearness(asked, guess) : FAR))
        memcpy(guess, one, length + 1);
}

void sotto_name_guess(char guess[SOTTO_NAME_GUESS], const char *asked, const char *names)
{
    for (const char *at = names; *at;) {
        const char *word = at + strspn(at, "|, "), * or = strstr(word, " or ");
        size_t length = strcspn(word, "|,");
        if (or &&(size_t)(or -word) < length)
            length = (size_t)(or -word);
        name_consider(guess, asked, word, length);
        at = word + length;
        at += at == or ? sizeof " or " - 1 : 0;
    }
}

const char *name_hint(char out[NAME_HINT], const char *guess)
{
    snprintf(out, NAME_HINT, guess[0] ? "; did you mean '%s'?" : "", guess);
    return out;
}

sotto_status name_unknown(sotto_status code, const char *what, const char *asked, const char *names)
{
    char guess[SOTTO_NAME_GUESS] = "", hint[NAME_HINT];
    sotto_name_guess(guess, asked ? asked : "", names);
    size_t shown = strlen(names);
    bool cut = guess[0] && shown > SHOWN; /* so that the guess has room */
    for (shown = cut ? SHOWN : shown; cut && names[shown] != ','; shown--)
        ;
    return status_fail(code, "%s '%.64s' is unknown; expected %.*s%s%s", what, asked ? asked : "", (int)shown,
                       names, cut ? ", ..." : "", name_hint(hint, guess));
}
