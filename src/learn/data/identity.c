/* The identity of a private set: which names it may have, and what the arrays of a set say of it. */
#include "data/dataset.h"
#include "io/provenance/dataset_id.h"
#include "rng/noise.h"

#include <stdio.h>
#include <string.h>

int sotto_dataset_is_public(const char *dataset_id)
{
    return dataset_id && dataset_source_find(dataset_id) != NULL;
}

sotto_status identity_check(const char *dataset_id)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_id_check(dataset_id));
    if (sotto_dataset_is_public(dataset_id))
        FAIL(SOTTO_EUSAGE, "data set identity '%s' is the name of a public set; choose another name",
             dataset_id);
done:
    return status;
}

sotto_status identity_draw(char out[SOTTO_DATASET_ID], const char *name)
{
    struct noise *os;
    sotto_status status = noise_open(&os);
    if (status != SOTTO_OK)
        return status;
    snprintf(out, SOTTO_DATASET_ID, "%.63s-%016llx", name, (unsigned long long)noise_u64(os));
    noise_close(os);
    return SOTTO_OK;
}

sotto_status identity_of_arrays(struct dataset *d, const char *values, const char *labels)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance p = {0};
    TRY(sotto_provenance_load_pair(&p, values, labels));
    if (p.n > 0 && p.n != d->set.n)
        FAIL(SOTTO_EFORMAT,
             "%s.provenance.json: describes %zu records but the array has %zu; expected the same number",
             values, p.n, d->set.n);
    if (p.dataset_id[0])
        memcpy(d->set.dataset_id, p.dataset_id, sizeof d->set.dataset_id);
    sotto_provenance_clear(&d->provenance);
    d->provenance = p;
    p = (struct sotto_provenance){0};
done:
    sotto_provenance_clear(&p);
    return status;
}

/* Parts of a table without --one-hot: category codes, too, depend on which values occur. */
enum sotto_encoding dataset_stored_encoding(const struct sotto_dataset *s)
{
    const struct dataset *d = dataset_behind(s);
    if (!d)
        return SOTTO_ENCODING_NONE;
    if (d->provenance.encoding != SOTTO_ENCODING_NONE)
        return d->provenance.encoding;
    if (d->encoding)
        return d->drafted ? SOTTO_ENCODING_FITTED : SOTTO_ENCODING_DECLARED;
    for (size_t j = 0; j < d->column_count; j++)
        if (d->columns[j].category)
            return SOTTO_ENCODING_FITTED;
    return SOTTO_ENCODING_NONE;
}
