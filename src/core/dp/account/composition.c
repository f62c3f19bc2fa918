/* Rules that use (epsilon, delta) only. docs/derivations/composition.md has the proofs. */
#include "dp/account/composition.h"
#include "sotto/lab/account.h"

#include "num/special.h"
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

static const char *const adjacencies[] = {[SOTTO_REPLACE_ONE] = "replace-one",
                                          [SOTTO_ADD_REMOVE] = "add-remove",
                                          [SOTTO_ZERO_OUT] = "zero-out",
                                          [SOTTO_REPLACE_INPUT] = "replace-input"};

const char *sotto_adjacency_name(enum sotto_adjacency a)
{
    return (unsigned)a <= SOTTO_REPLACE_INPUT ? adjacencies[a] : "unknown";
}

sotto_status sotto_adjacency_find(enum sotto_adjacency *adjacency, const char *name)
{
    REQUIRE_GIVEN(adjacency, name);
    for (int i = 0; i <= SOTTO_REPLACE_INPUT; i++)
        if (strcmp(name, adjacencies[i]) == 0) {
            *adjacency = (enum sotto_adjacency)i;
            return SOTTO_OK;
        }
    return choice_unknown(SOTTO_EINVAL, "adjacency", name,
                          "replace-one, add-remove, zero-out or replace-input");
}

sotto_status composition_check(const struct sotto_dp *parts, size_t n, enum sotto_adjacency adjacency)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(n >= 1, "composition: no guarantee is given; expected at least one");
    REQUIRE(adjacency == SOTTO_REPLACE_ONE || adjacency == SOTTO_ADD_REMOVE,
            "adjacency must be replace-one or add-remove");
    for (size_t i = 0; i < n; i++) {
        REQUIRE(parts[i].epsilon >= 0 && parts[i].epsilon <= 1e100, "epsilon must lie in [0, 1e100] (got %g)",
                parts[i].epsilon);
        TRY(require_delta(parts[i].delta));
    }
done:
    return status;
}

sotto_status composition_check_each(struct sotto_dp each, size_t k, double delta,
                                    enum sotto_adjacency adjacency)
{
    sotto_status status = SOTTO_OK;
    TRY(composition_check(&each, 1, adjacency));
    TRY(require_delta(delta));
    REQUIRE(k >= 1, "composition: 0 releases are given; expected at least one");
done:
    return status;
}

void composition_set(struct sotto_composed *out, const char *rule, enum sotto_adjacency adjacency,
                     struct interval epsilon, struct interval delta, const char *reason)
{
    *out = (struct sotto_composed){.epsilon = {fmax(0, epsilon.lo), epsilon.hi},
                                   .delta = {fmax(0, delta.lo), fmin(1, delta.hi)}};
    snprintf(out->rule, sizeof out->rule, "%s", rule);
    out->adjacency = adjacency;
    snprintf(out->reason, sizeof out->reason, "%s", reason);
}

struct interval composition_slack(double each, double k, double delta)
{
    /* 1 - e^(ln(1-delta) - k ln(1-each)) */
    struct interval log_rest = iv_sub(iv_log1p(iv(-delta)), iv_scale(iv_log1p(iv(-each)), k));
    return each == 0 ? iv(delta) : iv_neg(iv_expm1(log_rest));
}

sotto_status sotto_compose_basic(struct sotto_composed *out, const struct sotto_dp *parts, size_t n,
                                 enum sotto_adjacency adjacency)
{
    REQUIRE_GIVEN(out, !n || parts);
    sotto_status status = SOTTO_OK;
    struct interval epsilon = iv(0), delta = iv(0);
    TRY(composition_check(parts, n, adjacency));
    for (size_t i = 0; i < n; i++) {
        epsilon = iv_add(epsilon, iv(parts[i].epsilon));
        delta = iv_add(delta, iv(parts[i].delta));
    }
    composition_set(out, "basic", adjacency, epsilon, delta, "losses add up");
done:
    return status;
}

sotto_status sotto_compose_advanced(struct sotto_composed *out, struct sotto_dp each, size_t k, double delta,
                                    enum sotto_adjacency adjacency)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    TRY(composition_check_each(each, k, delta, adjacency));
    struct interval e = iv(each.epsilon), n = iv((double)k), total = {0, INFINITY};
    struct interval rest = iv_sub(iv(delta), iv_mul(n, iv(each.delta)));
    if (rest.hi > 0) {
        struct interval spread = iv_sqrt(iv_mul(iv_scale(n, 2), iv_neg(iv_log(rest))));
        total = iv_add(iv_mul(iv_mul(n, e), iv_expm1(e)), iv_mul(e, spread));
    }
    composition_set(out, "advanced", adjacency, total, iv(delta),
                    "mean loss at most eps (e^eps - 1), deviation by Azuma's inequality");
done:
    return status;
}

struct interval group_delta(struct interval e, double delta, double g)
{
    struct interval ratio = e.hi == 0 ? iv(g) : iv_div(iv_expm1(iv_scale(e, g)), iv_expm1(e));
    return delta == 0 ? iv(0) : iv_mul(iv(delta), ratio);
}

sotto_status sotto_compose_group(struct sotto_composed *out, struct sotto_dp each, size_t g,
                                 enum sotto_adjacency adjacency)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    TRY(composition_check(&each, 1, adjacency));
    REQUIRE(g >= 1, "group size must be at least 1 (got 0)");
    struct interval e = iv(each.epsilon);
    composition_set(out, "group", adjacency, iv_scale(e, (double)g), group_delta(e, each.delta, (double)g),
                    "g neighbours in a row: delta grows by e^eps at every step");
done:
    return status;
}

sotto_status compose_replace_one(struct sotto_composed *out, struct sotto_dp each)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    TRY(composition_check(&each, 1, SOTTO_ADD_REMOVE));
    struct interval e = iv(each.epsilon);
    composition_set(out, "replace-one as a group of two", SOTTO_REPLACE_ONE, iv_scale(e, 2),
                    group_delta(e, each.delta, 2), "a replacement removes one record and adds one");
done:
    return status;
}

/* The largest and the second largest of one column. */
struct top {
    double first, second;
};

static void top_add(struct top *t, double x)
{
    if (x > t->first) {
        t->second = t->first;
        t->first = x;
    } else {
        t->second = fmax(t->second, x);
    }
}

sotto_status sotto_compose_parallel(struct sotto_composed *out, const struct sotto_dp *parts, size_t n,
                                    enum sotto_adjacency parts_hold, enum sotto_adjacency target)
{
    REQUIRE_GIVEN(out, !n || parts);
    sotto_status status = SOTTO_OK;
    struct top e = {0, 0}, d = {0, 0};
    TRY(composition_check(parts, n, target));
    if (parts_hold == SOTTO_REPLACE_ONE)
        FAIL(SOTTO_ENOTSUP,
             "parallel composition: the guarantees of the parts hold for replaced records only, but a record "
             "that is added, removed or moved changes the size of a part; give guarantees under add-remove");
    for (size_t i = 0; i < n; i++) {
        top_add(&e, parts[i].epsilon);
        top_add(&d, parts[i].delta);
    }
    if (target == SOTTO_ADD_REMOVE) {
        composition_set(out, "parallel", target, iv(e.first), iv(d.first), "a record lies in one part only");
    } else if (parts_hold == SOTTO_BOTH_ADJACENCIES) {
        composition_set(out, "parallel", target, iv_add(iv(e.first), iv(e.second)),
                        iv_add(iv(d.first), iv(d.second)),
                        "a replaced record may leave one part and enter another: the two largest add up");
    } else {
        struct interval delta = iv(0); /* whichever part it is, or whichever two */
        for (size_t i = 0; i < n; i++)
            delta = iv_max(delta, group_delta(iv(parts[i].epsilon), parts[i].delta, 2));
        composition_set(
            out, "parallel", target, iv_scale(iv(e.first), 2),
            iv_max(delta, iv_add(iv(d.first), iv(d.second))),
            "a replaced record may leave one part and enter another, or stay, which is a group of two: "
            "the parts are shown for add-remove only");
    }
done:
    return status;
}

sotto_status sotto_compose_parallel_rows(struct sotto_composed *out, const struct sotto_dp *parts, size_t n,
                                         enum sotto_adjacency parts_hold, enum sotto_adjacency target)
{
    REQUIRE_GIVEN(out, !n || parts);
    sotto_status status = SOTTO_OK;
    struct top e = {0, 0}, d = {0, 0};
    struct interval delta = iv(0);
    TRY(composition_check(parts, n, target));
    if (parts_hold == SOTTO_REPLACE_ONE && target == SOTTO_ADD_REMOVE)
        FAIL(SOTTO_ENOTSUP,
             "parallel composition: the guarantees of the parts hold for replaced records only; give "
             "guarantees under add-remove");
    for (size_t i = 0; i < n; i++) {
        top_add(&e, parts[i].epsilon);
        top_add(&d, parts[i].delta);
        delta = iv_max(delta, group_delta(iv(parts[i].epsilon), parts[i].delta, 2));
    }
    if (parts_hold == SOTTO_ADD_REMOVE && target == SOTTO_REPLACE_ONE)
        composition_set(out, "parallel by rows", target, iv_scale(iv(e.first), 2), delta,
                        "a replaced record stays in its part and is a group of two there");
    else
        composition_set(out, "parallel by rows", target, iv(e.first), iv(d.first),
                        "a record lies in one part only and stays there");
done:
    return status;
}

sotto_status sotto_compose_mixture(struct sotto_composed *out, const struct sotto_dp *parts,
                                   const double *probabilities, size_t n, enum sotto_adjacency adjacency)
{
    REQUIRE_GIVEN(out, !n || parts);
    sotto_status status = SOTTO_OK;
    double epsilon = 0, largest = 0;
    struct interval sum = iv(0), delta = iv(0);
    TRY(composition_check(parts, n, adjacency));
    for (size_t i = 0; i < n; i++) {
        epsilon = fmax(epsilon, parts[i].epsilon);
        largest = fmax(largest, parts[i].delta);
        if (!probabilities)
            continue;
        REQUIRE(probabilities[i] >= 0 && probabilities[i] <= 1, "probability %zu must lie in [0, 1] (got %g)",
                i, probabilities[i]);
        sum = iv_add(sum, iv(probabilities[i]));
        delta = iv_add(delta, iv_mul(iv(probabilities[i]), iv(parts[i].delta)));
    }
    if (probabilities) {
        REQUIRE(fabs(sum.hi - 1) <= 1e-9, "the probabilities add up to %.10g; expected 1", sum.hi);
        delta = iv_add(delta, (struct interval){0, next_up(largest * 2e-9)}); /* what they lack of 1 */
    } else {
        delta = iv(largest);
    }
    composition_set(out, "mixture", adjacency, iv(epsilon), iv_min(delta, iv(largest)),
                    "delta at one epsilon is convex in the mechanism");
done:
    return status;
}
