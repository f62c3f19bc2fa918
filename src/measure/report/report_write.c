#include "report/report_write.h"

#include "base/file.h"
#include "report/page/page.h"

#include <string.h>

sotto_status report_judge(struct report *out, struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct report plain = {0};
    TRY(report_take(&plain, doc));
    doc = report_judged(&plain);
    if (!doc)
        FAIL(SOTTO_ENOMEM, "report: out of memory for the document");
    TRY(report_take(out, doc));
done:
    report_clear(&plain);
    return status;
}

static sotto_status write_text(const char *folder, const char *name, const char *text)
{
    sotto_status status = SOTTO_OK;
    char path[4096];
    TRY(path_join(path, sizeof path, folder, name));
    TRY(file_write(path, text, strlen(text)));
done:
    return status;
}

static sotto_status write_json(const char *folder, const char *name, const struct json *j)
{
    char *text = NULL;
    sotto_status status = json_dump(&text, j, JSON_LINE);
    if (status == SOTTO_OK)
        status = write_text(folder, name, text);
    sotto_text_free(text);
    return status;
}

sotto_status report_write(const char *folder, struct json *doc, const struct json *result)
{
    sotto_status status = SOTTO_OK;
    struct report r = {0};
    char *html = NULL;
    TRY(report_judge(&r, doc));
    TRY(report_html(&html, &r));
    TRY(folder_make(folder));
    if (result)
        TRY(write_json(folder, "result.json", result));
    TRY(write_json(folder, "report.json", r.doc));
    TRY(report_write_files(folder, &r));
    TRY(write_text(folder, "report.html", html));
done:
    sotto_text_free(html);
    report_clear(&r);
    return status;
}
