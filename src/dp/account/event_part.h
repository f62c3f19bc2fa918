/* event_part.h - one kind of release within a composition, checked and ready to be accounted. */
#ifndef DP_ACCOUNT_EVENT_PART_H
#define DP_ACCOUNT_EVENT_PART_H

#include "dp/account/accountant.h"
#include "sotto/compose.h"

enum part_kind { PART_NOISE, PART_SAMPLED, PART_STATED };

/** For the requested adjacency and group. */
/** One record is replaced by another; else one more or less. */
static inline bool sampled_replaces(const struct sotto_sampled *s)
{
    return s->adjacency == SOTTO_REPLACE_ONE;
}

struct part {
    enum part_kind kind;
    const struct mechanism *m; /* stated: NULL */
    double count;
    struct sensitivity_ratio shifts; /* noise */
    double scale;                    /* noise */
    struct sotto_sampled sampled;    /* sampled */
    int doublings;                   /* sampled: a group of 2^doublings, but where a record is replaced */
    struct interval pure, failure; /* stated: of one release, randomised response that fails with `failure` */
};

/** Checks an event and makes it a part under `target`; `index` stands in errors. EINVAL, ENOTSUP. */
sotto_status part_make(struct part *p, const struct sotto_event *e, size_t index,
                       enum sotto_adjacency target);
/** Pure epsilon of all releases of a part, failures not counted; upper INFINITY: it has none. */
struct interval part_pure(const struct part *p);
/** Epsilon of all parts by their privacy-loss distributions, 0 < delta < 1, failures not counted. *out is [0,
 * INFINITY] where a part has no scalar pair. ENOMEM. */
sotto_status parts_pld(struct interval *out, const struct part *parts, size_t n, double delta,
                       const struct sotto_context *ctx);

/** Epsilon of all parts by their Renyi divergences, at the best order, 0 < delta < 1. Once `ctx` has stopped: any number. */
double parts_renyi(const struct part *parts, size_t n, double delta, const struct sotto_context *ctx);

#endif
