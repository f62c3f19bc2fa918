#include "train/private/silent_records.h"

#include "base/memory.h"
#include "base/status.h"
#include "head/model/head_model.h"
#include "train/private/dp_sgd.h"

#include <stdbool.h>

/* A set that a caller filled in by hand has the classes that the caller gave it. */
static bool read_off_records(const struct sotto_dataset *data)
{
    return data->memory && !data->classes_by[0];
}

static bool silent_records_usable(const struct sotto_dataset *data, size_t i, size_t classes)
{
    const float *row = data->features ? data->features + i * data->columns : NULL;
    return head_record_counts(row, data->columns, data->labels[i], classes);
}

sotto_status silent_records_make(struct silent_records *out, const struct sotto_dataset *data,
                                 const struct sotto_train_privacy *p)
{
    sotto_status status = SOTTO_OK;
    const size_t turns = dp_sgd_turns(p);
    size_t classes = turns > 1 ? turns : p->classes ? p->classes : data->classes;
    if (turns > 1) { /* labels are not read: all records count */
        *out = (struct silent_records){.data = *data};
        NEW(out->labels, data->n);
        out->data.labels = out->labels;
        out->data.classes = turns;
        goto done;
    }
    if (!p->classes && read_off_records(data))
        FAIL(SOTTO_EUSAGE,
             "data set '%s': its classes were derived from its records, so they are not public; give "
             "{classes=K}, or {classes=FILE} with one name a line",
             data->name);
    REQUIRE(data->labels && classes >= 2,
            "data set '%s' has no labels, or fewer than 2 classes; expected at least 2", data->name);
    *out = (struct silent_records){.data = *data};
    NEW(out->labels, data->n);
    for (size_t i = 0; i < data->n; i++)
        out->labels[i] = silent_records_usable(data, i, classes) ? data->labels[i] : SILENT_NOTHING;
    out->data.labels = out->labels;
    out->data.classes = classes;
done:
    return status;
}

void silent_records_clear(struct silent_records *s)
{
    base_free(s->labels);
    *s = (struct silent_records){0};
}

const char *silent_records_classes_by(const struct silent_records *s, const struct sotto_train_privacy *p)
{
    return dp_sgd_turns(p) > 1 ? "objective rotation" : p->classes ? p->classes_by : s->data.classes_by;
}
