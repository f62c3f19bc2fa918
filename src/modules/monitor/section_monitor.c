/* What a monitor found in the queries to the model: clients that raised an alarm, and what an alarm means. */
#include "report/document/document_pages.h"
#include "report/page/page.h"

#include <math.h>

static void number_cell(struct page *p, double x)
{
    page_html(p, "<td class=\"number\">");
    page_count(p, x);
    page_html(p, "</td>");
}

static void section_monitor_line(struct page *p, const struct json *stream)
{
    page_html(p, "<tr><th scope=\"row\">");
    if (part_text(stream, "name"))
        page_name(p, part_text(stream, "name"));
    else
        page_html(p, "all clients together");
    page_html(p, "</th>");
    number_cell(p, part_number(stream, "rows"));
    number_cell(p, part_number(stream, "alarm"));
    number_cell(p, part_number(stream, "statistics.near.reached"));
    number_cell(p, part_number(stream, "statistics.off.reached"));
    number_cell(p, part_number(stream, "statistics.margin.reached"));
    page_html(p, "</tr>\n");
}

static void section_monitor_sentence(struct page *p, const struct json *monitor, const char *member)
{
    page_html(p, "<p class=\"note\">");
    page_text(p, part_text(monitor, member));
    page_html(p, "</p>\n");
}

static void section_monitor_table(struct page *p, const struct json *monitor)
{
    const struct json *clients = part(monitor, "clients"), *service = part(monitor, "service");
    page_table(p, "Alarms",
               "Clients that raised an alarm. Alarm: queries asked by then. Near, off, margin: queries asked "
               "when the wealth of that statistic reached the threshold of ",
               NULL);
    page_significant(p, part_number(monitor, "threshold"), 4);
    page_html(p, ".");
    page_columns(p, "Client|^Queries|^Alarm|^Near|^Off|^Margin");
    for (size_t i = 0; i < json_count(clients); i++)
        if (!isnan(part_number(json_at(clients, i), "alarm")))
            section_monitor_line(p, json_at(clients, i));
    if (service)
        section_monitor_line(p, service);
    page_table_end(p);
}

static void write_section(struct page *p, const struct report *r)
{
    const struct json *monitor = part(r->doc, "monitor");
    page_html(p,
              "<section id=\"monitor\" aria-labelledby=\"h-monitor\"><h2 id=\"h-monitor\">Queries that look "
              "like an attack</h2>\n<p>Clients: ");
    page_count(p, (double)json_count(part(monitor, "clients")));
    page_html(p, "; alarms: ");
    page_count(p, part_number(monitor, "alarms"));
    page_html(p, ".</p>\n");
    if (part_number(monitor, "alarms") > 0)
        section_monitor_table(p, monitor);
    section_monitor_sentence(p, monitor, "guarantee");
    section_monitor_sentence(p, monitor, "limit");
    section_monitor_sentence(p, monitor, "condition");
    page_html(p, "</section>\n");
}

static sotto_status check_clients(const struct reader *top)
{
    return check_objects(top, "monitor.clients", "name", NULL);
}

const struct document_section section_monitor = {"monitor", "sotto.monitor/1", check_clients, write_section};
