/* audit_inputs.h - the arrays that `audit` reads, checked with the names of their files. */
#ifndef CLI_INPUTS_AUDIT_INPUTS_H
#define CLI_INPUTS_AUDIT_INPUTS_H

#include "options/options.h"

#define AUDIT_INPUT_ROWS                                                                                      \
    {"member-logits", OPTION_TEXT, "FILE", NULL, "logits of the members (n, classes)", NULL},                 \
        {"nonmember-logits", OPTION_TEXT, "FILE", NULL, "logits of the non-members (m, classes)", NULL},      \
        {"member-probabilities", OPTION_TEXT, "FILE", NULL, "probabilities instead of logits", NULL},         \
        {"nonmember-probabilities", OPTION_TEXT, "FILE", NULL, "probabilities instead of logits", NULL},      \
        {"member-labels", OPTION_TEXT, "FILE", NULL, "true classes of the members, from 0 (n)", NULL},        \
        {"nonmember-labels", OPTION_TEXT, "FILE", NULL, "true classes of the non-members, from 0 (m)", NULL}, \
        {"member-losses", OPTION_TEXT, "FILE", NULL, "losses of the members, nats (n)", NULL},                \
        {"nonmember-losses", OPTION_TEXT, "FILE", NULL, "losses of the non-members, nats (m)", NULL},         \
        {"member-reference",                                                                                  \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "ln(p/(1-p)) of the true class by reference models (n, models): LiRA, RMIA",                         \
         NULL},                                                                                               \
        {"nonmember-reference", OPTION_TEXT, "FILE", NULL, "the same of the non-members (m, models)", NULL},  \
        {"member-reference-losses", OPTION_TEXT, "FILE", NULL, "losses instead, nats (n, models)", NULL},     \
        {"nonmember-reference-losses", OPTION_TEXT, "FILE", NULL, "losses instead, nats (m, models)", NULL},  \
        {"member-trained",                                                                                    \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "1 where a reference model was trained on the record (n, models); none: offline",                    \
         NULL},                                                                                               \
        {"nonmember-trained", OPTION_TEXT, "FILE", NULL, "the same of the non-members (m, models)", NULL},    \
        {"shadow-logits",                                                                                     \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "a shadow model's logits (s, classes): an attack network learns from them",                          \
         NULL},                                                                                               \
        {"shadow-probabilities", OPTION_TEXT, "FILE", NULL, "probabilities instead of logits", NULL},         \
        {"shadow-labels", OPTION_TEXT, "FILE", NULL, "true classes of those records (s)", NULL},              \
        {"shadow-trained",                                                                                    \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "1 for the records that the shadow was trained on (s)",                                              \
         NULL},                                                                                               \
        {"ref-logits",                                                                                        \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "reference models' logits instead of signals (models, n, classes), members first",                   \
         NULL},                                                                                               \
        {"ref-probabilities", OPTION_TEXT, "FILE", NULL, "probabilities instead of logits", NULL},            \
        {"ref-membership",                                                                                    \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "1 where a reference model was trained on the record (models, n); none: offline",                    \
         NULL},                                                                                               \
        {"population-logits",                                                                                 \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the target's logits on other records, known non-members (z, classes)",                              \
         NULL},                                                                                               \
        {"population-probabilities", OPTION_TEXT, "FILE", NULL, "probabilities instead of logits", NULL},     \
        {"population-labels", OPTION_TEXT, "FILE", NULL, "true classes of those records (z)", NULL},          \
        {"population-losses", OPTION_TEXT, "FILE", NULL, "their losses instead, nats (z)", NULL},             \
        {"population-reference",                                                                              \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the reference models' signals (or losses) on them (z, models): RMIA against a population",          \
         NULL},                                                                                               \
        {"member-views",                                                                                      \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the target's logits on several views of each member (n, views, classes): LiRA and RMIA over "       \
         "views",                                                                                             \
         NULL},                                                                                               \
        {"nonmember-views",                                                                                   \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the same of the non-members (m, views, classes)",                                                   \
         NULL},                                                                                               \
        {"ref-views",                                                                                         \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the reference models' on the same views (models, n, views, classes), members first",                \
         NULL},                                                                                               \
        {"population-views",                                                                                  \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the target's on views of the population (z, views, classes): RMIA compares with these",             \
         NULL},                                                                                               \
        {"population-ref-views",                                                                              \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the reference models' on those (models, z, views, classes)",                                        \
         NULL},                                                                                               \
        {"member-features",                                                                                   \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the members themselves (n, ...): are the two sets alike, are there copies?",                        \
         NULL},                                                                                               \
        {"nonmember-features", OPTION_TEXT, "FILE", NULL, "the non-members themselves (m, ...)", NULL},       \
        {"population-features", OPTION_TEXT, "FILE", NULL, "the population itself (z, ...)", NULL},           \
        {"released-mean",                                                                                     \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "a mean that was released (width): was a record part of it?",                                        \
         NULL},                                                                                               \
        {"reference-mean", OPTION_TEXT, "FILE", NULL, "the mean of a population (width)", NULL},              \
        {"features",                                                                                          \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "attribute inference: what the attacker sees of each record (n, ...)",                               \
         NULL},                                                                                               \
        {"attribute", OPTION_TEXT, "FILE", NULL, "the hidden attribute of each, from 0 (n)", NULL},           \
        {"attribute-labels",                                                                                  \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the task's label of each, for the baseline that sees only that (n)",                                \
         NULL},                                                                                               \
        {"attribute-outputs",                                                                                 \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "the model's answers, for the baseline that sees only those and the label (n, ...)",                 \
         NULL},                                                                                               \
        {"attribute-known",                                                                                   \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "what is known of each record anyway, for the baseline that imputes (n, ...)",                       \
         NULL},                                                                                               \
        {"attribute-test-features",                                                                           \
         OPTION_TEXT,                                                                                         \
         "FILE",                                                                                              \
         NULL,                                                                                                \
         "test the attack on these records, and let it know all of --features (t, ...); else: on a random "   \
         "half",                                                                                              \
         NULL},                                                                                               \
        {"attribute-test", OPTION_TEXT, "FILE", NULL, "the hidden attribute of each of those (t)", NULL},     \
        {"attribute-test-labels", OPTION_TEXT, "FILE", NULL, "the task's label of each of those (t)", NULL},  \
        {"attribute-depth",                                                                                   \
         OPTION_COUNT,                                                                                        \
         "N",                                                                                                 \
         NULL,                                                                                                \
         "attack by networks of 3 to N dense layers too, and report each (3 to 6)",                           \
         NULL},                                                                                               \
        {"scores", OPTION_TEXT, "FILE", NULL, "scores of any tool, higher = more member-like (n)", NULL},     \
    {                                                                                                         \
        "membership", OPTION_TEXT, "FILE", NULL, "1 for members, 0 for others, one for each score (n)", NULL  \
    }

struct audit_inputs {
    struct sotto_audit_input input; /* points into the arrays below */
    struct sotto_attribute_input attribute;
    struct sotto_array arrays[48];
    double *scores; /* members first, then non-members */
    struct sotto_report_input files[48];
    size_t file_count;
};
/* One file: read, recorded for the report, finite. Axes beyond the last wanted one are flattened into it; a
 * single column will do for one dimension. `what` names the values, `shape` what was expected. *out stays
 * NULL if the option was not given. */
sotto_status audit_inputs_read(struct sotto_array **out, struct audit_inputs *in, const struct options *o,
                               const char *option, const char *role, const char *what, int dimensions,
                               const char *shape);
/* The other arrays, once those of the records are there. */
sotto_status audit_inputs_load_references(struct audit_inputs *in, const struct options *o);
sotto_status audit_inputs_load_population(struct audit_inputs *in, const struct options *o);
/* Views, once the population is there. */
sotto_status audit_inputs_load_views(struct audit_inputs *in, const struct options *o);
/* (n, width): all axes but the first are flattened; f4. *rows, *width: what others have, 0 for the first.
 * *out stays NULL if the option was not given; else the array is the last of in->arrays so far. */
sotto_status audit_inputs_table(const float **out, struct audit_inputs *in, const struct options *o,
                                const char *option, const char *role, size_t *rows, size_t *width);
sotto_status audit_inputs_load_features(struct audit_inputs *in, const struct options *o);
sotto_status audit_inputs_load_attribute(struct audit_inputs *in, const struct options *o);
/* EUSAGE for options that contradict each other; EINVAL names the file. Clear also after a failure. */
sotto_status audit_inputs_load(struct audit_inputs *in, const struct options *o);
void audit_inputs_clear(struct audit_inputs *in);

#endif
