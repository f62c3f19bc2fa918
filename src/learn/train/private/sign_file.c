/* Who signs a certificate vouches for it, so one that contradicts itself, its file or its recipe is not signed. */
#include "base/memory.h"
#include "dp/sign/signature.h"
#include "sotto/sign.h"
#include "sotto/verify.h"

sotto_status sotto_sign(const char *file, const char *key)
{
    REQUIRE_GIVEN(file, key);
    sotto_status status = SOTTO_OK;
    struct sotto_verification v = {0};
    char public[SOTTO_KEY_TEXT];
    int secret;
    TRY(sotto_key_public(public, &secret, key));
    if (!secret)
        FAIL(SOTTO_EFORMAT, "%s: holds a public key alone; expected the secret one, to sign", key);
    signature_remove(file); /* an earlier one, which this one replaces, is no reason to refuse */
    status = sotto_verify(&v, file, NULL, NULL, NULL);
    if (status == SOTTO_EGATE)
        FAIL(SOTTO_EGATE, "%s: is not signed, as it does not verify: %s", file, v.failed);
    TRY(status);
    TRY(signature_make(file, key));
done:
    sotto_verification_clear(&v);
    return status;
}
