/* The files of canaries beside the output of a training: their names, and the commitment that the one of records holds. */
#include "canary/canaries.h"
#include "io/array/tensors.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <unistd.h>

sotto_status canary_path(char out[CANARY_PATH], const char *output, const char *suffix)
{
    sotto_status status = SOTTO_OK;
    REQUIRE((size_t)snprintf(out, CANARY_PATH, "%s%s", output, suffix) < CANARY_PATH,
            "the path of %s is too long; expected at most %d bytes", output, CANARY_PATH - 1);
done:
    return status;
}

sotto_status canary_commitment_of(char out[SHA256_HEX], const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    TRY(sotto_npz_load(&t, path));
    const struct sotto_array *a = tensors_find(&t, "commitment");
    if (!a || a->dtype != SOTTO_U1 || a->count != CANARY_COMMITMENT)
        FAIL(
            SOTTO_EFORMAT,
            "%s: holds no commitment; expected the file that a training with {canaries.count|canaries} wrote",
            path);
    for (size_t i = 0; i < CANARY_COMMITMENT; i++)
        snprintf(out + 2 * i, 3, "%02x", ((const unsigned char *)a->data)[i]);
done:
    sotto_tensors_clear(&t);
    return status;
}

void sotto_canaries_forget(const char *output)
{
    GIVEN_OR(, output);
    static const char *const suffixes[] = {CANARY_COINS, CANARY_COINS CANARY_OPENED, CANARY_RECORDS,
                                           CANARY_STATE};
    char path[CANARY_PATH];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if ((size_t)snprintf(path, sizeof path, "%s%s", output, suffixes[i]) < sizeof path)
            unlink(path);
}
