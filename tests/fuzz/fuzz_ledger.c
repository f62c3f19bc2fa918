/* Any bytes as a ledger: refused, or a sound chain with finite or infinite (never negative, never NaN)
 * sums. */
#include "dp/ledger/ledger_sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ledger l;
    struct ledger_sums sums;
    char path[64];
    int fd = memfd_create("ledger", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (ledger_read(&l, path) == SOTTO_OK) {
        if (ledger_sums_of(&sums, &l) != SOTTO_OK || !(sums.proved.pure.high >= 0) ||
            !(sums.conditional.rho >= 0) || !(ledger_sum_epsilon(&sums.proved, 1e-5) >= 0))
            abort();
        ledger_sums_free(&sums);
        ledger_close(&l);
    }
    close(fd);
    return 0;
}
