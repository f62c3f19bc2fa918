#include "report/document/document_pages.h"

#include <string.h>

#define ROW(name) extern const struct document_page page_##name;
#include "report/document/document_page_list.h"
#undef ROW
#define ROW(name) extern const struct document_section section_##name;
#include "report/document/document_section_list.h"
#undef ROW

static const struct document_page *const pages[] = {
#define ROW(name) &page_##name,
#include "report/document/document_page_list.h"
#undef ROW
    NULL};
static const struct document_section *const sections[] = {
#define ROW(name) &section_##name,
#include "report/document/document_section_list.h"
#undef ROW
    NULL};

static bool has_schema(const struct json *doc, const char *schema)
{
    const char *text = part_text(doc, "schema");
    return text && strcmp(text, schema) == 0;
}

const struct document_page *document_page_of(const struct json *doc)
{
    size_t i = 0;
    while (pages[i] && !has_schema(doc, pages[i]->schema))
        i++;
    return pages[i];
}

const struct document_section *document_section_of(const struct json *doc)
{
    size_t i = 0;
    while (sections[i] && !has_schema(doc, sections[i]->schema))
        i++;
    return sections[i];
}

const struct document_section *document_section_at(size_t i)
{
    return sections[i];
}
