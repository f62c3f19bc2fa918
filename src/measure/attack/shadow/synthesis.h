/* synthesis.h - records that an attacker makes up when he has none, or only some (Shokri et al. 2017,
 * V-C). */
#ifndef ATTACK_SHADOW_SYNTHESIS_H
#define ATTACK_SHADOW_SYNTHESIS_H

#include "attack/attack_facts.h"
#include "attack/shadow/feature_space.h"
#include "attack/target/target.h"
#include "sotto/attack.h"

/* Algorithm 1: climbs the target's posterior of one class by redrawing features at random. The published
 * values are for Purchase; iterations_max is not published. */
struct climb {
    size_t redraw_max, redraw_min; /* features redrawn a step: at first, at least [min(128, d / 2), 4] */
    size_t rejections_max;         /* rejected steps in a row that halve the number of features [10] */
    size_t iterations_max;         /* queries before a record is given up [1000] */
    double confidence_min;         /* posterior below which a record is never taken [0.2] */
};
struct climb climb_defaults(size_t inputs);

struct synthetic {
    float *x;   /* (n, inputs) */
    int64_t *y; /* (n) */
    size_t n;
    size_t *made, *failed; /* (classes): records found, and climbs that were given up */
    uint64_t queries;
    const char *kind; /* for facts */
};
void synthetic_clear(struct synthetic *s);

/* per_class climbs for each class; a climb that fails makes nothing: y says what was found, never padded.
 * Many climbs ask at once; each is a function of (seed, class, number) only. Queries as
 * target_query(). */
sotto_status synthetic_climb(struct synthetic *out, struct sotto_target *t, const struct feature_space *space,
                             const struct climb *c, size_t per_class, uint64_t seed,
                             const struct sotto_context *ctx);
/* n records, every feature from its marginal in `data`: overall, labelled by the target; or within a class
 * that is drawn as often as in data, and is the label. */
sotto_status synthetic_marginals(struct synthetic *out, struct sotto_target *t, const struct head_data *data,
                                 size_t n, bool by_class, uint64_t seed);
/* The records of data, a share `flip` of each one's features redrawn uniformly; labels kept. */
sotto_status synthetic_noisy(struct synthetic *out, const struct head_data *data, double flip, uint64_t seed);

/* Adds "kind", "records", "given_up", "queries", "made": a count for each class, "failed_classes": those without
 * any record. */
void synthetic_describe(struct facts *out, const struct synthetic *s, size_t classes);

#endif
