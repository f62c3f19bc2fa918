/* sotto attack encoder: who pre-trained an encoder? */
#include "inputs/attack_inputs.h"
#include "inputs/image_inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBER, NONMEMBER, SHADOW_MEMBER, SHADOW_NONMEMBER, BANK, GROUPS, ATTACKS = 5 };
static const char *const group_options[GROUPS] = {"member-indices", "nonmember-indices",
                                                  "shadow-member-indices", "shadow-nonmember-indices",
                                                  "bank-indices"};

/* Everything of one run that must be freed. */
struct work {
    struct sotto_dataset *data;
    struct sotto_encoder *target, *shadow;
    struct sotto_array rows[GROUPS];
    struct sotto_array views[GROUPS], plain[GROUPS + 1]; /* the bank: plain, by target and by shadow */
    struct sotto_arrays *arrays;                         /* embeddings that any program made */
    struct sotto_report_input files[2 * GROUPS + 2];
    size_t file_count;
};

static void attack_encoder_clear(struct work *w)
{
    sotto_arrays_close(w->arrays);
    for (int g = 0; g < GROUPS; g++) {
        sotto_array_clear(&w->rows[g]);
        sotto_array_clear(&w->views[g]);
    }
    for (int g = 0; g <= GROUPS; g++)
        sotto_array_clear(&w->plain[g]);
    sotto_encoder_free(w->target);
    sotto_encoder_free(w->shadow);
    sotto_dataset_free(w->data);
}

static sotto_status check_options(const struct options *o)
{
    static const char *const needed[] = {"encoder", "shadow-encoder", "data"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        TRY_OR_RETURN(option_require(o, needed[i]));
    for (int g = 0; g < BANK; g++)
        TRY_OR_RETURN(option_require(o, group_options[g]));
    if (option_given(o, "views") && (option_count(o, "views") < 2 || option_count(o, "views") > 256))
        return cli_fail(SOTTO_EINVAL, "--views is %" PRIu64 "; expected 2 to 256 views of each image",
                        option_count(o, "views"));
    return SOTTO_OK;
}

static void record_file(struct work *w, const struct options *o, const char *option, const char *role)
{
    if (option_given(o, option))
        w->files[w->file_count++] = (struct sotto_report_input){role, option_text(o, option)};
}

static sotto_status open_files(struct work *w, const struct options *o, const struct sotto_context *ctx)
{
    TRY_OR_RETURN(sotto_dataset_open(&w->data, option_text(o, "data"), ctx));
    TRY_OR_RETURN(sotto_encoder_load(&w->target, option_text(o, "encoder")));
    TRY_OR_RETURN(sotto_encoder_load(&w->shadow, option_text(o, "shadow-encoder")));
    for (int g = 0; g < GROUPS; g++)
        if (option_given(o, group_options[g]))
            TRY_OR_RETURN(image_rows_file(&w->rows[g], w->data, option_text(o, group_options[g])));
    record_file(w, o, "encoder", "encoder");
    record_file(w, o, "shadow-encoder", "shadow encoder");
    for (int g = 0; g < GROUPS; g++)
        record_file(w, o, group_options[g], group_options[g]);
    return SOTTO_OK;
}

/* A record that both sides claim is no test of anything. */
static sotto_status check_disjoint(const struct work *w, int one, int other)
{
    const int64_t *a = w->rows[one].data, *b = w->rows[other].data;
    char *seen = calloc(w->data->n, 1);
    size_t shared = 0;
    if (!seen)
        return cli_fail(SOTTO_ENOMEM, "attack: out of memory");
    for (size_t i = 0; i < w->rows[one].count; i++)
        seen[a[i]] = 1;
    for (size_t i = 0; i < w->rows[other].count; i++)
        shared += (size_t)seen[b[i]];
    free(seen);
    if (shared)
        return cli_fail(SOTTO_EINVAL, "attack: %zu rows are in both --%s and --%s; expected no common row",
                        shared, group_options[one], group_options[other]);
    return SOTTO_OK;
}

static sotto_status attack_encoder_embed(struct sotto_array *views, struct sotto_array *plain,
                                         const struct work *w, const struct sotto_encoder *e, int group,
                                         const struct sotto_view_options *v, const struct sotto_context *ctx)
{
    size_t n = w->rows[group].count, d = sotto_encoder_width(e);
    const int64_t *rows = w->rows[group].data;
    TRY_OR_RETURN(sotto_array_make(plain, SOTTO_F4, 2, (const size_t[]){n, d}));
    TRY_OR_RETURN(sotto_embed(plain->data, e, w->data, rows, n, ctx));
    if (views)
        TRY_OR_RETURN(sotto_array_make(views, SOTTO_F4, 3, (const size_t[]){n, v->views, d}));
    if (views)
        TRY_OR_RETURN(sotto_embed_views(views->data, e, w->data, rows, n, v, ctx));
    return SOTTO_OK;
}

static sotto_status embed_all(struct work *w, const struct sotto_view_options v[2],
                              const struct sotto_context *ctx)
{
    for (int g = 0; g < BANK; g++)
        TRY_OR_RETURN(attack_encoder_embed(&w->views[g], &w->plain[g], w,
                                           g < SHADOW_MEMBER ? w->target : w->shadow, g,
                                           &v[g >= SHADOW_MEMBER], ctx));
    if (w->rows[BANK].count)
        TRY_OR_RETURN(attack_encoder_embed(NULL, &w->plain[BANK], w, w->target, BANK, NULL, ctx));
    if (w->rows[BANK].count)
        TRY_OR_RETURN(attack_encoder_embed(NULL, &w->plain[BANK + 1], w, w->shadow, BANK, NULL, ctx));
    return SOTTO_OK;
}

/* ---- embeddings from files ---- */

static int attack_encoder_foreign(const struct options *o)
{
    for (const struct sotto_option *row = sotto_option_table("encoder_attack"); row->name; row++)
        if (row->shape && option_given(o, row->name))
            return 1;
    return 0;
}

static sotto_status check_foreign(const struct options *o)
{
    static const char *const others[] = {"encoder", "shadow-encoder", "data", "views"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "attack: --%s cannot be combined with embeddings from files",
                            others[i]);
    for (int g = 0; g < GROUPS; g++)
        if (option_given(o, group_options[g]))
            return cli_fail(SOTTO_EUSAGE, "attack: --%s cannot be combined with embeddings from files",
                            group_options[g]);
    return SOTTO_OK;
}

/* Arrays of every option that has a shape. */
static sotto_status load_foreign(struct sotto_encoder_attack_input *in, struct work *w,
                                 const struct options *o)
{
    TRY_OR_RETURN(check_foreign(o));
    TRY_OR_RETURN(sotto_arrays_open(&w->arrays));
    for (const struct sotto_option *row = sotto_option_table("encoder_attack"); row->name; row++)
        if (row->shape && option_given(o, row->name)) {
            record_file(w, o, row->name, row->name);
            TRY_OR_RETURN(sotto_arrays_give(w->arrays, row, NULL, option_text(o, row->name)));
        }
    return sotto_arrays_encoder_attack(in, w->arrays, cli_context());
}

static struct sotto_encoder_views attack_encoder_group(const struct work *w, int g)
{
    return (struct sotto_encoder_views){w->views[g].data, w->plain[g].data, w->plain[g].shape[0]};
}

static sotto_status attack_encoder_report(const struct sotto_audit_result *result, const struct work *w,
                                          const struct options *o, int json)
{
    const char *folder = option_text(o, "output");
    const struct sotto_audit_facts facts = {.title = option_text(o, "title"),
                                            .inputs = w->files,
                                            .inputs_count = w->file_count,
                                            .command = option_shown_command(o)};
    char *text = NULL;
    sotto_status status = folder ? sotto_report_audit(folder, result, &facts) : SOTTO_OK;
    if (status == SOTTO_OK)
        status = json ? sotto_audit_encode(&text, result) : sotto_audit_summary(&text, result);
    if (status == SOTTO_OK && json)
        printf("%s\n", text);
    if (status == SOTTO_OK && !json)
        printf("members are the records that pre-trained the encoder, not those of a head trained on its "
               "embeddings\n%s",
               text);
    if (status == SOTTO_OK && !json && folder)
        printf("\nreport: %s/report.html\n", folder);
    sotto_text_free(text);
    return status;
}

/* The rows of a data set, embedded by both encoders. */
static sotto_status embed_rows(struct sotto_encoder_attack_input *in, struct work *w, const struct options *o,
                               const struct sotto_context *ctx)
{
    struct sotto_view_options v[2]; /* each encoder's own */
    sotto_status status = SOTTO_OK;
    TRY(check_options(o));
    TRY(open_files(w, o, ctx));
    TRY(check_disjoint(w, MEMBER, NONMEMBER));
    TRY(check_disjoint(w, SHADOW_MEMBER, SHADOW_NONMEMBER));
    for (int k = 0; k < 2; k++) {
        sotto_view_defaults(&v[k], k ? w->shadow : w->target);
        v[k].views = option_given(o, "views") ? (size_t)option_count(o, "views") : v[k].views;
        v[k].seed = option_count(o, "seed");
    }
    TRY(embed_all(w, v, ctx));
done:
    *in = (struct sotto_encoder_attack_input){.member = attack_encoder_group(w, MEMBER),
                                              .nonmember = attack_encoder_group(w, NONMEMBER),
                                              .shadow_member = attack_encoder_group(w, SHADOW_MEMBER),
                                              .shadow_nonmember = attack_encoder_group(w, SHADOW_NONMEMBER),
                                              .views = w->views[MEMBER].shape[1],
                                              .width = w->plain[MEMBER].shape[1],
                                              .shadow_width = w->plain[SHADOW_MEMBER].shape[1],
                                              .bank = w->plain[BANK].data,
                                              .shadow_bank = w->plain[BANK + 1].data,
                                              .bank_n = w->plain[BANK].shape[0]};
    return status;
}

static sotto_status attack_encoder(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct work w = {0};
    struct sotto_encoder_attack_input in = {0};
    struct sotto_audit_result result = {0};
    struct sotto_audit_options audit;
    double rates[ATTACK_RATES];
    sotto_status status = SOTTO_OK;
    TRY(option_check_report(o));
    TRY(attack_statistics(&audit, rates, o));
    TRY(attack_encoder_foreign(o) ? load_foreign(&in, &w, o) : embed_rows(&in, &w, o, ctx));
    TRY(option_members(&in, sotto_option_table("encoder_attack"), o));
    TRY(sotto_encoder_attack(&result, NULL, &in, &audit, ctx));
    TRY(attack_encoder_report(&result, &w, o, json));
done:
    sotto_audit_result_free(&result);
    attack_encoder_clear(&w);
    return status;
}

static const struct option_row rows[] = {
    OPTION_GROUP("Attack on an encoder (sotto attack encoder)"),
    {"encoder", OPTION_TEXT, "FILE", NULL, "encoder under attack (.safetensors)"},
    {"shadow-encoder", OPTION_TEXT, "FILE", NULL, "encoder of the attacker, trained like the target"},
    DATA_ROW,
    OPTION_TABLE("encoder_attack", NULL),
    OPTION_END};

static const struct subcommand subcommands[] = {
    {"encoder", "", "find the records that pre-trained an encoder",
     "encoder|shadow-encoder|data|member-indices|nonmember-indices|shadow-member-indices|shadow-nonmember-"
     "indices|bank-indices|member-views|nonmember-views|fpr|seed|output"},
    {NULL}};

const struct verb_part verb_part_attack_encoder = {
    .verb = "attack",
    .when = "encoder",
    .options = rows,
    .own = "encoder|shadow-encoder",
    .examples = "  sotto attack encoder --encoder e.safetensors --shadow-encoder s.safetensors --data "
                "synthetic-faces "
                "--member-indices m.npy --nonmember-indices n.npy --shadow-member-indices sm.npy "
                "--shadow-nonmember-indices sn.npy -o attack3",
    .lines = "  encoder            Membership in an encoder's pre-training set: EncoderMI (vector, set, "
             "threshold), "
             "contrastive loss, norm (needs two encoders, or embeddings by any program)\n",
    .subcommands = subcommands,
    .run = attack_encoder};
