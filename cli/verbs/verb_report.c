#include "verbs/report_page.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Output"),
    {"output", OPTION_TEXT, "FILE", NULL, "page to write (default: report.html beside report.json)"},
    OPTION_END};

/* A run folder, or the report.json in it. */
static sotto_status find_paths(char json[4096], char html[4096], const struct options *o)
{
    const char *given = option_argument(o, 0), *output = option_text(o, "output");
    size_t length = strlen(given);
    int is_file = length > 5 && strcmp(given + length - 5, ".json") == 0;
    const char *slash = strrchr(given, '/');
    int folder = is_file ? (slash ? (int)(slash - given) + 1 : 0) : (int)length;
    int a = is_file ? snprintf(json, 4096, "%s", given) : snprintf(json, 4096, "%s/report.json", given);
    int b = output    ? snprintf(html, 4096, "%s", output)
            : is_file ? snprintf(html, 4096, "%.*sreport.html", folder, given)
                      : snprintf(html, 4096, "%s/report.html", given);
    if (a >= 4096 || b >= 4096)
        return cli_fail(SOTTO_EUSAGE, "report: the path of the page is too long");
    return SOTTO_OK;
}

sotto_status report_page(const struct options *o, const char *const *beside, int json)
{
    char from[4096], to[4096];
    TRY_OR_RETURN(find_paths(from, to, o));
    TRY_OR_RETURN(sotto_report_render_file(to, from, beside));
    if (json)
        printf("{\"schema\": \"sotto.rendered/1\"}\n");
    else
        printf("%s\n", to);
    return SOTTO_OK;
}

static sotto_status verb_report_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)ctx;
    return report_page(o, NULL, json);
}

const struct verb verb_report = {
    .name = "report",
    .summary = "render a run, an audit or an attack as one HTML page that works offline",
    .arguments = "RUN_FOLDER",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  sotto report runs/demo\n"
                "  sotto report report.json -o page.html\n"
                "  sotto report figures.json",
    .floor = FLOOR_MEASURE,
    .ranks = RANK_0,
    .options = rows,
    .most_used = "output|json",
    .run = verb_report_run};
