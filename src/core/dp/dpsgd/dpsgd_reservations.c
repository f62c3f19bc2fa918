/* What an iterated run costs, and the list of its reservations. */
#include "dp/dpsgd/dpsgd_reservations.h"

#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/noise/lattice.h"
#include "num/interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COARSE = 32, FINEST_BY_L1 = 40, ROOM = 50 /* bits */ };

int run_early_lattice(double scale)
{
    return lattice_exponent(scale, LATTICE_BITS_FINE);
}

int run_lattice(const struct dpsgd_facts *f, size_t records)
{
    int bits = COARSE;
    while (f->clipping == SOTTO_NORM_L1 && records > 0 && bits < FINEST_BY_L1 &&
           ldexp((double)f->dimension, 20) > ldexp(1, bits - 1))
        bits++;
    const int fine = lattice_exponent(f->scale, bits);
    const int wide = records ? lattice_exponent((double)records * f->max_grad_norm, ROOM) : fine;
    return fine > wide ? fine : wide;
}

double run_multiplier(const struct dpsgd_facts *f)
{
    struct interval n = iv((double)f->dimension), moved = f->clipping == SOTTO_NORM_L1 ? n : iv_sqrt(n);
    struct interval rounding = iv_scale(moved, f->on_lattice ? 0 : ldexp(1, f->lattice_exponent));
    return iv_div(iv(f->scale), iv_add(iv(f->max_grad_norm), rounding)).lo;
}

/* The lattice depends on the scale: a few rounds, each as far up as the last one fell short. */
double run_noise_multiplier(double accounted, const struct dpsgd_facts *facts, size_t records)
{
    struct dpsgd_facts f = *facts;
    double multiplier = accounted;
    for (int i = 0; i < 64; i++) {
        f.scale = multiplier * f.max_grad_norm;
        f.lattice_exponent = run_lattice(&f, records);
        const double got = run_multiplier(&f);
        if (got >= accounted)
            break;
        multiplier = next_up(multiplier * (accounted / got));
    }
    return multiplier;
}

/* NAN: no bound, and none of the sum. */
static double dpsgd_reservations_plus(double x, double y)
{
    return isnan(x) ? x : iv_add(iv(x), iv(y)).hi;
}

/* A replaced record replaces an input and a label, which are released apart: their losses add up. */
static sotto_status add_labels(struct sotto_account *a, const struct dpsgd_facts *f)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_sensitivity one = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED};
    struct sotto_account labels;
    TRY(sotto_account_release(&labels, RUN_LABEL_MECHANISM, f->label_scale, &one, 0, 1, NULL));
    a->epsilon.upper = dpsgd_reservations_plus(a->epsilon.upper, labels.epsilon.upper);
    for (size_t i = 0; i < a->bound_count; i++)
        a->bounds[i].epsilon = dpsgd_reservations_plus(a->bounds[i].epsilon, labels.epsilon.upper);
    a->pure_epsilon = dpsgd_reservations_plus(a->pure_epsilon, labels.pure_epsilon);
    a->zcdp_rho = dpsgd_reservations_plus(a->zcdp_rho, labels.zcdp_rho);
    a->adjacency = SOTTO_REPLACE_ONE;
done:
    return status;
}

static enum sotto_adjacency or_zero_out(enum sotto_adjacency adjacency)
{
    return adjacency == SOTTO_ADD_REMOVE ? SOTTO_ZERO_OUT : adjacency;
}

sotto_status run_complete_account(struct sotto_account *account, const struct dpsgd_facts *f)
{
    account->adjacency = or_zero_out(account->adjacency);
    account->other_adjacency = or_zero_out(account->other_adjacency);
    if (f->inputs_only) {
        account->adjacency = SOTTO_REPLACE_INPUT;
        account->has_other = 0; /* no input counts as nothing */
    }
    return f->label_scale > 0 ? add_labels(account, f) : SOTTO_OK;
}

/* How far the fast noise of early versions reached, in scales. */
static double fast_reach(const char *mechanism)
{
    return strcmp(mechanism, "gaussian") == 0   ? 9.4926
           : strcmp(mechanism, "logistic") == 0 ? 45.0546
                                                : 44.3615;
}

void run_put_note(struct sotto_account *account, const struct dpsgd_facts *f)
{
    if (f->fast) /* the weightier of two notes */
        snprintf(account->note, sizeof account->note,
                 "fast noise: proved for real numbers; floating-point and timing attacks, and that it ends "
                 "at %.3g scales, are not excluded",
                 fast_reach(f->mechanism));
}

sotto_status dpsgd_reservations_make_room(struct dpsgd_reservations *run)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_reservation *more = NULL;
    size_t capacity = run->capacity ? 2 * run->capacity : 8;
    if (run->count < run->capacity)
        goto done;
    NEW(more, capacity);
    if (run->count)
        memcpy(more, run->items, run->count * sizeof *more);
    base_free(run->items);
    run->items = more;
    run->capacity = capacity;
done:
    return status;
}

void dpsgd_reservations_add(struct dpsgd_reservations *run, const struct dpsgd_reservation *one)
{
    run->items[run->count++] = *one;
    run->charged += one->steps;
}

void dpsgd_reservations_settle(struct dpsgd_reservations *run, const char *hash, size_t steps)
{
    struct dpsgd_reservation *last = run->count ? &run->items[run->count - 1] : NULL;
    if (!last || strcmp(last->hash, hash) != 0 || steps > last->steps)
        return;
    run->charged -= last->steps - steps;
    last->steps = steps;
}

void dpsgd_facts_add_lattice(struct dpsgd_facts *facts, const struct dpsgd_reservations *earlier)
{
    if (earlier->count && earlier->lattice_exponent > facts->lattice_exponent)
        facts->lattice_exponent = earlier->lattice_exponent;
    facts->on_lattice = facts->on_lattice && (!earlier->count || earlier->on_lattice);
}

sotto_status dpsgd_reservations_copy(struct dpsgd_reservations *out, const struct dpsgd_reservations *run)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_reservations copy = *run;
    copy.items = NULL;
    copy.capacity = run->count ? run->count : 1;
    NEW(copy.items, copy.capacity);
    if (run->count)
        memcpy(copy.items, run->items, run->count * sizeof *run->items);
    *out = copy;
done:
    return status;
}

void dpsgd_reservations_free(struct dpsgd_reservations *run)
{
    base_free(run->items);
    run->items = NULL;
}
