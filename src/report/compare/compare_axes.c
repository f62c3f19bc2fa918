/* The axes on which models are compared. */
#include "report/compare/compare.h"

const struct compare_axis_facts compare_axes[SOTTO_AXES] = {
    {"utility", "Accuracy on held-out records", true},
    {"membership", "Membership, worst AUC", false},
    {"encoder_membership", "Encoder membership, worst AUC", false},
    {"attribute", "Attribute, balanced accuracy", false},
};
const char *const compare_change_names[] = {"unknown", "same", "better", "worse", NULL};
