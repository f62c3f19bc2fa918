/* The record of a defended file: what was done with which numbers, what it cost, and that it promises nothing. */
#include "defend/defence.h"

#include "io/array/array.h"
#include "num/beta.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double confidence = 0.95;
static const char statement[] = "no differential privacy and no certificate: the effect of this defence was "
                                "measured against the attackers named here only";

static sotto_status keep_settings(struct sotto_defence_record *r, const struct sotto_defence *d)
{
    sotto_status status = SOTTO_OK;
    NEW(r->settings, DEFENCE_PARAMS);
    for (size_t i = 0; d->kind->params && d->kind->params[i].name; i++)
        r->settings[r->setting_count++] = (struct sotto_defence_setting){d->kind->params[i].name, d->args[i]};
done:
    return status;
}

static sotto_status hash_inputs(struct sotto_defence_record *r, const struct sotto_defence_file *files,
                                size_t count)
{
    sotto_status status = SOTTO_OK;
    NEW(r->inputs, count);
    for (size_t i = 0; i < count; i++) {
        r->inputs[i].role = files[i].role;
        TRY(array_file_sha256(r->inputs[i].sha256, files[i].path, NULL));
        if (!r->inputs[i].sha256[0])
            snprintf(r->inputs[i].sha256, sizeof r->inputs[i].sha256, "read from a pipe");
    }
    r->input_count = count;
done:
    return status;
}

/* Distances of the rows as they came out, and what the budget limits, expected over the coins. */
static struct sotto_defence_distortion measure_distortion(const struct sotto_defence_outcome *o)
{
    double l1 = 0, l2 = 0, expected = 0;
    size_t changed = 0;
    struct sotto_defence_distortion d = {0};
    for (size_t i = 0; i < o->n; i++) {
        double row1 = 0, row2 = 0;
        for (size_t k = 0; k < o->columns; k++) {
            double r = fabs((double)o->after[i * o->columns + k] - (double)o->before[i * o->columns + k]);
            row1 += r, row2 += r * r, d.largest_linf = fmax(d.largest_linf, r);
        }
        changed += row1 > 0;
        l1 += row1, l2 += sqrt(row2), expected += o->cost[i];
        d.largest_l1 = fmax(d.largest_l1, row1);
        d.largest_l2 = fmax(d.largest_l2, sqrt(row2));
        d.largest_expected = fmax(d.largest_expected, o->cost[i]);
    }
    double n = (double)o->n;
    d.expected = expected / n, d.mean_l1 = l1 / n, d.mean_l2 = l2 / n;
    d.changed_rows = (double)changed / n;
    return d;
}

static struct sotto_estimate defence_record_share(size_t k, size_t n)
{
    struct sotto_estimate e = {.estimate = (double)k / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)k, (double)n, confidence);
    return e;
}

static struct sotto_defence_utility compare_answers(const struct sotto_defence_outcome *o,
                                                    const float *before, const float *after, size_t classes)
{
    static const struct sotto_estimate none = {.estimate = NAN};
    size_t kept = 0, right_before = 0, right_after = 0;
    for (size_t i = 0; i < o->n; i++) {
        size_t then = defence_top(before + i * classes, classes),
               now = defence_top(after + i * classes, classes);
        kept += then == now;
        right_before += o->label && (int64_t)then == o->label[i];
        right_after += o->label && (int64_t)now == o->label[i];
    }
    return (struct sotto_defence_utility){(double)kept / (double)o->n,
                                          o->label ? defence_record_share(right_before, o->n) : none,
                                          o->label ? defence_record_share(right_after, o->n) : none};
}

/* By the task's answers, or by the rows themselves where these are posteriors. */
static struct sotto_defence_utility measure_utility(const struct sotto_defence_outcome *o, bool posteriors)
{
    static const struct sotto_defence_utility unknown = {NAN, {.estimate = NAN}, {.estimate = NAN}};
    return o->answers_before ? compare_answers(o, o->answers_before, o->answers_after, o->classes)
           : posteriors      ? compare_answers(o, o->before, o->after, o->columns)
                             : unknown;
}

sotto_status sotto_defence_record(struct sotto_defence_record *out, const struct sotto_defence *d,
                                  const struct sotto_defence_outcome *outcome,
                                  const struct sotto_defence_file *files, size_t file_count)
{
    REQUIRE_GIVEN(out, d, outcome, !file_count || files);
    sotto_status status = SOTTO_OK;
    struct sotto_defence_record r = {.defence = d->kind->name,
                                     .title = d->kind->title,
                                     .source = d->kind->source,
                                     .statement = statement,
                                     .budget = d->budget,
                                     .budget_unit = d->kind->unit,
                                     .seed = d->seed,
                                     .known = d->known,
                                     .rows = outcome->n,
                                     .columns = outcome->columns,
                                     .attack = outcome->measured};
    REQUIRE(outcome->n > 0, "defend: there are no rows; expected at least one");
    TRY(keep_settings(&r, d));
    TRY(hash_inputs(&r, files, file_count));
    r.distortion = measure_distortion(outcome);
    r.utility = measure_utility(outcome, d->kind->needs & DEFENCE_POSTERIORS);
    *out = r;
done:
    if (status != SOTTO_OK)
        sotto_defence_record_free(&r);
    return status;
}

void sotto_defence_record_free(struct sotto_defence_record *r)
{
    if (!r)
        return;
    base_free(r->settings);
    base_free(r->inputs);
    *r = (struct sotto_defence_record){0};
}
