/* Optional members of a document. */
#include "report/document/document.h"

#include <math.h>

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

double part_balanced(const struct json *classes)
{
    double sum = 0;
    for (size_t i = 0; i < json_count(classes); i++)
        sum += part_number(json_at(classes, i), "estimate");
    return json_count(classes) ? sum / (double)json_count(classes) : NAN;
}

double part_majority(const struct json *classes)
{
    double all = 0, most = 0;
    for (size_t i = 0; i < json_count(classes); i++) {
        all += part_number(json_at(classes, i), "n");
        most = fmax(most, part_number(json_at(classes, i), "n"));
    }
    return most / all;
}
