/* Parts of one pool: the first rows of one uniformly random permutation are the public part, the next the
 * private part, and so on. Members and non-members so come from the same distribution, which train against
 * test would not guarantee. */
#include "data/set/split.h"
#include "base/memory.h"
#include "rng/rng.h"

#include <string.h>

sotto_status split_make(struct data_split *out, size_t pool, const size_t sizes[SPLIT_PARTS], uint64_t seed)
{
    REQUIRE_GIVEN(out, sizes);
    sotto_status status = SOTTO_OK;
    struct data_split split = {0};
    int64_t *order = NULL;
    size_t total = 0;
    for (int p = 0; p < SPLIT_PARTS; p++)
        REQUIRE(size_add(&total, total, sizes[p]), "split: the sum of the part sizes is too large");
    REQUIRE(total <= pool, "split: the parts need %zu records; the data set has %zu", total, pool);
    NEW(order, pool);
    for (size_t i = 0; i < pool; i++)
        order[i] = (int64_t)i;
    struct rng random = rng_stream(seed, RNG_SPLIT, 0, 0);
    rng_shuffle(&random, order, pool);
    const int64_t *next = order;
    for (int p = 0; p < SPLIT_PARTS; p++) {
        split.n[p] = sizes[p];
        NEW(split.rows[p], sizes[p]);
        memcpy(split.rows[p], next, sizes[p] * sizeof *next);
        next += sizes[p];
    }
    *out = split;
done:
    base_free(order);
    if (status != SOTTO_OK)
        split_clear(&split);
    return status;
}

void split_clear(struct data_split *s)
{
    GIVEN_OR(, s);
    for (int p = 0; p < SPLIT_PARTS; p++)
        base_free(s->rows[p]);
    *s = (struct data_split){0};
}

const char *part_name(enum split_part part)
{
    static const char *const names[SPLIT_PARTS] = {"public", "private", "heldout", "shadow"};
    return (unsigned)part < SPLIT_PARTS ? names[part] : "unknown";
}
