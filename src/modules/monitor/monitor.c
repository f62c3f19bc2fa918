#include "io/text/utf8.h"
#include "monitor/bet.h"
#include "monitor/message.h"
#include "monitor/monitor_state.h"
#include "monitor/monitor_words.h"
#include "options/module_tables.h"
#include "sotto/lab/ssl.h"
#include "sotto/option.h"

#include <math.h>
#include <string.h>

const char *monitor_statistic_name(enum sotto_monitor_statistic s)
{
    static const char *const names[] = {"near", "off", "margin"};
    return s < SOTTO_MONITOR_STATISTICS ? names[s] : "";
}

sotto_status sotto_monitor_make(struct sotto_monitor **out, const struct sotto_monitor_input *in,
                                const struct sotto_monitor_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, in);
    sotto_status status = SOTTO_OK;
    struct sotto_monitor *m = NULL;
    NEW(m, 1);
    struct sotto_monitor_result *r = &m->result;
    TRY(sotto_options_resolve(&r->options, options, options_monitor));
    TRY(sotto_options_check(&r->options, options_monitor, NULL));
    m->shape = (struct block_shape){.rows = r->options.block,
                                    .columns = in->encoder ? sotto_encoder_width(in->encoder) : in->columns,
                                    .used = {true, true, in->calibration_answers != NULL},
                                    .distances = monitor_distances_best()};
    m->encoder = in->encoder;
    m->channels = in->channels, m->height = in->height, m->width = in->width;
    m->threads = ctx ? ctx->threads : 0;
    TRY(monitor_calibrate(m, in, ctx));
    r->statistics = m->shape.used[SOTTO_MARGIN] ? 3 : 2;
    r->threshold = (double)r->statistics * (r->options.service ? 2 : 1) / r->options.alpha;
    m->log_threshold = log(r->threshold);
    r->calibration_blocks = m->calibration.blocks;
    r->service_calibration_blocks = m->service_calibration.blocks;
    r->fewest_blocks = bet_fewest(r->calibration_blocks, m->log_threshold);
    TRY(stream_begin(&m->service, "", &m->shape));
    *out = m;
    m = NULL;
done:
    sotto_monitor_free(m);
    return status;
}

void sotto_monitor_free(struct sotto_monitor *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->room; i++)
        stream_clear(&m->clients[i]);
    stream_clear(&m->service);
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++) {
        base_free(m->calibration.value[k]);
        base_free(m->service_calibration.value[k]);
    }
    base_free(m->clients);
    base_free(m->seen);
    base_free(m->bank);
    base_free(m);
}

/* Clients are few, and the next rows are mostly those of the latest one. */
static sotto_status find_client(size_t *out, struct sotto_monitor *m, const char *name)
{
    sotto_status status = SOTTO_OK;
    size_t count = m->result.clients, i = m->latest;
    char shown[200];
    if (i < count && strcmp(m->clients[i].seen.name, name) == 0) {
        *out = i;
        return SOTTO_OK;
    }
    REQUIRE(client_name_good(name), "monitor: '%s' is no client name; expected 1 to 64 bytes of text",
            utf8_printable(shown, sizeof shown, name, strlen(name)));
    for (i = 0; i < count && strcmp(m->clients[i].seen.name, name) != 0;)
        i++;
    if (i == count && count == m->result.options.clients)
        FAIL(SOTTO_EBUDGET, "monitor: more than %zu clients; expected at most {clients}", count);
    if (i == m->room) {
        size_t room = m->room ? 2 * m->room : 4;
        REGROW(m->seen, m->room, room);
        REGROW(m->clients, m->room, room);
        m->room = room;
    }
    if (i == count) {
        stream_clear(&m->clients[i]);
        TRY(stream_begin(&m->clients[i], name, &m->shape));
        m->result.clients++;
    }
    *out = m->latest = i;
done:
    return status;
}

static sotto_status feed_row(struct sotto_monitor *m, struct stream *s, const float *row, double off,
                             const float *answer)
{
    sotto_status status = SOTTO_OK;
    double margin = answer ? monitor_margin(answer, m->result.classes) : 1;
    TRY(stream_add(s, row, off, margin, &m->shape, &m->calibration, m->log_threshold));
    if (m->result.options.service)
        TRY(stream_add(&m->service, row, off, margin, &m->shape, &m->service_calibration, m->log_threshold));
done:
    return status;
}

sotto_status monitor_feed(struct sotto_monitor *m, const char *client, const float *rows,
                          const float *answers, size_t n)
{
    REQUIRE_GIVEN(m, !n || rows);
    sotto_status status = SOTTO_OK;
    size_t at = 0, classes = m->result.classes;
    const struct sotto_context alone = {.threads = m->threads};
    float *embedded = NULL;
    double *off = NULL;
    if (n == 0)
        goto done;
    REQUIRE(classes == 0 || answers, "monitor: answers are missing; the calibration has them");
    TRY(monitor_finite(rows, n, m->result.columns, "monitor: queries"));
    if (classes)
        TRY(monitor_finite(answers, n, classes, "monitor: answers"));
    if (m->encoder)
        TRY(monitor_embed(&embedded, m, rows, n, &alone));
    const float *x = embedded ? embedded : rows;
    NEW(off, n);
    monitor_off(off, m, x, n);
    TRY(find_client(&at, m, client ? client : "anonymous"));
    for (size_t i = 0; i < n; i++)
        TRY(feed_row(m, &m->clients[at], x + i * m->shape.columns, off[i],
                     classes ? answers + i * classes : NULL));
done:
    base_free(embedded);
    base_free(off);
    if (m->result.clients > at)
        m->seen[at] = m->clients[at].seen;
    m->result.client = m->seen;
    m->result.service = m->service.seen;
    return status;
}

const struct sotto_monitor_result *sotto_monitor_result(const struct sotto_monitor *m)
{
    GIVEN_OR(NULL, m);
    return &m->result;
}
