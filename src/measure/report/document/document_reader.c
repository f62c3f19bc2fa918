/* A document's members, with their full path in the error. */
#include "report/document/document_reader.h"

#include <math.h>
#include <stdio.h>

struct reader reader_enter(const struct reader *r, const char *member)
{
    struct reader inner = {.doc = r->doc};
    bool index = member[0] == '[';
    snprintf(inner.path, sizeof inner.path, "%.90s%s%.36s", r->path, r->path[0] && !index ? "." : "", member);
    return inner;
}

const struct json *reader_here(const struct reader *r)
{
    return r->path[0] ? part(r->doc, r->path) : r->doc;
}

sotto_status read_number(double *out, const struct reader *r, const char *member)
{
    struct reader at = reader_enter(r, member);
    return json_get_real(out, r->doc, document, at.path);
}

sotto_status read_number_if(double *out, const struct reader *r, const char *member)
{
    struct reader at = reader_enter(r, member);
    *out = NAN;
    return reader_here(&at) ? json_get_real(out, r->doc, document, at.path) : SOTTO_OK;
}

sotto_status read_text(const char **out, const struct reader *r, const char *member)
{
    struct reader at = reader_enter(r, member);
    return json_get_text(out, r->doc, document, at.path);
}

sotto_status read_text_if(const char **out, const struct reader *r, const char *member)
{
    struct reader at = reader_enter(r, member);
    *out = NULL;
    return reader_here(&at) ? json_get_text(out, r->doc, document, at.path) : SOTTO_OK;
}

sotto_status read_flag_if(bool *out, const struct reader *r, const char *member)
{
    struct reader at = reader_enter(r, member);
    *out = false;
    return reader_here(&at) ? json_get_boolean(out, r->doc, document, at.path) : SOTTO_OK;
}

sotto_status read_size_if(size_t *out, const struct reader *r, const char *member)
{
    struct reader at = reader_enter(r, member);
    *out = 0;
    return reader_here(&at) ? json_get_size(out, r->doc, document, at.path) : SOTTO_OK;
}

sotto_status check_fraction(double x, const struct reader *r, const char *member)
{
    if (isnan(x) || (x >= 0 && x <= 1))
        return SOTTO_OK;
    return status_fail(SOTTO_EFORMAT, "%s: '%s.%s' is %g; expected a fraction between 0 and 1", document,
                       r->path, member, x);
}

sotto_status check_texts(const struct json **out, const struct reader *r, const char *member)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, member);
    *out = NULL;
    if (!reader_here(&at))
        return SOTTO_OK;
    TRY(json_get_array(out, r->doc, document, at.path));
    for (size_t i = 0; i < json_count(*out); i++)
        if (!json_text(json_at(*out, i)))
            FAIL(SOTTO_EFORMAT, "%s: '%s[%zu]' is not a text", document, at.path, i);
done:
    return status;
}

sotto_status read_estimate(struct estimate *out, const struct reader *r, const char *member, bool bare)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, member);
    struct estimate e = {.given = true, .lower = NAN, .upper = NAN};
    const struct json *found = reader_here(&at), *object;
    if (bare && found && json_kind(found) != JSON_KIND_OBJECT) {
        TRY(read_number(&e.value, r, member));
        TRY(check_fraction(e.value, r, member));
    } else {
        TRY(json_get_object(&object, r->doc, document, at.path));
        TRY(read_number(&e.value, &at, "estimate"));
        TRY(read_number(&e.lower, &at, "lower"));
        TRY(read_number(&e.upper, &at, "upper"));
        TRY(read_size_if(&e.n, &at, "n"));
        TRY(check_fraction(e.value, &at, "estimate"));
        TRY(check_fraction(e.lower, &at, "lower"));
        TRY(check_fraction(e.upper, &at, "upper"));
        if (!(e.lower <= e.value && e.value <= e.upper))
            FAIL(SOTTO_EFORMAT,
                 "%s: '%s' is %g with the interval [%g, %g]; expected lower <= estimate <= upper", document,
                 at.path, e.value, e.lower, e.upper);
    }
    *out = e;
done:
    return status;
}

sotto_status check_objects(const struct reader *top, const char *path, const char *text1, const char *text2)
{
    sotto_status status = SOTTO_OK;
    const struct json *list;
    if (!part(top->doc, path))
        return SOTTO_OK;
    TRY(json_get_array(&list, top->doc, document, path));
    for (size_t i = 0; i < json_count(list); i++) {
        char entry[READER_PATH];
        const char *ignored;
        snprintf(entry, sizeof entry, "%s[%zu]", path, i);
        struct reader at = reader_enter(top, entry);
        TRY(read_text(&ignored, &at, text1));
        if (text2)
            TRY(read_text(&ignored, &at, text2));
    }
done:
    return status;
}
