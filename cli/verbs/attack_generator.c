#include "verbs/attack_generator.h"

#include "inputs/image_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char attack_generator_lines[] =
    "logan, gan-leaks-white, gan-leaks-partial, reconstruction, elbo\n                   "
    "Membership in a generative model's training set "
    "(needs --generator, --data, rows of members and non-members)\n";

enum { MEMBER, NONMEMBER, SIDES };
static const char *const side_options[SIDES] = {"member-indices", "nonmember-indices"};

struct work {
    struct sotto_dataset *data;
    struct sotto_generator *g;
    struct sotto_array rows[SIDES];
    double *scores[SIDES];
    const char *access;
};

static sotto_status open_files(struct work *w, const struct options *o, const struct sotto_context *ctx)
{
    sotto_status status = option_require(o, "data");
    for (int k = 0; status == SOTTO_OK && k < SIDES; k++)
        status = option_require(o, side_options[k]);
    if (status == SOTTO_OK)
        status = sotto_generator_load(&w->g, option_text(o, "generator"));
    if (status == SOTTO_OK)
        status = sotto_dataset_open(&w->data, option_text(o, "data"), ctx);
    for (int k = 0; status == SOTTO_OK && k < SIDES; k++)
        status = image_rows_file(&w->rows[k], w->data, option_text(o, side_options[k]));
    return status;
}

/* A record that both sides claim is no test of anything. */
static sotto_status check_disjoint(const struct work *w)
{
    const int64_t *a = w->rows[MEMBER].data, *b = w->rows[NONMEMBER].data;
    char *seen = calloc(w->data->n, 1);
    size_t shared = 0;
    if (!seen)
        return cli_fail(SOTTO_ENOMEM, "attack: out of memory");
    for (size_t i = 0; i < w->rows[MEMBER].count; i++)
        seen[a[i]] = 1;
    for (size_t i = 0; i < w->rows[NONMEMBER].count; i++)
        shared += (size_t)seen[b[i]];
    free(seen);
    return shared
               ? cli_fail(SOTTO_EINVAL, "attack: %zu rows are in both --%s and --%s; expected no common row",
                          shared, side_options[MEMBER], side_options[NONMEMBER])
               : SOTTO_OK;
}

static sotto_status score(struct work *w, const char *attack, const struct options *o,
                          const struct sotto_context *ctx)
{
    struct sotto_generator_score_options options = {0};
    sotto_status status = option_members(&options, sotto_generator_score_option_table(), o);
    for (int k = 0; status == SOTTO_OK && k < SIDES; k++) {
        if (!(w->scores[k] = calloc(w->rows[k].count, sizeof(double))))
            return cli_fail(SOTTO_ENOMEM, "attack: out of memory for %zu scores", w->rows[k].count);
        status = sotto_generator_score(w->scores[k], &w->access, attack, w->g, w->data, w->rows[k].data,
                                       w->rows[k].count, &options, ctx);
    }
    return status;
}

static sotto_status report(const struct sotto_audit_result *result, const struct options *o, int json)
{
    const char *folder = option_text(o, "output");
    struct sotto_report_input files[] = {{"generator", option_text(o, "generator")},
                                         {side_options[MEMBER], option_text(o, side_options[MEMBER])},
                                         {side_options[NONMEMBER], option_text(o, side_options[NONMEMBER])}};
    struct sotto_audit_facts facts = {option_text(o, "title"), files, sizeof files / sizeof *files};
    char *text = NULL;
    sotto_status status = folder ? sotto_report_audit(folder, result, &facts) : SOTTO_OK;
    if (status == SOTTO_OK)
        status = json ? sotto_audit_encode(&text, result) : sotto_audit_summary(&text, result);
    if (status == SOTTO_OK)
        printf(json ? "%s\n" : "%s", text);
    if (status == SOTTO_OK && !json && folder)
        printf("\nreport: %s/report.html\n", folder);
    sotto_text_free(text);
    return status;
}

sotto_status attack_generator_run(const struct options *o, const char *attack,
                                  const struct sotto_audit_options *audit, const struct sotto_context *ctx,
                                  int json)
{
    struct work w = {0};
    struct sotto_audit_result result = {0};
    sotto_status status = open_files(&w, o, ctx);
    if (status == SOTTO_OK)
        status = check_disjoint(&w);
    if (status == SOTTO_OK)
        status = score(&w, attack, o, ctx);
    struct sotto_audit_scores named = {
        .name = attack, .member = w.scores[MEMBER], .nonmember = w.scores[NONMEMBER], .access = w.access};
    struct sotto_audit_input in = {.n_member = w.rows[MEMBER].count,
                                   .n_nonmember = w.rows[NONMEMBER].count,
                                   .named = &named,
                                   .named_count = 1};
    if (status == SOTTO_OK)
        status = sotto_audit(&result, &in, audit, ctx);
    if (status == SOTTO_OK)
        status = report(&result, o, json);
    sotto_audit_result_free(&result);
    for (int k = 0; k < SIDES; k++) {
        sotto_array_clear(&w.rows[k]);
        free(w.scores[k]);
    }
    sotto_generator_free(w.g);
    sotto_dataset_free(w.data);
    return status;
}
