/* Any bytes as a certificate: refused, does not verify, or verifies; and read, it is written and read as the same. */
#include "base/memory.h"
#include "sotto/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void verify(const char *path)
{
    struct sotto_verification v = {0};
    char *json = NULL, *text = NULL;
    sotto_status status = sotto_verify(&v, path, NULL, NULL, NULL);
    demand((v.check_count > 0) == (status == SOTTO_OK || status == SOTTO_EGATE));
    if (v.check_count > 0) {
        demand((v.failed != NULL) == (status == SOTTO_EGATE));
        demand(sotto_verification_encode(&json, &v) == SOTTO_OK);
        demand(sotto_verification_text(&text, &v) == SOTTO_OK);
    }
    base_free(json);
    base_free(text);
    sotto_verification_clear(&v);
}

/* Only a proved sensitivity, and noise from the system, make a certificate of a proof. */
static void check(const struct sotto_certificate *c)
{
    const struct sotto_account *a = sotto_certificate_account(c);
    bool may = sotto_certificate_sensitivity(c)->source >= SOTTO_SENSITIVITY_CLIPPED;
    demand(may || !sotto_certificate_is_proved(c));
    demand(a->epsilon.upper >= 0 && !(a->epsilon.lower > a->epsilon.upper));
    demand(strlen(sotto_certificate_hash(c)) == 64 && sotto_certificate_statement(c)[0]);
}

static void decode(const char *bytes)
{
    struct sotto_certificate *first = NULL, *second = NULL;
    char *one = NULL, *two = NULL;
    sotto_status status = sotto_certificate_decode(&first, bytes);
    demand((first != NULL) == (status == SOTTO_OK) && (first || status == SOTTO_EFORMAT));
    if (first) {
        check(first);
        demand(sotto_certificate_encode(&one, first) == SOTTO_OK);
        demand(sotto_certificate_decode(&second, one) == SOTTO_OK);
        demand(sotto_certificate_encode(&two, second) == SOTTO_OK);
        demand(strcmp(one, two) == 0);
    } else {
        demand(!strchr(sotto_error_text(), '\n'));
    }
    base_free(one);
    base_free(two);
    sotto_certificate_free(first);
    sotto_certificate_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], *bytes = calloc(size + 1, 1);
    int fd = memfd_create("certificate", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    demand(bytes && fd >= 0 && write(fd, data, size) == (ssize_t)size);
    memcpy(bytes, data, size);
    verify(path);
    decode(bytes);
    free(bytes);
    close(fd);
    return 0;
}
