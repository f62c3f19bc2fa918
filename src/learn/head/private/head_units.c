#include "head/private/head_units.h"

#include "base/memory.h"
#include "dp/mechanism/require.h"
#include "rng/rng.h"

#include <stdlib.h>
#include <string.h>

struct person_row {
    int64_t person;
    uint32_t row;
};

static int by_person(const void *a, const void *b)
{
    const struct person_row *x = a, *y = b;
    if (x->person != y->person)
        return x->person < y->person ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void count_rows(struct head_units *u)
{
    for (size_t p = 0; p < u->count; p++) {
        const size_t rows = u->start[p + 1] - u->start[p];
        const size_t taken = u->per_step && u->per_step < rows ? u->per_step : rows;
        u->capacity = rows > u->capacity ? rows : u->capacity;
        u->most = taken > u->most ? taken : u->most;
        u->total += taken;
    }
}

sotto_status head_units_make(struct head_units *u, const int64_t *persons, size_t n, size_t per_step,
                             uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct person_row *all = NULL;
    *u = (struct head_units){.per_step = per_step, .seed = seed};
    NEW(all, n + 1);
    NEW(u->start, n + 1);
    NEW(u->rows, n + 1);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct person_row){persons[i], (uint32_t)i};
    qsort(all, n, sizeof *all, by_person);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || all[i].person != all[i - 1].person)
            u->start[u->count++] = i;
        u->rows[i] = all[i].row;
    }
    u->start[u->count] = n;
    count_rows(u);
    if (u->most > UNIT_ROWS_IN_STEP) {
        status = status_fail(SOTTO_EINVAL, "a person has %zu rows in a step; expected at most %d", u->most,
                             UNIT_ROWS_IN_STEP);
        status_hint("give {rows_per_step}: so many rows of each person are drawn anew for every step");
    }
done:
    if (status != SOTTO_OK)
        head_units_clear(u);
    base_free(all);
    return status;
}

sotto_status head_units_require(enum sotto_unit unit, const int64_t *persons, size_t per_step,
                                const void *canaries)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(unit != SOTTO_UNIT_PERSON || persons, "unit person: the person of each row is not known; give "
                                                  "the persons, or records that were imported with "
                                                  "them");
    REQUIRE(persons || per_step == 0,
            "rows per step %zu: only a person has rows of which some are drawn; omit it, or give unit person",
            per_step);
    REQUIRE(!persons || !canaries,
            "canaries are single records, and the unit is a person; omit one of the two");
done:
    return status;
}

sotto_status head_units_cap(const struct head_units *u, struct sotto_spend *spend)
{
    sotto_status status = SOTTO_OK;
    if (spend_rows(spend) == 0)
        spend->rows_per_person = u->capacity;
    REQUIRE(u->capacity <= spend_rows(spend), "a person has %zu rows; expected at most %zu, as stated",
            u->capacity, spend_rows(spend));
done:
    return status;
}

void head_units_clear(struct head_units *u)
{
    base_free(u->start);
    base_free(u->rows);
    *u = (struct head_units){0};
}

/* Floyd's way to draw so many of a person's places, each set of them with the same probability. */
static void draw_places(uint32_t *place, size_t drawn, size_t rows, struct rng *random)
{
    size_t count = 0;
    for (size_t last = rows - drawn; last < rows; last++) {
        uint32_t next = (uint32_t)rng_below(random, last + 1);
        for (size_t i = 0; i < count; i++)
            if (place[i] == next)
                next = (uint32_t)last;
        place[count++] = next;
    }
}

size_t head_units_rows(uint32_t *rows, const struct head_units *u, size_t person, size_t step)
{
    const uint32_t *own = u->rows + u->start[person];
    const size_t count = u->start[person + 1] - u->start[person];
    if (!u->per_step || u->per_step >= count) {
        memcpy(rows, own, count * sizeof *rows);
        return count;
    }
    struct rng random = rng_stream(u->seed, RNG_UNIT_ROWS, step, person);
    draw_places(rows, u->per_step, count, &random);
    for (size_t i = 0; i < u->per_step; i++)
        rows[i] = own[rows[i]];
    return u->per_step;
}
