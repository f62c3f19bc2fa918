/* Any bytes as a "sotto.report/1" document: a page or an error, and a page never lets a text out of its
 * place. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "report/page/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct page p = {0};
    if (report_build(&p, (const char *)data, size) == SOTTO_OK) {
        size_t scripts = 0;
        for (const char *at = p.text; (at = strstr(at, "</script")) != NULL; at++)
            scripts++;
        assert(scripts == 3);
        assert(!strstr(p.text, "<!--"));
    }
    base_free(p.text);
    return 0;
}
