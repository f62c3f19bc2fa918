#include "attack/shadow/shadow_split.h"

#include "rng/rng.h"

#include <string.h>

static void shadow_split_number(int64_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
}

sotto_status shadow_split_draw(uint8_t *use, size_t models, size_t n, size_t in, bool disjoint, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    int64_t *order = NULL;
    size_t needed;
    REQUIRE(models > 0 && in > 0, "shadows: %zu models of %zu records; both must be > 0", models, in);
    REQUIRE(
        size_multiply(&needed, disjoint ? models : 1, 2) && size_multiply(&needed, needed, in) && needed <= n,
        disjoint ? "shadows: %zu records per shadow are needed to train %zu disjoint shadows, and as many "
                   "again for comparison; the attacker has %zu; give fewer shadows or records, or omit "
                   "{disjoint}"
                 : "shadows: %zu records per shadow are needed to train %zu shadow, and as many again for "
                   "comparison; the attacker has %zu",
        in, disjoint ? models : (size_t)1, n);
    NEW(order, n);
    memset(use, SHADOW_UNUSED, models * n);
    for (size_t m = 0; m < models; m++) {
        size_t first = disjoint ? m * 2 * in : 0;
        if (m == 0 || !disjoint) {
            struct rng r = rng_stream(seed, RNG_SPLIT, 1, m);
            shadow_split_number(order, n);
            rng_shuffle(&r, order, n);
        }
        for (size_t i = 0; i < 2 * in; i++)
            use[m * n + (size_t)order[first + i]] = i < in ? SHADOW_IN : SHADOW_OUT;
    }
done:
    base_free(order);
    return status;
}

sotto_status shadow_split_halves(uint8_t *use, size_t models, size_t n, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    int64_t *order = NULL;
    REQUIRE(models >= 4 && models % 2 == 0, "shadows: %zu models; expected an even number >= 4", models);
    NEW(order, models);
    for (size_t i = 0; i < n; i++) {
        struct rng r = rng_stream(seed, RNG_SPLIT, 2, i);
        shadow_split_number(order, models);
        rng_shuffle(&r, order, models);
        for (size_t m = 0; m < models; m++)
            use[(size_t)order[m] * n + i] = m < models / 2 ? SHADOW_IN : SHADOW_OUT;
    }
done:
    base_free(order);
    return status;
}
