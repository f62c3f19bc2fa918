#include "audit/audit_sanity_values.h"

#include <math.h>
#include <string.h>

size_t audit_count_saturated(const struct attack_input *in)
{
    size_t count = 0;
    for (size_t i = 0; i < in->n; i++) {
        const double *p = in->outputs + i * in->classes;
        double others = 0;
        for (size_t k = 0; k < in->classes; k++)
            others += k == (size_t)in->labels[i] ? 0 : p[k];
        count += p[in->labels[i]] < in->step / 2 || others < in->step / 2;
    }
    return count;
}

bool audit_logits_are_probabilities(const struct attack_input *in)
{
    if (!in->outputs || in->probabilities)
        return false;
    for (size_t i = 0; i < in->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < in->classes; k++) {
            if (in->outputs[i * in->classes + k] < 0)
                return false;
            sum += in->outputs[i * in->classes + k];
        }
        if (fabs(sum - 1) > 1e-3)
            return false;
    }
    return true;
}

size_t audit_count_negative(const struct attack_input *in)
{
    size_t count = 0;
    for (size_t i = 0; in->losses && i < in->n; i++)
        count += in->losses[i] < 0;
    return count;
}

bool audit_answers_are_constant(const struct attack_input *in)
{
    const double *values = in->outputs ? in->outputs : in->losses;
    const size_t width = in->outputs ? in->classes : 1;
    if (!values)
        return false;
    for (size_t i = 1; i < in->n; i++)
        if (memcmp(values, values + i * width, width * sizeof *values) != 0)
            return false;
    return true;
}

bool audit_scores_are_constant(const struct attack_input *in)
{
    for (size_t i = 1; in->scores && i < in->n; i++)
        if (in->scores[i] != in->scores[0])
            return false;
    return in->scores != NULL;
}
