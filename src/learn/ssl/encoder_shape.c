/* What an encoder brings into the columns that it computes: the records that trained it, and what it was made from. */
#include "io/provenance/shaping.h"
#include "ssl/encoder.h"

#include <stdio.h>
#include <string.h>

static bool fact_is(const struct sotto_encoder *e, const char *key, const char *value)
{
    const char *found = encoder_fact(e, key);
    return found && strcmp(found, value) == 0;
}

sotto_status sotto_encoder_shape(struct sotto_provenance *p, const struct sotto_encoder *e, const char *path)
{
    REQUIRE_GIVEN(p, e);
    sotto_status status = SOTTO_OK;
    struct sotto_provenance by = {0};
    const char *before = encoder_fact(e, SHAPED_KEY);
    char own[32];
    snprintf(own, sizeof own, "%.12s", sotto_encoder_sha256(e)); /* in memory it has no name */
    if (path)
        TRY(sotto_provenance_load(&by, path));
    if (before)
        TRY(shapings_parse(&by, before, path ? path : "encoder"));
    const bool nobodys = fact_is(e, "method", "random") || fact_is(e, "synthetic", "true");
    if (nobodys && !by.dataset_id[0])
        TRY(sotto_provenance_shape(p, NULL, NULL, &by, 0)); /* what it was made from before */
    else
        TRY(sotto_provenance_shape(p, "encoder", path ? path : own, &by,
                                   sotto_dataset_is_public(by.dataset_id)));
done:
    sotto_provenance_clear(&by);
    return status;
}
