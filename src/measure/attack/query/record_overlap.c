/* Rows are sorted by a 64-bit digest; only rows of equal digest are compared. */
#include "attack/query/record_overlap.h"

#include <stdlib.h>
#include <string.h>

struct digest {
    uint64_t value;
    size_t row;
};

static uint64_t digest_of(const float *row, size_t width)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a, a word at a time */
    for (size_t j = 0; j < width; j++) {
        float v = row[j] == 0 ? 0 : row[j]; /* -0 equals 0 */
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        h = (h ^ bits) * 1099511628211u;
    }
    return h;
}

static int record_overlap_rising(const void *a, const void *b)
{
    const struct digest *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static bool record_overlap_equal(const float *a, const float *b, size_t width)
{
    for (size_t j = 0; j < width; j++)
        if (a[j] != b[j])
            return false;
    return true;
}

static bool is_among(const float *row, const float *among, const struct digest *sorted, size_t m,
                     size_t width)
{
    uint64_t wanted = digest_of(row, width);
    size_t low = 0, high = m;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle].value < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < m && sorted[low].value == wanted; low++)
        if (record_overlap_equal(row, among + sorted[low].row * width, width))
            return true;
    return false;
}

sotto_status record_overlap(size_t *shared, const float *rows, size_t n, const float *among, size_t m,
                            size_t width)
{
    sotto_status status = SOTTO_OK;
    struct digest *sorted = NULL;
    size_t count = 0;
    NEW(sorted, m);
    for (size_t i = 0; i < m; i++)
        sorted[i] = (struct digest){digest_of(among + i * width, width), i};
    qsort(sorted, m, sizeof *sorted, record_overlap_rising);
    for (size_t i = 0; i < n; i++)
        count += is_among(rows + i * width, among, sorted, m, width);
    *shared = count;
done:
    base_free(sorted);
    return status;
}
