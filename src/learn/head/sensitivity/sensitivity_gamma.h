/* sensitivity_gamma.h - what a maximum over m sampled pairs says about the next pair. */
#ifndef HEAD_SENSITIVITY_SENSITIVITY_GAMMA_H
#define HEAD_SENSITIVITY_SENSITIVITY_GAMMA_H

#include <stddef.h>

/** Lower branch of Lambert's function: the w <= -1 with w e^w = x, for x in [-1/e, 0). Relative error below
 * 1e-12. */
double lambert_lower(double x);
/** Smallest gamma that the Dvoretzky-Kiefer-Wolfowitz argument gives for the maximum of m pairs: rho +
 * sqrt(ln(1/rho) / (2 m)) at the best rho = exp(W(-1/(4m)) / 2). At most 1. Source: Rubinstein & Alda
 * 2017. */
double gamma_dkw(size_t m);
/** P(a new exchangeable pair exceeds the maximum of m) = 1 / (m + 1), over sampling and new pair together. */
double gamma_exchangeable(size_t m);
/** The b with: P(share of pairs above the maximum <= b) >= confidence, i.e. 1 - (1 - confidence)^(1/m). */
double gamma_tolerance(size_t m, double confidence);

#endif
