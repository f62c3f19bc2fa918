/* The plan comes from a sketch: each part's curve by chords between a few hundred points spaced in proportion
 * to the loss. It is plain double arithmetic: any plan is valid, a bad one is only wide.
 *
 * Chords and tangents change ln E e^(tilt L) by at most tilt (1 + tilt) h^2/12 up and half of that down, so
 * epsilon moves by count (1 + tilt) h^2 (1/12 + 1/24); the tilt is the order of the best Renyi bound less 1.
 */
#include "dp/pld_plan.h"

#include "base/memory.h"
#include "num/special.h"
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 400, ATOMS = 2 * SIDE + 1, LOG2_LEAST = 13, LOG2_MOST = 21 };
static const double widest_step = 1e-4, wrap_margin = 16;

struct sketch {
    double count;
    struct pld_range range;
    double loss[ATOMS], log_mass[ATOMS];
};

static double value_at(const struct pair *pair, double epsilon)
{
    struct pair_point p;
    pair->points(&p, pair->arg, &epsilon, 1);
    return (p.value.lo + p.value.hi) / 2;
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
    s->count = part->count;
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

static double log_moment(const struct sketch *s, double tilt)
{
    double peak = -INFINITY, sum = 0;
    for (int i = 0; i < ATOMS; i++)
        peak = fmax(peak, s->log_mass[i] + tilt * s->loss[i]);
    for (int i = 0; i < ATOMS; i++)
        sum += exp(s->log_mass[i] + tilt * s->loss[i] - peak);
    return peak + log(sum);
}

struct question {
    const struct sketch *sketch;
    size_t parts;
    double delta;
};

static double renyi_epsilon(double tilt, const void *arg)
{
    const struct question *q = arg;
    double sum = 0;
    for (size_t i = 0; i < q->parts; i++)
        sum += q->sketch[i].count * log_moment(&q->sketch[i], tilt);
    return (sum - log(q->delta) - log1p(tilt)) / tilt - log1p(1 / tilt);
}

struct plan {
    double tilt, step, cut;
    int log2_n;
};

static struct plan plan_of(const struct question *q, double count, double accuracy)
{
    struct plan p = {.tilt = minimise_log(1e-4, 1e6, 0, renyi_epsilon, q)};
    double epsilon = fmax(renyi_epsilon(p.tilt, q), 0);
    double width = accuracy * 1e-5 * (epsilon + 1 / p.tilt * 0.1);
    p.step = fmin(sqrt(8 * width / (count * (1 + p.tilt))), widest_step * sqrt(accuracy));
    double reach = (wrap_margin - log(q->delta)) / p.tilt;
    p.log2_n = (int)ceil(log2(reach / p.step));
    p.log2_n = p.log2_n < LOG2_LEAST ? LOG2_LEAST : p.log2_n;
    if (p.log2_n > LOG2_MOST) {
        p.log2_n = LOG2_MOST;
        p.step = reach / ldexp(1, LOG2_MOST);
    }
    double longest = 0;
    for (size_t i = 0; i < q->parts; i++)
        longest = fmax(longest, q->sketch[i].range.high - q->sketch[i].range.low);
    p.step = pld_round_step(fmax(p.step, longest * 0x1p-23));
    if (getenv("PLDDBG"))
        fprintf(stderr, "plan tilt %g step %g n 2^%d eps %g\n", p.tilt, p.step, p.log2_n, epsilon);
    return p;
}

static sotto_status compose(struct interval *out, const struct pld_part *parts, const struct sketch *sketches,
                            size_t count, const struct plan *plan, double delta)
{
    sotto_status status = SOTTO_OK;
    struct pld *grids = base_alloc(2 * count, sizeof *grids);
    struct pld_item *items = base_alloc(count, sizeof *items);
    double *moments = base_alloc(count, sizeof *moments);
    struct pld_sum sum = {0};
    if (!grids || !items || !moments)
        FAIL(SOTTO_ENOMEM, "no memory to compose %zu parts", count);
    for (size_t i = 0; i < count; i++) {
        struct pld *up = &grids[2 * i], *low = up + 1;
        TRY(pld_discretise_upper(up, &parts[i].upper, sketches[i].range, plan->step));
        TRY(pld_discretise_lower(low, &parts[i].lower, sketches[i].range, plan->step));
        items[i] = (struct pld_item){up, low, parts[i].count};
        moments[i] = log_moment(&sketches[i], plan->tilt);
    }
    TRY(pld_compose(&sum, items, moments, count, plan->tilt, plan->log2_n));
    *out = pld_sum_epsilon(&sum, delta);
done:
    pld_sum_free(&sum);
    for (size_t i = 0; grids && i < 2 * count; i++)
        pld_free(&grids[i]);
    base_free(grids);
    base_free(items);
    base_free(moments);
    return status;
}

sotto_status pld_epsilon(struct interval *out, const struct pld_part *parts, size_t count, double delta,
                         double accuracy)
{
    sotto_status status = SOTTO_OK;
    struct sketch *sketches = base_alloc(count, sizeof *sketches);
    double total = 0;
    if (!sketches)
        FAIL(SOTTO_ENOMEM, "no memory to compose %zu parts", count);
    for (size_t i = 0; i < count; i++)
        total += parts[i].count;
    for (size_t i = 0; i < count; i++)
        draw(&sketches[i], &parts[i], delta * 1e-10 / total);
    const struct question question = {sketches, count, delta};
    const struct plan plan = plan_of(&question, total, accuracy);
    TRY(compose(out, parts, sketches, count, &plan, delta));
done:
    base_free(sketches);
    return status;
}
