/* paper_norms.h - what "the 1-norm and 2-norm of the weights" may have meant where the additive logistic
 * mechanism was published. Its ratios (1.22 to 1.27) fit no entrywise norms; only entrywise ones make its
 * theorem hold. */
#ifndef HEAD_SENSITIVITY_PAPER_NORMS_H
#define HEAD_SENSITIVITY_PAPER_NORMS_H

#include "sotto/lab/sensitivity.h"

/** Fills `out` for the difference of two heads: tensors in file order (weight (out, in), bias (out), ...),
 * widths inputs, hidden ..., classes. Kernels are read as (in, out) matrices, as Keras keeps them; of several
 * the largest norm counts. ENOMEM. */
sotto_status paper_norms_find(struct sotto_norm_pair out[SOTTO_PAPER_NORMS], const float *a, const float *b,
                              size_t layers, const size_t *width);
/** Largest singular value of m (rows, columns); scratch: s * s + 2 * s numbers, s the smaller side. Relative
 * error below 1e-6 (power iteration; a lower bound). */
double spectral_norm(const double *m, size_t rows, size_t columns, double *scratch);
/** Returns: one line of description. */
const char *paper_norm_name(enum sotto_paper_norm norm);

#endif
