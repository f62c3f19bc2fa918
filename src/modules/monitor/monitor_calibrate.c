/* Calibration rows become blocks, each from the rows of one client, in the order in which they were asked: shuffled over
 * clients that come in bursts they would be blocks of a kind that no client ever sends. */
#include "attack/query/record_overlap.h"
#include "monitor/monitor_state.h"
#include "sotto/lab/ssl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int monitor_calibrate_rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct rows_of {
    const char *name;
    const float *x;
    size_t n;
    const struct sotto_provenance *source;
};

static int rising_rows(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Records of one set that both name. *known: both say which records of which set they are. */
static sotto_status check_sources(bool *known, const struct rows_of *a, const struct rows_of *b)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_provenance *p = a->source, *q = b->source;
    int64_t *rows = NULL;
    *known = p && q && p->rows && q->rows && p->set[0] && q->set[0];
    if (!*known || strcmp(p->set, q->set) != 0)
        goto done;
    NEW(rows, q->n);
    memcpy(rows, q->rows, q->n * sizeof *rows);
    qsort(rows, q->n, sizeof *rows, rising_rows);
    for (size_t i = 0; i < p->n; i++)
        if (bsearch(&p->rows[i], rows, q->n, sizeof *rows, rising_rows))
            FAIL(SOTTO_EINVAL,
                 "monitor: record %lld of set %s is in both %s and %s; expected disjoint records",
                 (long long)p->rows[i], p->set, a->name, b->name);
done:
    base_free(rows);
    return status;
}

/* Equal rows of two sources that are known are different records. */
static sotto_status check_apart(const struct rows_of *a, const struct rows_of *b, size_t columns)
{
    sotto_status status = SOTTO_OK;
    size_t shared = 0;
    bool known;
    TRY(check_sources(&known, a, b));
    if (known)
        goto done;
    TRY(record_overlap(&shared, a->x, a->n, b->x, b->n, columns));
    REQUIRE(shared == 0, "monitor: %zu rows of %s are equal to rows of %s; expected disjoint records", shared,
            a->name, b->name);
done:
    return status;
}

static sotto_status check_input(struct sotto_monitor *m, const struct sotto_monitor_input *in)
{
    sotto_status status = SOTTO_OK;
    const struct rows_of all[3] = {
        {"the calibration", in->calibration, in->calibration_rows, in->calibration_source},
        {"the bank", in->bank, in->bank_rows, in->bank_source},
        {"the training records", in->training, in->training_rows, in->training_source}};
    REQUIRE(in->columns > 0, "monitor: rows have 0 columns; expected at least 1");
    REQUIRE(in->calibration && in->bank && in->bank_rows > 0, "monitor: expected calibration and bank rows");
    REQUIRE(!in->calibration_answers || in->classes >= 2,
            "monitor: answers have %zu classes; expected at least 2", in->classes);
    if (in->encoder) {
        REQUIRE(in->channels * in->height * in->width == in->columns,
                "monitor: rows have %zu columns but images %zux%zux%zu pixels; expected one column for each",
                in->columns, in->channels, in->height, in->width);
        REQUIRE(
            sotto_encoder_statement(in->encoder)[0] == '\0',
            "monitor: private records trained the encoder (%s), so alarms would depend on who is a member; "
            "expected a public encoder",
            sotto_encoder_statement(in->encoder));
    }
    for (int i = 0; i < 3; i++)
        TRY(monitor_finite(all[i].x, all[i].x ? all[i].n : 0, in->columns, all[i].name));
    if (in->calibration_answers)
        TRY(monitor_finite(in->calibration_answers, in->calibration_rows, in->classes,
                           "the calibration's answers"));
    TRY(check_apart(&all[0], &all[1], in->columns));
    for (int i = 0; i < 2 && in->training; i++)
        TRY(check_apart(&all[i], &all[2], in->columns));
    m->result.training_checked = in->training != NULL;
done:
    return status;
}

struct numbered {
    int64_t client;
    size_t row;
};

static int by_client(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->client != y->client)
        return x->client < y->client ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Takes over the values of the stream's blocks. */
static sotto_status take_values(struct calibration *out, struct stream *s, size_t more)
{
    sotto_status status = SOTTO_OK;
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++) {
        REGROW(out->value[k], out->blocks, out->blocks + more);
        for (size_t b = 0; b < more; b++)
            out->value[k][out->blocks + b] = s->seen.block[b].value[k];
    }
    out->blocks += more;
done:
    return status;
}

/* order (n): runs of one client each, and in them the order of arrival. */
static sotto_status blocks_of(struct calibration *out, struct sotto_monitor *m,
                              const struct sotto_monitor_input *in, const struct numbered *order,
                              const double *off, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct stream s = {0};
    for (size_t i = 0; i < in->calibration_rows; i++) {
        size_t row = order[i].row;
        if (i % 64 == 0)
            TRY(context_check(ctx, "monitor: stopped while it was calibrated"));
        if (i == 0 || order[i].client != order[i - 1].client) {
            stream_clear(&s);
            TRY(stream_begin(&s, "", &m->shape));
        }
        TRY(stream_add(&s, in->calibration + row * in->columns, off[row],
                       in->calibration_answers
                           ? monitor_margin(in->calibration_answers + row * in->classes, in->classes)
                           : 1,
                       &m->shape, NULL, 0));
        if (i + 1 == in->calibration_rows || order[i + 1].client != order[i].client)
            TRY(take_values(out, &s, s.seen.blocks));
    }
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS && out->blocks; k++)
        if (m->shape.used[k])
            qsort(out->value[k], out->blocks, sizeof *out->value[k], monitor_calibrate_rising);
    REQUIRE(out->blocks > 0,
            "monitor: no block of %zu calibration rows is complete; expected more rows, or a smaller {block}",
            m->shape.rows);
done:
    stream_clear(&s);
    return status;
}

static sotto_status measure_off(double *off, struct sotto_monitor *m, const struct sotto_monitor_input *in,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < in->calibration_rows; i += 64) {
        const size_t left = in->calibration_rows - i;
        TRY(context_check(ctx, "monitor: stopped while it was calibrated"));
        monitor_off(off + i, m, in->calibration + i * in->columns, left < 64 ? left : 64);
    }
done:
    return status;
}

sotto_status monitor_calibrate(struct sotto_monitor *m, const struct sotto_monitor_input *given,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_monitor_input seen = *given, *in = &seen;
    struct numbered *order = NULL;
    double *off = NULL;
    float *calibration = NULL, *bank = NULL;
    size_t n = in->calibration_rows;
    TRY(check_input(m, in));
    m->result.columns = in->columns;
    if (in->encoder) {
        TRY(monitor_embed(&calibration, m, in->calibration, n, ctx));
        TRY(monitor_embed(&bank, m, in->bank, in->bank_rows, ctx));
        seen.calibration = calibration, seen.bank = bank;
        seen.columns = m->shape.columns;
    }
    m->result.bank_rows = in->bank_rows;
    m->result.classes = in->calibration_answers ? in->classes : 0;
    NEW_ROWS(m->bank, in->bank_rows, in->columns);
    memcpy(m->bank, in->bank, in->bank_rows * in->columns * sizeof *m->bank);
    NEW(order, n);
    NEW(off, n);
    TRY(measure_off(off, m, in, ctx));
    for (size_t i = 0; i < n; i++)
        order[i].row = i;
    if (m->result.options.service)
        TRY(blocks_of(&m->service_calibration, m, in, order, off, ctx));
    for (size_t i = 0; i < n && in->calibration_clients; i++)
        order[i].client = in->calibration_clients[i];
    qsort(order, n, sizeof *order, by_client);
    TRY(blocks_of(&m->calibration, m, in, order, off, ctx));
    m->result.calibration_left_over = n - m->calibration.blocks * m->shape.rows;
done:
    base_free(order);
    base_free(off);
    base_free(calibration);
    base_free(bank);
    return status;
}
