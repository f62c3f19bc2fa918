#include "audit/audit_duplicates.h"

#include <stdlib.h>
#include <string.h>

struct hashed {
    uint64_t hash;
    size_t row;
};

static uint64_t hash_of(const unsigned char *bytes, size_t count)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++)
        h = (h ^ bytes[i]) * 0x100000001b3; /* FNV-1a: only to bring equals together; equality is checked */
    return h;
}

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows of one hash, first .. last - 1, rising by row. Unequal rows that share a hash are told apart here. */
static void count_group(struct duplicates *d, const struct hashed *all, size_t first, size_t last,
                        const unsigned char *rows, size_t bytes, size_t members, uint8_t *seen)
{
    for (size_t i = first; i < last; i++) {
        size_t count[2] = {0, 0};
        if (seen[all[i].row])
            continue;
        for (size_t k = i; k < last; k++)
            if (!seen[all[k].row] &&
                memcmp(rows + all[i].row * bytes, rows + all[k].row * bytes, bytes) == 0) {
                seen[all[k].row] = 1;
                count[all[k].row < members]++;
            }
        if (count[0] && count[1])
            d->members += count[1], d->nonmembers += count[0];
        d->within_members += count[1] > 1 ? count[1] - 1 : 0;
        d->within_nonmembers += count[0] > 1 ? count[0] - 1 : 0;
    }
}

sotto_status duplicates_count(struct duplicates *out, const void *rows, size_t bytes, size_t n_member,
                              size_t n_nonmember)
{
    sotto_status status = SOTTO_OK;
    size_t n = n_member + n_nonmember;
    struct duplicates d = {0};
    struct hashed *all = NULL;
    uint8_t *seen = NULL;
    NEW(all, n);
    NEW(seen, n);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct hashed){hash_of((const unsigned char *)rows + i * bytes, bytes), i};
    qsort(all, n, sizeof *all, by_hash);
    for (size_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && all[last].hash == all[first].hash;)
            last++;
        if (last > first + 1)
            count_group(&d, all, first, last, rows, bytes, n_member, seen);
    }
    *out = d;
done:
    base_free(all);
    base_free(seen);
    return status;
}
