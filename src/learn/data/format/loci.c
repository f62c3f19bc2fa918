#include "data/format/loci.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum loci_column { ID, ALLELE, FREQUENCY, OTHER, COLUMNS };
static const char *const names[COLUMNS] = {"id", "allele", "frequency", "other"};

static sotto_status find_columns(size_t at[COLUMNS], const struct csv *table, const char *where)
{
    sotto_status status = SOTTO_OK;
    for (size_t k = 0; k < COLUMNS; k++) {
        at[k] = table->columns;
        for (size_t c = 0; c < table->columns; c++)
            if (strcmp(csv_cell(table, 0, c), names[k]) == 0)
                at[k] = c;
        if (at[k] == table->columns && k != OTHER)
            FAIL(SOTTO_EFORMAT,
                 "%s: the header has no column '%s'; expected id,allele,frequency and maybe other", where,
                 names[k]);
    }
done:
    return status;
}

static bool is_pair(const char *a, const char *b, const char *pair)
{
    return (a[0] == pair[0] && b[0] == pair[1]) || (a[0] == pair[1] && b[0] == pair[0]);
}

static bool strand_is_unclear(const struct locus *l)
{
    if (!(l->frequency > 0.4 && l->frequency < 0.6) || strlen(l->allele) != 1)
        return false;
    return !l->other[0] || (strlen(l->other) == 1 &&
                            (is_pair(l->allele, l->other, "AT") || is_pair(l->allele, l->other, "CG")));
}

static sotto_status read_locus(struct locus *out, const struct csv *table, size_t row,
                               const size_t at[COLUMNS])
{
    sotto_status status = SOTTO_OK;
    struct locus l = {csv_cell(table, row, at[ID]), csv_cell(table, row, at[ALLELE]),
                      at[OTHER] < table->columns ? csv_cell(table, row, at[OTHER]) : "", 0};
    TRY(csv_real(&l.frequency, table, row, at[FREQUENCY]));
    if (!l.id[0] || !l.allele[0] || strcmp(l.allele, l.other) == 0)
        FAIL(SOTTO_EFORMAT, "%s:%zu: expected an id and two different alleles", table->name,
             table->lines[row]);
    if (!(l.frequency >= 0 && l.frequency <= 1))
        FAIL(SOTTO_EFORMAT, "%s:%zu: frequency %g; expected a number in [0, 1]", table->name,
             table->lines[row], l.frequency);
    *out = l;
done:
    return status;
}

static sotto_status read_list(struct loci *out, const struct text_bytes *file, bool keep_unclear)
{
    sotto_status status = SOTTO_OK;
    struct loci l = {0};
    size_t at[COLUMNS];
    const struct csv_style style = {.trim = true};
    TRY(csv_parse(&l.table, (const char *)file->data, file->size, file->where, &style));
    TRY(find_columns(at, &l.table, file->where));
    NEW(l.list, l.table.rows);
    for (size_t row = 1; row < l.table.rows; row++) {
        TRY(read_locus(&l.list[l.count], &l.table, row, at));
        if (!keep_unclear && strand_is_unclear(&l.list[l.count]))
            l.unclear++;
        else
            l.count++;
    }
    if (l.count == 0)
        FAIL(SOTTO_EFORMAT,
             "%s: has no locus that can be used (%zu with an unclear strand); expected at least one",
             file->where, l.unclear);
    TRY(loci_index(&l, file->where));
    *out = l;
    l = (struct loci){0};
done:
    loci_clear(&l);
    return status;
}

sotto_status loci_from_memory(struct loci *out, const struct text_bytes *file)
{
    return read_list(out, file, false);
}

sotto_status loci_load(struct loci *out, const char *path, bool keep_unclear)
{
    sotto_status status = SOTTO_OK;
    unsigned char *data = NULL;
    size_t size;
    TRY(file_read(&data, &size, path, (size_t)1 << 30));
    const struct text_bytes text = {data, size, path};
    TRY(read_list(out, &text, keep_unclear));
done:
    base_free(data);
    return status;
}

/* Published frequencies may be of the other allele of a locus. */
static sotto_status frequency_of(double *out, const struct locus *l, const struct loci *published,
                                 const char *list, const char *path)
{
    sotto_status status = SOTTO_OK;
    const struct locus *p = loci_find(published, l->id, strlen(l->id));
    if (!p)
        FAIL(SOTTO_EFORMAT, "%s: has no locus '%.60s'; expected all that %s has", path, l->id, list);
    const bool same = strcmp(p->allele, l->allele) == 0;
    if (!same && (!l->other[0] || strcmp(p->allele, l->other) != 0))
        FAIL(SOTTO_EFORMAT,
             "%s: locus '%.60s' has the frequency of allele %.20s; expected %.20s%s%.20s, as in %s", path,
             l->id, p->allele, l->allele, l->other[0] ? " or " : "", l->other, list);
    *out = same ? p->frequency : 1 - p->frequency;
done:
    return status;
}

sotto_status sotto_loci_frequencies(double *out, size_t count, const char *list, const char *frequencies)
{
    REQUIRE_GIVEN(!count || out, list, frequencies);
    sotto_status status = SOTTO_OK;
    struct loci columns = {0}, published = {0};
    TRY(loci_load(&columns, list, false));
    TRY(loci_load(&published, frequencies, true));
    if (columns.count != count)
        FAIL(SOTTO_EINVAL,
             "%s: has %zu loci that can be used; expected %zu, one for each column of the genotypes", list,
             columns.count, count);
    for (size_t j = 0; j < count; j++)
        TRY(frequency_of(&out[j], &columns.list[j], &published, list, frequencies));
done:
    loci_clear(&columns);
    loci_clear(&published);
    return status;
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const struct locus *const *)a)->id, (*(const struct locus *const *)b)->id);
}

sotto_status loci_index(struct loci *l, const char *where)
{
    sotto_status status = SOTTO_OK;
    NEW(l->by_id, l->count);
    for (size_t i = 0; i < l->count; i++)
        l->by_id[i] = &l->list[i];
    qsort((void *)l->by_id, l->count, sizeof *l->by_id, by_id);
    for (size_t i = 1; i < l->count; i++)
        if (strcmp(l->by_id[i - 1]->id, l->by_id[i]->id) == 0)
            FAIL(SOTTO_EFORMAT, "%s: locus '%.60s' stands twice; expected each id once", where,
                 l->by_id[i]->id);
done:
    return status;
}

const struct locus *loci_find(const struct loci *l, const char *id, size_t length)
{
    size_t low = 0, high = l->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *here = l->by_id[middle]->id;
        int order = strncmp(here, id, length);
        if (order == 0 && here[length])
            order = 1;
        if (order == 0)
            return l->by_id[middle];
        *(order < 0 ? &low : &high) = middle + (order < 0);
    }
    return NULL;
}

void loci_clear(struct loci *l)
{
    csv_clear(&l->table);
    base_free(l->list);
    base_free((void *)l->by_id);
    base_free(l->text);
    *l = (struct loci){0};
}
