/* Options of supervised training: defaults and checks. Their text is in train_recipe.c. */
#include "options/option_tables.h"
#include "options/option_values.h"
#include "sotto/option.h"
#include "train/network/network.h"
#include "base/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sotto_train_defaults(struct sotto_train_options *o)
{
    GIVEN_OR(, o);
    *o = (struct sotto_train_options){0};
    options_defaults(o, options_train);
}

sotto_status train_options_resolve(struct sotto_train_options *out, const struct sotto_train_options *given)
{
    return sotto_options_resolve(out, given, options_train);
}

sotto_status train_one_of(const char **out, const char *asked, const char *what, const char *const *known,
                          const char *expected)
{
    for (size_t i = 0; known[i]; i++)
        if (!asked || strcmp(asked, known[i]) == 0) {
            *out = known[i];
            return SOTTO_OK;
        }
    return choice_unknown(SOTTO_EINVAL, what, asked, expected);
}

static sotto_status check_numbers(const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(o->hidden_count <= SOTTO_TRAIN_HIDDEN, "%zu hidden widths are too many; expected at most %d",
            o->hidden_count, SOTTO_TRAIN_HIDDEN);
    for (size_t i = 0; i < o->hidden_count; i++)
        REQUIRE(o->hidden[i] >= 1 && o->hidden[i] <= 1u << 16,
                "hidden width %zu is out of range; expected 1 to %u", o->hidden[i], 1u << 16);
    TRY(sotto_options_check(o, options_train,
                            "lr|momentum|weight_decay|epochs|batch|crop|augment_noise|seed|leaf"));
done:
    return status;
}

/* The numbers are checked where the network is built. */
static sotto_status check_residual(struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    static const char *const kinds[] = {"additive", "multiplicative", NULL};
    struct sotto_residual_noise *r = &o->residual;
    if (r->kind)
        TRY(train_one_of(&r->kind, r->kind, "residual perturbation: kind", kinds,
                         "additive or multiplicative"));
    REQUIRE(r->kind || (r->gamma == 0 && r->floor == 0),
            "gamma and floor need residual perturbation; give additive or multiplicative");
    REQUIRE(!r->kind || r->floor == 0 || strcmp(r->kind, "multiplicative") == 0,
            "a floor needs multiplicative noise");
    REQUIRE(!r->separate_inputs || (r->members > 1 && r->input_noise > 0),
            "separate inputs need input noise and more than one member");
    REQUIRE(!r->relative || (r->kind && strcmp(r->kind, "additive") == 0),
            "relative noise needs residual perturbation additive");
    REQUIRE(r->members > 1 || (!r->average_softmax && !r->independent),
            "an average of probabilities, or independent training, needs more than one ensemble member");
    r->relative = r->relative != 0;
    r->average_softmax = r->average_softmax != 0;
    r->independent = r->independent != 0;
    r->no_skip = r->no_skip != 0;
    r->separate_inputs = r->separate_inputs != 0;
    r->members = r->members > 1 ? r->members : 0;
done:
    return status;
}

/* The numbers are blocks; whether an encoder has so many is checked where the network is built. */
static sotto_status check_freeze(struct sotto_train_options *o)
{
    static const char *const known[] = {"norm", "none", "all", "1",  "2",  "3",  "4",  "5",  "6",
                                        "7",    "8",    "9",   "10", "11", "12", "13", "14", "15",
                                        "16",   "17",   "18",  "19", "20", "21", "22", "23", "24",
                                        "25",   "26",   "27",  "28", "29", "30", "31", "32", NULL};
    if (!o->from && !o->freeze)
        return SOTTO_OK;
    return train_one_of(&o->freeze, o->freeze, "freeze", known,
                        "none, norm, all, or a number of blocks from 1 to 32");
}

static sotto_status check_snapshots(const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(!o->snapshots || o->snapshot_every, "snapshots: no model is kept; give snapshot_every");
    REQUIRE(!o->snapshot_every || o->snapshots,
            "snapshot_every needs a folder for the models; give snapshots");
    REQUIRE(!o->snapshot_every || o->snapshot_every < o->epochs,
            "snapshot_every: %zu epochs leave no model before the last of %zu epochs; expected fewer",
            o->snapshot_every, o->epochs);
done:
    return status;
}

sotto_status train_options_check(struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    static const char *const norms[] = {"batch", "group", NULL}, *const optimizers[] = {"adam", "sgd", NULL},
                             *const schedules[] = {"constant", "cosine", "step", NULL},
                             *const orders[] = {"auto", "exact", "fast", NULL},
                             *const scopes[] = {"batch", "leaf", NULL};
    TRY(nn_model_find(&o->model, NULL, o->model ? o->model : "cnn"));
    TRY(train_one_of(&o->norm, o->norm, "norm", norms, "batch or group"));
    TRY(train_one_of(&o->optimizer, o->optimizer, "optimizer", optimizers, "adam or sgd"));
    TRY(train_one_of(&o->schedule, o->schedule, "schedule", schedules, "constant, cosine or step"));
    TRY(train_one_of(&o->order, o->order, "order", orders, "auto, exact or fast"));
    TRY(train_one_of(&o->norm_scope, o->norm_scope ? o->norm_scope : "batch", "norm_scope", scopes,
                     "batch or leaf"));
    TRY(check_freeze(o));
    TRY(check_numbers(o));
    REQUIRE(o->momentum == 0 || strcmp(o->optimizer, "sgd") == 0,
            "momentum cannot be given for optimizer %s; expected optimizer sgd", o->optimizer);
    bool resnet = strncmp(o->model, "resnet", 6) == 0;
    bool has_widths =
        strcmp(o->model, "mlp") == 0 || strcmp(o->model, "cnn") == 0 || strcmp(o->model, "tanh-cnn") == 0;
    REQUIRE(has_widths || o->hidden_count == 0,
            "model %s has fixed widths; hidden widths need model mlp, cnn or tanh-cnn", o->model);
    REQUIRE(resnet || strcmp(o->norm, "batch") == 0, "model %s has no normalisation; norm needs a resnet",
            o->model);
    o->flip = o->flip != 0;
    TRY(check_residual(o));
    TRY(check_snapshots(o));
done:
    return status;
}

sotto_status train_model_config(struct nn_model_config *out, const struct sotto_train_options *o,
                                struct nn_shape record, size_t classes)
{
    sotto_status status = SOTTO_OK;
    struct nn_model_config c = {
        .name = o->model, .classes = classes, .hidden_count = o->hidden_count, .norm = o->norm};
    memcpy(c.hidden, o->hidden, sizeof c.hidden);
    const struct sotto_residual_noise *r = &o->residual;
    c.noise = (struct nn_noise){.kind = !r->kind                           ? NN_NOISE_NONE
                                        : strcmp(r->kind, "additive") == 0 ? NN_NOISE_ADDITIVE
                                                                           : NN_NOISE_MULTIPLICATIVE,
                                .gamma = r->gamma,
                                .floor = r->floor,
                                .relative = r->relative};
    c.input_noise = r->input_noise, c.radius = r->radius, c.no_skip = r->no_skip;
    c.members = r->members, c.separate_inputs = r->separate_inputs;
    c.average_softmax = r->average_softmax;
    REQUIRE(strcmp(o->model, "mlp") == 0 || record.height > 1 || record.width > 1,
            "model %s needs images, but the records are rows of %zu numbers; give {channels|image=C,H,W}, or "
            "model mlp",
            o->model, record.channels * record.height * record.width);
    TRY(record_padding(&c.input, o->model, record));
    *out = c;
done:
    return status;
}
