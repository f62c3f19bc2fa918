/* train_privacy.h - options of trainings that end with a certificate. */
#ifndef CLI_VERBS_TRAIN_PRIVACY_H
#define CLI_VERBS_TRAIN_PRIVACY_H

#include "options/options.h"

#include <stdbool.h>

/** By --dp-sgd; by --certify-inputs. EUSAGE: an option that is missing, or belongs to the other. */
sotto_status train_privacy_of_sgd(struct sotto_train_privacy *p, const struct options *o);
sotto_status train_privacy_of_inputs(struct sotto_train_privacy *p, const struct options *o);
/** --classes for a training on `set`: *out is the set to train on, and *labels (sotto_array_clear()) what its
 * labels are in the classes given, where these have names and the set's have too. EUSAGE: the names of the
 * set's classes were read off its records, and only a number is given. */
sotto_status train_privacy_classes(struct sotto_dataset *out, struct sotto_array *labels,
                                   struct sotto_train_privacy *p, const struct sotto_dataset *set,
                                   const struct options *o);
/** EUSAGE: an option of private training is given, and neither of them. */
sotto_status train_privacy_refuse(const struct options *o);

#endif
