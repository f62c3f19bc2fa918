/* Floyd's algorithm (Bentley and Floyd 1987): of 0 .. j, taken one j after the other for the last `size` of
 * all records, a number that is new, or else j itself. */
#include "dp/noise/fixed_sample.h"
#include "sotto/lab/account.h"

#include "base/memory.h"
#include "base/choice.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"poisson", "fixed"};

const char *sotto_sampling_name(enum sotto_sampling sampling)
{
    return (unsigned)sampling <= SOTTO_SAMPLING_FIXED ? names[sampling] : "unknown";
}

sotto_status sotto_sampling_find(enum sotto_sampling *sampling, const char *name)
{
    REQUIRE_GIVEN(sampling, name);
    for (int i = 0; i <= SOTTO_SAMPLING_FIXED; i++)
        if (strcmp(name, names[i]) == 0) {
            *sampling = (enum sotto_sampling)i;
            return SOTTO_OK;
        }
    return choice_unknown(SOTTO_EINVAL, "sampling", name, "poisson or fixed");
}

double sampling_rate(enum sotto_sampling sampling, size_t sample, size_t records)
{
    double size = (double)sample, n = (double)records, rate = size / n;
    bool below = fma(rate, n, -size) < 0; /* fused: the sign is that of the exact number */
    return sampling == SOTTO_SAMPLING_FIXED && below ? nextafter(rate, 2) : rate;
}

sotto_status fixed_sample_make(struct fixed_sample *out, double rate, size_t records)
{
    sotto_status status = SOTTO_OK;
    struct fixed_sample f = {.records = records};
    REQUIRE(records <= UINT32_MAX, "reserve: %zu records; expected at most %u", records, UINT32_MAX);
    double n = (double)records, size = floor(rate * n);
    size -= fma(rate, n, -size) < 0; /* the product was rounded up to a whole number */
    REQUIRE(size >= 1,
            "reserve: sample_rate %g of %zu records gives empty samples; give a larger sample_rate", rate,
            records);
    f.size = (size_t)size;
    NEW(f.taken, records / 64 + 1);
    *out = f;
done:
    return status;
}

void fixed_sample_free(struct fixed_sample *f)
{
    base_free(f->taken);
    f->taken = NULL;
}

/* Uniform in 0 .. last, by throwing away what is above. */
static uint64_t up_to(uint64_t last, struct noise *s)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(last | 1);
    uint64_t x;
    do
        x = noise_bits(s, bits);
    while (x > last);
    return x;
}

size_t fixed_sample_draw(uint32_t *rows, const struct fixed_sample *f, struct noise *s)
{
    size_t count = 0;
    for (uint64_t j = f->records - f->size; j < f->records; j++) {
        uint64_t row = up_to(j, s);
        if (f->taken[row / 64] >> row % 64 & 1)
            row = j;
        f->taken[row / 64] |= (uint64_t)1 << row % 64;
    }
    for (size_t w = 0; w < f->records / 64 + 1; w++) {
        for (uint64_t left = f->taken[w]; left; left &= left - 1)
            rows[count++] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left);
        f->taken[w] = 0;
    }
    return count;
}
