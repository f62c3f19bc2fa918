/* The list of loci of a set of genotypes, as imports of other people take it: it makes their columns the same. */
#include "base/file.h"
#include "data/dataset.h"
#include "io/table/csv.h"

#include <string.h>

/* "ID ALLELE OTHER", as readers name columns of genotypes; ids have no blanks. */
static sotto_status write_locus(struct atomic_file *f, const struct sotto_dataset *s, size_t j)
{
    sotto_status status = SOTTO_OK;
    const char *name = dataset_behind(s)->columns[j].name;
    const char *allele = strchr(name, ' '), *other = allele ? strchr(allele + 1, ' ') : NULL;
    double sum = 0;
    char *text = NULL;
    if (!other)
        FAIL(SOTTO_EINVAL, "%s: column %zu is '%.60s'; expected a locus with two alleles", s->name, j, name);
    for (size_t i = 0; i < s->n; i++)
        sum += s->features[i * s->columns + j];
    NEW_TEXT(text, name);
    text[allele - name] = text[other - name] = '\0';
    csv_write_text(f, text);
    atomic_write(f, ",", 1);
    csv_write_text(f, text + (allele - name) + 1);
    atomic_write(f, ",", 1);
    csv_write_text(f, text + (other - name) + 1);
    atomic_write(f, ",", 1);
    csv_write_real(f, sum / (double)s->n);
    atomic_write(f, "\n", 1);
done:
    base_free(text);
    return status;
}

sotto_status sotto_data_loci(const char *path, const char *name_or_path, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(path, name_or_path);
    sotto_status status = SOTTO_OK;
    static const char header[] = "id,allele,other,frequency\n";
    struct sotto_dataset *s = NULL;
    struct sotto_provenance whose = {0};
    struct atomic_file f = {0};
    TRY(sotto_dataset_open(&s, name_or_path, ctx));
    const struct dataset *d = dataset_behind(s);
    if (!d->columns || !s->features)
        FAIL(SOTTO_EINVAL, "%s: has no loci; expected a set of genotypes, such as an imported .vcf", s->name);
    TRY(atomic_open(&f, path));
    atomic_write(&f, header, sizeof header - 1);
    for (size_t j = 0; j < d->column_count; j++) {
        TRY(context_check(ctx, "%s: stopped while its loci were written", path));
        TRY(write_locus(&f, s, j));
    }
    TRY(atomic_commit(&f));
    TRY(sotto_provenance_of_rows(&whose, s, NULL, s->n));
    TRY(sotto_provenance_save(path, &whose));
done:
    sotto_provenance_clear(&whose);
    atomic_discard(&f);
    sotto_dataset_free(s);
    return status;
}
