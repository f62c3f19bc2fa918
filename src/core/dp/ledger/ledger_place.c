#include "dp/ledger/ledger_place.h"
#include "io/json/json.h"

#include <string.h>

static const char place_schema[] = "sotto.ledger-place/1";

sotto_status ledger_place_load(char **dataset_id, char **ledger, const char *place)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    const char *schema, *id, *path;
    char *own = NULL;
    TRY(json_read_file(&doc, place));
    TRY(json_get_text(&schema, doc, place, "schema"));
    if (strcmp(schema, place_schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'schema' is '%.40s'; expected %s", place, schema, place_schema);
    TRY(json_get_text(&id, doc, place, "dataset_id"));
    TRY(json_get_text(&path, doc, place, "ledger"));
    NEW_TEXT(own, id);
    NEW_TEXT(*ledger, path);
    *dataset_id = own;
    own = NULL;
done:
    base_free(own);
    json_free(doc);
    return status;
}

sotto_status ledger_place_save(const char *place, const char *dataset_id, const char *ledger)
{
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", place_schema);
    json_put_text(&doc, "dataset_id", dataset_id);
    json_put_text(&doc, "ledger", ledger);
    sotto_status status = json_write_file(place, doc, JSON_LINE);
    json_free(doc);
    return status;
}
