/* event_part.h - one kind of release within a composition, checked and ready to be accounted. */
#ifndef DP_ACCOUNT_EVENT_PART_H
#define DP_ACCOUNT_EVENT_PART_H

#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"

enum { RENYI_ORDERS = 640 };
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
    struct sotto_sampled sampled;    /* sampled: as one record sees it */
    size_t rows; /* sampled by Poisson: of a person, each of whose rows may be in a step; 1: a record */
    int doublings; /* sampled: the records that come or go are at most 2^doublings; below 0: too many to double */
    struct interval pure, failure; /* stated: of one release, randomised response that fails with `failure` */
};

/** The runs of persons, as steps that a record sees which stands for all rows of a person (person.h): for Renyi divergences. */
struct part part_of_person(const struct part *p);
/** Sampled steps to compose, of one record or person. */
struct composed_release part_item(const struct part *p);
/** Is its curve that of part_item(): the scalar curve holds, and no group is left over? */
bool part_has_item(const struct part *p);

/** Checks an event and makes it a part under `target`; `index` stands in errors. EINVAL, ENOTSUP. */
sotto_status part_make(struct part *p, const struct sotto_event *e, size_t index,
                       enum sotto_adjacency target);
/** Do the same facts stand in both, but for their number? */
bool event_is_like(const struct sotto_event *a, const struct sotto_event *b);

enum { PARTS_KNOWN = 4 /* a power of 2 */ };
/** The parts that were made last, under replace-one: a line of a ledger is asked for each of its parts several times, and lines that are
 * alike have the same. {0}: none. */
struct part_memory {
    struct sotto_event event[PARTS_KNOWN]; /* without a mechanism: none */
    struct part part[PARTS_KNOWN];
    size_t made;
};
/** Of a part that is made, another number of releases or steps. EINVAL: out of range. */
sotto_status part_set_count(struct part *p, size_t count);
/** part_make() under replace-one, once while it is known; *part: until the next call. */
sotto_status part_recall(const struct part **part, struct part_memory *known, const struct sotto_event *e,
                         size_t index);
/** Pure epsilon of all releases of a part, failures not counted; upper INFINITY: it has none. */
struct interval part_pure(const struct part *p);
/** Its lower end; INFINITY: it has none. */
static inline double part_pure_below(const struct part *p)
{
    const struct interval pure = part_pure(p);
    return pure.hi < INFINITY ? pure.lo : INFINITY;
}
/** Epsilon of all parts by their privacy-loss distributions, 0 < delta < 1, failures not counted. *out is [0,
 * INFINITY] where a part has no scalar pair. ENOMEM. */
sotto_status parts_pld(struct interval *out, const struct part *parts, size_t n, double delta,
                       const struct sotto_context *ctx);
/** The curve of releases of one noise on whole steps: an end as of account_pld_end(), and points as of account_pld_deltas(). */
sotto_status part_whole_end(double *end, const struct part *part, double delta,
                            const struct sotto_context *ctx);
sotto_status part_whole_deltas(double *delta, const double *x, size_t n, const struct part *part,
                               const struct sotto_context *ctx);
/** Epsilon of all parts by their Renyi divergences, at the best order, 0 < delta < 1. Once `ctx` has stopped: any number. */
double parts_renyi(const struct part *parts, size_t n, double delta, const struct sotto_context *ctx);

/** Renyi divergences of all releases of a part, both directions, at orders that rise. */
struct renyi_orders {
    size_t n;
    double alpha[RENYI_ORDERS];
    struct interval divergence[RENYI_ORDERS];
};
/** Orders up to the best one for `delta`. Returns epsilon there; INFINITY: there is none. Once `ctx` has stopped: any numbers. */
double part_renyi_orders(struct renyi_orders *out, const struct part *part, double delta,
                         const struct sotto_context *ctx);
/** delta[i] at 0 = x[0] < x[1] < ... from above, at most 1, by the best of these orders. The points are no curve; their hull is
 * (adaptive.h). */
void renyi_deltas(double *delta, const double *x, size_t n, const struct renyi_orders *orders);

#endif
