/* A result in words and lines for the terminal. */
#include "base/memory.h"
#include "monitor/monitor_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *monitor_guarantee(char out[MONITOR_WORDS], const struct sotto_monitor_result *r)
{
    snprintf(out, MONITOR_WORDS,
             "The probability of any false alarm in a client's life%s is at most %g, if its blocks are "
             "exchangeable with "
             "the calibration blocks%s.",
             r->options.service ? ", its own or the service's," : "", r->options.alpha,
             r->options.service ? ", and those of all clients in their order of arrival too" : "");
    return out;
}

const char *monitor_limit(void)
{
    return "An attack with queries distributed as benign ones, such as one query for each candidate, is not "
           "found; only answers protect there (private training, fewer digits). Patience defeats the monitor "
           "too: "
           "many accounts with few queries each.";
}

const char *monitor_condition(const struct sotto_monitor_result *r)
{
    return r->training_checked
               ? "No row of calibration and bank is one of the training records that were given."
               : "Not checked: whether rows of calibration and bank are training records of the model, which "
                 "would raise "
                 "false alarms and make the bank a leak (training).";
}

static void print_row(FILE *out, uint64_t row)
{
    if (row)
        fprintf(out, " %9" PRIu64, row);
    else
        fprintf(out, " %9s", "-");
}

static void print_stream(FILE *out, const char *name, const struct sotto_monitor_stream *s)
{
    fprintf(out, "  %-32s %9" PRIu64, name, s->rows);
    print_row(out, s->alarm);
    for (int k = 0; k < SOTTO_MONITOR_STATISTICS; k++)
        print_row(out, s->reached[k]);
    fputc('\n', out);
}

sotto_status sotto_monitor_text(char **text, const struct sotto_monitor_result *r)
{
    REQUIRE_GIVEN(text, r);
    sotto_status status = SOTTO_OK;
    char *made = NULL, words[MONITOR_WORDS];
    size_t size;
    FILE *out = open_memstream(&made, &size);
    if (!out)
        FAIL(SOTTO_ENOMEM, "monitor: out of memory for a text");
    fprintf(out,
            "alpha %g; blocks of %zu rows; %zu calibration blocks, a bank of %zu rows; threshold of a "
            "wealth: %g\n"
            "earliest possible alarm: after %zu blocks (%zu rows)\n\n",
            r->options.alpha, r->options.block, r->calibration_blocks, r->bank_rows, r->threshold,
            r->fewest_blocks, r->fewest_blocks * r->options.block);
    fprintf(out, "  %-32s %9s %9s %9s %9s %9s\n", "client", "rows", "alarm at", "near", "off", "margin");
    for (size_t i = 0; i < r->clients; i++)
        print_stream(out, r->client[i].name, &r->client[i]);
    if (r->options.service)
        print_stream(out, "(all clients together)", &r->service);
    fprintf(out, "\n%s\n%s\n%s\n", monitor_guarantee(words, r), monitor_limit(), monitor_condition(r));
    if (fclose(out) != 0)
        FAIL(SOTTO_ENOMEM, "monitor: out of memory for a text");
    NEW_TEXT(*text, made);
done:
    free(made); /* of open_memstream() */
    return status;
}
