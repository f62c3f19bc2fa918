/* What an iterated run costs, and the list of its reservations. */
#include "dp/dpsgd/dpsgd_reservations.h"
#include "dp/account/account_pld.h"
#include "dp/noise/lattice.h"
#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "num/interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const noise_modes[] = {"exact", "fast"};
const char *sotto_noise_mode_name(enum sotto_noise_mode mode)
{
    return (unsigned)mode <= SOTTO_NOISE_FAST ? noise_modes[mode] : "unknown";
}

sotto_status sotto_noise_mode_find(enum sotto_noise_mode *out, const char *name)
{
    for (int i = 0; i <= SOTTO_NOISE_FAST; i++)
        if (strcmp(name, noise_modes[i]) == 0) {
            *out = (enum sotto_noise_mode)i;
            return SOTTO_OK;
        }
    return status_fail(SOTTO_EINVAL, "noise mode '%.40s' is unknown; expected exact or fast", name);
}

double run_multiplier(const struct dpsgd_facts *f)
{
    struct interval n = iv((double)f->dimension), moved = f->clipping == SOTTO_NORM_L1 ? n : iv_sqrt(n);
    struct interval rounding = iv_scale(moved, lattice_step(f->scale));
    return iv_div(iv(f->scale), iv_add(iv(f->max_grad_norm), rounding)).lo;
}

/* NAN: no bound, and none of the sum. */
static double plus(double x, double y)
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
    a->epsilon.upper = plus(a->epsilon.upper, labels.epsilon.upper);
    for (size_t i = 0; i < a->bound_count; i++)
        a->bounds[i].epsilon = plus(a->bounds[i].epsilon, labels.epsilon.upper);
    a->pure_epsilon = plus(a->pure_epsilon, labels.pure_epsilon);
    a->zcdp_rho = plus(a->zcdp_rho, labels.zcdp_rho);
    snprintf(a->adjacency, sizeof a->adjacency, "replace-one");
done:
    return status;
}

static void name_zero_out(char adjacency[16])
{
    if (strcmp(adjacency, "add-remove") == 0)
        snprintf(adjacency, 16, "zero-out");
}

sotto_status run_complete_account(struct sotto_account *account, const struct dpsgd_facts *f)
{
    name_zero_out(account->adjacency);
    name_zero_out(account->other_adjacency);
    if (f->inputs_only) {
        snprintf(account->adjacency, sizeof account->adjacency, "replace-input");
        account->other_adjacency[0] = '\0'; /* no input counts as nothing */
    }
    return f->label_scale > 0 ? add_labels(account, f) : SOTTO_OK;
}

const char *run_sampler(const struct dpsgd_facts *f)
{
    return f->noise_mode == SOTTO_NOISE_FAST
               ? RUN_FAST_SAMPLER ": 48 or 64 bits of a ChaCha20 stream for each value, in single precision"
               : "exact, integers only: floor of the continuous law on a power-of-two lattice";
}

void run_put_note(struct sotto_account *account, const struct dpsgd_facts *f)
{
    if (f->noise_mode == SOTTO_NOISE_FAST) /* the weightier of two notes */
        snprintf(account->note, sizeof account->note,
                 "fast noise: proved for real numbers; floating-point and timing attacks, and that it ends "
                 "at %.3g scales, are not excluded",
                 fast_reach(mechanism_find(f->mechanism)->fast));
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
