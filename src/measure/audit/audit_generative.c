/* What papers on generative models report beside the curve: the n highest scores, and sets of records instead of single
 * ones. */
#include "audit/audit_private.h"
#include "num/beta.h"
#include "rng/rng.h"

#include <math.h>

enum { SET_DRAWS = 100, SET_STREAM = 1 << 30 /* beyond those of the bootstraps */ };

/* Share of members among the n_member highest scores; of scores that tie at the border, each counts in part. */
static double top_share(const struct roc *c)
{
    size_t i = 0, flagged = 0, right = 0;
    for (; i < c->points && c->true_positives[i] + c->false_flags[i] < c->n_member; i++) {
        right = c->true_positives[i];
        flagged = right + c->false_flags[i];
    }
    if (i == c->points)
        return 1;
    const double tied = (double)(c->true_positives[i] + c->false_flags[i] - flagged);
    return ((double)right + (double)(c->true_positives[i] - right) * (double)(c->n_member - flagged) / tied) /
           (double)c->n_member;
}

static size_t lowest_tied(const struct roc *c)
{
    const size_t before =
        c->points > 1 ? c->true_positives[c->points - 2] + c->false_flags[c->points - 2] : 0;
    return c->n_member + c->n_nonmember - before;
}

static double sum_of(const double *scores, const int64_t *order, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += scores[order[i]];
    return sum;
}

/* Equal sums are decided by a coin, so an attack that knows nothing is right half of the time. */
static sotto_status draw_sets(size_t *right, size_t size, const struct audit_scored *s, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    int64_t *member = NULL, *nonmember = NULL;
    NEW(member, s->n_member);
    NEW(nonmember, s->n_nonmember);
    for (size_t i = 0; i < s->n_member; i++)
        member[i] = (int64_t)i;
    for (size_t i = 0; i < s->n_nonmember; i++)
        nonmember[i] = (int64_t)i;
    for (uint64_t draw = 0; draw < SET_DRAWS; draw++) {
        struct rng r = rng_stream(seed, RNG_BOOTSTRAP, SET_STREAM, draw);
        rng_shuffle(&r, member, s->n_member);
        rng_shuffle(&r, nonmember, s->n_nonmember);
        double gain = sum_of(s->member, member, size) - sum_of(s->nonmember, nonmember, size);
        *right += gain > 0 || (gain == 0 && rng_below(&r, 2) == 1);
    }
done:
    base_free(member);
    base_free(nonmember);
    return status;
}

sotto_status audit_measure_generative(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                      const struct audit_scored *s, const struct roc *all,
                                      const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_generative *g;
    size_t least = s->n_member < s->n_nonmember ? s->n_member : s->n_nonmember, right = 0;
    TAKE(memory, g, 1);
    *g = (struct sotto_audit_generative){.access = audit_keep_text(memory, s->access),
                                         .radius = s->radius,
                                         .lowest_tied = lowest_tied(all),
                                         .top_share = top_share(all),
                                         .set_draws = SET_DRAWS,
                                         .set_size = least / 2};
    if (!g->access)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for the results of '%s'", s->name);
    TRY(draw_sets(&right, g->set_size, s, settings->seed));
    g->set_accuracy.estimate = (double)right / SET_DRAWS;
    clopper_pearson(&g->set_accuracy.lower, &g->set_accuracy.upper, (double)right, SET_DRAWS,
                    settings->confidence);
    out->generative = g;
done:
    return status;
}
