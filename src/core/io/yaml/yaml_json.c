/* A YAML document as JSON: for data that people may write by hand in either. */
#include "io/yaml/yaml_json.h"

#include "io/text/number.h"
#include "io/yaml/yaml_tree.h"

#include <math.h>
#include <string.h>

static struct json *yaml_json_scalar(const struct yaml_node *node)
{
    const char *text = node->text;
    size_t length = strlen(text), sign = text[0] == '-';
    int64_t whole;
    double real;
    if (node->quoted)
        return json_make_text(text);
    if (yaml_is_null(node))
        return json_make_null();
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_make_boolean(text[0] == 't');
    if (number_whole(&whole, text + sign, length - sign))
        return json_make_integer(sign ? -whole : whole);
    if (number_real(&real, text, length) && isfinite(real))
        return json_make_real(real);
    return json_make_text(text);
}

/* yaml_parse() has limited the depth. */
static struct json *yaml_json_convert(const struct yaml_node *node)
{
    if (node->kind == YAML_KIND_SCALAR)
        return yaml_json_scalar(node);
    bool list = node->kind == YAML_KIND_LIST;
    struct json *out = list ? json_make_array() : json_make_object();
    for (const struct yaml_node *child = node->first; child; child = child->next)
        if (list)
            json_push(&out, yaml_json_convert(child));
        else
            json_put(&out, child->key, yaml_json_convert(child));
    return out;
}

sotto_status json_from_yaml(struct json **out, const char *text, size_t size, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct yaml_node *root = NULL;
    struct status_record record;
    struct json *converted;
    status = yaml_parse(&root, text, size, name);
    if (status == SOTTO_ECONFIG) { /* here it is data, not configuration */
        status_get(&record);
        status = record.code = SOTTO_EFORMAT;
        status_set(&record);
    }
    TRY(status);
    if (!root)
        FAIL(SOTTO_EFORMAT, "%s: is empty", name);
    converted = yaml_json_convert(root);
    if (!converted)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", name);
    *out = converted;
done:
    yaml_free(root);
    return status;
}
