/* Whether a fault is switched on: that of the number in SOTTO_MUTANT (tools/check-mutants). Faults stand in a copy of the tree, where
 * every file includes this, and never in the sources of the product. */
#ifndef TESTS_MUTANT_H
#define TESTS_MUTANT_H

extern int mutant_number; /* 0: none */
#define MUTANT(number) (mutant_number == (number))

#endif
