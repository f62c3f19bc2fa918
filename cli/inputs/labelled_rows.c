#include "inputs/labelled_rows.h"
#include "inputs/head_inputs.h"

#include <stdio.h>

sotto_status labelled_rows_load(struct labelled_rows *r, const struct options *o, const char *side, size_t d,
                                size_t classes)
{
    char features[64], labels[64];
    int64_t first;
    snprintf(features, sizeof features, "%s-features", side);
    snprintf(labels, sizeof labels, "%s-labels", side);
    const char *x = option_text(o, features), *y = option_text(o, labels);
    if (!x || !y)
        return cli_fail(SOTTO_EUSAGE, "attack: --%s and --%s are needed; give both", features, labels);
    TRY_OR_RETURN(option_labels_from(&first, o));
    TRY_OR_RETURN(head_features_load(&r->x, x));
    TRY_OR_RETURN(sotto_array_require_finite(&r->x, x, "features"));
    TRY_OR_RETURN(head_labels_load(&r->y, y, first));
    if (r->y.count != r->x.shape[0])
        return cli_fail(SOTTO_EINVAL,
                        "%s has %zu rows but %s has %zu labels; expected one of each per record", x,
                        r->x.shape[0], y, r->y.count);
    if (d && r->x.shape[1] != d)
        return cli_fail(SOTTO_EINVAL,
                        "%s has %zu columns; expected %zu, as the other records or the target have", x,
                        r->x.shape[1], d);
    const int64_t *label = r->y.data;
    for (size_t i = 0; i < r->y.count; i++)
        if (label[i] < 0 || (uint64_t)label[i] >= classes)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu has label %lld; expected 0 to %zu", y, i,
                            (long long)label[i], classes - 1);
    return SOTTO_OK;
}

void labelled_rows_clear(struct labelled_rows *r)
{
    sotto_array_clear(&r->x);
    sotto_array_clear(&r->y);
}
