/* pld_lattice.h - pairs with equally spaced losses, atom by atom: no discretisation at all. */
#ifndef DP_PLD_PLD_LATTICE_H
#define DP_PLD_PLD_LATTICE_H

#include "dp/pld/pld.h"

/** The atoms K = first..last of a pair, at the losses index[i] step. The pair's own losses are by at most
 * `above` larger and by at most `below` smaller. */
struct pld_lattice {
    struct pld_grid grid;
    double first, last, above, below;
};
/** The losses in the range, and one beyond; all of them where they are bounded. False: too many. */
bool pld_lattice_plan(struct pld_lattice *out, const struct pair_integer *pair, struct pld_range range);
/** Fills in the grid and the masses: the tails beyond count as +infinity in `upper`, at the last atom in
 * `lower`. ENOMEM: nothing is left behind. */
sotto_status pld_lattice_fill(struct pld_lattice *l, struct pld *upper, struct pld *lower,
                              const struct pair_integer *pair);

#endif
