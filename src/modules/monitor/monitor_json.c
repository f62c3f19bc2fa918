/* A result as its "sotto.monitor/1" object. */
#include "io/json/json.h"
#include "monitor/monitor_words.h"

static bool monitor_json_used(const struct sotto_monitor_result *r, int k)
{
    return k != SOTTO_MARGIN || r->classes > 0;
}

static struct json *alarm_json(uint64_t row)
{
    return row ? json_make_integer((int64_t)row) : json_make_null();
}

static struct json *column_json(const struct sotto_monitor_stream *s, size_t offset)
{
    struct json *list = json_make_array();
    for (size_t b = 0; b < s->blocks; b++)
        json_push(&list, json_make_real(*(const double *)((const char *)&s->block[b] + offset)));
    return list;
}

static struct json *stream_json(const struct sotto_monitor_stream *s, const struct sotto_monitor_result *r)
{
    struct json *j = json_make_object(), *statistics = json_make_object();
    if (s->name[0])
        json_put_text(&j, "name", s->name);
    json_put_integer(&j, "rows", (int64_t)s->rows);
    json_put_integer(&j, "blocks", (int64_t)s->blocks);
    json_put(&j, "alarm", alarm_json(s->alarm));
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++) {
        struct json *one = json_make_object();
        size_t at = (size_t)k * sizeof(double);
        json_put(&one, "reached", alarm_json(s->reached[k]));
        json_put(&one, "value", column_json(s, offsetof(struct sotto_monitor_block, value) + at));
        json_put(&one, "p", column_json(s, offsetof(struct sotto_monitor_block, p) + at));
        json_put(&one, "log_wealth", column_json(s, offsetof(struct sotto_monitor_block, log_wealth) + at));
        if (monitor_json_used(r, k))
            json_put(&statistics, monitor_statistic_name((enum sotto_monitor_statistic)k), one);
        else
            json_free(one);
    }
    json_put(&j, "statistics", statistics);
    return j;
}

static struct json *result_json(const struct sotto_monitor_result *r)
{
    struct json *j = json_make_object(), *calibration = json_make_object(), *clients = json_make_array();
    char words[MONITOR_WORDS];
    size_t alarms = r->service.alarm != 0;
    json_put_text(&j, "schema", "sotto.monitor/1");
    json_put_real(&j, "alpha", r->options.alpha);
    json_put_real(&j, "threshold", r->threshold);
    json_put_integer(&j, "block", (int64_t)r->options.block);
    json_put_integer(&calibration, "blocks", (int64_t)r->calibration_blocks);
    json_put_integer(&calibration, "service_blocks", (int64_t)r->service_calibration_blocks);
    json_put_integer(&calibration, "left_over", (int64_t)r->calibration_left_over);
    json_put_integer(&calibration, "bank_rows", (int64_t)r->bank_rows);
    json_put_integer(&calibration, "columns", (int64_t)r->columns);
    json_put(&calibration, "classes", r->classes ? json_make_integer((int64_t)r->classes) : json_make_null());
    json_put_boolean(&calibration, "training_checked", r->training_checked);
    json_put(&j, "calibration", calibration);
    json_put_integer(&j, "fewest_blocks", (int64_t)r->fewest_blocks);
    json_put_text(&j, "guarantee", monitor_guarantee(words, r));
    json_put_text(&j, "limit", monitor_limit());
    json_put_text(&j, "condition", monitor_condition(r));
    for (size_t i = 0; i < r->clients; i++) {
        json_push(&clients, stream_json(&r->client[i], r));
        alarms += r->client[i].alarm != 0;
    }
    json_put_integer(&j, "alarms", (int64_t)alarms);
    json_put(&j, "clients", clients);
    json_put(&j, "service", r->options.service ? stream_json(&r->service, r) : json_make_null());
    return j;
}

sotto_status sotto_monitor_json(char **json, const struct sotto_monitor_result *r)
{
    REQUIRE_GIVEN(json, r);
    struct json *j = result_json(r);
    sotto_status status = json_dump(json, j, JSON_LINE);
    json_free(j);
    return status;
}

sotto_status sotto_monitor_save(const char *path, const struct sotto_monitor_result *r)
{
    REQUIRE_GIVEN(path, r);
    struct json *j = result_json(r);
    sotto_status status = json_write_file(path, j, JSON_PRETTY);
    json_free(j);
    return status;
}
