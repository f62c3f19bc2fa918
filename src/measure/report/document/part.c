/* Optional members of a document. */
#include "report/document/document.h"

const struct json *part(const struct json *j, const char *path)
{
    const struct json *found = json_find(j, path);
    return found && json_kind(found) != JSON_KIND_NULL ? found : NULL;
}

const char *part_text(const struct json *j, const char *path)
{
    return json_text(json_find(j, path));
}

bool part_flag(const struct json *j, const char *path)
{
    bool x = false;
    return part(j, path) && json_get_boolean(&x, j, "report.json", path) == SOTTO_OK && x;
}

double part_number(const struct json *j, const char *path)
{
    return json_number(json_find(j, path));
}
