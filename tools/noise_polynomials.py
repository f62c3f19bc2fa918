#!/usr/bin/env python3
"""Prints src/core/dp/noise/discretised_polynomials.h: polynomials of the exact noise sampler.

usage: tools/noise_polynomials.py > src/core/dp/noise/discretised_polynomials.h

Each polynomial goes through the series at the Chebyshev points of [0, end], in exact fractions; its coefficients are
then rounded to doubles. How good they are is not claimed here but proved by tests/property/dp/test_discretised_polynomials.c.
"""
from fractions import Fraction
from math import cos, factorial, pi

TERMS = 60  # of the series; what follows is below 10^-80

POLYNOMIALS = [
    ("log_polynomial", 7, Fraction(4, 100), lambda k: Fraction(2, 2 * k + 3),
     "(2 atanh(f) - 2 f) / (f z), z = f^2 <= 0.04"),
    ("sine_polynomial", 6, Fraction(pi / 4) ** 2, lambda k: Fraction((-1) ** (k + 1), factorial(2 * k + 3)),
     "(sin(x) - x) / (x z), z = x^2 <= (pi / 4)^2"),
    ("cosine_polynomial", 6, Fraction(pi / 4) ** 2, lambda k: Fraction((-1) ** k, factorial(2 * k + 4)),
     "(cos(x) - 1 + z / 2) / z^2, z = x^2 <= (pi / 4)^2"),
]


def interpolate(points, values):
    """Coefficients, lowest first: Newton's divided differences, multiplied out."""
    differences = list(values)
    for level in range(1, len(points)):
        for i in reversed(range(level, len(points))):
            differences[i] = (differences[i] - differences[i - 1]) / (points[i] - points[i - level])
    coefficients = [Fraction(0)] * len(points)
    for point, difference in zip(reversed(points), reversed(differences)):
        shifted = [Fraction(0)] + coefficients[:-1]
        coefficients = [s - point * c for s, c in zip(shifted, coefficients)]
        coefficients[0] += difference
    return coefficients


print("""/* discretised_polynomials.h - made by tools/noise_polynomials.py; tests/property/dp/test_discretised_polynomials.c proves
 * how good they are. Coefficients, lowest first. */
#ifndef DP_NOISE_DISCRETISED_POLYNOMIALS_H
#define DP_NOISE_DISCRETISED_POLYNOMIALS_H""")
for name, count, end, term, meaning in POLYNOMIALS:
    points = [end * (1 + Fraction(cos(pi * (2 * i + 1) / (2 * count)))) / 2 for i in range(count)]
    values = [sum(term(k) * p ** k for k in range(TERMS)) for p in points]
    print(f"\n/* {meaning} */\nstatic const double {name}[{count}] = {{")
    print(",\n".join("    " + float(c).hex() for c in interpolate(points, values)) + "};")
print("\n#endif")
