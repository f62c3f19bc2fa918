/* silent_records.h - a data set as a training with a certificate sees it: with public classes, and without a
 * word about what the records hold. A record without a usable label or with a feature that is not finite
 * counts as nothing, whatever the others are. */
#ifndef TRAIN_PRIVATE_SILENT_RECORDS_H
#define TRAIN_PRIVATE_SILENT_RECORDS_H

#include "sotto/lab/train.h"

struct silent_records {
    struct sotto_dataset data; /* a view of the caller's set: labels and classes are those below */
    int64_t *labels;           /* (n): 0 .. classes - 1, or SILENT_NOTHING; owned */
};
enum { SILENT_NOTHING = -1 };

/** EUSAGE: the classes were read off the records and none are given; EINVAL: no labels, or fewer than 2
 * classes; ENOMEM. */
sotto_status silent_records_make(struct silent_records *out, const struct sotto_dataset *data,
                                 const struct sotto_train_privacy *p);
void silent_records_clear(struct silent_records *s);
/** Where the classes come from, for the certificate. */
const char *silent_records_classes_by(const struct silent_records *s, const struct sotto_train_privacy *p);

#endif
