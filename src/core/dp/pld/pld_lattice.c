/* The noise K = k has the loss (D - 2k) g, with g the loss step. Masses are the law's own, rounded outwards.
 * The step of the grid is the upper end of g: with the largest (smallest) loss in its place, all other losses
 * of the grid lie below (above) the pair's, so one shift of the whole distribution makes it a bound.
 * docs/derivations/pld.md, section 2. */
#include "dp/pld/pld_lattice.h"

#include "base/memory.h"

static const double most_atoms = 0x1p17;

bool pld_lattice_plan(struct pld_lattice *out, const struct pair_integer *pair, struct pld_range range)
{
    double d = pair->steps;
    struct interval loss_step = pair->law->loss_step(d, pair->step);
    struct pld_lattice l = {.grid.step = loss_step.hi, .first = 0, .last = d};
    if (!pair->law->bounded) {
        l.first = floor((d - range.high / loss_step.hi) / 2);
        l.last = ceil((d - range.low / loss_step.hi) / 2);
    }
    double unsure = next_up(loss_step.hi - loss_step.lo);
    l.below = fmax(0, d - 2 * l.first) * unsure * (1 + 1e-9);
    l.above = fmax(0, 2 * l.last - d) * unsure * (1 + 1e-9);
    *out = l;
    return l.last - l.first < most_atoms;
}

/* P(K >= k) */
static struct interval pld_lattice_from(const struct pair_integer *p, double k)
{
    return k >= 1 ? p->law->tail(k, p->step) : iv_sub(iv(1), p->law->tail(1 - k, p->step));
}

sotto_status pld_lattice_fill(struct pld_lattice *l, struct pld *upper, struct pld *lower,
                              const struct pair_integer *pair)
{
    sotto_status status = SOTTO_OK;
    bool bounded = pair->law->bounded;
    size_t n = l->grid.n = (size_t)(l->last - l->first) + 1;
    *upper = *lower = (struct pld){.grid = &l->grid};
    NEW(l->grid.index, n);
    NEW(upper->mass, n);
    NEW(lower->mass, n);
    for (size_t i = 0; i < n; i++) { /* losses rise while k falls */
        double k = l->last - (double)i;
        struct interval mass = pair->law->mass(k, pair->step);
        l->grid.index[i] = (int64_t)(pair->steps - 2 * k);
        upper->mass[i] = mass.hi;
        lower->mass[i] = mass.lo;
    }
    struct interval bottom = pld_lattice_from(pair, l->last),
                    top = pld_lattice_from(pair, -l->first); /* P(K <= first) */
    upper->mass[0] = bottom.hi;
    lower->mass[n - 1] = top.lo;
    if (bounded) {
        upper->mass[n - 1] = top.hi;
        lower->mass[0] = bottom.lo;
    } else {
        upper->infinite = pld_lattice_from(pair, 1 - l->first).hi;
    }
done:
    if (status != SOTTO_OK) {
        pld_free(upper);
        pld_free(lower);
        pld_grid_free(&l->grid);
    }
    return status;
}
