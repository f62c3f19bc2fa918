/* sotto report --monitor: what a monitor found, on the page of a report. */
#include "verbs/report_page.h"

static const struct option_row rows[] = {
    OPTION_GROUP("Output"),
    {"monitor", OPTION_TEXT, "FILE", NULL, "monitor.json of 'sotto monitor' to show on the page too"},
    OPTION_END};

static sotto_status report_monitor(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)ctx;
    return report_page(o, (const char *const[]){option_text(o, "monitor"), NULL}, json);
}

const struct verb_part verb_part_report_monitor = {.verb = "report",
                                                   .when = "--monitor",
                                                   .options = rows,
                                                   .own = "monitor",
                                                   .examples =
                                                       "  sotto report attack1 --monitor monitor.json",
                                                   .run = report_monitor};
