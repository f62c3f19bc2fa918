/* The provenance of a set's rows, and digests by which a ledger finds the same records in two sets. */
#include "base/memory.h"
#include "base/sha256.h"
#include "data/dataset.h"
#include "data/set/split_encoding.h"
#include "data/store/store.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)DIGEST_BYTES == (int)SOTTO_DIGEST, "the public name for the same size");

/* Can these records be found again by the name of their set? */
static bool is_findable(const struct sotto_dataset *d)
{
    char folder[4096];
    struct store_summary summary;
    if (!d->dataset_id[0])
        return false;
    if (strcmp(d->name, d->dataset_id) == 0 && sotto_dataset_is_public(d->name))
        return true;
    return dataset_name_is_valid(d->name) && store_find(folder, sizeof folder, d->name) &&
           store_summarise(&summary, folder) == SOTTO_OK && strcmp(summary.dataset_id, d->dataset_id) == 0;
}

/* What the arrays of a set say of themselves; NULL: nothing. */
static const struct sotto_provenance *record_digests_provenance(const struct sotto_dataset *d)
{
    return dataset_behind(d) ? &dataset_behind(d)->provenance : NULL;
}

/* All records of a set are its own rows. */
static sotto_status name_rows(struct sotto_provenance *p, const struct sotto_dataset *d)
{
    sotto_status status = SOTTO_OK;
    NEW(p->rows, p->n);
    memcpy(p->set, d->name, sizeof p->set);
    for (size_t i = 0; i < p->n; i++)
        p->rows[i] = (int64_t)i;
done:
    return status;
}

sotto_status sotto_provenance_of_rows(struct sotto_provenance *out, const struct sotto_dataset *d,
                                      const int64_t *rows, size_t n)
{
    REQUIRE_GIVEN(out, d);
    sotto_status status = SOTTO_OK;
    struct sotto_provenance p = {0};
    if (record_digests_provenance(d))
        TRY(sotto_provenance_copy(&p, record_digests_provenance(d)));
    p.n = d->n;
    p.encoding = dataset_stored_encoding(d);
    memcpy(p.dataset_id, d->dataset_id, sizeof p.dataset_id);
    if (dataset_behind(d) && dataset_behind(d)->rows_per_person) {
        memcpy(p.person, dataset_behind(d)->person, sizeof p.person);
        p.rows_per_person = dataset_behind(d)->rows_per_person;
    }
    if (!p.rows && is_findable(d))
        TRY(name_rows(&p, d));
    if (rows)
        TRY(sotto_provenance_select(&p, rows, n));
    *out = p;
    p = (struct sotto_provenance){0};
done:
    sotto_provenance_clear(&p);
    return status;
}

static void digest_rows(unsigned char (*out)[SOTTO_DIGEST], const struct sotto_dataset *d,
                        const int64_t *rows, size_t n)
{
    const size_t count = d->images ? d->channels * d->height * d->width : d->columns;
    const uint64_t shape[4] = {d->images ? d->channels : 0, d->images ? d->height : 0,
                               d->images ? d->width : 0, count};
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? (size_t)rows[i] : i;
        int64_t label = d->labels ? d->labels[row] : -1;
        const struct digest_part parts[] = {
            {shape, sizeof shape},
            {&label, sizeof label},
            {d->images ? (const void *)(d->images + row * count) : d->features + row * count,
             d->images ? count : count * sizeof *d->features}};
        digest_of(out[i], parts, 3);
    }
}

void sotto_array_digests(unsigned char (*out)[SOTTO_DIGEST], const float *x, const int64_t *y, size_t n,
                         size_t d)
{
    GIVEN_OR(, out, x);
    const struct sotto_dataset table = {.n = n, .columns = d, .features = x, .labels = y};
    digest_rows(out, &table, NULL, n);
}

sotto_status sotto_dataset_digests(unsigned char (*out)[SOTTO_DIGEST], const struct sotto_dataset *d,
                                   const int64_t *rows, size_t n, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, d);
    sotto_status status = SOTTO_OK;
    struct sotto_provenance p = {0};
    const struct sotto_provenance *source = record_digests_provenance(d);
    if (!source || !source->set[0] || !source->rows) {
        digest_rows(out, d, rows, n);
        goto done;
    }
    TRY(sotto_provenance_of_rows(&p, d, rows, n));
    TRY(sotto_provenance_digests(out, &p, ctx));
done:
    sotto_provenance_clear(&p);
    return status;
}

/* The set that the records were taken from, which holds all rows that are named. */
static sotto_status open_source(struct sotto_dataset **out, const struct sotto_provenance *p,
                                const char *purpose, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *d = NULL;
    REQUIRE(p->set[0] && p->rows, "provenance: contains no rows of a data set");
    if (sotto_dataset_open(&d, p->set, ctx) != SOTTO_OK) {
        status = status_fail(SOTTO_EUSAGE,
                             "data set '%s', from which these records were taken, is not in the data folder; "
                             "it is needed to %s",
                             p->set, purpose);
        status_hint("copy its folder here (SOTTO_DATA_DIR)");
        goto done;
    }
    if (strcmp(d->dataset_id, p->dataset_id) != 0)
        FAIL(SOTTO_EUSAGE,
             "data set '%s' has the identity '%s', but these records were taken from '%s'; import one of the "
             "two under another name",
             p->set, d->dataset_id, p->dataset_id);
    for (size_t i = 0; i < p->n; i++)
        if ((uint64_t)p->rows[i] >= d->n)
            FAIL(SOTTO_EUSAGE, "provenance: row %lld; data set '%s' has rows 0 to %zu", (long long)p->rows[i],
                 p->set, d->n - 1);
    *out = d;
    d = NULL;
done:
    sotto_dataset_free(d);
    return status;
}

sotto_status sotto_provenance_digests(unsigned char (*out)[SOTTO_DIGEST], const struct sotto_provenance *p,
                                      const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, p);
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *d = NULL;
    TRY(open_source(&d, p, "compare its records with those of other ledgers", ctx));
    digest_rows(out, d, p->rows, p->n);
done:
    sotto_dataset_free(d);
    return status;
}

sotto_status sotto_provenance_persons(int64_t *persons, const struct sotto_provenance *p,
                                      const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(persons, p);
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *d = NULL;
    TRY(open_source(&d, p, "know whose row is whose", ctx));
    REQUIRE(dataset_behind(d) && dataset_behind(d)->persons,
            "data set '%s' was imported without persons, but these records were taken from it with them",
            p->set);
    for (size_t i = 0; i < p->n; i++)
        persons[i] = dataset_behind(d)->persons[p->rows[i]];
done:
    sotto_dataset_free(d);
    return status;
}

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, SOTTO_DIGEST);
}

sotto_status sotto_dataset_overlap(size_t *shared, const struct sotto_dataset *a,
                                   const struct sotto_dataset *b, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(shared, a, b);
    sotto_status status = SOTTO_OK;
    unsigned char(*of_a)[SOTTO_DIGEST] = NULL, (*of_b)[SOTTO_DIGEST] = NULL;
    size_t found = 0;
    NEW(of_a, a->n);
    NEW(of_b, b->n);
    TRY(sotto_dataset_digests(of_a, a, NULL, a->n, ctx));
    TRY(sotto_dataset_digests(of_b, b, NULL, b->n, ctx));
    qsort(of_b, b->n, sizeof *of_b, by_digest);
    for (size_t i = 0; i < a->n; i++)
        found += bsearch(of_a[i], of_b, b->n, sizeof *of_b, by_digest) != NULL;
    *shared = found;
done:
    base_free(of_a);
    base_free(of_b);
    return status;
}
