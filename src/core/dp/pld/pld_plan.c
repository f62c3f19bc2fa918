/* The plan comes from a sketch: each part's curve by chords between a few hundred points spaced in proportion
 * to the loss. It is plain double arithmetic: any plan is valid, a bad one is only wide.
 *
 * Chords between losses h apart change ln E e^(tilt L) by at most tilt (1 + tilt) h^2 / 12, tangents by half
 * of that downwards, so epsilon moves by count (1 + tilt) h^2 (1/12 + 1/24); the tilt is the order of the
 * best Renyi bound less 1. Where tilted losses are rare the grid is wider: for a given sum of mass times
 * width^2 the fewest points have widths in proportion to density^(-1/3). */
#include "dp/pld/pld_plan.h"

#include "base/memory.h"
#include "dp/pld/pld_lattice.h"
#include "num/special.h"
#include "par/par.h"

enum { SIDE = 400, ATOMS = 2 * SIDE + 1, LOG2_LEAST = 13, LOG2_MOST = 21 };
static const double widest_step = 9e-5, least_margin = 16, most_tilted = 1e4;

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

static void pld_plan_draw(struct sketch *s, const struct pld_part *part, double cut)
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

/* Points that any composition may lower: those up to `to`. Each is wanted to `width` of epsilon. */
struct points {
    const double *epsilon;
    double *delta, to, width;
    size_t n;
};

struct question {
    const struct sketch *sketch;
    const struct pld_part *parts;
    size_t count;
    double releases, delta;
    struct points points;
    struct par_stop *stop;
};

static double pld_plan_mixed(const struct pld_part *p)
{
    double releases = 0;
    for (size_t b = 0; b < p->blend_count; b++)
        releases += p->blends[b].count;
    return releases;
}

static double releases_of(const struct pld_part *p)
{
    return p->count + pld_plan_mixed(p);
}

static struct moments pld_plan_mix(const struct moments *own, const struct moments *former, double weight)
{
    const double most = fmax(own->log, former->log);
    const double a = weight * exp(own->log - most), b = (1 - weight) * exp(former->log - most);
    const double mean = (a * own->mean + b * former->mean) / (a + b);
    const double square =
        (a * (own->variance + own->mean * own->mean) + b * (former->variance + former->mean * former->mean)) /
        (a + b);
    return (struct moments){most + log(a + b), mean, fmax(square - mean * mean, 0)};
}

static void add_moments(struct moments *all, const struct moments *one, double count)
{
    all->log += count * one->log;
    all->mean += count * one->mean;
    all->variance += count * one->variance;
}

/* Once stopped: of the parts so far, for searches that cannot fail. */
static struct moments all_moments(const struct question *q, double tilt)
{
    enum { PARTS = 16 }; /* some 10,000 exponentials */
    struct moments all = {0, 0, 0}, former = all;
    for (size_t i = 0; i < q->count && (i % PARTS || !par_stopped(q->stop)); i++) {
        const struct pld_part *p = &q->parts[i];
        const struct moments own = moments_of(&q->sketch[i], tilt);
        add_moments(&all, &own, p->count);
        for (size_t b = 0; b < p->blend_count; b++) {
            const struct moments one = pld_plan_mix(&own, &former, p->blends[b].weight);
            add_moments(&all, &one, p->blends[b].count);
        }
        former = own;
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
    bool exact; /* the atoms of `lattice`, not a grid */
    struct pld_lattice lattice;
};

/* How far the circle must reach beyond epsilon, so that what wraps around is e^-margin of delta: e^(-tilt
 * reach) from the left, Chernoff bounds from the right, nothing beyond the largest loss. */
static double reach_of(const struct question *q, double tilt, double log_moment, double epsilon,
                       double wrap_margin)
{
    double left = (wrap_margin - log(q->delta)) / tilt, right = 0;
    double log_scale = log_moment - tilt * epsilon - log(q->delta);
    for (size_t i = 0; i < q->count; i++)
        right += releases_of(&q->parts[i]) * q->sketch[i].range.high;
    for (int i = 0; i < PLD_ORDERS; i++) {
        double more = ldexp(tilt, -i), rise = all_moments(q, tilt + more).log - log_moment;
        right = fmin(right, (rise + log_scale + wrap_margin) / more);
    }
    return fmax(left, right - epsilon);
}

static double step_of(const struct question *q, double step, double tilt)
{
    double longest = 0, finest = 0;
    for (size_t i = 0; i < q->count; i++) {
        double length = q->sketch[i].range.high - q->sketch[i].range.low;
        longest = fmax(longest, length);
        finest = fmax(finest, length * (q->parts[i].slow ? 0x1p-12 : 0x1p-22));
    }
    step = fmax(fmin(step, 0.2 / tilt), finest);
    const struct pld_part *most = NULL; /* its atom becomes a multiple of the step */
    for (size_t i = 0; i < q->count; i++)
        if (q->parts[i].atom > 4 * step && (!most || releases_of(&q->parts[i]) > releases_of(most)))
            most = &q->parts[i];
    if (most)
        step = most->atom / (ceil(most->atom / step) + most->inset);
    return pld_round_step(step, longest);
}

/* For large deltas the saddle point nears tilt 0, and the circle would have to reach on and on. */
static double least_tilt(const struct question *q)
{
    double length = sqrt(all_moments(q, 0).variance);
    for (size_t i = 0; i < q->count; i++)
        length = fmax(length, q->sketch[i].range.high);
    return 1 / length;
}

/* `epsilon`: the answer as far as known, which sets the aimed width; INFINITY: as the saddle point has it. */
static struct plan plan_of(const struct question *q, double accuracy, double epsilon)
{
    struct plan p = {.tilt = 1e7};
    if (far_enough(p.tilt, q))
        p.tilt = bisect_up(1e-9, p.tilt, far_enough, q);
    p.tilt = fmax(p.tilt, least_tilt(q));
    struct moments at = all_moments(q, p.tilt);
    if (p.tilt * at.mean > most_tilted) { /* near a largest loss; rounding grows with tilt epsilon */
        p.tilt = most_tilted / at.mean;
        at = all_moments(q, p.tilt);
    }
    p.epsilon = fmin(at.mean + 0.1 / p.tilt, epsilon);
    double width = fmax(accuracy * 1e-5 * p.epsilon, q->points.width);
    double nearest = fmax((isinf(epsilon) ? 0.9 : 0.5) * p.epsilon, p.epsilon - 1 / p.tilt);
    double margin = fmax(least_margin, least_margin - 3 * log(accuracy));
    double reach = reach_of(q, p.tilt, at.log, nearest, margin);
    const struct pair_integer *lattice = q->count == 1 ? q->parts[0].lattice : NULL;
    if (lattice && pld_lattice_plan(&p.lattice, lattice, q->sketch[0].range)) {
        p.step = p.lattice.grid.step;
        p.log2_n = (int)fmin(fmax(ceil(log2(reach / p.step)), LOG2_LEAST), LOG2_MOST + 1);
        p.exact = p.log2_n <= LOG2_MOST;
        if (p.exact)
            return p;
    }
    p.step = fmin(sqrt(8 * width / (q->releases * (1 + p.tilt))), widest_step * sqrt(accuracy));
    p.log2_n = (int)fmin(fmax(ceil(log2(reach / p.step)), LOG2_LEAST), LOG2_MOST);
    p.step = step_of(q, fmax(p.step / 2, ldexp(reach, -p.log2_n)), p.tilt); /* a transform's whole length */
    return p;
}

/* Density of tilted losses around each atom of the sketch. */
static void pld_plan_densities(double density[ATOMS], const struct sketch *s, double tilt)
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

/* The density below which widths grow: so that they add at most `extra` of step^2 to the mean square
 * width. */
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
    pld_plan_densities(density, s, plan->tilt);
    double reference = reference_density(density, s, plan->step);
    for (int i = 0; i < ATOMS; i++)
        width[i] = width_at(density[i], reference, 1);
    for (int i = 1; i < ATOMS; i++)
        width[i] = fmin(width[i], width[i - 1] + (s->loss[i] - s->loss[i - 1]) / plan->step / 4);
    for (int i = ATOMS - 2; i >= 0; i--)
        width[i] = fmin(width[i], width[i + 1] + (s->loss[i + 1] - s->loss[i]) / plan->step / 4);
}

/* Walks outwards from 0 in one direction; counts, and stores where there is room. */
static size_t pld_plan_walk(int64_t *index, const struct sketch *s, const double width[ATOMS], double step,
                            double end, int64_t atom)
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
    size_t below = pld_plan_walk(NULL, s, width, plan->step, s->range.low, held);
    size_t above = pld_plan_walk(NULL, s, width, plan->step, s->range.high, held);
    struct pld_grid g = {plan->step, below + above + 1, NULL};
    NEW(g.index, g.n);
    pld_plan_walk(g.index, s, width, plan->step, s->range.low, held);
    for (size_t i = 0; i < below / 2; i++) {
        int64_t swap = g.index[i];
        g.index[i] = g.index[below - 1 - i];
        g.index[below - 1 - i] = swap;
    }
    g.index[below] = 0;
    pld_plan_walk(g.index + below + 1, s, width, plan->step, s->range.high, held);
    *out = g;
done:
    return status;
}

/* A part's two distributions and the grid that they stand on. */
struct pieces {
    struct pld_grid grid;
    struct pld upper, lower;
};

static sotto_status pld_plan_discretise(struct pieces *d, const struct pld_part *part,
                                        const struct sketch *sketch, struct plan *plan,
                                        const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(context_check(ctx, "account: stopped"));
    if (plan->exact) {
        TRY(pld_lattice_fill(&plan->lattice, &d->upper, &d->lower, part->lattice));
        d->grid = plan->lattice.grid;
    } else {
        TRY(draw_grid(&d->grid, sketch, plan, part->atom));
        TRY(pld_discretise_upper(&d->upper, &part->upper, &d->grid));
        TRY(context_check(ctx, "account: stopped"));
        TRY(pld_discretise_lower(&d->lower, &part->lower, &d->grid));
    }
done:
    return status;
}

/* Of the atoms of a lattice, losses may lie `above` theirs by so much a release. */
static void lower_points(const struct question *q, const struct pld_sum *sum, const struct plan *plan)
{
    double moved = plan->exact ? iv_scale(iv(plan->lattice.above), q->releases).hi : 0;
    for (size_t i = 0; i < q->points.n; i++) {
        double epsilon = iv_sub(iv(q->points.epsilon[i]), iv(moved)).lo;
        if (q->points.epsilon[i] <= q->points.to)
            q->points.delta[i] = fmin(q->points.delta[i], pld_sum_upper_delta(sum, epsilon));
    }
}

static sotto_status pld_plan_compose(struct interval *out, const struct question *q, struct plan *plan,
                                     const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t count = q->count;
    struct pieces *pieces = NULL;
    struct pld_item *items = NULL;
    double *moments = NULL;
    struct pld_sum sum = {0};
    NEW(pieces, count);
    NEW(items, count);
    NEW(moments, count);
    for (size_t i = 0; i < count; i++) {
        TRY(pld_plan_discretise(&pieces[i], &q->parts[i], &q->sketch[i], plan, ctx));
        items[i] = (struct pld_item){&pieces[i].upper, &pieces[i].lower, q->parts[i].count,
                                     q->parts[i].blends, q->parts[i].blend_count};
        if (count >= PLD_MANY)
            context_progress(ctx, "account", i + 1, 2 * count, "distributions");
        moments[i] = moments_of(&q->sketch[i], plan->tilt).log;
    }
    TRY(context_check(ctx, "account: stopped"));
    TRY(pld_compose(&sum, items, moments, count, plan->tilt, plan->log2_n, ctx));
    TRY(context_check(ctx, "account: stopped"));
    lower_points(q, &sum, plan);
    *out = pld_sum_epsilon(&sum, q->delta);
    if (plan->exact) {
        out->lo = fmax(0, iv_sub(iv(out->lo), iv_scale(iv(plan->lattice.below), q->releases)).lo);
        out->hi = iv_add(iv(out->hi), iv_scale(iv(plan->lattice.above), q->releases)).hi;
    }
done:
    pld_sum_free(&sum);
    for (size_t i = 0; pieces && i < count; i++) {
        pld_free(&pieces[i].upper);
        pld_free(&pieces[i].lower);
        pld_grid_free(&pieces[i].grid);
    }
    base_free(pieces);
    base_free(items);
    base_free(moments);
    return status;
}

static sotto_status pld_plan_answer(struct interval *out, const struct pld_part *parts, size_t count,
                                    double delta, double accuracy, struct points points,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sketch *sketches = NULL;
    struct par_stop stop;
    double total = 0, variation = 0, beyond = 0;
    par_stop_set(&stop, ctx);
    NEW(sketches, count);
    for (size_t i = 0; i < count; i++) {
        total += releases_of(&parts[i]);
        variation += releases_of(&parts[i]) * most_at(&parts[i].upper, 0);
    }
    if (variation * (1 + 1e-9) <= delta) { /* total variations add up at most */
        *out = iv(0);
        goto done;
    }
    if (total == 1) {
        *out = pld_single_epsilon(&parts->upper, &parts->lower, delta);
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        TRY(par_check(&stop, "account: stopped"));
        pld_plan_draw(&sketches[i], &parts[i], delta * (parts[i].lattice ? 1e-16 : 1e-10) / total);
        beyond += releases_of(&parts[i]) * most_at(&parts[i].upper, sketches[i].range.high);
        if (parts[i].blend_count > 0)
            beyond += pld_plan_mixed(&parts[i]) * most_at(&parts[i - 1].upper, sketches[i - 1].range.high);
    }
    if (beyond > delta) { /* losses beyond any grid */
        *out = (struct interval){0, INFINITY};
        goto done;
    }
    const struct question question = {sketches, parts, count, total, delta, points, &stop};
    struct interval epsilon;
    struct plan plan = plan_of(&question, accuracy, INFINITY);
    TRY(par_check(&stop, "account: stopped"));
    TRY(pld_plan_compose(&epsilon, &question, &plan, ctx));
    if (epsilon.hi > 0 && epsilon.hi < 0.8 * plan.epsilon) { /* the saddle point was far off */
        plan = plan_of(&question, accuracy, epsilon.hi);
        TRY(par_check(&stop, "account: stopped"));
        TRY(pld_plan_compose(&epsilon, &question, &plan, ctx));
    }
    *out = epsilon;
done:
    base_free(sketches);
    return status;
}

sotto_status pld_epsilon(struct interval *out, const struct pld_part *parts, size_t count, double delta,
                         double accuracy, const struct sotto_context *ctx)
{
    return pld_plan_answer(out, parts, count, delta, accuracy, (struct points){0}, ctx);
}

/* A composition is planned for one delta, and what it says of smaller epsilons holds too: it is only wider. Near its start, where
 * epsilon is next to nothing, a curve needs no width of epsilon's own size. */
sotto_status pld_deltas(double *delta, const double *epsilon, size_t n, const struct pld_part *parts,
                        size_t count, const struct sotto_context *ctx)
{
    static const double planned_for[] = {1e-6, 1e-3, 0.1};
    sotto_status status = SOTTO_OK;
    struct interval reached;
    struct points points = {epsilon, delta, INFINITY, 0, n};
    const double accuracy = 100; /* 1e-3 of epsilon: a curve is no account */
    double total = 0, variation = 0;
    for (size_t i = 0; i < count; i++) {
        total += parts[i].count;
        variation += parts[i].count * most_at(&parts[i].upper, 0);
    }
    for (size_t i = 0; i < n; i++)
        delta[i] = total == 1 ? most_at(&parts->upper, epsilon[i]) : fmin(1, variation * (1 + 1e-9));
    for (size_t i = 0; total > 1 && i < sizeof planned_for / sizeof *planned_for; i++) {
        TRY(pld_plan_answer(&reached, parts, count, planned_for[i], accuracy, points, ctx));
        points.to = 1.25 * reached.hi;
        if (i == 0 && reached.hi < INFINITY)
            points.width = 1e-4 * reached.hi;
    }
done:
    return status;
}
