/* The account as JSON. Infinite and missing values are null. */
#include "dp/ledger/certificate.h"

sotto_status sotto_account_json(char **json, const struct sotto_account *a)
{
    struct json *object = json_make_object();
    json_put_text(&object, "schema", "sotto.account/1");
    json_put_text(&object, "mechanism", a->mechanism);
    bool sampled = a->sample_rate < 1 || a->clipping[0];
    json_put_real(&object, sampled ? "noise_multiplier" : "scale", a->scale);
    json_put_real(&object, "standard_deviation", a->standard_deviation);
    if (sampled)
        json_put_real(&object, "sample_rate", a->sample_rate);
    if (a->sampling[0])
        json_put_text(&object, "sampling", a->sampling);
    if (a->clipping[0])
        json_put_text(&object, "clipping", a->clipping);
    json_put_integer(&object, sampled ? "steps" : "compose", (int64_t)a->compose);
    certificate_put_account(&object, a);
    sotto_status status = json_dump(json, object, JSON_PRETTY);
    json_free(object);
    return status;
}
