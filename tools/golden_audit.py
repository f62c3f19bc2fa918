#!/usr/bin/env python3
"""Writes tests/golden/audit.json: scores, areas and intervals computed independently with numpy and scipy in float64.

usage: tools/golden_audit.py > tests/golden/audit.json        (made with numpy 2, scipy 1)
"""
import json
import sys

import numpy as np
from scipy.special import logsumexp
from scipy.optimize import brentq, minimize
from scipy.stats import beta, binom, rankdata, t as student
from scipy.stats.contingency import odds_ratio

g = np.random.default_rng(20260131)


def logits(n, margin):
    y = g.integers(0, 4, n)
    z = 2 * g.standard_normal((n, 4))
    z[np.arange(n), y] += margin
    return z, y


member, member_labels = logits(30, 3)
nonmember, nonmember_labels = logits(45, 1)
member[0], member_labels[0] = [100, -100, -100, -100], 0   # saturated, right
member[1], member_labels[1] = [-100, 100, -100, -100], 0   # saturated, wrong
nonmember[0], nonmember_labels[0] = [30, -10, 0, 29.5], 3
nonmember[1], nonmember_labels[1] = member[2], member_labels[2]  # a tie across the two sides


def scores(z, y):
    rows = np.arange(len(z))
    log_p = z - logsumexp(z, axis=1, keepdims=True)
    p = np.exp(log_p)
    others = np.stack([logsumexp(np.delete(z, k, axis=1), axis=1) for k in range(z.shape[1])], axis=1)
    log_q = others - logsumexp(z, axis=1, keepdims=True)
    modified = p * log_q
    modified[rows, y] = np.exp(log_q[rows, y]) * log_p[rows, y]
    return {"loss": log_p[rows, y], "confidence": p[rows, y], "entropy": (p * log_p).sum(1), "modified-entropy": modified.sum(1),
            "correctness": (z.argmax(1) == y).astype(float)}


def auc(a, b, confidence=.95):
    m, n = len(a), len(b)
    ranks = rankdata(np.concatenate([a, b]))
    v10 = (ranks[:m] - rankdata(a)) / n          # placements of members among non-members, half ties
    v01 = 1 - (ranks[m:] - rankdata(b)) / m
    area = v10.mean()
    vm, vn = v10.var(ddof=1) / m, v01.var(ddof=1) / n
    df = (vm + vn) ** 2 / (vm ** 2 / (m - 1) + vn ** 2 / (n - 1))
    reach = student.ppf(.5 + confidence / 2, df) * np.sqrt(vm + vn) / (area * (1 - area))
    logit = np.log(area / (1 - area))
    return [area, 1 / (1 + np.exp(reach - logit)), 1 / (1 + np.exp(-reach - logit))]


def clopper_pearson(k, n, confidence):
    a = (1 - confidence) / 2
    return [0 if k == 0 else beta.ppf(a, k, n - k + 1), 1 if k == n else beta.ppf(1 - a, k + 1, n - k)]


s, o = scores(member, member_labels), scores(nonmember, nonmember_labels)

# Reference models: LiRA and its relatives, over all records at once, members first.
MODELS, PRIOR = 9, 8
r = np.random.default_rng(20261121)
z, y = np.concatenate([member, nonmember]), np.concatenate([member_labels, nonmember_labels])
n = len(y)
trained = r.integers(0, 2, (n, MODELS))
trained[0], trained[1], trained[2], trained[40] = 1, 0, [1] + [0] * 8, [0] + [1] * 8  # too few OUT, IN, IN, OUT models
reference = r.normal(0, 1.5, (n, 1)) + (1 + .5 * r.random((n, 1))) * r.standard_normal((n, MODELS)) + 2 * trained
signal = z[np.arange(n), y] - np.array([logsumexp(np.delete(z[i], y[i])) for i in range(n)])


def side(mask):
    count = mask.sum(1)
    own = [reference[i, mask[i]] for i in range(n)]
    enough = count >= 2
    mean = np.array([v.mean() if len(v) >= 2 else np.nan for v in own])
    squares = np.array([((v - v.mean()) ** 2).sum() if len(v) >= 2 else 0 for v in own])
    pooled = squares.sum() / (count[enough] - 1).sum()
    for i in np.flatnonzero(~enough):
        same = enough & (y == y[i])
        mean[i] = mean[same].mean() if same.any() else mean[enough].mean()
    shrunk = np.where(enough, (PRIOR * pooled + squares) / (PRIOR + count - 1), pooled)
    return mean, shrunk, np.full(n, pooled)


(mi, si, pi), (mo, so, po) = side(trained == 1), side(trained == 0)
log_p = -np.logaddexp(0, -signal)
p_ref = 1 / (1 + np.exp(-reference))
p_in = np.array([p_ref[i, trained[i] == 1].mean() if trained[i].any() else np.nan for i in range(n)])
p_out = np.array([p_ref[i, trained[i] == 0].mean() if not trained[i].all() else np.nan for i in range(n)])
both = np.where(np.isnan(p_in), p_out, np.where(np.isnan(p_out), p_in, (p_in + p_out) / 2))
lonely = np.where(np.isnan(p_out), p_in, (1.3 * p_out + .7) / 2)
ratio = lambda vi, vo: .5 * (np.log(vo / vi) + (signal - mo) ** 2 / vo - (signal - mi) ** 2 / vi)
rank = [(reference[i, trained[i] == 0] < signal[i]).mean() if not trained[i].all() else .5 for i in range(n)]


def student_score(mask):
    """Posterior predictive density of the signal: normal-inverse-gamma prior, its moments from all records."""
    count = mask.sum(1)
    own = [reference[i, mask[i]] for i in range(n)]
    enough = np.flatnonzero(count >= 2)
    pooled = sum(((own[i] - own[i].mean()) ** 2).sum() for i in enough) / (count[enough] - 1).sum()
    means = np.array([own[i].mean() for i in enough])
    k0 = pooled / (means.var(ddof=1) - pooled * (1 / count[enough]).mean())
    fallen, _, _ = side(mask)
    found = np.empty(n)
    for i in range(n):
        if count[i] < 2:
            location, freedom, square = fallen[i], PRIOR, pooled
        else:
            k, v = count[i], own[i]
            location = (k0 * means.mean() + v.sum()) / (k0 + k)
            freedom = PRIOR + k
            b = PRIOR * pooled / 2 + ((v - v.mean()) ** 2).sum() / 2 + k0 * k * (v.mean() - means.mean()) ** 2 / (2 * (k0 + k))
            square = b * (k0 + k + 1) / (freedom / 2 * (k0 + k))
        found[i] = student.logpdf(signal[i], freedom, location, np.sqrt(square))
    return found


by_reference = {"lira-student": student_score(trained == 1) - student_score(trained == 0), "lira": ratio(si, so), "lira-pooled": ratio(pi, po), "lira-offline": (signal - mo) / np.sqrt(so), "rmia": log_p - np.log(both),
                "rmia-offline": log_p - np.log(lonely), "sablayrolles": signal - (mi + mo) / 2, "watson": signal - mo,
                "reference-rank": np.array(rank), "base": log_p - np.log(both)}

# A population of known non-members, with the same reference models.
g = np.random.default_rng(20261122)
population, population_labels = logits(60, 1)
population[5] = z[7]
population_labels[5] = y[7]  # a tie
population_reference = g.normal(0, 1.5, (60, 1)) + g.standard_normal((60, MODELS))
population_signal = population[np.arange(60), population_labels] - np.array(
    [logsumexp(np.delete(population[i], population_labels[i])) for i in range(60)])
below = [((population_signal < v).sum() + (population_signal <= v).sum()) / 120 for v in signal]
gain = log_p - np.log(lonely)
gain_z = -np.logaddexp(0, -population_signal) - np.log((1.3 * (1 / (1 + np.exp(-population_reference))).mean(1) + .7) / 2)
dominated = [(gain_z <= v - np.log(2)).mean() for v in gain]


def quantile(x, target, x_new, target_new, ridge=1e-3):
    """Gaussian likelihood with linear mean and linear log spread, by damped Newton steps on finite differences of the gradient."""
    keep = x.std(0) > 0
    mean, scale = x.mean(0), np.where(keep, 1 / np.where(keep, x.std(0), 1), 0)
    a, b = (np.hstack([(v - mean) * scale, np.ones((len(v), 1))]) for v in (x, x_new))
    centre, spread = target.mean(), target.std()
    t, d = (target - centre) / spread, a.shape[1]
    free = np.tile(np.r_[np.ones(d - 1), 0], 2)

    def f(w):
        s = a @ w[d:]
        r = (t - a @ w[:d]) * np.exp(-s)
        value = (s + r * r / 2).mean() + ridge / 2 * (free * w * w).sum()
        return value, np.r_[-(a.T @ (r * np.exp(-s))), a.T @ (1 - r * r)] / len(t) + ridge * free * w

    w = np.zeros(2 * d)
    for _ in range(200):
        value, grad = f(w)
        h = np.array([(f(w + 1e-6 * e)[1] - f(w - 1e-6 * e)[1]) / 2e-6 for e in np.eye(2 * d)])
        step = np.linalg.solve((h + h.T) / 2 + 1e-9 * np.eye(2 * d), grad)
        if grad @ step < 0:
            step = grad
        while f(w - step)[0] > value + 1e-15:
            step = step / 2
        w = w - step
        if np.abs(grad).max() < 1e-13:
            break
    return ((target_new - centre) / spread - b @ w[:d]) * np.exp(-(b @ w[d:]))


FEATURES = 3
features, population_features = g.standard_normal((n, FEATURES)).astype(np.float32), g.standard_normal((60, FEATURES)).astype(np.float32)
one_hot = np.eye(4)
by_population = {"population": np.array(below), "rmia-population": np.array(dominated),
                 "quantile": quantile(one_hot[population_labels], population_signal, one_hot[y], signal)}
with_features = quantile(population_features.astype(float), population_signal + population_features[:, 0], features.astype(float),
                         signal + features[:, 0])

# A shadow model's records: thresholds and histograms by class; class 3 is too rare for its own.
shadow_trained = np.arange(240) % 2
shadow_labels = np.where(np.arange(240) < 224, np.arange(240) // 2 % 3, 3)
shadow = 2 * g.standard_normal((240, 4))
shadow[np.arange(240), shadow_labels] += 1 + 2 * shadow_trained


def balanced(own, others):
    best, found = 0, None
    values = np.unique(np.r_[own, others])[::-1]
    for i, v in enumerate(values):
        flagged = (own >= v).mean() - (others >= v).mean()
        if flagged > best:
            best, found = flagged, values[i + 1] + (v - values[i + 1]) / 2
    return found


of_shadow, of_target = scores(shadow, shadow_labels), scores(z, y)
enough = [min(((shadow_labels == k) & (shadow_trained == b)).sum() for b in (0, 1)) >= 30 for k in range(4)]
by_shadow, thresholds = {}, {}
for name in ("confidence", "entropy", "modified-entropy"):
    v, t = of_shadow[name], shadow_trained == 1
    everybody = balanced(v[t], v[~t])
    thresholds[name] = [balanced(v[t & (shadow_labels == k)], v[~t & (shadow_labels == k)]) if enough[k] else everybody for k in range(4)]
    by_shadow["class-" + name] = of_target[name] - np.array(thresholds[name])[y]
BINS = 15
position, risk = np.log(np.maximum(-of_shadow["modified-entropy"], 1e-30)), []
for i in range(n):
    mine = shadow_labels == y[i] if enough[y[i]] else np.ones(240, bool)
    low, width = position[mine].min(), (position[mine].max() - position[mine].min()) / BINS
    bins = np.clip((position - low) // width, 0, BINS - 1).astype(int)
    count = np.array([np.bincount(bins[mine & (shadow_trained == b)], minlength=BINS) for b in (0, 1)])
    at = int(np.clip((np.log(max(-of_target["modified-entropy"][i], 1e-30)) - low) // width, 0, BINS - 1))
    near = min(np.flatnonzero(count.sum(0)), key=lambda b: (abs(b - at), b))
    share = count[:, near] / count.sum(1)
    risk.append((share[1] + 1e-10) / (share.sum() + 2e-10))
by_shadow["privacy-risk"] = np.array(risk)

# Bounds on epsilon.
def one_run(m, r, v, delta, level=.05):
    def p(e):
        q = 1 / (1 + np.exp(-e))
        beta_tail = binom.sf(v - 1, r, q)
        alpha = max(np.cumsum(binom.pmf(np.arange(v - 1, -1, -1), r, q)) / np.arange(1, v + 1))
        return min(1, beta_tail + 2 * m * delta * alpha)
    return brentq(lambda e: p(e) - level, 0, 40, xtol=1e-13) if p(0) < level else 0


one_runs = [[m, r, v, d, one_run(m, r, v, d)] for m, r, v, d in
            ((1000, 1000, 600, 0), (1000, 1000, 600, 1e-5), (1000, 100, 90, 1e-5), (1000, 100, 100, 1e-5), (10000, 500, 480, 1e-5),
             (200, 50, 20, 0), (100000, 2000, 1400, 1e-6))]
odds = []
for a, m, b, k in ((30, 50, 10, 40), (5, 9, 1, 12), (200, 1000, 20, 900), (700, 5000, 350, 5000)):
    ratio_of = odds_ratio([[a, m - a], [b, k - b]], kind="conditional")
    ends = ratio_of.confidence_interval(.95)
    odds.append([a, m, b, k, *np.log([ratio_of.statistic, ends.low, ends.high])])
intervals = [[k, n, c, *clopper_pearson(k, n, c)] for k, n in
             ((0, 10), (5, 10), (10, 10), (1, 3), (1, 70000), (69999, 70000), (35000, 70000), (123, 100000), (0, 1)) for c in (.9, .95, .99)]
quantiles = [[p, d, student.ppf(p, d)] for p in (.9, .975, .995) for d in (1, 2.5, 10, 87.3, 1000, 12345.6, 1e7)]
# Several views of each record: what the models say of each, and of the population.
VIEWS = 3
v = np.random.default_rng(20261123)
of_views = np.round(signal.clip(-6, 6)[None, :] + .5 * v.standard_normal((VIEWS, n)), 3)
ref_views = np.round(reference[None] + .5 * v.standard_normal((VIEWS, n, MODELS)), 3)
z_views = np.round(population_signal.clip(-6, 6)[None, :] + .5 * v.standard_normal((VIEWS, 60)), 3)
z_ref_views = np.round(population_reference[None] + .5 * v.standard_normal((VIEWS, 60, MODELS)), 3)


def view_sides(r):
    """side(), for another matrix of signals."""
    global reference
    kept, reference = reference, r
    found = side(trained == 1), side(trained == 0)
    reference = kept
    return found


def view_gain(s, r, mask, online):
    p = 1 / (1 + np.exp(-r))
    out = np.array([p[i, mask[i] == 0].mean() if (mask[i] == 0).any() else np.nan for i in range(len(s))])
    inside = np.array([p[i, mask[i] == 1].mean() if mask[i].any() else np.nan for i in range(len(s))])
    if online:
        whole = np.where(np.isnan(inside), out, np.where(np.isnan(out), inside, (inside + out) / 2))
    else:
        whole = np.where(np.isnan(out), inside, (1.3 * out + .7) / 2)
    return -np.logaddexp(0, -s) - np.log(whole)


def votes(g_x, g_z, same):
    """Majority of views, one pair at a time; ties of the share in the order of the mean gain."""
    share = []
    for i in range(g_x.shape[1]):
        count = sum((g_x[:, i] - g_z[:, k] >= np.log(2)).sum() > VIEWS / 2 for k in range(g_z.shape[1]) if not (same and k == i))
        share.append((count + 1 / (1 + np.exp(-g_x[:, i].mean()))) / (g_z.shape[1] + 1))
    return np.array(share)


ratios, offsets = [], []
for k in range(VIEWS):
    (vmi, vsi, _), (vmo, vso, _) = view_sides(ref_views[k])
    ratios.append(.5 * (np.log(vso / vsi) + (of_views[k] - vmo) ** 2 / vso - (of_views[k] - vmi) ** 2 / vsi))
    offsets.append((of_views[k] - vmo) / np.sqrt(vso))
nobody = np.zeros((60, MODELS), int)
gain_x = {o: np.array([view_gain(of_views[k], ref_views[k], trained, o) for k in range(VIEWS)]) for o in (True, False)}
gain_of_z = {o: np.array([view_gain(z_views[k], z_ref_views[k], nobody, o) for k in range(VIEWS)]) for o in (True, False)}
by_views = {"lira-views": np.mean(ratios, 0), "lira-offline-views": np.sum(offsets, 0) / np.sqrt(VIEWS),
            "rmia-views": votes(gain_x[True], gain_x[True], True), "rmia-offline-views": votes(gain_x[False], gain_x[False], True)}
against_population = {"rmia-views": votes(gain_x[True], gain_of_z[True], False),
                      "rmia-offline-views": votes(gain_x[False], gain_of_z[False], False)}

# Quantiles of known non-members by the pinball loss: of everybody, and linear in features (the rounded loss, by BFGS).
LEVELS = 10 ** (-4 + .1 * np.arange(40))


def score_of(s, thresholds, rates):
    """thresholds fall while rates rise."""
    at = -np.log10(rates)
    if s >= thresholds[0]:
        return at[0] + s - thresholds[0]
    if s < thresholds[-1]:
        return at[-1] + s - thresholds[-1]
    k = next(k for k in range(len(rates)) if s >= thresholds[k])
    return at[k] + (s - thresholds[k]) / (thresholds[k - 1] - thresholds[k]) * (at[k - 1] - at[k])


rates = LEVELS[LEVELS * 60 >= 1 - 1e-9]
order = np.sort((population_signal - population_signal.mean()) / population_signal.std())
of_everybody = [order[int(np.ceil((1 - a) * 60 - 1e-9)) - 1] for a in rates]
by_population["quantile-pinball"] = np.array(
    [score_of((s - population_signal.mean()) / population_signal.std(), of_everybody, rates) for s in signal])


def pinball(x, target, x_new, target_new, ridge=1e-4, h=.02):
    mean, scale, centre, spread = x.mean(0), x.std(0), target.mean(), target.std()
    a, b = (np.hstack([(w - mean) / scale, np.ones((len(w), 1))]) for w in (x, x_new))
    t, found = (target - centre) / spread, []
    for q in 1 - rates:
        def f(w):
            u = t - a @ w
            slope = 1 / (1 + np.exp(np.clip(u / h, -700, 700))) - q
            return (q * u + h * np.logaddexp(0, -u / h)).mean() + ridge / 2 * (w[:-1] ** 2).sum(), a.T @ slope / len(t) + ridge * np.r_[w[:-1], 0]
        w = np.zeros(a.shape[1])
        for _ in range(20):
            w = minimize(f, w, jac=True, method="BFGS", options={"gtol": 1e-10}).x
        found.append(b @ w)
    found = np.sort(np.array(found), axis=0)[::-1]
    return np.array([score_of((target_new[i] - centre) / spread, found[:, i], rates) for i in range(len(b))])


pinball_of_features = pinball(population_features.astype(float), population_signal + population_features[:, 0],
                              features.astype(float), signal + features[:, 0])
json.dump({"classes": 4, "member": member.ravel().tolist(), "member_labels": member_labels.tolist(), "nonmember": nonmember.ravel().tolist(),
           "nonmember_labels": nonmember_labels.tolist(),
           "attacks": {k: {"member": s[k].tolist(), "nonmember": o[k].tolist(), "auc": auc(s[k], o[k])} for k in s},
           "references": {"models": MODELS, "signal": reference.ravel().tolist(), "trained": trained.ravel().tolist(),
                          "attacks": {k: v.tolist() for k, v in by_reference.items()}},
           "population": {"outputs": population.ravel().tolist(), "labels": population_labels.tolist(),
                          "reference": population_reference.ravel().tolist(), "attacks": {k: v.tolist() for k, v in by_population.items()},
                          "width": FEATURES, "features": features.ravel().tolist(),
                          "population_features": population_features.ravel().tolist(), "quantile_of_features": with_features.tolist(),
                          "pinball_of_features": pinball_of_features.tolist()},
           "views": {"views": VIEWS, "signals": of_views.ravel().tolist(), "reference": ref_views.ravel().tolist(),
                     "population": z_views.ravel().tolist(), "population_reference": z_ref_views.ravel().tolist(),
                     "attacks": {k: w.tolist() for k, w in by_views.items()},
                     "against_population": {"attacks": {k: w.tolist() for k, w in against_population.items()}}},
           "shadow": {"outputs": shadow.ravel().tolist(), "labels": shadow_labels.tolist(), "trained": shadow_trained.tolist(),
                      "thresholds": thresholds, "attacks": {k: v.tolist() for k, v in by_shadow.items()}},
           "one_run": one_runs, "odds_ratio": odds,
           "clopper_pearson": intervals, "student": quantiles}, sys.stdout, separators=(",", ":"))
print()
