#include "io/provenance/dataset_id.h"
#include "base/status.h"
#include "io/text/utf8.h"
#include "sotto/lab/provenance.h"

#include <string.h>

sotto_status dataset_id_check(const char *dataset_id)
{
    sotto_status status = SOTTO_OK;
    enum { MOST = sizeof((struct sotto_provenance *)0)->dataset_id };
    char shown[MOST];
    const size_t length = strlen(dataset_id);
    if (length == 0 || length >= MOST)
        FAIL(SOTTO_EUSAGE, "data set identity '%.40s': expected 1 to %d bytes", dataset_id, MOST - 1);
    if (strcmp(utf8_printable(shown, sizeof shown, dataset_id, length), dataset_id) != 0)
        FAIL(SOTTO_EUSAGE, "data set identity '%s': expected UTF-8 without control characters", shown);
done:
    return status;
}
