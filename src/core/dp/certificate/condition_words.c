/* Certificates name conditions as they were written into ledgers: by nouns, clauses, or a caller's own words. A person who signs
 * must know what is to be true, so each of them becomes a sentence here; the documents stay as they are. */
#include "dp/certificate/condition_words.h"
#include "base/status.h"
#include "sotto/account.h"
#include "sotto/private/print.h"

#include <stdio.h>
#include <string.h>

static const char between[] = ", and on ";

/* A condition that begins and ends so becomes `before`, what is left of it, and `after`; NULL: nothing is left of it. */
static const struct pattern {
    const char *begin, *end, *before, *after;
} patterns[] = {
    {"the sensitivity stated by the caller", "",
     "One unit of privacy changes the values by no more than the sensitivity that the caller stated.", NULL},
    {"the sampled sensitivity", "",
     "One unit of privacy changes the values by no more than the largest change that was seen in sampled "
     "pairs.",
     NULL},
    {"the sensitivity, which was NOT re-derived", "",
     "One unit of privacy changes the values by no more than the certificate says, which was not derived "
     "again here.",
     NULL},
    {"the encoding of the table was fitted on these records", "",
     "The encoding of the table would be the same without these records; it was fitted on them, and no "
     "epsilon here accounts for that.",
     NULL},
    {"float sums that one record moves by at most C in a step (measured, not proved)", "",
     "One record moves the floating-point sum of each step by at most the clipping norm, which was measured "
     "and not proved.",
     NULL},
    {"what its file says of recipe and records", "",
     "The file says truly by which recipe and from how many records it was made; an early version bound its "
     "weights to neither.",
     NULL},
    {"all else that shaped the columns not depending on these records either", "",
     "All else that shaped the columns does not depend on these records either.", NULL},
    {"that a person has at most ", ", as stated by the caller", "A person has at most ",
     " in these records."},
    {"the encoder: its own certificate adds ", " for the same records (see fine_tuning)",
     "These records pay for the encoder too, so its guarantee is added to this one: ", "."},
    {"", CONDITION_READ_FROM_DATA, "The choice of ",
     " tells nothing about the records, although it was read from the private data."},
    {"the ", " not depend on these records", "The ", " not depend on these records."},
    {"that ", "", "It is true that ", "."},
    {"", "", "This is true, in the words of the caller: ", "."},
};

static bool pattern_fits(const struct pattern *p, const char *text, size_t length)
{
    const size_t begin = strlen(p->begin), end = strlen(p->end);
    return begin + end <= length && memcmp(text, p->begin, begin) == 0 &&
           memcmp(text + length - end, p->end, end) == 0;
}

bool condition_next(char out[CONDITION_SENTENCE], const char **conditions)
{
    const char *text = *conditions;
    if (!text || !text[0])
        return false;
    const char *stop = strstr(text, between);
    const size_t length = stop ? (size_t)(stop - text) : strlen(text);
    const struct pattern *p = patterns;
    while (!pattern_fits(p, text, length))
        p++;
    const size_t kept = length - strlen(p->begin) - strlen(p->end);
    snprintf(out, CONDITION_SENTENCE, "%s%.*s%s", p->before, p->after ? (int)kept : 0,
             text + strlen(p->begin), p->after ? p->after : "");
    *conditions = stop ? stop + strlen(between) : text + length;
    return true;
}

sotto_status sotto_account_condition(struct sotto_account *account, const char *const *read_from_data)
{
    sotto_status status = SOTTO_OK;
    char noun[CONDITION_TEXT], sentence[CONDITION_SENTENCE], note[sizeof sentence + sizeof account->note];
    const char *conditions = noun;
    int length = 0;
    REQUIRE_GIVEN(account, read_from_data);
    for (const char *const *name = read_from_data; *name && length < CONDITION_TEXT; name++)
        length +=
            snprintf(noun + length, CONDITION_TEXT - (size_t)length, "%s%s", length ? " and " : "", *name);
    if (length < CONDITION_TEXT)
        length += snprintf(noun + length, CONDITION_TEXT - (size_t)length, CONDITION_READ_FROM_DATA);
    if (length < CONDITION_TEXT && condition_next(sentence, &conditions))
        length = snprintf(note, sizeof note, "only if this is true: %s", sentence);
    if (length >= (int)sizeof account->note)
        FAIL(SOTTO_EUSAGE, "read-from-data: the names are too long; give fewer");
    if (account->note[0])
        snprintf(note + length, sizeof note - (size_t)length, " Besides, %s", account->note);
    snprintf(account->note, sizeof account->note, "%.*s", (int)sizeof account->note - 1, note);
done:
    return status;
}
