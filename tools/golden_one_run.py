#!/usr/bin/env python3
"""tests/golden/one_run.json: the test of a trade-off curve in one run, bounds from it and the Bayesian interval, by NumPy and SciPy and,
for subsampled compositions, by a plain convolution of privacy losses. Usage: tools/golden_one_run.py > tests/golden/one_run.json"""
import json
import sys

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import beta, norm

LEVEL = .05


def rejected(inverse, m, g, c, level=LEVEL):
    """Mahloujifar, Melis and Chaudhuri 2024, with abstentions."""
    r, h = level * c / m, level * (g - c) / m
    for i in range(c - 1, -1, -1):
        new = max(h, inverse(min(r, 1.)))
        r += i / (g - i) * (new - h)
        h = new
    return r + h > g / m


def gaussian(mu):
    return lambda y: norm.cdf(norm.ppf(y) - mu)


def logistic(a):
    return lambda y: expit(logit(y) - a) if 0 < y < 1 else y


def laplace(t):
    """The smallest alpha whose best test against Laplace noise moved by t has power y."""
    def power(a):
        return np.exp(t) * a if a < np.exp(-t) / 2 else 1 - np.exp(-t) / (4 * a) if a <= .5 else 1 - np.exp(-t) * (1 - a)

    def inverse(y):
        return np.exp(-t) * y if y < .5 else np.exp(-t) / (4 * (1 - y)) if y <= 1 - np.exp(-t) / 2 else 1 - np.exp(t) * (1 - y)
    for a in (.01, .2, .45, .7, .99):
        assert abs(inverse(power(a)) - a) < 1e-12
    return inverse


def claimed(eps, delta):
    return lambda y: max(0, np.exp(-eps) * (y - delta), 1 - delta - np.exp(eps) * (1 - y))


def largest(family, most, m, g, c):
    if not rejected(family(0.), m, g, c):
        return 0
    low, high = 0., most
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if rejected(family(mid), m, g, c) else (low, mid)
    return low


def p_value(inverse, m, g, c):
    if not rejected(inverse, m, g, c, 1):
        return 1
    low, high = np.log(1e-12), 0.
    for _ in range(50):
        mid = (low + high) / 2
        low, high = (low, mid) if rejected(inverse, m, g, c, np.exp(mid)) else (mid, high)
    return np.exp(high)


def gaussian_delta(mu, eps):
    return norm.cdf(mu / 2 - eps / mu) - np.exp(eps) * norm.cdf(-mu / 2 - eps / mu)


def gaussian_epsilon(mu, delta):
    return brentq(lambda e: gaussian_delta(mu, e) - delta, 0, mu * (mu / 2 + 40), xtol=1e-13) if mu > 0 else 0


def bayes(hits, n1, alarms, n0, delta, confidence):
    """Zanella-Beguelin et al. 2023, section 4: Jeffreys priors, the region of (epsilon, delta)."""
    fpr, fnr = beta(alarms + .5, n0 - alarms + .5), beta(n1 - hits + .5, hits + .5)

    def probability(e):
        E = np.exp(e)

        def inner(u):
            x = fpr.ppf(u)
            low = max(0, 1 - delta - E * x, (1 - delta - x) / E)
            high = min(1, E + delta - E * x, (E + delta - x) / E)
            return max(0, fnr.cdf(high) - fnr.cdf(low))
        borders = {0, 1, *(float(fpr.cdf(x)) for x in ((1 - delta) / (1 + E), (E + delta) / (1 + E), (1 - delta) / E, 1 - delta)), .001, .01, .1, .5, .9, .99}
        cuts = sorted(borders)
        return sum(quad(inner, a, b, epsabs=1e-9, epsrel=1e-8, limit=100)[0] for a, b in zip(cuts, cuts[1:]) if b > a)

    def quantile(share):
        return 0 if probability(0) >= share else brentq(lambda e: probability(e) - share, 0, 40, xtol=1e-7)
    return [quantile(.5), quantile((1 - confidence) / 2), quantile((1 + confidence) / 2)]


def composed_deltas(mechanism, noise, rate, steps, epsilons, h=2e-4):
    """The larger of both directions, by densities on a fine grid of losses and a plain convolution: no bound, an estimate."""
    x = np.linspace(-14 * noise, 14 * noise + 1, 400001)
    law = {"gaussian": lambda z: norm.logpdf(z / noise), "laplace": lambda z: -np.abs(z / noise) - np.log(2),
           "logistic": lambda z: -np.abs(z / noise) - 2 * np.log1p(np.exp(-np.abs(z / noise)))}[mechanism]
    without, with_it = law(x) - np.log(noise), np.logaddexp(np.log1p(-rate), np.log(rate) + law(x - 1) - law(x)) + law(x) - np.log(noise)
    result = np.zeros(len(epsilons))
    for p, q in ((with_it, without), (without, with_it)):
        mass = np.exp(p) * (x[1] - x[0])
        loss = (p - q) / h
        at = np.floor(loss).astype(int)
        low = at.min()
        share = loss - at
        masses = np.bincount(np.r_[at - low, at + 1 - low], np.r_[mass * (1 - share), mass * share])
        size = 1 << int(np.ceil(np.log2(len(masses) * steps)))
        all_of_them = np.fft.irfft(np.fft.rfft(masses / masses.sum(), size) ** steps, size)[:(len(masses) - 1) * steps + 1]
        losses = (np.arange(len(all_of_them)) + steps * low) * h
        for i, e in enumerate(epsilons):
            far = losses > e
            result[i] = max(result[i], float((all_of_them[far] * -np.expm1(e - losses[far])).sum()))
    return result.tolist()


seen = [(2000, 200, 180), (2000, 200, 199), (2000, 200, 200), (2000, 200, 110), (1000, 100, 90), (10000, 1000, 760), (500, 500, 300),
        (100, 1, 1), (2000, 200, 0)]
bounds = []
for m, g, c in seen:
    mu = largest(gaussian, 32, m, g, c)
    bounds.append([m, g, c, 1e-5, mu, gaussian_epsilon(mu, 1e-5), largest(lambda e: claimed(e, 1e-5), 64, m, g, c),
                   largest(lambda e: claimed(e, 0), 64, m, g, c)])
levels = [[m, g, c, a, p_value(gaussian(a), m, g, c), p_value(logistic(a), m, g, c), p_value(laplace(a), m, g, c)]
          for m, g, c in seen[:7] for a in (.5, 1, 2)]
counts = [[hits, n1, alarms, n0, d, .95, *bayes(hits, n1, alarms, n0, d, .95)] for hits, n1, alarms, n0, d in
          ((350, 500, 150, 500, 1e-5), (90, 500, 10, 500, 1e-5), (500, 500, 0, 500, 1e-5), (60, 500, 61, 500, 0), (30, 40, 3, 35, 1e-2), (5, 500, 40, 500, 0))]
compositions = []
for mechanism, noise, rate, steps in (("gaussian", 1., .1, 50), ("gaussian", 2., 1., 10), ("laplace", 2., .2, 20), ("logistic", 1., .25, 16)):
    e = [.1, .5, 1., 1.5, 2.]
    compositions.append({"mechanism": mechanism, "noise": noise, "rate": rate, "steps": steps, "epsilon": e,
                         "delta": composed_deltas(mechanism, noise, rate, steps, e)})
json.dump({"bounds": bounds, "p_values": levels, "bayes": counts, "compositions": compositions}, sys.stdout, separators=(",", ":"))
print()
