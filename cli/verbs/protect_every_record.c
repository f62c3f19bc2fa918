#include "verbs/protect_every_record.h"

#include "inputs/private_set.h"

#include <stdio.h>
#include <string.h>

static const char *const own[] = {"clip", "norm", "labels", "label-epsilon", "labels-output"};

bool protect_records_asked(const struct options *o)
{
    const char *text = option_text(o, "records");
    return text && text[strspn(text, "0123456789")];
}

bool protect_labels_asked(const struct options *o)
{
    const char *mechanism = option_text(o, "mechanism");
    return mechanism && strcmp(mechanism, "randomised-response") == 0 && !protect_records_asked(o);
}

sotto_status protect_record_count(size_t *records, const struct options *o)
{
    struct sotto_release r = {0};
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (option_given(o, own[i]) && !(strcmp(own[i], "labels") == 0 && protect_labels_asked(o)))
            return cli_fail(SOTTO_EUSAGE, "protect: --%s needs --records X.npy", own[i]);
    if (option_given(o, "records"))
        status = sotto_option_set(&r, sotto_option_find(sotto_option_table("release"), "records"),
                                  option_text(o, "records"));
    if (status == SOTTO_EINVAL || status == SOTTO_EFORMAT || status == SOTTO_EDOMAIN)
        status = cli_fail(SOTTO_EUSAGE, "--records: '%s' is neither a whole number nor a file X.npy",
                          option_text(o, "records"));
    *records = r.records;
    return status;
}

static sotto_status check_options(const struct options *o)
{
    static const char *const others[] = {"head",   "vector",     "table",     "statistic", "range",
                                         "blocks", "choices",    "cases",     "l1",        "sensitivity",
                                         "l2",     "value-step", "flat-doubt"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "protect: --%s cannot be combined with --records X.npy", others[i]);
    if (!option_given(o, "clip"))
        return cli_fail(SOTTO_EUSAGE,
                        "protect: --records X.npy needs --clip R, which bounds what one record can change");
    if (private_set_noise_once(o, "protect", "scale") != SOTTO_OK)
        return SOTTO_EUSAGE;
    if (option_given(o, "labels") != option_given(o, "label-epsilon"))
        return cli_fail(SOTTO_EUSAGE, "protect: --labels and --label-epsilon must be given together");
    if (option_given(o, "labels") && !option_given(o, "classes"))
        return cli_fail(
            SOTTO_EUSAGE,
            "protect: --labels needs --classes K, which is public and not derived from the labels");
    return SOTTO_OK;
}

static sotto_status protect_every_record_fill(struct sotto_protect_records *p, const struct options *o)
{
    struct sotto_release r = {0};
    struct sotto_protect other = {0};
    sotto_status status = SOTTO_OK;
    TRY(option_members(&r, sotto_option_table("release"), o));
    TRY(option_members(&other, sotto_option_table("protect"), o));
    TRY(option_members_checked(p, sotto_option_table("protect_records"), "clip|label_epsilon", o));
done:
    p->input = option_text(o, "records");
    p->output = other.output;
    p->classes = other.classes;
    p->labels_from = other.labels_from;
    p->classes_by = "--classes";
    p->mechanism = option_given(o, "mechanism") ? other.release.mechanism : NULL;
    p->scale = r.scale;
    p->target.epsilon = r.target.epsilon;
    p->risk = r.risk;
    if (option_given(o, "delta")) /* 0 that was given is not the default */
        p->target.delta = r.target.delta == 0 ? SOTTO_DELTA_PURE : r.target.delta;
    return status;
}

/* What the files are good for, and what is not covered. */
static void protect_every_record_explain(const struct sotto_protect_records *p)
{
    if (p->labels)
        puts("labels and records were released: two entries in the ledger, and both epsilons count. Training "
             "on both "
             "files costs nothing more.");
    else
        puts("labels count as public (replace-input): what is trained on these records and labels in the "
             "clear "
             "protects the records only.");
}

sotto_status protect_records(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_protect_records p = {0};
    struct sotto_provenance whose = {0};
    struct private_set set = {0};
    struct sotto_certificate *certificate = NULL;
    sotto_status status = SOTTO_OK;
    TRY(check_options(o));
    TRY(protect_every_record_fill(&p, o));
    TRY(sotto_provenance_load(&whose, p.input));
    TRY(private_set_identify(&set, o, &whose, "protect", p.input));
    TRY(private_set_look_up(&set, ctx));
    p.spend = set.spend;
    TRY(sotto_protect_records(&certificate, &p, ctx));
    TRY(private_set_print(&set, certificate, p.output, json));
    if (!json)
        protect_every_record_explain(&p);
done:
    sotto_certificate_free(certificate);
    private_set_clear(&set);
    sotto_provenance_clear(&whose);
    return status;
}
