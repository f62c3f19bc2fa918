/* label_attack.h - what attacks share that see nothing of a target but its decisions (they call
 * target_labels() and nothing else).
 *
 * Choquette-Choo et al. 2021, "Label-only membership inference attacks"; Li and Zhang 2021, "Membership
 * leakage in label-only exposures". A record that the model was trained on lies further from the decision
 * boundary. */
#ifndef ATTACK_QUERY_LABEL_ATTACK_H
#define ATTACK_QUERY_LABEL_ATTACK_H

#include "attack/shadow/feature_space.h"
#include "attack/shadow/shadow_calibration.h"
#include "sotto/attack.h"

struct label_setting {
    struct feature_space space; /* of the attacker's records, else of the inputs to judge */
    double *spread;             /* (d): standard deviation of a column there */
    struct head_data known;     /* where the two come from */
    size_t queries;             /* per record */
    uint64_t seed;
    const struct sotto_context *ctx;
    size_t unreachable; /* boundary distance: records without any adversarial point; counts up */
};
/* queries: unless options say otherwise. A budget of the target is shared out among the records, after
 * `reserved` rows for other uses: EBUDGET if not even one query a record is left. */
sotto_status label_setting_make(struct label_setting *out, const struct query_input *in, size_t queries,
                                size_t reserved);
void label_setting_clear(struct label_setting *s);

/* scores (n): distance to the boundary by HopSkipJump, 0 where the target's decision is not the record's
 * class. */
sotto_status label_boundary(double *scores, struct sotto_target *t, const struct head_data *records,
                            double unused, void *setting);
/* scores (n): share of noisy copies, and the record itself, that the target still gives its class. level: one
 * of LABEL_LEVELS strengths of the noise. */
sotto_status label_noise(double *scores, struct sotto_target *t, const struct head_data *records,
                         double level, void *setting);
enum { LABEL_LEVELS = 7 };
/* A bit is flipped with this probability; another column gets Gaussian noise of so many of its standard
 * deviations. */
double label_flip(size_t level);
double label_sigma(size_t level);

#endif
