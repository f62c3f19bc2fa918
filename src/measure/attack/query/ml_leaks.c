#include "attack/query/ml_leaks.h"

enum { LOOKED_AT = 3 };

size_t ml_leaks_width(size_t classes, size_t other_classes)
{
    size_t fewer = classes < other_classes ? classes : other_classes;
    return fewer < LOOKED_AT ? fewer : LOOKED_AT;
}

sotto_status ml_leaks_judge(double *scores, struct query_result *result, const struct output_table *answers,
                            const struct query_input *in)
{
    sotto_status status = SOTTO_OK;
    size_t n = in->records.n, classes = in->records.classes;
    float *rows = NULL, *p = NULL;
    NEW(rows, n * answers->width);
    NEW(p, classes);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < classes; k++)
            p[k] = (float)in->posteriors[i * classes + k];
        answer_top(rows + i * answers->width, answers->width, p, classes);
    }
    TRY(attack_net_scores(scores, answers, rows, n, in->options->seed, in->ctx));
    result->threshold = 0;
done:
    base_free(rows);
    base_free(p);
    return status;
}
