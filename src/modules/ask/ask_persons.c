#include "ask/ask_persons.h"

#include "base/memory.h"
#include "data/format/csv_table.h"
#include "io/text/number.h"
#include "rng/noise.h"

#include <math.h>
#include <string.h>

sotto_status ask_persons_open(struct ask_persons *p)
{
    sotto_status status = SOTTO_OK;
    struct noise *s = NULL;
    *p = (struct ask_persons){.capacity = 1024};
    TRY(noise_open(&s));
    noise_bytes(s, p->key, sizeof p->key);
    NEW(p->marks, p->capacity);
    NEW(p->counts, p->capacity);
done:
    noise_close(s);
    return status;
}

void ask_persons_close(struct ask_persons *p)
{
    base_wipe(p->key, sizeof p->key);
    base_free(p->marks);
    base_free(p->counts);
    *p = (struct ask_persons){0};
}

bool ask_persons_mark(struct ask_mark *mark, const struct ask_persons *p, const char *text)
{
    double number;
    if (table_names_nobody(text))
        return false;
    if (number_real(&number, text, strlen(text)) && isfinite(number)) {
        char bytes[1 + sizeof number] = {0}; /* begins with a zero, as no text does */
        number += 0;                         /* -0 is 0 */
        memcpy(bytes + 1, &number, sizeof number);
        mark_bytes(mark->words, bytes, sizeof bytes, p->key);
    } else {
        mark_bytes(mark->words, text, strlen(text), p->key);
    }
    return true;
}

/* Where the mark is, or would be. */
static size_t find_mark(const struct ask_persons *p, struct ask_mark mark)
{
    size_t at = mark.words[0] & (p->capacity - 1);
    while (p->counts[at] && memcmp(&p->marks[at], &mark, sizeof mark) != 0)
        at = (at + 1) & (p->capacity - 1);
    return at;
}

static sotto_status grow_persons(struct ask_persons *p)
{
    sotto_status status = SOTTO_OK;
    struct ask_persons old = *p, next = *p;
    next.capacity = 2 * p->capacity;
    next.marks = NULL, next.counts = NULL;
    NEW(next.marks, next.capacity);
    NEW(next.counts, next.capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        if (!old.counts[i])
            continue;
        const size_t at = find_mark(&next, old.marks[i]);
        next.marks[at] = old.marks[i];
        next.counts[at] = old.counts[i];
    }
    *p = next;
    next = old;
done:
    base_free(next.marks);
    base_free(next.counts);
    return status;
}

struct ask_mark ask_persons_in(const struct ask_persons *p, struct ask_mark person, size_t query, size_t cell)
{
    const uint64_t all[4] = {person.words[0], person.words[1], query, cell};
    struct ask_mark mark;
    mark_bytes(mark.words, all, sizeof all, p->key);
    return mark;
}

uint32_t ask_persons_count(const struct ask_persons *p, struct ask_mark mark)
{
    return p->counts[find_mark(p, mark)];
}

sotto_status ask_persons_add(uint32_t *count, struct ask_persons *p, struct ask_mark mark)
{
    sotto_status status = SOTTO_OK;
    if (4 * (p->used + 1) > 3 * p->capacity)
        TRY(grow_persons(p));
    const size_t at = find_mark(p, mark);
    p->used += !p->counts[at];
    p->marks[at] = mark;
    p->counts[at] += p->counts[at] < UINT32_MAX;
    *count = p->counts[at];
done:
    return status;
}
