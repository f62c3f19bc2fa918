/* sweeps.h - the document's "sweeps": one curve per case, mechanism and kind of norm, checked once and then
 * plain values. */
#ifndef REPORT_DOCUMENT_SWEEPS_H
#define REPORT_DOCUMENT_SWEEPS_H

#include "base/memory.h"
#include "io/json/json.h"

enum { SWEEP_ATTACKS = 4 };

/* A mean over noise draws with its interval; NAN if absent. */
struct mean {
    double value, lower, upper;
};
struct sweep_attack {
    struct mean auc, balanced;
    struct mean low_rate; /* true positives at the first false-positive rate of the report */
};
struct sweep_point {
    double epsilon; /* the target; NAN: a scale was given */
    double implied, scale, deviation;
    double ceiling;     /* accuracy that no attack exceeds if the sensitivity is a bound; NAN if absent */
    double tpr_ceiling; /* likewise the true-positive rate at `rate` of the sweeps */
    bool holds;         /* the account at this scale is within the target */
    struct mean accuracy, loss;
    struct sweep_attack attacks[SWEEP_ATTACKS];
};
struct sweep_curve {
    const char *name, *title, *mechanism, *norms; /* name: of the case */
    size_t draws, count;
    struct sweep_point *points;
};
struct sweeps {
    size_t count, attack_count;
    struct sweep_curve *curves;
    const char *attacks[SWEEP_ATTACKS]; /* names that occur, in the order of the first point that has them */
    double rate;                        /* false-positive rate of low_rate; NAN: none */
};

/** Texts are borrowed from doc. Without "sweeps": nothing. EFORMAT names the member; ENOMEM. */
sotto_status sweeps_read(struct sweeps *out, const struct json *doc);
void sweeps_clear(struct sweeps *s);
/** Where a point stands on an epsilon axis: its target, else what its scale implies. */
double sweep_epsilon(const struct sweep_point *p);

#endif
