/* sotto protect: one private release of a head, a vector, a statistic, or of every record. */
#include "inputs/private_set.h"
#include "verbs/protect_every_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("What is released"),
    {"head", OPTION_TEXT, "FILE", NULL, "trained head (.safetensors); noise is added to all its tensors"},
    {"vector", OPTION_TEXT, "FILE", NULL, "any .safetensors or .npy file instead of a head"},
    {"table", OPTION_TEXT, "FILE", NULL,
     "records (n, columns) as .npy, of which --statistic is released; n is public"},
    OPTION_TABLE("protect", "statistic|range|blocks|choices|cases"),
    OPTION_TABLE("protect_records", "records|clip|norm|labels|label-epsilon"),
    OPTION_TABLE("protect", "labels-from"),
    OPTION_TABLE("protect", "mechanism"),
    OPTION_TABLE("release", "scale|epsilon|max-tpr|max-advantage|delta|value-step"),
    OPTION_TABLE("protect", "classes"),
    OPTION_TABLE("release", "flat-doubt"),
    OPTION_TABLE("protect", "sensitivity"),
    OPTION_TABLE("release", "l1|l2"),
    OPTION_ROWS(private_set_rows),
    OPTION_TABLE("protect", "output"),
    OPTION_TABLE("protect_records", "labels-output"),
    OPTION_END};

/* A head by a convex trainer brings its own: proved. */
static sotto_status sensitivity_of_head(struct sotto_protect *p, struct sotto_sensitivity_sample *sample,
                                        const struct options *o)
{
    struct sotto_head *h = NULL;
    sotto_status status = SOTTO_OK;
    if (option_given(o, "head"))
        status = sotto_head_load(&h, option_text(o, "head"));
    if (status == SOTTO_OK && (!h || sotto_head_records(h) == 0))
        status =
            cli_fail(SOTTO_EUSAGE, "protect: the sensitivity is missing; give --sensitivity FILE, --l1, --l2 "
                                   "or both norms (it can be omitted only for a head by a convex trainer)");
    sotto_head_free(h);
    return status == SOTTO_OK ? sotto_sensitivity_of_head(p, sample) : status;
}

static sotto_status sensitivity_from(struct sotto_protect *p, struct sotto_sensitivity_sample *sample,
                                     const struct options *o)
{
    struct sotto_sensitivity *s = &p->release.sensitivity;
    const char *file = option_text(o, "sensitivity");
    int stated = option_given(o, "l1") || option_given(o, "l2");
    if (option_given(o, "table") && !file)
        return SOTTO_OK; /* proved: a stated one is refused */
    if (protect_labels_asked(o) && !file)
        return SOTTO_OK; /* one label a record */
    if (option_given(o, "table"))
        return cli_fail(SOTTO_EUSAGE,
                        "protect: the sensitivity of --statistic is proved; omit --sensitivity");
    if (!file)
        return stated ? SOTTO_OK : sensitivity_of_head(p, sample, o);
    if (stated)
        return cli_fail(SOTTO_EUSAGE,
                        "protect: --sensitivity cannot be combined with --l1 or --l2; give only one of them");
    TRY_OR_RETURN(sotto_sensitivity_load(sample, file));
    p->sensitivity_file = file;
    if (sample->proved && !option_given(o, "head"))
        return cli_fail(SOTTO_EUSAGE,
                        "protect: %s proves the sensitivity of a head; give that head by --head", file);
    if (sample->proved)
        return sotto_sensitivity_of_head(p, sample);
    sotto_sensitivity_of(s, sample);
    p->sensitivity_data = sample->data_sha256;
    return SOTTO_OK;
}

static sotto_status read_range(double out[2], const char *text)
{
    char *comma, *end;
    out[0] = strtod(text, &comma);
    out[1] = comma != text && *comma == ',' ? strtod(comma + 1, &end) : out[0];
    if (comma == text || *comma != ',' || end == comma + 1 || *end || !(out[0] < out[1]))
        return cli_fail(SOTTO_EUSAGE, "--range: '%s' is not a range; expected LOW,HIGH such as 0,1", text);
    return SOTTO_OK;
}

static sotto_status verb_protect_fill(struct sotto_protect *p, const struct options *o)
{
    struct sotto_release *r = &p->release;
    const bool labels = option_given(o, "labels") && protect_labels_asked(o);
    if (labels && !option_given(o, "classes"))
        return cli_fail(
            SOTTO_EUSAGE,
            "protect: --labels needs --classes K, which is public and not derived from the labels");
    if (labels + option_given(o, "head") + option_given(o, "vector") + option_given(o, "table") != 1)
        return cli_fail(SOTTO_EUSAGE,
                        "protect: give exactly one of --head, --vector, --table and --records X.npy");
    if (option_given(o, "table") != option_given(o, "statistic"))
        return cli_fail(SOTTO_EUSAGE, "protect: --table and --statistic must be given together");
    if (!option_given(o, "table") &&
        (option_given(o, "range") || option_given(o, "cases") || option_given(o, "blocks")))
        return cli_fail(SOTTO_EUSAGE, "protect: --range, --cases and --blocks describe a --statistic");
    if (option_given(o, "labels-from") && !option_given(o, "classes"))
        return cli_fail(SOTTO_EUSAGE,
                        "protect: --labels-from belongs to labels; give --classes K, or omit it");
    if (private_set_noise_once(o, "protect", "scale") != SOTTO_OK)
        return SOTTO_EUSAGE;
    p->input = option_text(o, labels                     ? "labels"
                              : option_given(o, "head")  ? "head"
                              : option_given(o, "table") ? "table"
                                                         : "vector");
    if (option_given(o, "range") && read_range(p->range, option_text(o, "range")) != SOTTO_OK)
        return SOTTO_EUSAGE;
    TRY_OR_RETURN(option_members(r, sotto_option_table("release"), o));
    TRY_OR_RETURN(protect_record_count(&r->records, o));
    return option_members(p, sotto_option_table("protect"), o);
}

static sotto_status verb_protect_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_protect p = {0};
    struct sotto_sensitivity_sample sample = {0};
    struct sotto_provenance whose = {0};
    struct private_set set = {0};
    struct sotto_certificate *certificate = NULL;
    sotto_status status = SOTTO_OK;
    TRY(option_require(o, "output"));
    if (protect_records_asked(o))
        return protect_records(o, ctx, json);
    TRY(verb_protect_fill(&p, o));
    double value_step = p.release.sensitivity.value_step;
    TRY(sensitivity_from(&p, &sample, o));
    if (value_step != 0) /* a sensitivity from a file has none */
        p.release.sensitivity.value_step = value_step;
    TRY(sotto_provenance_load(&whose, p.input));
    TRY(private_set_identify(&set, o, &whose, "protect", p.input));
    TRY(private_set_look_up(&set, ctx));
    set.spend.condition = p.release.spend.condition;
    p.release.spend = set.spend;
    TRY(sotto_protect_file(&certificate, &p, ctx));
    TRY(private_set_print(&set, certificate, p.output, json));
done:
    sotto_certificate_free(certificate);
    private_set_clear(&set);
    sotto_provenance_clear(&whose);
    return status;
}

const struct verb verb_protect = {
    .name = "protect",
    .summary = "release a head, a statistic or records with noise, ledger entry and certificate",
    .arguments = "",
    .examples =
        "  sotto protect --head head.safetensors --epsilon 1 --delta 1e-5 --l2 0.04 -o "
        "protected.safetensors\n"
        "  sotto protect --table genotypes.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 1 "
        "--delta 1e-6 -o frequencies.npy\n"
        "  sotto protect --records X.npy --clip 1 --epsilon 100 --delta 1e-5 --labels y.npy --label-epsilon "
        "3 --classes 10 -o noisy.npy\n"
        "  sotto protect --head convex.safetensors --epsilon 1 --delta 1e-5 -o protected.safetensors\n"
        "  sotto protect --head head.safetensors --scale 0.1 --sensitivity sensitivity.json -o "
        "protected.safetensors\n"
        "  sotto protect --table genotypes.npy --statistic chi-square-genotypes --cases cases.npy "
        "--mechanism permute-and-flip --choices 3 --epsilon 1 -o loci.npy\n"
        "  sotto data check --features X.npy --labels y.npy --classes 10\n"
        "  sotto protect --labels y.npy --mechanism randomised-response --classes 10 --epsilon 2 -o "
        "noisy-labels.npy\n"
        "  sotto protect --vector mean.npy --mechanism laplace --epsilon 1 --l1 0.01 --dataset-id survey -o "
        "out.npy",
    .floor = FLOOR_CORE,
    .ranks = REFUSED,
    .own = "head|vector|table|sign",
    .options = rows,
    .most_used = "head|table|statistic|range|vector|records|epsilon|delta|mechanism|l1|l2|sensitivity|"
                 "dataset-id|ledger|output",
    .run = verb_protect_run};
