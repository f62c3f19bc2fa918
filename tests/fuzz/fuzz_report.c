/* Any bytes as a "sotto.report/1" document: a page or an error, and a page never lets a text out of its
 * place. */
#include "sotto/lab/report.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *json = calloc(size + 1, 1), *html = NULL;
    if (size)
        memcpy(json, data, size);
    if (sotto_report_html(&html, json) == SOTTO_OK) {
        size_t scripts = 0;
        for (const char *at = html; (at = strstr(at, "</script")) != NULL; at++)
            scripts++;
        assert(scripts == 3);
        assert(!strstr(html, "<!--"));
    }
    sotto_text_free(html);
    free(json);
    return 0;
}
