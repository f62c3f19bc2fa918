/* sotto attack NAME --generator FILE: attacks on a generative model of `sotto generate train`. */
#include "inputs/attack_inputs.h"
#include "inputs/image_inputs.h"
#include "sotto/lab/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sides that are attacked, and what the attacker knows already. */
enum { MEMBER, NONMEMBER, SIDES, KNOWN_MEMBER = SIDES, KNOWN_NONMEMBER, LISTS };
static const char *const row_options[LISTS] = {"member-indices", "nonmember-indices", "known-member-indices",
                                               "known-nonmember-indices"};

struct work {
    struct sotto_dataset *data;
    struct sotto_generator *g, *own; /* own: the attacker's; or NULL */
    struct sotto_array rows[LISTS];
    double *scores[SIDES];
    const char *access;
};

static int attack_generator_blackbox(const char *attack)
{
    return strcmp(attack, "logan-blackbox") == 0;
}

static sotto_status check_known(const char *attack, const struct options *o)
{
    int members = option_given(o, row_options[KNOWN_MEMBER]),
        nonmembers = option_given(o, row_options[KNOWN_NONMEMBER]);
    if ((members || nonmembers) && !attack_generator_blackbox(attack))
        return cli_fail(SOTTO_EUSAGE, "attack '%s' uses no known records; remove --%s and --%s", attack,
                        row_options[KNOWN_MEMBER], row_options[KNOWN_NONMEMBER]);
    if (members != nonmembers)
        return cli_fail(SOTTO_EUSAGE, "attack: known records need both --%s and --%s",
                        row_options[KNOWN_MEMBER], row_options[KNOWN_NONMEMBER]);
    return SOTTO_OK;
}

static sotto_status open_files(struct work *w, const char *attack, const struct options *o,
                               const struct sotto_context *ctx)
{
    TRY_OR_RETURN(option_require(o, "data"));
    for (int k = 0; k < SIDES; k++)
        TRY_OR_RETURN(option_require(o, row_options[k]));
    TRY_OR_RETURN(check_known(attack, o));
    TRY_OR_RETURN(sotto_generator_load(&w->g, option_text(o, "generator")));
    TRY_OR_RETURN(sotto_dataset_open(&w->data, option_text(o, "data"), ctx));
    for (int k = 0; k < LISTS; k++)
        if (option_given(o, row_options[k]))
            TRY_OR_RETURN(image_rows_file(&w->rows[k], w->data, option_text(o, row_options[k])));
    return SOTTO_OK;
}

static sotto_status check_pair(char *seen, const struct work *w, int first, int second)
{
    const int64_t *a = w->rows[first].data, *b = w->rows[second].data;
    size_t shared = 0;
    memset(seen, 0, w->data->n);
    for (size_t i = 0; i < w->rows[first].count; i++)
        seen[a[i]] = 1;
    for (size_t i = 0; i < w->rows[second].count; i++)
        shared += (size_t)seen[b[i]];
    return shared
               ? cli_fail(SOTTO_EINVAL, "attack: %zu rows are in both --%s and --%s; expected no common row",
                          shared, row_options[first], row_options[second])
               : SOTTO_OK;
}

/* A record that two lists claim is no test of anything. */
static sotto_status check_disjoint(const struct work *w)
{
    char *seen = malloc(w->data->n);
    sotto_status status = seen ? SOTTO_OK : cli_fail(SOTTO_ENOMEM, "attack: out of memory");
    for (int first = 0; status == SOTTO_OK && first < LISTS; first++)
        for (int second = first + 1; status == SOTTO_OK && second < LISTS; second++)
            status = check_pair(seen, w, first, second);
    free(seen);
    return status;
}

static sotto_status attack_generator_imitate(struct work *w, const struct options *o,
                                             const struct sotto_context *ctx)
{
    struct sotto_imitation_options options = {0};
    struct sotto_known_records known = {.data = w->data,
                                        .member = w->rows[KNOWN_MEMBER].data,
                                        .n_member = w->rows[KNOWN_MEMBER].count,
                                        .nonmember = w->rows[KNOWN_NONMEMBER].data,
                                        .n_nonmember = w->rows[KNOWN_NONMEMBER].count};
    int knows = option_given(o, row_options[KNOWN_MEMBER]);
    TRY_OR_RETURN(option_members(&options, sotto_option_table("imitation"), o));
    TRY_OR_RETURN(sotto_generator_imitate(&w->own, w->g, knows ? &known : NULL, &options, ctx));
    w->access = knows ? "samples, known records" : "samples";
    return SOTTO_OK;
}

static sotto_status attack_generator_score(struct work *w, const char *attack, const struct options *o,
                                           const struct sotto_context *ctx)
{
    struct sotto_generator_score_options options = {0};
    TRY_OR_RETURN(option_members(&options, sotto_option_table("generator_score"), o));
    if (attack_generator_blackbox(attack))
        TRY_OR_RETURN(attack_generator_imitate(w, o, ctx));
    for (int k = 0; k < SIDES; k++) {
        if (!(w->scores[k] = calloc(w->rows[k].count, sizeof(double))))
            return cli_fail(SOTTO_ENOMEM, "attack: out of memory for %zu scores", w->rows[k].count);
        TRY_OR_RETURN(sotto_generator_score(w->scores[k], w->own ? NULL : &w->access,
                                            w->own ? "logan" : attack, w->own ? w->own : w->g, w->data,
                                            w->rows[k].data, w->rows[k].count, &options, ctx));
    }
    return SOTTO_OK;
}

static sotto_status attack_generator_report(const struct sotto_audit_result *result, const struct options *o,
                                            int json)
{
    const char *folder = option_text(o, "output");
    struct sotto_report_input files[] = {{"generator", option_text(o, "generator")},
                                         {row_options[MEMBER], option_text(o, row_options[MEMBER])},
                                         {row_options[NONMEMBER], option_text(o, row_options[NONMEMBER])}};
    const struct sotto_audit_facts facts = {.title = option_text(o, "title"),
                                            .inputs = files,
                                            .inputs_count = sizeof files / sizeof *files,
                                            .command = option_shown_command(o)};
    char *text = NULL;
    sotto_status status = SOTTO_OK;
    TRY(folder ? sotto_report_audit(folder, result, &facts) : SOTTO_OK);
    TRY(json ? sotto_audit_encode(&text, result) : sotto_audit_summary(&text, result));
    printf(json ? "%s\n" : "%s", text);
    if (!json && folder)
        printf("\nreport: %s/report.html\n", folder);
done:
    sotto_text_free(text);
    return status;
}

static sotto_status attack_generator(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct work w = {0};
    struct sotto_audit_result result = {0};
    struct sotto_audit_options audit;
    double rates[ATTACK_RATES];
    const char *attack = option_argument(o, 0);
    sotto_status status = SOTTO_OK;
    TRY(option_check_report(o));
    TRY(attack_statistics(&audit, rates, o));
    TRY(open_files(&w, attack, o, ctx));
    TRY(check_disjoint(&w));
    TRY(attack_generator_score(&w, attack, o, ctx));
    struct sotto_audit_scores named = {
        .name = attack, .member = w.scores[MEMBER], .nonmember = w.scores[NONMEMBER], .access = w.access};
    struct sotto_audit_input in = {.n_member = w.rows[MEMBER].count,
                                   .n_nonmember = w.rows[NONMEMBER].count,
                                   .named = &named,
                                   .named_count = 1};
    TRY(sotto_audit(&result, &in, &audit, ctx));
    TRY(attack_generator_report(&result, o, json));
done:
    sotto_audit_result_free(&result);
    for (int k = 0; k < LISTS; k++)
        sotto_array_clear(&w.rows[k]);
    for (int k = 0; k < SIDES; k++)
        free(w.scores[k]);
    sotto_generator_free(w.g);
    sotto_generator_free(w.own);
    sotto_dataset_free(w.data);
    return status;
}

static const struct option_row rows[] = {
    OPTION_GROUP("Attack on a generative model (--generator)"),
    {"generator", OPTION_TEXT, "FILE", NULL, "generative model under attack, of 'sotto generate train'"},
    DATA_ROW,
    OPTION_TABLE("encoder_attack", "member-indices|nonmember-indices"),
    OPTION_TABLE("generator_score", NULL),
    {"known-member-indices", OPTION_TEXT, "FILE", NULL,
     "rows of --data that logan-blackbox knows to be members; not among those under attack"},
    {"known-nonmember-indices", OPTION_TEXT, "FILE", NULL,
     "rows of --data that logan-blackbox knows to be non-members; not among those under attack"},
    OPTION_TABLE("imitation", NULL),
    OPTION_END};

/* One line for each attack. */
#define LINE(name) "  " name " Membership in a generative model's training set (needs --generator)\n"

static const struct subcommand subcommands[] = {
    {"logan|logan-blackbox|gan-leaks-white|gan-leaks-partial|reconstruction|elbo", "",
     "find the records that trained a generative model of images",
     "generator|data|member-indices|nonmember-indices|known-member-indices|known-nonmember-indices|draws|fpr|"
     "seed|output"},
    {NULL}};

const struct verb_part verb_part_attack_generator = {
    .verb = "attack",
    .when = "--generator",
    .options = rows,
    .own = "generator|known-member-indices|known-nonmember-indices",
    .examples =
        "  sotto attack logan --generator vae.safetensors --data fashion-mnist --member-indices m.npy "
        "--nonmember-indices n.npy -o attack5",
    .lines = LINE("logan             ") LINE("logan-blackbox    ") LINE("gan-leaks-white   ")
        LINE("gan-leaks-partial ") LINE("reconstruction    ") LINE("elbo              "),
    .subcommands = subcommands,
    .run = attack_generator};
