/* Any bytes as sensitivity.json. */
#include "head/sensitivity/sensitivity_file.h"
#include "io/json/json.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *doc = NULL;
    struct sotto_sensitivity_sample s;
    if (json_parse(&doc, (const char *)data, size, "input") == SOTTO_OK &&
        sensitivity_from_json(&s, doc, "input") == SOTTO_OK &&
        (!(s.l1 >= 0) || !isfinite(s.l1) || (s.pairs == 0) != (s.proved == 1)))
        abort();
    json_free(doc);
    return 0;
}
