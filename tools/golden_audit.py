#!/usr/bin/env python3
"""Writes tests/golden/audit.json: scores, areas and intervals computed independently with numpy and scipy in float64.

usage: tools/golden_audit.py > tests/golden/audit.json        (made with numpy 2, scipy 1)
"""
import json
import sys

import numpy as np
from scipy.special import logsumexp
from scipy.stats import beta, rankdata, t as student

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
MODELS, PRIOR = 9, 4
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
by_reference = {"lira": ratio(si, so), "lira-pooled": ratio(pi, po), "lira-offline": (signal - mo) / np.sqrt(so), "rmia": log_p - np.log(both),
                "rmia-offline": log_p - np.log(lonely), "sablayrolles": signal - (mi + mo) / 2, "watson": signal - mo,
                "reference-rank": np.array(rank)}
intervals = [[k, n, c, *clopper_pearson(k, n, c)] for k, n in
             ((0, 10), (5, 10), (10, 10), (1, 3), (1, 70000), (69999, 70000), (35000, 70000), (123, 100000), (0, 1)) for c in (.9, .95, .99)]
quantiles = [[p, d, student.ppf(p, d)] for p in (.9, .975, .995) for d in (1, 2.5, 10, 87.3, 1000, 12345.6, 1e7)]
json.dump({"classes": 4, "member": member.ravel().tolist(), "member_labels": member_labels.tolist(), "nonmember": nonmember.ravel().tolist(),
           "nonmember_labels": nonmember_labels.tolist(),
           "attacks": {k: {"member": s[k].tolist(), "nonmember": o[k].tolist(), "auc": auc(s[k], o[k])} for k in s},
           "references": {"models": MODELS, "signal": reference.ravel().tolist(), "trained": trained.ravel().tolist(),
                          "attacks": {k: v.tolist() for k, v in by_reference.items()}},
           "clopper_pearson": intervals, "student": quantiles}, sys.stdout, separators=(",", ":"))
print()
