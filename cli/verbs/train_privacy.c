/* Options of trainings that end with a certificate. */
#include "verbs/train_privacy.h"

#include "inputs/private_set.h"
#include "options/class_list.h"

#include <string.h>

static const struct {
    const char *name;
    bool inputs; /* means something to --certify-inputs too */
} private_options[] = {{"noise", false},         {"noise-multiplier", false},
                       {"epsilon", true},        {"max-tpr", true},
                       {"max-advantage", true},  {"delta", true},
                       {"max-grad-norm", false}, {"clipping", false},
                       {"quantile", false},      {"views", false},
                       {"steps", false},         {"classes", true},
                       {"ema", false},           {"adjacency", false},
                       {"sampling", false},      {"ledger", true},
                       {"reserve-steps", true},  {"micro-batch", false},
                       {"dataset-id", true},     {"same-people-as", true},
                       {"ledger-move", true},    {"budget-epsilon", true},
                       {"budget-delta", true},   {"purpose", true},
                       {"encoder-by", false},    {"planned", true},
                       {"read-from-data", true}, {"insecure-noise-seed", true},
                       {"unit", false},          {"rows-per-step", false}};
enum { OPTIONS = sizeof private_options / sizeof *private_options };

/* What both kinds of certificate take. */
static sotto_status read_shared(struct sotto_train_privacy *p, const struct options *o)
{
    return option_members(p, sotto_option_table("train_privacy"), o);
}

/* What has a meaning for noisy inputs alone. */
static sotto_status refuse_of_inputs(const struct options *o)
{
    if (option_given(o, "label-epsilon"))
        return cli_fail(SOTTO_EUSAGE, "train: --label-epsilon needs --certify-inputs; to release labels "
                                      "alone, use 'sotto protect --mechanism randomised-response'");
    return SOTTO_OK;
}

sotto_status train_privacy_of_sgd(struct sotto_train_privacy *p, const struct options *o)
{
    sotto_train_privacy_defaults(p);
    if (option_flag(o, "certify-inputs"))
        return cli_fail(SOTTO_EUSAGE,
                        "train: --dp-sgd and --certify-inputs cannot be combined; give one of them");
    if (refuse_of_inputs(o) != SOTTO_OK)
        return SOTTO_EUSAGE;
    if (private_set_noise_once(o, "train", "noise-multiplier") != SOTTO_OK)
        return SOTTO_EUSAGE;
    if (option_given(o, "steps") && option_given(o, "epochs"))
        return cli_fail(SOTTO_EUSAGE, "train: give --steps or --epochs, not both");
    TRY_OR_RETURN(read_shared(p, o));
    return option_adjacency(&p->adjacency, o, p->sampling == SOTTO_SAMPLING_FIXED);
}

sotto_status train_privacy_of_inputs(struct sotto_train_privacy *p, const struct options *o)
{
    sotto_train_privacy_defaults(p);
    if (option_flag(o, "dp-sgd"))
        return cli_fail(SOTTO_EUSAGE,
                        "train: --dp-sgd and --certify-inputs cannot be combined; give one of them");
    for (size_t i = 0; i < OPTIONS; i++)
        if (!private_options[i].inputs && option_given(o, private_options[i].name))
            return cli_fail(SOTTO_EUSAGE,
                            "train: --%s needs --dp-sgd and cannot be combined with --certify-inputs",
                            private_options[i].name);
    return read_shared(p, o);
}

sotto_status train_privacy_classes(struct sotto_dataset *out, struct sotto_array *labels,
                                   struct sotto_train_privacy *p, const struct sotto_dataset *set,
                                   const struct options *o)
{
    struct class_list given;
    sotto_status status = SOTTO_OK;
    TRY(class_list_read(&given, o));
    *out = *set;
    p->classes = given.count;
    p->classes_by = "--classes";
    if (given.count && !given.names && set->class_names && !set->classes_by[0])
        TRY(cli_fail(SOTTO_EUSAGE,
                     "train: the class numbers of '%s' were derived from its records at import, so they "
                     "are not public; give --classes FILE with one name a line",
                     set->name));
    if (given.names && set->class_names && set->labels) {
        TRY(sotto_array_make(labels, SOTTO_I8, 1, &set->n));
        memcpy(labels->data, set->labels, set->n * sizeof(int64_t));
        class_list_translate(labels->data, set->n, set->class_names, set->classes, &given);
        out->labels = labels->data;
    }
done:
    class_list_clear(&given);
    return status;
}

sotto_status train_privacy_refuse(const struct options *o)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (option_given(o, private_options[i].name))
            return cli_fail(SOTTO_EUSAGE, "train: --%s needs --dp-sgd%s; plain training makes no certificate",
                            private_options[i].name, private_options[i].inputs ? " or --certify-inputs" : "");
    return refuse_of_inputs(o);
}
