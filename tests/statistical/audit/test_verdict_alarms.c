/* How often is an audit of a model that leaks nothing said to leak? At most 1 - confidence, in both directions, over all attacks,
 * rates and bounds together.
 *
 * Efforts 1, 5, 50: 1,000, 4,000, 40,000 audits. Each of three checks fails with probability at most 0.1 % if the rate is 5 %.
 * Found with probability 95 %: a rate of 8.7 %, 6.7 %, 5.6 %. Negative control: attacks that do not share the error. */
#include "support/test.h"
#include "support/effort.h"
#include "num/beta.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <stdbool.h>
#include <stdio.h>

enum { ATTACKS = 4, MOST = 200 };
static const struct sotto_context alone = {.threads = 1};

static size_t audits(void)
{
    return (size_t)by_effort(1000, 4000, 40000);
}

/* True if `hits` of audits() fit a rate of at most 5 %: one-sided binomial at 99.9 %. */
static bool fits(size_t hits)
{
    return clopper_pearson_lower((double)hits, (double)audits(), 0.998) <= 0.05;
}

/* Independent attacks: the worst case of picking one after looking. `levels` > 0: scores tie at so many values. */
static void draw(double side[ATTACKS][MOST], size_t n, double shift, unsigned levels, struct rng *r)
{
    for (size_t a = 0; a < ATTACKS; a++)
        for (size_t i = 0; i < n; i++)
            side[a][i] = levels ? (double)rng_below(r, levels) + shift : rng_normal(r) + shift;
}

struct alarms {
    size_t shared, alone, claim;
};

/* Audits that are said to leak; to leak by an attack that is judged as if it were the only one; whose claim of epsilon 0 falls. */
static struct alarms count(size_t m, size_t n, double shift, unsigned levels, uint64_t stream)
{
    static double member[ATTACKS][MOST], other[ATTACKS][MOST];
    static const char *const names[ATTACKS] = {"a", "b", "c", "d"};
    struct alarms found = {0};
    for (uint64_t i = 0; i < audits(); i++) {
        struct rng r = rng_stream(51, RNG_TEST, i, stream);
        struct sotto_audit_scores named[ATTACKS];
        draw(member, m, shift, levels, &r);
        draw(other, n, 0, levels, &r);
        for (size_t a = 0; a < ATTACKS; a++)
            named[a] =
                (struct sotto_audit_scores){.name = names[a], .member = member[a], .nonmember = other[a]};
        const struct sotto_audit_input in = {
            .named = named, .named_count = ATTACKS, .n_member = m, .n_nonmember = n};
        const double fpr[] = {0.1, 0.02};
        const struct sotto_audit_options options = {
            .seed = i, .draws = 100, .fpr = fpr, .fpr_count = 2, .has_claim = 1};
        struct sotto_audit_result result = {0};
        struct sotto_audit_verdict v;
        assert_int_equal(sotto_audit(&result, &in, &options, &alone), SOTTO_OK);
        found.claim += result.claim->contradicted != 0;
        result.claim = NULL;
        sotto_audit_judge(&v, &result);
        found.shared += v.kind != SOTTO_VERDICT_NOT_DETECTED;
        bool any = false;
        for (size_t a = 0; a < ATTACKS; a++) {
            struct sotto_audit_result one = {
                .attacks = result.attacks + a, .attack_count = 1, .confidence = result.confidence};
            result.attacks[a].simultaneous.confidence = 0; /* its interval shares the error */
            sotto_audit_judge(&v, &one);
            any |= v.kind != SOTTO_VERDICT_NOT_DETECTED;
        }
        found.alone += any;
        sotto_audit_result_free(&result);
    }
    return found;
}

TEST(audits_without_a_leak_say_so)
{
    const struct alarms f = count(MOST, MOST / 2, 0, 0, 0);
    printf("leaks %.4f, one attack alone %.4f, claim %.4f\n", (double)f.shared / (double)audits(),
           (double)f.alone / (double)audits(), (double)f.claim / (double)audits());
    assert_true(fits(f.shared) && fits(f.claim));
    assert_false(fits(f.alone));
}

TEST(ties_raise_no_alarm)
{
    assert_true(fits(count(MOST / 2, MOST, 0, 3, 1).shared));
}

TEST_GROUP(.tags = "long")
