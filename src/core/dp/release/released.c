/* The end of a release: its file is complete, the ledger learns which file that is, and its certificate is written. A process
 * that is killed before leaves a charge without a file, which is what it is. */
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/certificate/certificate_json.h"
#include "dp/ledger/ledger_output.h"
#include "dp/sign/signature.h"

#include <string.h>

static sotto_status tell_ledger(const struct sotto_certificate *c, const char *output_sha256,
                                const char *document)
{
    char sha256[SHA256_HEX];
    sha256_of(sha256, document, strlen(document));
    return released_lines_add(
        c->ledger,
        &(struct released_file){
            .charge = c->entry, .entry = c->hash, .output = output_sha256, .certificate = sha256},
        NULL);
}

sotto_status sotto_certificate_save(const char *path, const struct sotto_certificate *certificate,
                                    const char *output_sha256)
{
    REQUIRE_GIVEN(path, certificate, output_sha256);
    sotto_status status = SOTTO_OK;
    char *text = NULL;
    struct atomic_file f = {0};
    TRY(certificate_document(&text, certificate, output_sha256));
    if (certificate->ledger)
        TRY(tell_ledger(certificate, output_sha256, text));
    else
        REQUIRE(strcmp(output_sha256, certificate->output_sha256) == 0,
                "certificate: was read from a document, and is of the file with SHA-256 %.16s..., not "
                "%.16s...; save it "
                "where its release was made",
                certificate->output_sha256[0] ? certificate->output_sha256 : "(none)", output_sha256);
    signature_remove(path); /* of an earlier certificate */
    TRY(atomic_open(&f, path));
    atomic_write(&f, text, strlen(text));
    atomic_write(&f, "\n", 1);
    TRY(atomic_commit(&f));
done:
    atomic_discard(&f);
    base_free(text);
    return status;
}
