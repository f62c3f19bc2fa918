/* The plan comes from a sketch: each part's curve by chords between a few hundred points spaced in proportion
 * to the loss. It is plain double arithmetic: any plan is valid, a bad one is only wide.
 *
 * Chords between losses h apart change ln E e^(tilt L) by at most tilt (1 + tilt) h^2 / 12, tangents by half
 * of that downwards, so epsilon moves by count (1 + tilt) h^2 (1/12 + 1/24); the tilt is the order of the
 * best Renyi bound less 1. Where tilted losses are rare the grid is wider: for a given sum of mass times
 * width^2 the fewest points have widths in proportion to density^(-1/3). */
#include "dp/pld_plan.h"

#include "base/memory.h"
#include "num/special.h"

enum { SIDE = 400, ATOMS = 2 * SIDE + 1, LOG2_LEAST = 13, LOG2_MOST = 21 };
static const double widest_step = 9e-5, wrap_margin = 16;

struct sketch {
    struct pld_range range;
    double loss[ATOMS], log_mass[ATOMS];
};

static double value_at(const struct pair *pair, double epsilon)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    return (p.value.lo + p.value.hi) / 2;
}

static double most_at(const struct pair *pair, double epsilon)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    return p.value.hi;
}

/* Losses of one sign from 0 to the end, finer near 0 where the curve bends. */
static void place_side(double *loss, const struct pair *pair, double end)
{
    double scale = fabs(end), half = value_at(pair, 0) / 2;
    while (scale > 1e-12 && value_at(pair, copysign(scale, end)) < half)
        scale /= 2;
    double stretch = asinh(fabs(end) / (scale / 8));
    for (int i = 0; i < SIDE; i++)
        loss[i] = copysign(scale / 8 * sinh(stretch * (i + 1) / SIDE), end);
}

static void draw(struct sketch *s, const struct pld_part *part, double cut)
{
    double side[SIDE], value[ATOMS];
    s->range = pld_find_range(&part->upper, cut);
    place_side(side, &part->upper, s->range.low);
    for (int i = 0; i < SIDE; i++)
        s->loss[SIDE - 1 - i] = side[i];
    s->loss[SIDE] = 0;
    place_side(s->loss + SIDE + 1, &part->upper, s->range.high);
    for (int i = 0; i < ATOMS; i++)
        value[i] = value_at(&part->upper, s->loss[i]);
    for (int i = 0; i < ATOMS; i++) {
        double left = i > 0 ? (value[i] - value[i - 1]) / -expm1(s->loss[i - 1] - s->loss[i]) : value[0];
        double right = i + 1 < ATOMS ? (value[i + 1] - value[i]) / expm1(s->loss[i + 1] - s->loss[i]) : 0;
        s->log_mass[i] = log(fmax(right - left + (i == SIDE), 1e-300));
    }
}

/* ln E e^(tilt L), and mean and variance of the tilted law. */
struct moments {
    double log, mean, variance;
};

static struct moments moments_of(const struct sketch *s, double tilt)
{
    double peak = -INFINITY, sum = 0, first = 0, second = 0;
    for (int i = 0; i < ATOMS; i++)
        peak = fmax(peak, s->log_mass[i] + tilt * s->loss[i]);
    for (int i = 0; i < ATOMS; i++) {
        double weight = exp(s->log_mass[i] + tilt * s->loss[i] - peak);
        sum += weight;
        first += weight * s->loss[i];
        second += weight * s->loss[i] * s->loss[i];
    }
    first /= sum;
    return (struct moments){peak + log(sum), first, fmax(second / sum - first * first, 0)};
}

struct question {
    const struct sketch *sketch;
    const struct pld_part *parts;
    size_t count;
    double releases, delta;
};

static struct moments all_moments(const struct question *q, double tilt)
{
    struct moments all = {0, 0, 0};
    for (size_t i = 0; i < q->count; i++) {
        struct moments one = moments_of(&q->sketch[i], tilt);
        all.log += q->parts[i].count * one.log;
        all.mean += q->parts[i].count * one.mean;
        all.variance += q->parts[i].count * one.variance;
    }
    return all;
}

/* ln of E e^(-tilt y) (1 - e^-y)_+ for a Gaussian y of mean 0: what is left of C at epsilon = mean. */
static double log_share(double tilt, double variance)
{
    double s = sqrt(variance), near = mills_near(tilt * s), far = mills_near((tilt + 1) * s);
    return log(fmax(0.39894228 * (near - far), 1e-300));
}

/* Is the mean of the tilted composition an epsilon with less than delta? (Saddle point.) */
static bool far_enough(double tilt, const void *arg)
{
    const struct question *q = arg;
    struct moments m = all_moments(q, tilt);
    return m.mean >= 0 && m.log - tilt * m.mean + log_share(tilt, m.variance) <= log(q->delta);
}

struct plan {
    double tilt, step, epsilon;
    int log2_n;
};

/* How far the circle must reach beyond epsilon, so that what wraps around is e^-margin of delta: e^(-tilt
 * reach) from the left, Chernoff bounds from the right, nothing beyond the largest loss. */
static double reach_of(const struct question *q, double tilt, double log_moment, double epsilon)
{
    double left = (wrap_margin - log(q->delta)) / tilt, right = 0;
    double log_scale = log_moment - tilt * epsilon - log(q->delta);
    for (size_t i = 0; i < q->count; i++)
        right += q->parts[i].count * q->sketch[i].range.high;
    for (int i = 0; i < PLD_ORDERS; i++) {
        double more = ldexp(tilt, -i), rise = all_moments(q, tilt + more).log - log_moment;
        right = fmin(right, (rise + log_scale + wrap_margin) / more);
    }
    return fmax(left, right - epsilon);
}

static double step_of(const struct question *q, double step, double tilt)
{
    double longest = 0;
    for (size_t i = 0; i < q->count; i++)
        longest = fmax(longest, q->sketch[i].range.high - q->sketch[i].range.low);
    step = fmax(fmin(step, 0.2 / tilt), longest * 0x1p-22);
    const struct pld_part *most = NULL; /* its atom becomes a multiple of the step */
    for (size_t i = 0; i < q->count; i++)
        if (q->parts[i].atom > 4 * step && (!most || q->parts[i].count > most->count))
            most = &q->parts[i];
    if (most)
        step = most->atom / (ceil(most->atom / step) + most->inset);
    return pld_round_step(step);
}

/* `epsilon`: the answer as far as known, which sets the aimed width; INFINITY: as the saddle point has it. */
static struct plan plan_of(const struct question *q, double accuracy, double epsilon)
{
    struct plan p = {.tilt = 1e7};
    if (far_enough(p.tilt, q))
        p.tilt = bisect_up(1e-9, p.tilt, far_enough, q);
    struct moments at = all_moments(q, p.tilt);
    p.epsilon = fmin(at.mean + 0.1 / p.tilt, epsilon);
    double width = accuracy * 1e-5 * p.epsilon;
    double reach =
        reach_of(q, p.tilt, at.log, fmax((isinf(epsilon) ? 0.9 : 0.5) * p.epsilon, p.epsilon - 1 / p.tilt));
    p.step = fmin(sqrt(8 * width / (q->releases * (1 + p.tilt))), widest_step * sqrt(accuracy));
    p.log2_n = (int)fmin(fmax(ceil(log2(reach / p.step)), LOG2_LEAST), LOG2_MOST);
    p.step = step_of(q, fmax(p.step / 2, ldexp(reach, -p.log2_n)), p.tilt); /* a transform's whole length */
    return p;
}

/* Density of tilted losses around each atom of the sketch. */
static void densities(double density[ATOMS], const struct sketch *s, double tilt)
{
    double log_norm = moments_of(s, tilt).log;
    for (int i = 0; i < ATOMS; i++) {
        double left = s->loss[i > 0 ? i - 1 : i], right = s->loss[i + 1 < ATOMS ? i + 1 : i];
        density[i] = exp(s->log_mass[i] + tilt * s->loss[i] - log_norm) / ((right - left) / 2);
    }
}

static double width_at(double density, double reference, double step)
{
    return density < reference ? step * fmin(cbrt(reference / density), 0x1p20) : step;
}

/* The density below which widths grow: so that they add at most `extra` of step^2 to the mean square width.
 */
static double reference_density(const double density[ATOMS], const struct sketch *s, double step)
{
    const double extra = 0.1;
    double log_low = -700, log_high = 700;
    for (int k = 0; k < 40; k++) {
        double middle = (log_low + log_high) / 2, sum = 0;
        for (int i = 1; i + 1 < ATOMS; i++) {
            double width = width_at(density[i], exp(middle), step),
                   length = (s->loss[i + 1] - s->loss[i - 1]) / 2;
            sum += density[i] * length * (width * width - step * step);
        }
        if (sum > extra * step * step)
            log_high = middle;
        else
            log_low = middle;
    }
    return exp(log_low);
}

/* Widths in steps at the sketch's atoms. A width changes by at most a quarter of the way to the next atom, so
 * that no step jumps into a region of finer ones. */
static void widths_of(double width[ATOMS], const struct sketch *s, const struct plan *plan)
{
    double density[ATOMS];
    densities(density, s, plan->tilt);
    double reference = reference_density(density, s, plan->step);
    for (int i = 0; i < ATOMS; i++)
        width[i] = width_at(density[i], reference, 1);
    for (int i = 1; i < ATOMS; i++)
        width[i] = fmin(width[i], width[i - 1] + (s->loss[i] - s->loss[i - 1]) / plan->step / 4);
    for (int i = ATOMS - 2; i >= 0; i--)
        width[i] = fmin(width[i], width[i + 1] + (s->loss[i + 1] - s->loss[i]) / plan->step / 4);
}

/* Walks outwards from 0 in one direction; counts, and stores where there is room. */
static size_t walk(int64_t *index, const struct sketch *s, const double width[ATOMS], double step, double end,
                   int64_t atom)
{
    int sign = end < 0 ? -1 : 1, at = SIDE + sign;
    int64_t last = (int64_t)fmax(ceil(fabs(end) / step), 1), position = 0;
    size_t n = 0;
    while (position < last) {
        double loss = (double)position * step;
        while (at > 0 && at < ATOMS - 1 && fabs(s->loss[at]) <= loss)
            at += sign;
        int64_t next = position + (int64_t)fmin(width[at], width[at - sign]); /* each at least 1 */
        if (position < atom && next > atom)
            next = atom;
        position = next < last ? next : last;
        if (index)
            index[n] = sign * position;
        n++;
    }
    return n;
}

static sotto_status draw_grid(struct pld_grid *out, const struct sketch *s, const struct plan *plan,
                              double atom)
{
    sotto_status status = SOTTO_OK;
    double width[ATOMS];
    widths_of(width, s, plan);
    int64_t held = (int64_t)rint(atom / plan->step);
    size_t below = walk(NULL, s, width, plan->step, s->range.low, held);
    size_t above = walk(NULL, s, width, plan->step, s->range.high, held);
    struct pld_grid g = {plan->step, below + above + 1, NULL};
    g.index = base_alloc(g.n, sizeof *g.index);
    if (!g.index)
        FAIL(SOTTO_ENOMEM, "no memory for a grid of %zu points", g.n);
    walk(g.index, s, width, plan->step, s->range.low, held);
    for (size_t i = 0; i < below / 2; i++) {
        int64_t swap = g.index[i];
        g.index[i] = g.index[below - 1 - i];
        g.index[below - 1 - i] = swap;
    }
    g.index[below] = 0;
    walk(g.index + below + 1, s, width, plan->step, s->range.high, held);
    *out = g;
done:
    return status;
}

static sotto_status compose(struct interval *out, const struct pld_part *parts, const struct sketch *sketches,
                            size_t count, const struct plan *plan, double delta)
{
    sotto_status status = SOTTO_OK;
    struct pld_grid *grids = base_alloc(count, sizeof *grids);
    struct pld *plds = base_alloc(2 * count, sizeof *plds);
    struct pld_item *items = base_alloc(count, sizeof *items);
    double *moments = base_alloc(count, sizeof *moments);
    struct pld_sum sum = {0};
    if (!grids || !plds || !items || !moments)
        FAIL(SOTTO_ENOMEM, "no memory to compose %zu parts", count);
    for (size_t i = 0; i < count; i++) {
        struct pld *up = &plds[2 * i], *low = up + 1;
        TRY(draw_grid(&grids[i], &sketches[i], plan, parts[i].atom));
        TRY(pld_discretise_upper(up, &parts[i].upper, &grids[i]));
        TRY(pld_discretise_lower(low, &parts[i].lower, &grids[i]));
        items[i] = (struct pld_item){up, low, parts[i].count};
        moments[i] = moments_of(&sketches[i], plan->tilt).log;
    }
    TRY(pld_compose(&sum, items, moments, count, plan->tilt, plan->log2_n));
    *out = pld_sum_epsilon(&sum, delta);
done:
    pld_sum_free(&sum);
    for (size_t i = 0; plds && i < 2 * count; i++)
        pld_free(&plds[i]);
    for (size_t i = 0; grids && i < count; i++)
        pld_grid_free(&grids[i]);
    base_free(grids);
    base_free(plds);
    base_free(items);
    base_free(moments);
    return status;
}

sotto_status pld_epsilon(struct interval *out, const struct pld_part *parts, size_t count, double delta,
                         double accuracy)
{
    sotto_status status = SOTTO_OK;
    struct sketch *sketches = base_alloc(count, sizeof *sketches);
    double total = 0, variation = 0, beyond = 0;
    if (!sketches)
        FAIL(SOTTO_ENOMEM, "no memory to compose %zu parts", count);
    for (size_t i = 0; i < count; i++) {
        total += parts[i].count;
        variation += parts[i].count * most_at(&parts[i].upper, 0);
    }
    if (variation * (1 + 1e-9) <= delta) { /* total variations add up at most */
        *out = iv(0);
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        draw(&sketches[i], &parts[i], delta * 1e-10 / total);
        beyond += parts[i].count * most_at(&parts[i].upper, sketches[i].range.high);
    }
    if (beyond > delta) { /* losses beyond any grid */
        *out = (struct interval){0, INFINITY};
        goto done;
    }
    const struct question question = {sketches, parts, count, total, delta};
    struct interval epsilon;
    struct plan plan = plan_of(&question, accuracy, INFINITY);
    TRY(compose(&epsilon, parts, sketches, count, &plan, delta));
    if (epsilon.hi > 0 && epsilon.hi < 0.8 * plan.epsilon) { /* the saddle point was far off */
        plan = plan_of(&question, accuracy, epsilon.hi);
        TRY(compose(&epsilon, parts, sketches, count, &plan, delta));
    }
    *out = epsilon;
done:
    base_free(sketches);
    return status;
}
