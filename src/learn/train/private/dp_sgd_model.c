/* Networks that DP-SGD can train, found out on one that is made for it and thrown away. */
#include "train/private/dp_sgd.h"

#include "base/status.h"
#include "ssl/encoder.h"
#include "train/network/network.h"
#include "train/plain/pretrained.h"

static sotto_status config_of(struct nn_model_config *out, const struct sotto_train_options *o,
                              const char *encoder, const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    struct nn_shape record;
    TRY(record_shape(&record, data, (struct nn_shape){o->channels, o->height, o->width}));
    if (!encoder) {
        TRY(train_model_config(out, o, record, data->classes));
        goto done;
    }
    *out = (struct nn_model_config){.name = encoder,
                                    .classes = data->classes,
                                    .norm = "batch",
                                    .zero_classifier = 1,
                                    .freeze = pretrained_freeze(o->freeze)};
    TRY(encoder_input(&out->input, data));
done:
    return status;
}

sotto_status dp_sgd_check_model(const struct sotto_train_options *o, const char *encoder,
                                const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    struct nn_model_config config;
    struct nn_model *m = NULL;
    TRY(config_of(&config, o, encoder, data));
    TRY(nn_model_create_blank(&m, &config));
    TRY(nn_plan_check_examples(m));
done:
    nn_model_free(m);
    return status;
}
