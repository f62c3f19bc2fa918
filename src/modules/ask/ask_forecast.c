#include "ask/ask_forecast.h"

#include "ask/ask_answers.h"
#include "ask/ask_choice.h"
#include "ask/ask_interval.h"
#include "ask/ask_json.h"

#include "base/memory.h"
#include "io/text/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Half a 95 % interval. A mean of N rows has the error of a sum over N, at most, where its noise is far below N. */
static struct ask_forecast forecast_of(const struct ask_plan *plan, const struct ask_query *q, double scale,
                                       bool gaussian, bool at_once)
{
    const double one = 1 / (double)q->mass, rare = 0.05 / (at_once ? (double)ask_noisy_answers(plan) : 1),
                 row = ask_half_width(one, 0, scale, rare, gaussian) / sqrt(ask_precision(plan, q));
    const struct encoding_column *x = q->column_count ? &plan->schema->columns[q->columns[0]] : NULL;
    if (q->parts == 0)
        return (struct ask_forecast){ASK_UNIT_NONE, 0};
    if (q->one_by_one)
        return (struct ask_forecast){ASK_UNIT_RANKS, ask_choice_within(q, plan, scale, rare, gaussian)};
    switch (q->statistic) {
    case ASK_COUNT:
        return (struct ask_forecast){ASK_UNIT_ROWS, row};
    case ASK_SUM:
        return (struct ask_forecast){
            ASK_UNIT_COLUMN,
            q->single ? (x->high - x->low) * row
                      : ask_half_width(fabs(x->high) * one, fabs(x->low) * one, scale, rare, gaussian)};
    case ASK_MEAN:
        return (struct ask_forecast){ASK_UNIT_MEAN, (x->high - x->low) * row};
    default: /* at once with all of its cells */
        return (struct ask_forecast){
            ASK_UNIT_CELLS,
            ask_half_width(one, 0, scale, at_once ? rare / (double)q->parts : rare, gaussian) /
                sqrt(ask_precision(plan, q))};
    }
}

sotto_status ask_forecast_scale(double *scale, const struct ask_plan *plan, const char *max_error,
                                bool gaussian, bool at_once)
{
    sotto_status status = SOTTO_OK;
    const char *sign = strrchr(max_error, '=');
    const size_t length = sign ? (size_t)(sign - max_error) : 0;
    double error = 0;
    size_t i = 0;
    if (!sign || !number_real(&error, sign + 1, strlen(sign + 1)) || !(error > 0) || !isfinite(error))
        FAIL(SOTTO_EUSAGE, "ask: {max_error} is '%.60s'; expected NAME=E, E above 0", max_error);
    for (; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        const char *name = q->name[0] ? q->name : q->text;
        if (strlen(name) == length && memcmp(name, max_error, length) == 0)
            break;
    }
    if (i == plan->count)
        FAIL(SOTTO_EUSAGE, "ask: {max_error} names no query '%.*s'; expected its name behind 'as'",
             (int)(length < 60 ? length : 60), max_error);
    const struct ask_forecast f = forecast_of(plan, &plan->queries[i], 1, gaussian, at_once);
    if (f.unit != ASK_UNIT_ROWS && f.unit != ASK_UNIT_COLUMN && f.unit != ASK_UNIT_RANKS)
        FAIL(SOTTO_EUSAGE,
             "ask: the error of '%.*s' depends on how many rows there are, which is read behind the charge; "
             "expected a count, a histogram, a cross table, a sum or quantiles in {max_error}",
             (int)(length < 60 ? length : 60), max_error);
    *scale = error / f.within;
done:
    return status;
}

static void forecast_print(FILE *f, const struct ask_query *q, struct ask_forecast c)
{
    fprintf(f, "  %s: ", q->name[0] ? q->name : q->text);
    switch (c.unit) {
    case ASK_UNIT_NONE:
        fprintf(f, "public, free\n");
        return;
    case ASK_UNIT_ROWS:
        fprintf(f, "within %.3g %s\n", c.within, q->persons ? "persons" : "rows");
        return;
    case ASK_UNIT_COLUMN:
        fprintf(f, "within %.4g\n", c.within);
        return;
    case ASK_UNIT_MEAN:
        fprintf(f, "within about %.4g / N, N the rows that it is the mean of\n", c.within);
        return;
    case ASK_UNIT_RANKS:
        fprintf(f, "each within %.3g ranks\n", c.within);
        return;
    default:
        if (q->single)
            fprintf(f, "its cell within %.3g rows\n", c.within);
        else
            fprintf(f, "each of its %zu cells within %.3g rows\n", q->groups * q->parts, c.within);
    }
}

static sotto_status write_text(char **text, const struct ask_plan *plan, const struct ask_forecast *forecasts,
                               struct sotto_dp target, bool at_once)
{
    sotto_status status = SOTTO_OK;
    char *made = NULL;
    size_t size;
    FILE *f = open_memstream(&made, &size);
    if (!f)
        FAIL(SOTTO_ENOMEM, "ask: out of memory for a text");
    fprintf(f, "epsilon %g at delta %g, %s noise; %s lie\n", target.epsilon, target.delta,
            target.delta > 0 ? "gaussian" : "laplace",
            at_once ? "with 95 % probability all answers" : "95 % of the answers");
    if (plan->block)
        fprintf(f, "  %zu single cells share one radius: %.2f of the deviation of Laplace noise\n",
                plan->block,
                sqrt((double)(plan->block + 1) * (double)(plan->block + 2) / 6) / (double)plan->block);
    for (size_t i = 0; i < plan->count; i++)
        forecast_print(f, &plan->queries[i], forecasts[i]);
    fprintf(f, "of what they are without noise. The table was not read, and nothing was charged.\n");
    if (fclose(f) != 0)
        FAIL(SOTTO_ENOMEM, "ask: out of memory for a text");
    NEW_TEXT(*text, made);
done:
    free(made); /* of open_memstream() */
    return status;
}

sotto_status ask_forecast_write(char **text, const struct ask_plan *plan, double scale,
                                struct sotto_dp target, bool at_once, bool json)
{
    sotto_status status = SOTTO_OK;
    struct ask_forecast *forecasts = NULL;
    NEW(forecasts, plan->count);
    for (size_t i = 0; i < plan->count; i++)
        forecasts[i] = forecast_of(plan, &plan->queries[i], scale, target.delta > 0, at_once);
    TRY(json ? ask_json_forecasts(text, plan, forecasts)
             : write_text(text, plan, forecasts, target, at_once));
done:
    base_free(forecasts);
    return status;
}
