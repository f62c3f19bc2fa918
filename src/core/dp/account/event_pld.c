/* Privacy-loss distributions of different releases together. Above each part stands a scalar pair that
 * dominates it (shifts chain, so a vector counts as one coordinate that moves by its L1 norm, or L2 for the
 * Gaussian); below it one coordinate that moves as far as both norms allow. Where only a dominating curve is
 * known, or only (epsilon, delta), the part below is left empty: less is known, never too much claimed. */
#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/event_levels.h"
#include "dp/account/event_part.h"
#include "dp/mechanism/pure_pair.h"

static const double most_releases = 0x1p40;
enum { ROUGH = 100 }; /* times as inaccurate, and some five times as fast */

/* Accuracy to ask of pld_epsilon(): about 1e-5 of epsilon, in a tenth of a second. */
static double accuracy_of(const struct part *parts, size_t n)
{
    return n == 1 && parts->m && parts->m->tails ? account_accuracy(parts->m, parts->kind == PART_SAMPLED)
                                                 : 1;
}

static void no_points(struct pair_point *out, const void *arg, const double *epsilon, size_t n)
{
    (void)arg, (void)epsilon;
    for (size_t i = 0; i < n; i++)
        out[i] = (struct pair_point){iv(0), iv(0)};
}

/* Values of a symmetric curve at any epsilon, delta(-e) - (1 - e^-e) = e^-e delta(e). Chords need no
 * slopes. */
static void curve_points(struct pair_point *out, const void *arg, const double *epsilon, size_t n)
{
    const struct part *p = arg;
    for (size_t i = 0; i < n; i++) {
        double e = fabs(epsilon[i]);
        struct interval d =
            p->kind == PART_STATED ? pure_pair_delta(p->pure, e) : account_delta(p->m, &p->shifts, 1, e);
        out[i] = (struct pair_point){epsilon[i] >= 0 ? d : iv_mul(iv_exp(iv(epsilon[i])), d), iv(0)};
    }
}

/* Room for what the pairs point to. */
struct ends {
    struct item_pairs pairs;
    struct pair_integer whole_upper, whole_lower;
};

/* Noise on whole steps: by `most` steps above, by `least` below. */
static void fill_whole(struct pld_part *out, struct ends *ends, const struct integer_law *law, double most,
                       double least, struct interval step)
{
    ends->whole_upper = (struct pair_integer){law, most, step};
    ends->whole_lower = (struct pair_integer){law, least, step};
    out->upper = pair_of_integer(&ends->whole_upper);
    out->lower = pair_of_integer(&ends->whole_lower);
    out->slow = true;
    out->lattice = most == least ? &ends->whole_upper : NULL;
    out->atom = law->bounded ? iv_scale(step, most).hi : 0;
}

static bool event_pld_fill(struct pld_part *out, struct ends *ends, const struct part *p,
                           enum pld_direction direction)
{
    struct interval upper, lower;
    *out = (struct pld_part){.count = p->count};
    if (p->kind == PART_SAMPLED && !part_has_item(p))
        return false;
    if (p->kind == PART_SAMPLED) {
        const struct composed_release steps = part_item(p);
        account_item_part(out, &ends->pairs, &steps, direction);
        return true;
    }
    if (p->kind == PART_NOISE && p->m->integer) {
        fill_whole(out, ends, p->m->integer, p->shifts.steps, p->shifts.one_coordinate, p->shifts.step);
        return true;
    }
    if (p->kind == PART_NOISE && p->m->two_losses) { /* discrete Laplace noise on one step */
        fill_whole(out, ends, mechanism_find("discrete-laplace")->integer, 1, 1, p->shifts.l1);
        return true;
    }
    if (p->kind == PART_STATED || !p->m->tails) {
        out->upper = (struct pair){curve_points, p};
        out->lower = (struct pair){no_points, p};
        out->atom = p->kind == PART_STATED ? p->pure.hi : 0;
        return p->kind == PART_STATED || isfinite(account_shift(p->m, &p->shifts).hi);
    }
    upper = p->m->by_l2 ? p->shifts.l2 : p->shifts.l1;
    lower = iv_min(p->shifts.l1, p->shifts.l2);
    if (!isfinite(upper.hi))
        return false;
    ends->pairs.above = (struct pair_sampled){p->m, upper.hi, 1, direction};
    ends->pairs.below = (struct pair_sampled){p->m, lower.lo, 1, direction};
    out->upper = pair_of_sampled(&ends->pairs.above);
    out->lower = pair_of_sampled(&ends->pairs.below);
    account_mark_end(out, &ends->pairs.above);
    return true;
}

/* Releases of one kind: the pair above, the one below (one coordinate moves), and as many coordinates as can
 * move by one step each, every one for itself and exact. */
static sotto_status whole_alone(struct interval *out, const struct part *p, double delta,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sensitivity_ratio *s = &p->shifts;
    const struct {
        double move, coordinates;
        bool above, below;
    } moves[] = {{s->steps, 1, true, s->one_coordinate == s->steps},
                 {s->one_coordinate, 1, false, s->one_coordinate < s->steps},
                 {1, fmin(s->coordinates, floor(most_releases / p->count)), false, s->coordinates > 1}};
    *out = (struct interval){0, INFINITY};
    for (int i = 0; i < 3; i++) {
        struct interval e;
        struct ends ends;
        struct pld_part part = {.count = p->count * moves[i].coordinates};
        if (!moves[i].above && !moves[i].below)
            continue;
        fill_whole(&part, &ends, p->m->integer, moves[i].move, moves[i].move, s->step);
        TRY(pld_epsilon(&e, &part, 1, delta, moves[i].coordinates > 1 ? 1 : 0.1, ctx));
        out->hi = moves[i].above ? e.hi : out->hi;
        out->lo = moves[i].below ? fmax(out->lo, e.lo) : out->lo;
    }
done:
    return status;
}

/* One direction of many kinds, of which those with scalar pairs may be many levels of one. */
/* `enough`: an upper end that need not be undercut: where a rough look stays below it, that is the answer. */
static sotto_status many_pld(struct interval *out, const struct pld_part *list, const struct ends *ends,
                             size_t n, double delta, double enough, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct level_nodes nodes = {0};
    struct level *levels = NULL;
    struct pld_part *all = NULL;
    size_t scalar = 0, count = 0;
    NEW(levels, n);
    for (size_t i = 0; i < n; i++)
        if (list[i].upper.arg == &ends[i].pairs.above)
            levels[scalar++] = (struct level){&ends[i].pairs.above, &ends[i].pairs.below, &list[i]};
    TRY(levels_between_nodes(&nodes, levels, scalar));
    NEW(all, nodes.count + n - scalar);
    for (; count < nodes.count; count++)
        all[count] = nodes.parts[count];
    for (size_t i = 0; i < n; i++)
        if (list[i].upper.arg != &ends[i].pairs.above)
            all[count++] = list[i];
    if (enough > 0)
        TRY(pld_epsilon(out, all, count, delta, ROUGH, ctx));
    if (enough == 0 || out->hi > enough)
        TRY(pld_epsilon(out, all, count, delta, 1, ctx));
done:
    level_nodes_free(&nodes);
    base_free(levels);
    base_free(all);
    return status;
}

sotto_status parts_pld(struct interval *out, const struct part *parts, size_t n, double delta,
                       const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct interval both = {0, 0}, one;
    bool sampled = false, possible = true;
    struct pld_part *list = NULL;
    struct ends *ends = NULL;
    if (n == 1 && parts->kind == PART_NOISE && parts->m->integer) {
        status = whole_alone(out, parts, delta, ctx);
        goto done;
    }
    NEW(list, n);
    NEW(ends, n);
    for (enum pld_direction way = PLD_REMOVE; way <= PLD_ADD && possible; way++) {
        if (way == PLD_ADD && !sampled)
            break;
        for (size_t i = 0; i < n && possible; i++) {
            possible = event_pld_fill(&list[i], &ends[i], &parts[i], way);
            sampled = sampled || (parts[i].kind == PART_SAMPLED && !sampled_replaces(&parts[i].sampled));
        }
        if (possible && n > LEVELS_MANY)
            TRY(many_pld(&one, list, ends, n, delta, both.hi, ctx));
        else if (possible)
            TRY(pld_epsilon(&one, list, n, delta, accuracy_of(parts, n), ctx));
        if (possible)
            both = iv_max(both, one);
    }
    *out = possible ? both : (struct interval){0, INFINITY};
done:
    base_free(list);
    base_free(ends);
    return status;
}

sotto_status part_whole_end(double *end, const struct part *p, double delta, const struct sotto_context *ctx)
{
    struct ends ends;
    struct interval e;
    struct pld_part whole = {.count = p->count};
    fill_whole(&whole, &ends, p->m->integer, p->shifts.steps, p->shifts.steps, p->shifts.step);
    sotto_status status = pld_epsilon(&e, &whole, 1, delta, ROUGH, ctx);
    *end = e.hi;
    return status;
}

sotto_status part_whole_deltas(double *delta, const double *x, size_t n, const struct part *p,
                               const struct sotto_context *ctx)
{
    struct ends ends;
    struct pld_part whole = {.count = p->count};
    if (p->count > 1) {
        fill_whole(&whole, &ends, p->m->integer, p->shifts.steps, p->shifts.steps, p->shifts.step);
        return pld_deltas(delta, x, n, &whole, 1, ctx);
    }
    for (size_t i = 0; i < n; i++)
        delta[i] = account_delta(p->m, &p->shifts, 1, x[i]).hi;
    return SOTTO_OK;
}
