/* Rows by name, and values of options from text. */
#include "base/status.h"
#include "io/text/number.h"
#include "io/text/number_interval.h"
#include "options/option_values.h"
#include "base/choice.h"
#include "sotto/private/option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool option_listed_in(const char *words, const char *name)
{
    size_t length = strlen(name);
    for (const char *w = words; w && *w; w += strcspn(w, "|"), w += *w == '|')
        if (strcspn(w, "|") == length && strncmp(w, name, length) == 0)
            return true;
    return false;
}

const struct sotto_option *sotto_option_find(const struct sotto_option *table, const char *name)
{
    GIVEN_OR(NULL, table, name);
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0 || strcmp(table->key, name) == 0 ||
            option_listed_in(table->aliases, name) || option_listed_in(table->old_names, name))
            return table;
    return NULL;
}

struct option_words option_words_of(const char *text)
{
    const bool closed = text[0] == '[';
    struct option_words l = {text + closed, text + strlen(text) - closed, false};
    l.more = l.at < l.end;
    return l;
}

const char *option_words_next(struct option_words *l, size_t *length)
{
    const char *word = l->at;
    *length = strcspn(word, ",]");
    l->at += *length;
    l->more = l->at < l->end;
    l->at += l->more;
    l->at += strspn(l->at, " ");
    return word;
}

static sotto_status set_sizes(void *out, const struct sotto_option *row, const char *text)
{
    sotto_status status = SOTTO_OK;
    size_t sizes[32], n = 0;
    const struct interval range = interval_read(row->range);
    const bool none =
        row->range && interval_holds(&range, 0) && (strcmp(text, "0") == 0 || !option_words_of(text).more);
    for (struct option_words l = option_words_of(text); l.more && !none;) {
        int64_t x;
        size_t length;
        const char *word = option_words_next(&l, &length);
        REQUIRE(number_whole(&x, word, length) && x > 0,
                "%s: '%s' is not a list of whole numbers; expected for example 512,128", row->name, text);
        REQUIRE(n < row->capacity, "%s: too many numbers; expected at most %zu", row->name, row->capacity);
        sizes[n++] = (size_t)x;
    }
    memcpy(option_at(out, row->offset), sizes, n * sizeof *sizes);
    memcpy(option_at(out, row->count), none ? &(size_t){SOTTO_NONE} : &n, sizeof n);
done:
    return status;
}

/* "clipping must be l2 or l1 (got 'linf')" */
static sotto_status refuse_choice(const struct sotto_option *row, const char *text)
{
    char names[128], guess[CHOICE_GUESS];
    size_t used = 0;
    for (const char *name = row->range; *name;) {
        size_t length = strcspn(name, "|");
        bool last = !name[length];
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
                                 !used  ? ""
                                 : last ? " or "
                                        : ", ",
                                 (int)length, name);
        name += length + !last;
    }
    choice_guess(guess, text, names);
    return status_fail(SOTTO_EINVAL, "%s must be %s (got '%s')%s", row->name, names, text, guess);
}

static sotto_status set_choice(void *to, const struct sotto_option *row, const char *text)
{
    sotto_status status = SOTTO_OK;
    int number = 0;
    const char *name = row->range;
    while (*name && (strcspn(name, "|") != strlen(text) || strncmp(name, text, strlen(text)) != 0)) {
        name += strcspn(name, "|");
        name += *name == '|';
        number++;
    }
    if (!*name)
        TRY(refuse_choice(row, text));
    memcpy(to, &number, sizeof number);
done:
    return status;
}

/* Also beyond 2^63: what is too large is said by the range. The largest of all is a mark. */
static bool read_whole(uint64_t *out, const char *text)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !*end && !errno && *out != UINT64_MAX;
}

sotto_status option_put(void *out, const struct sotto_option *row, const char *text)
{
    sotto_status status = SOTTO_OK;
    uint64_t whole = 0;
    double real = 0;
    void *to = option_at(out, row->offset);
    switch (row->type) {
    case SOTTO_OPTION_TEXT:
        memcpy(to, &text, sizeof text);
        break;
    case SOTTO_OPTION_FLAG:
        memcpy(to, &(int){strcmp(text, "1") == 0 || strcmp(text, "true") == 0}, sizeof(int));
        break;
    case SOTTO_OPTION_REAL:
        REQUIRE(number_real(&real, text, strlen(text)), "%s: '%s' is not a number", row->name, text);
        memcpy(to, &real, sizeof real);
        break;
    case SOTTO_OPTION_SIZES:
        status = set_sizes(out, row, text);
        break;
    case SOTTO_OPTION_CHOICE:
        status = set_choice(to, row, text);
        break;
    case SOTTO_OPTION_REALS:
    case SOTTO_OPTION_LIST:
    case SOTTO_OPTION_INPUT:
        FAIL(SOTTO_EINVAL, "%s: its value is no single text; set the member itself", row->name);
    default:
        REQUIRE(read_whole(&whole, text), "%s: '%s' is not a whole number >= 0", row->name, text);
        REQUIRE(row->type != SOTTO_OPTION_SEED || whole != SOTTO_SEED_ZERO,
                "%s %llu is too large; expected less than 2^63", row->key, (unsigned long long)whole);
        if (row->type == SOTTO_OPTION_SEED)
            memcpy(to, &whole, sizeof whole);
        else
            memcpy(to, &(size_t){(size_t)whole}, sizeof(size_t));
    }
done:
    if (status != SOTTO_OK)
        status_key(row->key);
    return status;
}
