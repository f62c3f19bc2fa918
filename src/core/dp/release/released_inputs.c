/* Whether what a trainer reads was released with noise, so that what it makes is post-processing. A certificate speaks for
 * the files with its hashes and for nothing else: labels in the clear beside released rows are not covered. */
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/certificate/certificate.h"
#include "sotto/lab/release.h"

#include <stdio.h>
#include <string.h>

static sotto_status is_file(bool *same, const char *path, const char *sha256, const struct sotto_context *ctx)
{
    char found[SHA256_HEX];
    sotto_status status = sha256_file_asking(found, path, ctx);
    *same = status == SOTTO_OK && strcmp(found, sha256) == 0;
    return status;
}

sotto_status sotto_released_inputs(struct sotto_released_inputs *out, const char *features,
                                   const char *labels, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, features);
    sotto_status status = SOTTO_OK;
    struct sotto_released_inputs found = {0};
    struct sotto_certificate *c = NULL;
    char *beside = NULL;
    bool rows = false, both = !labels;
    size_t capacity = strlen(features) + sizeof ".certificate.json";
    NEW(beside, capacity);
    snprintf(beside, capacity, "%s.certificate.json", features);
    if (!file_exists(beside))
        goto found;
    TRY(sotto_certificate_load(&c, beside));
    if (c->run && c->run->facts.inputs_only && c->output_sha256[0])
        TRY(is_file(&rows, features, c->output_sha256, ctx));
    if (rows && labels && c->labels_sha256[0])
        TRY(is_file(&both, labels, c->labels_sha256, ctx));
    if (rows && both) {
        snprintf(found.entry, sizeof found.entry, "%s", c->hash);
        snprintf(found.text, sizeof found.text,
                 "post-processing of one release of every record (ledger entry %.16s...): %s", c->hash,
                 c->wording.statement);
    } else if (rows) {
        snprintf(found.text, sizeof found.text, "features private, labels not");
    }
found:
    *out = found;
done:
    sotto_certificate_free(c);
    base_free(beside);
    return status;
}
