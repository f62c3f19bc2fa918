/* The axes on which models are compared. */
#include "report/compare/compare.h"

const struct compare_axis_facts compare_axes[SOTTO_AXES] = {
    {"utility", "Accuracy on held-out records", true, true},
    {"leakage", "Leakage: |AUC - 0.5| or TPR - FPR", false, true},
    {"membership", "Membership, AUC of the better guess", false, true},
    {"tpr_at_fpr", "Members found at the lowest FPR", false, true},
    {"proved_epsilon", "Proved epsilon", false, false},
    {"encoder_membership", "Encoder membership, AUC of the better guess", false, true},
    {"attribute", "Attribute, balanced accuracy", false, true},
};
const char *const compare_change_names[] = {"unknown", "same", "better", "worse", NULL};

bool compare_shows(const struct sotto_compare_result *c, int k)
{
    for (size_t i = 0; i < c->row_count; i++)
        if (compare_measured(&c->rows[i].axis[k]))
            return true;
    return false;
}
