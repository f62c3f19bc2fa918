#include "inputs/attack_inputs.h"

#include "inputs/head_inputs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OTHER = 3, SETS = 6 }; /* groups of records, and the one of another set */

/* Images (n, H, W) or (n, C, H, W) become rows; bytes are pixels and become numbers from 0 to 1. */
static sotto_status load_images(struct sotto_array *x, struct attack_inputs *in, const char *path)
{
    const size_t *s = x->shape, shape[3] = {x->ndim == 4 ? s[1] : 1, s[x->ndim - 2], s[x->ndim - 1]};
    const bool pixels = x->dtype == SOTTO_U1, coloured = shape[0] == 1 || shape[0] == 3;
    if (!coloured && (s[3] == 1 || s[3] == 3))
        return cli_fail(
            SOTTO_EINVAL,
            "%s: has shape (%zu, %zu, %zu, %zu), with the channels last; expected (N, C, H, W): save "
            "numpy.transpose(x, (0, 3, 1, 2))",
            path, s[0], s[1], s[2], s[3]);
    if (!coloured || x->count == 0)
        return cli_fail(
            SOTTO_EINVAL,
            "%s: has %zu channels and %zu values; expected images (N, H, W) or (N, C, H, W) with 1 or 3 "
            "channels",
            path, shape[0], x->count);
    if (in->image[0] && memcmp(in->image, shape, sizeof shape) != 0)
        return cli_fail(SOTTO_EINVAL,
                        "%s: has images of shape (%zu, %zu, %zu) but those before have (%zu, %zu, %zu)", path,
                        shape[0], shape[1], shape[2], in->image[0], in->image[1], in->image[2]);
    memcpy(in->image, shape, sizeof shape);
    x->shape[1] = shape[0] * shape[1] * shape[2];
    x->ndim = 2;
    TRY_OR_RETURN(sotto_array_convert(x, SOTTO_F4));
    for (size_t i = 0; pixels && i < x->count; i++)
        ((float *)x->data)[i] /= 255;
    return SOTTO_OK;
}

static sotto_status load_features(struct sotto_array *x, struct attack_inputs *in, const char *path)
{
    TRY_OR_RETURN(sotto_array_load(x, path, 0, cli_context()));
    if (x->ndim == 3 || x->ndim == 4)
        TRY_OR_RETURN(load_images(x, in, path));
    return head_features_take(x, path);
}

/* Features and labels of one group of records. Neither option given: *out stays empty. */
static sotto_status load_records(struct sotto_records *out, size_t *columns, struct attack_inputs *in,
                                 const struct options *o, const char *const names[2],
                                 const char *const roles[2])
{
    const char *features = option_text(o, names[0]), *labels = option_text(o, names[1]);
    if (!features && !labels)
        return SOTTO_OK;
    if (!features || !labels)
        return cli_fail(SOTTO_EUSAGE, "attack: --%s and --%s must be given together", names[0], names[1]);
    struct sotto_array *x = &in->arrays[in->file_count], *y = x + 1;
    int64_t first = 0;
    TRY_OR_RETURN(load_features(x, in, features));
    in->files[in->file_count++] = (struct sotto_report_input){roles[0], features};
    TRY_OR_RETURN(option_labels_from(&first, o));
    TRY_OR_RETURN(head_labels_load(y, labels, first));
    in->files[in->file_count++] = (struct sotto_report_input){roles[1], labels};
    if (y->count != x->shape[0])
        return cli_fail(SOTTO_EINVAL,
                        "%s has %zu rows but %s has %zu labels; expected one of each per record", features,
                        x->shape[0], labels, y->count);
    *columns = x->shape[1];
    *out = (struct sotto_records){x->data, y->data, x->shape[0]};
    return SOTTO_OK;
}

/* Records that the target must be able to judge. */
static sotto_status check_target(const struct sotto_records *r, size_t columns, const struct options *o,
                                 const struct sotto_target *t, const char *const names[2])
{
    size_t classes = sotto_target_classes(t);
    if (r->n == 0)
        return SOTTO_OK;
    if (columns != sotto_target_inputs(t))
        return cli_fail(SOTTO_EINVAL, "%s has %zu columns; the target expects %zu", option_text(o, names[0]),
                        columns, sotto_target_inputs(t));
    TRY_OR_RETURN(labels_check_first(r->y, r->n, classes, option_text(o, names[1]), o));
    for (size_t i = 0; i < r->n; i++)
        if (r->y[i] < 0 || (uint64_t)r->y[i] >= classes)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu has label %lld; the target has classes 0 to %zu",
                            option_text(o, names[1]), i, (long long)r->y[i], classes - 1);
    return SOTTO_OK;
}

/* A command is told how long a row is; it says itself how many classes there are, unless --classes does. */
static sotto_status open_command(struct attack_inputs *in, const struct options *o, size_t columns,
                                 const struct sotto_context *ctx)
{
    struct sotto_command_options how = {0};
    char shape[80];
    size_t classes = option_given(o, "classes") ? (size_t)option_count(o, "classes") : 0;
    if (option_given(o, "classes") && classes < 2)
        return cli_fail(SOTTO_EUSAGE, "attack: classes must be at least 2 (got %s)",
                        option_text(o, "classes"));
    snprintf(shape, sizeof shape, "%zu,%zu,%zu", in->image[0], in->image[1], in->image[2]);
    if (in->image[0] &&
        setenv("SOTTO_IMAGE", shape, 1) != 0) /* frames are rows; this says how a row is an image */
        return cli_fail(SOTTO_ENOMEM, "out of memory");
    TRY_OR_RETURN(option_members(&how, sotto_option_table("command"), o));
    return sotto_target_open_command(&in->input.target, option_text(o, "target-command"), columns, classes,
                                     &how, ctx);
}

/* Only who asks a service is watched. */
static sotto_status attack_inputs_disguise(struct attack_inputs *in, const struct options *o)
{
    static const char *const names[] = {"spread", "dilute", "decoys", "cover", "shuffle"};
    struct sotto_disguise_options how = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (option_given(o, names[i]) && !option_given(o, "target-command"))
            return cli_fail(SOTTO_EUSAGE,
                            "attack: --%s hides queries from a monitor; expected --target-command with it",
                            names[i]);
    TRY_OR_RETURN(option_members_checked(&how, sotto_option_table("disguise"), "spread|dilute|decoys", o));
    if (how.spread == 0 && how.dilute == 0 && how.decoys == 0 && !option_given(o, "cover"))
        return SOTTO_OK;
    if (option_given(o, "cover"))
        TRY_OR_RETURN(load_features(&in->cover, in, option_text(o, "cover")));
    if (option_given(o, "cover") && in->cover.shape[1] != sotto_target_inputs(in->input.target))
        return cli_fail(SOTTO_EINVAL, "%s has %zu columns; the target expects %zu", option_text(o, "cover"),
                        in->cover.shape[1], sotto_target_inputs(in->input.target));
    return sotto_target_disguise(&in->input.target, &how, in->cover.data, in->cover.shape[0],
                                 option_count(o, "seed"));
}

static sotto_status open_target(struct attack_inputs *in, const struct options *o, size_t columns,
                                const struct sotto_context *ctx)
{
    if (option_given(o, "target") && option_given(o, "target-command"))
        return cli_fail(SOTTO_EUSAGE, "attack: give either --target or --target-command, not both");
    if (!option_given(o, "target-command"))
        TRY_OR_RETURN(option_require(o, "target"));
    TRY_OR_RETURN(option_given(o, "target-command")
                      ? open_command(in, o, columns, ctx)
                      : sotto_target_open(&in->input.target, option_text(o, "target"), ctx));
    if (option_given(o, "budget"))
        sotto_target_set_budget(in->input.target, option_count(o, "budget"));
    return attack_inputs_disguise(in, o);
}

/* Labels of another set name its classes. */
static sotto_status count_other(struct sotto_attack_input *in, const char *path)
{
    int64_t largest = 1;
    for (size_t i = 0; i < in->other.n; i++) {
        if (in->other.y[i] < 0)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected a label of at least 0", path, i,
                            (long long)in->other.y[i]);
        largest = in->other.y[i] > largest ? in->other.y[i] : largest;
    }
    in->other_classes = (size_t)largest + 1;
    return SOTTO_OK;
}

sotto_status attack_inputs_load(struct attack_inputs *in, const struct options *o,
                                const struct sotto_context *ctx)
{
    static const char *const names[SETS][2] = {{"member-features", "member-labels"},
                                               {"nonmember-features", "nonmember-labels"},
                                               {"attacker-features", "attacker-labels"},
                                               {"other-features", "other-labels"},
                                               {"known-member-features", "known-member-labels"},
                                               {"known-nonmember-features", "known-nonmember-labels"}};
    static const char *const roles[SETS][2] = {{"member features", "member labels"},
                                               {"non-member features", "non-member labels"},
                                               {"attacker's features", "attacker's labels"},
                                               {"other set's features", "other set's labels"},
                                               {"known member features", "known member labels"},
                                               {"known non-member features", "known non-member labels"}};
    struct sotto_records *records[SETS] = {&in->input.member,       &in->input.nonmember,
                                           &in->input.attacker,     &in->input.other,
                                           &in->input.known_member, &in->input.known_nonmember};
    size_t columns[SETS] = {0};
    for (int i = 0; i < 2; i++)
        for (int side = 0; side < 2; side++)
            TRY_OR_RETURN(option_require(o, names[i][side]));
    for (int i = 0; i < SETS; i++)
        TRY_OR_RETURN(load_records(records[i], &columns[i], in, o, names[i], roles[i]));
    TRY_OR_RETURN(open_target(in, o, columns[0], ctx));
    for (int i = 0; i < SETS; i++)
        if (i != OTHER)
            TRY_OR_RETURN(check_target(records[i], columns[i], o, in->input.target, names[i]));
    in->input.other_inputs = columns[OTHER];
    return count_other(&in->input, option_text(o, "other-labels"));
}

void attack_inputs_clear(struct attack_inputs *in)
{
    for (size_t i = 0; i < sizeof in->arrays / sizeof *in->arrays; i++)
        sotto_array_clear(&in->arrays[i]);
    sotto_array_clear(&in->cover);
    sotto_target_close(in->input.target);
    *in = (struct attack_inputs){0};
}

sotto_status attack_statistics(struct sotto_audit_options *out, double rates[ATTACK_RATES],
                               const struct options *o)
{
    *out = (struct sotto_audit_options){
        .fpr = rates, .seed = sotto_given_seed(option_count(o, "seed")), .most_vulnerable = SOTTO_NONE};
    TRY_OR_RETURN(option_members_checked(out, sotto_option_table("audit"), "confidence|delta", o));
    return option_reals(rates, ATTACK_RATES, &out->fpr_count, o, "fpr");
}
