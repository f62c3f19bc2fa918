/* Any bytes as a "sotto.report/1" document: a page or an error, and a page never lets a text out of its
 * place. */
#include "report/page/page.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *html = NULL;
    struct report r = {0};
    if (report_read(&r, (const char *)data, size) == SOTTO_OK && report_html(&html, &r) == SOTTO_OK) {
        size_t scripts = 0;
        for (const char *at = html; (at = strstr(at, "</script")) != NULL; at++)
            scripts++;
        assert(scripts == 3);
        assert(!strstr(html, "<!--"));
    }
    sotto_text_free(html);
    report_clear(&r);
    return 0;
}
