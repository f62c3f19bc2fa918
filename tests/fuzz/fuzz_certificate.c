/* Any bytes as a certificate: refused, does not verify, or verifies. */
#include "base/memory.h"
#include "sotto/dp.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], *report = NULL;
    int fd = memfd_create("certificate", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    sotto_status status = sotto_certificate_verify(&report, path, NULL, NULL, NULL);
    if ((report != NULL) != (status == SOTTO_OK || status == SOTTO_EGATE))
        abort();
    base_free(report);
    close(fd);
    return 0;
}
