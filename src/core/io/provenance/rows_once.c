/* A row number that is there twice. Numbers are the caller's choice, so that naming one tells nothing of the
 * records; whether two rows are EQUAL would, and nothing asks. */
#include "base/memory.h"
#include "base/status.h"
#include "sotto/lab/provenance.h"

#include <stdlib.h>

struct named {
    int64_t row;
    size_t entry;
};

static int by_row(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* The repetition that a reader of the list meets first, or n. */
static size_t first_repeated(const struct named *sorted, size_t n)
{
    size_t found = n;
    for (size_t i = 1; i < n; i++)
        if (sorted[i].row == sorted[i - 1].row && (found == n || sorted[i].entry < sorted[found].entry))
            found = i;
    return found;
}

sotto_status sotto_rows_once(const int64_t *rows, size_t n, const char *where)
{
    REQUIRE_GIVEN(!n || rows, where);
    sotto_status status = SOTTO_OK;
    struct named *sorted = NULL;
    NEW(sorted, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct named){rows[i], i};
    qsort(sorted, n, sizeof *sorted, by_row);
    size_t at = first_repeated(sorted, n);
    REQUIRE(at == n, "%s: row %lld is listed twice (entries %zu and %zu); expected each record once", where,
            (long long)sorted[at].row, sorted[at - 1].entry, sorted[at].entry);
done:
    base_free(sorted);
    return status;
}

sotto_status sotto_provenance_once(const struct sotto_provenance *p)
{
    return p && p->rows ? sotto_rows_once(p->rows, p->n, p->set[0] ? p->set : "provenance") : SOTTO_OK;
}
